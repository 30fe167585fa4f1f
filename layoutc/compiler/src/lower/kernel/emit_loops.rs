//! Emission of the loops of a nest: bounds, partitioning into interior and boundary, unrolling, and partial offsets.

use std::collections::BTreeSet;

use layoutc_algebra::expr::{Expr as Algebra, ExprComparison};

use crate::ir::{Compare, Expr, LoopKind, Stmt};
use crate::loops::ExecutionModel;
use crate::loops::bounds::{LoopBounds, full_tile_condition};
use crate::loops::error::PlanError;
use crate::lower::expr::{add, multiply};
use crate::lower::kernel::nest::{AccessUse, LoopState, Nest, Phase};
use crate::lower::kernel::value::condition;
use crate::machine::CPU;
use crate::model::Spanned;

/// Function that emits the code inside some loops, from the state there.
type Body<'b, N> = &'b dyn Fn(&mut N, &LoopState) -> Result<Vec<Stmt>, PlanError>;

impl Nest<'_> {
    /// Emits the loops `rest`, outermost first, and the phase `phase` inside, from the state `at` outside of them.
    /// `conditions` guard the iterations: as bounds of the loops where possible, else as conditions in the body.
    pub(crate) fn emit_loops(
        &mut self,
        rest: &[usize],
        at: &LoopState,
        phase: Phase,
        conditions: &[ExprComparison],
    ) -> Result<Vec<Stmt>, PlanError> {
        let Some((number, rest)) = rest.split_first() else { return self.innermost(at, phase) };
        let number = *number;
        let own = self.guards_resolved_by(number, at, conditions);
        let bounds = LoopBounds::of(number, &own, &self.domain)?;
        let known = at.hoisted_bounds.iter().find(|known| known.0 == number && known.1 == own);
        let (mut before, ends) = match known {
            Some((.., ends)) => (Vec::new(), ends.clone()),
            None => self.ends(number, &bounds)?,
        };
        let mut inner = at.clone();
        inner.open.push(number);
        let lets = self.advance(number, &mut inner, phase, rest.is_empty())?;
        let residual = match bounds.residual_guards.as_slice() {
            [] => None,
            residual => Some(condition(residual, &|var| self.scope(var))?),
        };
        let one = |nest: &mut Self, [from, to]: [Expr; 2], inner: &LoopState| {
            let mut all = Vec::new();
            let (within, [from, to]) =
                nest.pad_and_predicate(number, [from, to], phase, rest.is_empty());
            let mut body = nest.inside(number, rest, inner, phase, conditions)?;
            body = nest.with_blocks(number, body)?;
            if let Some(condition) = residual.clone() {
                body = vec![Stmt::If { condition, likely: false, body, otherwise: Vec::new() }];
            }
            let mut body: Vec<Stmt> = lets.iter().cloned().chain(body).collect();
            if let Some(condition) = within {
                body = vec![Stmt::If { condition, likely: false, body, otherwise: Vec::new() }];
            }
            let is_split_from = |number: usize| nest.domain.is_split_from(number, &nest.parallel);
            // Only the outermost parallel loop is distributed over threads.
            let is_nested = at.open.iter().any(|other| is_split_from(*other));
            let parallel = phase == Phase::Whole && is_split_from(number) && !is_nested;
            let kind = match nest.unrolled(number, rest.is_empty(), phase) {
                _ if parallel => LoopKind::Parallel,
                Some(rounds) => LoopKind::Unrolled(rounds),
                None => LoopKind::Serial,
            };
            let name = nest.names.get(number).cloned().unwrap_or_default();
            all.push(Stmt::For { name, from, to, step: 1, kind, body });
            Ok::<_, PlanError>(all)
        };
        let is_shared = self.domain.outermost == Some(number);
        let guards = match rest {
            [] if !is_shared => self.guards(number, at, phase),
            _ => Vec::new(),
        };
        let (guards, worst) = match self.partial_sum_guards((number, rest), conditions)? {
            Some([own, worst]) => (own, worst),
            None => (guards.clone(), guards),
        };
        let inside = LoopBounds::of(number, &worst, &self.domain)?;
        if guards.is_empty() || !inside.residual_guards.is_empty() {
            before.extend(one(self, ends, &inner)?);
            return Ok(before);
        }
        // Boundary, interior, boundary.
        let [from, to] = ends;
        let (lets, [low, high]) = self.interior(number, &inside, [&from, &to])?;
        before.extend(lets);
        let mut sure = inner.clone();
        sure.proven.extend(guards);
        // Boundary iterations of partial sums are not partitioned again.
        let remainder = LoopState {
            in_remainder: inner.in_remainder || self.order.partial_sums.is_some(),
            ..inner
        };
        for (ends, at) in [
            ([from, low.clone()], &remainder),
            ([low, high.clone()], &sure),
            ([high, to], &remainder),
        ] {
            if ends[0] != ends[1] {
                before.extend(one(self, ends, at)?);
            }
        }
        Ok(before)
    }

    /// Conditions in `conditions` that determine the bounds of the loop `number`: they mention it, and otherwise only
    /// open loops of the state `at`, and are not known to hold.
    pub(crate) fn guards_resolved_by(
        &self,
        number: usize,
        at: &LoopState,
        conditions: &[ExprComparison],
    ) -> Vec<ExprComparison> {
        let is_own = |condition: &&ExprComparison| {
            let all = self.mentioned(condition);
            all.contains(&number)
                && all.iter().all(|other| *other == number || at.open.contains(other))
                && !at.proven.contains(condition)
        };
        conditions.iter().filter(is_own).cloned().collect()
    }

    /// Bounds checks of reads that mention the loop `number`, and otherwise only open loops of the state `at`. Empty
    /// for a statement with a reduction, in boundary code, and outside of [`Phase::Whole`].
    fn guards(&self, number: usize, at: &LoopState, phase: Phase) -> Vec<ExprComparison> {
        let has_reduced = self.order.first_reduced < self.order.loops.len();
        if phase != Phase::Whole || has_reduced || at.in_remainder {
            return Vec::new();
        }
        let mut all: Vec<ExprComparison> = Vec::new();
        for condition in self.accesses.iter().flat_map(|access| &access.inside) {
            if !all.contains(condition) {
                all.push(condition.clone());
            }
        }
        self.guards_resolved_by(number, at, &all)
    }

    /// Unroll factor of the loop `number` in the phase `phase`, 1 to prevent unrolling; `None` for a loop without an
    /// unroll directive.
    pub(crate) fn unrolled(&self, number: usize, is_innermost: bool, phase: Phase) -> Option<i64> {
        let rounds = self.domain.trip_count(number)?;
        let is_at_once = self.order.register_tile(&self.domain).any(|other| other == number);
        let unasked = is_at_once && rounds <= CPU.unrolled_iterations;
        let is_asked = self.is_chosen(number, &self.unroll)
            && !self.domain.is_split_from(number, &self.parallel);
        if is_at_once && is_innermost && !is_asked && self.processor != ExecutionModel::Gpu {
            return self.vector(rounds, phase);
        }
        let rounds = i64::try_from(rounds).ok().filter(|_| unasked || is_asked)?;
        Some(rounds.min(CPU.requested_unrolling))
    }

    /// Unroll factor of the loop over the lanes of a vector, which has `rounds` iterations; `None` for a loop without
    /// an unroll directive. 1 keeps compilers from unrolling the loop before they vectorize it; unrolled stores keep
    /// the lanes in registers, where a loop that only copies would become a call of `memcpy`.
    fn vector(&self, rounds: i128, phase: Phase) -> Option<i64> {
        let copies = self.accesses.first().is_some_and(|target| {
            let dtype = self.statement.accumulator.element();
            self.statement.epilogue.is_none() && target.bound.tensor().dtype == dtype
        });
        match phase {
            Phase::Update => Some(1),
            Phase::WriteBack if !copies => Some(1),
            Phase::WriteBack if rounds <= CPU.unrolled_iterations => i64::try_from(rounds).ok(),
            Phase::WriteBack | Phase::Init | Phase::Whole => None,
        }
    }

    /// Pair of a guard for the body of the loop `number`, and of the bounds of the loop. A loop over at most
    /// `unrolled_iterations` rows of a register tile whose bounds `from` and `to` are not both constants becomes one
    /// over all rows with a guard such as `row < end`: with a variable trip count, the accumulators would not stay in
    /// registers. The bounds are unchanged for any other loop. The guard is `None` if none is needed.
    fn pad_and_predicate(
        &self,
        number: usize,
        [from, to]: [Expr; 2],
        phase: Phase,
        is_innermost: bool,
    ) -> (Option<Expr>, [Expr; 2]) {
        let rounds =
            self.domain.trip_count(number).filter(|rounds| *rounds <= CPU.unrolled_iterations);
        let rounds = rounds.and_then(|rounds| i64::try_from(rounds).ok());
        let is_at_once = self.order.register_tile(&self.domain).any(|other| other == number);
        let is_row = is_at_once && !is_innermost && phase != Phase::Whole;
        let is_known = matches!((&from, &to), (Expr::Int { .. }, Expr::Int { .. }));
        let Some(rounds) = rounds.filter(|_| is_row && !is_known) else {
            return (None, [from, to]);
        };
        let whole = [Expr::int(0), Expr::int(rounds)];
        let name = self.named(number);
        let mut args = Vec::new();
        if from != whole[0] {
            args.push(Expr::compare(Compare::Ge, name.clone(), from));
        }
        if to != whole[1] {
            args.push(Expr::compare(Compare::Lt, name, to));
        }
        // Initial values of rows that are not updated are never used.
        let is_free = phase == Phase::Init && !self.accumulates_into_output;
        let condition = match args.len() {
            0 => None,
            _ if is_free => None,
            1 => args.pop(),
            _ => Some(Expr::All { args }),
        };
        (condition, whole)
    }

    /// Emits the body of the loop `number`, the last open loop of the state `at`, around the loops `rest`. The body is
    /// emitted twice, under a condition, if that is faster for most iterations: with full register tiles, or without
    /// bounds checks of reads.
    fn inside(
        &mut self,
        number: usize,
        rest: &[usize],
        at: &LoopState,
        phase: Phase,
        conditions: &[ExprComparison],
    ) -> Result<Vec<Stmt>, PlanError> {
        if phase == Phase::Update {
            return self.specialize_full_tile(rest, at, conditions, &|nest, at| {
                nest.emit_loops(rest, at, phase, conditions)
            });
        }
        let guards = if rest.is_empty() { Vec::new() } else { self.guards(number, at, phase) };
        if guards.is_empty() {
            return self.emit_loops(rest, at, phase, conditions);
        }
        let holds = condition(&guards, &|var| self.scope(var))?;
        let mut sure = at.clone();
        sure.proven.extend(guards);
        let body = self.emit_loops(rest, &sure, phase, conditions)?;
        let remainder = LoopState { in_remainder: true, ..at.clone() };
        let otherwise = self.emit_loops(rest, &remainder, phase, conditions)?;
        Ok(vec![Stmt::If { condition: holds, likely: true, body, otherwise }])
    }

    /// Emits `inside`, in which the loops `rest` are opened, from the state `at`. Bounds of the register tile's loops
    /// are computed before it as soon as the open loops determine them. If the tile may be partial, `inside` is emitted
    /// twice, except in boundary code: for full tiles, and in the `else` branch for partial ones.
    pub(crate) fn specialize_full_tile(
        &mut self,
        rest: &[usize],
        at: &LoopState,
        conditions: &[ExprComparison],
        inside: Body<'_, Self>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (mut all, mut at) = (Vec::new(), at.clone());
        let (mut whole, mut sure) = (Vec::new(), Vec::new());
        let mut last = None;
        for (place, number) in rest.iter().enumerate() {
            if self.domain.is_reduced(*number) {
                continue;
            }
            let before = rest.get(..place).unwrap_or_default();
            let later = LoopState { open: [at.open.as_slice(), before].concat(), ..at.clone() };
            let own = self.guards_resolved_by(*number, &later, conditions);
            let is_open = |condition: &ExprComparison| {
                let all = self.mentioned(condition);
                all.iter().all(|other| other == number || at.open.contains(other))
            };
            let is_known =
                at.hoisted_bounds.iter().any(|known| known.0 == *number && known.1 == own);
            if own.is_empty() || is_known {
                continue;
            }
            if !own.iter().all(is_open) {
                if let Some(all) = full_tile_condition(&own, rest, &self.domain)? {
                    whole.push(condition(&all, &|var| self.scope(var))?);
                    sure.extend(own);
                }
                continue;
            }
            let bounds = LoopBounds::of(*number, &own, &self.domain)?;
            let (lets, [from, to]) = self.ends(*number, &bounds)?;
            all.extend(lets);
            let rounds = self.domain.trip_count(*number).and_then(|n| i64::try_from(n).ok());
            if let Some(rounds) = rounds.filter(|_| bounds.residual_guards.is_empty()) {
                let zero = Expr::int(0);
                if from != zero {
                    whole.push(Expr::compare(Compare::Le, from.clone(), zero));
                }
                if to != Expr::int(rounds) {
                    whole.push(Expr::compare(Compare::Ge, to.clone(), Expr::int(rounds)));
                }
                let part = bounds.remainder_trip_count(i128::from(rounds), &self.domain);
                last = last.or(part.map(|left| (*number, left)));
                sure.extend(own.iter().cloned());
            }
            at.hoisted_bounds.push((*number, own, [from, to]));
        }
        let last = last.filter(|_| whole.len() == 1);
        if whole.is_empty() || at.in_remainder {
            all.extend(inside(self, &at)?);
            return Ok(all);
        }
        let residual = whole.len();
        let condition =
            if residual == 1 { whole.swap_remove(0) } else { Expr::All { args: whole } };
        let mut most = at.clone();
        most.proven.extend(sure);
        let body = inside(self, &most)?;
        let otherwise = match last {
            Some(part) => self.with_trip_count(part, |nest| inside(nest, &most))?,
            None => {
                let at = LoopState { in_remainder: true, ..at };
                self.specialize_boundary(rest, &at, residual, inside)?
            }
        };
        all.push(Stmt::If { condition, likely: true, body, otherwise });
        Ok(all)
    }

    /// Emits `inside` for partial tiles; `residual` is the number of conditions that all hold for a full tile. For rows
    /// with computed bounds, the code is specialized for all rows but the last and for all rows but the first: with
    /// constant bounds, the innermost loops have no guards on rows. Specializations that cannot occur are omitted.
    fn specialize_boundary(
        &mut self,
        rest: &[usize],
        at: &LoopState,
        residual: usize,
        inside: Body<'_, Self>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let Some((place, rounds)) = self.rows_with_ends(rest, at) else { return inside(self, at) };
        let [but_last, but_first] = [[0, rounds - 1], [1, rounds]];
        let feasible_bounds = self.feasible_bounds(at, place, rounds)?;
        let occurs = |ends: &[i64; 2]| {
            let ends = ends.map(i128::from);
            feasible_bounds.as_ref().is_none_or(|all| all.contains(&ends))
        };
        let mut parts = Vec::new();
        for known in [but_last, but_first].into_iter().filter(occurs) {
            let mut at = at.clone();
            let Some((.., [from, to])) = at.hoisted_bounds.get_mut(place) else { continue };
            let [low, high] = known.map(Expr::int);
            let [first, last] = if known == but_last {
                [Compare::Le, Compare::Eq]
            } else {
                [Compare::Eq, Compare::Ge]
            };
            let args = vec![
                Expr::compare(first, from.clone(), low.clone()),
                Expr::compare(last, to.clone(), high.clone()),
            ];
            [*from, *to] = [low, high];
            parts.push((Expr::All { args }, inside(self, &at)?));
        }
        // The conditions check both bounds of these rows and nothing else.
        let told = [[0, rounds], but_last, but_first].map(|ends| ends.map(i128::from));
        let are_all = residual == 2
            && feasible_bounds.is_some_and(|all| all.iter().all(|ends| told.contains(ends)));
        let last = match parts.pop_if(|_| are_all) {
            Some((_, body)) => body,
            None => inside(self, at)?,
        };
        Ok(parts.into_iter().rev().fold(last, |otherwise, (condition, body)| {
            vec![Stmt::If { condition, likely: false, body, otherwise }]
        }))
    }

    /// Pairs of first row and end (exclusive) that can occur for the loop at position `place` of `at.hoisted_bounds`,
    /// which has `rounds` rows. `None` if they cannot be enumerated.
    fn feasible_bounds(
        &self,
        at: &LoopState,
        place: usize,
        rounds: i64,
    ) -> Result<Option<BTreeSet<[i128; 2]>>, PlanError> {
        let Some((number, own, _)) = at.hoisted_bounds.get(place) else { return Ok(None) };
        let bounds = LoopBounds::of(*number, own, &self.domain)?;
        Ok(bounds.feasible_bounds((*number, i128::from(rounds)), &at.proven, &self.domain))
    }

    /// Pair of the position in `at.hoisted_bounds` of the loop over rows whose bounds are both computed, and of its
    /// trip count. `None` outside of a reduced loop, with several such loops, for GPU threads, and for fewer than 3
    /// rows or more than `unrolled_iterations`.
    fn rows_with_ends(&self, rest: &[usize], at: &LoopState) -> Option<(usize, i64)> {
        let is_reduced = at.open.iter().any(|number| self.domain.is_reduced(*number));
        let is_row = |number: &usize| rest.contains(number) && rest.last() != Some(number);
        let rows =
            || at.hoisted_bounds.iter().enumerate().filter(|(_, (number, ..))| is_row(number));
        // The last entry was derived under the most conditions.
        let (place, (number, _, ends)) = rows().next_back().filter(|_| is_reduced)?;
        let is_only =
            rows().all(|(_, row)| row.0 == *number) && self.processor != ExecutionModel::Gpu;
        let are_computed = ends.iter().all(|end| !matches!(end, Expr::Int { .. }));
        let rounds = self
            .domain
            .trip_count(*number)
            .filter(|rounds| (3..=CPU.unrolled_iterations).contains(rounds));
        rounds
            .filter(|_| is_only && are_computed)
            .and_then(|n| Some((place, i64::try_from(n).ok()?)))
    }

    /// Emits `inside` with the trip count of the loop `number` reduced to `rounds`, and restores the trip count.
    fn with_trip_count(
        &mut self,
        (number, rounds): (usize, i128),
        inside: impl FnOnce(&mut Self) -> Result<Vec<Stmt>, PlanError>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let usual = self.domain.set_trip_count(number, Algebra::constant(rounds));
        let body = inside(self);
        if let Some(usual) = usual {
            self.domain.set_trip_count(number, usual);
        }
        body
    }

    /// Pair of the declarations of computed bounds, and of the first iteration and end (exclusive) of the interior, the
    /// iterations of the loop `number` from `from` to `to` in which no read is out of bounds. `bounds` are the solved
    /// bounds checks.
    fn interior(
        &mut self,
        number: usize,
        bounds: &LoopBounds,
        [from, to]: [&Expr; 2],
    ) -> Result<(Vec<Stmt>, [Expr; 2]), PlanError> {
        let (mut low, mut high) = (from.clone(), to.clone());
        for bound in &bounds.lower {
            low = low.max(self.lower(bound)?);
        }
        for bound in &bounds.upper {
            high = high.min(self.lower(bound)?);
        }
        let mut lets = Vec::new();
        let low = self.end(number, low.min(to.clone()), "inside", &mut lets);
        let high = self.end(number, high.max(low.clone()), "outside", &mut lets);
        Ok((lets, [low, high]))
    }

    fn is_chosen(&self, number: usize, names: &[Spanned<String>]) -> bool {
        let name = self.domain.loops.get(number).map(|found| &found.name);
        names.iter().any(|chosen| Some(&chosen.value) == name)
    }

    /// Pair of the declarations of computed bounds, such as `i_begin` and `i_end`, and of the first iteration and end
    /// (exclusive) of the loop `number`.
    pub(crate) fn ends(
        &mut self,
        number: usize,
        bounds: &LoopBounds,
    ) -> Result<(Vec<Stmt>, [Expr; 2]), PlanError> {
        let extent = match self.domain.loops.get(number) {
            Some(found) => self.lower(&found.extent.clone())?,
            None => Expr::int(0),
        };
        let mut from = Expr::int(0);
        for low in &bounds.lower {
            from = from.max(self.lower(low)?);
        }
        let mut to = extent;
        for high in &bounds.upper {
            to = to.min(self.lower(high)?);
        }
        let mut before = Vec::new();
        let from = self.end(number, from, "begin", &mut before);
        let to = self.end(number, to, "end", &mut before);
        Ok((before, [from, to]))
    }

    /// Identifier of the computed bound `end` of the loop `number`, which is declared as `<loop>_<word>` in `lets`.
    /// Integers and names are returned unchanged, without a declaration.
    fn end(&mut self, number: usize, end: Expr, word: &str, lets: &mut Vec<Stmt>) -> Expr {
        if matches!(end, Expr::Int { .. } | Expr::Name { .. }) {
            return end;
        }
        let name = self.names.get(number).map_or("", String::as_str);
        let name = self.namer.name(&format!("{name}_{word}"));
        let named = Expr::name(&name);
        lets.push(Stmt::Let { name, value: end });
        named
    }

    /// Adds the contribution of the loop `number` to each offset in `at` that the phase uses, and returns declarations
    /// of partial offsets, such as `a1 = a0 + i * 4`.
    pub(crate) fn advance(
        &mut self,
        number: usize,
        at: &mut LoopState,
        phase: Phase,
        is_innermost: bool,
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut lets = Vec::new();
        for k in 0..self.accesses.len() {
            let Some(access) = self.accesses.get(k) else { continue };
            let (part, is_target) = (access.part, access.part == AccessUse::Target);
            let is_used = match phase {
                Phase::Whole => true,
                Phase::Update => part == AccessUse::Value,
                Phase::Init => is_target && self.accumulates_into_output,
                Phase::WriteBack => part != AccessUse::Value,
            };
            let is_used = is_used && access.bound.texels.is_none();
            let Some(before) = at.offsets.get(k).cloned().filter(|_| is_used) else { continue };
            let mut now = before.clone();
            if let Some((_, stride)) = access.steps.strides.iter().find(|step| step.0 == number) {
                let name = self.names.get(number).map_or("", String::as_str);
                now = add(now, multiply(Expr::name(name), self.lower(stride)?)?)?;
            }
            let left = self.domain.mentioned(&access.steps.rest);
            if left.contains(&number) && left.iter().all(|other| at.open.contains(other)) {
                now = add(now, self.lower(&access.steps.rest)?)?;
            }
            let is_plain = matches!(now, Expr::Name { .. } | Expr::Int { .. });
            let is_last = is_innermost && phase != Phase::Whole;
            let ends_here = is_innermost && self.order.first_reduced == self.order.loops.len();
            if now != before && !is_plain && !is_last && !ends_here {
                let name = self.namer.partial(&access.prefix.clone());
                let value = std::mem::replace(&mut now, Expr::name(&name));
                lets.push(Stmt::Let { name, value });
            }
            if let Some(slot) = at.offsets.get_mut(k) {
                *slot = now;
            }
        }
        Ok(lets)
    }
}
