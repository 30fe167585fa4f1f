//! Projects as they stand: what is known of each, and what has to be looked at again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::check::{Aside, Kept, Recorder, sort};
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::editor::file::users;
use layoutc_compiler::editor::text::Lines;
use layoutc_compiler::editor::{File, Known};
use layoutc_compiler::host::{Host, Unobserved};
use layoutc_compiler::{check_aside, refused_choices};

use crate::project::CONFIG;
use crate::project::paths::{normal, relative, slashed};

use super::documents::{Documents, Overlay};
use super::memo::Memory;
use super::scan::{Home, Scan, scan};

/// A text with the places of its lines.
#[derive(Debug, Clone)]
pub(super) struct Source<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Where its lines begin.
    pub(super) lines: Cow<'a, Lines>,
}

/// A project, or a manifest of none.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) home: Home,
    scan: Scan,
    /// What is known of its manifests.
    pub(super) known: Known,
    /// Tensors for the next check, while the configuration stays as it is.
    kept: Kept,
    /// What there is to say of each manifest and of those that it uses.
    found: BTreeMap<String, Vec<Diagnostic>>,
    /// Whether everything has to be looked at.
    is_stale: bool,
    /// The manifests whose texts changed.
    changed: BTreeSet<String>,
    /// The manifests that have been read and not checked.
    unchecked: BTreeSet<String>,
}

impl Project {
    /// The project there; nothing is looked at yet.
    pub(super) fn new(home: Home) -> Self {
        Self {
            home,
            scan: Scan::default(),
            known: Known::default(),
            kept: Kept::default(),
            found: BTreeMap::new(),
            is_stale: true,
            changed: BTreeSet::new(),
            unchecked: BTreeSet::new(),
        }
    }

    /// Notes that everything may be different.
    pub(super) fn forget(&mut self) {
        self.is_stale = true;
    }

    /// Notes that the text of a file is different, if it matters here.
    pub(super) fn touch(&mut self, file: &Path) {
        let root = self.home.root();
        if file == root.join(CONFIG) {
            self.is_stale = true;
        } else if let Some(path) = slashed(&relative(file, &root)) {
            if self.scan.manifests.contains(&path) {
                self.changed.insert(path);
            } else if Home::of(file) == self.home {
                // It may be one now: the editor has opened it, or it says what it is.
                self.is_stale = true;
            } else if self.known.files.contains_key(&path) {
                self.changed.insert(path);
            }
        }
    }

    /// Whether something has to be looked at.
    pub(super) fn is_due(&self) -> bool {
        self.is_stale || !self.changed.is_empty() || !self.unchecked.is_empty()
    }

    /// The path of a file here.
    pub(super) fn path(&self, file: &Path) -> Option<String> {
        let path = slashed(&relative(file, &self.home.root()))?;
        self.source(&path).is_some().then_some(path)
    }

    /// The file at a path here.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        normal(&self.home.root().join(path))
    }

    /// Reads the texts that are due, which is quick; what they mean may still be that of before.
    pub(super) fn reread(&mut self, documents: &Documents) {
        if std::mem::take(&mut self.is_stale) {
            self.changed.clear();
            let scan = scan(&self.home, documents);
            if scan.config_text != self.scan.config_text {
                self.kept = Kept::default();
            }
            self.scan = scan;
            self.known.files.clear();
            for path in self.scan.manifests.clone() {
                self.read(&path, documents);
            }
            self.unchecked.clone_from(&self.scan.manifests);
            // What is gone means nothing.
            let is_there = |path: &str| self.scan.manifests.contains(path);
            self.found.retain(|path, _| is_there(path));
            self.known.models.retain(|path, _| is_there(path));
            self.known.steps.retain(|(path, _), _| is_there(path));
            return;
        }
        let changed = std::mem::take(&mut self.changed);
        for path in &changed {
            self.known.files.remove(path);
            self.read(path, documents);
        }
        let seeing = changed.iter().flat_map(|path| users(&self.known.files, path));
        let affected: Vec<String> = seeing.chain(changed.iter().cloned()).collect();
        let own = affected.into_iter().filter(|path| self.scan.manifests.contains(path));
        self.unchecked.extend(own);
    }

    /// Looks at all that is due.
    pub(super) fn refresh(&mut self, documents: &Documents, memory: &Memory) {
        self.reread(documents);
        let unchecked: Vec<String> = std::mem::take(&mut self.unchecked).into_iter().collect();
        self.check(&unchecked, documents, memory);
    }

    /// Reads a manifest and those that it uses, as far as they are not known.
    fn read(&mut self, path: &str, documents: &Documents) {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if self.known.files.contains_key(&path) {
                continue;
            }
            if let Ok(text) = documents.text(&self.file(&path)) {
                let file = File::new(&path, text);
                open.extend(file.uses.iter().cloned());
                self.known.files.insert(path, Arc::new(file));
            }
        }
    }

    fn check(&mut self, paths: &[String], documents: &Documents, memory: &Memory) {
        if paths.is_empty() {
            return;
        }
        let root = self.home.root();
        let sources = Overlay { root: &root, documents };
        let host = Host { sources: &sources, memo: memory, observer: &Unobserved };
        let recorder = Recorder::of_all();
        let aside = Aside { recorder: Some(&recorder), kept: Some(&self.kept) };
        let checked = check_aside(&host, paths, &self.scan.config, aside);
        let is_affected = |file: &str| paths.iter().any(|path| path == file);
        self.known.steps.retain(|(file, _), _| !is_affected(file));
        self.known.steps.extend(recorder.into_all());
        for path in paths {
            self.known.models.remove(path);
            self.found.remove(path);
        }
        for (manifest, unit) in checked.manifests.into_iter().zip(checked.units) {
            let mut found = unit.diagnostics;
            found.extend(refused_choices(&manifest));
            self.found.insert(manifest.path.clone(), found);
            self.known.models.insert(manifest.path.clone(), Arc::new(manifest));
        }
        // A manifest that cannot be read at all has no unit.
        let of = |path: &str| {
            let all = checked.diagnostics.iter();
            let is_own = |d: &&Diagnostic| {
                d.labels.first().is_some_and(|label| label.place.file.as_ref() == path)
            };
            all.filter(is_own).cloned().collect::<Vec<_>>()
        };
        for path in paths {
            self.found.entry(path.clone()).or_insert_with(|| of(path));
        }
    }

    /// All there is to say, each once, by file.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let manifests = self.found.values().flatten();
        let mut all: Vec<Diagnostic> = self.scan.faults.iter().chain(manifests).cloned().collect();
        sort(&mut all);
        all
    }

    /// The text that the places of a file are in.
    pub(super) fn source(&self, path: &str) -> Option<Source<'_>> {
        if let Some(file) = self.known.files.get(path) {
            return Some(Source { text: &file.text, lines: Cow::Borrowed(&file.lines) });
        }
        let text = self.scan.config_text.as_deref().filter(|_| path == CONFIG)?;
        Some(Source { text, lines: Cow::Owned(Lines::new(text)) })
    }

    /// What is wrong with the manifest at `path` in some bytes of it.
    pub(super) fn diagnostics_at(&self, path: &str, start: usize, end: usize) -> Vec<Diagnostic> {
        let touches = |d: &Diagnostic| {
            d.labels.first().is_some_and(|label| {
                let place = &label.place;
                place.file.as_ref() == path && place.start <= end && start <= place.end
            })
        };
        self.diagnostics().into_iter().filter(touches).collect()
    }
}
