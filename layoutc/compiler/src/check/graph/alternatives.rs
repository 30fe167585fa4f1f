//! Alternatives of operators: each is a list of the layouts that an operator requires of its operands and results. They
//! are determined before candidate layouts are known.

use std::cell::RefCell;
use std::sync::Arc;

use super::backend::{self, Backend};
use super::condition;
use super::layouts::is_any;
use super::names::{ConditionName, value};
use super::resolve::ResolvedGraph;
use super::tensor_types::GraphTensorType;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::check::expr::place_in;
use crate::check::faults::counted;
use crate::manifest::syntax::{
    AcceptsItem, CostItem, GraphTensorItem, NodeItem, OperatorItem, OperatorRule, SpannedText,
};

/// Layout that an operator requires of an operand or result.
#[derive(Debug, Clone)]
pub(super) enum LayoutRequirement {
    /// Layout with this text, `NHWC`, and the path of the file that contains the text.
    Text(SpannedText, Arc<str>),
    /// Any layout, but the same one for all operands and results with this requirement. Some operands are exempt, for
    /// example constants.
    Same,
    /// Projection, to the tensor's axes, of a layout that all operands and results with this requirement share: `NC16c`
    /// for `NCHW16c` and a tensor without H and W. Some operands are exempt, for example constants.
    Projection,
    /// Any layout, independent of other operands and results.
    Any,
}

/// Alternative of an operator. `inputs` and `outputs` have the layouts that it requires of the operands and of the
/// results, one for each. `cost` is its cost, `None` for 0, and `place` the span of its declaration.
#[derive(Debug, Clone)]
pub(super) struct Alternative {
    /// Index of the alternative in the operator's list, from 0; `None` if a rule such as `elementwise` implies it.
    pub(super) number: Option<usize>,
    pub(super) inputs: Vec<LayoutRequirement>,
    pub(super) outputs: Vec<LayoutRequirement>,
    pub(super) cost: Option<CostItem>,
    pub(super) place: FileSpan,
}

/// Operand or result of a node with its requirement: `tensor` is the position of its tensor in the graph, and `want`
/// the layout that an alternative requires of it.
pub(super) struct OperandSlot<'a> {
    pub(super) tensor: usize,
    pub(super) want: &'a LayoutRequirement,
    pub(super) is_result: bool,
}

impl Alternative {
    /// Operands of the node at position `node`, then its results, each with the layout that this alternative requires.
    pub(super) fn slots<'a>(
        &'a self,
        graph: &'a ResolvedGraph<'_>,
        node: usize,
    ) -> impl Iterator<Item = OperandSlot<'a>> {
        let inputs = graph.operands(node).iter().zip(&self.inputs).map(|slot| (slot, false));
        let outputs = graph.results(node).iter().zip(&self.outputs).map(|slot| (slot, true));
        let all = inputs.chain(outputs);
        all.map(|((tensor, want), is_result)| OperandSlot { tensor: *tensor, want, is_result })
    }
}

#[derive(Debug)]
pub(super) struct OperatorAlternatives {
    pub(super) alternatives: Vec<Alternative>,
    /// Reasons, for notes, why listed alternatives do not apply to the node, such as a `when` that does not hold. One
    /// for each alternative that is not in `alternatives`.
    pub(super) refused: Vec<String>,
    /// Span of the operator's declaration, or of the node's name if the node lists the alternatives.
    pub(super) place: FileSpan,
    /// Layout rule that implies the alternatives; `Accepts` if the node or its operator lists them.
    pub(super) rule: OperatorRule,
    /// Names in the conditions (`when`) of the listed alternatives, for warnings about names that no node has. Empty if
    /// a profile that layoutc ships has the list.
    pub(super) uses: Vec<ConditionName>,
}

/// Node of a graph with the types of its operands and results.
pub(super) struct NodeContext<'a> {
    pub(super) node: &'a NodeItem,
    pub(super) inputs: &'a [&'a GraphTensorItem],
    /// Types of the operands; `None` for an invalid tensor or one with a symbolic extent.
    pub(super) operands: &'a [Option<&'a GraphTensorType>],
    pub(super) results: &'a [Option<&'a GraphTensorType>],
    pub(super) file: &'a Arc<str>,
}

/// Alternatives that apply to a node: those that the node lists, if it lists any, otherwise those of its operator in
/// the backend.
///
/// # Errors
/// An operator that the backend does not have, a node without alternatives in a graph without a backend, or a malformed
/// condition.
pub(super) fn wants(
    site: &NodeContext<'_>,
    backend: Option<&Backend>,
) -> Result<OperatorAlternatives, Diagnostic> {
    let node = site.node;
    if !node.accepts.is_empty() {
        return listed(site, &node.accepts, site.file, &node.name.span);
    }
    let place = node.op.at(site.file);
    let Some(backend) = backend else {
        let message = format!("`{}` does not declare the layouts that it accepts", node.op.value);
        let error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let help = "set a backend (`graph … backend=canonical`), or write `accepts { … }` here";
        return Err(error.help(help));
    };
    let Some((operator, file)) = backend.operator(&node.op.value) else {
        let name = backend.name();
        let message = format!("the backend `{name}` has no operator `{}`", node.op.value);
        let error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let error = error.nearest_or_all(&node.op.value, "operators", backend.operators());
        let help = "or declare the layouts in the node: `accepts { in …; out … }`";
        return Err(error.help(help));
    };
    if operator.rule == OperatorRule::Accepts {
        return listed(site, &operator.accepts, file, &operator.span);
    }
    Ok(by_rule(site, backend, operator, file))
}

