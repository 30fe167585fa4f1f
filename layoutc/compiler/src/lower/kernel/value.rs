//! Values of statements as IR expressions: reads at their offsets, constants as bits, conversions by name.

use layoutc_algebra::expr::{CompareOp, Expr as Algebra, ExprComparison, Predicate};

use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Expr, Value, ValueOp};
use crate::loops::error::PlanError;
use crate::lower::expr::lower_predicate;
use crate::lower::kernel::buffers::BufferBinding;
use crate::model::compute::{
    Arithmetic, ComparePredicate as Compared, ElementRead, Gather, TypedExpr, TypedExprKind,
};

/// Element of a read, and its bounds checks; the list is empty if all of them are known to hold.
pub(crate) type CheckedRead = (Value, Vec<ExprComparison>);

/// Element at a data-dependent index, and its bounds check; `None` if no check is needed.
pub(crate) type Indexed = (Value, Option<Value>);

/// Functions that lower the parts of a value, from the context in which it is computed.
pub(crate) struct ValueLowering<'a> {
    /// Returns the element of a read, and those of its bounds checks that are not known to hold.
    pub(crate) read: &'a dyn Fn(&ElementRead) -> Result<CheckedRead, PlanError>,
    /// Returns the element at a data-dependent index, and its bounds check.
    pub(crate) gather: &'a dyn Fn(&Gather) -> Result<Indexed, PlanError>,
    /// Reduced value of the statement; `None` outside of an epilogue.
    pub(crate) reduced: Option<&'a Value>,
    /// Lowers an index expression over the axes of the statement.
    pub(crate) index: &'a dyn Fn(&Algebra) -> Result<Expr, PlanError>,
    /// Lowers a condition over the loops or axes in scope.
    pub(crate) condition: &'a dyn Fn(&Predicate) -> Result<Expr, PlanError>,
}

impl ValueLowering<'_> {
    /// Lowers `value` to an IR expression.
    ///
    /// # Errors
    /// Errors of the functions in `self`: a [`PlanError`], for example if an integer does not fit 64 bits or an
    /// expression nests too deep. [`PlanError::Scope`] for a reduced value outside of an epilogue.
    pub(crate) fn number(&self, value: &TypedExpr) -> Result<Value, PlanError> {
        let part = |value: &TypedExpr| self.number(value).map(Box::new);
        let dtype = value.ty.element();
        Ok(match &value.kind {
            TypedExprKind::Integer(integer) => integer_constant(value.ty, *integer),
            TypedExprKind::Float(float) => float_constant(value.ty, *float),
            TypedExprKind::Bool(truth) => Value::Holds { condition: Expr::Bool { value: *truth } },
            TypedExprKind::Index(index) => Value::Index { dtype, value: (self.index)(index)? },
            TypedExprKind::Read(read) => {
                let (number, all) = (self.read)(read)?;
                let Some(outside) = read.outside.as_ref().filter(|_| !all.is_empty()) else {
                    return Ok(number);
                };
                let condition = (self.condition)(&Predicate { all })?;
                Value::Select {
                    condition: Box::new(Value::Holds { condition }),
                    then: Box::new(number),
                    otherwise: part(&outside.value)?,
                }
            }
            TypedExprKind::Gather(gather) => match (self.gather)(gather)? {
                (number, None) => number,
                (number, Some(is_inside)) => Value::Select {
                    condition: Box::new(is_inside),
                    then: Box::new(number),
                    otherwise: part(&gather.outside)?,
                },
            },
            TypedExprKind::Reduced => self.reduced.cloned().ok_or(PlanError::Scope)?,
            TypedExprKind::Negate(a) => Value::Negate { dtype, a: part(a)? },
            TypedExprKind::Not(a) => Value::Not { a: part(a)? },
            TypedExprKind::Binary(op, a, b) => {
                Value::Binary { op: operator(*op), dtype, a: part(a)?, b: part(b)? }
            }
            TypedExprKind::Compare(op, a, b) => {
                let (op, a, b) = match op {
                    Compared::Equal => (ValueOp::Equal, a, b),
                    Compared::NotEqual => (ValueOp::NotEqual, a, b),
                    Compared::Less => (ValueOp::Less, a, b),
                    Compared::LessOrEqual => (ValueOp::LessOrEqual, a, b),
                    Compared::Greater => (ValueOp::Less, b, a),
                    Compared::GreaterOrEqual => (ValueOp::LessOrEqual, b, a),
                };
                Value::Binary { op, dtype: a.ty.element(), a: part(a)?, b: part(b)? }
            }
            TypedExprKind::Select(condition, then, otherwise) => Value::Select {
                condition: part(condition)?,
                then: part(then)?,
                otherwise: part(otherwise)?,
            },
            TypedExprKind::Call(function, args) => Value::Call {
                function: *function,
                dtype,
                args: args.iter().map(|arg| self.number(arg)).collect::<Result<_, _>>()?,
            },
            TypedExprKind::Convert(a) => {
                convert(self.number(a)?, a.ty.element(), value.ty.element())
            }
        })
    }
}

