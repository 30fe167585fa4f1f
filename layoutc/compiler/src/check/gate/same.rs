//! Gate `require same-as=other`: equality of the layouts of two tensors, with axes matched by name.

use layoutc_algebra::layout::Layout;
use layoutc_algebra::query::equivalence::{LayoutEquivalence, compare};
use layoutc_algebra::query::locate::ElementLocation;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::check::faults::{index, joined};
use crate::check::scope::undeclared_tensor;
use crate::env::ResultCache;
use crate::env::executor::RayonExecutor;
use crate::manifest::syntax::{GateKind, Identifier, ManifestSyntax};
use crate::model::Tensor;

/// Diagnostics of the failed `same-as` gates of a manifest, whose valid tensors are `tensors`. `memo` is the cache of
/// the proofs' results. A gate that names an invalid tensor adds nothing.
pub(in crate::check) fn check(
    syntax: &ManifestSyntax,
    tensors: &[Tensor],
    memo: &dyn ResultCache,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for item in &syntax.tensors {
        for gate in &item.gates {
            let GateKind::SameAs(other) = &gate.kind else { continue };
            let place = FileSpan::new(&syntax.file, gate.span.clone());
            match both(&item.name, other, syntax, tensors) {
                Ok(Some([first, second])) => found.extend(one(first, second, place, memo)),
                Ok(None) => {}
                Err(error) => found.push(error),
            }
        }
    }
    found
}

/// Tensors that a gate compares; `None` if one of them is invalid and has been reported. `Err` for an unknown name.
fn both<'t>(
    own: &Identifier,
    other: &Identifier,
    syntax: &ManifestSyntax,
    tensors: &'t [Tensor],
) -> Result<Option<[&'t Tensor; 2]>, Diagnostic> {
    if let Some(error) = undeclared_tensor(other, syntax) {
        return Err(error);
    }
    let find = |name: &Identifier| tensors.iter().find(|tensor| tensor.name == name.value);
    Ok(find(own).zip(find(other)).map(|(first, second)| [first, second]))
}

/// Diagnostic, located at `place`, for two tensors whose elements differ in size or in their order in a byte, or whose
/// layouts are not proven equal, with a reason, such as an element at different offsets. `None` if the gate holds.
fn one(
    first: &Tensor,
    second: &Tensor,
    place: FileSpan,
    memo: &dyn ResultCache,
) -> Option<Diagnostic> {
    let (a, b) = (&first.name, &second.name);
    let message = format!("`{a}` and `{b}` do not have the same layout");
    let error = Diagnostic::error(Code::GateSameAs, message, place, "");
    if first.dtype.element_bits() != second.dtype.element_bits() {
        let note = format!(
            "`{a}` has elements of type {} and `{b}` of type {}",
            first.dtype, second.dtype
        );
        return Some(error.note(note).help("use element types of the same size"));
    }
    if first.dtype.element_bits() < 8 && first.high_first != second.high_first {
        let note = "the order of the elements in a byte differs";
        return Some(error.note(note).help("write the same `nibbles=` in both"));
    }
    let Some(other) = matched(&first.layout, &second.layout) else {
        let axes = |tensor: &Tensor| {
            let names = tensor.layout.logical().iter().map(|axis| axis.name.as_str());
            format!("the axes of `{}` are {}", tensor.name, names.collect::<Vec<_>>().join(", "))
        };
        let error = error.note(axes(first)).note(axes(second));
        return Some(error.help("declare the same axes in both, in any order"));
    };
    match compare(&first.layout, &other, &RayonExecutor(memo)) {
        Ok(LayoutEquivalence::Same { .. }) => None,
        Ok(LayoutEquivalence::Differs { logical, symbols, first: own, second: there }) => {
            let values: Vec<String> =
                symbols.iter().map(|(name, value)| format!("`{name}` = {value}")).collect();
            let sizes = match values.as_slice() {
                [] => String::new(),
                values => format!(" for {}", values.join(", ")),
            };
            let (own, there) = (at(&own), at(&there));
            let element = index(&logical);
            let note = format!("{a}{element} is at {own} and {b}{element} at {there}{sizes}");
            let help =
                format!("give `{b}` the layout of `{a}`, or remove the gate if they may differ");
            Some(error.note(note).help(help).witness(vec![logical]))
        }
        Ok(LayoutEquivalence::Ranks { first, second }) => {
            let axes = if first == 1 { "axis" } else { "axes" };
            let note = format!("`{a}` has {first} {axes} in memory and `{b}` has {second}");
            Some(error.note(note).help("write the same `axis-separators` in both"))
        }
        Ok(LayoutEquivalence::Undecided { .. }) => {
            let note = "the layouts are neither proven equal nor proven different";
            Some(error.note(note).help("write both as quotients and remainders of the axes"))
        }
        Err(fault) => {
            let help = "declare the same axes, extents and symbols in both";
            Some(error.note(fault.to_string()).help(help))
        }
    }
}

/// Text of an element's location: `offset 12`, or `(3, 12)` if the memory has several physical axes.
fn at(location: &ElementLocation) -> String {
    match location.physical.as_slice() {
        [_] => format!("offset {}", location.offset),
        physical => format!("({})", joined(physical)),
    }
}

/// Copy of the layout `second` with its logical axes in the order of the axes of the same names in `first`; `None` if
/// the two have different sets of names.
fn matched(first: &Layout, second: &Layout) -> Option<Layout> {
    if first.logical().len() != second.logical().len() {
        return None;
    }
    let position = |name: &str| second.logical().iter().position(|axis| axis.name == name);
    let order: Option<Vec<usize>> =
        first.logical().iter().map(|axis| position(&axis.name)).collect();
    second.permuted(&order?).ok()
}
