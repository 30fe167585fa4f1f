//! Loading of the requested manifests and of the manifests that they import by `use`; each is read and parsed once.
//! Paths → [`ManifestSet`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::use_cycles::{self, CycleCuts, UseGraph};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::nearest::nearest;
use crate::env::library::{self, LIBRARY};
use crate::env::sources::LoadError;
use crate::env::{CacheKey, CompileEnv, CompileStage};
use crate::manifest::{
    self,
    syntax::{ManifestSyntax, UseItem},
};

/// Maximum size of a manifest, in bytes. A larger one is refused with [`LoadError::TooLarge`].
const MAX_BYTES: u64 = 4 << 20;

/// Loaded manifests. `all` lists them, each after the manifests that it uses. `by_path` maps the normalized path of a
/// manifest to its position in `all`.
#[derive(Debug, Default)]
pub(super) struct ManifestSet {
    by_path: BTreeMap<String, usize>,
    all: Vec<ManifestFile>,
}

#[derive(Debug)]
struct ManifestFile {
    syntax: ManifestSyntax,
    text: String,
    uses: Vec<usize>,
}

impl ManifestSet {
    pub(super) fn position(&self, path: &str) -> Option<usize> {
        self.by_path.get(&normal(path)).copied()
    }

    pub(super) fn syntax(&self, file: usize) -> Option<&ManifestSyntax> {
        self.all.get(file).map(|loaded| &loaded.syntax)
    }

    /// Source text of the manifest at position `file`; empty for an invalid position.
    pub(super) fn text(&self, file: usize) -> &str {
        self.all.get(file).map_or("", |loaded| &loaded.text)
    }

    pub(super) fn uses(&self, file: usize) -> &[usize] {
        self.all.get(file).map_or(&[], |loaded| &loaded.uses)
    }

