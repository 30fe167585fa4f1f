//! Resolution of the names in conditions for a node, and warnings for unknown names.

use std::collections::BTreeMap;

use super::alternatives::NodeContext;
use super::condition::{ConditionQuery, ConditionTensor, ConditionValue, TensorAttribute};
use super::tensor_types::GraphTensorType;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::PropertyItem;

/// Name or attribute in a condition, resolved for one node. `place` is its location. The values of all nodes for one
/// location are merged, to warn about a name that none of them has.
#[derive(Debug, Clone)]
pub(super) struct ConditionName {
    place: FileSpan,
    /// Span of the text `in[1]` that names the queried tensor; span of the name if the query is about the node.
    tensor_place: FileSpan,
    /// Number of the node's operands for a query of an operand, of its results for a query of a result; 0 if the query
    /// is about the node.
    count: usize,
    /// Name of the operator of the node.
    op: String,
    /// Text of the queried tensor, `in[1]`; `None` if the query is about the node.
    tensor: Option<String>,
    name: String,
    /// True if `known` contains the name.
    is_known: bool,
    /// Names that the query could have used: the properties and axes of the node, or the attributes of the queried
    /// tensor. Empty if the node has no such tensor, or its type is not known.
    known: Vec<String>,
}

impl ConditionName {
    /// Resolves the query `query` for the node of `site`. `place` is the span of the query's text `text`, such as
    /// `in[1].C`.
    pub(super) fn new(
        site: &NodeContext<'_>,
        query: ConditionQuery<'_>,
        mut place: FileSpan,
        text: &str,
    ) -> Self {
        let op = site.node.op.value.clone();
        let tensor_place = FileSpan {
            end: place.start + text.find(']').map_or(text.len(), |at| at + 1),
            ..place.clone()
        };
        let mut count = 0;
        let (tensor, name, known) = match query {
            ConditionQuery::Name(name) => (None, name.to_owned(), own_names(site)),
            ConditionQuery::Of(which, part) => {
                let (word, k, all) = match which {
                    ConditionTensor::Operand(k) => ("in", k, site.operands.len()),
                    ConditionTensor::Result(k) => ("out", k, site.results.len()),
                };
                count = all;
                let known = tensor_names(of(site, which), part);
                let name = match part {
                    TensorAttribute::Name(name) => {
                        place.start = place.end.saturating_sub(name.len());
                        name.to_owned()
                    }
                    TensorAttribute::At(position) => {
                        place.start = tensor_place.end;
                        position.to_string()
                    }
                };
                (Some(format!("{word}[{k}]")), name, known)
            }
        };
        let is_known = known.contains(&name);
        Self { place, tensor_place, count, op, tensor, name, is_known, known }
    }
}

/// Names of the properties of a node, and of the axes of its operands and results, with duplicates.
fn own_names(site: &NodeContext<'_>) -> Vec<String> {
    let properties = site.node.properties.iter().map(|(key, _)| key.value.clone());
    let axes = site.inputs.iter().copied().chain(&site.node.outputs);
    let axes = axes.flat_map(|tensor| &tensor.shape.axes).map(|axis| axis.name.value.clone());
    properties.chain(axes).collect()
}

/// Names that a query of a tensor may use. If `part` is a position, they are the positions `0`, `1`, … of the axes; if
/// `part` is a name, they are the axes, `rank` and `dtype`. Empty if `tensor` is `None`.
fn tensor_names(tensor: Option<&GraphTensorType>, part: TensorAttribute<'_>) -> Vec<String> {
    let Some(tensor) = tensor else { return Vec::new() };
    match part {
        TensorAttribute::At(_) => (0..tensor.axes.len()).map(|k| k.to_string()).collect(),
        TensorAttribute::Name(_) => {
            let axes = tensor.axes.iter().map(|axis| axis.name.clone());
            axes.chain(["rank", "dtype"].map(str::to_owned)).collect()
        }
    }
}

fn of<'a>(site: &NodeContext<'a>, which: ConditionTensor) -> Option<&'a GraphTensorType> {
    match which {
        ConditionTensor::Operand(k) => site.operands.get(k).copied().flatten(),
        ConditionTensor::Result(k) => site.results.get(k).copied().flatten(),
    }
}

/// Value of a query for a node; `None` if there is no such property, axis or attribute, or if the type of the tensor is
/// not known. A name is looked up among the properties of the node first, then among the axes of the operands and of
/// the results, in order.
pub(super) fn value(site: &NodeContext<'_>, query: ConditionQuery<'_>) -> Option<ConditionValue> {
    match query {
        ConditionQuery::Name(name) => {
            let own = site.node.properties.iter().find(|(key, _)| key.value == name);
            if let Some((_, value)) = own {
                return Some(match value {
                    PropertyItem::Integer(value) => ConditionValue::Integer(*value),
                    PropertyItem::Real(value) => ConditionValue::Real(value.get()),
                    PropertyItem::Word(word) => ConditionValue::Word(word.clone()),
                });
            }
            let mut tensors = site.operands.iter().chain(site.results).copied().flatten();
            tensors.find_map(|tensor| tensor.named(name)).map(ConditionValue::Integer)
        }
        ConditionQuery::Of(which, part) => {
            let tensor = of(site, which)?;
            let number = match part {
                TensorAttribute::At(position) => tensor.extent(position),
                TensorAttribute::Name(name) => tensor.named(name),
            };
            number.map(ConditionValue::Integer).or_else(|| match part {
                TensorAttribute::Name("rank") => {
                    i128::try_from(tensor.axes.len()).ok().map(ConditionValue::Integer)
                }
                TensorAttribute::Name("dtype") => {
                    Some(ConditionValue::Word(tensor.dtype.to_string()))
                }
                _ => None,
            })
        }
    }
}

/// Warnings for names in conditions that none of the nodes for which the condition was evaluated has, one for each
/// location.
pub(super) fn unknown(uses: Vec<ConditionName>) -> Vec<Diagnostic> {
    let mut places: BTreeMap<FileSpan, ConditionName> = BTreeMap::new();
    for found in uses {
        match places.get_mut(&found.place) {
            Some(known) => {
                known.is_known |= found.is_known;
                known.count = known.count.max(found.count);
                known.known.extend(found.known);
            }
            None => {
                places.insert(found.place.clone(), found);
            }
        }
    }
    places.into_values().filter(|found| !found.is_known).map(warning).collect()
}

fn warning(found: ConditionName) -> Diagnostic {
    let ConditionName { place, tensor_place, count, op, tensor, name, mut known, .. } = found;
    known.sort();
    known.dedup();
    let message = match &tensor {
        None => format!("no `{op}` of the manifest has a property or an axis `{name}`"),
        Some(tensor) if known.is_empty() => format!("no `{op}` of the manifest has `{tensor}`"),
        Some(tensor) => format!("no `{op}` of the manifest has an axis `{name}` in `{tensor}`"),
    };
    let place = if known.is_empty() { tensor_place } else { place };
    let warning = Diagnostic::warning(Code::NameUnknown, message, place, "");
    let warning = warning
        .note("a missing name compares unequal to every value, and neither less nor greater");
    let what = if tensor.is_some() { "names" } else { "properties and axes" };
    if known.is_empty() {
        let word = tensor.as_deref().and_then(|tensor| tensor.split('[').next()).unwrap_or("in");
        return warning.help(match count {
            0 => "remove the comparison".to_owned(),
            1 => format!("write `{word}[0]`, the only one"),
            _ => format!("write one of `{word}[0]` to `{word}[{}]`", count - 1),
        });
    }
    warning.nearest_or_all(&name, what, known.iter().map(String::as_str))
}
