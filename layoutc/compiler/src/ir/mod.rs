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

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// Index, extent or symbol.
    Index,
    /// Pointer that an index is written through.
    OutIndex,
    /// Buffer of elements that is read.
    Input(Dtype),
    /// Buffer of elements that is written.
    Output(Dtype),
    /// Image that is read; rank 2, or 3 for an array of images.
    InputImage(Dtype, u32),
    /// Image that is written; rank 2, or 3 for an array of images.
    OutputImage(Dtype, u32),
}

/// Parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Identifier.
    pub name: String,
    /// Type.
    pub ty: ParamType,
}

/// Result of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// None.
    Nothing,
    /// Index or count.
    Index,
    /// Number of bytes, as wide as an address; parameters are as wide.
    Bytes,
    /// Truth value.
    Bool,
}

/// Function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Identifier.
    pub name: String,
    /// Lines of the comment above it.
    pub doc: Vec<String>,
    /// Result.
    pub returns: Returns,
    /// Parameters, symbols first.
    pub params: Vec<Param>,
    /// Statements.
    pub body: Vec<Stmt>,
}
