//! What becomes of each output.

use std::collections::BTreeMap;

use layoutc_compiler::diagnostic::Diagnostic;

use crate::fault::Fault;
use crate::output::{
    self, New, Standing, Status, Strictness, Survey, collisions, left_over, listing, survey,
};
use crate::state::fact::{Fact, Hash, Known};
use crate::state::lock::Lock;

use super::job::Job;
use super::make::Made;
use super::scan::Scan;

/// What a build does to its output folder.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Paths in the output folder, with what becomes of them.
    pub(super) files: BTreeMap<String, Planned>,
    /// Outputs that are as they should be, where what is known of the file is new.
    known: Vec<(String, Known)>,
}

/// What becomes of one output.
#[derive(Debug)]
pub(crate) struct Planned {
    /// In a word.
    pub(super) status: Status,
    /// What is to be written, its hash, and whether nothing stands there yet.
    new: Option<(String, Hash, bool)>,
}

/// Compares what was made with what stands in the output folder; touches nothing. All refusals are found.
pub(super) fn plan(
    job: &Job<'_>,
    scan: &mut Scan,
    made: &mut Made,
    strictness: Strictness,
) -> Result<Result<Plan, Vec<Diagnostic>>, Fault> {
    let known = &job.log.facts;
    let new: Vec<_> = made.emitted.values_mut().flat_map(|files| &mut files.outputs).collect();
    let old = scan.standing.keys().map(String::as_str);
    let paths = old.chain(new.iter().map(|(output, _)| output.path.as_str()));
    let mut refusals = if new.is_empty() { Vec::new() } else { collisions(paths) };
    let wanted = new.iter().map(|(output, hash)| (output.path.as_str(), hash));
    let mut standing: Survey = survey(&job.home, wanted, known, strictness)?;
    refusals.extend(scan.refusals().cloned());
    refusals.extend(standing.values().filter_map(|s| Some(s.as_ref().err()?.as_ref().clone())));
    if !refusals.is_empty() {
        return Ok(Err(refusals));
    }
    let mut plan = Plan::default();
    for (output, hash) in new {
        let planned = match standing.get(&output.path) {
            Some(Ok(Standing::Same(_))) => continue,
            other => {
                let is_first = matches!(other, Some(Ok(Standing::Nothing)));
                let text = std::mem::take(&mut output.text);
                Planned { status: Status::Written, new: Some((text, *hash, is_first)) }
            }
        };
        plan.files.insert(output.path.clone(), planned);
    }
    standing.append(&mut scan.standing);
    let mut unchanged = Vec::with_capacity(standing.len());
    for (path, standing) in standing {
        let Ok(Standing::Same(now)) = standing else { continue };
        if known.outputs.get(&path) != Some(&now) {
            plan.known.push((path.clone(), now));
        }
        unchanged.push((path, Planned { status: Status::Unchanged, new: None }));
    }
    plan.files.append(&mut unchanged.into_iter().collect());
    let asked = |path: &str| plan.files.contains_key(path);
    let left_over = if made.emitted.is_empty() {
        std::mem::take(&mut scan.left_over)
    } else {
        left_over(&job.home, listing(&job.home, &job.sweep)?, &asked, known)?
    };
    for path in left_over {
        plan.files.insert(path, Planned { status: Status::Removed, new: None });
    }
    Ok(Ok(plan))
}

impl Plan {
    /// What was found of outputs that are as they should be.
    pub(super) fn facts(&self) -> Vec<Fact> {
        self.known.iter().map(|(path, known)| Fact::Output(path.clone(), *known)).collect()
    }

    /// What must be known of outputs before they are written: those that say nothing of themselves are layoutc's own
    /// also if this build is killed.
    pub(super) fn coming(&self) -> Vec<Fact> {
        let new =
            self.files.iter().filter_map(|(path, planned)| Some((path, planned.new.as_ref()?)));
        new.filter(|(path, _)| !output::has_seal(path))
            .map(|(path, (_, hash, _))| Fact::Coming(path.clone(), *hash))
            .collect()
    }
}

/// Writes what is new and removes what is left over; the facts that follow.
pub(super) fn apply(job: &Job<'_>, plan: &Plan, lock: &Lock) -> Result<Vec<Fact>, Fault> {
    let new: BTreeMap<&str, New<'_>> = plan
        .files
        .iter()
        .filter_map(|(path, planned)| {
            let (text, hash, is_first) = planned.new.as_ref()?;
            Some((path.as_str(), New { text, hash, is_first: *is_first }))
        })
        .collect();
    let removed = plan.files.iter().filter(|(_, planned)| planned.status == Status::Removed);
    let removed: Vec<String> = removed.map(|(path, _)| path.clone()).collect();
    if new.is_empty() && removed.is_empty() {
        return Ok(Vec::new());
    }
    output::apply(&job.home, &job.state, &new, &removed, lock)
}
