//! Enumeration of the prefixes of a subproblem whose cost is less than the subproblem's bound.

use super::super::data::{INFINITE, LARGEST};
use super::super::proof::ProofPart;
use super::ProofError;
use super::buckets::{EliminationStep, difference};

/// Checks the bound of the subproblem at position `number` in the proof, by a search over prefixes. A prefix is a list
/// of values of the variables at positions 0, 1, …; its cost never exceeds that of a longer one. The cost is exact once
/// the prefix includes the last position whose bucket has several groups. So the bound holds if no prefix of this
/// length costs less.
///
/// `steps` are the elimination steps of the subproblem by position. `nodes` limits the number of prefixes that cost
/// less than their bounds, in this subproblem and all later ones. Returns the limit for the later ones: `nodes` minus
/// `part.nodes`, or `nodes` itself if the empty prefix costs at least the bound. The search is depth-first and stores
/// one value and one cost per position.
///
/// # Errors
/// [`ProofError::PartBound`] if a prefix with an exact cost costs less than the bound, [`ProofError::Limits`] if more
/// prefixes than `part.nodes` or `nodes` allow cost less than the bound.
pub(super) fn walk(
    steps: &[EliminationStep],
    number: usize,
    part: &ProofPart,
    nodes: usize,
) -> Result<usize, ProofError> {
    let bound = if part.bound == INFINITE { i128::from(LARGEST) + 1 } else { part.bound.into() };
    let hard = steps.iter().rposition(|step| step.made.len() > 1).map_or(0, |last| last + 1);
    let start = start(steps);
    let Some(start) = start.filter(|&cost| cost < bound) else { return Ok(nodes) };
    let mut costs = vec![start];
    let mut values: Vec<usize> = Vec::new();
    let mut seen = 0usize;
    if hard == 0 {
        return Err(ProofError::PartBound { part: number });
    }
    values.push(0);
    while let Some(&value) = values.last() {
        let (step, cost) = (steps.get(values.len() - 1), costs.last().copied());
        let (Some(step), Some(cost)) = (step, cost) else { return Err(ProofError::Limits) };
        if value >= step.size {
            values.pop();
            costs.pop();
            if let Some(last) = values.last_mut() {
                *last += 1;
            }
            continue;
        }
        let next = difference(step, &values).map(|more| cost + more).filter(|&next| next < bound);
        let Some(next) = next else {
            if let Some(last) = values.last_mut() {
                *last += 1;
            }
            continue;
        };
        if values.len() >= hard {
            return Err(ProofError::PartBound { part: number });
        }
        seen += 1;
        // The solver may exceed its limit by one domain.
        if seen > part.nodes || seen > nodes.saturating_add(step.size) {
            return Err(ProofError::Limits);
        }
        costs.push(next);
        values.push(0);
    }
    Ok(nodes.saturating_sub(part.nodes))
}

/// Cost of the empty prefix: sum of the tables without variables after all eliminations; `None` if it is infinite.
fn start(steps: &[EliminationStep]) -> Option<i128> {
    let ends = steps.iter().flat_map(|step| &step.made).filter(|table| table.axes.is_empty());
    let mut sum = 0i128;
    for table in ends {
        let cost = table.at(&[]);
        if cost == INFINITE {
            return None;
        }
        sum += i128::from(cost);
    }
    Some(sum)
}
