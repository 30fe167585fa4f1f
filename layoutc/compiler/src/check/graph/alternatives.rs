//! What an operator asks of its operands and results, before it is known which layouts they may have.

use std::cell::RefCell;
use std::sync::Arc;

use super::backend::{self, Backend};
use super::condition;
use super::layouts::is_any;
use super::names::{ConditionName, value};
use super::tensor_types::GraphTensorType;
use crate::check::scope::nearest_or_all;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{
    AcceptsItem, CostItem, GraphTensorItem, NodeItem, OperatorItem, OperatorRule, SpannedText,
};

/// A layout that is asked for.
#[derive(Debug, Clone)]
pub(super) enum LayoutRequirement {
    /// The one that a text says, and the manifest that it stands in.
    Text(SpannedText, Arc<str>),
    /// Any, but the same one as everything else that is asked for so.
    Same,
    /// Any, but the part for the tensor's axes of the one that everything else asked for so has.
    Projection,
    /// Any.
    Any,
}

/// One alternative: what it asks for, and what it costs.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    /// Its position in the manifest; `None` for a rule.
    pub(super) number: Option<usize>,
    pub(super) inputs: Vec<LayoutRequirement>,
    pub(super) outputs: Vec<LayoutRequirement>,
    pub(super) cost: Option<CostItem>,
    pub(super) place: FileSpan,
}

/// An operator's alternatives.
#[derive(Debug)]
pub(super) struct OperatorAlternatives {
    pub(super) alternatives: Vec<Alternative>,
    /// Why others are not there.
    pub(super) refused: Vec<String>,
    /// Where they are declared.
    pub(super) place: FileSpan,
    /// Whether it sees elements alone: `elementwise=#true`.
    pub(super) is_elementwise: bool,
    /// Whether all that it reads and writes has one layout, whichever, or a part of it.
    pub(super) shares_layout: bool,
    /// Whether it is a transposition that no operator of the caller's does.
    pub(super) is_transpose: bool,
    /// The names in its conditions.
    pub(super) uses: Vec<ConditionName>,
}

/// A node with the tensors that it reads and writes.
pub(super) struct NodeContext<'a> {
    pub(super) node: &'a NodeItem,
    pub(super) inputs: &'a [&'a GraphTensorItem],
    /// What is known of its operands, and of its results.
    pub(super) operands: &'a [Option<&'a GraphTensorType>],
    pub(super) results: &'a [Option<&'a GraphTensorType>],
    pub(super) file: &'a Arc<str>,
}

/// The alternatives that a node has.
///
/// # Errors
/// Its operator is none of the backend's, or a condition is not well-formed.
pub(super) fn wants(
    site: &NodeContext<'_>,
    backend: Option<&Backend>,
) -> Result<OperatorAlternatives, Box<Diagnostic>> {
    let node = site.node;
    if !node.accepts.is_empty() {
        return listed(site, &node.accepts, site.file, &node.name.span);
    }
    let place = FileSpan::new(site.file, node.op.span.clone());
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
        error.add_help("a node may say what it accepts itself: `accepts { in …; out … }`");
        return Err(Box::new(error));
    };
    if operator.rule == OperatorRule::Accepts {
        return listed(site, &operator.accepts, file, &operator.span);
    }
    Ok(by_rule(site, backend, operator, file))
}

