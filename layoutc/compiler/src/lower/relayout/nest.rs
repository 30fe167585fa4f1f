//! Loop nests of relayouts that copy every element once: loops over digits, with partial offsets at each level.

mod inner;

use layoutc_algebra::expr::{BinOp, Expr as Algebra, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::base::cast::Cast;
use crate::ir::{Compare, Expr, LoopKind, Stmt, Value};
use crate::loops::arith::{fold, is_multiple};
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::elements_of_whole_bytes;
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};
use crate::loops::relayout::plan::{Primitives, RelayoutPart, RelayoutPlan};
use crate::loops::relayout::schedule::{RelayoutLoop, RelayoutPrimitive};
use crate::lower::expr::{Scope, add, literal, lower, multiply, range};
use crate::lower::names::Namer;
use crate::machine::CPU;
use crate::model::StorePolicy;

/// Source or destination buffer of a loop nest.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    /// Identifier of the parameter.
    pub name: String,
    /// Prefix of the names of partial offsets: `p` gives `p0`, `p1`, ….
    pub partial: String,
    /// Name of the function that loads (source) or stores (destination) an element; `None` if elements are whole bytes.
    pub through: Option<String>,
    /// Size of an element, in bits.
    pub element_bits: i128,
}

impl Buffer {
    /// Smallest number of elements that fills whole bytes: 2 for elements of 4 bits.
    pub(crate) fn in_whole(&self) -> i128 {
        elements_of_whole_bytes(self.element_bits)
    }
}

/// Statements of a planned relayout from the buffer `from` to the buffer `to`. `scope` has the bindings of the symbols,
/// `namer` the names in use, `cast` the conversion of every element.
///
/// # Errors
/// [`PlanError`], for example if a bound or stride does not fit 64 bits or nests too deep.
pub(crate) fn lower_plan(
    plan: &RelayoutPlan,
    symbols: &[Symbol],
    scope: &Scope<'_>,
    namer: &Namer<'_>,
    [from, to]: [&Buffer; 2],
    cast: Option<Cast>,
    primitives: Primitives,
) -> Result<Vec<Stmt>, PlanError> {
    let whole_bytes = lower(&plan.whole_bytes, scope)?;
    let whole_bytes = match plan.stores {
        None => whole_bytes,
        Some(StorePolicy::Streaming) => Expr::int(-1),
        Some(StorePolicy::Cached) => whole_bytes.min(Expr::int(CPU.cached_bytes)),
    };
    let mut body = Vec::new();
    for RelayoutPart { refinement, schedule, parallel } in &plan.parts {
        // Names are scoped to loops: each part may reuse them.
        let mut namer = namer.clone();
        let inner = schedule.inner;
        let names = refinement.digits.iter().enumerate().map(|(k, digit)| {
            let is_loop = !digit.is_unit() && inner.digits().all(|digit| digit != k);
            if is_loop { namer.name(&digit.name) } else { String::new() }
        });
        let names = names.collect();
        let mut lowering = PartLowering {
            refinement,
            symbols,
            scope,
            namer: &mut namer,
            names,
            blocks: Vec::new(),
            known: Vec::new(),
            inner,
            innermost: schedule.levels.last().copied(),
            primitives,
            whole_bytes: whole_bytes.clone(),
            cast,
            parallel: *parallel,
            from,
            to,
        };
        let from_offset = lower(&refinement.from_constant, scope)?;
        let to_offset = lower(&refinement.to_constant, scope)?;
        body.extend(lowering.level(&schedule.levels, from_offset, to_offset)?);
    }
    Ok(body)
}

/// Kind of a loop: parallel or serial.
fn kind(is_parallel: bool) -> LoopKind {
    if is_parallel { LoopKind::Parallel } else { LoopKind::Serial }
}

