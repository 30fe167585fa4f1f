//! Loop IR: the functions that plans are lowered to and passes rewrite.
//!
//! Index expressions ([`Expr`]), element values ([`Value`]), statements ([`Stmt`]) with loop kinds and primitives as
//! data, functions ([`Function`]). It knows no target language: [`crate::emit::syntax`] is its printable form.

mod dump;
mod expr;
mod stmt;
mod value;
mod verify;
mod visit;

use crate::base::dtype::Dtype;

pub use self::expr::{Compare, Expr};
pub use self::stmt::{Blocks, LaunchAxis, LoopKind, Primitive, Spelling, Stmt, Storage, Strided};
pub use self::value::{Update, Value, ValueOp};
pub use self::verify::{VerifyError, verify};
pub use self::visit::{Part, PartMut};

/// Type of a function's parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// Integer that is an index, an extent or the value of a symbol.
    Index,
    /// Pointer through which the function returns an index.
    OutIndex,
    /// Buffer whose elements, of this type, the function reads.
    Input(Dtype),
    /// Buffer whose elements, of this type, the function writes.
    Output(Dtype),
    /// Image whose elements the function reads, with their type and its rank: 2, or 3 for an array of images.
    InputImage(Dtype, u32),
    /// Image whose elements the function writes, with their type and its rank: 2, or 3 for an array of images.
    OutputImage(Dtype, u32),
}

/// Parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Identifier of the parameter.
    pub name: String,
    /// Type of the parameter.
    pub ty: ParamType,
}

/// Type of a function's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// No result.
    Nothing,
    /// Index or count, of the target's index type.
    Index,
    /// Number of bytes, as wide as an address. The parameters of such a function are as wide.
    Bytes,
    /// Truth value.
    Bool,
}

/// Function of the loop IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Identifier of the function.
    pub name: String,
    /// Lines of the comment above the function, without comment marks.
    pub doc: Vec<String>,
    /// Type of the function's result.
    pub returns: Returns,
    /// Parameters, those for symbols first.
    pub params: Vec<Param>,
    /// Statements of the function, in order.
    pub body: Vec<Stmt>,
}