/// Conjunction of the conditions `all` as an IR expression; `true` if there are none.
///
/// # Errors
/// Same as [`lower_predicate`].
pub(crate) fn condition(
    all: &[ExprComparison],
    scope: &crate::lower::expr::Scope<'_>,
) -> Result<Expr, PlanError> {
    lower_predicate(&Predicate { all: all.to_vec() }, scope)
}

/// Converts a value of type `from` to type `to`: by the language's own conversion if that is defined for all values,
/// else by a cast function. The conversion of a widened value back to its type gives the value itself.
pub(crate) fn convert(number: Value, from: Dtype, to: Dtype) -> Value {
    if from == to {
        return number;
    }
    let number = match number {
        // Narrowing a widened value gives the value itself, without limits or rounding.
        Value::Convert { from: narrow, to: wide, value }
            if (narrow, wide) == (to, from) && is_widened(to, from) =>
        {
            return *value;
        }
        Value::Cast { cast, value }
            if is_widened(to, from) && (cast.from(), cast.to()) == (to, from) =>
        {
            return *value;
        }
        number => number,
    };
    let is_float = |dtype: Dtype| matches!(dtype.scalar, Scalar::F32 | Scalar::F64);
    let is_own = |dtype: Dtype| {
        is_float(dtype)
            || dtype.scalar == Scalar::Bool
            || crate::base::fill::format(dtype.scalar).is_none()
    };
    let own = is_own(from) && is_own(to);
    let cast = Cast::new(from, to, CastMode::Round).ok().flatten();
    let is_safe = to.scalar == Scalar::Bool
        || from.scalar == Scalar::Bool
        || is_float(to)
        || cast.is_some_and(Cast::is_lossless);
    match cast {
        Some(cast) if !(own && is_safe) => Value::Cast { cast, value: Box::new(number) },
        _ => Value::Convert { from, to, value: Box::new(number) },
    }
}

/// True if `wide` represents every value of `narrow` exactly, and `narrow` is not bool.
fn is_widened(narrow: Dtype, wide: Dtype) -> bool {
    let cast = Cast::new(narrow, wide, CastMode::Round).ok().flatten();
    narrow.scalar != Scalar::Bool && cast.is_some_and(Cast::is_lossless)
}

/// Loads the element at offset `index` of a buffer, in elements, and converts it to its compute type.
pub(crate) fn load(bound: &BufferBinding, index: Expr) -> Value {
    let through = bound.load.clone();
    let dtype = bound.tensor().dtype;
    let load = Value::Load { buffer: bound.name.clone(), index, through };
    convert(load, dtype, dtype.scalar.compute_type().element())
}

/// Reads an element of an image by a call of the function `fetch` with the arguments `args`, the image and the physical
/// index, and converts it to its compute type.
pub(crate) fn fetched(bound: &BufferBinding, fetch: &str, args: Vec<Expr>) -> Value {
    let dtype = bound.tensor().dtype;
    let fetch = Value::Fetch { function: fetch.to_owned(), args };
    convert(fetch, dtype, dtype.scalar.compute_type().element())
}

/// Integer constant of type `ty`; its bits are truncated to the width of the type.
pub(crate) fn integer_constant(ty: Scalar, value: i128) -> Value {
    let dtype = ty.element();
    let bits = u64::try_from(value & i128::from(u64::MAX)).unwrap_or(0);
    let mask = u64::MAX >> 64_u32.saturating_sub(dtype.element_bits()).min(63);
    Value::Constant { dtype, bits: bits & mask }
}

/// Float constant of type `ty`: `value` rounded to it.
pub(crate) fn float_constant(ty: Scalar, value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "a literal is rounded to its type")]
    let bits = match ty {
        Scalar::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    Value::Constant { dtype: ty.element(), bits }
}

fn operator(op: Arithmetic) -> ValueOp {
    match op {
        Arithmetic::Add => ValueOp::Add,
        Arithmetic::Subtract => ValueOp::Subtract,
        Arithmetic::Multiply => ValueOp::Multiply,
        Arithmetic::Divide => ValueOp::Divide,
        Arithmetic::FloorDivide => ValueOp::FloorDivide,
        Arithmetic::Modulo => ValueOp::Modulo,
        Arithmetic::And => ValueOp::And,
        Arithmetic::Or => ValueOp::Or,
        Arithmetic::Min => ValueOp::Min,
        Arithmetic::Max => ValueOp::Max,
    }
}

/// Bounds checks `index >= 0` and `index < extent` for the axes along which a read may be out of bounds. `index` and
/// `extents` have an entry for each axis of the tensor that is read.
pub(crate) fn inside(
    read: &ElementRead,
    index: &[Algebra],
    extents: &[Algebra],
) -> Vec<ExprComparison> {
    let Some(outside) = &read.outside else { return Vec::new() };
    let below = outside.below.iter().filter_map(|axis| {
        let left = index.get(*axis)?.clone();
        Some(ExprComparison { left, op: CompareOp::Ge, right: Algebra::constant(0) })
    });
    let beyond = outside.beyond.iter().filter_map(|axis| {
        let (left, right) = (index.get(*axis)?.clone(), extents.get(*axis)?.clone());
        Some(ExprComparison { left, op: CompareOp::Lt, right })
    });
    below.chain(beyond).collect()
}
