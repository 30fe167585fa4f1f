//! Candidates for removal: files in the output folder that an earlier build wrote.

use crate::command_error::CommandError;
use crate::output::{OutputListing, is_tidy, known_outputs, left_over, listing};
use crate::state::stat::FileStat;

use super::job::BuildJob;

/// Files in the output folder that are candidates for removal, as outputs that are no longer generated.
#[derive(Debug)]
pub(super) enum OrphanCandidates {
    /// No other files than the outputs in the log: an earlier build found none, and no folder has changed since.
    Known,
    /// All files in a listing of the part of the output folder that is swept ([`BuildJob::sweep`]).
    Listed(OutputListing),
}

impl OrphanCandidates {
    /// Candidates of a build.
    pub(super) fn find(job: &BuildJob<'_>) -> Result<Self, CommandError> {
        let (home, sweep) = (&job.home, &job.sweep);
        if is_tidy(home, sweep, &job.log.facts) {
            return Ok(Self::Known);
        }
        listing(home, sweep).map(Self::Listed)
    }

    /// Paths of the candidates to remove: files that layoutc wrote, that were not edited since, and that this build
    /// does not generate. `is_requested` returns true for the path of an output that this build generates.
    pub(super) fn left_over(
        &self,
        job: &BuildJob<'_>,
        is_requested: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, CommandError> {
        let facts = &job.log.facts;
        match self {
            Self::Known => {
                let known = known_outputs(&job.sweep, facts);
                left_over(&job.home, known.iter(), is_requested, facts)
            }
            Self::Listed(listing) => {
                left_over(&job.home, listing.files.iter(), is_requested, facts)
            }
        }
    }

    /// Listed folders, each with metadata by which a later change can be detected. `None` in three cases: nothing was
    /// listed, a file in the folders is not requested, or a folder changed so recently that its metadata might not show
    /// the next change.
    pub(super) fn swept(
        &self,
        is_requested: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<(String, FileStat)>> {
        let Self::Listed(listing) = self else { return None };
        let folders = listing.folders.iter().map(|(path, stat)| Some((path.clone(), (*stat)?)));
        listing.files.iter().all(|path| is_requested(path)).then(|| folders.collect()).flatten()
    }
}
