//! `Loop` and `Scan`: the shapes of what they give.

use std::collections::BTreeSet;

use super::bodies::Body;
use super::call::{Call, Shaped, extent, large};
use super::elements::Values;
use super::fault::{Shaping, Unshaped, listed};
use super::proto;
use super::trace::{Step, Tracer};
use crate::dtype::Scalar;

/// The most turns that are followed one by one.
const MAX_TURNS: i64 = 4096;

/// Shapes of results, and the tensors around the graph that it reads.
type Found = (Shaping<Vec<Shaped>>, Vec<usize>);

/// How a loop begins.
struct Start {
    /// The most turns, where that is known; no number at all where there is no limit.
    most: Option<i64>,
    /// Whether there is a first turn, where that is known.
    is_begun: Option<bool>,
    carried: Vec<Shaped>,
}

impl<'a> Tracer<'a> {
    /// Operands: (most turns, whether there is a first one, what is carried); the graph's: (turn, condition, what is carried).
    pub(super) fn looped(
        &mut self,
        inputs: &[Option<usize>],
        body: &'a proto::Graph,
    ) -> Step<Found> {
        let Some(start) = self.start(inputs) else {
            return Ok((Err(Unshaped::Wrong("an operand is missing".to_owned())), Vec::new()));
        };
        match self.any_turn(&start, body) {
            Ok((Ok(shapes), read)) => Ok((Ok(shapes), read)),
            // The shapes of a turn may follow from its number, or from what was carried so far.
            Ok((Err(_), _)) | Err(_) => self.turn_by_turn(start, body),
        }
    }

    fn start(&self, inputs: &[Option<usize>]) -> Option<Start> {
        let shaped = |k: usize| inputs.get(k).copied().flatten().and_then(|k| self.shaped(k));
        let number = |k: usize| match shaped(k)?.known.as_ref()?.integers()? {
            [number] => Some(*number),
            _ => None,
        };
        let is_left_out = |k: usize| inputs.get(k).copied().flatten().is_none();
        let carried = (2..inputs.len()).map(|k| shaped(k).cloned()).collect::<Option<_>>()?;
        let is_begun = if is_left_out(1) { Some(true) } else { number(1).map(|truth| truth != 0) };
        let most = if is_left_out(0) { Some(i64::MAX) } else { number(0).map(|most| most.max(0)) };
        Some(Start { most, is_begun, carried })
    }

    /// The shapes of a turn of which no number is known: those of all turns, where what is carried keeps its shape.
    fn any_turn(&mut self, start: &Start, body: &'a proto::Graph) -> Step<Found> {
        let unknown = |shaped: &Shaped| Shaped { known: None, ..shaped.clone() };
        let carried: Vec<Shaped> = start.carried.iter().map(unknown).collect();
        let scalar = |dtype| Shaped::new(dtype, Vec::new());
        let mut operands = vec![scalar(Scalar::I64), scalar(Scalar::Bool)];
        operands.extend(carried.iter().cloned());
        let found = self.body(body, operands)?;
        let [condition, results @ ..] = found.results.as_slice() else {
            return Ok((Err(Unshaped::Wrong("`Loop` gives nothing".to_owned())), found.read));
        };
        // It runs to the end where the condition is its own operand, or always true.
        let runs_on = truth(condition) == Some(true) || found.same.first() == Some(&Some(1));
        let turns = start.most.filter(|_| start.is_begun == Some(true) && runs_on);
        Ok((after(&carried, results, turns, &[]), found.read))
    }

    /// The shapes at the end, each turn followed with what is known of its number and of what was carried so far.
    fn turn_by_turn(&mut self, start: Start, body: &'a proto::Graph) -> Step<Found> {
        let mut turns = Turns { carried: start.carried, scanned: None, ends: Vec::new() };
        let mut read = BTreeSet::new();
        let mut goes_on = start.is_begun;
        let mut turn = 0;
        loop {
            if goes_on != Some(true) || start.most.is_none_or(|most| turn >= most) {
                turns.ends.push((turn, turns.carried.clone()));
            }
            if goes_on == Some(false) || start.most.is_some_and(|most| turn >= most) {
                break;
            }
            if turn >= MAX_TURNS {
                let message = format!("there may be more than {MAX_TURNS} turns");
                return Ok((Err(Unshaped::Open(message)), read.into_iter().collect()));
            }
            let number = |dtype, value| Shaped {
                dtype,
                shape: Vec::new(),
                known: Some(Values::Integers(vec![value])),
            };
            let mut operands = vec![number(Scalar::I64, turn), number(Scalar::Bool, 1)];
            operands.extend(turns.carried.iter().cloned());
            let found = self.body(body, operands)?;
            read.extend(found.read.iter().copied());
            goes_on = found.results.first().and_then(truth);
            if let Err(why) = turns.take(found) {
                return Ok((Err(why), read.into_iter().collect()));
            }
            turn += 1;
        }
        Ok((turns.results(), read.into_iter().collect()))
    }

