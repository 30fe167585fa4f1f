//! Compute on logical axes, checked: what an instance of a kernel does with which tensors.
//!
//! Expressions over axes are the algebra's: `Var::Axis(k)` is axis `k` of the statement, `Var::Symbol(k)` is symbol `k` of
//! the [`KernelInstance`]. A value has one of the types that arithmetic is done in (see [`TypedExpr::ty`]).

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Axis, Symbol};

use super::{Spanned, Tensor};
use crate::cast::CastMode;
use crate::diagnostic::FileSpan;
use crate::dtype::Scalar;

/// A kernel on the tensors of one instance.
#[derive(Debug, Clone)]
pub struct KernelInstance {
    /// What the function is called: the instance's name, or the kernel's where it names tensors itself.
    pub name: String,
    /// The kernel's name.
    pub kernel: String,
    /// The tensors, in the order of the function's parameters: those that are only read by their first appearance, then
    /// those that are written.
    pub operands: Vec<KernelOperand>,
    /// The intermediate tensors that have memory of their own.
    pub locals: Vec<Tensor>,
    /// The symbols of all tensors and of the text, each name once: by operand, then by name those that the text alone
    /// names, then by local.
    pub symbols: Vec<Symbol>,
    /// What is done, in order.
    pub statements: Vec<Statement>,
    /// In which order, as far as the manifest says it.
    pub schedule: LoopSchedule,
    /// Where the instance stands, or the kernel.
    pub place: FileSpan,
}

/// A tensor under the name that it has in a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOperand {
    /// The name in the kernel.
    pub name: String,
    /// Its position in [`super::Manifest::tensors`].
    pub tensor: usize,
    /// Whether a statement writes it.
    pub is_written: bool,
    /// The bound that its elements, integers from 0, are below, where the kernel states it. The caller has promised it.
    pub range: Option<Expr>,
}

/// What a statement reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRef {
    /// A tensor: its position in [`KernelInstance::operands`].
    Operand(usize),
    /// An intermediate tensor: its position in [`KernelInstance::locals`].
    Local(usize),
}

/// `B[n, h, w, k] += …`
#[derive(Debug, Clone)]
pub struct Statement {
    /// What is written.
    pub target: BufferRef,
    /// The axes of the target in its order, then those that are reduced. Extents are over symbols. Where there is a `scatter`
    /// those that its indices name come first.
    pub axes: Vec<Axis>,
    /// How many of the axes are the target's, or those of its indices.
    pub written_axes: usize,
    /// The indices of the element that is written, where one of them is read; `None` where they are the axes.
    pub scatter: Option<Vec<DataIndex>>,
    /// How the values of one element are put together.
    pub op: Reduction,
    /// Whether what the target held is put together with them.
    pub accumulate: bool,
    /// The type in which they are put together; that of the value where there is one value.
    pub accumulator: Scalar,
    /// How the result becomes an element of the target, where that is another type.
    pub store: CastMode,
    /// The value.
    pub value: TypedExpr,
    /// Blocks of what it reads and writes that are copied near the compute, each of another tensor.
    pub caches: Vec<TileCache>,
    /// The statement as written, on one line.
    pub text: String,
    /// Where it stands.
    pub place: FileSpan,
}

impl Statement {
    /// Whether elements that it does not write are to keep what they hold, or what they hold is combined with what it
    /// writes.
    pub fn keeps(&self) -> bool {
        self.accumulate || self.scatter.is_some()
    }

    /// Whether an element of the buffer is read, for the value or for an index.
    pub fn reads(&self, buffer: BufferRef) -> bool {
        let mut all = self.scatter.iter().flatten().map(|index| &index.value);
        all.any(|value| value.uses(buffer)) || self.value.uses(buffer)
    }

    /// Whether elements are read, or written, at indices that are read.
    pub fn is_indexed(&self) -> bool {
        self.scatter.is_some() || self.value.gathers()
    }

    /// Calls `visit` on the indices of what is written and on the value, and on all that they are made of.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s TypedExpr)) {
        self.scatter.iter().flatten().for_each(|index| index.value.walk(visit));
        self.value.walk(visit);
    }
}

