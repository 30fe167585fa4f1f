//! Loop nest of one statement, lowered to IR statements.

use layoutc_algebra::expr::{Expr as Algebra, ExprComparison, Var};

use crate::ir::{Compare, Expr, ReduceOp, Stmt, Storage, Value};
use crate::loops::ExecutionModel;
use crate::loops::access::AffineAccess;
use crate::loops::buffers::bound;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::order::Order;
use crate::loops::reads::{StatementReads, index};
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::loops::staged_tile::StagedTile;
use crate::lower::expr::{Binding, Scope, add, lower, range};
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::reduction;
use crate::lower::kernel::staging::StagingBuffer;
use crate::lower::kernel::value::inside;
use crate::lower::names::Namer;
use crate::model::Spanned;
use crate::model::compute::{
    BufferRef, ElementRead, KernelInstance, Statement, TypedExpr, TypedExprKind,
};

/// Part of a statement that uses an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessUse {
    /// The target, which is written.
    Target,
    /// The value of an iteration.
    Value,
    /// The epilogue, which is computed where a reduced value is stored.
    Epilogue,
}

/// Element of a buffer that a statement reads or writes in each iteration.
pub(crate) struct Access<'a> {
    /// Read of the statement that accesses the element; `None` for the target.
    pub(crate) read: Option<&'a ElementRead>,
    /// Part of the statement that uses the element.
    pub(crate) part: AccessUse,
    /// Buffer that is accessed: that of the tensor, or a staging buffer.
    pub(crate) bound: &'a BufferBinding,
    /// Offset in the buffer in elements, as a stride for each loop and a remainder.
    pub(crate) steps: AffineAccess,
    /// Physical index over the loops, one expression per physical axis; empty unless the buffer is an image.
    pub(crate) place: Vec<Algebra>,
    /// Prefix of the names of partial offsets: `a` for `a0`, `a1`, ….
    pub(crate) prefix: String,
    /// Bounds checks that the read needs; empty for the target, and for a staging buffer that holds the boundary value.
    /// Checks that skip the whole update if they fail are in [`Nest::update_guards`] instead.
    pub(crate) inside: Vec<ExprComparison>,
}

/// Loop nest of a statement, ready to be emitted.
pub(crate) struct Nest<'a> {
    pub(crate) compute: &'a KernelInstance,
    pub(crate) statement: &'a Statement,
    /// Bindings of the kernel's symbols.
    pub(crate) symbol: &'a Scope<'a>,
    /// Buffers of the kernel: operands, then intermediates.
    pub(crate) buffers: &'a [BufferBinding],
    pub(crate) domain: IterationDomain,
    pub(crate) order: Order,
    /// Names of the loops that the manifest unrolls.
    pub(crate) unroll: Vec<Spanned<String>>,
    /// Names of the loops whose iterations run in parallel on CPU threads.
    pub(crate) parallel: Vec<Spanned<String>>,
    pub(crate) namer: Namer<'a>,
    /// Variable names of the loops, by loop number; empty for a loop that has no variable yet.
    pub(crate) names: Vec<String>,
    /// Accesses of the statement: the target first, then the reads of the value, then those of the epilogue.
    pub(crate) accesses: Vec<Access<'a>>,
    /// Conditions under which the target's element exists and is written.
    pub(crate) store_guards: Vec<ExprComparison>,
    /// Bounds checks of a read that mention a reduced loop or a loop of the register tile. Where one fails, the value
    /// contributes nothing to the reduction, so that the update is skipped.
    pub(crate) update_guards: Vec<ExprComparison>,
    /// Staging buffers of the statement.
    pub(crate) staged: Vec<StagingBuffer<'a>>,
    /// Processor that executes the iterations of the outer loops.
    pub(crate) processor: ExecutionModel,
    /// Name of the accumulator: a variable, or the array of a register tile.
    pub(crate) accumulator: String,
    /// True if the reduction starts from the target's stored values: `accumulate`, or chunks of a reduction (split-K).
    pub(crate) accumulates_into_output: bool,
    /// True while the stores for all chunks but the last are emitted (split-K), which store partial results without the
    /// epilogue.
    pub(crate) stores_sums: bool,
    /// Extents of the accumulator array: trip counts of the register tile's loops, outermost first.
    pub(crate) array_extents: Vec<i128>,
}

