//! Statements that write at data-dependent indices (scatter): serial loops over the logical axes in the order of the
//! text. Several values may be written to one element, so that their order matters: GPU threads share only the loops
//! over axes that are by themselves an index of the target, whose iterations write different elements. Each thread
//! executes all iterations of the other loops.

use layoutc_algebra::expr::{Expr as Algebra, Predicate, Var};

use crate::base::dtype::Scalar;
use crate::ir::{Expr, LaunchAxis, LoopKind, Stmt, Value};
use crate::loops::ExecutionModel;
use crate::loops::arith::product;
use crate::loops::buffers::bound;
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::expr::{Binding, Scope, lower, range};
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::indexed::{IndexedAccess, Lowering, Named, element, offset};
use crate::lower::kernel::reduction;
use crate::lower::kernel::value::{ValueLowering, condition, convert, inside, load};
use crate::lower::launch::{Items, delinearized};
use crate::lower::names::Namer;
use crate::model::compute::{
    DataIndex, ElementRead, Gather, KernelInstance, Statement, TypedExprKind,
};

/// Serial loop nest of the statement, for a CPU.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn on_cores(
    compute: &KernelInstance,
    statement: &Statement,
    buffers: &[BufferBinding],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    processor: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let scatter = Scatter::new(compute, statement, buffers, (scope, namer), processor)?;
    let all: Vec<usize> = (0..statement.axes.len()).collect();
    let inside = scatter.element(namer, &all)?;
    scatter.rounds(&all, inside)
}

/// Pair of the kernel body for one GPU thread, and of the number of threads.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn on_items(
    compute: &KernelInstance,
    statement: &Statement,
    buffers: &[BufferBinding],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
) -> Result<(Vec<Stmt>, Items), PlanError> {
    let scatter = Scatter::new(compute, statement, buffers, (scope, namer), ExecutionModel::Gpu)?;
    let indices = statement.scatter.as_deref().unwrap_or_default();
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..statement.axes.len()).partition(|k| stands_alone(indices, *k));
    let mut count = Algebra::constant(1);
    for axis in own.iter().filter_map(|k| statement.axes.get(*k)) {
        count = product(&count, &axis.extent)?;
    }
    let items = Items::new(&count, scope)?;
    let item = namer.name("item");
    let axes = vec![LaunchAxis { name: item.clone(), extent: items.count.clone() }];
    let mut body = vec![Stmt::Launch { axes }];
    let axes = own.iter().filter_map(|k| statement.axes.get(*k).zip(scatter.names.get(*k)));
    let axes: Vec<_> = axes.map(|(axis, name)| (name.clone(), axis.extent.clone())).collect();
    body.extend(delinearized(&item, &axes, scope)?);
    let inside = scatter.element(namer, &others)?;
    body.extend(scatter.rounds(&others, inside)?);
    Ok((body, items))
}

/// True if the axis `axis` of the statement is by itself one of the target's indices, so that its iterations write
/// different elements.
fn stands_alone(indices: &[DataIndex], axis: usize) -> bool {
    let wanted = u32::try_from(axis).map(|k| Algebra::var(Var::Axis(k)));
    indices.iter().any(|index| {
        matches!((&index.value.kind, &wanted), (TypedExprKind::Index(expr), Ok(own)) if expr == own)
    })
}

/// Number of loops over `axes`, from the outermost one, that must enclose the declarations of the variables for
/// `indices`: one past the position in `axes` of the innermost axis on which an index depends. Unchecked indices that
/// read no tensor have no variable.
fn depth(indices: &[DataIndex], axes: &[usize]) -> usize {
    let mut depth = 0;
    for index in indices {
        if matches!(index.value.kind, TypedExprKind::Index(_)) && !index.is_checked {
            continue;
        }
        let mut look = |expr: &Algebra| {
            let is_it = |k: &usize| {
                let own = u32::try_from(*k).ok();
                expr.mentions(&|var| matches!(var, Var::Axis(k) if Some(k) == own))
            };
            let last = axes.iter().rposition(is_it);
            depth = depth.max(last.map_or(0, |last| last.saturating_add(1)));
        };
        index.value.walk(&mut |part| match &part.kind {
            TypedExprKind::Index(expr) => look(expr),
            TypedExprKind::Read(read) => read.index.iter().for_each(&mut look),
            _ => {}
        });
    }
    depth
}