/// `cache A at=k_outer`: the block of a tensor that is used in a round of a loop, in a layout of its own.
#[derive(Debug, Clone)]
pub struct TileCache {
    /// The tensor.
    pub buffer: BufferRef,
    /// The loop.
    pub at: Spanned<String>,
    /// The block: its axes are those of the tensor, its extents what a round of the loop spans of them.
    pub block: Tensor,
    /// Whether the next block is copied while one is used, where many items work at once.
    pub is_double: bool,
    /// Whether the items of a work group share it.
    pub is_shared: bool,
}

/// How the values of one element are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `=`: there is one.
    Assign,
    /// `+=`, from 0.
    Sum,
    /// `*=`, from 1.
    Product,
    /// `min=`, from the greatest value: infinity for floats.
    Min,
    /// `max=`, from the least value.
    Max,
}

/// A value, and its type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedExpr {
    /// `f64`, `f32`, `i64`, `i32`, `u64`, `u32` or `bool`.
    pub ty: Scalar,
    /// What it is.
    pub kind: TypedExprKind,
}

impl TypedExpr {
    /// Calls `visit` on this value and all that it is made of, what stands outside tensors too.
    pub fn walk<'v>(&'v self, visit: &mut dyn FnMut(&'v TypedExpr)) {
        visit(self);
        match &self.kind {
            TypedExprKind::Read(read) => {
                if let Some(outside) = &read.outside {
                    outside.value.walk(visit);
                }
            }
            TypedExprKind::Gather(gather) => {
                gather.index.iter().for_each(|index| index.value.walk(visit));
                gather.outside.walk(visit);
            }
            TypedExprKind::Negate(a) | TypedExprKind::Not(a) | TypedExprKind::Convert(a) => {
                a.walk(visit);
            }
            TypedExprKind::Binary(_, a, b) | TypedExprKind::Compare(_, a, b) => {
                [a, b].into_iter().for_each(|part| part.walk(visit));
            }
            TypedExprKind::Select(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| part.walk(visit));
            }
            TypedExprKind::Call(_, args) => args.iter().for_each(|arg| arg.walk(visit)),
            TypedExprKind::Integer(_)
            | TypedExprKind::Float(_)
            | TypedExprKind::Bool(_)
            | TypedExprKind::Index(_) => {}
        }
    }

    /// The elements that are read, each once.
    pub fn reads(&self) -> Vec<&ElementRead> {
        let mut reads: Vec<&ElementRead> = Vec::new();
        self.walk(&mut |value| {
            if let TypedExprKind::Read(read) = &value.kind
                && !reads.contains(&&**read)
            {
                reads.push(read);
            }
        });
        reads
    }

    /// Whether an element is read at an index that is read.
    pub fn gathers(&self) -> bool {
        let mut found = false;
        self.walk(&mut |value| found |= matches!(value.kind, TypedExprKind::Gather(_)));
        found
    }

    /// Whether an element of the buffer is.
    pub fn gathers_of(&self, buffer: BufferRef) -> bool {
        let mut found = false;
        self.walk(&mut |value| {
            found |=
                matches!(&value.kind, TypedExprKind::Gather(gather) if gather.buffer == buffer);
        });
        found
    }

    /// Whether an element of the buffer is read.
    pub fn uses(&self, buffer: BufferRef) -> bool {
        self.reads().iter().any(|read| read.buffer == buffer) || self.gathers_of(buffer)
    }

    /// Whether it may be undefined for some operands: it divides integers.
    pub fn divides(&self) -> bool {
        let mut found = false;
        self.walk(&mut |value| {
            found |= matches!(
                value.kind,
                TypedExprKind::Binary(Arithmetic::FloorDivide | Arithmetic::Modulo, ..)
            );
        });
        found
    }
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedExprKind {
    /// A number of an integer type.
    Integer(i128),
    /// A number of a float type.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// An index: arithmetic on axes and symbols, of type `i64`.
    Index(Expr),
    /// An element, converted to the type that its type is computed in: `f16`, `bf16` and narrower floats to `f32`, integers
    /// below 32 bits to `i32`.
    Read(Box<ElementRead>),
    /// An element at an index that is read, converted in the same way.
    Gather(Box<Gather>),
    /// `-a`
    Negate(Box<TypedExpr>),
    /// `not a`, of `bool`.
    Not(Box<TypedExpr>),
    /// Two operands of the value's own type.
    Binary(Arithmetic, Box<TypedExpr>, Box<TypedExpr>),
    /// A comparison of two operands of one type: `bool`.
    Compare(ComparePredicate, Box<TypedExpr>, Box<TypedExpr>),
    /// `select(condition, then, otherwise)`
    Select(Box<TypedExpr>, Box<TypedExpr>, Box<TypedExpr>),
    /// A function of the value's own type.
    Call(MathFunction, Vec<TypedExpr>),
    /// An operand of another type. In a cast into a narrow type, `f16(x)`, there is one into that type inside one back
    /// into the type that it is computed in: a value of a type such as `f16` stands nowhere else.
    Convert(Box<TypedExpr>),
}

