//! A plan carried into the manifest: a tensor for each buffer, conversions between them, and a schedule.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Plan;
use super::{Settings, solve};
use crate::diagnostic::Diagnostic;
use crate::model::graph::{Candidate, Choice, Graph, GraphTensor, Node, Role};
use crate::model::schedule::{Buffer, Call, Operator, Schedule, Use};
use crate::model::{Convert, Manifest, Memory, Tensor};

/// The manifest with a schedule for each of its graphs, and all that the schedules call.
///
/// # Errors
/// The graphs that have no plan.
pub fn lay_out(manifest: &Manifest) -> Result<Manifest, Vec<Diagnostic>> {
    let mut laid_out = manifest.clone();
    let mut errors = Vec::new();
    for graph in &manifest.graphs {
        match solve(graph, &Settings::default()) {
            Ok(plan) => {
                let schedule = Builder::new(graph, &plan, &mut laid_out).schedule();
                laid_out.schedules.push(schedule);
            }
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(laid_out) } else { Err(errors) }
}

struct Builder<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    manifest: &'a mut Manifest,
    buffers: Vec<Buffer>,
    /// The buffer of a tensor in a candidate.
    of: BTreeMap<(usize, usize), usize>,
    names: BTreeSet<String>,
    load: Vec<Call>,
    run: Vec<Call>,
}

impl<'a> Builder<'a> {
    fn new(graph: &'a Graph, plan: &'a Plan, manifest: &'a mut Manifest) -> Self {
        let names = graph.tensors.iter().map(|tensor| tensor.name.to_ascii_lowercase()).collect();
        let (buffers, of) = (Vec::new(), BTreeMap::new());
        Self { graph, plan, manifest, buffers, of, names, load: Vec::new(), run: Vec::new() }
    }

    fn schedule(mut self) -> Schedule {
        let (graph, plan) = (self.graph, self.plan);
        for k in (0..graph.tensors.len()).filter(|k| is_outside(graph, *k)) {
            self.tensor(k);
        }
        let mut operators = Vec::new();
        for (k, node) in graph.nodes.iter().enumerate() {
            let choice = plan.choices.get(k).and_then(|choice| node.choices.get(*choice));
            let reads = node.inputs.iter().enumerate().map(|(slot, tensor)| {
                let asked = choice.and_then(|choice| choice.inputs.get(slot).copied().flatten());
                self.buffer_of(*tensor, asked)
            });
            let reads: Vec<usize> = reads.collect();
            self.run.push(Call::Operator(k));
            for tensor in &node.outputs {
                self.tensor(*tensor);
            }
            let writes = node.outputs.iter().map(|tensor| self.buffer_of(*tensor, None)).collect();
            let doc = choice.map_or_else(String::new, |choice| doc(graph, node, choice));
            operators.push(Operator { name: node.name.clone(), doc, reads, writes });
        }
        for wanted in &graph.outputs {
            let buffer = self.buffer_of(wanted.tensor, wanted.candidate);
            let buffer = self.buffers.get_mut(buffer).filter(|b| b.use_of == Use::Between);
            buffer.into_iter().for_each(|buffer| buffer.use_of = Use::Output);
        }
        Schedule {
            name: graph.name.clone(),
            place: graph.place.clone(),
            cost: plan.cost,
            lower_bound: plan.lower_bound,
            buffers: self.buffers,
            operators,
            load: self.load,
            run: self.run,
        }
    }

    /// The buffer of a tensor in a layout; `None`: in the one that it is stored in.
    fn buffer_of(&self, tensor: usize, candidate: Option<usize>) -> usize {
        let stored = self.plan.stored.get(tensor).copied().unwrap_or(0);
        self.of.get(&(tensor, candidate.unwrap_or(stored))).copied().unwrap_or(0)
    }

