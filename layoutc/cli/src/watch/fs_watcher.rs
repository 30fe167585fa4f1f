//! Change notifications of the file system for the inputs of a build.
//!
//! Only folders are watched, because a save that renames a new file over the old one ends the watch of a file. Paths
//! are compared in the form that the system reports, with links resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};

use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::command_error::os_error_text;
use crate::paths::normal;
use crate::project::CONFIG;
use crate::project::globs::SourceGlobs;
use crate::project::read_set::ReadSet;

use super::WatchMessage;

/// Watch of a folder, as a pair: whether it includes subfolders, and the device and inode of the folder, `None` if it
/// does not exist.
type FolderWatch = (RecursiveMode, Option<(u64, u64)>);

/// Watcher of the folders that contain inputs. It selects the events that may concern an input.
pub(super) struct FsWatcher {
    watcher: RecommendedWatcher,
    armed: BTreeMap<PathBuf, FolderWatch>,
    interest: WatchSet,
    /// True if all watches must be renewed by the next [`Self::arm`]: events were lost, or a watched folder may have
    /// been replaced.
    is_stale: Arc<AtomicBool>,
}

/// Paths of the input files, and the folders and patterns by which a new file would be an input.
#[derive(Debug, Default)]
struct WatchSet {
    files: BTreeSet<PathBuf>,
    sources: Vec<(PathBuf, SourceGlobs)>,
    loose: Vec<PathBuf>,
    templates: Vec<PathBuf>,
    written: Vec<PathBuf>,
    /// Linked folders, as pairs of the real path and the path by which the build reached the folder.
    linked: Vec<(PathBuf, PathBuf)>,
    blockage: OutputBlockage,
}

/// State of the output folders: whether something in them keeps a build from writing its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum OutputBlockage {
    /// Nothing blocks the outputs, so events in the output folders are ignored.
    #[default]
    Absent,
    /// Something blocks the outputs, so events in the output folders trigger a build.
    Present,
}

impl FsWatcher {
    /// Watcher that sends the events of the file system, except reads, to `inbox`.
    ///
    /// # Errors
    /// Text with the reason why the system provides no notifications.
    pub(super) fn open(inbox: SyncSender<WatchMessage>) -> Result<Self, String> {
        let is_stale = Arc::new(AtomicBool::new(false));
        let lost = Arc::clone(&is_stale);
        let handler = move |event: notify::Result<Event>| {
            // Reads are reported too; the build itself reads every input.
            let event = match event {
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => WatchMessage::Event(event),
                Err(_) => {
                    lost.store(true, Ordering::SeqCst);
                    WatchMessage::Event(Event::new(EventKind::Any))
                }
            };
            if let Err(TrySendError::Full(_)) = inbox.try_send(event) {
                // The reader checks `is_stale` after draining the full inbox; if it was drained meanwhile, this event
                // wakes it.
                lost.store(true, Ordering::SeqCst);
                drop(inbox.try_send(WatchMessage::Event(Event::new(EventKind::Any))));
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| reason(&error))?;
        let (armed, interest) = (BTreeMap::new(), WatchSet::default());
        Ok(Self { watcher, armed, interest, is_stale })
    }

    /// Watches the folders of the inputs `known` and the working directory `home`, and ends all other watches. The
    /// output folders are watched too if `blockage` is [`OutputBlockage::Present`]. Returns true if a folder was added;
    /// changes in it before that were not reported.
    ///
    /// # Errors
    /// Text with the reason why a folder cannot be watched.
    pub(super) fn arm(
        &mut self,
        known: &ReadSet,
        home: &Path,
        blockage: OutputBlockage,
    ) -> Result<bool, String> {
        self.interest = WatchSet::new(known, blockage);
        let wanted = folders(known, &self.interest.files, home, blockage);
        let is_stale = self.is_stale.swap(false, Ordering::SeqCst);
        let keeps =
            |(folder, armed): &(&PathBuf, &FolderWatch)| wanted.get(*folder) == Some(*armed);
        let gone: Vec<PathBuf> =
            self.armed.iter().filter(|f| is_stale || !keeps(f)).map(|(f, _)| f.clone()).collect();
        for folder in gone {
            self.armed.remove(&folder);
            // A removed folder is unwatched already.
            drop(self.watcher.unwatch(&folder));
        }
        let mut is_new = false;
        for (folder, armed) in wanted {
            if self.armed.contains_key(&folder) {
                continue;
            }
            is_new = true;
            match self.watcher.watch(&folder, armed.0) {
                Ok(()) => drop(self.armed.insert(folder, armed)),
                // Removed meanwhile; the next snapshot finds a replacement.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(reason(&error)),
            }
        }
        Ok(is_new)
    }

    /// True if `event` may concern an input, so that the inputs must be read again. Also true after events were lost,
    /// and for a change of a watched folder itself or of a folder above it; all watches are then renewed by the next
    /// [`Self::arm`].
    pub(super) fn matters(&self, event: &Event) -> bool {
        let is_stale = self.is_stale.load(Ordering::SeqCst);
        let is_lost = is_stale || event.need_rescan() || event.paths.is_empty();
        let is_moved = event.paths.iter().any(|path| {
            self.armed.range::<Path, _>(from(path)).next().is_some_and(|f| f.0.starts_with(path))
        });
        if is_lost || is_moved {
            self.is_stale.store(true, Ordering::SeqCst);
        }
        is_lost || is_moved || event.paths.iter().any(|path| self.interest.sees(path))
    }
}

impl WatchSet {
    fn new(known: &ReadSet, blockage: OutputBlockage) -> Self {
        let reals = |folders: &BTreeSet<PathBuf>| folders.iter().map(|f| real(f)).collect();
        let trees: Vec<(PathBuf, PathBuf)> =
            trees(known).into_iter().map(|tree| (real(&tree), tree)).collect();
        let mut written: Vec<PathBuf> = reals(&known.written);
        // Outputs may be written among the inputs.
        written.retain(|folder| !trees.iter().any(|(tree, _)| tree.starts_with(folder)));
        let is_linked = |(real, reached): &(PathBuf, PathBuf)| real != reached;
        Self {
            files: names(known),
            sources: known.sources.iter().map(|(root, g)| (real(root), g.clone())).collect(),
            loose: reals(&known.loose),
            templates: known.templates.keys().map(|folder| real(folder)).collect(),
            written,
            linked: trees.into_iter().filter(is_linked).collect(),
            blockage,
        }
    }

