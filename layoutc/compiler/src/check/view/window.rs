//! Windows: views that are slices, tiles or broadcasts of the base, given by a map from the window's axes to base
//! indices. Every index is proven in bounds.

use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::parse::{MapItemText, MapText};
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::{ViewBase, ViewDefinition, symbols};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::expr::place_in;
use crate::check::faults::{build_fault, index, item_of, size, text};
use crate::check::replay::symbol_value;
use crate::check::step_map::resolved;
use crate::check::step_scope::StepScope;
use crate::check::tensor::{TensorChecker, TensorDeclaration};
use crate::manifest::syntax::{ShapeItem, SpannedText, ViewItem};
use crate::model::ViewKind;

/// Lowers the window `item` of the base `seen`. The tuple is (text of the map, shape of the window): the map is from
/// the axes of the shape to indices of the base. `checker` resolves names. `Err` if, for example, the map has
/// separators or extents, has another number of indices than the base has axes, or is not proven to stay inside the
/// base.
pub(super) fn window_view(
    checker: &TensorChecker<'_>,
    item: &ViewItem,
    (map, shape): (&SpannedText, &ShapeItem),
    seen: ViewBase<'_>,
) -> CheckResult<ViewDefinition> {
    let symbols = symbols(seen.builder, checker.symbols(shape));
    let (axes, labels) =
        checker.axes(&TensorDeclaration { dtype: None, shape, record: None }, &symbols)?;
    let find = |name: &str| symbol_value(name, &symbols);
    let ground = StepScope {
        file: checker.file,
        scope: checker.scope,
        scopes: checker.place.scopes,
        symbol: &find,
        parameters: &[],
    };
    let facts = Facts::new(&symbols);
    let (parsed, resolved) = resolved(map, &axes, &facts, ground)?;
    let window = ViewWindow { item, map, file: checker.file, seen, axes: &axes, symbols: &symbols };
    window.is_indices_alone(&parsed)?;
    let builder = seen
        .builder
        .window(&symbols, &axes, &resolved)
        .map_err(|error| vec![window.fault(&error, &resolved)])?;
    let over_axes = |index: &Expr| {
        index.substitute(&|var| match var {
            Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
            _ => None,
        })
    };
    let indices: Result<Vec<Expr>, _> =
        resolved.items.iter().map(|item| over_axes(&item.index)).collect();
    let indices = indices.map_err(|error| vec![window.fault(&error.into(), &resolved)])?;
    let steps = vec![format!("map \"{}\"", map.value)];
    Ok(ViewDefinition { builder, seeing: ViewKind::Window(indices), labels, steps })
}

/// Expressions of the variables of the first `count` axes: `Var::Axis(0)`, `Var::Axis(1)`, ….
pub(super) fn axis_vars(count: usize) -> Vec<Expr> {
    (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|k| Expr::var(Var::Axis(k))).collect()
}

struct ViewWindow<'a> {
    item: &'a ViewItem,
    map: &'a SpannedText,
    file: &'a Arc<str>,
    seen: ViewBase<'a>,
    axes: &'a [Axis],
    symbols: &'a [Symbol],
}

