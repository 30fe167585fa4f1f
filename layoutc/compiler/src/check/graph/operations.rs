//! Checks of the shapes and element types of nodes against the rules of their operators.

use super::alternatives::{LayoutRequirement, OperatorAlternatives};
use super::backend;
use super::layouts::string;
use super::resolve::ResolvedGraph;
use super::shapes::{self, OperatorSignature};
use super::tensor_types::GraphTensorType;
use super::transpose;
use super::types;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::manifest::syntax::{NodeItem, OperatorItem, OperatorRule, ShapeRule, TypeRule};

/// Checks the shapes and element types of all nodes. `known` has the type of each tensor, `None` for an invalid tensor
/// or one with a symbolic extent, and `all` the alternatives of each node. Returns one element for each node, by
/// position: the axis order of a transposition that layoutc performs, or `None` for any other node. Axis `k` of the
/// result is axis `order[k]` of the operand.
///
/// # Errors
/// `graph::shape` and `graph::dtype`.
pub(super) fn check(
    graph: &ResolvedGraph<'_>,
    known: &[Option<GraphTensorType>],
    all: &[OperatorAlternatives],
) -> CheckResult<Vec<Option<Vec<usize>>>> {
    let (mut orders, mut errors) = (Vec::new(), Vec::new());
    for (k, (node, wants)) in graph.nodes.iter().zip(all).enumerate() {
        let tensors = |side: &[usize]| -> Option<Vec<&GraphTensorType>> {
            side.iter().map(|tensor| known.get(*tensor)?.as_ref()).collect()
        };
        let sides = tensors(graph.operands(k)).zip(tensors(graph.results(k)));
        // Faults of a tensor itself are reported elsewhere.
        let Some((operands, results)) = sides else {
            orders.push(None);
            continue;
        };
        let operator = graph.backend.as_ref().and_then(|def| def.operator(&node.op.value));
        let is_shipped = operator.as_ref().is_some_and(|(_, file)| backend::is_shipped(file));
        let operator = operator.map(|(operator, _)| operator);
        let checked = NodeTypes { graph, node, wants, operator, is_shipped, operands, results };
        if let Some(operator) = operator {
            errors.extend(checked.dtypes(operator));
        }
        match checked.shapes() {
            Ok(order) => orders.push(order),
            Err(error) => {
                errors.push(error);
                orders.push(None);
            }
        }
    }
    if errors.is_empty() { Ok(orders) } else { Err(errors) }
}

/// Node of a graph with its operator, its alternatives and the types of its tensors.
struct NodeTypes<'a> {
    graph: &'a ResolvedGraph<'a>,
    node: &'a NodeItem,
    wants: &'a OperatorAlternatives,
    operator: Option<&'a OperatorItem>,
    /// True if a profile that layoutc ships declares the operator.
    is_shipped: bool,
    operands: Vec<&'a GraphTensorType>,
    results: Vec<&'a GraphTensorType>,
}