/// An element that is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementRead {
    /// The tensor whose elements are meant.
    pub buffer: BufferRef,
    /// One index for each axis there.
    pub index: Vec<Expr>,
    /// What stands for it where an index lies outside; `None` where none does.
    pub outside: Option<BoundaryCondition>,
}

/// An element at an index that is read: `table[ids[t], d]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gather {
    /// The tensor whose elements are meant.
    pub buffer: BufferRef,
    /// One index for each axis there.
    pub index: Vec<DataIndex>,
    /// The value that replaces it where an index lies outside, of the element's own type.
    pub outside: TypedExpr,
}

/// An index of an access through data.
#[derive(Debug, Clone, PartialEq)]
pub struct DataIndex {
    /// The index, of type `i64`.
    pub value: TypedExpr,
    /// Whether it may lie outside, so that it is looked at before the access is made.
    pub is_checked: bool,
}

/// What stands for an element outside its tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundaryCondition {
    /// The value, of the read's own type.
    pub value: TypedExpr,
    /// The axes of the tensor along which the index may lie below 0.
    pub below: Vec<usize>,
    /// The axes along which it may reach the extent.
    pub beyond: Vec<usize>,
}

/// An operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// `a // b` of integers, towards minus infinity.
    FloorDivide,
    /// `a % b` of integers, of the divisor's sign.
    Modulo,
    /// `a and b`
    And,
    /// `a or b`
    Or,
    /// `min(a, b)`; of floats a number where one of the two is none.
    Min,
    /// `max(a, b)`; of floats a number where one of the two is none.
    Max,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum ComparePredicate {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function of one number, or of two (`pow`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum MathFunction {
    Abs,
    Exp,
    Log,
    Sqrt,
    /// `1 / sqrt(x)`
    Rsqrt,
    Tanh,
    Erf,
    Floor,
    Pow,
}

/// What the manifest says of a kernel's loops. Names are those of the storage axes of the output, and of reduced axes.
///
/// A name may be that of a loop in several statements. `loops` are all loops of at least one of them; a split holds for
/// each that has the loop. The loop to vectorise is contiguous in at least one, a parallel one not reduced in at least one:
/// where it is not so, nothing is said of that statement's loop.
#[derive(Debug, Clone, Default)]
pub struct LoopSchedule {
    /// The loops, outermost first; empty where the planner orders them.
    pub loops: Vec<Spanned<String>>,
    /// Loops that are cut in two, in order.
    pub splits: Vec<Split>,
    /// Loops that are written out.
    pub unroll: Vec<Spanned<String>>,
    /// The loop whose rounds are done by vectors.
    pub vectorize: Option<Spanned<String>>,
    /// Loops whose rounds are shared by all cores.
    pub parallel: Vec<Spanned<String>>,
}

impl LoopSchedule {
    /// Whether it says nothing of how loops go, but for the one of the vectors and those that cores share.
    pub fn has_default_loops(&self) -> bool {
        let Self { loops, splits, unroll, vectorize: _, parallel: _ } = self;
        loops.is_empty() && splits.is_empty() && unroll.is_empty()
    }
}

/// `split w by=8`: `w` becomes `w_outer` and `w_inner`, which counts to 8.
#[derive(Debug, Clone)]
pub struct Split {
    /// The loop.
    pub axis: Spanned<String>,
    /// How many rounds the inner loop has, at least 1.
    pub by: i64,
    /// Whether it is part of a `tile`: where the planner orders the loops, the inner ones of a tile are innermost.
    pub is_tile: bool,
}
