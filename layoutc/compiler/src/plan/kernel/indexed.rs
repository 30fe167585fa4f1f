//! Elements at indices that are read: each index has a name of its own, is looked at where it may lie outside, and stands in the
//! offset then.

use std::cell::RefCell;

use layoutc_algebra::expr::{Expr as Algebra, Var};

use super::super::lower::{Binding, PlanError, Range, Scope, lower, range};
use super::super::names::Namer;
use super::value::{fetched, integer_constant, load, scalar};
use super::{Bound, Runs};
use crate::base::dtype::Scalar;
use crate::ir::{Compare, Expr, Stmt, Value, ValueOp};
use crate::model::compute::{BufferRef, DataIndex, KernelInstance, TypedExpr, TypedExprKind};

/// Names for the indices of a value, and the statements that give them.
pub(super) struct Named<'a> {
    names: RefCell<Namer<'a>>,
    before: RefCell<Vec<Stmt>>,
}

/// An access at indices that are named: they, and the condition under which all lie inside.
pub(super) struct Place {
    pub(super) index: Vec<Expr>,
    pub(super) is_inside: Option<Value>,
}

/// How a value becomes a number, and an index over axes an expression.
pub(super) struct Lowering<'a> {
    pub(super) number: &'a dyn Fn(&TypedExpr) -> Result<Value, PlanError>,
    pub(super) index: &'a dyn Fn(&Algebra) -> Result<Expr, PlanError>,
    /// An expression over symbols.
    pub(super) symbol: &'a Scope<'a>,
    pub(super) compute: &'a KernelInstance,
    pub(super) runs: Runs,
}

impl Lowering<'_> {
    /// Whether a value lies inside as the caller has promised it, which cores can assert.
    fn promised(&self, value: &TypedExpr) -> bool {
        let mut operands = (0..).zip(&self.compute.operands);
        self.runs != Runs::OnItems
            && operands.any(|(k, one)| one.range.is_some() && value.uses(BufferRef::Operand(k)))
    }
}

impl<'a> Named<'a> {
    /// Nothing named yet; `names` has the names that are taken.
    pub(super) fn new(names: Namer<'a>) -> Self {
        Self { names: RefCell::new(names), before: RefCell::new(Vec::new()) }
    }

    /// The statements, in their order.
    pub(super) fn into_stmts(self) -> Vec<Stmt> {
        self.before.into_inner()
    }

    /// Names the indices of an access to `bound`.
    ///
    /// # Errors
    /// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
    pub(super) fn place(
        &self,
        bound: &Bound,
        indices: &[DataIndex],
        lowering: &Lowering<'_>,
    ) -> Result<Place, PlanError> {
        let (mut index, mut inside) = (Vec::new(), None);
        for (one, axis) in indices.iter().zip(bound.tensor.layout.logical()) {
            if let (TypedExprKind::Index(expr), false) = (&one.value.kind, one.is_checked) {
                index.push((lowering.index)(expr)?);
                continue;
            }
            let mut value = (lowering.number)(&one.value)?;
            if one.is_checked {
                let name = self.name(&format!("{}_read", axis.name));
                let dtype = scalar(Scalar::I64);
                self.push(Stmt::Variable { name: name.clone(), dtype, value });
                value = Value::Name { name };
                let is_inside = below(value.clone(), lower(&axis.extent, lowering.symbol)?);
                inside = Some(match inside {
                    None => is_inside,
                    Some(before) => {
                        Value::binary(ValueOp::And, scalar(Scalar::Bool), before, is_inside)
                    }
                });
            }
            let name = self.name(&format!("{}_index", axis.name));
            self.push(Stmt::LetIndex { name: name.clone(), value });
            if !one.is_checked && lowering.promised(&one.value) {
                let extent = lower(&axis.extent, lowering.symbol)?;
                let at_least = Expr::compare(Compare::Ge, Expr::name(&name), Expr::int(0));
                let below = Expr::compare(Compare::Lt, Expr::name(&name), extent);
                self.push(Stmt::Assert { condition: Expr::All { args: vec![at_least, below] } });
            }
            index.push(Expr::name(&name));
        }
        Ok(Place { index, is_inside: inside })
    }

    /// The names that are taken.
    pub(super) fn names(&self) -> Namer<'a> {
        self.names.borrow().clone()
    }

    pub(super) fn name(&self, wanted: &str) -> String {
        self.names.borrow_mut().name(wanted)
    }

    fn push(&self, stmt: Stmt) {
        self.before.borrow_mut().push(stmt);
    }
}

/// Whether an integer of 64 bits is at least 0 and below an extent: as one without a sign it is below.
fn below(value: Value, extent: Expr) -> Value {
    let [signed, unsigned] = [Scalar::I64, Scalar::U64].map(scalar);
    let convert = |value| Value::Convert { from: signed, to: unsigned, value: Box::new(value) };
    let extent = match extent {
        Expr::Int { value } => integer_constant(Scalar::U64, value.into()),
        extent => convert(Value::Index { dtype: signed, value: extent }),
    };
    Value::binary(ValueOp::Less, unsigned, convert(value), extent)
}

/// The axes of a tensor at indices that lie inside.
pub(super) fn at_indices<'s>(
    bound: &'s Bound,
    index: &'s [Expr],
    symbol: &'s Scope<'s>,
) -> impl Fn(Var) -> Option<Binding> + 's {
    move |var| {
        let Var::Axis(k) = var else { return symbol(var) };
        let k = usize::try_from(k).ok()?;
        let extent = &bound.tensor.layout.logical().get(k)?.extent;
        let high = range(extent, symbol).high.map(|extent| extent - 1);
        let tree = index.get(k)?.clone();
        Some(Binding { tree, range: Range { low: Some(0), high } })
    }
}

/// The offset of an element at indices that lie inside.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub(super) fn offset(bound: &Bound, index: &[Expr], symbol: &Scope<'_>) -> Result<Expr, PlanError> {
    lower(bound.tensor.layout.offset(), &at_indices(bound, index, symbol))
}

/// The element at indices that lie inside, in the type that it is computed in.
///
/// # Errors
/// As [`offset`].
pub(super) fn element(
    bound: &Bound,
    index: &[Expr],
    symbol: &Scope<'_>,
) -> Result<Value, PlanError> {
    let Some([fetch, _]) = &bound.image else {
        return Ok(load(bound, offset(bound, index, symbol)?));
    };
    let scope = at_indices(bound, index, symbol);
    let place = bound.tensor.layout.physical_map().iter().map(|expr| lower(expr, &scope));
    let args = [Ok(Expr::name(&bound.name))].into_iter().chain(place);
    Ok(fetched(bound, fetch, args.collect::<Result<Vec<_>, PlanError>>()?))
}