    /// Positions of the manifests on which the manifest at position `file` depends: its own position, and those of the
    /// manifests that it uses, directly or indirectly.
    pub(super) fn closure(&self, file: usize) -> BTreeSet<usize> {
        let mut closure = BTreeSet::new();
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            if closure.insert(file) {
                open.extend(self.uses(file));
            }
        }
        closure
    }

    /// Paths of the files that a `use` of the library in the manifest at position `file`, or in one that it uses, must
    /// not have beside it: `a/std/nvidia.kdl` for `use "std/nvidia.kdl"` in `a/b.kdl`.
    pub(super) fn absent(&self, file: usize) -> BTreeSet<String> {
        let closure = self.closure(file);
        let all = closure.iter().filter_map(|file| self.syntax(*file));
        let beside = |syntax: &ManifestSyntax| {
            let used = syntax.uses.iter().map(|used| used.path.value.as_str());
            let library = used.filter(|used| library::path(used).is_some());
            library.map(|used| relative_path(&syntax.file, used)).collect::<Vec<_>>()
        };
        all.flat_map(beside).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// Loads the manifests at `paths` and those that they use, directly or indirectly. Returns the pair
/// `(manifests, diagnostics)`: `manifests` are those that can be read, `diagnostics` has the diagnostics of the parser,
/// and the errors of paths, of reading, and of cyclic or too deeply nested `use` items.
pub(super) fn load(host: &CompileEnv<'_>, paths: &[String]) -> (ManifestSet, Vec<Diagnostic>) {
    let parsed = parse_all(host, paths);
    let mut loader = ManifestLoader {
        host,
        cuts: use_cycles::cuts(&uses(&parsed)),
        parsed,
        files: ManifestSet::default(),
        open: Vec::new(),
        diagnostics: Vec::new(),
    };
    for path in paths {
        if let Some(fault) = unquotable(path) {
            loader.diagnostics.push(fault);
        } else if let Err(error) = loader.file(normal(path)) {
            let place = FileSpan::new(&Arc::from(path.as_str()), 0..0);
            loader.diagnostics.push(unreadable(&error, path, path, place));
        }
    }
    (loader.files, loader.diagnostics)
}

/// Error for a path that cannot be quoted in an `#include "…"` of generated code; `None` for any other path.
fn unquotable(path: &str) -> Option<Diagnostic> {
    let bad = path.chars().find(|c| c.is_control() || matches!(c, '"' | '\\'))?;
    let (shown, bad) = (printable(path), printable(&bad.to_string()));
    let message = format!("the path of the manifest `{shown}` contains the character `{bad}`");
    let place = FileSpan::new(&Arc::from(path), 0..0);
    let fault = Diagnostic::error(Code::NameFile, message, place, "");
    Some(fault.help("rename the file: generated files include one another by its name"))
}

/// Text of a path with its control characters escaped.
fn printable(path: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    path.chars().map(shown).collect()
}

struct ParsedManifest {
    syntax: ManifestSyntax,
    text: String,
    diagnostics: Vec<Diagnostic>,
}

type ParseOutcome = Result<ParsedManifest, LoadError>;

/// Parses the manifests at `paths` and those that they use, directly or indirectly, in parallel. Returns the manifest
/// or the error of each by its normalized path; a chain of uses is followed up to [`MAX_USES`].
fn parse_all(host: &CompileEnv<'_>, paths: &[String]) -> BTreeMap<String, ParseOutcome> {
    let mut all = BTreeMap::new();
    let mut wanted: BTreeMap<String, String> = BTreeMap::new();
    for path in paths {
        wanted.entry(normal(path)).or_insert_with(|| path.clone());
    }
    for _ in 0..=MAX_USES {
        let new: Vec<(String, ParseOutcome)> =
            wanted.par_iter().map(|(key, path)| (key.clone(), parse(host, path))).collect();
        wanted = BTreeMap::new();
        for (_, parsed) in &new {
            let Ok(ParsedManifest { syntax, .. }) = parsed else { continue };
            let used = syntax.uses.iter().filter(|used| !is_outside(&used.path.value));
            wanted.extend(used.map(|used| {
                let path = resolve_relative(&syntax.file, &used.path.value);
                (path.clone(), path)
            }));
        }
        all.extend(new);
        wanted.retain(|key, _| !all.contains_key(key));
        if wanted.is_empty() {
            break;
        }
    }
    all
}

/// Graph of the `use` items in the parsed manifests, by normalized path. A `use` of a path that is not relative has no
/// edge.
fn uses(parsed: &BTreeMap<String, ParseOutcome>) -> UseGraph {
    let row = |(key, parsed): (&String, &ParseOutcome)| {
        let syntax = parsed.as_ref().ok().map(|read| &read.syntax);
        let used = syntax.into_iter().flat_map(|syntax| {
            let paths = syntax.uses.iter().map(|used| used.path.value.as_str());
            paths.filter_map(|path| used_path(&syntax.file, path))
        });
        (key.clone(), used.collect())
    };
    parsed.iter().map(row).collect()
}

/// Key under which the parsed syntax of a manifest is cached; `hash` is the blake3 hash of its text.
pub fn syntax_key(hash: &[u8; 32]) -> CacheKey {
    CacheKey::new("syntax", hash)
}

/// Parses the manifest at `path`, or takes its syntax from the cache if an equal text was parsed before without
/// diagnostics. Syntax errors are part of the result; `Err` if the text cannot be loaded or exceeds [`MAX_BYTES`].
fn parse(host: &CompileEnv<'_>, path: &str) -> ParseOutcome {
    let text = match library::text(path) {
        Some(text) => text.to_owned(),
        None => host.sources.load(path)?,
    };
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if bytes > MAX_BYTES {
        return Err(LoadError::TooLarge { bytes });
    }
    host.observer.begin();
    let name: Arc<str> = Arc::from(path);
    let key = syntax_key(blake3::hash(text.as_bytes()).as_bytes());
    let known = host.memo.recall(&key);
    if let Some(manifest) =
        known.and_then(|bytes| postcard::from_bytes::<ManifestSyntax>(&bytes).ok())
    {
        host.observer.end(CompileStage::Recall, path);
        let syntax = ManifestSyntax { file: name, ..manifest };
        return Ok(ParsedManifest { syntax, text, diagnostics: Vec::new() });
    }
    let (syntax, diagnostics) = manifest::parse(&name, &text);
    if diagnostics.is_empty()
        && let Ok(bytes) = postcard::to_allocvec(&syntax)
    {
        host.memo.store(&key, bytes);
    }
    host.observer.end(CompileStage::Parse, path);
    Ok(ParsedManifest { syntax, text, diagnostics })
}

struct ManifestLoader<'a> {
    host: &'a CompileEnv<'a>,
    parsed: BTreeMap<String, ParseOutcome>,
    files: ManifestSet,
    /// `use` items that close a cycle. Each is reported as an error, and imports nothing.
    cuts: CycleCuts,
    /// Paths of the files that are being loaded, outermost first.
    open: Vec<String>,
    diagnostics: Vec<Diagnostic>,
}