    /// The buffers of a tensor, and its conversions.
    fn tensor(&mut self, position: usize) {
        let (graph, plan) = (self.graph, self.plan);
        let Some(tensor) = graph.tensors.get(position) else { return };
        let stored = plan.stored.get(position).copied().unwrap_or(0);
        let is_moved = plan.conversions_of(position).any(|conversion| !conversion.is_free);
        let is_packed = is_moved || is_outside(graph, position) || is_output(graph, position);
        let use_of = match tensor.role {
            Role::Input => Use::Input,
            Role::Constant => Use::Constant,
            Role::Result { .. } => Use::Between,
        };
        let buffer = self.buffer(tensor, stored, tensor.name.clone(), (is_packed, use_of));
        self.of.insert((position, stored), buffer);
        let conversions: Vec<_> = plan.conversions_of(position).copied().collect();
        for conversion in conversions {
            let from = self.buffer_of(position, Some(conversion.from));
            if conversion.is_free {
                // The bytes are there: whoever asks for this layout reads them.
                self.of.insert((position, conversion.to), from);
                let more = tensor.candidates.get(conversion.to).map_or(0, |c| c.bytes);
                let buffer = self.buffers.get_mut(from);
                buffer.into_iter().for_each(|buffer| buffer.bytes = buffer.bytes.max(more));
                continue;
            }
            let use_of = if tensor.is_constant() { Use::Loaded } else { Use::Between };
            let name = self.name(&tensor.name, tensor.text(conversion.to));
            let to = self.buffer(tensor, conversion.to, name, (true, use_of));
            self.of.insert((position, conversion.to), to);
            let Some(convert) = self.convert(from, to) else { continue };
            let call = Call::Convert { convert, from, to };
            if tensor.is_constant() { self.load.push(call) } else { self.run.push(call) }
        }
    }

    /// `y_nchw16c`, with a number behind it where that is taken.
    fn name(&mut self, tensor: &str, layout: &str) -> String {
        let mut word = String::new();
        for c in layout.chars() {
            match c {
                c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
                _ if word.ends_with('_') || word.is_empty() => {}
                _ => word.push('_'),
            }
        }
        let word = word.trim_end_matches('_');
        let plain = format!("{tensor}_{word}");
        let numbered = (2_u32..).map(|k| format!("{plain}_{k}"));
        let mut free = std::iter::once(plain.clone()).chain(numbered);
        let name = free.find(|name| self.names.insert(name.to_ascii_lowercase()));
        name.unwrap_or(plain)
    }

    fn buffer(
        &mut self,
        tensor: &GraphTensor,
        candidate: usize,
        name: String,
        (is_packed, use_of): (bool, Use),
    ) -> usize {
        let buffer = self.buffers.len();
        let Some(Candidate { tensor: laid, text, bytes, .. }) = tensor.candidates.get(candidate)
        else {
            return buffer;
        };
        // What stays inside is written and read by operators, with index functions alone.
        let memory = if is_packed { laid.memory } else { Memory::None };
        let name_of = format!("{}_{name}", self.graph.name);
        let laid = Tensor { name: name_of, memory, ..laid.clone() };
        self.buffers.push(Buffer {
            name,
            dtype: laid.dtype,
            layout: text.clone(),
            tensor: self.manifest.tensors.len(),
            bytes: *bytes,
            use_of,
        });
        self.manifest.tensors.push(laid);
        buffer
    }

    fn convert(&mut self, from: usize, to: usize) -> Option<usize> {
        let (from, to) = (self.buffers.get(from)?.tensor, self.buffers.get(to)?.tensor);
        let rank = self.manifest.tensors.get(from)?.layout.logical.len();
        let convert = Convert::between(from, to, rank, self.graph.place.clone());
        self.manifest.converts.push(convert);
        Some(self.manifest.converts.len() - 1)
    }
}

/// Whether a tensor comes from outside.
fn is_outside(graph: &Graph, tensor: usize) -> bool {
    let role = graph.tensors.get(tensor).map(|tensor| tensor.role);
    matches!(role, Some(Role::Input | Role::Constant))
}

fn is_output(graph: &Graph, tensor: usize) -> bool {
    graph.outputs.iter().any(|wanted| wanted.tensor == tensor)
}

/// `conv, alternative 0: NHWC OHWI -> NHWC`
fn doc(graph: &Graph, node: &Node, choice: &Choice) -> String {
    let text = |tensor: &usize, candidate: Option<usize>| {
        let tensor = graph.tensors.get(*tensor);
        let text = tensor.zip(candidate).map(|(tensor, k)| tensor.text(k).to_owned());
        text.unwrap_or_else(|| "any".to_owned())
    };
    let reads = node.inputs.iter().zip(&choice.inputs).map(|(tensor, k)| text(tensor, *k));
    let writes = node.outputs.iter().zip(&choice.outputs).map(|(tensor, k)| text(tensor, Some(*k)));
    let (reads, writes): (Vec<String>, Vec<String>) = (reads.collect(), writes.collect());
    let which = match choice.alternative.filter(|_| node.choices.len() > 1) {
        Some(k) => format!(", alternative {k}"),
        None => String::new(),
    };
    format!("{}{which}: {} -> {}", node.op, reads.join(" "), writes.join(" "))
}