/// State of code emission at a position in the nest.
#[derive(Clone)]
pub(crate) struct LoopState {
    /// Numbers of the loops around the position, outermost first.
    pub(crate) open: Vec<usize>,
    /// Offset of each access, in elements, as far as the open loops determine it; in the order of [`Nest::accesses`].
    pub(crate) offsets: Vec<Expr>,
    /// Conditions that are known to hold at the position.
    pub(crate) proven: Vec<ExprComparison>,
    /// Bounds of loops that are opened later, computed in advance: number of the loop, conditions that the bounds
    /// enforce, first iteration and end (exclusive).
    pub(crate) hoisted_bounds: Vec<(usize, Vec<ExprComparison>, [Expr; 2])>,
    /// True in code for boundary iterations, which are not partitioned again.
    pub(crate) in_remainder: bool,
}

/// Phase of a statement that a loop nest executes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Whole statement: value and store, or all three phases of a reduction.
    Whole,
    /// Init: accumulators get their initial values.
    Init,
    /// Update: values are reduced into the accumulators.
    Update,
    /// Write-back: accumulators are stored in the target.
    WriteBack,
}

impl<'a> Nest<'a> {
    /// Nest of a statement with its accesses, bounds checks and staging buffers. `buffers` has the operands and
    /// intermediates of the kernel, `parts` the staging buffers of the tiles `planned.caches`, in their order. `symbol`
    /// has the bindings of the symbols.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if a tile cannot be cached. [`PlanError::Scope`] if the target has no buffer.
    /// [`PlanError::Expr`] if a value overflows or an expression becomes too large.
    pub(crate) fn new(
        compute: &'a KernelInstance,
        statement: &'a Statement,
        (buffers, parts): (&'a [BufferBinding], &'a [BufferBinding]),
        planned: ScheduledStatement,
        symbol: &'a Scope<'a>,
        mut namer: Namer<'a>,
        processor: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        let is_image = target.texels.is_some();
        let whole = |buffer| bound(buffers, compute, buffer);
        let buffer_of = |buffer| whole(buffer).map(|own: &BufferBinding| &own.buffer);
        let sight = StatementReads::of(statement, &buffer_of);
        let tiles = StagedTile::all((compute, statement), &planned, &buffer_of, processor)?;
        let ScheduledStatement { mut domain, order, unroll, parallel, .. } = planned;
        let staged = tiles.into_iter();
        let staged = staged
            .map(|tile| StagingBuffer::new(statement, tile, (&whole, parts), &mut domain))
            .collect::<Result<_, _>>()?;
        let mut nest = Self {
            compute,
            statement,
            symbol,
            buffers,
            names: vec![String::new(); domain.loops.len()],
            accesses: Vec::new(),
            store_guards: domain.inside.clone(),
            update_guards: Vec::new(),
            accumulator: String::new(),
            accumulates_into_output: statement.accumulate || order.split_k.is_some(),
            stores_sums: false,
            array_extents: Vec::new(),
            namer: namer.clone(),
            order,
            unroll,
            parallel,
            domain,
            processor,
            staged,
        };
        for number in nest.order.loops.clone() {
            let wanted = nest.domain.loops.get(number).map_or("", |found| found.name.as_str());
            let name = namer.name(wanted);
            if let Some(slot) = nest.names.get_mut(number) {
                *slot = name;
            }
        }
        let place = if is_image { nest.place(target, &nest.written_axes())? } else { Vec::new() };
        let (target, offset_there) = match nest.block_of(statement.target) {
            Some(staged) => (staged.part, staged.tile.offset(&nest.written_axes(), &nest.domain)?),
            None => (target, nest.domain.offset.clone()),
        };
        let steps = AffineAccess::of(&offset_there, &nest.domain)?;
        let prefix = partial(&target.name);
        let inside_of = Vec::new();
        nest.accesses.push(Access {
            read: None,
            part: AccessUse::Target,
            bound: target,
            steps,
            place,
            prefix,
            inside: inside_of,
        });
        let left_out = reduction::zero_padded_read(statement.op, &statement.value);
        let left_out = left_out.filter(|_| nest.order.first_reduced < nest.order.loops.len());
        let left_out = left_out.and_then(read_of);
        let epilogue = StatementReads::of_epilogue(statement, &buffer_of);
        let reads = sight.reads.iter().map(|(read, _)| (&sight, *read, AccessUse::Value));
        let reads = reads
            .chain(epilogue.reads.iter().map(|(read, _)| (&epilogue, *read, AccessUse::Epilogue)));
        for (sight, read, part) in reads {
            let Some(found) = bound(buffers, compute, read.buffer) else { continue };
            let index = index(read, &nest.domain)?;
            let axes = found.tensor().layout.logical();
            let extents: Vec<Algebra> = axes.iter().map(|axis| axis.extent.clone()).collect();
            let mut conditions = Vec::new();
            for condition in inside(read, &index, &extents) {
                if !nest.domain.holds(&condition)? {
                    conditions.push(condition);
                }
            }
            // An epilogue reads its operands in place.
            let block = nest.block_of(read.buffer).filter(|_| part == AccessUse::Value);
            // The staging buffer holds the boundary value for elements outside the tensor.
            if block.is_some_and(|staged| staged.outside.is_some()) {
                conditions.clear();
            }
            if left_out.is_some_and(|left_out| std::ptr::eq(left_out, read)) {
                let (rounds, others): (Vec<_>, Vec<_>) =
                    conditions.into_iter().partition(|condition| nest.is_update_guard(condition));
                nest.update_guards.extend(rounds);
                conditions = others;
            }
            let (found, offset_there) =
                match nest.block_of(read.buffer).filter(|_| part == AccessUse::Value) {
                    Some(staged) => (staged.part, staged.tile.offset(&index, &nest.domain)?),
                    None => (found, sight.offset(read, &nest.domain)?),
                };
            let steps = AffineAccess::of(&offset_there, &nest.domain)?;
            let prefix = partial(&found.name);
            let place =
                if found.texels.is_some() { nest.place(found, &index)? } else { Vec::new() };
            let (read, bound, inside) = (Some(read), found, conditions);
            nest.accesses.push(Access { read, part, bound, steps, place, prefix, inside });
        }
        nest.accumulator = namer.name(reduction::accumulator_name(statement.op));
        nest.namer = namer;
        Ok(nest)
    }