/// Maximum length of a chain of `use` items, in manifests. A longer chain is an error.
const MAX_USES: usize = 128;

impl ManifestLoader<'_> {
    fn file(&mut self, key: String) -> Result<usize, LoadError> {
        if let Some(known) = self.files.by_path.get(&key) {
            return Ok(*known);
        }
        let ParsedManifest { syntax, text, diagnostics } = match self.parsed.remove(&key) {
            Some(Ok(parsed)) => parsed,
            Some(Err(error)) => {
                // Keep the error for other manifests that use this one.
                self.parsed.insert(key, Err(error.clone()));
                return Err(error);
            }
            None => return Err(LoadError::NotFound),
        };
        self.diagnostics.extend(diagnostics);
        let name = Arc::clone(&syntax.file);
        self.open.push(key.clone());
        let mut uses = Vec::new();
        for used in &syntax.uses {
            match self.used(&name, used) {
                Ok(position) => uses.push(position),
                Err(error) => self.diagnostics.push(error),
            }
        }
        self.open.pop();
        let position = self.files.all.len();
        self.files.all.push(ManifestFile { syntax, text, uses });
        self.files.by_path.insert(key, position);
        Ok(position)
    }

    fn used(&mut self, file: &Arc<str>, used: &UseItem) -> Result<usize, Diagnostic> {
        let place = used.path.at(file);
        let wanted = &used.path.value;
        if is_outside(wanted) {
            let message = format!("`{}` is not a relative path", printable(wanted));
            let help = "write the path relative to this manifest, with `/` between folders";
            return Err(Diagnostic::error(Code::NameFile, message, place, "").help(help));
        }
        if let Some(fault) = library_fault(self.host, file, used) {
            return Err(fault);
        }
        let path = resolve_relative(file, wanted);
        let from = self.open.last().cloned().unwrap_or_default();
        if let Some(cycle_path) = self.cuts.get(&(from, path.clone())) {
            let message = format!("cyclic `use`: {} → {path}", cycle_path.join(" → "));
            let help = "move the shared declarations into a third manifest";
            let error = Diagnostic::error(Code::NameCycle, message, place, "closes the cycle");
            return Err(error.help(help));
        }
        if self.open.len() >= MAX_USES {
            let message = format!("`use` is nested deeper than {MAX_USES} manifests");
            let error = Diagnostic::error(Code::LimitNesting, message, place, "");
            return Err(error.help("merge manifests of the chain"));
        }
        self.file(path.clone()).map_err(|error| unreadable(&error, wanted, &path, place))
    }
}

/// Path of the manifest that the item `use "wanted"` imports into the manifest at `from`: the normalized path
/// `lib/b.kdl` for `wanted` `b.kdl` and `from` `lib/a.kdl`, and `<std>/nvidia.kdl` for the library's `std/nvidia.kdl`.
/// `None` if `wanted` is not a relative path.
pub fn used_path(from: &str, wanted: &str) -> Option<String> {
    (!is_outside(wanted)).then(|| resolve_relative(from, wanted))
}

