//! The layouts that each tensor of a graph may have: those that are stated of it, those that its writer and its readers
//! ask for, and through operators that take any layout those of their other operands.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::across;
use super::known::Known;
use super::layouts::{Layouts, ROW_MAJOR, is_any, string};
use super::part::{names, part};
use super::resolve::Resolved;
use super::wants::{Alternative, Want};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{GraphTensorItem, Text};
use crate::model::Tensor;
use crate::model::graph::{Candidate, Fit, Role};

/// The most layouts of one tensor.
pub(super) const MAX_LAYOUTS: usize = 12;

/// A layout that is asked of a tensor.
#[derive(Clone)]
pub(super) struct Demand {
    pub(super) text: Text,
    pub(super) place: Place,
    /// Whether the manifest states it of this tensor: then it must be one.
    pub(super) is_stated: bool,
}

/// What the candidates of a graph follow from.
pub(super) struct Asks<'a> {
    /// The alternatives of every node.
    pub(super) wants: &'a [Vec<Alternative>],
    /// The order of every node that is a transposition of layoutc's.
    pub(super) orders: &'a [Option<Vec<usize>>],
    /// What is known of every tensor.
    pub(super) known: &'a [Option<Known>],
}

/// The candidates of every tensor.
///
/// # Errors
/// What is stated of a tensor and is no layout of it, or a tensor without a number of bytes.
pub(super) fn candidates(
    graph: &Resolved<'_>,
    all: &Asks<'_>,
    layouts: &mut Layouts<'_>,
) -> Result<Vec<Vec<Candidate>>, Vec<Diagnostic>> {
    let mut demands = stated(graph);
    asked(graph, all.wants, &mut demands);
    let bound = bound(graph, all.wants);
    orders(graph, &bound, &mut demands);
    spread(graph, &bound, &mut demands);
    let sides = across::sides(graph, all);
    for side in &sides {
        fall_back(graph, side.from, layouts, &mut demands);
    }
    if !sides.is_empty() {
        spread(graph, &bound, &mut demands);
        across::across(graph, &sides, &bound, &mut demands);
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (item, demands) in graph.tensors.iter().zip(demands) {
        match of_tensor(graph, item, demands, layouts) {
            Ok(candidates) => found.push(candidates),
            Err(wrong) => errors.extend(wrong),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

pub(super) fn add(demands: &mut [Vec<Demand>], tensor: usize, demand: Demand) {
    let Some(list) = demands.get_mut(tensor) else { return };
    if !list.iter().any(|known| known.text.value == demand.text.value) {
        list.push(demand);
    }
}

/// What the manifest states of tensors.
fn stated(graph: &Resolved<'_>) -> Vec<Vec<Demand>> {
    let mut demands: Vec<Vec<Demand>> = graph.tensors.iter().map(|_| Vec::new()).collect();
    let demand = |text: &Text| {
        let place = Place::new(graph.file, text.span.clone());
        Demand { text: text.clone(), place, is_stated: true }
    };
    let own = graph.tensors.iter().map(|item| item.layout.as_ref()).enumerate();
    let wanted = graph.outputs.iter().map(|(tensor, item)| (*tensor, item.layout.as_ref()));
    let pinned = graph.pins.iter().map(|(tensor, item)| (*tensor, item.layout.as_ref()));
    for (tensor, text) in own.chain(wanted).chain(pinned) {
        if let Some(text) = text.filter(|text| !is_any(&text.value)) {
            add(&mut demands, tensor, demand(text));
        }
    }
    demands
}

/// Everything that alternatives ask for, with the tensor that they ask it of.
fn asks<'w>(
    graph: &'w Resolved<'_>,
    node: usize,
    alternative: &'w Alternative,
) -> impl Iterator<Item = (usize, &'w Want)> {
    let reads = graph.reads.get(node).into_iter().flatten().copied();
    let writes = graph.writes.get(node).into_iter().flatten().copied();
    let inputs = reads.zip(&alternative.inputs);
    inputs.chain(writes.zip(&alternative.outputs))
}

fn asked(graph: &Resolved<'_>, wants: &[Vec<Alternative>], demands: &mut [Vec<Demand>]) {
    for (node, alternatives) in wants.iter().enumerate() {
        for alternative in alternatives {
            for (tensor, want) in asks(graph, node, alternative) {
                let Want::Text(text, file) = want else { continue };
                let place = Place::new(file, text.span.clone());
                let demand = Demand { text: text.clone(), place, is_stated: false };
                add(demands, tensor, demand);
            }
        }
    }
}

/// How tensors that share a layout are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// All have the same one.
    Whole,
    /// Each has the part for its axes.
    Part,
}

/// The layout that a tensor has where another one has `text`.
fn part_of(graph: &Resolved<'_>, text: &str, from: usize, to: usize) -> Option<String> {
    if from == to {
        return Some(text.to_owned());
    }
    part(text, graph.tensors.get(from)?, graph.tensors.get(to)?)
}

/// Tensors that an alternative asks to be alike.
pub(super) type Bound = (BTreeSet<usize>, Alike);

/// The tensors that alternatives ask to be alike.
fn bound(graph: &Resolved<'_>, wants: &[Vec<Alternative>]) -> Vec<Bound> {
    let of_node = |(node, alternatives): (usize, &Vec<Alternative>)| {
        let alike = |alternative: &Alternative| {
            let one = |ask: (usize, &Want)| match ask.1 {
                Want::Bound => Some((ask.0, Alike::Whole)),
                Want::Part => Some((ask.0, Alike::Part)),
                Want::Text(..) | Want::Free => None,
            };
            let alike: Vec<_> = asks(graph, node, alternative).filter_map(one).collect();
            let how = alike.first().map_or(Alike::Whole, |first| first.1);
            (alike.iter().map(|one| one.0).collect(), how)
        };
        alternatives.iter().map(alike).collect::<Vec<_>>()
    };
    wants.iter().enumerate().flat_map(of_node).collect()
}

/// Tensors that must be alike, and have their axes in other orders, are asked for a layout that says axes by their names.
fn orders(graph: &Resolved<'_>, bound: &[Bound], demands: &mut [Vec<Demand>]) {
    for (tensors, _) in bound.iter().filter(|(_, how)| *how == Alike::Whole) {
        let is_open = |tensor: &&usize| graph.roles.get(**tensor) != Some(&Role::Constant);
        let open = tensors.iter().filter(is_open);
        let items: Vec<Vec<&str>> =
            open.filter_map(|tensor| graph.tensors.get(*tensor)).map(|item| names(item)).collect();
        let Some(first) = items.iter().max_by_key(|names| names.len()) else { continue };
        let is_other = |names: &&Vec<&str>| {
            names.len() == first.len()
                && *names != first
                && names.iter().all(|name| first.contains(name))
        };
        let has_letters = first.iter().all(|name| name.len() == 1);
        if !has_letters || !items.iter().any(|names| is_other(&names)) {
            continue;
        }
        let value = first.concat();
        let span = tensors.iter().find_map(|k| graph.tensors.get(*k)).map(|t| t.name.span.clone());
        let (span, quoted) = (span.unwrap_or_default(), false);
        let place = Place::new(graph.file, span.clone());
        let demand = Demand { text: Text { value, span, quoted }, place, is_stated: false };
        tensors.iter().for_each(|tensor| add(demands, *tensor, demand.clone()));
    }
}

/// What is asked of one of several tensors that must be alike is asked of all, until nothing new is.
pub(super) fn spread(graph: &Resolved<'_>, bound: &[Bound], demands: &mut [Vec<Demand>]) {
    loop {
        let count = |demands: &[Vec<Demand>]| demands.iter().map(Vec::len).sum::<usize>();
        let before = count(demands);
        // Once down and once up again: a chain is done in one round.
        for (tensors, how) in bound.iter().chain(bound.iter().rev()) {
            let mut texts: Vec<(usize, Text, Place)> = Vec::new();
            for tensor in tensors {
                for demand in demands.get(*tensor).into_iter().flatten() {
                    let is_known = |known: &(usize, Text, Place)| {
                        known.1.value == demand.text.value
                            && (*how == Alike::Whole || known.0 == *tensor)
                    };
                    if !texts.iter().any(is_known) {
                        texts.push((*tensor, demand.text.clone(), demand.place.clone()));
                    }
                }
            }
            for tensor in tensors {
                for (from, text, place) in &texts {
                    let text = match how {
                        Alike::Whole => Some(text.value.clone()),
                        Alike::Part => part_of(graph, &text.value, *from, *tensor),
                    }
                    .map(|value| Text { value, ..text.clone() });
                    let Some(text) = text else { continue };
                    let demand = Demand { text, place: place.clone(), is_stated: false };
                    add(demands, *tensor, demand);
                }
            }
        }
        if count(demands) == before {
            return;
        }
    }
}

/// Asks a tensor of which nobody asks a layout for that which it then has.
fn fall_back(
    graph: &Resolved<'_>,
    tensor: usize,
    layouts: &mut Layouts<'_>,
    demands: &mut [Vec<Demand>],
) {
    let is_open = demands.get(tensor).is_some_and(Vec::is_empty);
    let Some(item) = graph.tensors.get(tensor).filter(|_| is_open) else { return };
    if let Ok((demand, _)) = fallback(graph, item, layouts) {
        add(demands, tensor, demand);
    }
}

fn of_tensor(
    graph: &Resolved<'_>,
    item: &GraphTensorItem,
    demands: Vec<Demand>,
    layouts: &mut Layouts<'_>,
) -> Result<Vec<Candidate>, Vec<Diagnostic>> {
    let mut found: Vec<(Demand, Tensor)> = Vec::new();
    for demand in demands {
        let text = here(graph, item, &demand);
        match layouts.tensor(item, &text) {
            Ok(tensor) => found.push((demand, tensor)),
            Err(errors) if demand.is_stated => return Err(errors),
            Err(_) => {}
        }
    }
    if found.is_empty() {
        found.push(fallback(graph, item, layouts)?);
    }
    if found.len() > MAX_LAYOUTS {
        let message = format!("{} layouts are asked of `{}`", found.len(), item.name.value);
        let place = Place::new(graph.file, item.name.span.clone());
        let error = Diagnostic::error(Code::LimitGraph, message, place, "");
        let more = found.len().saturating_sub(MAX_LAYOUTS);
        let help = format!("ask for {more} fewer: leave alternatives of its nodes out");
        return Err(vec![error.note(format!("the most are {MAX_LAYOUTS}")).help(help)]);
    }
    let mut candidates = Vec::new();
    for (demand, tensor) in found {
        candidates.push(Candidate {
            bytes: bytes(graph, item, &tensor)?,
            string: string(&demand.text.value),
            text: demand.text.value,
            place: demand.place,
            tensor,
            is_forbidden: false,
            fits: Vec::new(),
        });
    }
    let fits = |has: &Candidate, layouts: &mut Layouts<'_>| {
        candidates.iter().map(|asked| layouts.fit(item, has, asked)).collect()
    };
    let fits: Vec<Vec<Fit>> = candidates.iter().map(|has| fits(has, layouts)).collect();
    for (candidate, fits) in candidates.iter_mut().zip(fits) {
        candidate.fits = fits;
    }
    Ok(candidates)
}

/// The text with a place in the graph's manifest: its own, or the tensor's name.
fn here(graph: &Resolved<'_>, item: &GraphTensorItem, demand: &Demand) -> Text {
    if Arc::ptr_eq(&demand.place.file, graph.file) {
        return demand.text.clone();
    }
    Text { span: item.name.span.clone(), ..demand.text.clone() }
}

/// The layout of a tensor of which nobody asks one: the backend's default, else row-major.
fn fallback(
    graph: &Resolved<'_>,
    item: &GraphTensorItem,
    layouts: &mut Layouts<'_>,
) -> Result<(Demand, Tensor), Vec<Diagnostic>> {
    let place = Place::new(graph.file, item.name.span.clone());
    let text =
        |value: &str| Text { value: value.to_owned(), span: item.name.span.clone(), quoted: false };
    let default = graph.backend.as_ref().and_then(|def| def.default_layout(item.shape.axes.len()));
    let default = default.filter(|found| !is_any(&found.0.value)).map(|found| text(&found.0.value));
    if let Some(text) = default
        && let Ok(tensor) = layouts.tensor(item, &text)
    {
        return Ok((Demand { text, place, is_stated: false }, tensor));
    }
    let text = text(ROW_MAJOR);
    let tensor = layouts.tensor(item, &text)?;
    Ok((Demand { text, place, is_stated: false }, tensor))
}

fn bytes(
    graph: &Resolved<'_>,
    item: &GraphTensorItem,
    tensor: &Tensor,
) -> Result<u64, Vec<Diagnostic>> {
    let bytes = tensor.counts().bytes.as_const().and_then(|bytes| u64::try_from(bytes).ok());
    bytes.ok_or_else(|| {
        let message = format!("the extents of `{}` are not all numbers", item.name.value);
        let place = Place::new(graph.file, item.shape.span.clone());
        let error = Diagnostic::error(Code::GraphExtent, message, place, "");
        vec![error.help("costs are bytes: write the extents that the graph is run with")]
    })
}
