//! Build of one project: output folder, state folder, and facts that earlier builds recorded in a log.

use std::fs;
use std::path::{Path, PathBuf};

use layoutc_compiler::base::nearest::nearest;
use layoutc_compiler::emit::language::Language;

use super::SelectArgs;
use crate::command_error::CommandError;
use crate::console::Console;
use crate::output::{OutputDir, StateFolder, SweepScope, link};
use crate::paths::{is_below, relative_to_cwd};
use crate::project::{self, CONFIG, Project};
use crate::state::fact::BuildFact;
use crate::state::file::Durability;
use crate::state::lock::{StateLock, try_lock};
use crate::state::log::{BuildLog, LogArena};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;

/// Behavior of a build if another build holds the lock of the output folder: wait for its end, or fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockWait {
    Wait,
    /// Fail with an error that names the holder of the lock.
    Fail,
}

/// Build of one project: its output folder, its state folder, and the code-generation targets to build.
#[derive(Debug)]
pub(crate) struct BuildJob<'a> {
    pub(crate) project: &'a Project,
    /// Output folder to which the build writes.
    pub(crate) home: OutputDir,
    /// Part of the output folder from which outputs that are no longer generated may be removed.
    pub(crate) sweep: SweepScope,
    /// Names of the project's code-generation targets to build; all of them without `--target`.
    pub(crate) targets: Vec<&'a str>,
    /// State folder of the build, which holds the log and cached results.
    pub(crate) state: StateFolder,
    /// Log of earlier builds, with the facts that they recorded.
    pub(crate) log: BuildLog<'a>,
    lock: Option<StateLock>,
}

impl<'a> BuildJob<'a> {
    /// Job for the build of `project` with the options `select`. `guess` may hold a log that was loaded ahead for the
    /// project that was expected. The job takes that log if it belongs to the state folder of `project`; otherwise it
    /// loads its own log. `store` owns the bytes of the log.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if `select` names a target that the project does not have. [`CommandError::Input`] if
    /// the configured output folder is outside of the project. [`CommandError::Machine`] if a folder or the log cannot
    /// be read.
    pub(crate) fn new(
        select: &SelectArgs,
        project: &'a Project,
        guess: &mut Option<BuildLog<'a>>,
        store: &'a LogArena,
    ) -> Result<Self, CommandError> {
        known_targets(&select.target, project)?;
        let names = project.config.target.names();
        let is_requested =
            |name: &&str| select.target.is_empty() || select.target.iter().any(|t| t == name);
        let targets = names.into_iter().filter(is_requested).collect();
        let (home, state) = output_locations(project, select.out.as_deref())?;
        // Files in a folder shared with others are never considered stale.
        let is_shared = select.out.is_some() || home.path() == project.root;
        let sweep = match () {
            () if is_shared || !project.is_whole => SweepScope::Nothing,
            () if select.target.is_empty() => SweepScope::Everything,
            () => SweepScope::Folders(select.target.clone()),
        };
        let log = match guess.take_if(|log| log.is_of(&state.path())) {
            Some(log) => log,
            None => BuildLog::load(&state.path(), state.dir(), store)?,
        };
        Ok(Self { project, home, sweep, targets, state, log, lock: None })
    }

    /// Paths of the requested manifests relative to the root of the project, sorted.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.project.manifests.keys().map(String::as_str)
    }

    /// Locks the output folder. If another build holds the lock, `patience` says whether to wait for its end or to
    /// fail. Returns true if the state of the project may have changed since the scan: the job waited for the lock, or
    /// another build has appended to the log, which is then reloaded.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if another build holds the lock and `patience` is [`LockWait::Fail`], or if a system
    /// call fails.
    pub(crate) fn lock(
        &mut self,
        patience: LockWait,
        console: &mut Console,
    ) -> Result<bool, CommandError> {
        let folder = relative_to_cwd(&self.home.path());
        let mut has_waited = false;
        let lock = self.state.lock(|holder| {
            has_waited = true;
            if patience == LockWait::Fail {
                return Err(CommandError::busy(holder, &folder));
            }
            if !console.quiet {
                console.remark(&format!("waiting for {holder}, which is writing to `{folder}`\n"));
            }
            Ok(())
        })?;
        self.lock = Some(lock);
        let Some(dir) = self.state.dir() else { return Ok(has_waited) };
        let is_outdated = self.log.is_outdated(dir);
        if is_outdated {
            self.log.reload(dir)?;
        }
        Ok(is_outdated || has_waited)
    }

    pub(crate) fn held_lock(&self) -> Option<&StateLock> {
        self.lock.as_ref()
    }

    /// Appends `facts` to the log and syncs it to disk. Does nothing if there are no facts or no state folder. The lock
    /// of the state folder must be held ([`Self::lock()`]).
    pub(crate) fn record(&mut self, facts: Vec<BuildFact<'_>>) -> Result<(), CommandError> {
        match self.state.dir() {
            Some(dir) if !facts.is_empty() => self.log.add(dir, facts, Durability::Synced),
            Some(_) | None => Ok(()),
        }
    }

    /// Appends `facts` to the log without a sync. They only save work in later builds, so that failures are ignored.
    /// Does nothing if another build holds the lock of the state folder or has appended to the log meanwhile, or if
    /// there is no state folder.
    pub(crate) fn hint(&mut self, facts: Vec<BuildFact<'_>>) {
        let Some(dir) = self.state.dir().filter(|_| !facts.is_empty()) else { return };
        let lock = if self.lock.is_some() { None } else { try_lock(dir) };
        if (self.lock.is_some() || lock.is_some()) && !self.log.is_outdated(dir) {
            drop(self.log.add(dir, facts, Durability::Hint));
        }
    }
}