    /// Staging buffer of the tensor `buffer`; `None` if the tensor is not staged.
    fn block_of(&self, buffer: BufferRef) -> Option<&StagingBuffer<'a>> {
        self.staged.iter().find(|staged| staged.tile.cache.buffer == buffer)
    }

    /// Logical index of the target's element, over the loops.
    fn written_axes(&self) -> Vec<Algebra> {
        self.domain.axes.iter().take(self.statement.written_axes).cloned().collect()
    }

    /// Physical index of the element of `bound` with the logical index `index`, over the loops, one expression for each
    /// physical axis.
    fn place(&self, bound: &BufferBinding, index: &[Algebra]) -> Result<Vec<Algebra>, PlanError> {
        let map = bound.tensor().layout.physical_map();
        Ok(map.iter().map(|expr| self.domain.at(expr, index)).collect::<Result<_, _>>()?)
    }

    /// True if a condition mentions the outermost reduced loop or a loop inside it.
    fn is_update_guard(&self, condition: &ExprComparison) -> bool {
        let inside = self.order.loops.get(self.order.first_reduced..).unwrap_or_default();
        self.mentioned(condition).iter().any(|number| inside.contains(number))
    }

    pub(crate) fn mentioned(&self, condition: &ExprComparison) -> Vec<usize> {
        let mut all = self.domain.mentioned(&condition.left);
        all.extend(self.domain.mentioned(&condition.right));
        all
    }

    /// Emits the nest for a CPU, from the outermost loop inwards.
    ///
    /// # Errors
    /// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
    pub(crate) fn write(mut self) -> Result<Vec<Stmt>, PlanError> {
        let at = self.start()?;
        let outer = self.order.loops.get(..self.order.first_reduced).unwrap_or_default().to_vec();
        let conditions: Vec<ExprComparison> = self.store_guards.clone();
        self.emit_loops(&outer, &at, Phase::Whole, &conditions)
    }

    /// State outside of all loops. Each offset is its loop-independent part, or 0 if its remainder depends on loops.
    pub(crate) fn start(&self) -> Result<LoopState, PlanError> {
        let offset = |access: &Access<'_>| {
            let is_known = self.domain.mentioned(&access.steps.rest).is_empty();
            if is_known { lower(&access.steps.rest, self.symbol) } else { Ok(Expr::int(0)) }
        };
        let offsets = self.accesses.iter().map(offset).collect::<Result<Vec<_>, _>>()?;
        let (open, proven, hoisted_bounds) = (Vec::new(), Vec::new(), Vec::new());
        Ok(LoopState { open, offsets, proven, hoisted_bounds, in_remainder: false })
    }

    pub(crate) fn scope(&self, var: Var) -> Option<Binding> {
        let Var::Digit(k) = var else { return (self.symbol)(var) };
        let number = usize::try_from(k).ok()?;
        let extent = &self.domain.loops.get(number)?.extent;
        let high = range(extent, self.symbol).high.map(|extent| extent - 1);
        let tree = Expr::name(self.names.get(number)?);
        Some(Binding { tree, range: crate::loops::range::Range { low: Some(0), high } })
    }

    /// Variable of a loop, as an expression.
    pub(crate) fn named(&self, number: usize) -> Expr {
        Expr::name(self.names.get(number).map_or("", String::as_str))
    }

    pub(crate) fn lower(&self, expr: &Algebra) -> Result<Expr, PlanError> {
        lower(expr, &|var| self.scope(var))
    }

    pub(crate) fn innermost(
        &mut self,
        at: &LoopState,
        phase: Phase,
    ) -> Result<Vec<Stmt>, PlanError> {
        let statement = self.statement;
        let has_reduced = self.order.first_reduced < self.order.loops.len();
        match phase {
            Phase::Whole if has_reduced => self.reduction(at),
            Phase::Whole => {
                let (mut body, value) = self.update_value(at)?;
                let value = match reduction::operator(statement.op) {
                    Some(op) if self.accumulates_into_output => {
                        Value::binary(op, statement.accumulator.element(), self.held(at)?, value)
                    }
                    _ => value,
                };
                body.extend(self.store(at, value)?);
                Ok(body)
            }
            Phase::Init => {
                let value = match self.order.partial_sums {
                    Some(_) => reduction::identity(statement.op, statement.accumulator),
                    None => self.first(at)?,
                };
                Ok(vec![self.gather(self.item()?, ReduceOp::Set, value)])
            }
            Phase::Update => {
                let (mut body, value) = self.update_value(at)?;
                body.push(self.gather(self.item()?, reduction::how(statement.op), value));
                Ok(body)
            }
            Phase::WriteBack => match self.order.partial_sums {
                Some(lanes) => self.combine_partial_sums(lanes.number, at),
                None => self.store(at, self.item()?),
            },
        }
    }

    /// Emits a reduction from the state `at` inside all outer loops: init, the reduced loops (update) and the
    /// write-back. They are emitted twice, for full and partial register tiles, if the tile may be partial.
    fn reduction(&mut self, at: &LoopState) -> Result<Vec<Stmt>, PlanError> {
        let register_tile: Vec<usize> = self.order.register_tile(&self.domain).collect();
        let inside = self.order.loops.get(self.order.first_reduced..).unwrap_or_default().to_vec();
        let written = self.store_guards.clone();
        if !register_tile.is_empty() {
            let all =
                &|nest: &mut Self, at: &LoopState| nest.emit_reduction(at, &register_tile, &inside);
            return self.specialize_full_tile(&register_tile.clone(), at, &written, all);
        }
        self.emit_reduction(at, &register_tile, &inside)
    }

    fn emit_reduction(
        &mut self,
        at: &LoopState,
        register_tile: &[usize],
        inside: &[usize],
    ) -> Result<Vec<Stmt>, PlanError> {
        let dtype = self.statement.accumulator.element();
        let name = self.accumulator.clone();
        let written = self.store_guards.clone();
        let mut gathered = self.guards_of_update();
        gathered.extend(self.update_guards.iter().cloned());
        let mut body = Vec::new();
        if register_tile.is_empty() {
            body.push(Stmt::Variable { name, dtype, value: self.first(at)? });
        } else {
            let rounds =
                register_tile.iter().map(|number| self.domain.trip_count(*number).unwrap_or(1));
            self.array_extents = rounds.collect();
            let elements = self.array_extents.iter().product::<i128>();
            let elements = i64::try_from(elements).unwrap_or(1);
            body.push(Stmt::Allocate { name, dtype, elements, storage: Storage::Private });
            // Init reads the target only if the reduction continues from it: only then are guards needed.
            let is_read = self.accumulates_into_output && self.order.partial_sums.is_none();
            let there = if is_read { written.as_slice() } else { &[] };
            body.extend(self.emit_loops(register_tile, at, Phase::Init, there)?);
        }
        body.extend(self.emit_loops(inside, at, Phase::Update, &gathered)?);
        if self.accesses.first().is_some_and(|target| target.bound.texels.is_some()) {
            body.extend(self.put()?);
        } else {
            let is_lanes = |number: &usize| {
                self.order.partial_sums.is_some_and(|lanes| lanes.number == *number)
            };
            let elements: Vec<usize> =
                register_tile.iter().copied().filter(|number| !is_lanes(number)).collect();
            body.extend(self.write_back(&elements, at, &written)?);
        }
        Ok(body)
    }

    /// Stores of the register tile: loops over `elements`, guarded by the conditions `written`. With chunks of a
    /// reduction (split-K) and an epilogue, those before the last chunk store partial results without the epilogue.
    fn write_back(
        &mut self,
        elements: &[usize],
        at: &LoopState,
        written: &[ExprComparison],
    ) -> Result<Vec<Stmt>, PlanError> {
        let chunks = self.order.split_k.filter(|_| self.statement.epilogue.is_some());
        let Some(chunks) = chunks else {
            return self.emit_loops(elements, at, Phase::WriteBack, written);
        };
        self.stores_sums = true;
        let otherwise = self.emit_loops(elements, at, Phase::WriteBack, written)?;
        self.stores_sums = false;
        let body = self.emit_loops(elements, at, Phase::WriteBack, written)?;
        let extent = self.domain.loops.get(chunks).map(|found| found.extent.clone());
        let last = self.lower(&extent.ok_or(PlanError::Scope)?)?;
        let condition = Expr::compare(Compare::Eq, add(self.named(chunks), Expr::int(1))?, last);
        Ok(vec![Stmt::If { condition, likely: false, body, otherwise }])
    }

    /// Conditions on target elements that must hold in the update too. A condition that has a loop in common with one
    /// of these is included, transitively: it may hold only in combination with them.
    pub(crate) fn guards_of_update(&self) -> Vec<ExprComparison> {
        let (mut asked, mut left): (Vec<ExprComparison>, Vec<ExprComparison>) = self
            .store_guards
            .iter()
            .cloned()
            .partition(|condition| self.must_guard_update(condition));
        loop {
            let loops: Vec<usize> = asked.iter().flat_map(|other| self.mentioned(other)).collect();
            let is_near = |condition: &ExprComparison| {
                self.mentioned(condition).iter().any(|number| loops.contains(number))
            };
            let (more, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_near);
            left = others;
            if more.is_empty() {
                return asked;
            }
            asked.extend(more);
        }
    }

    /// True if a condition on target elements must guard the update, the statement that accumulates one value of the
    /// reduction, and not only the store of the result:
    /// - the condition depends on a reduced loop
    /// - the value contains an integer division, or a read at a data-dependent index (gather)
    /// - the value reads an image, or a buffer at an offset that depends on a loop of the condition
    ///
    /// Reads of staging buffers do not count: they may be read for elements that do not exist, as the results of those
    /// elements are not stored.
    fn must_guard_update(&self, condition: &ExprComparison) -> bool {
        let all = self.mentioned(condition);
        let is_far = |access: &Access<'_>| {
            let is_near = self.staged.iter().any(|staged| staged.part.name == access.bound.name);
            let left = self.domain.mentioned(&access.steps.rest);
            let moves = |number: &usize| {
                left.contains(number) || access.steps.strides.iter().any(|step| step.0 == *number)
            };
            access.part == AccessUse::Value
                && !is_near
                && (!access.place.is_empty() || all.iter().any(moves))
        };
        all.iter().any(|number| self.domain.is_reduced(*number))
            || self.statement.value.divides()
            || self.statement.value.gathers()
            || self.accesses.iter().any(is_far)
    }
}

fn read_of(value: &TypedExpr) -> Option<&ElementRead> {
    match &value.kind {
        TypedExprKind::Read(read) => Some(read),
        _ => None,
    }
}

/// Prefix of the names of a buffer's partial offsets, the first letter of the buffer's name in lower case: `a` for
/// `a0`, `a1`, ….
pub(crate) fn partial(name: &str) -> String {
    let first = name.chars().next().map_or('o', |first| first.to_ascii_lowercase());
    first.to_string()
}