/// True if the path in a `use` is not relative with `/` as separator: absolute, empty, or with `\`, `:` or NUL.
fn is_outside(wanted: &str) -> bool {
    wanted.starts_with('/') || wanted.contains(['\\', ':', '\0']) || wanted.is_empty()
}

/// Path in spans of the manifest `wanted` of a `use` in the manifest at `from`: that of a manifest of the library, or
/// the normalized path relative to the folder of `from`.
fn resolve_relative(from: &str, wanted: &str) -> String {
    library::path(wanted).unwrap_or_else(|| relative_path(from, wanted))
}

/// Normalized path of the file `wanted`, which is relative to the folder of the manifest at `from`.
fn relative_path(from: &str, wanted: &str) -> String {
    match from.rsplit_once('/') {
        Some((folder, _)) => normal(&format!("{folder}/{wanted}")),
        None => normal(wanted),
    }
}

/// Error for `used`, an item in the manifest at `from` that names a manifest of the library, if the library has no such
/// manifest, or if a file has the path of the item as well. `None` if neither holds, or `used` names a file.
fn library_fault(host: &CompileEnv<'_>, from: &Arc<str>, used: &UseItem) -> Option<Diagnostic> {
    let wanted = used.path.value.as_str();
    let path = library::path(wanted)?;
    let own = format!("for a file of the project, write `./{wanted}`");
    let error = |message| Diagnostic::error(Code::NameFile, message, used.path.at(from), "");
    if library::is_library(&path) {
        let is_file = host.sources.load(&relative_path(from, wanted)) != Err(LoadError::NotFound);
        let message = format!("`{wanted}` is both a manifest of the library and a file");
        return is_file.then(|| error(message).help(own));
    }
    let error = error(format!("the library has no manifest `{wanted}`"));
    let known = || LIBRARY.iter().map(|one| one.path);
    let error = match nearest(wanted, known()) {
        Some(near) => error.with_suggestion(near),
        None => {
            let known: Vec<&str> = known().collect();
            error.help(format!("the library has `{}`", known.join("`, `")))
        }
    };
    Some(error.help(own))
}

/// Error at `place` for a manifest that cannot be read. `shown` is its path in the message, as in the `use` or the
/// request; `path` is its path in the help.
fn unreadable(error: &LoadError, shown: &str, path: &str, place: FileSpan) -> Diagnostic {
    let (why, help) = match error {
        LoadError::NotFound => {
            let help = if path.strip_suffix(".kdl").is_some() {
                format!("create `{path}`, or use another manifest")
            } else {
                let path = path.trim_matches(['<', '>']);
                let stem = path.strip_suffix(".kdl").unwrap_or(path);
                format!("add the extension: `{stem}.kdl`")
            };
            ("no such file".to_owned(), Some(help))
        }
        LoadError::NotUtf8 { valid_up_to } => {
            (format!("invalid UTF-8 at byte {valid_up_to}"), Some("save it as UTF-8".to_owned()))
        }
        LoadError::TooLarge { bytes } => {
            let why = format!("its {bytes} bytes exceed the limit of {MAX_BYTES}");
            (why, Some("split it into several manifests".to_owned()))
        }
        LoadError::Other(why) => (why.clone(), None),
    };
    let message = format!("cannot read the manifest `{shown}`: {why}");
    let mut fault = Diagnostic::error(Code::NameFile, message, place, "");
    fault.help.extend(help);
    fault
}

/// Path without `.`, `folder/..` and empty parts: `a/./b/../c` becomes `a/c`. A `/` at the start of the path stays.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (number, part) in path.split('/').enumerate() {
        match part {
            "." => {}
            "" if number > 0 => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn paths_have_no_empty_parts() {
        for (path, wanted) in [
            ("a/./b/../c", "a/c"),
            (".//b.kdl", "b.kdl"),
            ("x/..//b.kdl", "b.kdl"),
            ("../a//b.kdl", "../a/b.kdl"),
            ("/a//b.kdl", "/a/b.kdl"),
        ] {
            assert_eq!(normal(path), wanted, "{path}");
        }
    }
}