/// Pair `(root, log)` of the project that a build of `select` is expected to concern: the absolute path of its root
/// folder, and its log. It is the project that contains the first of the paths in `select`, or the working directory.
/// Projects are not discovered, so that the guess may be wrong. `None` with `--out`, outside of projects, or if the log
/// cannot be read.
pub(crate) fn guess_log<'a>(
    select: &SelectArgs,
    store: &'a LogArena,
) -> Option<(PathBuf, BuildLog<'a>)> {
    if select.out.is_some() {
        return None;
    }
    let path = select.paths.first().map_or(Path::new("."), PathBuf::as_path);
    let root = project::root_at(path)?;
    let state = StateFolder::find(&root).ok()?;
    let log = BuildLog::load(&state.path(), state.dir(), store).ok()?;
    Some((root, log))
}

/// Pair of the output folder and the state folder. With `out`, the output folder is `out`, and the state folder is
/// `.layoutc` in it, or absent if the project is given by `--root`. Without `out`, they are the configured output
/// folder, and `.layoutc` in the root of the project.
///
/// # Errors
/// [`CommandError::Input`] if the configured output folder is outside of the project. [`CommandError::Machine`] if a
/// folder cannot be found or opened.
pub(crate) fn output_locations(
    project: &Project,
    out: Option<&Path>,
) -> Result<(OutputDir, StateFolder), CommandError> {
    let Some(out) = out else {
        return Ok((own_home(project)?, StateFolder::find(&project.root)?));
    };
    let out = std::path::absolute(out).map_err(|e| CommandError::io("find", out, &e))?;
    let state = if project.is_given { StateFolder::none(&out) } else { StateFolder::find(&out)? };
    Ok((OutputDir::new(&out, ""), state))
}

fn known_targets(names: &[String], project: &Project) -> Result<(), CommandError> {
    let known = project.config.target.names();
    let Some(target) = names.iter().find(|target| !known.contains(&target.as_str())) else {
        return Ok(());
    };
    let hint = if Language::find(target).is_some() {
        format!("add `[target.{target}]` to {CONFIG}")
    } else if let Some(near) = nearest(target, known.iter().copied()) {
        format!("did you mean `{near}`?")
    } else {
        format!("expected one of `{}`", known.join("`, `"))
    };
    Err(CommandError::Usage(format!("unknown target `{target}`; {hint}")))
}

/// Output folder of the configuration of `project`.
///
/// # Errors
/// [`CommandError::Input`] if the folder is outside of the project, also through a link, or behind a link that cannot
/// be resolved. [`CommandError::Machine`] if its path cannot be resolved for another reason.
fn own_home(project: &Project) -> Result<OutputDir, CommandError> {
    let out_dir = project.config.project.out_dir.trim_end_matches('/');
    if out_dir == "." {
        return Ok(OutputDir::new(&project.root, ""));
    }
    if !is_below(out_dir) {
        return Err(outside(out_dir));
    }
    let folder = project.root.join(out_dir);
    let home =
        fs::canonicalize(&project.root).map_err(|e| CommandError::io("find", &project.root, &e))?;
    let existing = folder.ancestors().find(|part| part.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(&project.root);
    match fs::canonicalize(existing) {
        Ok(real) if real.starts_with(home) => Ok(OutputDir::new(&project.root, out_dir)),
        Ok(_) => Err(CommandError::Input(vec![link(existing)])),
        Err(_) if existing.is_symlink() => Err(CommandError::Input(vec![link(existing)])),
        Err(error) => Err(CommandError::io("find", existing, &error)),
    }
}

/// Error about the configured output folder `out_dir`, which is outside of the project.
fn outside(out_dir: &str) -> CommandError {
    let message = format!("output folder `{out_dir}` is outside of the project");
    let help = "set `out-dir` to a folder in the project, or use `--out`";
    CommandError::Input(vec![Diagnostic::without_span(Code::OutputOutside, message).help(help)])
}

/// Absolute path of the file whose path relative to the root of `project` is `path`.
pub(super) fn below(project: &Project, path: &str) -> PathBuf {
    let root: &Path = &project.root;
    root.join(path)
}
