//! Loop IR: the functions that plans are lowered to and passes rewrite.
//!
//! Main types: index expressions ([`Expr`]), element values ([`Value`]), statements ([`Stmt`]) with loop kinds and
//! primitives, functions ([`Function`]). The IR is independent of the target language; [`crate::emit::syntax`] is its
//! printable form.

mod dump;
mod expr;
mod stmt;
mod value;
mod verify;
mod visit;

use crate::base::dtype::Dtype;

pub use self::expr::{Compare, Expr};
pub use self::stmt::{Blocks, LaunchAxis, LoopKind, Primitive, Spelling, Stmt, Storage, Strided};
pub use self::value::{ReduceOp, Value, ValueOp};
pub use self::verify::{VerifyError, verify};
pub use self::visit::{Part, PartMut};

/// Type of a function's parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// Integer that is an index, an extent or the value of a symbol.
    Index,
    /// Pointer to an index that the function sets as a further result.
    OutIndex,
    /// Buffer that the function reads, with its element type.
    Input(Dtype),
    /// Buffer that the function writes, and may also read, with its element type.
    Output(Dtype),
    /// Image (OpenCL `image2d_t`, CUDA texture) that the function reads. The members are its element type and its rank:
    /// 2 for an image, 3 for an array of images.
    InputImage(Dtype, u32),
    /// Image (OpenCL `image2d_t`, CUDA surface) that the function writes. The members are its element type and its
    /// rank: 2 for an image, 3 for an array of images.
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
    /// Number of bytes, in the integer type in which byte counts are computed: 64 bits in OpenCL and CUDA, even if
    /// indices have 32; the index type in C. The index parameters of the function have the same type.
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
    /// Parameters of the function, those for symbols of the manifest first.
    pub params: Vec<Param>,
    /// Statements of the function, in order.
    pub body: Vec<Stmt>,
}
