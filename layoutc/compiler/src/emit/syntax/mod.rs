//! Syntax trees of functions, built from the loop IR ([`crate::ir`]): data of the templates and input of the printers.
//!
//! The types are part of the template model (`schemas/template-model.json`): a change of a type needs a new model
//! version.

mod expr;
mod from_ir;
mod stmt;
mod value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::expr::Expr;
pub use self::from_ir::stmts;
pub use self::stmt::{LoopKind, Operand, Stmt, Strided, TeamArray};
pub use self::value::Value;
pub use crate::ir::{Compare, ReduceOp, ValueOp};

/// Axis of a launch range, with one work item per index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkAxis {
    /// Identifier of the variable that holds the work item's index along the axis.
    pub name: String,
    /// Number of work items along the axis.
    pub extent: Expr,
}

/// Form in which a constant of an element type is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// Number in the notation of the constant's type: `1.5f`.
    Number,
    /// Bit pattern in hexadecimal, for an integer word that holds several elements: `0x3C003C00`.
    Bits,
}

/// Type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ParamType {
    /// Integer that is an index, an extent or the value of a symbol.
    Index,
    /// Pointer through which the function returns an index.
    OutIndex,
    /// Buffer that the function reads.
    Input {
        /// Element type in manifest notation.
        element: String,
    },
    /// Buffer that the function writes.
    Output {
        /// Element type in manifest notation.
        element: String,
    },
    /// Image that the function reads.
    InputImage {
        /// Element type in manifest notation.
        element: String,
        /// Rank: 2 for an image, 3 for an array of images.
        rank: u32,
    },
    /// Image that the function writes.
    OutputImage {
        /// Element type in manifest notation.
        element: String,
        /// Rank: 2 for an image, 3 for an array of images.
        rank: u32,
    },
}

/// Parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Param {
    /// Identifier of the parameter.
    pub name: String,
    /// Type of the parameter.
    #[serde(rename = "type")]
    pub ty: ParamType,
}

/// Type of a function's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// No result.
    Nothing,
    /// Index or count, of the index type.
    Index,
    /// Number of bytes, of the type in which byte counts are computed: a 64-bit integer, or the index type in C. The
    /// index parameters have the same type.
    Bytes,
    /// Truth value.
    Bool,
}

/// Function with its documentation and body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Identifier of the function.
    pub name: String,
    /// Lines of the comment above the function, without comment marks.
    pub doc: Vec<String>,
    /// Type of the result.
    pub returns: Returns,
    /// Parameters: symbols first.
    pub params: Vec<Param>,
    /// Statements, in order.
    pub body: Vec<Stmt>,
    /// True if the function is a relayout that is compiled once for each vector length, with its primitives inlined.
    pub vector_versions: bool,
    /// True if a parallel region encloses the call of the function.
    pub in_region: bool,
    /// `Unused` statements that replace those at the top level of `body` in a language that prints no `Assert`
    /// statements: they also mark parameters that only `Assert` statements use. Empty for a function that a template
    /// makes.
    #[serde(skip)]
    pub(super) unchecked: Vec<Stmt>,
    /// Least lengths of buffers in items, as pairs of the parameter and a number of items over the index parameters. A
    /// language whose buffers have a length checks them. Empty for a function that a template makes.
    #[serde(skip)]
    pub(super) lengths: Vec<(String, Expr)>,
}
