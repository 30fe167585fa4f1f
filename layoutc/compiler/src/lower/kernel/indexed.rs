//! Data-dependent accesses (gather, scatter): each index that is computed from data is stored in a variable, checked
//! against the extent if it may be out of bounds, and used in the offset of the element.

use std::cell::RefCell;

use layoutc_algebra::expr::{Expr as Algebra, Var};

use crate::base::dtype::Scalar;
use crate::ir::{Compare, Expr, Stmt, Value, ValueOp};
use crate::loops::ExecutionModel;
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::expr::{Binding, Scope, lower, range};
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::value::{fetched, integer_constant, load};
use crate::lower::names::Namer;
use crate::model::compute::{BufferRef, DataIndex, KernelInstance, TypedExpr, TypedExprKind};

/// Names of the variables for data-dependent indices in a value, and the declarations of these variables.
pub(crate) struct Named<'a> {
    names: RefCell<Namer<'a>>,
    before: RefCell<Vec<Stmt>>,
}

/// Logical index of a data-dependent access.
pub(crate) struct IndexedAccess {
    /// Index along each axis of the tensor.
    pub(crate) index: Vec<Expr>,
    /// Condition under which all checked indices are in bounds; `None` if no index is checked.
    pub(crate) is_inside: Option<Value>,
}

/// Functions that lower the parts of a data-dependent index, and their context.
pub(crate) struct Lowering<'a> {
    /// Lowers a value, such as a read of an index tensor.
    pub(crate) number: &'a dyn Fn(&TypedExpr) -> Result<Value, PlanError>,
    /// Lowers an index expression over the axes of the statement.
    pub(crate) index: &'a dyn Fn(&Algebra) -> Result<Expr, PlanError>,
    /// Bindings of the symbols.
    pub(crate) symbol: &'a Scope<'a>,
    pub(crate) compute: &'a KernelInstance,
    pub(crate) processor: ExecutionModel,
}

impl Lowering<'_> {
    /// True if `value` reads an operand whose range the caller guarantees, and the code is for a CPU, which then
    /// asserts the bounds of `value`.
    fn promised(&self, value: &TypedExpr) -> bool {
        let mut operands = (0..).zip(&self.compute.operands);
        self.processor != ExecutionModel::Gpu
            && operands.any(|(k, one)| one.range.is_some() && value.uses(BufferRef::Operand(k)))
    }
}

impl<'a> Named<'a> {
    /// Context without declarations; `names` has the names in use.
    pub(crate) fn new(names: Namer<'a>) -> Self {
        Self { names: RefCell::new(names), before: RefCell::new(Vec::new()) }
    }

    /// Declarations of the variables, and assertions about them, in order of execution.
    pub(crate) fn into_stmts(self) -> Vec<Stmt> {
        self.before.into_inner()
    }

    /// Declares variables for the indices `indices` of an access to `bound`, and returns the index with its bounds
    /// check. An index expression that needs no check gets no variable.
    ///
    /// # Errors
    /// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
    pub(crate) fn place(
        &self,
        bound: &BufferBinding,
        indices: &[DataIndex],
        lowering: &Lowering<'_>,
    ) -> Result<IndexedAccess, PlanError> {
        let (mut index, mut inside) = (Vec::new(), None);
        for (one, axis) in indices.iter().zip(bound.tensor().layout.logical()) {
            if let (TypedExprKind::Index(expr), false) = (&one.value.kind, one.is_checked) {
                index.push((lowering.index)(expr)?);
                continue;
            }
            let mut value = (lowering.number)(&one.value)?;
            if one.is_checked {
                let name = self.name(&format!("{}_read", axis.name));
                let dtype = Scalar::I64.element();
                self.push(Stmt::Variable { name: name.clone(), dtype, value });
                value = Value::Name { name };
                let is_inside = below(value.clone(), lower(&axis.extent, lowering.symbol)?);
                inside = Some(match inside {
                    None => is_inside,
                    Some(before) => {
                        Value::binary(ValueOp::And, Scalar::Bool.element(), before, is_inside)
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
        Ok(IndexedAccess { index, is_inside: inside })
    }

    /// Copy of the namer, with the names in use.
    pub(crate) fn names(&self) -> Namer<'a> {
        self.names.borrow().clone()
    }

    pub(crate) fn name(&self, wanted: &str) -> String {
        self.names.borrow_mut().name(wanted)
    }

    fn push(&self, stmt: Stmt) {
        self.before.borrow_mut().push(stmt);
    }
}

/// Condition `0 <= value < extent` for a 64-bit signed integer, as one unsigned comparison.
fn below(value: Value, extent: Expr) -> Value {
    let [signed, unsigned] = [Scalar::I64, Scalar::U64].map(Scalar::element);
    let convert = |value| Value::Convert { from: signed, to: unsigned, value: Box::new(value) };
    let extent = match extent {
        Expr::Int { value } => integer_constant(Scalar::U64, value.into()),
        extent => convert(Value::Index { dtype: signed, value: extent }),
    };
    Value::binary(ValueOp::Less, unsigned, convert(value), extent)
}

/// Scope that binds the logical axes of the buffer `bound` to the indices `index`, which are in bounds, and takes all
/// other variables from `symbol`.
pub(crate) fn at_indices<'s>(
    bound: &'s BufferBinding,
    index: &'s [Expr],
    symbol: &'s Scope<'s>,
) -> impl Fn(Var) -> Option<Binding> + 's {
    move |var| {
        let Var::Axis(k) = var else { return symbol(var) };
        let k = usize::try_from(k).ok()?;
        let extent = &bound.tensor().layout.logical().get(k)?.extent;
        let high = range(extent, symbol).high.map(|extent| extent - 1);
        let tree = index.get(k)?.clone();
        Some(Binding { tree, range: Range { low: Some(0), high } })
    }
}

/// Offset of the element of `bound` at the in-bounds logical index `index`, in elements.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn offset(
    bound: &BufferBinding,
    index: &[Expr],
    symbol: &Scope<'_>,
) -> Result<Expr, PlanError> {
    lower(bound.tensor().layout.offset(), &at_indices(bound, index, symbol))
}

/// Element of `bound` at the in-bounds logical index `index`, in its compute type; fetched by a function if the buffer
/// is an image.
///
/// # Errors
/// As [`offset`].
pub(crate) fn element(
    bound: &BufferBinding,
    index: &[Expr],
    symbol: &Scope<'_>,
) -> Result<Value, PlanError> {
    let Some([fetch, _]) = &bound.texels else {
        return Ok(load(bound, offset(bound, index, symbol)?));
    };
    let scope = at_indices(bound, index, symbol);
    let place = bound.tensor().layout.physical_map().iter().map(|expr| lower(expr, &scope));
    let args = [Ok(Expr::name(&bound.name))].into_iter().chain(place);
    Ok(fetched(bound, fetch, args.collect::<Result<Vec<_>, PlanError>>()?))
}