    /// True if a change at `path`, a real path as the system reports it, may concern an input. The path is also tried
    /// in the form by which the build reached it through a linked folder.
    fn sees(&self, path: &Path) -> bool {
        let reached = self
            .linked
            .iter()
            .filter_map(|(real, reached)| path.strip_prefix(real).ok().map(|p| reached.join(p)));
        self.matters(path) || reached.into_iter().any(|path| self.matters(&path))
    }

    fn matters(&self, path: &Path) -> bool {
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        // An input, or a folder that contains one.
        if self.files.range::<Path, _>(from(path)).next().is_some_and(|file| file.starts_with(path))
        {
            return true;
        }
        if below(&self.written) {
            return self.blockage == OutputBlockage::Present;
        }
        let is_matched = self
            .sources
            .iter()
            .any(|(root, globs)| path.strip_prefix(root).is_ok_and(|path| globs.matches(path)));
        let is_loose = || below(&self.loose) && path.extension().is_some_and(|e| e == "kdl");
        // A new folder may contain manifests.
        is_matched
            || path.ends_with(CONFIG)
            || below(&self.templates)
            || is_loose()
            || path.is_dir()
    }
}

/// Folders to watch by real path, each with its watch. They are the folders of the inputs `known` and of their real
/// paths `names`, the working directory `home`, the folders that are searched for inputs, and, if `blockage` is
/// `Present`, the output folders. A folder below one that is watched with its subfolders is omitted.
fn folders(
    known: &ReadSet,
    names: &BTreeSet<PathBuf>,
    home: &Path,
    blockage: OutputBlockage,
) -> BTreeMap<PathBuf, FolderWatch> {
    let mut folders = BTreeMap::new();
    let files = known.files.keys().chain(names).map(PathBuf::as_path);
    let parents: BTreeSet<&Path> = files.filter_map(Path::parent).chain([home]).collect();
    for folder in parents.into_iter().map(nearest) {
        folders.entry(folder).or_insert(RecursiveMode::NonRecursive);
    }
    let written = known.written.iter().filter(|_| blockage == OutputBlockage::Present).cloned();
    for tree in trees(known).into_iter().chain(written) {
        if tree.is_dir() {
            folders.insert(real(&tree), RecursiveMode::Recursive);
        } else {
            folders.entry(nearest(&tree)).or_insert(RecursiveMode::NonRecursive);
        }
    }
    let is_deep = |mode: &RecursiveMode| *mode == RecursiveMode::Recursive;
    let deep: Vec<PathBuf> = folders.iter().filter(|f| is_deep(f.1)).map(|f| f.0.clone()).collect();
    // A second watch of the same folder would end with the first.
    folders.retain(|folder, _| !deep.iter().any(|top| folder != top && folder.starts_with(top)));
    let identity = |folder: &Path| fs::metadata(folder).ok().map(|m| (m.dev(), m.ino()));
    folders
        .into_iter()
        .map(|(f, mode)| {
            let id = identity(&f);
            (f, (mode, id))
        })
        .collect()
}

/// Folders in which a new file at any depth may be an input: the folders that the search of `known` walked, its
/// template folders, and the links to folders or to missing files in them.
fn trees(known: &ReadSet) -> Vec<PathBuf> {
    let mut trees = Vec::new();
    for (root, globs) in &known.sources {
        trees.extend(globs.folders.iter().map(|start| root.join(start)));
    }
    trees.extend(known.loose.iter().cloned());
    trees.extend(known.templates.keys().cloned());
    trees.extend(known.links.iter().cloned());
    trees
}

/// Bounds, for a sorted set of paths, of the part from `path` on. If the set contains `path` or a path below it, the
/// first entry of that part is one of these.
fn from(path: &Path) -> (Bound<&Path>, Bound<&Path>) {
    (Bound::Included(path), Bound::Unbounded)
}

/// Nearest existing folder at or above `path`, with links resolved.
fn nearest(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|folder| folder.is_dir());
    there.map_or_else(|| PathBuf::from("/"), real)
}

