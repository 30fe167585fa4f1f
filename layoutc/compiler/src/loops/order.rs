//! Order of the loops of a statement, and the register tile: the loops inside the reduction.

use layoutc_algebra::expr::ExprError;

use crate::base::diagnostic::FileSpan;
use crate::loops::ExecutionModel;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::heuristics::partial_sums;
use crate::loops::heuristics::register_tile::{order_reduction_by_stride, register_tile};
use crate::loops::image::LANES;
use crate::loops::reads::Reads;
use crate::machine::Registers;
use crate::model::Spanned;
use crate::model::compute::LoopSchedule;

/// Maximum number of elements of a register tile.
pub(crate) const MAX_REGISTER_TILE: i128 = 16_384;

/// Kind of register tile that the planner chooses if the manifest leaves the choice to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegisterTiling {
    /// Vectors of `lanes` elements each, held in `registers`. `partial_sums` allows partial sums of one element in the
    /// lanes of a vector (rfactor) if no loop over elements is vectorizable.
    Vectors { lanes: i128, registers: Registers, partial_sums: bool },
    /// One element: the planner puts no loop over elements inside the reduction.
    One,
    /// The four elements of a texel of an image, whatever the manifest orders.
    Texel,
}

impl RegisterTiling {
    /// Kind of register tile for the processor: vectors on CPUs, one element on GPUs. `bits` is the width of an
    /// accumulator. `partial_sums` allows partial sums in the lanes of a vector.
    pub(crate) fn of(processor: ExecutionModel, bits: u32, partial_sums: bool) -> Self {
        match processor {
            ExecutionModel::Cpu(registers) => {
                Self::Vectors { lanes: registers.lanes(bits), registers, partial_sums }
            }
            ExecutionModel::Gpu => Self::One,
        }
    }

    /// Same kind of tile without partial sums: one accumulator for each element.
    fn without_partial_sums(self) -> Self {
        match self {
            Self::Vectors { lanes, registers, .. } => {
                Self::Vectors { lanes, registers, partial_sums: false }
            }
            Self::One | Self::Texel => self,
        }
    }
}

/// Loops of the partial sums (rfactor) of one element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartialSums {
    /// Number of the loop over the accumulators.
    pub(crate) number: usize,
    /// Number of the reduced loop around the loop over the accumulators.
    pub(crate) around: usize,
}

/// Order of the loops of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// Numbers of the loops, outermost first.
    pub(crate) loops: Vec<usize>,
    /// Position of the first reduced loop. If there is none, the number of loops, or in a statement that writes an
    /// image the position of the loop over the elements of a texel. Loops from this position on that are not reduced
    /// are the register tile.
    pub(crate) first_reduced: usize,
    /// Loops of the partial sums of one element; `None` without partial sums.
    pub(crate) partial_sums: Option<PartialSums>,
    /// Number of the outermost loop, if it iterates over chunks of the reduction (split-K): each chunk continues from
    /// the stored results of the previous one. `None` otherwise.
    pub(crate) split_k: Option<usize>,
}

impl Order {
    /// Order of the live loops of `domain`: the loops over elements in physical order, then the reduced loops, then the
    /// register tile that `tiling` selects. `reads` returns the access pattern of the statement's reads. Loops of the
    /// register tile may be split off others, which changes `domain`.
    ///
    /// Loops that the manifest orders are permuted among their own positions, separately for loops over elements and
    /// reduced loops. An order with a loop over elements inside a reduced one is followed exactly.
    /// `RegisterTiling::Texel` ignores the manifest's order.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the register tile has a loop without constant trip count or more than
    /// [`MAX_REGISTER_TILE`] elements, or a `parallel` loop is inside the reduction; located at a name in `schedule`,
    /// or else at `place`. [`PlanError::Expr`] if a value overflows or an expression becomes too large.
    pub(crate) fn new(
        domain: &mut IterationDomain,
        schedule: &LoopSchedule,
        reads: Reads<'_>,
        tiling: RegisterTiling,
        place: &FileSpan,
    ) -> Result<Self, PlanError> {
        if tiling == RegisterTiling::Texel {
            return Ok(Self::texels(domain)?);
        }
        let (loops, partial_sums) = if Self::interleaves(domain, schedule) {
            (Self::fixed(domain, schedule), None)
        } else {
            Self::planned(domain, schedule, reads, tiling)?
        };
        let first = loops.iter().position(|k| domain.is_reduced(*k));
        let first_reduced = first.unwrap_or(loops.len());
        let order = Self { first_reduced, loops, partial_sums, split_k: None };
        order.check(domain, [&schedule.loops, &schedule.parallel], place)?;
        Ok(order)
    }

    /// True if the manifest orders a loop over elements inside a reduced one, which fixes the register tile.
    pub(crate) fn interleaves(domain: &IterationDomain, schedule: &LoopSchedule) -> bool {
        let named = schedule.loops.iter().filter_map(|name| domain.find(&name.value));
        !named.map(|number| domain.is_reduced(number)).is_sorted()
    }