/// State of the lowering of one part of a relayout.
pub(crate) struct PartLowering<'w, 'n> {
    refinement: &'w DigitRefinement,
    symbols: &'w [Symbol],
    scope: &'w Scope<'w>,
    namer: &'w mut Namer<'n>,
    /// Name of the loop variable of each digit; empty for digits without a loop.
    names: Vec<String>,
    /// Open loops over tiles: digit, identifier of the loop variable (first value of the tile), size of a tile.
    blocks: Vec<(usize, String, i64)>,
    /// Bounds of loops that were computed before the loop: digit, (first value, one past the last value).
    known: Vec<(usize, (Expr, Expr))>,
    /// Primitive inside all loops.
    inner: RelayoutPrimitive,
    /// Innermost loop of the nest, around `inner`; `None` if there is no loop.
    innermost: Option<RelayoutLoop>,
    /// Primitives that the target has for the innermost loops.
    primitives: Primitives,
    /// Size of all elements in the destination, in bytes, as the primitives use it to choose their stores: -1 if the
    /// manifest chooses streaming stores, at most `CPU.cached_bytes` if it chooses cached ones.
    whole_bytes: Expr,
    /// Conversion of every element; `None` if the types are equal.
    cast: Option<Cast>,
    /// Loop whose iterations run in parallel; `None` if all loops are serial.
    parallel: Option<RelayoutLoop>,
    from: &'w Buffer,
    to: &'w Buffer,
}

impl PartLowering<'_, '_> {
    fn level(
        &mut self,
        levels: &[RelayoutLoop],
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        match levels.split_first() {
            None => self.inner(from, to),
            Some((level @ RelayoutLoop::Tiles { digit: k, size }, rest)) => {
                let Some(digit) = self.refinement.digits.get(*k) else { return Ok(Vec::new()) };
                let name = self.namer.name(&format!("{}_block", digit.name));
                self.blocks.push((*k, name.clone(), *size));
                let until = lower(&digit.extent, self.scope)?;
                let body = self.level(rest, from, to)?;
                let from = Expr::int(0);
                let kind = kind(self.parallel == Some(*level));
                Ok(vec![Stmt::For { name, from, to: until, step: *size, kind, body }])
            }
            Some((RelayoutLoop::Digit(k), rest)) => self.digit(*k, rest, from, to),
        }
    }

    fn digit(
        &mut self,
        k: usize,
        rest: &[RelayoutLoop],
        from: Expr,
        to: Expr,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (Some(digit), Some(name)) = (self.refinement.digits.get(k), self.names.get(k).cloned())
        else {
            return Ok(Vec::new());
        };
        let known = self.known.iter().position(|(other, _)| *other == k);
        let (mut before, (low, high)) = match known.map(|at| self.known.swap_remove(at)) {
            Some((_, bounds)) => (Vec::new(), bounds),
            None => self.loop_bounds(k, digit, rest)?,
        };
        let innermost = rest.is_empty() && self.inner == RelayoutPrimitive::Element;
        if innermost && let Some(elements) = self.run_elements(k, digit, &low, &high) {
            before.push(self.copy(from, to, elements)?);
            return Ok(before);
        }
        let from = self.advance(from, &name, &digit.from_stride)?;
        let to = self.advance(to, &name, &digit.to_stride)?;
        let body = if innermost {
            vec![self.store(from, to)]
        } else {
            let (from_let, from) = self.partial(&self.from.partial.clone(), from);
            let (to_let, to) = self.partial(&self.to.partial.clone(), to);
            let mut body: Vec<Stmt> = [to_let, from_let].into_iter().flatten().collect();
            body.extend(self.early_bounds(digit.chain, rest)?);
            body.extend(self.level(rest, from, to)?);
            body
        };
        let kind = kind(self.parallel == Some(RelayoutLoop::Digit(k)));
        before.push(Stmt::For { name, from: low, to: high, step: 1, kind, body });
        Ok(before)
    }