    /// Operands: (states, what is scanned); the graph's: (states, one element of each).
    pub(super) fn scanned(
        &mut self,
        node: &proto::Node,
        inputs: &[Option<usize>],
        body: &'a proto::Graph,
    ) -> Step<Found> {
        let call = Call { node, opset: self.opset(), inputs: Vec::new(), outputs: 0 };
        let scanned = call.integer("num_scan_inputs").unwrap_or(0);
        let states =
            usize::try_from(scanned).ok().and_then(|count| inputs.len().checked_sub(count));
        let all: Option<Vec<Shaped>> = inputs
            .iter()
            .map(|k| self.shaped((*k)?).map(|shaped| Shaped { known: None, ..shaped.clone() }))
            .collect();
        let (Some(states), Some(mut operands)) = (states, all) else {
            return Ok((Err(Unshaped::Wrong("an operand is missing".to_owned())), Vec::new()));
        };
        let axes = call.integers("scan_input_axes").unwrap_or_default();
        let mut turns = None;
        for (k, operand) in operands.iter_mut().skip(states).enumerate() {
            match Call::axis(axes.get(k).copied().unwrap_or(0), operand.shape.len()) {
                Ok(axis) => turns = Some(operand.shape.remove(axis)),
                Err(why) => return Ok((Err(why), Vec::new())),
            }
        }
        let carried: Vec<Shaped> = operands.iter().take(states).cloned().collect();
        let found = self.body(body, operands)?;
        let axes = call.integers("scan_output_axes").unwrap_or_default();
        let turns = turns.and_then(|turns| i64::try_from(turns).ok());
        Ok((after(&carried, &found.results, turns, axes), found.read))
    }
}

/// Turns that are followed.
struct Turns {
    /// What is carried now.
    carried: Vec<Shaped>,
    /// What each turn gives besides.
    scanned: Option<Vec<Shaped>>,
    /// After how many turns it may end, and what is carried then.
    ends: Vec<(i64, Vec<Shaped>)>,
}

impl Turns {
    fn take(&mut self, found: Body) -> Shaping<()> {
        let mut results = found.results.into_iter().skip(1);
        self.carried = results.by_ref().take(self.carried.len()).collect();
        let scanned: Vec<Shaped> = results.map(|one| Shaped { known: None, ..one }).collect();
        match &self.scanned {
            Some(before) if *before != scanned => Err(Unshaped::Open(
                "what one turn gives has another shape than what the next one does".to_owned(),
            )),
            _ => {
                self.scanned = Some(scanned);
                Ok(())
            }
        }
    }

    /// What is carried in the end, the same wherever it ends, then what all turns give.
    fn results(self) -> Shaping<Vec<Shaped>> {
        let Some(((turns, carried), others)) = self.ends.split_first() else {
            return Err(Unshaped::Open("it does not end".to_owned()));
        };
        for (_, other) in others {
            let is_alike = |(a, b): &(&Shaped, &Shaped)| a.shape == b.shape && a.dtype == b.dtype;
            if let Some((a, b)) = carried.iter().zip(other).find(|pair| !is_alike(pair)) {
                let (a, b) = (listed(&a.shape), listed(&b.shape));
                return Err(Unshaped::Open(format!(
                    "what is carried may be {a} or {b} in the end"
                )));
            }
        }
        let scanned = self.scanned.unwrap_or_default();
        let turns = Some(*turns).filter(|_| others.is_empty());
        let all = [carried.as_slice(), &scanned].concat();
        after(carried, &all, turns, &[])
    }
}

/// Whether a condition is true, where that is known.
fn truth(condition: &Shaped) -> Option<bool> {
    match condition.known.as_ref()?.integers()? {
        [truth] => Some(*truth != 0),
        _ => None,
    }
}

/// The results of a loop: what is carried, which must keep its shape, then what each turn gives, along an axis of turns.
fn after(
    carried: &[Shaped],
    results: &[Shaped],
    turns: Option<i64>,
    axes: &[i64],
) -> Shaping<Vec<Shaped>> {
    let mut all = Vec::new();
    for (k, result) in results.iter().enumerate() {
        let mut shape = result.shape.clone();
        match (carried.get(k), turns) {
            (Some(before), _) if before.shape != shape || before.dtype != result.dtype => {
                let (before, after) = (listed(&before.shape), listed(&shape));
                let message =
                    format!("what is carried is {before} before a turn, {after} after it");
                return Err(Unshaped::Open(message));
            }
            (Some(_), _) => {}
            (None, Some(turns)) => {
                let axis = axes.get(k - carried.len()).copied().unwrap_or(0);
                let axis = Call::axis(axis, large(shape.len().checked_add(1))?)?;
                shape.insert(axis, extent(turns)?);
            }
            (None, None) => {
                let message = "how many turns there are is known only when the model runs";
                return Err(Unshaped::Open(message.to_owned()));
            }
        }
        all.push(Shaped::new(result.dtype, shape));
    }
    Ok(all)
}
