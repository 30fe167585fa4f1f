//! Typed scalar expressions, the values of statements, with their reads of tensor elements.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::symbol::Axis;

use super::operand::BufferRef;
use super::operator::{Arithmetic, ComparePredicate, MathFunction};
use crate::base::dtype::Scalar;

/// Scalar expression with its type.
#[derive(Debug, Clone, PartialEq)]
pub struct TypedExpr {
    /// Type of the result: `f64`, `f32`, `i64`, `i32`, `u64`, `u32` or `bool`; a narrower type only inside a cast.
    pub ty: Scalar,
    /// Operation with its operands.
    pub kind: TypedExprKind,
}

impl TypedExpr {
    /// Expression of the operator `op` on two operands, with a result of type `ty`.
    pub fn binary(ty: Scalar, op: Arithmetic, a: TypedExpr, b: TypedExpr) -> Self {
        Self { ty, kind: TypedExprKind::Binary(op, Box::new(a), Box::new(b)) }
    }

    /// Direct subexpressions in textual order. For an operation these are its operands. For a gather, its indices, then
    /// the value that replaces out-of-bounds elements. For a read, only that value, if there is one.
    pub fn children(&self) -> Vec<&TypedExpr> {
        match &self.kind {
            TypedExprKind::Read(read) => {
                read.outside.iter().map(|outside| &outside.value).collect()
            }
            TypedExprKind::Gather(gather) => {
                let index = gather.index.iter().map(|index| &index.value);
                index.chain([&gather.outside]).collect()
            }
            TypedExprKind::Negate(a) | TypedExprKind::Not(a) | TypedExprKind::Convert(a) => {
                vec![a]
            }
            TypedExprKind::Binary(_, a, b) | TypedExprKind::Compare(_, a, b) => vec![a, b],
            TypedExprKind::Select(condition, then, otherwise) => vec![condition, then, otherwise],
            TypedExprKind::Call(_, args) => args.iter().collect(),
            TypedExprKind::Integer(_)
            | TypedExprKind::Float(_)
            | TypedExprKind::Bool(_)
            | TypedExprKind::Index(_)
            | TypedExprKind::Reduced => Vec::new(),
        }
    }

    /// Calls `visit` on this expression and then on all subexpressions, including values for out-of-bounds reads.
    pub fn walk<'v>(&'v self, visit: &mut dyn FnMut(&'v TypedExpr)) {
        visit(self);
        self.children().into_iter().for_each(|part| part.walk(visit));
    }

    /// Element reads at affine indices in the expression, without duplicates.
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

    /// True if the expression contains a read at a data-dependent index ([`TypedExprKind::Gather`]).
    pub fn gathers(&self) -> bool {
        let mut found = false;
        self.walk(&mut |value| found |= matches!(value.kind, TypedExprKind::Gather(_)));
        found
    }

    /// True if the expression contains a read of `buffer` at a data-dependent index ([`TypedExprKind::Gather`]).
    pub fn gathers_of(&self, buffer: BufferRef) -> bool {
        let mut found = false;
        self.walk(&mut |value| {
            found |=
                matches!(&value.kind, TypedExprKind::Gather(gather) if gather.buffer == buffer);
        });
        found
    }

    /// True if the expression reads an element of the buffer, at an affine or a data-dependent index.
    pub fn uses(&self, buffer: BufferRef) -> bool {
        self.reads().iter().any(|read| read.buffer == buffer) || self.gathers_of(buffer)
    }

    /// True if the expression contains an integer division `//` or `%`, which is undefined for divisor 0.
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

/// Operation of a scalar expression, with its operands.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedExprKind {
    /// Integer constant.
    Integer(i128),
    /// Float constant.
    Float(f64),
    /// Boolean constant.
    Bool(bool),
    /// Integer expression of axes and symbols, such as `2 * h + r`, of type `i64`.
    Index(Expr),
    /// Element at an affine index, converted to its compute type: floats below 32 bits to `f32`, integers below 32 bits
    /// to `i32`.
    Read(Box<ElementRead>),
    /// Element at a data-dependent index, converted to its compute type like the element of a `Read`.
    Gather(Box<Gather>),
    /// Reduced value of the statement, in the accumulator's type; only in an epilogue.
    Reduced,
    /// `-a`, of a number.
    Negate(Box<TypedExpr>),
    /// `not a`, of a `bool`.
    Not(Box<TypedExpr>),
    /// Binary operator on two operands; both have the type of the result.
    Binary(Arithmetic, Box<TypedExpr>, Box<TypedExpr>),
    /// Comparison of two operands of one type, which yields `bool`.
    Compare(ComparePredicate, Box<TypedExpr>, Box<TypedExpr>),
    /// `select(condition, then, otherwise)`: the second operand if the first is true, otherwise the third.
    Select(Box<TypedExpr>, Box<TypedExpr>, Box<TypedExpr>),
    /// Mathematical function; its operands have the type of the result.
    Call(MathFunction, Vec<TypedExpr>),
    /// Conversion of an operand of another type. A cast to a narrow type, `f16(x)`, consists of two conversions: to the
    /// narrow type, then back to its compute type. Narrow types occur nowhere else.
    Convert(Box<TypedExpr>),
}

