//! Verification of graphs whose layouts are not chosen by the solver: every tensor must have the layout that its
//! readers require.
//!
//! The solver decides if the undeclared layouts can be chosen so that no conversions are needed. Unless they can, a
//! walk over the nodes in topological order finds the errors.

use layoutc_algebra::notation::glow::{AxisPermutation, Satisfaction, UnmetRequirement};

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::model::graph::{
    Compatibility, Graph, GraphNode, GraphTensor, LayoutCandidate, OperatorChoice, TensorRole,
};
use crate::solve::{Consistency, bytes_moved, consistency};

/// Errors of a graph whose layouts are only verified (`is_fixed`); empty for any other graph.
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
    /// Layout of each tensor, by the position of the tensor, as a position among its candidates; `None` if it is not
    /// known yet.
    layouts: Vec<Option<usize>>,
    found: Vec<Diagnostic>,
}

impl GraphVerifier<'_> {
    fn layout(&self, tensor: usize) -> Option<usize> {
        self.layouts.get(tensor).copied().flatten()
    }

    /// Visits the node at `position`: takes its choice with the fewest errors, and adds these errors to `self.found`. A
    /// tensor of the node whose layout is not known yet gets the layout that the choice has for it, if any.
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

    /// Tensors of `node` whose layouts are known but do not satisfy `choice`, as tuples
    /// `(tensor, own, required, is_operand)`: `tensor` is the position of the tensor; `own` is the candidate that an
    /// operand has, or that the node gives to a result; `required` is the candidate that is required. A constant
    /// operand that may have any layout is never among them.
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

    /// Positions of the tensors from which the tensor at `position` inherits its layout, as in a chain of elementwise
    /// operators. The tensor itself is first, the tensor that the layout originates from is last.
    fn path(&self, position: usize) -> Vec<usize> {
        let mut path = vec![position];
        while let Some(source) = path.last().and_then(|at| self.source(*at)) {
            path.push(source);
        }
        path
    }

    /// Position, among the tensors of the graph, of the operand from which the result at `position` inherits its
    /// layout: the first operand of its node whose layout has the same text. `None` if the tensor is not the result of
    /// a node, if its node does not require one layout for all tensors, or if no operand has that layout.
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

    /// Text of a path, `x → relu1 → r`, in which tensors and nodes alternate. `path` has the positions of the tensors
    /// as [`Self::path`] returns them, the origin last; in the text the origin is first.
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

/// Returns `error` with a label at the layout of `tensor` that the manifest declares or pins, or with a note if there
/// is none.
fn declared(error: Diagnostic, tensor: &GraphTensor) -> Diagnostic {
    let Some(declared) = tensor.declared.and_then(|k| tensor.candidates.get(k)) else {
        return error.note(format!("`{}` declares no layout", tensor.name));
    };
    error.with_label(declared.place.clone(), format!("`{}` is declared here", tensor.name))
}

/// Sentences, for notes, on the strides and sizes of the candidate `own` of a tensor that do not satisfy the candidate
/// `required`. Empty if the two layouts differ only in something else.
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

/// Sentences, for notes, on two layouts of which Glow's comparison accepts `own` for `required`: one for each axis
/// whose constant strides differ, and one if `own` has fewer bytes than `required`.
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

/// Returns `error` with help for a tensor that has the candidate `own` where the candidate `required` is required:
/// convert it, with the number of bytes read and written, or declare another layout; or leave the choice to the solver.
/// If `required` is opaque, the only help is that no conversion adds its attribute.
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
    // Layout to declare: if the required layout is the declared one, that of the operator, else the required one.
    let fits = if tensor.declared == Some(required) { has } else { asks };
    let error = error.help(format!(
        "{how}: {bytes} bytes are read and written; or declare `{name}` with `layout=\"{fits}\"`"
    ));
    error.help("remove the layouts of results, and `layoutc solve` finds the cheapest")
}
