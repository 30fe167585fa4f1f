//! What becomes of each output.

use std::collections::BTreeMap;

use layoutc_compiler::Output;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::fault::Fault;
use crate::output::{self, New, Standing, Status, Strictness, Wanted, collisions, survey};
use crate::state::fact::{Fact, Hash, Known, Paths};
use crate::state::lock::Lock;

use super::job::Job;
use super::make::Made;
use super::scan::Scan;

/// What a build does to its output folder.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Paths in the output folder, with what becomes of them; those that need not be made are not among them.
    pub(super) files: BTreeMap<String, Planned>,
    /// How many need not be made.
    pub(super) kept: usize,
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
    scan: &Scan<'_>,
    made: &mut Made,
    strictness: Strictness,
) -> Result<Result<Plan, Vec<Diagnostic>>, Fault> {
    let known = &job.log.facts;
    let is_new = !made.emitted.is_empty();
    let new: Vec<_> = made.emitted.values_mut().flat_map(|files| &mut files.outputs).collect();
    let wanted = new.iter().map(|(Output { path, .. }, hash)| Wanted {
        path,
        hash,
        known: known.output(path),
    });
    let wanted: Vec<Wanted<'_>> = wanted.collect();
    // No two of what a former build found alone are one file.
    let kept: Paths<'_> = if scan.is_same { Paths::default() } else { scan.kept(job).collect() };
    let paths = kept.iter().copied().chain(wanted.iter().map(|wanted| wanted.path));
    let mut refusals = collisions(paths);
    let standing = survey(&job.home, &wanted, known, strictness)?;
    refusals.extend(scan.refusals().cloned());
    refusals.extend(standing.values().filter_map(|s| Some(s.as_ref().err()?.as_ref().clone())));
    if !refusals.is_empty() {
        return Ok(Err(refusals));
    }
    let mut plan = Plan { kept: scan.kept(job).count(), ..Plan::default() };
    let planned = new.into_iter().map(|(output, hash)| {
        let planned = match standing.get(&output.path) {
            None | Some(Ok(Standing::Same(_))) => Planned { status: Status::Unchanged, new: None },
            other => {
                let is_first = matches!(other, Some(Ok(Standing::Nothing)));
                let text = std::mem::take(&mut output.text);
                Planned { status: Status::Written, new: Some((text, *hash, is_first)) }
            }
        };
        (output.path.clone(), planned)
    });
    plan.files = planned.collect();
    for (path, standing) in standing.iter().chain(&scan.standing) {
        if let Ok(Standing::Same(now)) = standing
            && known.output(path) != Some(now)
        {
            plan.known.push((path.clone(), *now));
        }
    }
    let left_over = if is_new {
        let is_asked = |path: &str| kept.contains(path) || plan.files.contains_key(path);
        scan.found.left_over(job, &is_asked)?
    } else {
        scan.left_over.clone()
    };
    for path in left_over {
        plan.files.insert(path, Planned { status: Status::Removed, new: None });
    }
    Ok(Ok(plan))
}

impl Plan {
    /// What was found of outputs that are as they should be.
    pub(super) fn facts(&self) -> impl Iterator<Item = Fact<'_>> {
        self.known.iter().map(|(path, known)| Fact::Output(path, *known))
    }

    /// What must be known of outputs before they are written: those that say nothing of themselves are layoutc's own
    /// also if this build is killed.
    pub(super) fn coming(&self) -> Vec<Fact<'_>> {
        let new =
            self.files.iter().filter_map(|(path, planned)| Some((path, planned.new.as_ref()?)));
        new.filter(|(path, _)| !output::has_seal(path))
            .map(|(path, (_, hash, _))| Fact::Coming(path, *hash))
            .collect()
    }
}

/// Writes what is new and removes what is left over; the facts that follow.
pub(super) fn apply<'p>(
    job: &Job<'_>,
    plan: &'p Plan,
    lock: &Lock,
) -> Result<Vec<Fact<'p>>, Fault> {
    let new: BTreeMap<&str, New<'_>> = plan
        .files
        .iter()
        .filter_map(|(path, planned)| {
            let (text, hash, is_first) = planned.new.as_ref()?;
            Some((path.as_str(), New { text, hash, is_first: *is_first }))
        })
        .collect();
    let removed = plan.files.iter().filter(|(_, planned)| planned.status == Status::Removed);
    let removed: Vec<&str> = removed.map(|(path, _)| path.as_str()).collect();
    if new.is_empty() && removed.is_empty() {
        return Ok(Vec::new());
    }
    output::apply(&job.home, &job.state, &new, &removed, lock)
}