/// The one alternative that the layout rule of `operator` gives a node: for `elementwise`, equal layouts of all
/// operands and results that are not exempt. `file` is the path of the manifest that declares `operator`.
fn by_rule(
    site: &NodeContext<'_>,
    backend: &Backend,
    operator: &OperatorItem,
    file: &Arc<str>,
) -> OperatorAlternatives {
    let place = FileSpan::new(file, operator.span.clone());
    let want = |tensor: &GraphTensorItem| match operator.rule {
        OperatorRule::Elementwise => LayoutRequirement::Same,
        OperatorRule::ByLetter => LayoutRequirement::Projection,
        OperatorRule::Accepts | OperatorRule::Any | OperatorRule::Transpose => {
            LayoutRequirement::Any
        }
        OperatorRule::Default => match backend.default_layout(tensor.shape.axes.len()) {
            Some((text, file)) if !is_any(&text.value) => {
                LayoutRequirement::Text(text.clone(), Arc::clone(file))
            }
            _ => LayoutRequirement::Any,
        },
    };
    let inputs = site.inputs.iter().map(|tensor| want(tensor)).collect();
    let outputs = site.node.outputs.iter().map(want).collect();
    let cost = operator.cost.clone();
    let alternative = Alternative { number: None, inputs, outputs, cost, place: place.clone() };
    let (alternatives, rule) = (vec![alternative], operator.rule);
    OperatorAlternatives { alternatives, refused: Vec::new(), place, rule, uses: Vec::new() }
}

/// Alternatives in `items` that apply to the node: they have as many operands and results as the node, and their
/// `when`, if any, holds. `file` is the path of the manifest that contains `items`, and `span` the span in it of their
/// operator or of the node's name. `Err` for a malformed `when`.
fn listed(
    site: &NodeContext<'_>,
    items: &[AcceptsItem],
    file: &Arc<str>,
    span: &std::ops::Range<usize>,
) -> Result<OperatorAlternatives, Diagnostic> {
    let (mut alternatives, mut refused) = (Vec::new(), Vec::new());
    let counts = (site.inputs.len(), site.node.outputs.len());
    // The shipped profiles use properties that a node need not have.
    let uses = RefCell::new(Vec::new());
    let is_own = !backend::is_shipped(file);
    for (k, item) in items.iter().enumerate() {
        if let Some(text) = &item.when {
            let lookup = |query: condition::ConditionQuery<'_>, span: std::ops::Range<usize>| {
                if is_own {
                    let place = place_in(text, &span, file);
                    let written = text.value.get(span).unwrap_or_default();
                    uses.borrow_mut().push(ConditionName::new(site, query, place, written));
                }
                value(site, query)
            };
            let holds = condition::holds(&text.value, &lookup);
            let holds = holds.map_err(|wrong| condition_fault(text, wrong, file))?;
            if !holds {
                refused.push(format!("alternative {k} applies when {}", text.value));
                continue;
            }
        }
        let own = (item.inputs.len(), item.outputs.len());
        if own != counts {
            refused.push(format!(
                "alternative {k} has {} and {}; the node has {} and {}",
                counted(&own.0, "operand"),
                counted(&own.1, "result"),
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
    let (place, uses) = (FileSpan::new(file, span.clone()), uses.into_inner());
    Ok(OperatorAlternatives { alternatives, refused, place, rule: OperatorRule::Accepts, uses })
}

/// Diagnostic of the malformed condition `text` in the manifest `file`; `wrong` is the fault.
fn condition_fault(text: &SpannedText, wrong: condition::WhenError, file: &Arc<str>) -> Diagnostic {
    let place = place_in(text, &wrong.span, file);
    let rest = text.value.get(wrong.span.start..).and_then(|rest| rest.strip_prefix('='));
    let help = match (rest, text.value.get(..wrong.span.start)) {
        (Some(rest), Some(before)) => {
            let other = if rest.trim().is_empty() { "0" } else { rest.trim() };
            format!("compare with `==`: `{} == {other}`", before.trim_end())
        }
        _ => "write a condition like `R <= 3 and stride == 1 and in[1].dtype == 'i8'`".to_owned(),
    };
    Diagnostic::error(Code::GraphCondition, wrong.message, place, "").help(help)
}