    /// Trip count of the innermost loop, over digit `k` with the bounds `low` and `high`, if a copy primitive can
    /// replace it: the loop is a contiguous run that is long enough. `None` if it is not.
    fn run_elements(&self, k: usize, digit: &CommonDigit, low: &Expr, high: &Expr) -> Option<Expr> {
        let steps = [&digit.from_stride, &digit.to_stride];
        let contiguous = steps.iter().all(|stride| stride.as_const() == Some(1))
            && [self.from, self.to].iter().all(|buffer| buffer.through.is_none());
        let blocked = self.blocks.iter().any(|(blocked, ..)| *blocked == k);
        if !contiguous || blocked || *low != Expr::int(0) {
            return None;
        }
        // In a chain of more than two digits that ends early, the computed end of a digit may be less than its start.
        let chain = self.refinement.digits.iter().filter(|other| other.chain == digit.chain);
        if chain.count() > 2 && !matches!(high, Expr::Int { .. }) {
            return None;
        }
        // Targets without tile primitives have no primitive that converts runs.
        if self.cast.is_some() && self.primitives == Primitives::None {
            return None;
        }
        let bits = self.from.element_bits.min(self.to.element_bits);
        let element = bits.checked_div(8).unwrap_or(1);
        let (longest, worth) = match high {
            Expr::Int { value } => (Some(i128::from(*value)), CPU.copy_run_bytes),
            _ => (range(&digit.extent, self.scope).high, CPU.copy_unknown_run_bytes),
        };
        if longest.is_some_and(|longest| longest.saturating_mul(element) < worth) {
            return None;
        }
        Some(high.clone())
    }

    /// Statements for the bounds of a chain's last loop, emitted as soon as all its other loops are open; records the
    /// bounds in `known`. `rest` are the loops that are not open yet. Empty unless exactly one of these is of the
    /// chain, it is a `RelayoutLoop::Digit` whose digit has no loop over tiles, and `inner` has no digit of the chain.
    fn early_bounds(
        &mut self,
        chain: usize,
        rest: &[RelayoutLoop],
    ) -> Result<Vec<Stmt>, PlanError> {
        let of_chain =
            |k: usize| self.refinement.digits.get(k).is_some_and(|digit| digit.chain == chain);
        if self.inner.digits().any(of_chain) {
            return Ok(Vec::new());
        }
        let mut left = rest.iter().filter(|level| of_chain(level.digit()));
        let (Some(RelayoutLoop::Digit(k)), None) = (left.next(), left.next()) else {
            return Ok(Vec::new());
        };
        let Some(digit) = self.refinement.digits.get(*k) else { return Ok(Vec::new()) };
        if self.blocks.iter().any(|(blocked, ..)| blocked == k) {
            return Ok(Vec::new());
        }
        let (before, bounds) = self.loop_bounds(*k, digit, &[])?;
        self.known.push((*k, bounds));
        Ok(before)
    }

    /// Offset `offset + name * stride`, in elements; `name` is the identifier of a loop variable.
    fn advance(&self, offset: Expr, name: &str, stride: &Algebra) -> Result<Expr, PlanError> {
        let step = multiply(Expr::name(name), lower(stride, self.scope)?)?;
        if let Expr::Int { value: 0 } = step {
            return Ok(offset);
        }
        add(offset, step)
    }

    /// Pair of the declaration of `value` as a partial offset with a name from `prefix`, and of that name. `None` and
    /// `value` itself if `value` is a name or a constant.
    fn partial(&mut self, prefix: &str, value: Expr) -> (Option<Stmt>, Expr) {
        if matches!(value, Expr::Name { .. } | Expr::Int { .. }) {
            return (None, value);
        }
        let name = self.namer.partial(prefix);
        let named = Expr::name(&name);
        (Some(Stmt::Let { name, value }), named)
    }

    fn store(&self, from: Expr, to: Expr) -> Stmt {
        Stmt::Store {
            buffer: self.to.name.clone(),
            index: to,
            value: Value::Load {
                buffer: self.from.name.clone(),
                index: from,
                through: self.from.through.clone(),
            }
            .cast(self.cast),
            through: self.to.through.clone(),
        }
    }

