//! Output folder, which is accessed by handles of open folders. A later change of a path does not affect the operations
//! in an open folder.
//!
//! No link is followed out of the output folder: each component of a path is opened separately, and a link must lead to
//! a place below the same base.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, mkdirat, open, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;
use crate::paths::slashed;

use super::existing_output::{blocked, link};

/// Location of the output folder, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputDir {
    /// Root of the project, or the folder of `--out`, which may be a link.
    base: PathBuf,
    /// Path of the output folder relative to `base`, with `/` as separator; empty if the base is the output
    /// folder.
    below: String,
}

/// Handle of a folder; `None` if the folder does not exist. The error is the reason why the folder must not be opened.
pub(super) type FolderResult = Result<Option<OwnedFd>, Box<Diagnostic>>;

impl OutputDir {
    pub(crate) fn new(base: &Path, below: &str) -> Self {
        Self { base: base.to_owned(), below: below.to_owned() }
    }

    /// Path of the output folder.
    pub(crate) fn path(&self) -> PathBuf {
        if self.below.is_empty() { self.base.clone() } else { self.base.join(&self.below) }
    }

    /// Opens the folder at `path` relative to the output folder; `None` if the folder does not exist. The inner error
    /// is the reason why the folder must not be opened: a component of its path is a file, or a link to a place that is
    /// not below the base.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a system call fails.
    pub(super) fn open(&self, path: &str) -> Result<FolderResult, CommandError> {
        self.walk(path, MissingFolder::Stop, &mut Vec::new()).map_err(PathError::fault)
    }

    /// Opens the folder at `path` relative to the output folder. Creates it and each missing parent,
    /// including the output folder and the base with its parents, and adds the absolute paths of the created folders to
    /// `made`.
    ///
    /// # Errors
    /// [`CommandError::Input`] if the base is a file, or if a component of the path below it is a file, or a link to a
    /// place that is not below the base. [`CommandError::Machine`] if a system call fails.
    pub(super) fn make(
        &self,
        path: &str,
        made: &mut Vec<PathBuf>,
    ) -> Result<OwnedFd, CommandError> {
        match self.walk(path, MissingFolder::Make, made).map_err(PathError::fault)? {
            Ok(Some(folder)) => Ok(folder),
            Ok(None) => {
                let error = io::Error::from(ErrorKind::NotFound);
                Err(CommandError::io("open", &self.path().join(path), &error))
            }
            Err(refusal) => Err(CommandError::Input(vec![*refusal])),
        }
    }

    /// Opens the folder at `path` relative to the output folder, and creates it if it is missing, as [`Self::make`]
    /// does. `None` if the system denies that, because permissions are missing or the file system is read-only, or if a
    /// component of the path is a file or a link out of the base folder.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a system call fails for another reason.
    pub(super) fn make_if_allowed(&self, path: &str) -> Result<Option<OwnedFd>, CommandError> {
        match self.walk(path, MissingFolder::Make, &mut Vec::new()) {
            Ok(opened) => Ok(opened.ok().flatten()),
            Err(barrier) if barrier.is_denial() => Ok(None),
            Err(barrier) => Err(barrier.fault()),
        }
    }

    fn walk(
        &self,
        path: &str,
        missing: MissingFolder,
        made: &mut Vec<PathBuf>,
    ) -> Result<FolderResult, PathError> {
        let base = match open_base(&self.base, missing, made) {
            Ok(base) => base,
            Err(error) if error.kind() == ErrorKind::NotFound && missing == MissingFolder::Stop => {
                return Ok(Ok(None));
            }
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                return Ok(Err(Box::new(blocked(&self.base, "not a folder"))));
            }
            Err(error) => {
                let verb = if missing == MissingFolder::Make { "create" } else { "open" };
                return Err(PathError::new(verb, &self.base, error));
            }
        };
        let parts = self.below.split('/').chain(path.split('/')).filter(|part| !part.is_empty());
        let mut walk = FolderWalk { base, folder: None, path: self.base.clone(), root: &self.base };
        for part in parts {
            match walk.enter(part, missing, made)? {
                Ok(true) => {}
                Ok(false) => return Ok(Ok(None)),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Ok(Some(walk.folder.unwrap_or(walk.base))))
    }
}

