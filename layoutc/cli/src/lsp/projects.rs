//! Projects as they stand: what is known of each, and what has to be looked at again.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::check::{CheckOptions, Recorder, TensorCache, sort};
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::editor::file::users;
use layoutc_compiler::editor::line_index::LineIndex;
use layoutc_compiler::editor::{EditorFile, ProjectSnapshot};
use layoutc_compiler::env::{CompileEnv, NoObserver};
use layoutc_compiler::{check_convert_schedules, check_with_options};

use crate::project::CONFIG;
use crate::project::paths::{normal, relative, slashed};

use super::documents::{DocumentOverlay, OpenDocuments};
use super::memo::InMemoryMemo;
use super::scan::{LspProjectRoot, LspProjectScan, scan};

/// A text with the places of its lines.
#[derive(Debug, Clone)]
pub(super) struct IndexedText<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Where its lines begin.
    pub(super) lines: Cow<'a, LineIndex>,
}

/// A project, or a manifest of none.
#[derive(Debug)]
pub(super) struct LspProject {
    pub(super) home: LspProjectRoot,
    scan: LspProjectScan,
    /// What is known of its manifests.
    pub(super) known: ProjectSnapshot,
    /// Tensors for the next check, while the configuration stays as it is.
    kept: TensorCache,
    /// What there is to say of each manifest and of those that it uses.
    found: BTreeMap<String, Vec<Diagnostic>>,
    /// Whether everything has to be looked at.
    is_stale: bool,
    /// The manifests whose texts changed.
    changed: BTreeSet<String>,
    /// The manifests that have been read and not checked.
    unchecked: BTreeSet<String>,
}

impl LspProject {
    /// The project there; nothing is looked at yet.
    pub(super) fn new(home: LspProjectRoot) -> Self {
        Self {
            home,
            scan: LspProjectScan::default(),
            known: ProjectSnapshot::default(),
            kept: TensorCache::default(),
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
            } else if LspProjectRoot::of(file) == self.home {
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
    pub(super) fn reread(&mut self, documents: &OpenDocuments) {
        if std::mem::take(&mut self.is_stale) {
            self.changed.clear();
            let scan = scan(&self.home, documents);
            if scan.config_text != self.scan.config_text {
                self.kept = TensorCache::default();
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
    pub(super) fn refresh(&mut self, documents: &OpenDocuments, memory: &InMemoryMemo) {
        self.reread(documents);
        let unchecked: Vec<String> = std::mem::take(&mut self.unchecked).into_iter().collect();
        self.check(&unchecked, documents, memory);
    }

    /// Reads a manifest and those that it uses, as far as they are not known.
    fn read(&mut self, path: &str, documents: &OpenDocuments) {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            if self.known.files.contains_key(&path) {
                continue;
            }
            if let Ok(text) = documents.text(&self.file(&path)) {
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
        let aside = CheckOptions { recorder: Some(&recorder), kept: Some(&self.kept) };
        let checked = check_with_options(&host, paths, &self.scan.config, aside);
        let is_affected = |file: &str| paths.iter().any(|path| path == file);
        self.known.steps.retain(|(file, _), _| !is_affected(file));
        self.known.steps.extend(recorder.into_all());
        for path in paths {
            self.known.models.remove(path);
            self.found.remove(path);
        }
        for (manifest, unit) in checked.manifests.into_iter().zip(checked.units) {
            let mut found = unit.diagnostics;
            found.extend(check_convert_schedules(&manifest));
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
    pub(super) fn source(&self, path: &str) -> Option<IndexedText<'_>> {
        if let Some(file) = self.known.files.get(path) {
            return Some(IndexedText { text: &file.text, lines: Cow::Borrowed(&file.lines) });
        }
        let text = self.scan.config_text.as_deref().filter(|_| path == CONFIG)?;
        Some(IndexedText { text, lines: Cow::Owned(LineIndex::new(text)) })
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
