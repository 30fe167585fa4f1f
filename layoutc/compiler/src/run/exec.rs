//! Execution of steps on two buffers.

use crate::machine::CPU;
use rayon::prelude::*;

use super::RunError;
use super::blocks::{self, Block, Runs, Strided};
use super::packed::Packing;
use super::share::Share;
use super::step::{Each, Loop, Operand, Step, Width};
use super::transpose::transpose;
use super::value::{LANES, Program, Room};

/// State of the interpreter: buffers and values of the variables.
struct Machine<'a> {
    source: &'a [u8],
    target: &'a mut [u8],
    /// Offset of `target` in the whole destination, in bytes.
    before: i64,
    slots: Vec<i64>,
    room: Room,
    /// Part of a loop that this thread runs: slot of the loop variable, first value and exclusive end of the part.
    /// `None` if it runs every loop as a whole.
    only: Option<(usize, i64, i64)>,
}

/// Executes steps on the whole buffers `source` and `target`. `slots` is the number of variables.
pub(super) fn execute(
    steps: &[Step],
    slots: usize,
    source: &[u8],
    target: &mut [u8],
) -> Result<(), RunError> {
    let mut machine = Machine {
        source,
        target,
        before: 0,
        slots: vec![0; slots],
        room: Room::default(),
        only: None,
    };
    machine.all(steps)
}

