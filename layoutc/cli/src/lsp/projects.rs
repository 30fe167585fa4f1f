//! State of one project in the language server (texts, parsed manifests, diagnostics), updated incrementally.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::Compiler;
use layoutc_compiler::base::diagnostic::{Diagnostic, sort};
use layoutc_compiler::check::{Recorder, TensorCache};
use layoutc_compiler::editor::file::users;
use layoutc_compiler::editor::line_index::LineIndex;
use layoutc_compiler::editor::{EditorFile, ProjectSnapshot};
use layoutc_compiler::env::{CompileEnv, NoObserver, library};

use crate::paths::{normal, relative, slashed};
use crate::project::CONFIG;

use super::documents::{DocumentOverlay, OpenDocuments};
use super::memo::InMemoryMemo;
use super::scan::{LspProjectRoot, LspProjectScan, scan};

/// Text of a file with its line index.
#[derive(Debug, Clone)]
pub(super) struct IndexedText<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Cow<'a, LineIndex>,
}

/// Project with the state of its manifests. A manifest outside of any project is a project of its own.
#[derive(Debug)]
pub(super) struct LspProject {
    pub(super) home: LspProjectRoot,
    scan: LspProjectScan,
    /// Parsed texts, models and layout steps of the manifests.
    pub(super) known: ProjectSnapshot,
    /// Cache of checked tensors, emptied when the text of the configuration changes.
    cache: TensorCache,
    /// Diagnostics by path of the manifest. Those of a manifest include the errors in reading the manifests that it
    /// uses.
    found: BTreeMap<String, Vec<Diagnostic>>,
    /// True if the configuration and all manifests must be read again.
    is_stale: bool,
    /// Paths of the manifests whose texts changed since they were read.
    changed: BTreeSet<String>,
    /// Paths of the manifests that must be checked: they, or a manifest that they use, were read after their last
    /// check.
    unchecked: BTreeSet<String>,
}

impl LspProject {
    /// Stale project, of which no file has been read.
    pub(super) fn new(home: LspProjectRoot) -> Self {
        Self {
            home,
            scan: LspProjectScan::default(),
            known: ProjectSnapshot::default(),
            cache: TensorCache::default(),
            found: BTreeMap::new(),
            is_stale: true,
            changed: BTreeSet::new(),
            unchecked: BTreeSet::new(),
        }
    }

    /// Marks the whole project as stale, so that everything is read again.
    pub(super) fn forget(&mut self) {
        self.is_stale = true;
    }

    /// Records a change of `file`, an absolute path, on disk or in the editor. Marks the whole project as stale if
    /// `file` is its configuration, or a file in the project that is none of its manifests, as it may have become one.
    /// Otherwise marks `file` as changed if it is a manifest of the project, or is used by one.
    pub(super) fn touch(&mut self, file: &Path) {
        let root = self.home.root();
        if file == root.join(CONFIG) {
            self.is_stale = true;
        } else if let Some(path) = slashed(&relative(file, &root)) {
            if self.scan.manifests.contains(&path) {
                self.changed.insert(path);
            } else if LspProjectRoot::of(file) == self.home {
                // Opening it, or its new text, may have made it a manifest.
                self.is_stale = true;
            } else if self.known.files.contains_key(&path) {
                self.changed.insert(path);
            }
        }
    }

    /// True if [`Self::refresh`] would read or check a manifest: the project is stale, or a manifest is changed or
    /// unchecked.
    pub(super) fn is_due(&self) -> bool {
        self.is_stale || !self.changed.is_empty() || !self.unchecked.is_empty()
    }

    /// Path of `file`, which is absolute, relative to the root of the project, with `/` as separator. `None` if the
    /// project has not read the file.
    pub(super) fn path(&self, file: &Path) -> Option<String> {
        let path = slashed(&relative(file, &self.home.root()))?;
        self.source(&path).is_some().then_some(path)
    }

