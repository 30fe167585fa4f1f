//! Verification of graphs that declare their layouts: every tensor must have the layout that its readers require.
//!
//! The solver, without conversions, decides if a consistent assignment exists for the undeclared layouts. If there is
//! none, a walk over the operators in topological order finds the errors.

use layoutc_algebra::notation::glow::{AxisPermutation, Satisfaction, UnmetRequirement};

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::model::graph::{
    Compatibility, Graph, GraphNode, GraphTensor, LayoutCandidate, OperatorChoice, TensorRole,
};
use crate::solve::{Consistency, bytes_moved, consistency};

/// Errors of a graph whose layouts are fixed (`is_fixed`); empty for any other graph.
pub(super) fn verify(graph: &Graph) -> Vec<Diagnostic> {
    if !graph.is_fixed {
        return Vec::new();
    }
    let is_disproven = match consistency(graph) {
        Consistency::Consistent => return Vec::new(),
        Consistency::Inconsistent => true,
        Consistency::Unknown => false,
    };
    let mut walk = GraphVerifier { graph, layouts: Vec::new(), found: Vec::new() };
    walk.layouts = graph.tensors.iter().map(|tensor| tensor.declared).collect();
    for k in 0..graph.nodes.len() {
        walk.node(k);
    }
    for wanted in &graph.outputs {
        let own = walk.layouts.get(wanted.tensor).copied().flatten();
        let (Some(tensor), Some(own), Some(required)) =
            (graph.tensors.get(wanted.tensor), own, wanted.candidate)
        else {
            continue;
        };
        if tensor.compatibility(own, required) != Compatibility::Satisfied {
            let (has, asks) = (tensor.text(own), tensor.text(required));
            let message =
                format!("`{}` has layout {has}, but the output requires {asks}", tensor.name);
            let error =
                Diagnostic::error(Code::GraphUnsatisfied, message, wanted.place.clone(), "");
            walk.found.push(with_fix(error, tensor, own, required));
        }
    }
    if walk.found.is_empty() && is_disproven {
        let message =
            format!("no assignment of one layout per tensor fits all nodes of `{}`", graph.name);
        let error = Diagnostic::error(Code::GraphUnsatisfied, message, graph.place.clone(), "");
        let help = "add an alternative to a node that accepts a layout of its neighbors";
        walk.found.push(error.help(help));
    }
    walk.found
}

/// Walk over the nodes of a graph, with the layouts known so far and the errors found.
struct GraphVerifier<'g> {
    graph: &'g Graph,
    /// Position, among the candidates of each tensor, of the layout that the tensor has, by the tensor's position;
    /// `None` if it is not known yet.
    layouts: Vec<Option<usize>>,
    found: Vec<Diagnostic>,
}