    /// Loops in the manifest's order, for a schedule that fixes the register tile. Loops over elements that the
    /// manifest does not name are outermost, or innermost if a `tile` directive made them. Unnamed reduced loops are
    /// innermost among the reduced ones.
    fn fixed(domain: &IterationDomain, schedule: &LoopSchedule) -> Vec<usize> {
        let named: Vec<usize> =
            schedule.loops.iter().filter_map(|name| domain.find(&name.value)).collect();
        let others = domain.active.iter().copied().filter(|number| !named.contains(number));
        let (reduced, written): (Vec<usize>, Vec<usize>) =
            others.partition(|number| domain.is_reduced(*number));
        let (tile, written): (Vec<usize>, Vec<usize>) =
            written.iter().partition(|number| domain.tiles.contains(number));
        let last = named.iter().rposition(|number| domain.is_reduced(*number));
        let (outer, inner) = named.split_at(last.map_or(named.len(), |last| last + 1));
        [&written, outer, &reduced, inner, &tile].concat()
    }

    /// Pair of the loops (outer loops, reduced loops and the register tile, in this order) as the planner chooses them,
    /// and of the loops of partial sums, `None` without these. Outer and reduced loops follow the manifest's order.
    fn planned(
        domain: &mut IterationDomain,
        schedule: &LoopSchedule,
        reads: Reads<'_>,
        tiling: RegisterTiling,
    ) -> Result<(Vec<usize>, Option<PartialSums>), ExprError> {
        let parallel = &schedule.parallel;
        let vectorized = schedule.vectorize.as_ref().and_then(|name| domain.find(&name.value));
        let mut tiles = domain.tiles.clone();
        if domain.lead.is_none() {
            tiles.extend(vectorized.filter(|number| !tiles.contains(number)));
        }
        // Partial sums make the loop around their lanes the innermost one.
        let mut named = schedule.loops.iter().filter_map(|name| domain.find(&name.value));
        let orders_reduced = named.any(|number| domain.is_reduced(number));
        let tiling = if tiles.is_empty() && vectorized.is_none() && !orders_reduced {
            tiling
        } else {
            tiling.without_partial_sums()
        };
        // A loop that the manifest orders among the others stays there.
        tiles.retain(|number| domain.position(*number, &schedule.loops).is_none());
        let is_tile = |k: &usize| tiles.contains(k);
        let (mut reduced, written): (Vec<usize>, Vec<usize>) =
            domain.active.iter().partition(|k| domain.is_reduced(**k));
        let (mut inner, mut outer): (Vec<usize>, Vec<usize>) =
            written.iter().partition(|k| is_tile(k));
        // The register tile takes its rows from the last outer loop.
        follow(domain, &schedule.loops, &mut outer);
        let mut own = None;
        if let RegisterTiling::Vectors { .. } = tiling {
            if domain.tiles.is_empty() && inner.is_empty() && !reduced.is_empty() {
                let as_it_was = (domain.clone(), outer.clone(), reduced.clone());
                let shared = domain.outermost;
                outer.retain(|number| Some(*number) != shared);
                (inner, own) = Self::inside(domain, &mut outer, &mut reduced, reads, tiling)?;
                // Parallel loops stay outside of the register tile.
                if inner.iter().any(|number| domain.is_split_from(*number, parallel)) {
                    (*domain, outer, reduced) = as_it_was;
                    outer.retain(|number| Some(*number) != shared);
                    let (held, mut others): (Vec<usize>, Vec<usize>) =
                        outer.iter().partition(|number| domain.is_split_from(**number, parallel));
                    (inner, own) = Self::inside(domain, &mut others, &mut reduced, reads, tiling)?;
                    outer = [held, others].concat();
                }
                outer.splice(..0, shared);
            }
            reduced = order_reduction_by_stride(domain, &reduced, reads)?;
        }
        follow(domain, &schedule.loops, &mut outer);
        follow(domain, &schedule.loops, &mut reduced);
        // A shared loop contains the others, unless the manifest orders it inside another one.
        let position = |number: usize| domain.position(number, &schedule.loops);
        let first = outer.iter().filter_map(|number| position(*number)).min();
        let is_inside = |number: usize| position(number).is_some_and(|own| Some(own) != first);
        let shared = domain.outermost.filter(|number| !is_inside(*number));
        outer.sort_by_key(|number| shared.is_some() && Some(*number) != shared);
        Ok((outer.into_iter().chain(reduced).chain(inner).collect(), own))
    }

    /// Pair of the innermost loops, outermost first, and of the loops of partial sums, `None` without these. The
    /// innermost loops are the register tile, or for partial sums the reduced loop around the accumulators and the
    /// loops inside it; empty if there is neither. They are removed from `outer` and `reduced`.
    fn inside(
        domain: &mut IterationDomain,
        outer: &mut Vec<usize>,
        reduced: &mut Vec<usize>,
        reads: Reads<'_>,
        tiling: RegisterTiling,
    ) -> Result<(Vec<usize>, Option<PartialSums>), ExprError> {
        let RegisterTiling::Vectors { lanes, registers, partial_sums } = tiling else {
            return Ok((Vec::new(), None));
        };
        let inner = register_tile(domain, outer, reads, (lanes, registers))?;
        if !partial_sums || !inner.is_empty() {
            return Ok((inner, None));
        }
        let found = partial_sums::lanes(domain, outer, reduced, reads, (lanes, registers))?;
        let Some((own, inner)) = found else { return Ok((Vec::new(), None)) };
        *reduced = domain.active.iter().copied().filter(|k| domain.is_reduced(*k)).collect();
        reduced.retain(|number| *number != own.around);
        Ok(([vec![own.around], inner].concat(), Some(own)))
    }

