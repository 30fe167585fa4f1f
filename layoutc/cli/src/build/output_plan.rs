//! Plan of the changes of a build to the output folder.

use std::collections::BTreeMap;

use layoutc_compiler::GeneratedFile;
use layoutc_compiler::base::diagnostic::Diagnostic;

use crate::command_error::CommandError;
use crate::output::{
    self, ExistingOutput, ExpectedOutput, NewOutput, OutputStatus, OverwritePolicy, collisions,
    survey,
};
use crate::state::fact::{BuildFact, ContentHash, Fingerprint, PathSet};
use crate::state::lock::StateLock;

use super::job::BuildJob;
use super::make::BuildProducts;
use super::scan::BuildScan;

#[derive(Debug, Default)]
pub(crate) struct OutputPlan {
    /// Planned change of each output, by path relative to the output folder. Outputs that are up to date and need not
    /// be generated are omitted.
    pub(super) files: BTreeMap<String, PlannedOutput>,
    /// Number of up-to-date outputs, which need not be generated.
    pub(super) up_to_date: usize,
    /// Paths and fingerprints of the unchanged outputs, generated or not, for which the log does not have the current
    /// fingerprint.
    known: Vec<(String, Fingerprint)>,
}

#[derive(Debug)]
pub(crate) struct PlannedOutput {
    pub(super) status: OutputStatus,
    /// Triple `(text, hash, is_first)` for an output that is written: its new text, the hash of that text, and true if
    /// no file exists at its path. `None` if the output is unchanged or removed.
    new: Option<(String, ContentHash, bool)>,
}

/// Plan of the changes that make the output folder equal to the generated files. Changes no file. The texts of the
/// files to write are moved from `made` into the plan. `strictness` is the policy for files that layoutc did not write
/// or that were edited. The inner error lists all reasons why outputs must not be written; the outer error is that of a
/// failed system call.
pub(super) fn plan(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &mut BuildProducts,
    strictness: OverwritePolicy,
) -> Result<Result<OutputPlan, Vec<Diagnostic>>, CommandError> {
    let known = &job.log.facts;
    let is_new = !made.emitted.is_empty();
    let new: Vec<_> = made.emitted.values_mut().flat_map(|files| &mut files.outputs).collect();
    let wanted = new.iter().map(|(GeneratedFile { path, .. }, hash)| ExpectedOutput {
        path,
        hash,
        known: known.output(path),
    });
    let wanted: Vec<ExpectedOutput<'_>> = wanted.collect();
    // Outputs of an earlier build are distinct files already.
    let up_to_date: PathSet<'_> =
        if scan.is_same { PathSet::default() } else { scan.up_to_date_paths(job).collect() };
    let paths = up_to_date.iter().copied().chain(wanted.iter().map(|wanted| wanted.path));
    let mut refusals = collisions(paths);
    let on_disk = survey(&job.home, &wanted, known, strictness)?;
    refusals.extend(scan.refusals().cloned());
    refusals.extend(on_disk.values().filter_map(|s| Some(s.as_ref().err()?.as_ref().clone())));
    if !refusals.is_empty() {
        return Ok(Err(refusals));
    }
    let mut plan =
        OutputPlan { up_to_date: scan.up_to_date_paths(job).count(), ..OutputPlan::default() };
    let planned = new.into_iter().map(|(output, hash)| {
        let planned = match on_disk.get(&output.path) {
            None | Some(Ok(ExistingOutput::Same(_))) => {
                PlannedOutput { status: OutputStatus::Unchanged, new: None }
            }
            other => {
                let is_first = matches!(other, Some(Ok(ExistingOutput::Nothing)));
                let text = std::mem::take(&mut output.text);
                PlannedOutput { status: OutputStatus::Written, new: Some((text, *hash, is_first)) }
            }
        };
        (output.path.clone(), planned)
    });
    plan.files = planned.collect();
    for (path, file) in on_disk.iter().chain(&scan.on_disk) {
        if let Ok(ExistingOutput::Same(now)) = file
            && known.output(path) != Some(now)
        {
            plan.known.push((path.clone(), *now));
        }
    }
    let left_over = if is_new {
        let is_requested = |path: &str| up_to_date.contains(path) || plan.files.contains_key(path);
        scan.found.left_over(job, &is_requested)?
    } else {
        scan.left_over.clone()
    };
    for path in left_over {
        plan.files.insert(path, PlannedOutput { status: OutputStatus::Removed, new: None });
    }
    Ok(Ok(plan))
}

impl OutputPlan {
    /// Facts for the build log about unchanged outputs for which the log does not have the current fingerprint.
    pub(super) fn facts(&self) -> impl Iterator<Item = BuildFact<'_>> {
        self.known.iter().map(|(path, known)| BuildFact::Output(path, *known))
    }

    /// Facts that are added to the build log before outputs are written. With them, the next build recognizes an output
    /// without a seal (a hash in its text) as written by layoutc, even if this build is killed.
    pub(super) fn pending_facts(&self) -> Vec<BuildFact<'_>> {
        let new =
            self.files.iter().filter_map(|(path, planned)| Some((path, planned.new.as_ref()?)));
        new.filter(|(path, _)| !output::has_seal(path))
            .map(|(path, (_, hash, _))| BuildFact::Coming(path, *hash))
            .collect()
    }
}

/// Writes the new outputs of `plan`, and removes its stale outputs. `lock` is that of the state folder. Returns facts
/// for the build log about these files.
///
/// # Errors
/// [`CommandError::Input`] if an output path is blocked, as by a file that was created meanwhile.
/// [`CommandError::Machine`] if a system call fails. [`CommandError::Interrupted`] after an interrupt.
pub(super) fn apply<'p>(
    job: &BuildJob<'_>,
    plan: &'p OutputPlan,
    lock: &StateLock,
) -> Result<Vec<BuildFact<'p>>, CommandError> {
    let new: BTreeMap<&str, NewOutput<'_>> = plan
        .files
        .iter()
        .filter_map(|(path, planned)| {
            let (text, hash, is_first) = planned.new.as_ref()?;
            Some((path.as_str(), NewOutput { text, hash, is_first: *is_first }))
        })
        .collect();
    let removed = plan.files.iter().filter(|(_, planned)| planned.status == OutputStatus::Removed);
    let removed: Vec<&str> = removed.map(|(path, _)| path.as_str()).collect();
    if new.is_empty() && removed.is_empty() {
        return Ok(Vec::new());
    }
    output::apply(&job.home, &job.state, &new, &removed, lock)
}