impl GraphVerifier<'_> {
    fn layout(&self, tensor: usize) -> Option<usize> {
        self.layouts.get(tensor).copied().flatten()
    }

    /// Selects the choice of the node at `position` with the fewest errors, adds these to `self.found`, and sets the
    /// layouts of the node's tensors whose layout is not known yet to those of the choice.
    fn node(&mut self, position: usize) {
        let graph = self.graph;
        let Some(node) = graph.nodes.get(position) else { return };
        let wrong = |choice: &&OperatorChoice| self.wrong(node, choice).len();
        let Some(choice) = node.choices.iter().min_by_key(wrong) else { return };
        for (tensor, own, required, is_read) in self.wrong(node, choice) {
            let error = self.fault(node, choice, (tensor, own, required), is_read);
            self.found.push(error);
        }
        let requests = node.inputs.iter().copied().zip(choice.inputs.iter().copied());
        let given = node.outputs.iter().copied().zip(choice.outputs.iter().copied().map(Some));
        for (tensor, layout) in requests.chain(given) {
            if let Some(slot) = self.layouts.get_mut(tensor) {
                *slot = slot.or(layout);
            }
        }
    }

    /// Tensors of `node` whose known layouts do not satisfy `choice`, as (position of the tensor, candidate that an
    /// operand has or the node gives to a result, candidate that is required, true for an operand).
    fn wrong(&self, node: &GraphNode, choice: &OperatorChoice) -> Vec<(usize, usize, usize, bool)> {
        let tensor = |k: usize| self.graph.tensors.get(k);
        let reads = node.inputs.iter().zip(&choice.inputs).filter_map(|(k, required)| {
            let (own, required) = (self.layout(*k)?, (*required)?);
            let tensor = tensor(*k)?;
            let is_wrong = !tensor.is_unconstrained()
                && tensor.compatibility(own, required) != Compatibility::Satisfied;
            is_wrong.then_some((*k, own, required, true))
        });
        let writes = node.outputs.iter().zip(&choice.outputs).filter_map(|(k, given)| {
            let own = self.layout(*k)?;
            let is_wrong = tensor(*k)?.compatibility(*given, own) != Compatibility::Satisfied;
            is_wrong.then_some((*k, *given, own, false))
        });
        reads.chain(writes).collect()
    }

    fn fault(
        &self,
        node: &GraphNode,
        choice: &OperatorChoice,
        (position, own, required): (usize, usize, usize),
        is_read: bool,
    ) -> Diagnostic {
        let Some(tensor) = self.graph.tensors.get(position) else {
            return Diagnostic::error(Code::GraphUnsatisfied, "", node.place.clone(), "");
        };
        let (name, by) = (&tensor.name, &node.name);
        let (has, asks) = (tensor.text(own), tensor.text(required));
        if tensor.compatibility(own, required) == Compatibility::Unknown {
            let message = format!("cannot decide if the layout {has} of `{name}` satisfies {asks}");
            let error = Diagnostic::error(Code::GraphUnknown, message, node.place.clone(), "asks");
            let help =
                "declare the tensor with the same attribute, or remove it from the required layout";
            let error = error.with_label(choice.place.clone(), "accepted layouts");
            return declared(error, tensor).help(help);
        }
        let (message, label) = match (is_read, node.shares_layout) {
            (true, false) => (
                format!("`{name}` has layout {has}, but `{by}` requires {asks}"),
                format!("requires {asks}"),
            ),
            (true, true) => (
                format!("`{name}` has layout {has}, but the other tensors of `{by}` have {asks}"),
                "requires one layout for all".to_owned(),
            ),
            (false, _) => (
                format!("`{by}` produces `{name}` with layout {has}, but it is declared {asks}"),
                format!("produces {has}"),
            ),
        };
        let mut error =
            Diagnostic::error(Code::GraphUnsatisfied, message, node.place.clone(), label);
        error = error.with_label(choice.place.clone(), "accepted layouts");
        let path = self.path(position);
        let origin = path.last().copied().filter(|_| is_read).unwrap_or(position);
        error = declared(error, self.graph.tensors.get(origin).unwrap_or(tensor));
        if is_read && path.len() > 1 {
            error.add_note(format!("the layout is propagated by {} → {by}", self.path_text(&path)));
        }
        error.notes.extend(alignments(tensor, own, required));
        if let Some(k) = choice.alternative.filter(|_| node.choices.len() > 1) {
            error.add_note(format!("alternative {k} of `{}` has the fewest mismatches", node.op));
        }
        with_fix(error, tensor, own, required)
    }

    /// Positions of the tensors through which the tensor at `position` inherits its layout, as in a chain of
    /// elementwise operators: the tensor itself first, the tensor that the layout comes from last.
    fn path(&self, position: usize) -> Vec<usize> {
        let mut path = vec![position];
        while let Some(source) = path.last().and_then(|at| self.source(*at)) {
            path.push(source);
        }
        path
    }

    /// Position of the operand with the same layout as the result at `position`, if the operator requires operands and
    /// results to share one; `None` if there is none, or the tensor is no result.
    fn source(&self, position: usize) -> Option<usize> {
        let tensor = self.graph.tensors.get(position)?;
        let TensorRole::Result { node, .. } = tensor.role else { return None };
        let node = self.graph.nodes.get(node).filter(|node| node.shares_layout)?;
        let text = self.layout(position).map(|k| tensor.text(k));
        node.inputs.iter().copied().find(|input| {
            let known = self.graph.tensors.get(*input).zip(self.layout(*input));
            known.is_some_and(|(tensor, own)| Some(tensor.text(own)) == text)
        })
    }

    /// Text `x → relu1 → r` of a path, tensors and nodes alternating, from the origin on. `path` has the positions of
    /// the tensors in the order of [`Self::path`], the origin last.
    fn path_text(&self, path: &[usize]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for position in path.iter().rev() {
            let Some(tensor) = self.graph.tensors.get(*position) else { continue };
            if let (TensorRole::Result { node, .. }, false) = (tensor.role, names.is_empty()) {
                names.extend(self.graph.nodes.get(node).map(|node| node.name.as_str()));
            }
            names.push(&tensor.name);
        }
        names.join(" → ")
    }
}