    /// Bounds of the loop over digit `k`: pair of the statements that the bounds need, and of the bounds (first value,
    /// one past the last value). `rest` are the loops inside this one; the bounds of a chain apply to its innermost
    /// loop.
    fn loop_bounds(
        &mut self,
        k: usize,
        digit: &CommonDigit,
        rest: &[RelayoutLoop],
    ) -> Result<(Vec<Stmt>, (Expr, Expr)), PlanError> {
        let mut before = Vec::new();
        let mut low = Expr::int(0);
        let mut high = lower(&digit.extent, self.scope)?;
        let block = self.blocks.iter().find(|(blocked, ..)| *blocked == k).cloned();
        if let Some((_, block, size)) = block {
            low = Expr::name(&block);
            let end = add(low.clone(), Expr::int(size))?;
            let whole = is_multiple(&digit.extent, i128::from(size), self.symbols);
            high = if whole { end } else { self.named(&mut before, digit, "end", end.min(high)) };
        }
        let of_chain = |other: usize| {
            self.refinement.digits.get(other).is_some_and(|other| other.chain == digit.chain)
        };
        let last = !rest.iter().filter_map(RelayoutLoop::single_value_digit).any(of_chain)
            && !self.inner.digits().any(|other| other != k && of_chain(other));
        if last && let Some(bounds) = self.refinement.chains.get(digit.chain) {
            if self.refinement.ends_early(digit.chain, bounds, self.symbols) {
                let top = self.refinement.top_weight(digit.chain);
                let end = self.edge(digit, &bounds.high)?;
                // The most significant digit ends at `end`; a less significant one at its extent if that is smaller.
                let sure = digit.weight == top && matches!(low, Expr::Int { .. });
                high =
                    if sure { end } else { self.named(&mut before, digit, "end", end.min(high)) };
            }
            if bounds.starts_late() {
                let start = self.edge(digit, &bounds.low)?;
                low = self.named(&mut before, digit, "start", start.max(low));
            }
        }
        Ok((before, (low, high)))
    }

    /// Least value of the digit for which `m`, the sum of the chain's digits times their weights, is at least `edge`,
    /// given the chain's other digits. With `q, r = divmod(edge, weight)` the value is `q - above + (below < r)`, where
    /// `above` is the sum of the more significant digits, in units of `weight`, and `below` the sum of the less
    /// significant ones, in units of `m`.
    fn edge(&self, digit: &CommonDigit, edge: &Algebra) -> Result<Expr, PlanError> {
        let weight = Algebra::constant(digit.weight);
        let mut value = lower(&fold(BinOp::FloorDiv, edge, &weight)?, self.scope)?;
        let rest = lower(&fold(BinOp::Mod, edge, &weight)?, self.scope)?;
        let mut below = Expr::int(0);
        for (other, name) in self.refinement.digits.iter().zip(&self.names) {
            if other.chain != digit.chain || other.weight == digit.weight || other.is_unit() {
                continue;
            }
            if other.weight > digit.weight {
                let times = other.weight.checked_div(digit.weight).ok_or(ExprError::Overflow)?;
                value = add(value, multiply(Expr::name(name), literal(-times)?)?)?;
            } else {
                below = add(below, multiply(Expr::name(name), literal(other.weight)?)?)?;
            }
        }
        if rest == Expr::int(0) {
            return Ok(value);
        }
        if below == Expr::int(0) {
            return add(value, rest.min(Expr::int(1)));
        }
        let more = Expr::Select {
            condition: Box::new(Expr::compare(Compare::Lt, below, rest)),
            then: Box::new(Expr::int(1)),
            otherwise: Box::new(Expr::int(0)),
        };
        add(value, more)
    }

    /// Bound `bound` of a loop over `digit`, declared as `<digit>_<what>` in `before` unless it is a name or a
    /// constant.
    fn named(
        &mut self,
        before: &mut Vec<Stmt>,
        digit: &CommonDigit,
        what: &str,
        bound: Expr,
    ) -> Expr {
        if matches!(bound, Expr::Int { .. } | Expr::Name { .. }) {
            return bound;
        }
        let name = self.namer.name(&format!("{}_{what}", digit.name));
        let named = Expr::name(&name);
        before.push(Stmt::Let { name, value: bound });
        named
    }
}
