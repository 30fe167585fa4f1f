//! Relayouts of single elements, for layouts without common digits: loops with both offsets as expressions.

use layoutc_algebra::expr::{Expr as Algebra, ExprError, Predicate, Var};

use crate::ir::{Expr, LoopKind, Stmt, Value};
use crate::loops::access::AffineAccess;
use crate::loops::arith::is_multiple;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::Loop;
use crate::loops::range::Range;
use crate::lower::expr::{Binding, Scope, lower, lower_predicate, range};
use crate::lower::relayout::builder::{RelayoutBuilder, write};
use crate::lower::relayout::nest::Buffer;
use crate::lower::relayout::statement::{RelayoutEnd, RelayoutStatement};

/// Logical index in the source of the element of an iteration: `axes[k]` is the position in the destination of the
/// source's axis `k`.
fn matched(domain: &IterationDomain, axes: &[usize]) -> Vec<Algebra> {
    axes.iter().filter_map(|k| domain.axes.get(*k)).cloned().collect()
}

/// Offsets of the element of an iteration in source and destination, in elements, over the loops of `domain`.
fn offsets(
    [source, target]: [RelayoutEnd<'_>; 2],
    domain: &IterationDomain,
    axes: &[usize],
) -> Result<[Algebra; 2], ExprError> {
    let own = matched(domain, axes);
    Ok([source.offset(domain, &own)?, target.offset(domain, &domain.axes)?])
}

/// Loops of a relayout from `ends[0]` to `ends[1]`: those of the destination's [`RelayoutEnd::domain`] if both offsets
/// are affine in its innermost loop, which then has no division. Otherwise loops over the logical axes, with those in
/// which both offsets are affine innermost; if there is no such axis, those of [`RelayoutEnd::domain`] all the same.
fn domain(ends: [RelayoutEnd<'_>; 2], axes: &[usize]) -> Result<IterationDomain, ExprError> {
    let affine = |domain: &IterationDomain| -> Result<Vec<usize>, ExprError> {
        let [read, written] = offsets(ends, domain, axes)?;
        let [read, written] =
            [AffineAccess::of(&read, domain)?, AffineAccess::of(&written, domain)?];
        let is_affine = |number: &usize| {
            [&read, &written].iter().all(|at| at.stride(*number, domain).is_some())
        };
        Ok(domain.active.iter().copied().filter(is_affine).collect())
    };
    let by_memory = ends[1].domain()?;
    if affine(&by_memory)?.last() == by_memory.active.last() {
        return Ok(by_memory);
    }
    let mut by_axes = ends[1].logical_domain()?;
    let inner = affine(&by_axes)?;
    if inner.is_empty() {
        return Ok(by_memory);
    }
    by_axes.active.retain(|number| !inner.contains(number));
    by_axes.active.extend(inner);
    Ok(by_axes)
}

impl RelayoutBuilder<'_> {
    /// Loops that copy one element in each iteration, for a statement whose source and destination have no digits in
    /// common.
    ///
    /// # Errors
    /// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
    pub(crate) fn by_elements(
        &mut self,
        statement: &RelayoutStatement<'_>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let RelayoutStatement { source, destination: target, .. } = *statement;
        let (axes, [from, to]) = (statement.axes(), self.buffers(statement));
        let domain = domain([source, target], &axes)?;
        let symbol = |var| statement.symbol(var);
        let names: Vec<String> = domain.loops.iter().map(|found| self.local(&found.name)).collect();
        let scope = |var| match var {
            Var::Digit(k) => {
                let number = usize::try_from(k).ok()?;
                let high = range(&domain.loops.get(number)?.extent, &symbol).high;
                let tree = Expr::name(names.get(number)?);
                Some(Binding { tree, range: Range { low: Some(0), high: high.map(|n| n - 1) } })
            }
            other => symbol(other),
        };
        let own = matched(&domain, &axes);
        let offsets = offsets([source, target], &domain, &axes)?;
        let [read, written] = offsets.map(|offset| lower(&offset, &scope));
        let written = written?;
        let (buffer, through) = (from.name.clone(), from.through.clone());
        let value = Value::Load { buffer, index: read?, through }.cast(self.cast);
        let stored = write(&to, written.clone(), value);
        let bound = |axes: &[Algebra]| -> Result<Vec<Binding>, PlanError> {
            let one = |axis| Ok(Binding { tree: lower(axis, &scope)?, range: range(axis, &scope) });
            axes.iter().map(one).collect()
        };
        let condition = source.condition(&bound(&own)?)?;
        let otherwise = if condition.is_some() && target.context().fills_outside() {
            let fill = self.declare_fill(target.context())?;
            let fill = match target {
                RelayoutEnd::Dense(_) => fill.cast(self.cast),
                RelayoutEnd::Layout(_) => fill,
            };
            vec![write(&to, written, fill)]
        } else {
            Vec::new()
        };
        let stored = crate::lower::index::domain::guarded(condition, stored, otherwise);
        let of_target = target.condition(&bound(&domain.axes)?)?;
        let stored = crate::lower::index::domain::guarded(of_target, stored, Vec::new());
        let inside = guard(&domain, &scope)?;
        let mut body = vec![crate::lower::index::domain::guarded(inside, stored, Vec::new())];
        let mut loops = Vec::new();
        for number in domain.active.iter().rev() {
            let Some(found) = domain.loops.get(*number) else { continue };
            let (from, to) = (Expr::int(0), lower(&found.extent, &symbol)?);
            let name = names.get(*number).cloned().unwrap_or_default();
            body = vec![Stmt::For { name, from, to, step: 1, kind: LoopKind::Serial, body }];
            loops.push((*number, found.extent.clone()));
        }
        loops.reverse();
        self.parallelize(&mut body, &domain, &loops, target, &to)?;
        Ok(body)
    }

    /// Marks the most suitable one of `loops`, pairs (number, trip count) with the outermost first, as parallel in
    /// `body`, if there is one and all threads may be used. `to` is the buffer of the destination `target`.
    fn parallelize(
        &self,
        body: &mut [Stmt],
        domain: &IterationDomain,
        loops: &[(usize, Algebra)],
        target: RelayoutEnd<'_>,
        to: &Buffer,
    ) -> Result<(), PlanError> {
        let context = target.context();
        let symbols = context.layout.symbols();
        let ranges = |var| context.symbol(var).map(|binding| binding.range);
        let mut all = Vec::new();
        for (number, extent) in loops {
            // Elements that share a byte are written by one thread: only a dense memory has known strides.
            let is_disjoint = match target {
                _ if to.through.is_none() => true,
                RelayoutEnd::Layout(_) => false,
                RelayoutEnd::Dense(_) => {
                    let stride = AffineAccess::of(&domain.offset, domain)?.stride(*number, domain);
                    stride.is_some_and(|stride| is_multiple(&stride, to.in_whole(), symbols))
                }
            };
            all.push(Loop { is_disjoint, ..Loop::over(extent, symbols, &ranges) });
        }
        self.mark_parallel(body, &all, to);
        Ok(())
    }
}

/// Condition under which an iteration of a domain has an element; `None` if all iterations have one.
fn guard(domain: &IterationDomain, scope: &Scope<'_>) -> Result<Option<Expr>, PlanError> {
    let all = domain.inside.clone();
    if all.is_empty() { Ok(None) } else { lower_predicate(&Predicate { all }, scope).map(Some) }
}