impl TypedExprKind {
    /// Copy of the operation in which each operand is replaced by the result of `operand` for it. A read is copied
    /// unchanged, with its indices and its boundary value.
    ///
    /// # Errors
    /// The first error of `operand`.
    pub fn with_operands<E>(
        &self,
        operand: &mut dyn FnMut(&TypedExpr) -> Result<TypedExpr, E>,
    ) -> Result<Self, E> {
        let mut of = |value: &TypedExpr| operand(value).map(Box::new);
        Ok(match self {
            Self::Negate(a) => Self::Negate(of(a)?),
            Self::Not(a) => Self::Not(of(a)?),
            Self::Convert(a) => Self::Convert(of(a)?),
            Self::Binary(op, a, b) => Self::Binary(*op, of(a)?, of(b)?),
            Self::Compare(op, a, b) => Self::Compare(*op, of(a)?, of(b)?),
            Self::Select(c, a, b) => Self::Select(of(c)?, of(a)?, of(b)?),
            Self::Call(function, arguments) => {
                let all = arguments.iter().map(operand);
                Self::Call(*function, all.collect::<Result<_, _>>()?)
            }
            Self::Integer(_)
            | Self::Float(_)
            | Self::Bool(_)
            | Self::Index(_)
            | Self::Read(_)
            | Self::Gather(_)
            | Self::Reduced => self.clone(),
        })
    }
}

/// Read of an element of a tensor at an affine index: `A[n, h + r, 2 * w]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementRead {
    /// Tensor that is read.
    pub buffer: BufferRef,
    /// One index per axis of the tensor, over axes of the statement and symbols of the kernel.
    pub index: Vec<Expr>,
    /// Value that replaces the element at out-of-bounds indices; `None` if all indices are proven in bounds.
    pub outside: Option<BoundaryCondition>,
}

impl ElementRead {
    /// Positions in `written` of the axes in `read`, one for each in order, if the indices of the read are the axes of
    /// `written` in some order. `read` has the axes of the tensor that is read. An axis and its counterpart must have
    /// equal extents; the index of an axis of extent 1 may be 0. `None` if the indices are anything else.
    pub(crate) fn permutation(&self, read: &[Axis], written: &[Axis]) -> Option<Vec<usize>> {
        let mut left: Vec<usize> = (0..written.len()).collect();
        let named = |index: &Expr| match index.as_var()? {
            Var::Axis(axis) => usize::try_from(axis).ok(),
            _ => None,
        };
        let mut take = |wanted: &dyn Fn(usize) -> bool, axis: &Axis| {
            let equal =
                |number: usize| written.get(number).is_some_and(|own| own.extent == axis.extent);
            let place = left.iter().position(|number| wanted(*number) && equal(*number))?;
            Some(left.remove(place))
        };
        let mut axes = vec![None; read.len()];
        for ((index, axis), place) in self.index.iter().zip(read).zip(&mut axes) {
            if let Some(number) = named(index) {
                *place = Some(take(&|other| other == number, axis)?);
            }
        }
        for ((index, axis), place) in self.index.iter().zip(read).zip(&mut axes) {
            if place.is_none() {
                let is_only = index.as_const() == Some(0) && axis.extent.as_const() == Some(1);
                *place = is_only.then(|| take(&|_| true, axis)).flatten();
            }
        }
        let axes: Option<Vec<usize>> = axes.into_iter().collect();
        axes.filter(|_| left.is_empty())
    }
}

/// Read of an element of a tensor of which at least one index is itself read from a tensor: `table[ids[t], d]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Gather {
    /// Tensor that is read.
    pub buffer: BufferRef,
    /// One index per axis of the tensor.
    pub index: Vec<DataIndex>,
    /// Value that replaces the element at out-of-bounds indices; it has the compute type of the element.
    pub outside: TypedExpr,
}

/// Index along one axis in a gather or scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct DataIndex {
    /// Value of the index, of type `i64`.
    pub value: TypedExpr,
    /// True if the index may be out of bounds, so that generated code checks it.
    pub is_checked: bool,
}

/// Boundary condition of a read: the value that replaces an element at out-of-bounds indices, and the axes along which
/// such indices may occur.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundaryCondition {
    /// Value in place of the element; it has the compute type of the element.
    pub value: TypedExpr,
    /// Positions of the tensor's axes along which the index may be negative.
    pub below: Vec<usize>,
    /// Positions of the tensor's axes along which the index may be equal to or above the extent.
    pub beyond: Vec<usize>,
}
