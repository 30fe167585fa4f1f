//! Functions that move a tensor from one layout into another.

use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::Symbol;

use super::cores::Cores;
use super::lower::PlanError;
use super::moves::{Move, Parts};
use super::nest::{Moves, Ways};
use super::prepare::Rest;
use super::side::{Side, physical_side, renumber};
use super::transfer::transfer;
use super::{Context, Naming};
use crate::base::diagnostic::Diagnostic;
use crate::model::{Convert, ConvertSchedule, InnerKernel, Manifest, StorePolicy, Tensor};

/// Plans one relayout: `<from>_to_<to>(symbols, from, to)`; padding of the destination gets its fill. `None` where
/// one of the two has no memory, or is not there.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Option<Move>, PlanError> {
    let Some((from, target)) = ends(manifest, convert)? else { return Ok(None) };
    let source = Context::new(from, naming);
    let destination = Context::new(&target, naming);
    let mut parts = Parts::convert(&source, &destination, convert.cast);
    let elements = destination.layout.physical_elements();
    let source_buffer = parts.buffer(&source, 0, "s", "load");
    let target_buffer = parts.buffer(&destination, 1, "d", "store");
    let linear = both_sides(&from.layout, &target.layout, &convert.axes)?;
    let linear = match linear {
        Some((a, b)) => {
            let layout = &target.layout;
            transfer(&a, &b, layout.logical(), layout.symbols())?
        }
        None => None,
    };
    let rest = Rest::of(&destination);
    let choices = match naming.ways.moves {
        Moves::Blocks => &convert.choices,
        Moves::Elements => ConvertSchedule::NONE,
    };
    if linear.is_none() {
        refuse(choices)?;
    }
    let fill = choices.fill.as_ref();
    parts.prepare_destination(&destination, elements, rest, linear.as_ref(), fill)?;
    let buffers = [&source_buffer, &target_buffer];
    let body = if let Some(transfer) = linear {
        parts.nest(&destination, &source, &transfer, buffers, choices)?
    } else {
        parts.by_indices([&source, &destination], &convert.axes, buffers)?
    };
    Ok(Some(parts.finish(body)))
}

/// Errors for `convert` schedules that their conversions cannot follow, and warnings for slow schedules of kernels: of C.
pub(crate) fn schedule_diagnostics(manifest: &Manifest) -> Vec<Diagnostic> {
    let avoid = |_: &str| false;
    let ways = Ways { cores: Cores::One, moves: Moves::Blocks };
    let naming = Naming { prefix: "", avoid: &avoid, ways };
    let scheduled = manifest.converts.iter().filter(|convert| !convert.choices.is_empty());
    let refused = scheduled.filter_map(|own| convert(manifest, own, &naming).err()?.refusal());
    refused.chain(super::compute::slow_schedules(manifest, &naming)).collect()
}

/// Loops over logical axes that ask index functions for both places have no digits to choose from.
fn refuse(choices: &ConvertSchedule) -> Result<(), PlanError> {
    let order = choices.order.first().map(|name| &name.place);
    let block = choices.block.as_ref().map(|block| &block.place);
    let inside = choices.inside.as_ref().filter(|inside| inside.value != InnerKernel::Elementwise);
    let inside = inside.map(|inside| &inside.place);
    let stores = choices.stores.as_ref().filter(|stores| stores.value == StorePolicy::Streaming);
    let stores = stores.map(|stores| &stores.place);
    match order.or(block).or(inside).or(stores) {
        None => Ok(()),
        Some(place) => Err(PlanError::Choice {
            message: "this conversion calls index functions: its maps have no common digits".into(),
            help: "remove this directive".into(),
            place: place.clone(),
        }),
    }
}

/// Source and destination, with one numbering of symbols for both: the destination's are matched by name. `None` where
/// one of the two is not there.
pub(super) fn ends<'m>(
    manifest: &'m Manifest,
    convert: &Convert,
) -> Result<Option<(&'m Tensor, Tensor)>, PlanError> {
    let named = (manifest.tensors.get(convert.from), manifest.tensors.get(convert.to));
    let (Some(from), Some(to)) = named else { return Ok(None) };
    Ok(Some((from, adopt_symbols(from, to)?)))
}

/// The tensor with its symbols renumbered as in `from`, those that `from` lacks at the end.
fn adopt_symbols(from: &Tensor, to: &Tensor) -> Result<Tensor, PlanError> {
    let mut symbols: Vec<Symbol> = from.layout.symbols().to_vec();
    for symbol in to.layout.symbols() {
        if symbols.iter().all(|other| other.name != symbol.name) {
            symbols.push(symbol.clone());
        }
    }
    renumbered(to, &symbols)
}

/// The tensor with these symbols in place of its own, matched by name; its own are among them.
pub(super) fn renumbered(tensor: &Tensor, symbols: &[Symbol]) -> Result<Tensor, PlanError> {
    Ok(tensor.with_layout(tensor.layout.clone().over_symbols(symbols)?))
}

/// Both sides of a relayout, over the axes of the destination; `None` where one of them has no normal form.
pub(super) fn both_sides(
    from: &Layout,
    to: &Layout,
    axes: &[usize],
) -> Result<Option<(Side, Side)>, PlanError> {
    let (Some(a), Some(b)) = (from.digits(), to.digits()) else { return Ok(None) };
    Ok(Some((renumber(physical_side(from, a)?, axes), physical_side(to, b)?)))
}
