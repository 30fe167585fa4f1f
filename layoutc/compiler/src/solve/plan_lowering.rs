//! Lowering of the layout plans of graphs into the manifest: a tensor for each layout in use, the conversions between
//! these tensors, and one schedule per graph.

use std::collections::{BTreeMap, BTreeSet};

use super::graph_plan::{GraphPlan, LayoutConversion};
use super::{SolverOptions, solve};
use crate::base::diagnostic::Diagnostic;
use crate::model::graph::{
    Graph, GraphNode, LayoutCandidate, OperatorChoice, OperatorLowering, TensorRole,
};
use crate::model::schedule::{
    BufferAlias, BufferBinding, BufferRole, GraphBuffer, GraphSchedule, ScheduleCall,
    ScheduleOperator,
};
use crate::model::{Convert, Manifest, Memory};

/// Copy of the manifest with a schedule for each of its graphs, and with the tensors and conversions that the schedules
/// use.
///
/// # Errors
/// One diagnostic for each graph for which [`solve`] fails.
pub fn lay_out(manifest: &Manifest) -> Result<Manifest, Vec<Diagnostic>> {
    let mut laid_out = manifest.clone();
    let mut errors = Vec::new();
    for graph in &manifest.graphs {
        match solve(graph, &SolverOptions::default()) {
            Ok(plan) => {
                let schedule = ScheduleBuilder::new(graph, &plan, &mut laid_out).schedule();
                laid_out.schedules.push(schedule);
            }
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(laid_out) } else { Err(errors) }
}

/// Position of a tensor in a graph, and position of one of its candidate layouts.
type TensorCandidate = (usize, usize);

struct ScheduleBuilder<'a> {
    graph: &'a Graph,
    plan: &'a GraphPlan,
    manifest: &'a mut Manifest,
    buffers: Vec<GraphBuffer>,
    operators: Vec<ScheduleOperator>,
    of: BTreeMap<TensorCandidate, BufferBinding>,
    /// Tensors with the layouts in which generated code accesses their elements: sources and destinations of
    /// conversions that move bytes, inputs, constants, and outputs.
    packed: BTreeSet<TensorCandidate>,
    names: BTreeSet<String>,
    load: Vec<ScheduleCall>,
    run: Vec<ScheduleCall>,
}

impl<'a> ScheduleBuilder<'a> {
    fn new(graph: &'a Graph, plan: &'a GraphPlan, manifest: &'a mut Manifest) -> Self {
        Self {
            graph,
            plan,
            manifest,
            buffers: Vec::new(),
            operators: Vec::new(),
            of: BTreeMap::new(),
            packed: packed(graph, plan),
            names: graph.tensors.iter().map(|tensor| tensor.name.to_ascii_lowercase()).collect(),
            load: Vec::new(),
            run: Vec::new(),
        }
    }

    fn schedule(mut self) -> GraphSchedule {
        let (graph, plan) = (self.graph, self.plan);
        for (k, tensor) in graph.tensors.iter().enumerate() {
            let use_of = match tensor.role {
                TensorRole::Input => BufferRole::Input,
                TensorRole::Constant => BufferRole::Constant,
                TensorRole::Result { .. } => continue,
            };
            self.written(k, use_of);
            self.converted(k);
        }
        for (k, node) in graph.nodes.iter().enumerate() {
            let choice = plan.choices.get(k).and_then(|choice| node.choices.get(*choice));
            if let Some(choice) = choice {
                self.node(node, choice);
            }
            for tensor in &node.outputs {
                self.converted(*tensor);
            }
        }
        let outputs = graph.outputs.iter().filter_map(|wanted| {
            let candidate = wanted.candidate.unwrap_or_else(|| stored(plan, wanted.tensor));
            self.of.get(&(wanted.tensor, candidate)).cloned()
        });
        let outputs: Vec<BufferBinding> = outputs.collect();
        outputs.iter().for_each(|seen| self.given(seen));
        GraphSchedule {
            name: graph.name.clone(),
            place: graph.place.clone(),
            cost: plan.cost,
            lower_bound: plan.lower_bound,
            buffers: self.buffers,
            operators: self.operators,
            outputs,
            load: self.load,
            run: self.run,
        }
    }