    /// Order of a statement that writes an image: the loop over the four elements of a texel is innermost.
    fn texels(domain: &mut IterationDomain) -> Result<Self, ExprError> {
        let (reduced, mut written): (Vec<usize>, Vec<usize>) =
            domain.active.iter().partition(|k| domain.is_reduced(**k));
        let mut inner = Vec::new();
        if let Some(last) = written.pop() {
            let lanes = i128::from(LANES);
            if domain.trip_count(last) == Some(lanes) {
                inner.push(last);
            } else {
                let [first, second] = domain.split(last, i64::from(LANES))?;
                written.push(first);
                inner.push(second);
            }
        }
        let first_reduced = written.len();
        let loops = written.into_iter().chain(reduced).chain(inner).collect();
        Ok(Self { loops, first_reduced, partial_sums: None, split_k: None })
    }

    /// Makes the reduced loop `number` the outermost loop, over chunks of the reduction (split-K).
    pub(crate) fn split_k_outermost(&mut self, domain: &mut IterationDomain, number: usize) {
        domain.privatize(number);
        self.loops.retain(|other| *other != number);
        self.loops.insert(0, number);
        self.first_reduced = self.first_reduced.saturating_add(1);
        self.split_k = Some(number);
    }

    /// Position in `loops` of the live loop called `name`; `None` if there is no such loop.
    pub(crate) fn place(&self, domain: &IterationDomain, name: &str) -> Option<usize> {
        let number = domain.find(name)?;
        self.loops.iter().position(|other| *other == number)
    }

    /// Loops of the register tile, outermost first.
    pub(crate) fn register_tile<'a>(
        &'a self,
        domain: &'a IterationDomain,
    ) -> impl Iterator<Item = usize> + 'a {
        let inside = self.loops.get(self.first_reduced..).unwrap_or_default();
        inside.iter().copied().filter(|k| !domain.is_reduced(*k))
    }

    /// Checks the size of the register tile, and that the loops `parallel` are outside the reduction. Errors about the
    /// register tile are located at the name in `loops`, the loops that the manifest orders, or else at `place`; errors
    /// about a parallel loop at its name in `parallel`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if a loop of the register tile has no constant trip count, the register tile has more than
    /// [`MAX_REGISTER_TILE`] elements, or a loop of `parallel` is reduced or inside a reduced loop.
    pub(crate) fn check(
        &self,
        domain: &IterationDomain,
        [loops, parallel]: [&[Spanned<String>]; 2],
        place: &FileSpan,
    ) -> Result<(), PlanError> {
        let mut elements = 1_i128;
        for number in self.register_tile(domain) {
            let name = domain.loops.get(number).map_or("", |found| &found.name);
            let chosen = loops.iter().find(|chosen| chosen.value == name);
            let place = chosen.map_or(place, |chosen| &chosen.place);
            let Some(rounds) = domain.trip_count(number) else {
                let message =
                    format!("`{name}` is inside a reduction, and its trip count is not constant");
                let help = format!("put it before the reduced loops, or use `split {name} by=8`");
                return Err(refused(message, help, place));
            };
            elements = elements.saturating_mul(rounds);
            if elements > MAX_REGISTER_TILE {
                let message = format!(
                    "the register tile has {elements} elements; at most {MAX_REGISTER_TILE} are allowed"
                );
                let help = format!("put `{name}` before the reduced loops, or split it");
                return Err(refused(message, help, place));
            }
        }
        for Spanned { value, place } in parallel {
            let at = domain.find(value).and_then(|k| self.loops.iter().position(|l| *l == k));
            if at.is_some_and(|at| at >= self.first_reduced) {
                let message = format!(
                    "`{value}` is inside the reduction: its iterations share an accumulator"
                );
                let help = format!("put `{value}` before the reduced loops");
                return Err(refused(message, help, place));
            }
        }
        Ok(())
    }
}

/// Sorts the loops that `names` lists into its order, at the positions that they occupy; other loops do not move.
fn follow(domain: &IterationDomain, names: &[Spanned<String>], loops: &mut [usize]) {
    let position = |number: usize| domain.position(number, names);
    let mut named: Vec<usize> =
        loops.iter().copied().filter(|number| position(*number).is_some()).collect();
    named.sort_by_key(|number| position(*number));
    let slots = loops.iter_mut().filter(|number| position(**number).is_some());
    for (slot, number) in slots.zip(named) {
        *slot = number;
    }
}

pub(crate) fn refused(message: String, help: String, place: &FileSpan) -> PlanError {
    PlanError::Choice { message, help, place: place.clone() }
}