/// Scatter statement with the context in which it is emitted.
struct Scatter<'a> {
    compute: &'a KernelInstance,
    statement: &'a Statement,
    buffers: &'a [BufferBinding],
    symbol: &'a Scope<'a>,
    /// Variable names of the statement's axes, in order.
    names: Vec<String>,
    target: &'a BufferBinding,
    processor: ExecutionModel,
}

impl<'a> Scatter<'a> {
    fn new(
        compute: &'a KernelInstance,
        statement: &'a Statement,
        buffers: &'a [BufferBinding],
        (symbol, namer): (&'a Scope<'a>, &mut Namer<'_>),
        processor: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        let names = statement.axes.iter().map(|axis| namer.name(&axis.name)).collect();
        Ok(Self { compute, statement, buffers, symbol, names, target, processor })
    }

    fn scope(&self, var: Var) -> Option<Binding> {
        let Var::Axis(k) = var else { return (self.symbol)(var) };
        let k = usize::try_from(k).ok()?;
        let high = range(&self.statement.axes.get(k)?.extent, self.symbol).high;
        let range = Range { low: Some(0), high: high.map(|extent| extent - 1) };
        Some(Binding { tree: Expr::name(self.names.get(k)?), range })
    }

    fn lower(&self, expr: &Algebra) -> Result<Expr, PlanError> {
        lower(expr, &|var| self.scope(var))
    }

    /// Loops over `axes`, the first outermost, around `inside`. Variables for the target's data-dependent indices are
    /// declared outside of the innermost loops on which they do not depend.
    fn rounds(&self, axes: &[usize], inside: Body) -> Result<Vec<Stmt>, PlanError> {
        let Body { depth, before, is_inside, stmts } = inside;
        let (outer, inner) = axes.split_at(depth.min(axes.len()));
        let body = self.looped(inner, stmts)?;
        let mut all = before;
        match is_inside {
            None => all.extend(body),
            Some((name, value)) => {
                let dtype = Scalar::Bool.element();
                all.push(Stmt::Variable { name: name.clone(), dtype, value });
                let condition = Expr::Name { name };
                all.push(Stmt::If { condition, likely: true, body, otherwise: Vec::new() });
            }
        }
        self.looped(outer, all)
    }

    fn looped(&self, axes: &[usize], body: Vec<Stmt>) -> Result<Vec<Stmt>, PlanError> {
        let mut body = body;
        for k in axes.iter().rev() {
            let axis = self.statement.axes.get(*k).ok_or(PlanError::Scope)?;
            let name = self.names.get(*k).cloned().ok_or(PlanError::Scope)?;
            let (from, to) = (Expr::int(0), self.lower(&axis.extent)?);
            body = vec![Stmt::For { name, from, to, step: 1, kind: LoopKind::Serial, body }];
        }
        Ok(body)
    }

    /// Statements that write one element, inside loops over `axes`, outermost first. `namer` has the names in use.
    fn element(&self, namer: &Namer<'_>, axes: &[usize]) -> Result<Body, PlanError> {
        let indices = self.statement.scatter.as_deref().unwrap_or_default();
        let named = Named::new(namer.clone());
        let place = self.place(&named, self.target, indices)?;
        let IndexedAccess { index, is_inside } = place;
        let is_inside = is_inside.map(|value| (named.name("is_inside"), value));
        let values = Named::new(named.names());
        let value = self.value(&values)?;
        let store = self.store(value, &index)?;
        let mut body = values.into_stmts();
        body.push(store);
        let depth = depth(indices, axes);
        Ok(Body { depth, before: named.into_stmts(), is_inside, stmts: body })
    }

    /// Logical index of a data-dependent access to `bound`, lowered from `indices`, and its bounds check. Declarations
    /// of its components are added to `named`.
    fn place(
        &self,
        named: &Named<'_>,
        bound: &BufferBinding,
        indices: &[DataIndex],
    ) -> Result<IndexedAccess, PlanError> {
        self.with(named, &|here| {
            let number = |value: &_| here.number(value);
            let index = |expr: &Algebra| self.lower(expr);
            let (symbol, compute, processor) = (self.symbol, self.compute, self.processor);
            let lowering = Lowering { number: &number, index: &index, symbol, compute, processor };
            named.place(bound, indices, &lowering)
        })
    }

    /// Value of the statement in the accumulator's type; declarations of data-dependent indices are added to `named`.
    fn value(&self, named: &Named<'_>) -> Result<Value, PlanError> {
        let value = self.with(named, &|here| here.number(&self.statement.value))?;
        let (from, to) = (self.statement.value.ty, self.statement.accumulator);
        Ok(convert(value, from.element(), to.element()))
    }

    fn with<T>(
        &self,
        named: &Named<'_>,
        run: &dyn Fn(&ValueLowering<'_>) -> Result<T, PlanError>,
    ) -> Result<T, PlanError> {
        let read = |read: &ElementRead| {
            let found = bound(self.buffers, self.compute, read.buffer).ok_or(PlanError::Scope)?;
            let axes = found.tensor().layout.logical();
            let extents: Vec<Algebra> = axes.iter().map(|axis| axis.extent.clone()).collect();
            let index = read.index.iter().map(|index| self.lower(index));
            let index = index.collect::<Result<Vec<_>, PlanError>>()?;
            let conditions = inside(read, &read.index, &extents);
            Ok((element(found, &index, self.symbol)?, conditions))
        };
        let gather = |gather: &Gather| {
            let found = bound(self.buffers, self.compute, gather.buffer);
            let found = found.ok_or(PlanError::Scope)?;
            let IndexedAccess { index, is_inside } = self.place(named, found, &gather.index)?;
            Ok((element(found, &index, self.symbol)?, is_inside))
        };
        let index = |expr: &Algebra| self.lower(expr);
        let condition = |all: &Predicate| condition(&all.all, &|var| self.scope(var));
        let reduced = None;
        run(&ValueLowering {
            read: &read,
            gather: &gather,
            reduced,
            index: &index,
            condition: &condition,
        })
    }

    fn store(&self, value: Value, index: &[Expr]) -> Result<Stmt, PlanError> {
        let (target, statement) = (self.target, self.statement);
        let index = offset(target, index, self.symbol)?;
        let accumulator = statement.accumulator.element();
        let value = match reduction::operator(statement.op) {
            Some(op) => {
                let own = target.tensor().dtype.scalar.compute_type().element();
                let held = convert(load(target, index.clone()), own, accumulator);
                let held = reduction::as_first(statement, held);
                Value::binary(op, accumulator, held, value)
            }
            None => value,
        };
        let value = convert(value, accumulator, target.tensor().dtype);
        let (buffer, through) = (target.name.clone(), target.store.clone());
        Ok(Stmt::Store { buffer, index, value, through })
    }
}

/// Statements for one element of a scatter, in two parts.
struct Body {
    /// Number of loops that enclose `before`.
    depth: usize,
    /// Declarations of the variables for the target's indices.
    before: Vec<Stmt>,
    /// Name and value of the bounds check of these indices; `None` if no check is needed.
    is_inside: Option<(String, Value)>,
    /// Statements inside the remaining loops.
    stmts: Vec<Stmt>,
}
