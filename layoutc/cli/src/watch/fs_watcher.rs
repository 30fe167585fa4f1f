//! Where changes are reported: the system's reports on folders, or none and a clock.
//!
//! Folders are watched, never files: a save that renames a new file over the old one ends the watch of a file. Names
//! are compared as the system reports them, with links resolved.

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
use crate::project::CONFIG;
use crate::project::globs::SourceGlobs;
use crate::project::paths::normal;
use crate::project::read_set::ReadSet;

use super::WatchMessage;

/// A folder as it is watched: how deep, and which folder it was.
type FolderWatch = (RecursiveMode, Option<(u64, u64)>);

/// What is watched, and which of the reports matter.
pub(super) struct FsWatcher {
    watcher: RecommendedWatcher,
    armed: BTreeMap<PathBuf, FolderWatch>,
    interest: WatchSet,
    /// Reports were lost, or a watched folder may be another now.
    is_stale: Arc<AtomicBool>,
}

/// The files that matter, and the places where a new one would.
#[derive(Debug, Default)]
struct WatchSet {
    files: BTreeSet<PathBuf>,
    sources: Vec<(PathBuf, SourceGlobs)>,
    loose: Vec<PathBuf>,
    templates: Vec<PathBuf>,
    written: Vec<PathBuf>,
    /// Folders as the system calls them, each with the path by which it was reached.
    linked: Vec<(PathBuf, PathBuf)>,
    blockage: OutputBlockage,
}

/// Whether something in the output folders keeps the outputs from being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum OutputBlockage {
    /// What happens there does not matter.
    #[default]
    Absent,
    /// The next build is when it is gone.
    Present,
}

impl FsWatcher {
    /// Eyes that report to `inbox`; the reason in words where the system reports nothing.
    pub(super) fn open(inbox: SyncSender<WatchMessage>) -> Result<Self, String> {
        let is_stale = Arc::new(AtomicBool::new(false));
        let lost = Arc::clone(&is_stale);
        let handler = move |event: notify::Result<Event>| {
            // Reading a file is reported too; the build reads every input.
            let event = match event {
                Ok(event) if matches!(event.kind, EventKind::Access(_)) => return,
                Ok(event) => WatchMessage::Event(event),
                Err(_) => {
                    lost.store(true, Ordering::SeqCst);
                    WatchMessage::Event(Event::new(EventKind::Any))
                }
            };
            if let Err(TrySendError::Full(_)) = inbox.try_send(event) {
                // Who reads a full inbox sees this afterwards; if it was emptied meanwhile, this wakes the reader.
                lost.store(true, Ordering::SeqCst);
                drop(inbox.try_send(WatchMessage::Event(Event::new(EventKind::Any))));
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| reason(&error))?;
        let (armed, interest) = (BTreeMap::new(), WatchSet::default());
        Ok(Self { watcher, armed, interest, is_stale })
    }

    /// Watches what `known` asks for. Whether a folder is watched now that was not before: what happened there in the
    /// meantime was not reported.
    ///
    /// # Errors
    /// The reason, in words, why the system will not report.
    pub(super) fn arm(
        &mut self,
        known: &ReadSet,
        home: &Path,
        way: OutputBlockage,
    ) -> Result<bool, String> {
        self.interest = WatchSet::new(known, way);
        let wanted = folders(known, &self.interest.files, home, way);
        let is_stale = self.is_stale.swap(false, Ordering::SeqCst);
        let keeps =
            |(folder, armed): &(&PathBuf, &FolderWatch)| wanted.get(*folder) == Some(*armed);
        let gone: Vec<PathBuf> =
            self.armed.iter().filter(|f| is_stale || !keeps(f)).map(|(f, _)| f.clone()).collect();
        for folder in gone {
            self.armed.remove(&folder);
            // One that is gone needs no end of its watch.
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
                // Gone since it was found; the next look finds another.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(reason(&error)),
            }
        }
        Ok(is_new)
    }

    /// Whether a report calls for a look at the inputs.
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

    /// Whether what happened at `path`, as the system calls it, matters.
    fn sees(&self, path: &Path) -> bool {
        let reached = self
            .linked
            .iter()
            .filter_map(|(real, reached)| path.strip_prefix(real).ok().map(|p| reached.join(p)));
        self.matters(path) || reached.into_iter().any(|path| self.matters(&path))
    }

    fn matters(&self, path: &Path) -> bool {
        let below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        // An input, or a folder that holds one.
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
        // A folder that is new here may bring manifests along.
        is_matched
            || path.ends_with(CONFIG)
            || below(&self.templates)
            || is_loose()
            || path.is_dir()
    }
}

/// The folders to be watched; `names` is how the system calls the files.
fn folders(
    known: &ReadSet,
    names: &BTreeSet<PathBuf>,
    home: &Path,
    way: OutputBlockage,
) -> BTreeMap<PathBuf, FolderWatch> {
    let mut folders = BTreeMap::new();
    let files = known.files.keys().chain(names).map(PathBuf::as_path);
    let parents: BTreeSet<&Path> = files.filter_map(Path::parent).chain([home]).collect();
    for folder in parents.into_iter().map(nearest) {
        folders.entry(folder).or_insert(RecursiveMode::NonRecursive);
    }
    let written = known.written.iter().filter(|_| way == OutputBlockage::Present).cloned();
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

/// The folders in which a new file at any depth may be an input.
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

/// From `path` on; what is below it comes first.
fn from(path: &Path) -> (Bound<&Path>, Bound<&Path>) {
    (Bound::Included(path), Bound::Unbounded)
}

/// The nearest folder at or above `path` that is there, links resolved.
fn nearest(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|folder| folder.is_dir());
    there.map_or_else(|| PathBuf::from("/"), real)
}

/// How the system calls the files, also those that are not there; and every link on the way to them, for what becomes
/// of one becomes of the file.
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

/// Links that follow each other before they count as a loop.
const LOOP: usize = 40;

/// Where `path` leads, as far as it leads anywhere; every link on the way, and what each leads to, are added to
/// `passed`.
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
                // From the root on, an absolute target begins anew.
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

/// `path` with links resolved; as it is where nothing is there.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| named(path))
}

/// `path` with the links of its folder resolved, not the one that it may be itself.
fn named(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.zip(path.file_name()).map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds speak for themselves")]
fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system's limit of watched folders, fs.inotify.max_user_watches, is reached"
                .to_owned()
        }
        ErrorKind::Io(error) => os_error_text(error),
        _ => error.to_string(),
    }
}