/// Returns `error` with a label where the manifest declares the layout of `tensor`, or a note if it declares none.
fn declared(error: Diagnostic, tensor: &GraphTensor) -> Diagnostic {
    let Some(declared) = tensor.declared.and_then(|k| tensor.candidates.get(k)) else {
        return error.note(format!("`{}` declares no layout", tensor.name));
    };
    error.with_label(declared.place.clone(), format!("`{}` is declared here", tensor.name))
}

/// Sentences on the strides and sizes in which the candidate `own` of a tensor fails the candidate `required`; empty if
/// the layouts differ otherwise.
fn alignments(tensor: &GraphTensor, own: usize, required: usize) -> Vec<String> {
    let [own, required] = [own, required].map(|k| tensor.candidates.get(k));
    let Some((own, required)) = own.zip(required) else { return Vec::new() };
    match own.glow_satisfaction(required) {
        Some(Satisfaction::Unsatisfied(unmet)) => {
            let is_align =
                |unmet: &&UnmetRequirement| matches!(unmet, UnmetRequirement::Align { .. });
            unmet.iter().filter(is_align).map(ToString::to_string).collect()
        }
        Some(Satisfaction::Satisfied) => steps(own, required),
        Some(Satisfaction::Unknown(_)) | None => Vec::new(),
    }
}

/// Sentences on differing strides and missing bytes of two layouts with the same Glow letters.
fn steps(own: &LayoutCandidate, required: &LayoutCandidate) -> Vec<String> {
    let strides = own.tensor.layout.strides().iter().zip(required.tensor.layout.strides());
    let differ = strides.enumerate().filter_map(|(axis, (own, other))| {
        let (own, other) = (own.as_const()?, other.as_const()?);
        let text = &required.text;
        (own != other).then(|| format!("axis {axis} has stride {own}, but {other} in {text}"))
    });
    let bytes = (own.bytes < required.bytes)
        .then(|| format!("the tensor has {} bytes, and {} are read", own.bytes, required.bytes));
    differ.chain(bytes).collect()
}

/// Returns `error` with help lines: convert the tensor from the candidate `own` to the candidate `required`, with the
/// number of bytes read and written, or declare another layout; and leave the choice to the solver. For an opaque
/// layout, the only help is that no conversion adds its attribute.
fn with_fix(error: Diagnostic, tensor: &GraphTensor, own: usize, required: usize) -> Diagnostic {
    let (has, asks) = (tensor.text(own), tensor.text(required));
    let [from, to] = [own, required].map(|k| tensor.candidates.get(k));
    if to.is_some_and(LayoutCandidate::is_opaque) {
        let help = "no conversion adds an attribute: declare the tensor with it, or remove it from the required layout";
        return error.help(help);
    }
    let bytes = bytes_moved(tensor, own, required);
    let [from, to] = [from, to].map(|candidate| candidate.and_then(|c| c.string.as_ref()));
    let shuffle = from.zip(to).and_then(|(from, to)| AxisPermutation::between(from, to).ok());
    let how = match shuffle.filter(|shuffle| !shuffle.is_identity()) {
        Some(shuffle) => format!("transpose it by {:?}", shuffle.perm()),
        None => format!("convert it from {has} to {asks}"),
    };
    let name = &tensor.name;
    // For a result, the operator's layout fits its declaration; for an operand, the required one.
    let fits = if tensor.declared == Some(required) { has } else { asks };
    let error = error.help(format!(
        "{how}: {bytes} bytes are read and written; or declare `{name}` with `layout=\"{fits}\"`"
    ));
    error.help("remove the layouts of results, and `layoutc solve` finds the cheapest")
}