/// System error in an operation on a path.
#[derive(Debug)]
struct PathError {
    verb: &'static str,
    path: PathBuf,
    error: io::Error,
}

impl PathError {
    fn new(verb: &'static str, path: &Path, error: io::Error) -> Self {
        Self { verb, path: path.to_owned(), error }
    }

    /// True if the system denied the operation, because permissions are missing or the file system is read-only.
    fn is_denial(&self) -> bool {
        let kind = self.error.kind();
        matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    }

    fn fault(self) -> CommandError {
        CommandError::io(self.verb, &self.path, &self.error)
    }
}

/// Behavior of a walk at a folder that does not exist: stop, or create the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MissingFolder {
    Stop,
    Make,
}

/// Walk from the base folder down, one path component at a time. Only links to folders below the base are followed.
struct FolderWalk<'a> {
    base: OwnedFd,
    /// Handle of the current folder, `None` at the base.
    folder: Option<OwnedFd>,
    path: PathBuf,
    root: &'a Path,
}

impl FolderWalk<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().unwrap_or(&self.base).as_fd()
    }

    /// Enters the subfolder `part` of the current folder, and returns true. If it does not exist, `missing` says
    /// whether to create it first, or to return false. The path of a created folder is added to `made`. The inner error
    /// is the reason why the subfolder must not be entered: it is a file, or a link to a place that is not below the
    /// base.
    fn enter(
        &mut self,
        part: &str,
        missing: MissingFolder,
        made: &mut Vec<PathBuf>,
    ) -> Result<Result<bool, Box<Diagnostic>>, PathError> {
        self.path.push(part);
        let mut entered = step(self.here(), part);
        // Another process may remove a new folder before it is opened.
        while missing == MissingFolder::Make && entered.as_ref().err() == Some(&Errno::NOENT) {
            match retry_on_intr(|| mkdirat(self.here(), part, Mode::from_raw_mode(0o777))) {
                Ok(()) => made.push(self.path.clone()),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(PathError::new("create", &self.path, error.into())),
            }
            entered = step(self.here(), part);
        }
        match entered {
            Ok(folder) => self.folder = Some(folder),
            Err(Errno::NOENT) => return Ok(Ok(false)),
            Err(Errno::LOOP | Errno::NOTDIR) => return self.follow(part),
            Err(error) => return Err(PathError::new("open", &self.path, error.into())),
        }
        Ok(Ok(true))
    }

    /// Follows the link `part` in the current folder to a folder below the base, and returns true. Each component of
    /// the real path is opened separately. The inner error is the reason why `part` must not be followed: it is a file,
    /// or a link to another place.
    fn follow(&mut self, part: &str) -> Result<Result<bool, Box<Diagnostic>>, PathError> {
        let stat = statat(self.here(), part, AtFlags::SYMLINK_NOFOLLOW);
        let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind != Ok(FileType::Symlink) {
            return Ok(Err(Box::new(blocked(&self.path, "not a folder"))));
        }
        let refused = || Ok(Err(Box::new(link(&self.path))));
        let (Ok(real), Ok(home)) = (fs::canonicalize(&self.path), fs::canonicalize(self.root))
        else {
            return refused();
        };
        let Some(relative) = real.strip_prefix(home).ok().and_then(slashed) else {
            return refused();
        };
        let mut folder = None;
        for part in relative.split('/').filter(|part| !part.is_empty()) {
            let from = folder.as_ref().unwrap_or(&self.base);
            match step(from.as_fd(), part) {
                Ok(next) => folder = Some(next),
                Err(Errno::NOTDIR) => {
                    return Ok(Err(Box::new(blocked(&self.path, "not a folder"))));
                }
                // The path became a link meanwhile.
                Err(_) => return refused(),
            }
        }
        self.folder = folder;
        Ok(Ok(true))
    }
}

fn step(from: BorrowedFd<'_>, part: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry_on_intr(|| openat(from, part, flags, Mode::empty()))
}

fn open_base(base: &Path, missing: MissingFolder, made: &mut Vec<PathBuf>) -> io::Result<OwnedFd> {
    if missing == MissingFolder::Make {
        let lacking: Vec<&Path> = base.ancestors().take_while(|f| !f.is_dir()).collect();
        for folder in lacking.into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => made.push(folder.to_owned()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| open(base, flags, Mode::empty()))?)
}
