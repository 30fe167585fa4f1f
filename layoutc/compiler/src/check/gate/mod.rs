//! Gates: conditions that a tensor's layout must meet, `require contiguous=c`. A gate that fails, or is not proven, is
//! an error at its node.
//!
//! A gate must hold for all values of the symbols. If it fails, the check searches for facts of the symbols (such as a
//! greater `min`) with which it holds.

mod access;
mod claim;
pub(super) mod same;
mod size;
mod warp;

use layoutc_algebra::expr::ExprError;
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::expr::overflow;
use super::replay::{LayoutSource, ReplayOutcome};
use super::scope::number;
use super::symbol_facts::{self, SymbolFact};
use super::warp_access::named;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::near_powers_of_two;
use crate::manifest::syntax::{
    Decimal, GateItem, GateKind, Identifier, IntegerExpr, Memory, SpannedText,
};
use crate::model::{MemorySpace, Tensor, WarpAccess};

/// Maximum length of the vector of a gate `require vector=n`, in elements. A longer vector is an error.
const LONGEST_VECTOR: i128 = 1 << 16;

/// Tensor whose gates are checked. The steps of its layout, `recipe`, are applied again under other facts of the
/// symbols to find advice.
#[derive(Clone, Copy)]
pub(super) struct GateContext<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) recipe: LayoutSource<'a>,
    /// Logical axes of the tensor, with their extents over the declared symbols. For a sharded tensor, the axes of one
    /// shard; for a ring buffer, the axes of the window in memory.
    pub(super) axes: &'a [Axis],
}

/// Condition of a gate, with names and numbers resolved.
enum Gate<'a> {
    Bijective,
    Padding(&'a Decimal),
    Bytes(i128),
    Contiguous(usize),
    Vector(i128),
    Fits,
    ConflictFree(Vec<&'a WarpAccess>),
    Coalesced(Vec<&'a WarpAccess>),
}

/// Subject on which a gate is evaluated: the layout of the tensor, or, to find advice, a layout that its steps give
/// under other facts of the symbols; with the name, element size and memory of the tensor.
struct GateSubject<'a> {
    name: &'a str,
    element_bits: u32,
    layout: &'a Layout,
    space: Option<&'a MemorySpace>,
    /// Name of the tensor's memory as in the item `memory`: a memory space, or a keyword such as `global`.
    memory: &'a str,
    /// Kind of the tensor's memory.
    kind: Memory,
    /// Function that applies the steps of the layout to the given logical axes; `None` if the result is not proven to
    /// be a valid layout.
    again: &'a dyn Fn(&[Axis]) -> Option<Layout>,
}

/// Violation of a gate: a diagnostic, and advice with which the gate may hold.
struct GateViolation {
    /// Diagnostic of the violation, without its location.
    fault: Diagnostic,
    /// Help that is shown if there is no other help, such as a fact of a symbol that makes the gate hold; `None` for no
    /// help.
    otherwise: Option<String>,
    /// Facts that may make the gate hold, each a pair (position of the symbol, fact). They are tried first.
    hints: Vec<(usize, SymbolFact)>,
}

impl GateViolation {
    fn new(code: Code, message: String) -> Self {
        let fault = Diagnostic::without_span(code, message);
        Self { fault, otherwise: None, hints: Vec::new() }
    }

    fn note(self, note: impl Into<String>) -> Self {
        Self { fault: self.fault.note(note), ..self }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Self { fault: self.fault.help(help), ..self }
    }

    fn otherwise(mut self, help: impl Into<String>) -> Self {
        self.otherwise = Some(help.into());
        self
    }

    fn hints(mut self, hints: Vec<(usize, SymbolFact)>) -> Self {
        self.hints = hints;
        self
    }
}

/// Diagnostics of a tensor's failed gates, except `same-as`, which compares two tensors.
pub(super) fn check(gated: GateContext<'_>) -> Vec<Diagnostic> {
    let fault = |item| match resolve(item, gated) {
        Ok(gate) => Vec::from_iter(gate.and_then(|gate| check_gate(&gate, item, gated))),
        Err(errors) => errors,
    };
    gated.recipe.item.gates.iter().flat_map(fault).collect()
}

fn at(gated: GateContext<'_>, span: &std::ops::Range<usize>) -> FileSpan {
    FileSpan::new(gated.recipe.file, span.clone())
}

/// Resolves the names and numbers of a gate; `None` for the gate `same-as`.
fn resolve<'a>(item: &'a GateItem, gated: GateContext<'a>) -> CheckResult<Option<Gate<'a>>> {
    let value = |bound: &IntegerExpr| number(bound, gated.recipe.scope, gated.recipe.file);
    Ok(Some(match &item.kind {
        GateKind::Bijective => Gate::Bijective,
        GateKind::PaddingBelow(share) => Gate::Padding(share),
        GateKind::BytesBelow(bound) => Gate::Bytes(value(bound)?),
        GateKind::Contiguous(name) => Gate::Contiguous(axis(name, gated)?),
        GateKind::Vector(bound) => {
            let lanes = value(bound)?;
            if !(2..=LONGEST_VECTOR).contains(&lanes) || lanes.count_ones() != 1 {
                let message = format!(
                    "expected a vector length, a power of two from 2 to {LONGEST_VECTOR}, found {lanes}"
                );
                let error =
                    Diagnostic::error(Code::StepValue, message, at(gated, &bound.span()), "");
                return Err(vec![error.help(near_powers_of_two(lanes.max(2), LONGEST_VECTOR))]);
            }
            Gate::Vector(lanes)
        }
        GateKind::Fits => Gate::Fits,
        GateKind::ConflictFree(names) => Gate::ConflictFree(accesses(names, item, gated)?),
        GateKind::Coalesced(names) => Gate::Coalesced(accesses(names, item, gated)?),
        GateKind::SameAs(_) => return Ok(None),
    }))
}

/// Accesses of the gate `item` by their names, all if there are none.
fn accesses<'a>(
    names: &[SpannedText],
    item: &GateItem,
    gated: GateContext<'a>,
) -> CheckResult<Vec<&'a WarpAccess>> {
    let tensor = gated.tensor;
    named(&tensor.accesses, names, (&tensor.name, at(gated, &item.span)))
}

