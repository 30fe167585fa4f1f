//! Syntax trees of functions, made from the loop IR ([`crate::ir`]): what templates see and the printers print.
//!
//! The types are part of the template model (`schemas/template-model.json`): a change here changes its version.

mod expr;
mod from_ir;
mod number;
mod stmt;

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::expr::{Compare, Expr};
pub use self::from_ir::stmts;
pub use self::number::{Gathering, Number, NumberOp};
pub use self::stmt::{Among, Operand, Stmt, Strided, TeamArray};

/// An axis of a launch range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkAxis {
    /// The name of the item's number.
    pub name: String,
    /// How many items there are.
    pub extent: Expr,
}

/// How a constant's value is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// As a number of its type.
    Number,
    /// As bits, in hexadecimal: it stands for several elements.
    Bits,
}

/// What a parameter is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ParamType {
    /// An index, an extent or a symbol.
    Index,
    /// Where an index is written to.
    OutIndex,
    /// Elements that are read.
    Input {
        /// Their type, as the manifest calls it.
        element: String,
    },
    /// Elements that are written.
    Output {
        /// Their type, as the manifest calls it.
        element: String,
    },
    /// An image that is read.
    InputImage {
        /// The type of its elements, as the manifest calls it.
        element: String,
        /// 2, or 3 for an array of images.
        rank: u32,
    },
    /// An image that is written.
    OutputImage {
        /// The type of its elements, as the manifest calls it.
        element: String,
        /// 2, or 3 for an array of images.
        rank: u32,
    },
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Param {
    /// Its identifier.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub ty: ParamType,
}

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// An index or a count.
    Index,
    /// A number of bytes: as wide as memory is, and so are its parameters.
    Bytes,
    /// A truth value.
    Bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Its identifier.
    pub name: String,
    /// What it does, one line each, for a comment.
    pub doc: Vec<String>,
    /// What it gives.
    pub returns: Returns,
    /// Its parameters: symbols first.
    pub params: Vec<Param>,
    /// What it does.
    pub body: Vec<Stmt>,
}

impl Function {
    /// The same with a remark for every parameter that the body does not use.
    #[must_use]
    pub fn with_unused(mut self) -> Self {
        let unused: RefCell<Vec<&str>> =
            RefCell::new(self.params.iter().map(|param| param.name.as_str()).collect());
        let used = |name: &str| unused.borrow_mut().retain(|param| *param != name);
        for stmt in &self.body {
            stmt.visit(
                &mut |expr| {
                    if let Expr::Name { name } = expr {
                        used(name);
                    }
                },
                &mut |name| used(name),
            );
        }
        let unused = unused.into_inner().into_iter();
        let remarks: Vec<Stmt> =
            unused.map(|name| Stmt::Unused { name: name.to_owned() }).collect();
        self.body.splice(..0, remarks);
        self
    }

    /// The functions that the body calls, and the arithmetic that targets may need a helper for.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        for stmt in &self.body {
            stmt.visit(visit, &mut |_| {});
        }
    }
}