    /// Absolute path of the file whose path relative to the root is `path`.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        normal(&self.home.root().join(path))
    }

    /// Reads the changed texts from `documents` or from disk. If the project is stale, also reads the configuration and
    /// finds the manifests again. The manifests are not checked, so that their models may be older than their texts.
    pub(super) fn reread(&mut self, documents: &OpenDocuments) {
        if std::mem::take(&mut self.is_stale) {
            self.changed.clear();
            let scan = scan(&self.home, documents);
            if scan.config_text != self.scan.config_text {
                self.cache = TensorCache::default();
            }
            self.scan = scan;
            self.known.files.clear();
            for path in self.scan.manifests.clone() {
                self.read(&path, documents);
            }
            self.unchecked.clone_from(&self.scan.manifests);
            // Drops the results of removed manifests.
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

    /// Reads the changed texts as [`Self::reread`] does. Then checks all unchecked manifests: those that were read, and
    /// those that use one that was read. `memory` caches results of checks.
    pub(super) fn refresh(&mut self, documents: &OpenDocuments, memory: &InMemoryMemo) {
        self.reread(documents);
        let unchecked: Vec<String> = std::mem::take(&mut self.unchecked).into_iter().collect();
        self.check(&unchecked, documents, memory);
    }

    /// Reads the manifest at `path` and the manifests that it uses, directly or indirectly. Files that were read before
    /// are not read again, and files that cannot be read are omitted.
    fn read(&mut self, path: &str, documents: &OpenDocuments) {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if self.known.files.contains_key(&path) {
                continue;
            }
            let text = match library::text(&path) {
                Some(text) => Ok(Arc::from(text)),
                None => documents.text(&self.file(&path)),
            };
            if let Ok(text) = text {
                let file = EditorFile::new(&path, text);
                open.extend(file.uses.iter().cloned());
                self.known.files.insert(path, Arc::new(file));
            }
        }
    }

    fn check(&mut self, paths: &[String], documents: &OpenDocuments, memory: &InMemoryMemo) {
        if paths.is_empty() {
            return;
        }
        let root = self.home.root();
        let sources = DocumentOverlay { root: &root, documents };
        let host = CompileEnv { sources: &sources, memo: memory, observer: &NoObserver };
        let recorder = Recorder::of_all();
        let compiler = Compiler::new(host, &self.scan.config);
        let checked = compiler.recording(&recorder).caching(&self.cache).check(paths);
        let is_affected = |file: &str| paths.iter().any(|path| path == file);
        self.known.steps.retain(|(file, _), _| !is_affected(file));
        self.known.steps.extend(recorder.into_all());
        for path in paths {
            self.known.models.remove(path);
            self.found.remove(path);
        }
        for (manifest, unit) in checked.manifests.into_iter().zip(checked.units) {
            self.found.insert(manifest.path.clone(), unit.diagnostics);
            self.known.models.insert(manifest.path.clone(), Arc::new(manifest));
        }
        // A manifest that cannot be read has no unit.
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

    /// All diagnostics of the project, sorted and without duplicates.
    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        let manifests = self.found.values().flatten();
        let mut all: Vec<Diagnostic> = self.scan.faults.iter().chain(manifests).cloned().collect();
        sort(&mut all);
        all
    }

    /// Text and line index of the manifest or the configuration at `path` relative to the root; `None` if that file was
    /// not read.
    pub(super) fn source(&self, path: &str) -> Option<IndexedText<'_>> {
        if let Some(file) = self.known.files.get(path) {
            return Some(IndexedText { text: &file.text, lines: Cow::Borrowed(&file.lines) });
        }
        let text = self.scan.config_text.as_deref().filter(|_| path == CONFIG)?;
        Some(IndexedText { text, lines: Cow::Owned(LineIndex::new(text)) })
    }

    /// Diagnostics whose first label is in the manifest at `path`, relative to the root, and overlaps or touches the
    /// byte range `start..end`.
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
