//! Cases of diagnostics, and their reports as texts beside them.
#![allow(clippy::disallowed_methods, reason = "reads and writes the cases")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan, Severity};
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};

/// Path of a case's manifest.
pub const MAIN: &str = "main.kdl";

/// Path of a case's configuration.
pub const CONFIG: &str = "layoutc.toml";

/// Texts of a case's files by path.
pub type Files = BTreeMap<String, String>;

/// Manifest with mistakes, and the files that it needs.
pub struct Case {
    pub path: PathBuf,
    pub files: Files,
}

impl Case {
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        diagnostics(&self.files)
    }

    /// All that is reported, one part a line.
    pub fn report(&self, found: &[Diagnostic]) -> String {
        let mut report = String::new();
        for fault in found {
            let severity = if fault.severity == Severity::Error { "error" } else { "warning" };
            writeln!(report, "{severity}[{}]: {}", fault.code.id(), fault.message).unwrap();
            for label in &fault.labels {
                let kind = if label.primary { "at" } else { "see" };
                let colon = if label.message.is_empty() { "" } else { ": " };
                let place = self.marked(&label.place);
                writeln!(report, "    {kind} {place}{colon}{}", label.message).unwrap();
            }
            fault.notes.iter().for_each(|note| writeln!(report, "    note: {note}").unwrap());
            fault.help.iter().for_each(|help| writeln!(report, "    help: {help}").unwrap());
            for fix in &fault.fixes {
                let new = fix.text.replace('\n', "\\n");
                writeln!(report, "    fix: {} -> `{new}`", self.marked(&fix.place)).unwrap();
            }
            if !fault.witness.is_empty() {
                writeln!(report, "    witness: {:?}", fault.witness).unwrap();
            }
        }
        report
    }

    /// Position and text of a span: `3:14` with the characters, or `3:14 to 5:2` with the first line. The file is
    /// named unless it is the manifest; of a file that is not of the case, it alone.
    fn marked(&self, place: &FileSpan) -> String {
        let Some(text) = self.files.get(&*place.file) else { return place.file.to_string() };
        let file = if &*place.file == MAIN { String::new() } else { format!("{}:", place.file) };
        let position = |at: usize| {
            let before = &text[..at];
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("{}:{column}", before.matches('\n').count() + 1)
        };
        let (start, marked) = (position(place.start), &text[place.start..place.end]);
        match marked.split_once('\n') {
            Some((first, _)) => format!("{file}{start} to {} `{first} …`", position(place.end)),
            None => format!("{file}{start} `{marked}`"),
        }
    }
}

/// Diagnostics of the configuration, or else of the manifests, and of the targets if there is no error.
pub fn diagnostics(files: &Files) -> Vec<Diagnostic> {
    let toml = files.get(CONFIG).map_or("", String::as_str);
    let config: Config = match config::parse(&Arc::from(CONFIG), toml) {
        Ok(config) => config,
        Err(faults) => return faults,
    };
    if !files.contains_key(MAIN) {
        return Vec::new();
    }
    let template = |(path, text): (&String, &String)| {
        Some((path.strip_prefix("templates/")?.to_owned(), text.clone()))
    };
    let templates: BTreeMap<String, String> = files.iter().filter_map(template).collect();
    let sources: MemorySources = files.iter().collect();
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&[MAIN.to_owned()]);
    let templates = Templates::new(&config, templates, BTreeMap::new());
    let emitted = if checked.is_valid() { compiler.emit(&checked, &templates).err() } else { None };
    checked.diagnostics.into_iter().chain(emitted.unwrap_or_default()).collect()
}

/// Cases in a folder: manifests other than `.fixed.kdl`, configurations, and folders.
pub fn cases_in(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in entries(folder) {
        let mut files = Files::new();
        if path.is_dir() {
            add_files(&mut files, &path, "");
        } else {
            let name = match path.extension().and_then(OsStr::to_str) {
                Some("kdl") if !is_fixed(&path) => MAIN,
                Some("toml") => CONFIG,
                _ => continue,
            };
            files.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
        }
        cases.push(Case { path, files });
    }
    cases
}

fn add_files(files: &mut Files, folder: &Path, prefix: &str) {
    for path in entries(folder) {
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            add_files(files, &path, &format!("{name}/"));
        } else {
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Files and folders in a folder, sorted.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// True for a manifest without the mistake.
pub fn is_fixed(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".fixed.kdl")
}

/// Compares reports with the texts at their paths; `BLESS=1` writes them.
#[track_caller]
pub fn assert_recorded(reports: &[(PathBuf, String)]) {
    let is_blessed = env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for (path, report) in reports {
        if is_blessed {
            fs::write(path, report).unwrap();
        } else if fs::read_to_string(path).unwrap_or_default() != *report {
            writeln!(wrong, "{}:\n{report}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "renew with BLESS=1:\n{wrong}");
}