    /// Adds the call of a node with the chosen alternative `choice`. It is an operator of the caller, or a
    /// transposition by layoutc, which is an alias of the input or a conversion.
    fn node(&mut self, node: &GraphNode, choice: &OperatorChoice) {
        let reads = node.inputs.iter().zip(&choice.inputs).filter_map(|(tensor, required)| {
            let candidate = required.unwrap_or_else(|| stored(self.plan, *tensor));
            self.of.get(&(*tensor, candidate)).cloned()
        });
        let reads: Vec<BufferBinding> = reads.collect();
        let moved = node.transposed.as_ref().zip(reads.first()).zip(node.outputs.first());
        match (choice.lowering, moved) {
            (OperatorLowering::Alias, Some(((_, from), to))) => {
                self.add_buffer_alias(*to, stored(self.plan, *to), from.buffer);
            }
            (OperatorLowering::Conversion, Some(((axes, from), to))) => {
                self.written(*to, BufferRole::Intermediate);
                let from = from.clone();
                if let Some(to) = self.of.get(&(*to, stored(self.plan, *to))).cloned() {
                    let call = self.convert(&from, &to, axes.clone());
                    self.run.push(call);
                }
            }
            _ => {
                self.run.push(ScheduleCall::Operator(self.operators.len()));
                for tensor in &node.outputs {
                    self.written(*tensor, BufferRole::Intermediate);
                }
                let place = |tensor: &usize| (*tensor, stored(self.plan, *tensor));
                let writes =
                    node.outputs.iter().filter_map(|tensor| self.of.get(&place(tensor)).cloned());
                let (writes, doc) = (writes.collect(), doc(self.graph, node, choice));
                self.operators.push(ScheduleOperator {
                    name: node.name.clone(),
                    doc,
                    reads,
                    writes,
                });
            }
        }
    }

    /// Adds the buffer of the tensor at `position` in the layout in which it is produced, or passed to the graph.
    /// `use_of` is the role of the buffer.
    fn written(&mut self, position: usize, use_of: BufferRole) {
        let Some(tensor) = self.graph.tensors.get(position) else { return };
        let name = tensor.name.clone();
        self.buffer((position, stored(self.plan, position)), name, use_of);
    }

    /// Adds the conversions of the tensor at `position`. The buffers of their sources must have been added before.
    /// Conversions of constants are executed at load time.
    fn converted(&mut self, position: usize) {
        let (graph, plan) = (self.graph, self.plan);
        let Some(tensor) = graph.tensors.get(position) else { return };
        let conversions: Vec<LayoutConversion> = plan.conversions_of(position).copied().collect();
        for conversion in conversions {
            let Some(from) = self.of.get(&(position, conversion.from)).cloned() else { continue };
            if conversion.is_free {
                // The bytes are identical, so readers of this layout read the same buffer.
                self.add_buffer_alias(position, conversion.to, from.buffer);
                continue;
            }
            let use_of =
                if tensor.is_constant() { BufferRole::Loaded } else { BufferRole::Intermediate };
            let name = self.name(&tensor.name, tensor.text(conversion.to));
            let place = (position, conversion.to);
            self.buffer(place, name, use_of);
            let Some(to) = self.of.get(&place).cloned() else { continue };
            let rank =
                self.manifest.tensors.get(from.tensor).map_or(0, |t| t.layout.logical().len());
            let call = self.convert(&from, &to, (0..rank).collect());
            if tensor.is_constant() { self.load.push(call) } else { self.run.push(call) }
        }
    }

    /// Adds a tensor in one of its layouts as an alias: it shares the memory of the buffer at position `buffer`.
    /// `tensor` and `candidate` are the positions of the tensor and of the layout.
    fn add_buffer_alias(&mut self, tensor: usize, candidate: usize, buffer: usize) {
        let Some(found) = self.graph.tensors.get(tensor) else { return };
        let layout = found.text(candidate).to_owned();
        let is_own = candidate == stored(self.plan, tensor);
        let name = if is_own { found.name.clone() } else { self.name(&found.name, &layout) };
        let Some(laid) = self.tensor((tensor, candidate), &name) else { return };
        self.of.insert(
            (tensor, candidate),
            BufferBinding { name: name.clone(), buffer, tensor: laid },
        );
        let alias = BufferAlias { name, layout, is_output: false };
        self.buffers
            .get_mut(buffer)
            .into_iter()
            .for_each(|buffer| buffer.aliases.push(alias.clone()));
    }

    /// Adds a buffer for a tensor in a layout, both given by `place`. `name` is the name of the buffer, `use_of` its
    /// role. No effect if there is no such candidate layout.
    fn buffer(&mut self, place: TensorCandidate, name: String, use_of: BufferRole) {
        let tensor = self.graph.tensors.get(place.0);
        let candidate = tensor.and_then(|tensor| tensor.candidates.get(place.1));
        let Some(LayoutCandidate { tensor, text, bytes, .. }) = candidate else { return };
        let Some(laid) = self.tensor(place, &name) else { return };
        let buffer = self.buffers.len();
        self.of.insert(place, BufferBinding { name: name.clone(), buffer, tensor: laid });
        let (dtype, layout) = (tensor.dtype, text.clone());
        let aliases = Vec::new();
        self.buffers.push(GraphBuffer { name, dtype, layout, bytes: *bytes, use_of, aliases });
    }