impl Machine<'_> {
    fn all(&mut self, steps: &[Step]) -> Result<(), RunError> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn at(&mut self, program: &Program) -> i64 {
        program.at(&self.slots, &mut self.room)
    }

    fn set(&mut self, slot: usize, value: i64) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), RunError> {
        let moved = match step {
            Step::Let { slot, value } => {
                let value = self.at(value);
                self.set(*slot, value);
                Some(())
            }
            Step::Loop(nest) => return self.counted(nest),
            Step::If { condition, body, otherwise } => {
                let body = if self.at(condition) != 0 { body } else { otherwise };
                return self.all(body);
            }
            Step::Each(each) => self.each(each),
            Step::Copy { from, to, bytes } => {
                let (from, to, bytes) = (self.at(from), self.at(to), self.at(bytes));
                blocks::copy(self.source, self.target, from, to - self.before, bytes)
            }
            Step::Runs(parts) => {
                let [from, from_stride, to, to_stride, count, bytes] = self.six(parts);
                let to = to - self.before;
                let runs = Runs { from, from_stride, to, to_stride, count, bytes };
                blocks::runs(self.source, self.target, &runs)
            }
            Step::Transpose { element_bytes, block } => {
                let [from, from_stride, to, to_stride, rows, columns] = self.six(block);
                let to = to - self.before;
                let block = Block { from, from_stride, to, to_stride, rows, columns };
                transpose(self.source, self.target, *element_bytes, &block)
            }
            Step::Zeros(parts) => {
                let [to, stride, count, bytes] = parts.each_ref().map(|part| self.at(part));
                blocks::zeros(self.target, [to - self.before, stride, count, bytes])
            }
            Step::Assert { condition } => {
                return if self.at(condition) == 0 { Err(RunError::Symbols) } else { Ok(()) };
            }
        };
        moved.ok_or(RunError::Outside)
    }

    fn six(&mut self, parts: &[Program; 6]) -> [i64; 6] {
        parts.each_ref().map(|part| self.at(part))
    }

    fn counted(&mut self, nest: &Loop) -> Result<(), RunError> {
        if let Some(share) = &nest.share
            && self.target.len() >= CPU.shared_move_bytes
        {
            return self.shared(nest, share);
        }
        self.rounds(nest)
    }

    fn rounds(&mut self, nest: &Loop) -> Result<(), RunError> {
        let (mut value, mut to) = (self.at(&nest.from), self.at(&nest.to));
        if let Some((slot, first, end)) = self.only
            && slot == nest.slot
        {
            (value, to) = (first, end);
        }
        while value < to {
            self.set(nest.slot, value);
            self.all(&nest.body)?;
            value = value.saturating_add(nest.step.max(1));
        }
        Ok(())
    }

    /// Runs a nest in parallel: each task runs consecutive iterations of the loop of `share` and writes to its own
    /// window of the destination.
    fn shared(&mut self, nest: &Loop, share: &Share) -> Result<(), RunError> {
        let threads = i64::try_from(rayon::current_num_threads()).unwrap_or(1).max(1);
        let (step, length) = (share.step.max(1), share.to.saturating_sub(share.from));
        let rounds = length.saturating_add(step - 1).checked_div(step).unwrap_or(0);
        let several =
            rounds.checked_div(threads.saturating_mul(CPU.pieces_per_thread)).unwrap_or(0).max(1);
        let (source, slots) = (self.source, &self.slots);
        let windows = self.target.get_mut(share.first..).ok_or(RunError::Outside)?;
        let bytes = usize::try_from(several).ok().and_then(|n| share.window.checked_mul(n));
        let windows = windows.par_chunks_mut(bytes.ok_or(RunError::Outside)?);
        let pieces = windows.enumerate().map(|(number, target)| {
            let number = i64::try_from(number).map_err(|_| RunError::Outside)?;
            let first = number.saturating_mul(several).saturating_mul(step);
            let first = first.saturating_add(share.from).min(share.to);
            let end = first.saturating_add(several.saturating_mul(step)).min(share.to);
            let window = share.window.checked_mul(usize::try_from(number * several).unwrap_or(0));
            let before = window.and_then(|bytes| bytes.checked_add(share.first));
            let mut machine = Machine {
                source,
                target,
                before: before.and_then(|b| i64::try_from(b).ok()).ok_or(RunError::Outside)?,
                slots: slots.clone(),
                room: Room::default(),
                only: Some((share.slot, first, end)),
            };
            if first < end { machine.rounds(nest) } else { Ok(()) }
        });
        pieces.collect()
    }

    /// Executes a loop whose body is a single store; `None` if an access is outside a buffer.
    fn each(&mut self, each: &Each) -> Option<()> {
        let (mut from, mut to) = (self.at(&each.from), self.at(&each.to));
        if let Some((slot, first, end)) = self.only
            && slot == each.slot
        {
            (from, to) = (first, end);
        }
        let step = each.step.max(1);
        if from >= to {
            return Some(());
        }
        let count = to.checked_sub(from)?.checked_add(step - 1)?.checked_div(step)?;
        self.set(each.slot, from);
        match each.width {
            Width::Bytes(bytes) => self.each_whole(each, bytes, step, count),
            Width::Packed(packing) => self.each_packed(each, packing, step, count),
        }
    }

    fn each_whole(&mut self, each: &Each, bytes: usize, step: i64, count: i64) -> Option<()> {
        let before = self.before.checked_div(i64::try_from(bytes).ok()?)?;
        if let Some(index) = each.index.as_affine() {
            let to_stride = index.along(each.slot).wrapping_mul(step);
            let to = self.at(&each.index).wrapping_sub(before);
            match &each.operand {
                Operand::Constant(element) => {
                    return blocks::fill(self.target, element, to, to_stride, count);
                }
                Operand::Load(load) => {
                    if let Some(sum) = load.as_affine() {
                        let from_stride = sum.along(each.slot).wrapping_mul(step);
                        let from = self.at(load);
                        let moves = Strided { from, from_stride, to, to_stride, count };
                        return blocks::strided(self.source, self.target, bytes, &moves);
                    }
                }
            }
        }
        self.in_lanes(each, step, count, |source, target, from, to| {
            let to = usize::try_from(to.wrapping_sub(before)).ok()?.checked_mul(bytes)?;
            let target = target.get_mut(to..to.checked_add(bytes)?)?;
            match from {
                Ok(from) => {
                    let from = usize::try_from(from).ok()?.checked_mul(bytes)?;
                    target.copy_from_slice(source.get(from..from.checked_add(bytes)?)?);
                }
                Err(element) if element.len() == bytes => target.copy_from_slice(element),
                Err(_) => return None,
            }
            Some(())
        })
    }

    fn each_packed(&mut self, each: &Each, packing: Packing, step: i64, count: i64) -> Option<()> {
        self.in_lanes(each, step, count, |source, target, from, to| {
            let bits = match from {
                Ok(from) => packing.load(source, usize::try_from(from).ok()?)?,
                Err(element) => *element.first()?,
            };
            packing.store(target, usize::try_from(to).ok()?, bits)
        })
    }

    /// Calls `one` for each of `count` iterations, in which the loop variable of `each` grows by `step`. The arguments
    /// are the source buffer, the target buffer, the value to store (`Ok` with a source index or `Err` with the bytes
    /// of a constant), and the destination index. Indices are in elements. `None` if `one` returns `None`, or if the
    /// loop variable overflows.
    fn in_lanes(
        &mut self,
        each: &Each,
        step: i64,
        count: i64,
        mut one: impl FnMut(&[u8], &mut [u8], Result<i64, &[u8]>, i64) -> Option<()>,
    ) -> Option<()> {
        let lanes = i64::try_from(LANES).ok()?;
        let along = (each.slot, step);
        let mut done = 0;
        while done < count {
            let some = usize::try_from(lanes.min(count - done)).ok()?;
            let to = each.index.lanes(&self.slots, along, &mut self.room);
            match &each.operand {
                Operand::Load(load) => {
                    let from = load.lanes(&self.slots, along, &mut self.room);
                    for (from, to) in from.iter().zip(&to).take(some) {
                        one(self.source, self.target, Ok(*from), *to)?;
                    }
                }
                Operand::Constant(element) => {
                    for to in to.iter().take(some) {
                        one(self.source, self.target, Err(element), *to)?;
                    }
                }
            }
            done += lanes;
            let value = self.slots.get(each.slot).copied()?;
            self.set(each.slot, value.checked_add(lanes.checked_mul(step)?)?);
        }
        Some(())
    }
}
