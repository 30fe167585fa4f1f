//! Shape inference for the loops of ONNX, `Loop` and `Scan`, whose bodies are subgraphs.

use std::collections::BTreeSet;

use super::call::{OnnxCall, ShapedTensor, check_overflow, extent};
use super::error::{ShapeError, ShapeResult, listed};
use super::proto;
use super::shape_inference::{InferResult, ShapeInference};
use super::subgraphs::SubgraphSummary;
use crate::base::dtype::Scalar;

/// Maximum number of iterations that are evaluated one by one. The results of a loop that needs more are unknown.
const MAX_TURNS: i64 = 4096;

/// Pair `(results, read)` for a loop: the inferred results or an error, and the positions of the tensors outside the
/// loop that its body reads.
type LoopShapes = (ShapeResult<Vec<ShapedTensor>>, Vec<usize>);

/// State of a `Loop` before its first iteration.
struct LoopStart {
    /// Maximum trip count; `None` if unknown, `i64::MAX` if there is no limit.
    most: Option<i64>,
    /// Initial condition: true if the loop may have a first iteration; `None` if unknown.
    is_begun: Option<bool>,
    carried: Vec<ShapedTensor>,
}

impl<'a> ShapeInference<'a> {
    /// Infers the results of a `Loop`. `inputs` are the positions of its operands: maximum trip count, initial
    /// condition, carried values. The operands of its body are the iteration number, the condition and the carried
    /// values.
    pub(super) fn infer_loop(
        &mut self,
        inputs: &[Option<usize>],
        body: &'a proto::OnnxGraph,
    ) -> InferResult<LoopShapes> {
        let Some(start) = self.start(inputs) else {
            return Ok((Err(ShapeError::Mismatch("an operand is missing".to_owned())), Vec::new()));
        };
        match self.infer_iteration(&start, body) {
            Ok((Ok(shapes), read)) => Ok((Ok(shapes), read)),
            // The shapes of an iteration may depend on its number or on carried values.
            Ok((Err(_), _)) | Err(_) => self.unroll_iterations(start, body),
        }
    }

    fn start(&self, inputs: &[Option<usize>]) -> Option<LoopStart> {
        let shaped = |k: usize| inputs.get(k).copied().flatten().and_then(|k| self.shaped(k));
        let number = |k: usize| shaped(k)?.number();
        let is_left_out = |k: usize| inputs.get(k).copied().flatten().is_none();
        let carried = (2..inputs.len()).map(|k| shaped(k).cloned()).collect::<Option<_>>()?;
        let is_begun = if is_left_out(1) { Some(true) } else { number(1).map(|truth| truth != 0) };
        let most = if is_left_out(0) { Some(i64::MAX) } else { number(0).map(|most| most.max(0)) };
        Some(LoopStart { most, is_begun, carried })
    }

    /// Infers the results of a `Loop` from one iteration whose operands have unknown elements. The results hold for all
    /// iterations, because it is an error if the iteration changes the shape of a carried value. An error too if
    /// results are stacked and the trip count is unknown.
    fn infer_iteration(
        &mut self,
        start: &LoopStart,
        body: &'a proto::OnnxGraph,
    ) -> InferResult<LoopShapes> {
        let unknown = |shaped: &ShapedTensor| ShapedTensor { known: None, ..shaped.clone() };
        let carried: Vec<ShapedTensor> = start.carried.iter().map(unknown).collect();
        let scalar = |dtype| ShapedTensor::new(dtype, Vec::new());
        let mut operands = vec![scalar(Scalar::I64), scalar(Scalar::Bool)];
        operands.extend(carried.iter().cloned());
        let found = self.body(body, operands)?;
        let [condition, results @ ..] = found.results.as_slice() else {
            return Ok((Err(ShapeError::Mismatch("`Loop` has no results".to_owned())), found.read));
        };
        // The loop runs to its maximum trip count if the condition is passed through or constant true.
        let runs_on = condition.number().is_some_and(|truth| truth != 0)
            || found.same.first() == Some(&Some(1));
        let turns = start.most.filter(|_| start.is_begun == Some(true) && runs_on);
        Ok((after(&carried, results, turns, &[]), found.read))
    }