    /// Adds a tensor in one of its candidate layouts, both given by `place`, to the manifest, and returns its position
    /// there. Its name is `name` after the name of the graph and `_`. `None` if there is no such candidate. If
    /// generated code does not access the tensor, it gets `memory none`, so that only index functions are generated.
    fn tensor(&mut self, place: TensorCandidate, name: &str) -> Option<usize> {
        let laid = &self.graph.tensors.get(place.0)?.candidates.get(place.1)?.tensor;
        let memory = if self.packed.contains(&place) { laid.memory } else { Memory::None };
        let name = format!("{}_{name}", self.graph.name);
        self.manifest.tensors.push(laid.with_name(name).with_memory(memory));
        Some(self.manifest.tensors.len() - 1)
    }

    /// Adds a conversion of the buffer `from` to the buffer `to` to the manifest, and returns the call of the
    /// conversion; `axes[k]` is the position in the destination of axis k of the source.
    fn convert(
        &mut self,
        from: &BufferBinding,
        to: &BufferBinding,
        axes: Vec<usize>,
    ) -> ScheduleCall {
        let place = self.graph.place.clone();
        self.manifest.converts.push(Convert::between(from.tensor, to.tensor, axes, place));
        let convert = self.manifest.converts.len() - 1;
        ScheduleCall::Convert { convert, from: from.buffer, to: to.buffer }
    }

    /// Marks the buffer or alias with the name of `seen` as an output of the graph. A buffer with a role other than
    /// [`BufferRole::Intermediate`] is unchanged.
    fn given(&mut self, seen: &BufferBinding) {
        let Some(buffer) = self.buffers.get_mut(seen.buffer) else { return };
        if buffer.name == seen.name {
            if buffer.use_of == BufferRole::Intermediate {
                buffer.use_of = BufferRole::Output;
            }
            return;
        }
        let aliases = buffer.aliases.iter_mut().filter(|alias| alias.name == seen.name);
        aliases.for_each(|alias| alias.is_output = true);
    }

    /// Unique name for a tensor in a layout, such as `y_nchw16c`; a taken name gets a number as suffix: `y_nchw16c_2`.
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
}

/// Tensors with the layouts in which generated code accesses their elements: sources and destinations of conversions
/// that move bytes, inputs, constants, and outputs.
fn packed(graph: &Graph, plan: &GraphPlan) -> BTreeSet<TensorCandidate> {
    let moved = plan.conversions.iter().filter(|conversion| !conversion.is_free);
    let ends = |c: &LayoutConversion| [(c.tensor, c.from), (c.tensor, c.to)];
    let mut packed: BTreeSet<TensorCandidate> = moved.flat_map(ends).collect();
    let is_outside = |k: &usize| {
        graph.tensors.get(*k).is_some_and(|t| !matches!(t.role, TensorRole::Result { .. }))
    };
    packed.extend((0..graph.tensors.len()).filter(is_outside).map(|k| (k, stored(plan, k))));
    for wanted in &graph.outputs {
        packed.insert((wanted.tensor, stored(plan, wanted.tensor)));
        packed.extend(wanted.candidate.map(|candidate| (wanted.tensor, candidate)));
    }
    for (k, node) in graph.nodes.iter().enumerate() {
        let choice = plan.choices.get(k).and_then(|choice| node.choices.get(*choice));
        let Some(choice) = choice.filter(|choice| choice.lowering == OperatorLowering::Conversion)
        else {
            continue;
        };
        let reads = node.inputs.iter().zip(&choice.inputs);
        packed.extend(reads.filter_map(|(tensor, required)| Some((*tensor, (*required)?))));
        packed.extend(node.outputs.iter().copied().zip(choice.outputs.iter().copied()));
    }
    packed
}

/// Position, among the candidates of the tensor at position `tensor`, of the layout in which the plan produces or
/// passes the tensor.
fn stored(plan: &GraphPlan, tensor: usize) -> usize {
    plan.stored.get(tensor).copied().unwrap_or(0)
}

/// Description of the choice `choice` of a node, with the layouts of its inputs and outputs:
/// `conv, alternative 0: NHWC OHWI -> NHWC`. An input that may have any layout is written `any`. The alternative is
/// omitted if the node has a single choice, or the choice is not a declared alternative.
fn doc(graph: &Graph, node: &GraphNode, choice: &OperatorChoice) -> String {
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
