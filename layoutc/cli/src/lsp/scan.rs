//! Manifests of a project: files on disk that the patterns of the project match, and open documents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::{self, Config};

use crate::command_error::CommandError;
use crate::paths::slashed;
use crate::project::globs::SourceGlobs;
use crate::project::{CONFIG, file_tree, root_at};

use super::documents::{OpenDocument, OpenDocuments};

/// Identity of a project: its root folder, or its only manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LspProjectRoot {
    /// Project in the folder of a `layoutc.toml`.
    Project(PathBuf),
    /// Manifest at this path, outside of any project.
    Alone(PathBuf),
}

impl LspProjectRoot {
    /// Identity of the project that contains the file at the absolute path `path`: the nearest folder above the file
    /// with a `layoutc.toml`, else the file itself.
    pub(super) fn of(path: &Path) -> Self {
        let root = path.parent().and_then(root_at);
        root.map_or_else(|| Self::Alone(path.to_owned()), Self::Project)
    }

    /// Folder that the paths of manifests are relative to: the root of the project, or the folder of the only manifest.
    pub(super) fn root(&self) -> PathBuf {
        match self {
            Self::Project(root) => root.clone(),
            Self::Alone(path) => path.parent().unwrap_or(Path::new("/")).to_owned(),
        }
    }
}

/// Configuration and manifests of a project.
#[derive(Debug, Default)]
pub(super) struct LspProjectScan {
    /// Configuration of the project, or the default one if it is invalid, missing or unreadable.
    pub(super) config: Config,
    /// Text of the configuration file, `None` if it cannot be read.
    pub(super) config_text: Option<Arc<str>>,
    /// Diagnostics about errors in the configuration file.
    pub(super) faults: Vec<Diagnostic>,
    /// Paths of the manifests relative to the root of the project, on disk or open in the editor.
    pub(super) manifests: BTreeSet<String>,
}

/// Reads the configuration of the project `home`, and finds its manifests on disk and among the open `documents`.
pub(super) fn scan(home: &LspProjectRoot, documents: &OpenDocuments) -> LspProjectScan {
    let mut scan = LspProjectScan::default();
    let root = home.root();
    let globs = match home {
        LspProjectRoot::Project(root) => configure(&mut scan, root, documents),
        LspProjectRoot::Alone(_) => None,
    };
    if let Some(globs) = &globs {
        for start in &globs.folders {
            // An unreadable folder has no manifests.
            let found = file_tree::below(&root.join(start)).map(|found| found.files());
            let own = found.unwrap_or_default().into_iter().filter(|file| {
                file.strip_prefix(&root).is_ok_and(|path| globs.matches(path))
                    && file.parent().and_then(root_at).as_deref() == Some(root.as_path())
            });
            scan.manifests.extend(own.filter_map(|file| below(&file, &root)));
        }
    }
    for (file, document) in &documents.0 {
        if LspProjectRoot::of(file) != *home {
            continue;
        }
        let matches = globs
            .as_ref()
            .is_some_and(|globs| file.strip_prefix(&root).is_ok_and(|path| globs.matches(path)));
        if matches || is_manifest(document) {
            scan.manifests.extend(below(file, &root));
        }
    }
    scan
}

/// Reads the configuration of the project at `root` into `scan`, from `documents` or from disk. Returns the patterns of
/// its manifests, those of the default configuration if the configuration is invalid. `None` if the file cannot be
/// read, or if a pattern is invalid.
fn configure(
    scan: &mut LspProjectScan,
    root: &Path,
    documents: &OpenDocuments,
) -> Option<SourceGlobs> {
    let text = documents.text(&root.join(CONFIG)).ok()?;
    scan.config_text = Some(Arc::clone(&text));
    match config::parse(&Arc::from(CONFIG), &text) {
        Ok(config) => scan.config = config,
        Err(faults) => scan.faults = faults,
    }
    match SourceGlobs::new(&scan.config.project.sources) {
        Ok(globs) => Some(globs),
        Err(CommandError::Input(faults)) => {
            scan.faults.extend(faults);
            None
        }
        Err(_) => None,
    }
}

/// Path of `file` relative to the folder `root`, with `/` as separator; `None` if `file` is not below `root`, or if the
/// path is not Unicode.
pub(super) fn below(file: &Path, root: &Path) -> Option<String> {
    slashed(file.strip_prefix(root).ok()?)
}

/// True if an open document is a manifest although no pattern matches its path. Its language is `layoutc`, or it is
/// `kdl` and a line starts with the name of a node that only manifests have.
fn is_manifest(document: &OpenDocument) -> bool {
    const OWN: [&str; 4] = ["tensor", "transform", "kernel", "backend"];
    let begins = |line: &str, word: &&str| {
        line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']))
    };
    match document.language.as_str() {
        "layoutc" => true,
        "kdl" => document.text.lines().any(|line| OWN.iter().any(|word| begins(line, word))),
        _ => false,
    }
}
