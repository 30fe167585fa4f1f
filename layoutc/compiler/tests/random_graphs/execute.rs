//! Interpreter of a schedule: operators access elements through the layouts, conversions run in process (`pack`).
//! Unwritten bytes are `0xFF`, which no value has.

use std::collections::BTreeMap;

use layoutc_compiler::model::graph::{Graph, OperatorLowering};
use layoutc_compiler::model::schedule::{BufferBinding, GraphSchedule, ScheduleCall};
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::pack::{Packing, pack, unpack};
use layoutc_compiler::solve::GraphPlan;

use super::dense::computed;
use super::generate::{Node, Sample};

/// State of the interpreter.
pub(super) struct Machine<'a> {
    pub(super) sample: &'a Sample,
    pub(super) manifest: &'a Manifest,
    pub(super) schedule: &'a GraphSchedule,
    buffers: Vec<Vec<u8>>,
    /// Number of bytes that the conversions have read and written.
    pub(super) moved: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(sample: &'a Sample, manifest: &'a Manifest) -> Self {
        let schedule = &manifest.schedules[0];
        let poisoned = |bytes: u64| vec![0xFF; usize::try_from(bytes).unwrap()];
        let buffers = schedule.buffers.iter().map(|buffer| poisoned(buffer.bytes)).collect();
        Self { sample, manifest, schedule, buffers, moved: 0 }
    }

    /// Fills inputs and constants, runs the load and run phases, and compares the outputs with `values`.
    pub(super) fn all(&mut self, values: &[Vec<u64>]) -> Result<(), String> {
        let schedule = self.schedule;
        for (k, tensor) in self.sample.tensors.iter().enumerate() {
            let is_result =
                self.sample.nodes.iter().flat_map(|n| &n.formulas).any(|f| f.result == k);
            if is_result {
                continue;
            }
            let buffer = schedule.buffers.iter().position(|buffer| buffer.name == tensor.name);
            let buffer = buffer.ok_or(format!("`{}` has no buffer", tensor.name))?;
            let laid = format!("g_{}", tensor.name);
            let laid = self.manifest.tensors.iter().find(|t| t.name == laid).unwrap();
            if self.buffers[buffer].len() != bytes(laid) {
                return Err(format!("`{}` has a buffer of another size", tensor.name));
            }
            write(laid, &mut self.buffers[buffer], &values[k]);
        }
        for call in &schedule.load {
            self.call(call)?;
        }
        self.moved = 0;
        for call in &schedule.run {
            self.call(call)?;
        }
        for (seen, output) in schedule.outputs.iter().zip(&self.sample.outputs) {
            if self.read(seen)? != values[*output] {
                return Err(format!("the output t{output} is wrong"));
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &ScheduleCall) -> Result<(), String> {
        match *call {
            ScheduleCall::Convert { convert, from, to } => self.convert(convert, from, to),
            ScheduleCall::Operator(k) => {
                let operator = &self.schedule.operators[k];
                let node = self.sample.nodes.iter().find(|n| n.name == operator.name).unwrap();
                if node.is_alike {
                    self.alike(node, &operator.reads, &operator.writes[0])?;
                }
                let message = operator.doc.rsplit(": ").next().unwrap_or_default();
                if !node.accepts.is_empty() && !node.accepts.iter().any(|own| own == message) {
                    return Err(format!("`{}` does not accept {message}", node.name));
                }
                let mut values = BTreeMap::new();
                for (tensor, seen) in node.reads.iter().zip(&operator.reads) {
                    values.insert(*tensor, self.read(seen)?);
                }
                for (formula, seen) in node.formulas.iter().zip(&operator.writes) {
                    let result = computed(formula, self.sample, &|k| &values[&k]);
                    let laid = &self.manifest.tensors[seen.tensor];
                    write(laid, &mut self.buffers[seen.buffer], &result);
                }
                Ok(())
            }
        }
    }

    fn convert(&mut self, convert: usize, from: usize, to: usize) -> Result<(), String> {
        let convert = &self.manifest.converts[convert];
        let [source, target] = crate::common::positions(convert).map(|k| &self.manifest.tensors[k]);
        let symbols = BTreeMap::new();
        let (unpack, pack) = (unpack(source, &symbols).unwrap(), pack(target, &symbols).unwrap());
        let mut dense = vec![0; unpack.to_bytes];
        let read = self.buffers[from].get(..unpack.from_bytes).ok_or("a source is too small")?;
        unpack.run(read, &mut dense).map_err(|fault| fault.to_string())?;
        let mut turned = vec![0; pack.from_bytes];
        let (own, there) = (extents(source), extents(target));
        for place in 0..own.iter().product::<usize>() {
            let index = index(&own, place);
            let mut other = vec![0; index.len()];
            convert.axes.iter().zip(&index).for_each(|(axis, k)| other[*axis] = *k);
            let value = load(source, &dense, place);
            store(target, &mut turned, flat(&there, &other), value);
        }
        let written = self.buffers[to].get_mut(..pack.to_bytes).ok_or("a target is too small")?;
        pack.run(&turned, written).map_err(|fault| fault.to_string())?;
        self.moved += (unpack.from_bytes + pack.to_bytes) as u64;
        Ok(())
    }

    /// Elements of a tensor; an error if a slot of padding is not 0.
    fn read(&self, seen: &BufferBinding) -> Result<Vec<u64>, String> {
        let laid = &self.manifest.tensors[seen.tensor];
        let buffer = &self.buffers[seen.buffer];
        if buffer.len() < bytes(laid) {
            return Err(format!("`{}` is in a buffer of {} bytes", seen.name, buffer.len()));
        }
        let places = places(laid);
        for slot in 0..slots(laid) {
            if !places.contains(&slot) && load(laid, buffer, slot) != 0 {
                return Err(format!("slot {slot} of `{}` is not filled", seen.name));
            }
        }
        Ok(places.iter().map(|place| load(laid, buffer, *place)).collect())
    }

    /// Checks that the operands and the result have one layout: such an operator may traverse memory linearly.
    fn alike(
        &self,
        node: &Node,
        reads: &[BufferBinding],
        write: &BufferBinding,
    ) -> Result<(), String> {
        let result = node.formulas[0].result;
        let to = &self.sample.tensors[result];
        let laid = &self.manifest.tensors[write.tensor];
        for (tensor, seen) in node.reads.iter().zip(reads) {
            let own = &self.sample.tensors[*tensor];
            let mut axes = [own.axes.clone(), to.axes.clone()];
            axes.iter_mut().for_each(|axes| axes.sort_unstable());
            let is_exempt = own.is_constant || own.axes.len() < 2 || own.element != to.element;
            if is_exempt || axes[0] != axes[1] {
                continue;
            }
            let order: Vec<usize> = own
                .axes
                .iter()
                .map(|axis| to.axes.iter().position(|there| there == axis).unwrap())
                .collect();
            let mut other = laid.clone();
            other.layout = laid.layout.permuted(&order).unwrap();
            if places(&self.manifest.tensors[seen.tensor]) != places(&other) {
                return Err(format!("`{}` and `{}` do not lie alike", seen.name, write.name));
            }
        }
        Ok(())
    }
}

/// Cost of the operators in a plan.
pub(super) fn operators_cost(graph: &Graph, plan: &GraphPlan) -> u64 {
    let choices = graph.nodes.iter().zip(&plan.choices).map(|(node, k)| &node.choices[*k]);
    choices
        .filter(|choice| choice.lowering == OperatorLowering::Operator)
        .map(|choice| choice.cost)
        .sum()
}

fn extents(tensor: &Tensor) -> Vec<usize> {
    let axes = tensor.layout.logical().iter();
    axes.map(|axis| usize::try_from(axis.extent.as_const().unwrap()).unwrap()).collect()
}

pub(super) fn slots(tensor: &Tensor) -> usize {
    usize::try_from(tensor.layout.physical_elements().as_const().unwrap()).unwrap()
}

fn bytes(tensor: &Tensor) -> usize {
    (slots(tensor) * tensor.dtype.element_bits() as usize).div_ceil(8)
}

fn index(extents: &[usize], mut place: usize) -> Vec<usize> {
    let mut index = vec![0; extents.len()];
    for (k, extent) in index.iter_mut().zip(extents).rev() {
        *k = place % extent;
        place /= extent;
    }
    index
}

fn flat(extents: &[usize], index: &[usize]) -> usize {
    extents.iter().zip(index).fold(0, |place, (extent, k)| place * extent + k)
}

/// Slot of every element, row-major.
fn places(tensor: &Tensor) -> Vec<usize> {
    let extents = extents(tensor);
    let place = |place: usize| {
        let index: Vec<i128> =
            index(&extents, place).into_iter().map(|k| i128::try_from(k).unwrap()).collect();
        let at = tensor.layout.locate(&index, &[]).unwrap().offset;
        usize::try_from(at).unwrap()
    };
    (0..extents.iter().product()).map(place).collect()
}

fn load(tensor: &Tensor, buffer: &[u8], place: usize) -> u64 {
    let bits = tensor.dtype.element_bits();
    if let Some(packing) = Packing::new(bits, tensor.high_first) {
        return packing.load(buffer, place).unwrap().into();
    }
    let width = bits as usize / 8;
    let own = &buffer[place * width..(place + 1) * width];
    own.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn store(tensor: &Tensor, buffer: &mut [u8], place: usize, value: u64) {
    let bits = tensor.dtype.element_bits();
    if let Some(packing) = Packing::new(bits, tensor.high_first) {
        packing.store(buffer, place, u8::try_from(value).unwrap()).unwrap();
        return;
    }
    let width = bits as usize / 8;
    buffer[place * width..(place + 1) * width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Writes a tensor: its elements, and 0 to padding.
fn write(tensor: &Tensor, buffer: &mut [u8], values: &[u64]) {
    for slot in 0..slots(tensor) {
        store(tensor, buffer, slot, 0);
    }
    for (place, value) in places(tensor).into_iter().zip(values) {
        store(tensor, buffer, place, *value);
    }
}