/// The one alternative of an operator that takes layouts by a rule.
fn by_rule(
    site: &NodeContext<'_>,
    backend: &Backend,
    operator: &OperatorItem,
    file: &Arc<str>,
) -> OperatorAlternatives {
    let place = FileSpan::new(file, operator.span.clone());
    let default = |tensor: &&GraphTensorItem| match backend.default_layout(tensor.shape.axes.len())
    {
        Some((text, file)) if !is_any(&text.value) => {
            LayoutRequirement::Text(text.clone(), Arc::clone(file))
        }
        _ => LayoutRequirement::Any,
    };
    let outputs: Vec<&GraphTensorItem> = site.node.outputs.iter().collect();
    let all = |want: LayoutRequirement| {
        (vec![want.clone(); site.inputs.len()], vec![want; outputs.len()])
    };
    let (inputs, outputs) = match operator.rule {
        OperatorRule::Elementwise => all(LayoutRequirement::Same),
        OperatorRule::ByLetter => all(LayoutRequirement::Projection),
        OperatorRule::Accepts | OperatorRule::Any | OperatorRule::Transpose => {
            all(LayoutRequirement::Any)
        }
        OperatorRule::Default => {
            (site.inputs.iter().map(default).collect(), outputs.iter().map(default).collect())
        }
    };
    let is_elementwise = operator.rule == OperatorRule::Elementwise;
    let cost = operator.cost.clone();
    let alternative = Alternative { number: None, inputs, outputs, cost, place: place.clone() };
    OperatorAlternatives {
        alternatives: vec![alternative],
        refused: Vec::new(),
        place,
        is_elementwise,
        shares_layout: is_elementwise || operator.rule == OperatorRule::ByLetter,
        is_transpose: operator.rule == OperatorRule::Transpose,
        uses: Vec::new(),
    }
}

/// The alternatives that are there: their conditions hold, and they are for so many operands and results.
fn listed(
    site: &NodeContext<'_>,
    items: &[AcceptsItem],
    file: &Arc<str>,
    span: &std::ops::Range<usize>,
) -> Result<OperatorAlternatives, Box<Diagnostic>> {
    let (mut alternatives, mut refused) = (Vec::new(), Vec::new());
    let counts = (site.inputs.len(), site.node.outputs.len());
    // What layoutc brings along asks for properties that a node need not have.
    let uses = RefCell::new(Vec::new());
    let is_own = !backend::is_shipped(file);
    for (k, item) in items.iter().enumerate() {
        if let Some(text) = &item.when {
            let lookup = |asked: condition::ConditionQuery<'_>, span: std::ops::Range<usize>| {
                if is_own {
                    let span = text.span.start + span.start..text.span.start + span.end;
                    uses.borrow_mut().push(ConditionName::new(
                        site,
                        asked,
                        FileSpan::new(file, span),
                    ));
                }
                value(site, asked)
            };
            let holds = condition::holds(&text.value, &lookup);
            let holds = holds.map_err(|wrong| condition_fault(text, wrong, file))?;
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
        let want = |text: &SpannedText| {
            if is_any(&text.value) {
                return LayoutRequirement::Same;
            }
            LayoutRequirement::Text(text.clone(), Arc::clone(file))
        };
        alternatives.push(Alternative {
            number: Some(k),
            inputs: item.inputs.iter().map(want).collect(),
            outputs: item.outputs.iter().map(want).collect(),
            cost: item.cost.clone(),
            place: FileSpan::new(file, item.span.clone()),
        });
    }
    let place = FileSpan::new(file, span.clone());
    let uses = uses.into_inner();
    Ok(OperatorAlternatives {
        alternatives,
        refused,
        place,
        is_elementwise: false,
        shares_layout: false,
        is_transpose: false,
        uses,
    })
}

/// What is wrong with a condition, at its place.
fn condition_fault(
    text: &SpannedText,
    wrong: condition::WhenError,
    file: &Arc<str>,
) -> Box<Diagnostic> {
    let span = text.span.start + wrong.span.start..text.span.start + wrong.span.end;
    let place = FileSpan::new(file, span);
    let is_equals = text.value.get(wrong.span).is_some_and(|rest| rest.starts_with('='));
    let help = if is_equals {
        "compare by `==`: `C % 16 == 0`"
    } else {
        "a condition is written `R <= 3 and stride == 1 and in[1].dtype == 'i8'`"
    };
    Box::new(Diagnostic::error(Code::GraphCondition, wrong.message, place, "").help(help))
}

/// `1 operand`, `2 operands`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