/// Position of the logical axis `name`; an error if there is none.
fn axis(name: &Identifier, gated: GateContext<'_>) -> CheckResult<usize> {
    if let Some(k) = gated.axes.iter().position(|axis| axis.name == name.value) {
        return Ok(k);
    }
    let message = format!("`{}` is not an axis of `{}`", name.value, gated.tensor.name);
    let error = Diagnostic::error(Code::StepAxis, message, at(gated, &name.span), "");
    let known = gated.axes.iter().map(|axis| axis.name.as_str());
    Err(error.nearest_or_all(&name.value, "axes", known).into())
}

/// Diagnostic of the gate `item` if it fails, with help such as facts of symbols under which it holds. `None` if it
/// holds. If index arithmetic fails, so that the gate cannot be decided, the diagnostic says so.
fn check_gate(gate: &Gate<'_>, item: &GateItem, gated: GateContext<'_>) -> Option<Diagnostic> {
    let layout = &gated.tensor.layout;
    let place = at(gated, &item.span);
    let broken = match evaluate_gate(gate, layout, gated) {
        Ok(broken) => broken?,
        Err(error) => {
            let message = format!("cannot decide a gate of `{}`: {error}", gated.tensor.name);
            return Some(overflow(&error, message, place));
        }
    };
    let GateViolation { fault, otherwise, hints } = broken;
    let mut fault = fault.at(place);
    let help = std::mem::take(&mut fault.help);
    let advice = symbol_facts::advice(
        layout.symbols(),
        &gated.recipe.numbers(),
        &hints,
        &mut |symbols: &[Symbol]| match gated.recipe.replay(gated.axes, symbols, None) {
            ReplayOutcome::Proven(layout)
                if matches!(evaluate_gate(gate, &layout, gated), Ok(None)) =>
            {
                ReplayOutcome::Proven(layout)
            }
            ReplayOutcome::Proven(_) | ReplayOutcome::Refused => ReplayOutcome::Refused,
            ReplayOutcome::Costly => ReplayOutcome::Costly,
        },
    );
    fault.help.extend(advice);
    fault.help.extend(help);
    if matches!(gate, Gate::Bijective | Gate::Padding(_)) {
        let order = super::axis_order_advice::order(gated.recipe, gated.axes, layout);
        fault.help.extend(order);
    }
    if fault.help.is_empty() {
        fault.help.extend(otherwise);
    }
    Some(fault)
}

/// Violation of a gate by `layout`; `None` if the gate holds. `layout` is the layout of the tensor of `gated`, or one
/// that its steps give under other facts of the symbols. `Err` if index arithmetic fails.
fn evaluate_gate(
    gate: &Gate<'_>,
    layout: &Layout,
    gated: GateContext<'_>,
) -> Result<Option<GateViolation>, ExprError> {
    let again = |axes: &[Axis]| match gated.recipe.replay(axes, layout.symbols(), None) {
        ReplayOutcome::Proven(layout) => Some(*layout),
        ReplayOutcome::Refused | ReplayOutcome::Costly => None,
    };
    let subject = GateSubject {
        name: &gated.tensor.name,
        element_bits: gated.tensor.dtype.element_bits(),
        layout,
        space: gated.tensor.space.as_ref(),
        memory: gated.tensor.memory_word(),
        kind: gated.tensor.memory,
        again: &again,
    };
    Ok(match gate {
        Gate::Bijective => size::bijective(&subject),
        Gate::Padding(share) => size::padding(&subject, share),
        Gate::Bytes(below) => {
            let wanted = format!("must have fewer than {}", size::counted_bytes(*below));
            size::bytes_at_most(&subject, below - 1, Code::GateBytes, &wanted)
        }
        Gate::Contiguous(axis) => access::contiguous(&subject, *axis)?,
        Gate::Vector(lanes) => access::vector(&subject, *lanes)?,
        Gate::Fits => fits(&subject),
        Gate::ConflictFree(accesses) => warp::conflict_free(&subject, accesses),
        Gate::Coalesced(accesses) => warp::coalesced(&subject, accesses),
    })
}

/// Violation of the gate `fits`, which requires that the tensor fits its memory space. `None` if that is proven for all
/// values of the symbols. A tensor without a memory space, and a space without a size, violate the gate.
fn fits(subject: &GateSubject<'_>) -> Option<GateViolation> {
    let Some(space) = subject.space else {
        let message = format!("`{}` is not in a memory space", subject.name);
        let help = "declare one at the top, `memory-space vmem bytes=\"16 MiB\"`, and write `memory vmem` in the tensor";
        let note = format!("its memory is `{}`, which has no size", subject.memory);
        return Some(GateViolation::new(Code::GateFits, message).note(note).help(help));
    };
    let Some(bytes) = space.bytes else {
        let message = format!("the memory space `{}` has no size", space.name);
        let help = format!("declare it: `memory-space {} bytes=\"16 MiB\"`", space.name);
        return Some(GateViolation::new(Code::GateFits, message).help(help));
    };
    let wanted = format!("does not fit `{}`", space.name);
    let broken = size::bytes_at_most(subject, bytes, Code::GateFits, &wanted)?;
    Some(broken.note(format!("`{}` has {}", space.name, size::counted_bytes(bytes))))
}