impl NodeTypes<'_> {
    /// Checks the shapes of the node. Returns the axis order of a transposition that layoutc performs; `None` for other
    /// nodes.
    fn shapes(&self) -> Result<Option<Vec<usize>>, Diagnostic> {
        let Some(operator) = self.operator else { return Ok(None) };
        if operator.rule == OperatorRule::Transpose {
            let order = self.order().map_err(|why| self.shape_fault(&why))?;
            return Ok(Some(order).filter(|_| self.wants.rule == OperatorRule::Transpose));
        }
        let rule = operator.shapes.unwrap_or(match operator.rule {
            OperatorRule::Elementwise => ShapeRule::Broadcast,
            _ => ShapeRule::Any,
        });
        let seen = self.in_operator_order();
        let (operands, results) = seen.split_at(self.operands.len().min(seen.len()));
        let operation = OperatorSignature {
            operands: operands.iter().collect(),
            results: results.iter().collect(),
            properties: self.node.properties.iter().map(|(k, v)| (k.value.as_str(), v)).collect(),
        };
        match shapes::clash(rule, &operation) {
            Some(why) => Err(self.shape_fault(&why)),
            None => Ok(None),
        }
    }

    fn order(&self) -> Result<Vec<usize>, String> {
        let ([from], [to]) = (self.operands.as_slice(), self.results.as_slice()) else {
            let (reads, gives) = (self.operands.len(), self.results.len());
            return Err(format!(
                "a transposition has one operand and one result, not {reads} and {gives}"
            ));
        };
        transpose::order(self.node, from, to)
    }

    /// Types of the operands, then of the results. If the node has a single alternative, the axes of each are in the
    /// order of the letters of the Glow layout that it requires, such as `NHWC`. Otherwise, and for any other layout,
    /// they keep their order.
    fn in_operator_order(&self) -> Vec<GraphTensorType> {
        let all = self.operands.iter().chain(&self.results);
        let wants: Vec<Option<&LayoutRequirement>> = match self.wants.alternatives.as_slice() {
            [only] => only.inputs.iter().chain(&only.outputs).map(Some).collect(),
            _ => Vec::new(),
        };
        let want = |k: usize| wants.get(k).copied().flatten();
        all.enumerate().map(|(k, tensor)| ordered(tensor, want(k))).collect()
    }

    fn fault(&self, code: Code, message: String, help: &str) -> Diagnostic {
        Diagnostic::error(code, message, self.node.name.at(self.graph.file), "")
            .with_label(self.wants.place.clone(), "operator declared here")
            .help(help)
    }

    fn shape_fault(&self, why: &str) -> Diagnostic {
        let NodeItem { name, op, .. } = self.node;
        let message = format!("incompatible shapes in `{}` ({}): {why}", name.value, op.value);
        let rule = self.operator.map(|operator| self.relaxed(operator.rule, "shapes=any"));
        let rule = rule.unwrap_or_default();
        let help = format!("correct the shape of one of them{rule}");
        self.fault(Code::GraphShape, message, &help)
    }

    /// End of a help text that says how to relax a check: declare the operator with `property`, such as `shapes=any`.
    /// The text is ", or add `shapes=any` to `op relu`" for an operator `relu` that no shipped profile declares. `rule`
    /// is the layout rule of the operator. Empty for a transposition.
    fn relaxed(&self, rule: OperatorRule, property: &str) -> String {
        let op = &self.node.op.value;
        // A transposition has no other rule.
        if rule == OperatorRule::Transpose {
            return String::new();
        }
        if !self.is_shipped {
            return format!(", or add `{property}` to `op {op}`");
        }
        let base = self.graph.backend.as_ref().map_or("canonical", |backend| backend.name());
        let rule = match rule {
            OperatorRule::Elementwise => " elementwise=#true",
            OperatorRule::ByLetter => " by-letter=#true",
            OperatorRule::Any => " any=#true",
            OperatorRule::Default => " default=#true",
            OperatorRule::Transpose | OperatorRule::Accepts => {
                return format!(
                    ", or declare the operator with its alternatives and `{property}` in a `backend NAME like={base}`"
                );
            }
        };
        format!(
            ", or declare `backend NAME like={base} {{ op {op}{rule} {property} }}` and write `backend=NAME` on the graph"
        )
    }

    fn dtypes(&self, operator: &OperatorItem) -> Option<Diagnostic> {
        let rule = operator.types.unwrap_or(match operator.rule {
            OperatorRule::Elementwise => TypeRule::One,
            OperatorRule::Transpose => TypeRule::First,
            _ => TypeRule::Any,
        });
        let [first, other] = types::clash(rule, &self.operands, &self.results)?;
        let described = |(tensor, is_read): (&GraphTensorType, bool)| {
            let verb = if is_read { "reads" } else { "writes" };
            format!("{verb} `{}` as {}", tensor.name, tensor.dtype)
        };
        let NodeItem { name, op, .. } = self.node;
        let (one, two) = (described(first), described(other));
        let message = format!("`{}` ({}) {one} and {two}", name.value, op.value);
        let rule = self.relaxed(operator.rule, "types=any");
        let help = format!("write `dtype={}` for `{}`{rule}", first.0.dtype, other.0.name);
        Some(self.fault(Code::GraphDtype, message, &help))
    }
}

/// Type of a tensor with its axes in the order of the letters of the required layout `want`, a Glow layout such as
/// `NHWC`. Unchanged for any other layout, and if there is not exactly one letter for each axis.
fn ordered(tensor: &GraphTensorType, want: Option<&LayoutRequirement>) -> GraphTensorType {
    let Some(LayoutRequirement::Text(text, _)) = want else { return tensor.clone() };
    let Some(letters) = string(&text.value) else { return tensor.clone() };
    let axis = |dim: &layoutc_algebra::notation::glow::GlowAxis| {
        let is_it = |name: &str| name.eq_ignore_ascii_case(&dim.letter().to_string());
        tensor.axes.iter().find(|axis| is_it(&axis.name)).cloned()
    };
    match letters.dims().iter().map(axis).collect::<Option<Vec<_>>>() {
        Some(axes) if axes.len() == tensor.axes.len() => GraphTensorType { axes, ..tensor.clone() },
        _ => tensor.clone(),
    }
}