/// Real paths of the inputs `known`, including missing ones, and the path of every link that was resolved to find them.
/// Links are included because the replacement of a link changes the input.
fn names(known: &ReadSet) -> BTreeSet<PathBuf> {
    let mut folders: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for file in known.files.keys() {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { continue };
        let folder = folders.entry(folder).or_insert_with(|| resolve_links(folder, &mut names));
        let file = folder.join(name);
        if file.is_symlink() {
            resolve_links(&file, &mut names);
        }
        names.insert(file);
    }
    for tree in trees(known) {
        let end = resolve_links(&tree, &mut names);
        if end != tree {
            names.insert(end);
        }
    }
    names
}

/// Maximum number of links that the resolution of a path follows, so that a loop ends; further links stay unresolved.
const LOOP: usize = 40;

/// Absolute path `path` with its links resolved, up to the first missing component. Adds the path of every link and of
/// its target to `passed`.
fn resolve_links(path: &Path, passed: &mut BTreeSet<PathBuf>) -> PathBuf {
    let mut at = PathBuf::new();
    let mut ahead: Vec<OsString> = path.iter().rev().map(OsStr::to_owned).collect();
    let mut links = 0;
    while let Some(part) = ahead.pop() {
        if part == ".." {
            at.pop();
        }
        if part == "." || part == ".." {
            continue;
        }
        let here = at.join(&part);
        match fs::read_link(&here) {
            Ok(target) if links < LOOP => {
                links += 1;
                passed.insert(here);
                passed.insert(normal(&at.join(&target)));
                // An absolute target contains the root component, which replaces `at`.
                ahead.extend(target.iter().rev().map(OsStr::to_owned));
            }
            Ok(_) | Err(_) => at = here,
        }
    }
    if links > 0 {
        passed.insert(at.clone());
    }
    at
}

/// Path `path` with links resolved. If it does not exist, only the links of its folder are resolved.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| named(path))
}

/// Path `path` with the links of its folder resolved, but not a link at `path` itself; `path` unchanged if its folder
/// does not exist.
fn named(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds speak for themselves")]
fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "limit of watched folders reached: fs.inotify.max_user_watches".to_owned()
        }
        ErrorKind::Io(error) => os_error_text(error),
        _ => error.to_string(),
    }
}
