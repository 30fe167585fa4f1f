//! Symbol values and byte counts for the benchmarks of relayouts.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::symbol::Symbol;

use super::model::BenchUnit;
use super::test_unit::{fits, least};
use crate::emit::syntax::Expr;
use crate::loops::error::PlanError;
use crate::lower::context::Context;
use crate::lower::index::{buffer_bytes, count, logical_bytes};

/// Maximum number of steps of a symbol above its least value; a step is the declared `multiple` of the symbol.
const STEPS: i128 = 1 << 26;

/// Benchmark of pack of one tensor: values of its symbols, and bytes of the elements and of both buffers. Unpack has
/// the two buffers swapped.
pub(super) fn tensor(context: &Context<'_>) -> Result<BenchUnit, PlanError> {
    let facts: Vec<&Symbol> = context.symbols.iter().map(|symbol| symbol.facts).collect();
    let sizes = Sizes::new(&facts, &[context], &|_| true);
    let layout = &context.layout;
    let moved = sizes.value(context, &buffer_bytes(context, layout.logical_elements())?)?;
    let dense = sizes.value(context, &logical_bytes(context, &count(layout.logical())?)?)?;
    let slots = sizes.value(context, &buffer_bytes(context, layout.physical_elements())?)?;
    Ok(sizes.unit([moved.min(dense), dense, slots]))
}

/// Benchmark of a conversion: values of the symbols, and bytes of the elements and of both buffers. `symbols` are those
/// of both tensors, in the order of the function's parameters. `contexts` are the source and the destination.
pub(super) fn convert(
    symbols: &[&Symbol],
    contexts: &[Context<'_>; 2],
) -> Result<BenchUnit, PlanError> {
    let [from, to] = contexts;
    let sizes = Sizes::new(symbols, &[from, to], &|_| true);
    let bytes =
        |side: &Context<'_>, elements: &Algebra| sizes.value(side, &buffer_bytes(side, elements)?);
    let read = bytes(from, from.layout.logical_elements())?;
    let written = bytes(to, to.layout.logical_elements())?;
    let source = bytes(from, from.layout.physical_elements())?;
    let destination = bytes(to, to.layout.physical_elements())?;
    Ok(sizes.unit([read.min(written), source, destination]))
}

/// Symbol values for a benchmark. They start at the greatest declared values, at most [`STEPS`] steps above the least
/// ones. Until all buffers are small enough to be filled and the benchmark is short enough, the number of steps of the
/// symbol with most steps is halved. The least values are used even if the buffers are then too large.
pub(super) struct Sizes<'a> {
    symbols: &'a [&'a Symbol],
    pub(super) values: Vec<i128>,
}

impl<'a> Sizes<'a> {
    /// Values of `symbols`, found by halving, for which the buffers of `contexts` are small enough and `is_short`
    /// holds; the least values if no others are found.
    pub(super) fn new(
        symbols: &'a [&'a Symbol],
        contexts: &[&Context<'_>],
        is_short: &dyn Fn(&[i128]) -> bool,
    ) -> Self {
        let most = |symbol: &&Symbol| {
            let above = symbol.max.saturating_sub(least(symbol));
            above.checked_div(symbol.multiple.max(1)).unwrap_or(0).clamp(0, STEPS)
        };
        let mut steps: Vec<i128> = symbols.iter().map(most).collect();
        loop {
            let value = |(symbol, steps): (&&Symbol, &i128)| {
                least(symbol).saturating_add(symbol.multiple.max(1).saturating_mul(*steps))
            };
            let values: Vec<i128> = symbols.iter().zip(&steps).map(value).collect();
            let is_valid = fits(symbols, &values, contexts) && is_short(&values);
            match steps.iter_mut().max() {
                Some(most) if *most > 0 && !is_valid => *most >>= 1,
                _ => return Self { symbols, values },
            }
        }
    }

    /// Value of a byte count over the symbols of `context` for these symbol values, at most `i64::MAX`.
    pub(super) fn value(&self, context: &Context<'_>, bytes: &Algebra) -> Result<i64, PlanError> {
        let value = |var: Var| {
            let known = context.symbols.iter().find(|known| var == Var::Symbol(known.number))?;
            let at = self.symbols.iter().position(|symbol| symbol.name == known.facts.name)?;
            self.values.get(at).copied()
        };
        let bytes = bytes.evaluate(&value)?;
        Ok(i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    fn unit(&self, [bytes, from_bytes, to_bytes]: [i64; 3]) -> BenchUnit {
        let values = self.values.iter().map(|value| i64::try_from(*value).unwrap_or(i64::MAX));
        BenchUnit {
            values: values.collect(),
            bytes: Expr::int(bytes).into(),
            from_bytes: Expr::int(from_bytes).into(),
            to_bytes: Expr::int(to_bytes).into(),
        }
    }
}
