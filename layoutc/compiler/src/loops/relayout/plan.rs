//! Plan of a relayout: the parts that are executed in order, each with its digits, loops and inner kernel.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{fold, typical};
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::{self, Cores};
use crate::loops::heuristics::small_tiles;
use crate::loops::range::Ranges;
use crate::loops::relayout::digits::DigitRefinement;
use crate::loops::relayout::full_runs::split;
use crate::loops::relayout::fuse::merge;
use crate::loops::relayout::overrides;
use crate::loops::relayout::schedule::{RelayoutLoop, RelayoutPrimitive, RelayoutSchedule};
use crate::machine::CPU;
use crate::model::{ConvertSchedule, StorePolicy};

/// Threads and primitives that a relayout may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayoutOptions {
    /// Threads that run the loops of the relayout.
    pub cores: Cores,
    /// Primitives that may replace the innermost loops.
    pub primitives: Primitives,
}

/// Primitives of the target for the innermost loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Primitives {
    /// Only stores of an element and copies of a contiguous run.
    None,
    /// In addition, runtime primitives that transpose tiles, copy strided runs or convert runs.
    Runtime,
}

/// Relayout with all its loops decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayoutPlan {
    /// Parts, executed in order; empty if an extent is a constant of at most 0, so that there is no element to copy.
    pub parts: Vec<RelayoutPart>,
    /// Size of all elements in the destination, in bytes, over symbols; 0 if an element has less than a byte.
    pub whole_bytes: Algebra,
    /// Streaming or cached stores, if the manifest chooses them; `None` if the size decides at run time.
    pub stores: Option<StorePolicy>,
}

/// Part of a relayout: its digits, loops and inner kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayoutPart {
    /// Digits, after the fusion of those that can share one loop.
    pub refinement: DigitRefinement,
    /// Loops and inner kernel.
    pub schedule: RelayoutSchedule,
    /// Loop whose iterations run in parallel; `None` if the part is serial.
    pub parallel: Option<RelayoutLoop>,
}

/// Plans the loops of a relayout, from the common refinement `refinement` of its layouts. `ranges` are the ranges of
/// the symbols, `element_bits` the sizes of an element in the source and in the destination, `choices` the directives
/// of the manifest.
///
/// # Errors
/// [`PlanError::Choice`] if a choice of the manifest is impossible. [`PlanError::Expr`] if a bound or stride overflows
/// or becomes too large.
pub(crate) fn plan(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    ranges: &Ranges<'_>,
    element_bits: [i128; 2],
    RelayoutOptions { cores, primitives }: RelayoutOptions,
    choices: &ConvertSchedule,
) -> Result<RelayoutPlan, PlanError> {
    let [_, written_bits] = element_bits;
    let whole_bytes = whole_bytes(refinement, written_bits)?;
    let stores = choices.stores.as_ref().map(|chosen| chosen.value);
    let large = typical(&whole_bytes, symbols) > i128::from(CPU.llc_bytes);
    if refinement
        .digits
        .iter()
        .any(|digit| digit.extent.as_const().is_some_and(|extent| extent <= 0))
    {
        return Ok(RelayoutPlan { parts: Vec::new(), whole_bytes, stores });
    }
    // Transpositions have the element size of the narrower type. Elements that share a byte are copied one by one.
    let bits = element_bits.into_iter().min().filter(|bits| *bits >= 8);
    let element = bits.and_then(|bits| u32::try_from(bits.div_euclid(8)).ok());
    let element = element.filter(|_| primitives == Primitives::Runtime);
    let refinements = match element {
        Some(element) => split(refinement, symbols, element)?,
        None => vec![refinement.clone()],
    };
    let merged = refinements.iter().map(|part| match element {
        Some(element) if choices.allows_shared_calls() => {
            small_tiles::parts(part, symbols, element)
        }
        _ => Ok(vec![merge(part, symbols)?]),
    });
    let merged = merged.collect::<Result<Vec<_>, _>>()?.concat();
    let schedules = overrides::schedules(&merged, symbols, element, large, choices)?;
    let one = |(refinement, schedule): (DigitRefinement, RelayoutSchedule)| {
        let parallel = match cores {
            Cores::One => None,
            Cores::All => parallelize::level(&refinement, &schedule, symbols, ranges, written_bits),
        };
        RelayoutPart { refinement, schedule, parallel }
    };
    Ok(RelayoutPlan {
        parts: merged.into_iter().zip(schedules).map(one).collect(),
        whole_bytes,
        stores,
    })
}

/// Number of bytes of all elements that a refinement copies, over the symbols: `element_bits / 8`, rounded down, times
/// the number of elements.
pub(crate) fn whole_bytes(
    refinement: &DigitRefinement,
    element_bits: i128,
) -> Result<Algebra, PlanError> {
    let mut bytes = Algebra::constant(element_bits.checked_div(8).unwrap_or(1));
    for bounds in &refinement.chains {
        let count = fold(BinOp::Sub, &bounds.high, &bounds.low)?;
        bytes = fold(BinOp::Mul, &bytes, &count)?;
    }
    Ok(bytes)
}

impl RelayoutPlan {
    /// Plan with one primitive call per transpose tile: the digit `count` of each part becomes a loop.
    #[must_use]
    pub fn one_by_one(mut self) -> Self {
        for RelayoutPart { schedule, .. } in &mut self.parts {
            if let RelayoutPrimitive::Transpose { count, .. } = &mut schedule.inner {
                schedule.levels.extend(count.take().map(RelayoutLoop::Digit));
            }
        }
        self
    }
}