    /// Infers the results of a `Loop` by evaluating its iterations one by one. The iteration number is constant, and so
    /// are the carried values whose elements are known. The error is [`ShapeError::DataDependent`] if there may be more
    /// than [`MAX_TURNS`] iterations, if the shape of a stacked result differs between two iterations, if that of a
    /// carried value differs between two possible exits, or if results are stacked and the trip count is unknown.
    fn unroll_iterations(
        &mut self,
        start: LoopStart,
        body: &'a proto::OnnxGraph,
    ) -> InferResult<LoopShapes> {
        let mut turns = UnrolledLoop { carried: start.carried, scanned: None, ends: Vec::new() };
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
                let message = format!("there may be more than {MAX_TURNS} iterations");
                return Ok((Err(ShapeError::DataDependent(message)), read.into_iter().collect()));
            }
            let mut operands = vec![
                ShapedTensor::integer(Scalar::I64, turn),
                ShapedTensor::integer(Scalar::Bool, 1),
            ];
            operands.extend(turns.carried.iter().cloned());
            let found = self.body(body, operands)?;
            read.extend(found.read.iter().copied());
            goes_on = found.results.first().and_then(ShapedTensor::number).map(|truth| truth != 0);
            if let Err(why) = turns.take(found) {
                return Ok((Err(why), read.into_iter().collect()));
            }
            turn += 1;
        }
        Ok((turns.results(), read.into_iter().collect()))
    }

    /// Infers the results of a `Scan`. `inputs` are the positions of its operands: the initial states, then the scanned
    /// tensors. The operands of its body are the current states, then one slice of each scanned tensor.
    pub(super) fn infer_scan(
        &mut self,
        node: &proto::OnnxNode,
        inputs: &[Option<usize>],
        body: &'a proto::OnnxGraph,
    ) -> InferResult<LoopShapes> {
        let call = OnnxCall { node, opset: self.network.opset, inputs: Vec::new(), outputs: 0 };
        let scanned = call.integer("num_scan_inputs").unwrap_or(0);
        let states =
            usize::try_from(scanned).ok().and_then(|count| inputs.len().checked_sub(count));
        let all: Option<Vec<ShapedTensor>> =
            inputs.iter().map(|k| self.shaped((*k)?).map(ShapedTensor::unknown)).collect();
        let (Some(states), Some(mut operands)) = (states, all) else {
            return Ok((Err(ShapeError::Mismatch("an operand is missing".to_owned())), Vec::new()));
        };
        let axes = call.integers("scan_input_axes").unwrap_or_default();
        let mut turns = None;
        for (k, operand) in operands.iter_mut().skip(states).enumerate() {
            match OnnxCall::axis(axes.get(k).copied().unwrap_or(0), operand.shape.len()) {
                Ok(axis) => turns = Some(operand.shape.remove(axis)),
                Err(why) => return Ok((Err(why), Vec::new())),
            }
        }
        let carried: Vec<ShapedTensor> = operands.iter().take(states).cloned().collect();
        let found = self.body(body, operands)?;
        let axes = call.integers("scan_output_axes").unwrap_or_default();
        let turns = turns.and_then(|turns| i64::try_from(turns).ok());
        Ok((after(&carried, &found.results, turns, axes), found.read))
    }
}

/// State of a `Loop` whose iterations are evaluated one by one.
struct UnrolledLoop {
    /// Values that the loop carries from one iteration to the next, after the last evaluated iteration.
    carried: Vec<ShapedTensor>,
    /// Results of one iteration that the loop stacks along a new axis, with unknown elements; `None` before the first
    /// iteration.
    scanned: Option<Vec<ShapedTensor>>,
    /// Pairs `(iterations, carried)`, one for each possible exit of the loop: the number of completed iterations, and
    /// the carried values after them.
    ends: Vec<(i64, Vec<ShapedTensor>)>,
}

impl UnrolledLoop {
    fn take(&mut self, found: SubgraphSummary) -> ShapeResult<()> {
        let mut results = found.results.into_iter().skip(1);
        self.carried = results.by_ref().take(self.carried.len()).collect();
        let scanned: Vec<ShapedTensor> = results.map(|one| one.unknown()).collect();
        match &self.scanned {
            Some(before) if *before != scanned => Err(ShapeError::DataDependent(
                "scan outputs have different shapes in two iterations".to_owned(),
            )),
            _ => {
                self.scanned = Some(scanned);
                Ok(())
            }
        }
    }

    /// Results of the loop: the final carried values, whose shapes must be equal at every exit, then the stacked
    /// results.
    fn results(self) -> ShapeResult<Vec<ShapedTensor>> {
        let Some(((turns, carried), others)) = self.ends.split_first() else {
            return Err(ShapeError::DataDependent("the loop does not terminate".to_owned()));
        };
        for (_, other) in others {
            let is_alike =
                |(a, b): &(&ShapedTensor, &ShapedTensor)| a.shape == b.shape && a.dtype == b.dtype;
            if let Some((a, b)) = carried.iter().zip(other).find(|pair| !is_alike(pair)) {
                let (a, b) = (listed(&a.shape), listed(&b.shape));
                return Err(ShapeError::DataDependent(format!(
                    "a carried value may have shape {a} or {b} at the end"
                )));
            }
        }
        let scanned = self.scanned.unwrap_or_default();
        let turns = Some(*turns).filter(|_| others.is_empty());
        let all = [carried.as_slice(), &scanned].concat();
        after(carried, &all, turns, &[])
    }
}

/// Results of a loop from `results`, the results of one iteration. The first ones are the carried values; an error if
/// their shapes or types differ from those of `carried`. The others are stacked along a new axis of extent `turns`, the
/// trip count: the axis of stacked result `k` is inserted at position `axes[k]`, by default 0. An error if results are
/// stacked and `turns` is `None`.
fn after(
    carried: &[ShapedTensor],
    results: &[ShapedTensor],
    turns: Option<i64>,
    axes: &[i64],
) -> ShapeResult<Vec<ShapedTensor>> {
    let mut all = Vec::new();
    for (k, result) in results.iter().enumerate() {
        let mut shape = result.shape.clone();
        match (carried.get(k), turns) {
            (Some(before), _) if before.shape != shape || before.dtype != result.dtype => {
                let (before, after) = (listed(&before.shape), listed(&shape));
                let message = format!(
                    "a carried value has shape {before} before an iteration and {after} after it"
                );
                return Err(ShapeError::DataDependent(message));
            }
            (Some(_), _) => {}
            (None, Some(turns)) => {
                let axis = axes.get(k - carried.len()).copied().unwrap_or(0);
                let axis = OnnxCall::axis(axis, check_overflow(shape.len().checked_add(1))?)?;
                shape.insert(axis, extent(turns)?);
            }
            (None, None) => {
                let message = "the trip count is known only when the model runs";
                return Err(ShapeError::DataDependent(message.to_owned()));
            }
        }
        all.push(ShapedTensor::new(result.dtype, shape));
    }
    Ok(all)
}