impl ViewWindow<'_> {
    /// Checks that the map of a window has neither separators nor extents, which the base determines.
    fn is_indices_alone(&self, parsed: &MapText) -> CheckResult<()> {
        let stated = parsed.items.iter().find_map(|item| match item {
            MapItemText::Expr { extent, .. } => extent.as_ref().map(|extent| &extent.span),
            MapItemText::Star(..) => None,
        });
        let (span, what) = match (parsed.separators.first(), stated) {
            (Some((_, bar)), _) => (bar, "separators"),
            (None, Some(extent)) => (extent, "extents"),
            (None, None) => return Ok(()),
        };
        let seen = &self.seen.tensor.name;
        let message = format!("the map of a window cannot have {what}");
        let place = place_in(self.map, span, self.file);
        let error = Diagnostic::error(Code::StepForm, message, place, "");
        Err(vec![error.help(format!("remove it: they are those of `{seen}`"))])
    }

    fn fault(&self, error: &BuildError, map: &IndexMap) -> Diagnostic {
        let name = &self.item.name.value;
        let at = |k: Option<usize>| {
            let span = k.and_then(|k| map.items.get(k)).map(|item| item.span.clone());
            place_in(self.map, &span.unwrap_or(0..self.map.value.len()), self.file)
        };
        match error {
            BuildError::Negative { item, witness, value }
            | BuildError::ExtentTooSmall { item, witness, value, .. } => {
                self.outside(*item, witness, *value, map)
            }
            BuildError::Unbounded { item } => {
                let seen = &self.seen.tensor.name;
                let message =
                    format!("cannot prove that an index of `{name}` stays inside `{seen}`");
                let place = at(Some(*item));
                let error = Diagnostic::error(Code::MapUnproven, message, place, "");
                error.note(self.extent(*item)).help(
                    "declare facts of the symbols (`min`, `max`, `multiple`), or a smaller shape",
                )
            }
            BuildError::WindowRank { given, axes } => {
                let message = format!(
                    "the map has {given} ind{}, and `{}` has {axes} ax{}",
                    if *given == 1 { "ex" } else { "ices" },
                    self.seen.tensor.name,
                    if *axes == 1 { "is" } else { "es" },
                );
                let logical = self.seen.builder.logical();
                let names: Vec<&str> = logical.iter().map(|axis| axis.name.as_str()).collect();
                Diagnostic::error(Code::MapArity, message, at(None), "")
                    .help(format!("write one index for each of {}", names.join(", ")))
            }
            BuildError::Size => size(name, self.axes, self.symbols, at(None)),
            other => self.build_fault(other, &at(item_of(error))),
        }
    }

    fn build_fault(&self, error: &BuildError, place: &FileSpan) -> Diagnostic {
        build_fault(error, &self.item.name.value, self.seen.builder, place)
    }

    /// Text with the extent of the base's axis at position `axis`: ``axis `h` of `qkv` has extent 12``.
    fn extent(&self, axis: usize) -> String {
        let seen: &LayoutBuilder = self.seen.builder;
        let Some(axis) = seen.logical().get(axis) else { return String::new() };
        let extent = text(&axis.extent, seen.logical(), self.symbols);
        let counted = format!("extent {extent}");
        format!("axis `{}` of `{}` has {counted}", axis.name, self.seen.tensor.name)
    }

    fn outside(&self, item: usize, witness: &[i128], value: i128, map: &IndexMap) -> Diagnostic {
        let (name, seen) = (&self.item.name.value, &self.seen.tensor.name);
        let span = map.items.get(item).map_or(0..0, |item| item.span.clone());
        let place = place_in(self.map, &span, self.file);
        let message = format!("an index of `{name}` is out of bounds of `{seen}`");
        let here = index(witness);
        let there =
            map.items.iter().map(|item| item.index.evaluate(&|var| self.value(var, witness)));
        let lands = match there.collect::<Result<Vec<i128>, _>>() {
            Ok(there) => format!("{name}{here} would be {seen}{}", index(&there)),
            Err(_) => format!("{name}{here} would have the index {value}"),
        };
        let extent = self.extent(item);
        Diagnostic::error(Code::MapOutside, message, place, format!("is {value}"))
            .note(format!("{lands}, and {extent}"))
            .help("move the window, or give it a smaller shape")
            .witness(vec![witness.to_vec()])
    }

    /// Value of a variable in a window's map: of an axis, its index in `at`; of a symbol, its least value, but at least
    /// 1. `None` for other variables.
    fn value(&self, var: Var, at: &[i128]) -> Option<i128> {
        match var {
            Var::Storage(k) => at.get(usize::try_from(k).ok()?).copied(),
            Var::Symbol(k) => self.symbols.get(usize::try_from(k).ok()?).map(|s| s.min.max(1)),
            Var::Axis(_) | Var::Physical(_) | Var::Digit(_) => None,
        }
    }
}
