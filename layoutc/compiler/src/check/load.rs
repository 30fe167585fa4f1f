//! The manifests asked for and those that they use, each read and parsed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::{self, syntax::Manifest};
use crate::sources::{LoadError, Sources};

/// The longest manifest, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Parsed manifests; a manifest stands after those that it uses.
#[derive(Debug, Default)]
pub(super) struct Files {
    by_path: BTreeMap<String, usize>,
    all: Vec<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    syntax: Option<Manifest>,
    uses: Vec<usize>,
}

impl Files {
    pub(super) fn position(&self, path: &str) -> Option<usize> {
        self.by_path.get(&normal(path)).copied()
    }

    pub(super) fn syntax(&self, file: usize) -> Option<&Manifest> {
        self.all.get(file)?.syntax.as_ref()
    }

    pub(super) fn uses(&self, file: usize) -> &[usize] {
        self.all.get(file).map_or(&[], |loaded| &loaded.uses)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// Reads the manifests at `paths` and all that they use.
pub(super) fn load(sources: &dyn Sources, paths: &[String]) -> (Files, Vec<Diagnostic>) {
    let mut loader =
        Loader { sources, files: Files::default(), open: Vec::new(), diagnostics: Vec::new() };
    for path in paths {
        if let Err(error) = loader.file(path, normal(path)) {
            let message = format!("cannot read the manifest `{path}`: {}", told(&error));
            let place = Place::new(&Arc::from(path.as_str()), 0..0);
            loader.diagnostics.push(Diagnostic::error(Code::NameFile, message, place, ""));
        }
    }
    (loader.files, loader.diagnostics)
}

struct Loader<'a> {
    sources: &'a dyn Sources,
    files: Files,
    /// The files that are being read, from the one asked for to the innermost.
    open: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

/// How deep `use` may go.
const MAX_USES: usize = 128;

impl Loader<'_> {
    fn file(&mut self, path: &str, key: String) -> Result<usize, LoadError> {
        if let Some(known) = self.files.by_path.get(&key) {
            return Ok(*known);
        }
        let text = self.sources.load(path)?;
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if bytes > MAX_BYTES {
            return Err(LoadError::TooLarge { bytes });
        }
        let name: Arc<str> = Arc::from(path);
        let (syntax, found) = manifest::parse(&name, &text);
        self.diagnostics.extend(found);
        self.open.push(key.clone());
        let mut uses = Vec::new();
        for used in &syntax.uses {
            uses.extend(self.used(&name, path, used));
        }
        self.open.pop();
        let position = self.files.all.len();
        self.files.all.push(Loaded { syntax: Some(syntax), uses });
        self.files.by_path.insert(key, position);
        Ok(position)
    }

    fn used(&mut self, file: &Arc<str>, from: &str, used: &manifest::syntax::Use) -> Option<usize> {
        let place = Place::new(file, used.path.span.clone());
        let wanted = &used.path.value;
        if wanted.starts_with('/') || wanted.contains(['\\', ':', '\0']) || wanted.is_empty() {
            let message = format!("`{}` is no relative path", wanted.escape_debug());
            let help = "name the manifest relative to this one, with `/` between folders";
            self.diagnostics.push(Diagnostic::error(Code::NameFile, message, place, "").help(help));
            return None;
        }
        let path = match from.rsplit_once('/') {
            Some((folder, _)) => normal(&format!("{folder}/{wanted}")),
            None => normal(wanted),
        };
        if let Some(start) = self.open.iter().position(|open| *open == path) {
            let mut chain: Vec<&str> = self.open.iter().skip(start).map(String::as_str).collect();
            chain.push(&path);
            let message = format!("`use` goes round in a circle: {}", chain.join(" → "));
            let help = "move what both need into a third manifest";
            let error = Diagnostic::error(Code::NameCycle, message, place, "leads back here");
            self.diagnostics.push(error.help(help));
            return None;
        }
        if self.open.len() >= MAX_USES {
            let message = format!("`use` goes deeper than {MAX_USES} manifests");
            self.diagnostics.push(Diagnostic::error(Code::NameCycle, message, place, ""));
            return None;
        }
        match self.file(&path.clone(), path) {
            Ok(position) => Some(position),
            Err(error) => {
                let message = format!("cannot read the manifest `{wanted}`: {}", told(&error));
                self.diagnostics.push(Diagnostic::error(Code::NameFile, message, place, ""));
                None
            }
        }
    }
}

fn told(error: &LoadError) -> String {
    match error {
        LoadError::NotFound => "there is no such file".to_string(),
        LoadError::NotUtf8 { valid_up_to } => format!("it is not UTF-8 from byte {valid_up_to} on"),
        LoadError::TooLarge { bytes } => format!("its {bytes} bytes are more than {MAX_BYTES}"),
        LoadError::Other(words) => words.clone(),
    }
}

/// A path without `.` and without `folder/..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}
