//! Checks of views of tensors, each after its base. There are three kinds: windows (a map into the base), views with
//! wider or narrower elements, and reinterpretations with another shape and layout. Manifest items → [`View`].

mod elements;
mod lanes;
mod reinterpret;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::builder::{BuildError, FinishError, LayoutBuilder};
use layoutc_algebra::expr::ExprError;
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::identity;
use layoutc_algebra::prove::InjectivityError;
use layoutc_algebra::symbol::Symbol;

use super::expr::overflow;
use super::injectivity_report::bare_fault;
use super::mesh;
use super::scope::undeclared_tensor;
use super::tensor::{ManifestContext, TensorChecker};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::env::executor::RayonExecutor;
use crate::manifest::syntax::{ManifestSyntax, ViewItem};
use crate::model::{Fill, MemoryOwner, Tensor, TensorRef, TensorSpans, View, ViewKind};

/// Checks the views of a manifest. Returns those without errors, each after its base, and adds errors and warnings to
/// `diagnostics`. `builders` has one element for each of `tensors`: the builder of its layout, `None` if it has no
/// views.
pub(super) fn check(
    place: ManifestContext<'_>,
    tensors: &[Tensor],
    builders: &[Option<LayoutBuilder>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<View> {
    let Some(syntax) = place.files.syntax(place.file) else { return Vec::new() };
    // The first declaration of a name takes precedence.
    let declared: BTreeSet<&str> =
        syntax.tensors.iter().map(|tensor| tensor.name.value.as_str()).collect();
    let named = |k: usize| {
        let name = syntax.views.get(k)?.name.value.as_str();
        (!declared.contains(name)).then_some((name, k))
    };
    let named: BTreeMap<&str, usize> = (0..syntax.views.len()).rev().filter_map(named).collect();
    let tensor = |(k, tensor): (usize, &'_ Tensor)| (tensor.name.clone(), TensorRef::Tensor(k));
    let known = tensors.iter().enumerate().rev().map(tensor).collect();
    let mut views =
        ViewChecker { place, syntax, tensors, builders, named, known, checked: Vec::new() };
    let mut begun = vec![false; syntax.views.len()];
    for start in 0..syntax.views.len() {
        match views.chain(start, &mut begun) {
            Ok(chain) => {
                for item in chain.into_iter().rev() {
                    match views.one(item) {
                        Ok((checked, warnings)) => {
                            let seen = TensorRef::View(views.checked.len());
                            views.known.entry(item.name.value.clone()).or_insert(seen);
                            views.checked.push(checked);
                            diagnostics.extend(warnings);
                        }
                        Err(errors) => diagnostics.extend(errors),
                    }
                }
            }
            Err(circle) => diagnostics.push(circle),
        }
    }
    views.checked.into_iter().map(|checked| checked.view).collect()
}

/// Maximum number of views on a chain in which each view is based on the next one. A longer chain is an error.
const MAX_CHAIN: usize = 64;

/// View without errors. The layouts of views of this view start from its `builder`.
struct CheckedView {
    view: View,
    /// Builder of the view's layout; `None` if no view is based on it.
    builder: Option<LayoutBuilder>,
    /// Number of views on the chain of bases from this view down to the tensor; 1 if the base is a tensor.
    depth: usize,
}

struct ViewChecker<'a> {
    place: ManifestContext<'a>,
    syntax: &'a ManifestSyntax,
    tensors: &'a [Tensor],
    builders: &'a [Option<LayoutBuilder>],
    /// Position in `syntax.views` of the first view of each name, by name. Names of declared tensors are left out.
    named: BTreeMap<&'a str, usize>,
    /// Valid tensors, and the valid views checked so far, by name.
    known: BTreeMap<String, TensorRef>,
    checked: Vec<CheckedView>,
}

/// Base of a view: a tensor, or another view in the form of a tensor. `builder` is the builder of its layout. `of`
/// refers to the base, and `buffer` is the position, among the tensors without errors, of the tensor that owns the
/// memory.
#[derive(Clone, Copy)]
struct ViewBase<'a> {
    tensor: &'a Tensor,
    builder: &'a LayoutBuilder,
    of: TensorRef,
    buffer: usize,
    /// Number of views on the chain of bases from this base down to the tensor; 0 if this base is a tensor.
    depth: usize,
}

/// Lowered view. `builder` is the builder of its layout, `seeing` its relation to the base, `labels` the labels of each
/// of its axes, and `steps` the lines of its layout steps as in a manifest.
struct ViewDefinition {
    builder: LayoutBuilder,
    seeing: ViewKind,
    labels: Vec<Vec<String>>,
    steps: Vec<String>,
}

impl<'a> ViewChecker<'a> {
    /// Chain of views that are to be checked: the view at position `start` in the manifest, its base, the base of that,
    /// and so on. It ends before a base that is not a view, or before a view that `begun` marks. `begun` has one
    /// element for each view of the manifest, true if an earlier chain contained it; the views of this chain are
    /// marked. Empty if `start` is marked already. `Err` if the chain leads back to one of its views.
    fn chain(&self, start: usize, begun: &mut [bool]) -> Result<Vec<&'a ViewItem>, Diagnostic> {
        let mut chain: Vec<&'a ViewItem> = Vec::new();
        let mut next = Some(start);
        while let Some(k) = next {
            let (Some(item), Some(begun)) = (self.syntax.views.get(k), begun.get_mut(k)) else {
                break;
            };
            if std::mem::replace(begun, true) {
                let circle = chain.iter().position(|earlier| std::ptr::eq(*earlier, item));
                return match circle {
                    Some(from) => Err(self.circle(chain.get(from..).unwrap_or_default())),
                    None => Ok(chain),
                };
            }
            chain.push(item);
            next = self.named.get(item.of.value.as_str()).copied();
        }
        Ok(chain)
    }

    fn at(&self, span: &std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(&self.syntax.file, span.clone())
    }

    fn circle(&self, circle: &[&ViewItem]) -> Diagnostic {
        let names = circle.iter().chain(circle.first()).map(|item| item.name.value.as_str());
        let names = names.collect::<Vec<_>>().join(" → ");
        let message = format!("cyclic `of`: {names}");
        let span = circle.last().map_or(0..0, |item| item.of.span.clone());
        let error = Diagnostic::error(Code::NameCycle, message, self.at(&span), "closes the cycle");
        error.help("make one of them a view of a tensor")
    }

    /// Base of the view `item`. `Err` for an unknown base, or a tensor that cannot have views, such as a ring buffer;
    /// empty if the base is invalid and has been reported.
    fn base(&self, item: &ViewItem) -> CheckResult<ViewBase<'_>> {
        let name = &item.of.value;
        match self.known.get(name) {
            Some(TensorRef::Tensor(k)) => {
                if let (Some(tensor), Some(Some(builder))) =
                    (self.tensors.get(*k), self.builders.get(*k))
                {
                    let fault = mesh::part_fault(tensor, "a view requires", self.at(&item.of.span));
                    let (of, buffer) = (TensorRef::Tensor(*k), *k);
                    let base = ViewBase { tensor, builder, of, buffer, depth: 0 };
                    return fault.map_or(Ok(base), |fault| Err(fault.into()));
                }
            }
            Some(TensorRef::View(k)) => {
                if let Some(CheckedView { view, builder: Some(builder), depth }) =
                    self.checked.get(*k)
                {
                    let (tensor, buffer, depth) = (&view.tensor, view.buffer, *depth);
                    let of = TensorRef::View(*k);
                    return Ok(ViewBase { tensor, builder, of, buffer, depth });
                }
            }
            None => {}
        }
        if self.named.contains_key(name.as_str()) {
            return Err(Vec::new());
        }
        Err(undeclared_tensor(&item.of, self.syntax).into_iter().collect())
    }

    fn one(&self, item: &ViewItem) -> CheckResult<(CheckedView, Vec<Diagnostic>)> {
        let seen = self.base(item)?;
        if seen.depth >= MAX_CHAIN {
            let message = format!("the chain of views is longer than {MAX_CHAIN}");
            let place = self.at(&item.of.span);
            let error = Diagnostic::error(Code::LimitSteps, message, place, "one too many");
            return Err(vec![error.help("make it a view of the tensor")]);
        }
        // The texts of a view are resolved like those of a tensor.
        let tensor_item = reinterpret::as_tensor(item, seen.tensor);
        let checker = TensorChecker::new(&tensor_item, self.place).ok_or_else(Vec::new)?;
        let dtype = match &item.dtype {
            Some(text) => checker.dtype(text)?,
            None => seen.tensor.dtype,
        };
        elements::check(item, dtype, seen.tensor, &self.syntax.file)?;
        let made = match (&item.map, &item.shape) {
            (Some(map), Some(shape)) => window::window_view(&checker, item, (map, shape), seen)?,
            (Some(_), None) => return Err(Vec::new()),
            (None, Some(_)) => return reinterpret::view(&tensor_item, self.place, item, seen),
            (None, None) if item.layout.is_some() => {
                let is_same = dtype == seen.tensor.dtype;
                let regrouped = || lanes::lane_view(item, dtype, seen, &self.syntax.file);
                let regrouped = (!is_same).then(regrouped).transpose()?;
                let builder = regrouped.as_ref().map_or(seen.builder, |other| &other.builder);
                let tensor_item = reinterpret::with_axes(tensor_item, builder.logical(), seen);
                return reinterpret::view(&tensor_item, self.place, item, seen);
            }
            (None, None) if dtype != seen.tensor.dtype => {
                lanes::lane_view(item, dtype, seen, &self.syntax.file)?
            }
            (None, None) => identity_view(seen).map_err(|error| self.large(item, &error))?,
        };
        let layout = self.finish(item, &made.builder, seen.tensor)?;
        let affine = layout.affine().map_err(|error| self.large(item, &error))?;
        let ViewDefinition { builder, seeing, labels, steps } = made;
        let span = item.map.as_ref().map_or(&item.span, |map| &map.span);
        let mut places = TensorSpans::at(&self.at(span));
        places.dtype = self.at(item.dtype.as_ref().map_or(&item.of.span, |text| &text.span));
        let tensor = Tensor {
            sharded: None,
            ring: None,
            file: self.syntax.file.to_string(),
            name: item.name.value.clone(),
            owner: Some(MemoryOwner::of(seen.tensor, &layout)),
            dtype,
            pack_from: None,
            layout,
            fill: Fill::Nothing,
            memory: seen.tensor.memory,
            space: seen.tensor.space.clone(),
            targets: seen.tensor.targets.clone(),
            labels,
            high_first: seen.tensor.high_first,
            accesses: Vec::new(),
            steps,
            places,
        };
        let of_name = item.of.value.clone();
        let (of, buffer) = (seen.of, seen.buffer);
        let view = View { tensor, of, of_name, buffer, seeing, affine };
        let builder = self.place.viewed.contains(item.name.value.as_str()).then_some(builder);
        Ok((CheckedView { view, builder, depth: seen.depth.saturating_add(1) }, Vec::new()))
    }

    fn large(&self, item: &ViewItem, what: &dyn std::fmt::Display) -> Diagnostic {
        let message = format!("the layout of `{}` is too large: {what}", item.name.value);
        overflow(&ExprError::TooLarge, message, self.at(&item.name.span))
    }

    /// Proven layout of the view `item` of the base `seen`, from `builder`, the builder of the view's layout. Its
    /// alignment is that of the base. Its verdict is `Broadcast` if several elements share a slot.
    fn finish(
        &self,
        item: &ViewItem,
        builder: &LayoutBuilder,
        seen: &Tensor,
    ) -> CheckResult<Layout> {
        let alignment = seen.layout.alignment_bytes();
        let fault = |error: &FinishError| {
            let (logical, symbols) = (builder.logical(), builder.facts().symbols());
            let place = self.at(item.map.as_ref().map_or(&item.name.span, |map| &map.span));
            vec![bare_fault(error, &item.name.value, logical, symbols, place)]
        };
        match builder.clone().finish(alignment, &RayonExecutor(self.place.memo)) {
            Ok(layout) => Ok(layout),
            Err(FinishError::Injectivity(InjectivityError::NotInjective { .. })) => {
                builder.clone().finish_overlapping(alignment).map_err(|error| fault(&error))
            }
            Err(error) => Err(fault(&error)),
        }
    }
}

/// Definition of a view that has the axes and the layout of its base `seen`.
fn identity_view(seen: ViewBase<'_>) -> Result<ViewDefinition, BuildError> {
    let axes = seen.builder.logical();
    let symbols = seen.builder.facts().symbols();
    let builder = seen.builder.window(symbols, axes, &identity(axes))?;
    let seeing = ViewKind::Window(window::axis_vars(axes.len()));
    Ok(ViewDefinition { builder, seeing, labels: seen.tensor.labels.clone(), steps: Vec::new() })
}

/// Symbols of the base `seen`, then those of `own` whose names are new.
fn symbols(seen: &LayoutBuilder, own: Vec<Symbol>) -> Vec<Symbol> {
    let mut all = seen.facts().symbols().to_vec();
    for symbol in own {
        if all.iter().all(|known| known.name != symbol.name) {
            all.push(symbol);
        }
    }
    all
}
