//! What an operator asks of its operands and results, before it is known which layouts they may have.

use std::sync::Arc;

use super::backend::Backend;
use super::layouts::is_any;
use super::when::{self, Value};
use crate::check::scope::nearest_or_all;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{
    AcceptsItem, Bound, CostItem, Extent, GraphTensorItem, NodeItem, OperatorRule, PropertyItem,
    Text,
};

/// A layout that is asked for.
#[derive(Debug, Clone)]
pub(super) enum Want {
    /// The one that a text says, and the manifest that it stands in.
    Text(Text, Arc<str>),
    /// Any, but the same one as everything else that is asked for so.
    Bound,
    /// Any, but the part for the tensor's axes of the one that everything else asked for so has.
    Part,
    /// Any.
    Free,
}

/// One alternative: what it asks for, and what it costs.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    /// Its position in the manifest; `None` for a rule.
    pub(super) number: Option<usize>,
    pub(super) inputs: Vec<Want>,
    pub(super) outputs: Vec<Want>,
    pub(super) cost: Option<CostItem>,
    pub(super) place: Place,
}

/// An operator's alternatives.
#[derive(Debug)]
pub(super) struct Wants {
    pub(super) alternatives: Vec<Alternative>,
    /// Why others are not there.
    pub(super) refused: Vec<String>,
    /// Where they are declared.
    pub(super) place: Place,
    /// Whether it sees elements alone: `elementwise=#true`.
    pub(super) is_elementwise: bool,
    /// Whether all that it reads and writes has one layout, whichever, or a part of it.
    pub(super) shares_layout: bool,
}

/// A node with the tensors that it reads and writes.
pub(super) struct Site<'a> {
    pub(super) node: &'a NodeItem,
    pub(super) inputs: &'a [&'a GraphTensorItem],
    pub(super) file: &'a Arc<str>,
}

/// The alternatives that a node has.
///
/// # Errors
/// Its operator is none of the backend's, or a condition is not well-formed.
pub(super) fn wants(site: &Site<'_>, backend: Option<&Backend>) -> Result<Wants, Box<Diagnostic>> {
    let node = site.node;
    if !node.accepts.is_empty() {
        return listed(site, &node.accepts, site.file, &node.name.span);
    }
    let place = Place::new(site.file, node.op.span.clone());
    let Some(backend) = backend else {
        let message = format!("nothing says what layouts `{}` accepts", node.op.value);
        let error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let help = "name a backend (`graph … backend=canonical`), or write `accepts { … }` here";
        return Err(Box::new(error.help(help)));
    };
    let Some((operator, file)) = backend.operator(&node.op.value) else {
        let name = backend.name();
        let message = format!("the backend `{name}` has no operator `{}`", node.op.value);
        let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let known: Vec<&str> = backend.operators().collect();
        nearest_or_all(&mut error, &node.op.value, "operators", &known);
        error.helped("a node may say what it accepts itself: `accepts { in …; out … }`");
        return Err(Box::new(error));
    };
    let place = Place::new(file, operator.span.clone());
    let default = |tensor: &&GraphTensorItem| match backend.default_layout(tensor.shape.axes.len())
    {
        Some((text, file)) if !is_any(&text.value) => Want::Text(text.clone(), Arc::clone(file)),
        _ => Want::Free,
    };
    let outputs: Vec<&GraphTensorItem> = node.outputs.iter().collect();
    let all = |want: Want| (vec![want.clone(); site.inputs.len()], vec![want; outputs.len()]);
    let (inputs, outputs) = match operator.rule {
        OperatorRule::Accepts => {
            return listed(site, &operator.accepts, file, &operator.span);
        }
        OperatorRule::Elementwise => all(Want::Bound),
        OperatorRule::ByLetter => all(Want::Part),
        OperatorRule::Any => all(Want::Free),
        OperatorRule::Default => {
            (site.inputs.iter().map(default).collect(), outputs.iter().map(default).collect())
        }
    };
    let is_elementwise = operator.rule == OperatorRule::Elementwise;
    let shares_layout = is_elementwise || operator.rule == OperatorRule::ByLetter;
    let cost = operator.cost.clone();
    let alternative = Alternative { number: None, inputs, outputs, cost, place: place.clone() };
    let alternatives = vec![alternative];
    Ok(Wants { alternatives, refused: Vec::new(), place, is_elementwise, shares_layout })
}

/// The alternatives that are there: their conditions hold, and they are for so many operands and results.
fn listed(
    site: &Site<'_>,
    items: &[AcceptsItem],
    file: &Arc<str>,
    span: &std::ops::Range<usize>,
) -> Result<Wants, Box<Diagnostic>> {
    let (mut alternatives, mut refused) = (Vec::new(), Vec::new());
    let counts = (site.inputs.len(), site.node.outputs.len());
    for (k, item) in items.iter().enumerate() {
        if let Some(text) = &item.when {
            let holds = when::holds(&text.value, &|name| lookup(site, name));
            let holds = holds.map_err(|wrong| {
                let span = text.span.start + wrong.span.start..text.span.start + wrong.span.end;
                let place = Place::new(file, span);
                let is_equals =
                    text.value.get(wrong.span).is_some_and(|rest| rest.starts_with('='));
                let help = if is_equals {
                    "compare by `==`: `C % 16 == 0`"
                } else {
                    "a condition is written `R <= 3 and stride == 1 and padding == 'same'`"
                };
                let error = Diagnostic::error(Code::GraphCondition, wrong.message, place, "");
                Box::new(error.help(help))
            })?;
            if !holds {
                refused.push(format!("alternative {k} is there when {}", text.value));
                continue;
            }
        }
        let own = (item.inputs.len(), item.outputs.len());
        if own != counts {
            refused.push(format!(
                "alternative {k} has {} and {}; the node has {} and {}",
                counted(own.0, "operand"),
                counted(own.1, "result"),
                counts.0,
                counts.1
            ));
            continue;
        }
        let want = |text: &Text| {
            if is_any(&text.value) {
                return Want::Bound;
            }
            Want::Text(text.clone(), Arc::clone(file))
        };
        alternatives.push(Alternative {
            number: Some(k),
            inputs: item.inputs.iter().map(want).collect(),
            outputs: item.outputs.iter().map(want).collect(),
            cost: item.cost.clone(),
            place: Place::new(file, item.span.clone()),
        });
    }
    let place = Place::new(file, span.clone());
    let (is_elementwise, shares_layout) = (false, false);
    Ok(Wants { alternatives, refused, place, is_elementwise, shares_layout })
}

/// `1 operand`, `2 operands`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What a name of a condition is: a property of the node, else the extent of the first operand, then of the first
/// result, that has such an axis.
fn lookup(site: &Site<'_>, name: &str) -> Option<Value> {
    let own = site.node.properties.iter().find(|(key, _)| key.value == name);
    if let Some((_, value)) = own {
        return Some(match value {
            PropertyItem::Integer(value) => Value::Integer(*value),
            PropertyItem::Real(value) => Value::Real(value.get()),
            PropertyItem::Word(word) => Value::Word(word.clone()),
        });
    }
    let tensors = site.inputs.iter().copied().chain(&site.node.outputs);
    let axes = tensors.flat_map(|tensor| &tensor.shape.axes);
    axes.filter(|axis| axis.name.value == name).find_map(|axis| match &axis.extent {
        Extent::Bound(Bound::Integer(number)) => Some(Value::Integer(number.value)),
        Extent::Labels(labels) => i128::try_from(labels.len()).ok().map(Value::Integer),
        Extent::Bound(Bound::Text(_)) | Extent::Fields => None,
    })
}
