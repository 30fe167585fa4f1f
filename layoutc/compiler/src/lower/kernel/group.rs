//! Kernels with shared memory: the threads of a block copy tiles into shared memory, and execute one iteration of the
//! outer loops of a statement together.

use layoutc_algebra::expr::ExprComparison;

use crate::ir::{Compare, Expr, LoopKind, Primitive, ReduceOp, Stmt, Storage, Value};
use crate::loops::bounds::LoopBounds;
use crate::loops::error::PlanError;
use crate::loops::thread_mapping::BlockMapping;
use crate::lower::expr::{add, lower, multiply};
use crate::lower::kernel::copy::{CopyDirection, StagingCopy, TileIteration};
use crate::lower::kernel::nest::{LoopState, Nest, Phase};
use crate::lower::kernel::value::condition;
use crate::lower::launch::Items;
use crate::machine::GPU;

/// Thread loop of a thread block, with the names of its variables.
struct ThreadLoop {
    mapping: BlockMapping,
    /// Name of the variable of the thread loop.
    round: String,
    /// Name of the counter of the thread loop's iterations that a thread has completed.
    done: String,
}

impl Nest<'_> {
    /// Pair of the body of the kernel, and of the number of its threads over all thread blocks.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if offsets in a tile exceed 32 bits. Any other [`PlanError`], for example if an integer
    /// does not fit 64 bits or an expression nests too deep.
    pub(crate) fn write_group(
        mut self,
        mapping: BlockMapping,
    ) -> Result<(Vec<Stmt>, Items), PlanError> {
        let (round, done) = (self.namer.name("element"), self.namer.name("round"));
        let shares = ThreadLoop { mapping, round, done };
        let outer = &shares.mapping.outer;
        let count = self.iterations(outer)?;
        let items = Items::of_blocks(&count, GPU.kernel_blocks, self.symbol)?;
        let count = lower(&count, self.symbol)?;
        let mut body = Vec::new();
        for staged in &self.staged {
            let halves = if staged.tile.has_halves { 2 } else { 1 };
            let (name, dtype) = (staged.part.name.clone(), staged.part.tensor().dtype);
            let elements = staged.tile.elements().max(1).saturating_mul(halves);
            let storage = Storage::Shared;
            body.push(Stmt::Allocate { name, dtype, elements, storage });
        }
        let group = self.namer.name("group");
        let mut inside = self.rounds_of(&group, outer)?;
        let mut at = self.start()?;
        for number in outer {
            at.open.push(*number);
            inside.extend(self.advance(*number, &mut at, Phase::Whole, false)?);
        }
        inside.extend(self.group_round(&shares, &at)?);
        let (name, from, to) = (group, Expr::int(0), count);
        let kind = LoopKind::GridStride;
        body.push(Stmt::For { name, from, to, step: 1, kind, body: inside });
        Ok((body, items))
    }

    /// Statements of a thread block for one iteration of the outer loops, from the state `at` inside of these.
    fn group_round(&mut self, shares: &ThreadLoop, at: &LoopState) -> Result<Vec<Stmt>, PlanError> {
        let mut body = Vec::new();
        let outside = |nest: &Self, reduced: bool| -> Vec<usize> {
            let is_it = |k: &usize| {
                nest.staged
                    .get(*k)
                    .is_some_and(|one| shares.mapping.reduced.contains(&one.tile.at) == reduced)
            };
            (0..nest.staged.len()).filter(is_it).collect()
        };
        let near = outside(self, false);
        let mut is_copied = false;
        for k in &near {
            let is_read = self.staged.get(*k).is_some_and(|staged| !staged.tile.is_written);
            if is_read || self.accumulates_into_output {
                body.extend(self.copied_by_items(*k, TileIteration::Own, CopyDirection::In)?);
                is_copied = true;
            }
        }
        if is_copied {
            body.push(Primitive::Barrier.into());
        }
        // Conditions on reduced loops restrict values, not the elements to store.
        let is_element = |condition: &&ExprComparison| {
            !self.mentioned(condition).iter().any(|number| shares.mapping.reduced.contains(number))
        };
        let written: Vec<ExprComparison> =
            self.store_guards.iter().filter(is_element).cloned().collect();
        let store = if shares.mapping.reduced.is_empty() {
            let value = self.innermost(&self.at_item(shares, at)?, Phase::Whole)?;
            self.shared(shares, &written, value)?
        } else {
            let dtype = self.statement.accumulator.element();
            let elements = shares.mapping.thread_iterations();
            let name = self.accumulator.clone();
            let elements = elements.max(1);
            body.push(Stmt::Allocate { name, dtype, elements, storage: Storage::Private });
            let value = self.first(&self.at_item(shares, at)?)?;
            let set = |value| self.gather(self.held_by(shares), ReduceOp::Set, value);
            let mut first = vec![set(value)];
            if self.accumulates_into_output && !written.is_empty() {
                let otherwise = crate::lower::kernel::reduction::identity(
                    self.statement.op,
                    self.statement.accumulator,
                );
                let otherwise = vec![set(otherwise)];
                let condition = condition(&written, &|var| self.scope(var))?;
                first = vec![Stmt::If { condition, likely: true, body: first, otherwise }];
            }
            if self.accumulates_into_output {
                body.push(self.share(shares, first)?);
            } else {
                // Unrolled: an array is kept in registers only if all its indices are constant.
                let (name, from, to) = (shares.done.clone(), Expr::int(0), Expr::int(elements));
                let kind = LoopKind::Unrolled(elements);
                body.push(Stmt::For { name, from, to, step: 1, kind, body: first });
            }
            let reduced = shares.mapping.reduced.clone();
            body.extend(self.reduced_by_items(shares, &reduced, at)?);
            let store = self.store(&self.at_item(shares, at)?, self.held_by(shares))?;
            self.shared(shares, &written, store)?
        };
        body.push(store);
        let out: Vec<usize> = near
            .iter()
            .copied()
            .filter(|k| self.staged.get(*k).is_some_and(|one| one.tile.is_written))
            .collect();
        if !out.is_empty() {
            body.push(Primitive::Barrier.into());
        }
        for k in &out {
            body.extend(self.copied_by_items(*k, TileIteration::Own, CopyDirection::Out)?);
        }
        if !near.is_empty() {
            // The next iteration of the thread block overwrites the same tiles.
            body.push(Primitive::Barrier.into());
        }
        Ok(body)
    }

    /// Reduced loops `rest`, outermost first, executed by every thread, with the thread loop that updates the
    /// accumulators innermost, from the state `at` outside of them.
    fn reduced_by_items(
        &mut self,
        shares: &ThreadLoop,
        rest: &[usize],
        at: &LoopState,
    ) -> Result<Vec<Stmt>, PlanError> {
        let Some((number, rest)) = rest.split_first() else {
            let mut conditions = self.guards_of_update();
            conditions.extend(self.update_guards.iter().cloned());
            conditions.retain(|condition| !at.proven.contains(condition));
            let (mut body, value) = self.update_value(&self.at_item(shares, at)?)?;
            let how = crate::lower::kernel::reduction::how(self.statement.op);
            let into = self.held_by(shares);
            body.push(self.gather(into, how, value));
            return Ok(vec![self.shared(shares, &conditions, body)?]);
        };
        let number = *number;
        let extent = match self.domain.loops.get(number) {
            Some(found) => self.lower(&found.extent.clone())?,
            None => Expr::int(0),
        };
        let (mut all, mut ends, mut inner) =
            (Vec::new(), [Expr::int(0), extent.clone()], at.clone());
        let is_double = |staged: &crate::lower::kernel::staging::StagingBuffer<'_>| {
            staged.tile.at == number && staged.tile.has_halves
        };
        if !self.staged.iter().any(is_double) {
            let conditions: Vec<ExprComparison> =
                self.store_guards.iter().chain(&self.update_guards).cloned().collect();
            let own = self.guards_resolved_by(number, at, &conditions);
            let bounds = LoopBounds::of(number, &own, &self.domain)?;
            if bounds.residual_guards.is_empty() {
                let (lets, found) = self.ends(number, &bounds)?;
                all.extend(lets);
                ends = found;
                inner.proven.extend(own);
            }
        }
        inner.open.push(number);
        self.enter_halves(number, &mut inner)?;
        let lets = self.advance(number, &mut inner, Phase::Update, false)?;
        let own = self.blocks_at(number);
        let (doubles, singles): (Vec<usize>, Vec<usize>) = own
            .iter()
            .copied()
            .partition(|k| self.staged.get(*k).is_some_and(|staged| staged.tile.has_halves));
        let mut body = lets;
        let mut first = Vec::new();
        for k in &doubles {
            first.extend(self.copied_by_items(*k, TileIteration::First, CopyDirection::In)?);
        }
        if !first.is_empty() && !matches!(extent, Expr::Int { value: 1.. }) {
            let condition = Expr::compare(Compare::Lt, Expr::int(0), extent.clone());
            first = vec![Stmt::If { condition, likely: true, body: first, otherwise: Vec::new() }];
        }
        all.extend(first);
        let awaits = doubles.iter().any(|k| self.is_async(*k));
        let awaits = awaits.then(|| Stmt::from(Primitive::AwaitCopies));
        if !doubles.is_empty() {
            all.extend(awaits.clone());
            all.push(Primitive::Barrier.into());
        }
        for k in &singles {
            body.extend(self.copied_by_items(*k, TileIteration::Own, CopyDirection::In)?);
        }
        if !singles.is_empty() {
            body.push(Primitive::Barrier.into());
        }
        let mut next = Vec::new();
        for k in &doubles {
            next.extend(self.copied_by_items(*k, TileIteration::Next, CopyDirection::In)?);
        }
        if !next.is_empty() {
            let later = add(self.named(number), Expr::int(1))?;
            let condition = Expr::compare(Compare::Lt, later, extent.clone());
            body.push(Stmt::If { condition, likely: false, body: next, otherwise: Vec::new() });
        }
        body.extend(self.reduced_by_items(shares, rest, &inner)?);
        body.extend(awaits);
        if !own.is_empty() {
            body.push(Primitive::Barrier.into());
        }
        let name = self.names.get(number).cloned().unwrap_or_default();
        let [from, to] = ends;
        let rounds = self.unrolled(number, false, Phase::Update);
        let kind = rounds.map_or(LoopKind::Serial, LoopKind::Unrolled);
        all.push(Stmt::For { name, from, to, step: 1, kind, body });
        Ok(all)
    }

    /// Adds the offset of the current half of the staging buffer to all accesses in `at` to tiles of the loop `number`;
    /// the offset is 0 without double buffering.
    fn enter_halves(&self, number: usize, at: &mut LoopState) -> Result<(), PlanError> {
        for k in self.blocks_at(number) {
            let Some(staged) = self.staged.get(k) else { continue };
            let half = self.half_of(k, TileIteration::Own)?;
            for (access, offset) in self.accesses.iter().zip(&mut at.offsets) {
                if access.bound.name == staged.part.name {
                    *offset = add(half.clone(), offset.clone())?;
                }
            }
        }
        Ok(())
    }

    /// Accumulator of the thread's current iteration: the element of its private array with the index `done`.
    fn held_by(&self, shares: &ThreadLoop) -> Value {
        Value::Item { array: self.accumulator.clone(), index: Expr::name(&shares.done) }
    }

    /// State inside the thread loop, from the state `at` outside of it, with the terms of the distributed loops added
    /// to the offsets. The terms are not stored in variables, because variables declared in a thread loop have 32 bits.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the sum of the terms of an access may not fit 32 bits. Any other [`PlanError`], for
    /// example if an integer does not fit 64 bits or an expression nests too deep.
    fn at_item(&self, shares: &ThreadLoop, at: &LoopState) -> Result<LoopState, PlanError> {
        let mut inner = at.clone();
        inner.open.extend(&shares.mapping.threads);
        for (k, access) in self.accesses.iter().enumerate() {
            let Some(slot) = inner.offsets.get_mut(k) else { continue };
            let mut now = slot.clone();
            let mut reach = 0_i128;
            for (number, stride) in &access.steps.strides {
                if shares.mapping.threads.contains(number) {
                    let far = stride.as_const().zip(self.domain.trip_count(*number));
                    let far = far.map_or(i128::MAX, |(stride, n)| stride.abs().saturating_mul(n));
                    reach = reach.saturating_add(far);
                    now = add(now, multiply(self.named(*number), self.lower(stride)?)?)?;
                }
            }
            let left = self.domain.mentioned(&access.steps.rest);
            if left.iter().any(|number| shares.mapping.threads.contains(number)) {
                now = add(now, self.lower(&access.steps.rest)?)?;
            }
            if reach > i128::from(i32::MAX) {
                return Err(self.too_far(&access.bound.name));
            }
            *slot = now;
        }
        Ok(inner)
    }

    /// Thread loop around `body`, which is guarded by `conditions`.
    fn shared(
        &self,
        shares: &ThreadLoop,
        conditions: &[ExprComparison],
        body: Vec<Stmt>,
    ) -> Result<Stmt, PlanError> {
        if conditions.is_empty() {
            return self.share(shares, body);
        }
        let condition = condition(conditions, &|var| self.scope(var))?;
        let otherwise = Vec::new();
        self.share(shares, vec![Stmt::If { condition, likely: false, body, otherwise }])
    }

    /// Thread loop around `body`. The trip count is rounded up to a multiple of the number of threads, so that all
    /// threads execute equally many iterations; a guard excludes the excess ones.
    fn share(&self, shares: &ThreadLoop, body: Vec<Stmt>) -> Result<Stmt, PlanError> {
        let BlockMapping { threads, iterations, grid, .. } = &shares.mapping;
        let whole = shares.mapping.thread_iterations().saturating_mul(GPU.threads);
        let mut inside = body;
        if whole != *iterations {
            let (there, all) = (Expr::name(&shares.round), Expr::int(*iterations));
            let condition = Expr::compare(Compare::Lt, there, all);
            inside =
                vec![Stmt::If { condition, likely: false, body: inside, otherwise: Vec::new() }];
        }
        let lets = match grid {
            Some(grid) => self.rounds_in(grid, threads, [&shares.round, &shares.done])?,
            None => self.rounds_of(&shares.round, threads)?,
        };
        let kind = LoopKind::Thread { round: Some(shares.done.clone()) };
        let (name, from, to) = (shares.round.clone(), Expr::int(0), Expr::int(whole));
        let body = lets.into_iter().chain(inside).collect();
        Ok(Stmt::For { name, from, to, step: 1, kind, body })
    }

    /// Statements with which the threads of a block copy tile `k` together, in the direction `way`, for the iteration
    /// `which` of the cache's loop.
    fn copied_by_items(
        &mut self,
        k: usize,
        which: TileIteration,
        way: CopyDirection,
    ) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, which)?;
        self.is_near(k, &copied)?;
        let mut one = self.copy(k, way, &copied)?;
        if !copied.inside.is_empty() {
            let condition = condition(&copied.inside, &|var| self.scope(var))?;
            let otherwise = match way {
                CopyDirection::In => vec![self.clear(k, &copied)?],
                CopyDirection::Out => Vec::new(),
            };
            one = Stmt::If { condition, likely: false, body: vec![one], otherwise };
        }
        let round = self.namer.name("item");
        let loops: Vec<usize> = copied.loops.iter().map(|(number, _)| *number).collect();
        let mut lets = self.rounds_of(&round, &loops)?;
        lets.push(one);
        let all = lower(&self.iterations(&loops)?, self.symbol)?;
        let (from, to, kind) = (Expr::int(0), all, LoopKind::Thread { round: None });
        let share = Stmt::For { name: round, from, to, step: 1, kind, body: lets };
        Ok(copied.before.into_iter().chain([share]).collect())
    }

    /// Rejects the tile `k` with a [`PlanError::Choice`] if its elements in the tensor may span 2^31 elements or more,
    /// or if the span is unknown: index arithmetic in thread loops has 32 bits. `copied` is the copy of one element.
    fn is_near(&self, k: usize, copied: &StagingCopy) -> Result<(), PlanError> {
        let Some(staged) = self.staged.get(k) else { return Ok(()) };
        if copied.reach.is_some_and(|reach| reach <= i128::from(i32::MAX)) {
            return Ok(());
        }
        Err(self.too_far(&staged.whole.name))
    }

    fn too_far(&self, name: &str) -> PlanError {
        let at = self.statement.caches.first().map(|cache| &cache.at);
        PlanError::Choice {
            message: format!(
                "the elements of `{name}` that a thread block uses may lie 2^31 elements apart, and threads count in 32 bits"
            ),
            help: "use blocks inside a loop further in, or `memory local`".to_owned(),
            place: at.map_or(&self.statement.place, |at| &at.place).clone(),
        }
    }
}
