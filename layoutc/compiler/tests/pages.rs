//! The book, against the compiler: every code has a page and is raised somewhere, a page's wrong block raises exactly
//! its code and the corrected block none, and the manifests and templates of the chapters compile.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "reads the book and the sources"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::report::{CONFIG, Files, MAIN, diagnostics};
use crate::refused;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, LoadError, SourceLoader};

/// A manifest, and the blocks of its page that it can `use`.
struct Page<'a> {
    manifest: &'a str,
    blocks: &'a [(&'a str, &'a str)],
}

impl SourceLoader for Page<'_> {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        if path == "page.kdl" {
            return Ok(self.manifest.to_string());
        }
        // The first line of a block names its file, relative to the project's folder.
        let comment = format!("// {}\n", path.trim_start_matches("../"));
        let named = self.blocks.iter().find(|(_, text)| text.starts_with(&comment));
        named.map(|(_, text)| (*text).to_string()).ok_or(LoadError::NotFound)
    }
}

/// Diagnostics of a block, including warnings; none for commands and plain text.
fn raised(language: &str, text: &str, page: &[(&str, &str)]) -> Vec<Diagnostic> {
    if language != "kdl" {
        return diagnostics(&files_of(&[(language, text)]));
    }
    let config = Config::default();
    let page = Page { manifest: text, blocks: page };
    let compiler = Compiler::new(&page, &config);
    let checked = compiler.check(&["page.kdl".to_string()]);
    let templates = Templates::default();
    let faults = if checked.is_valid() { compiler.emit(&checked, &templates).err() } else { None };
    checked.diagnostics.into_iter().chain(faults.into_iter().flatten()).collect()
}

/// Files of the blocks below a heading, as a case has them: the first block, or a configuration with its manifest, or
/// a template with a manifest that it renders.
fn files_of(blocks: &[(&str, &str)]) -> Files {
    let files = match blocks {
        [("toml", toml), ("kdl", manifest), ..] => vec![(CONFIG, *toml), (MAIN, *manifest)],
        [("toml", toml), ..] => vec![(CONFIG, *toml)],
        [("kdl", manifest), ..] => vec![(MAIN, *manifest)],
        [("jinja", template), ..] => {
            let manifest = "tensor a dtype=f32 {\n    shape { n 8; c 32 }\n}\n";
            vec![("templates/c/header.h.j2", *template), (MAIN, manifest)]
        }
        _ => Vec::new(),
    };
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

fn codes(told: &[Diagnostic]) -> BTreeSet<Code> {
    told.iter().map(|told| told.code).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder whose names end with `ending`, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Fenced blocks of a page: info string and text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once("```") {
        let (language, after) = after.split_once('\n').unwrap();
        let (text, after) = after.split_once("```").unwrap();
        found.push((language, text));
        rest = after;
    }
    found
}

/// Blocks below a heading, up to the next heading.
fn below<'p>(page: &'p str, heading: &str) -> Vec<(&'p str, &'p str)> {
    let (_, below) = page.split_once(heading).unwrap_or_else(|| panic!("no {heading}:\n{page}"));
    let found = blocks(below.split_once("\n## ").map_or(below, |(section, _)| section));
    assert!(!found.is_empty(), "no block below {heading}:\n{page}");
    found
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let folder = root().join("book/src/codes");
    let pages: BTreeSet<PathBuf> = files(&folder, ".md").into_iter().collect();
    let wanted: BTreeSet<PathBuf> = Code::ALL
        .iter()
        .map(|code| folder.join(code.id().replace("::", "/")).with_extension("md"))
        .collect();
    assert_eq!(pages, wanted);
    let summary = read(&root().join("book/src/SUMMARY.md"));
    for code in Code::ALL {
        let entry = format!("[{}](codes/{}.md)", code.id(), code.id().replace("::", "/"));
        assert!(summary.contains(&entry), "SUMMARY.md lacks {entry}");
    }
}

#[test]
fn code_pages_show_a_failing_and_a_fixed_case() {
    for &code in Code::ALL {
        let path = format!("book/src/codes/{}.md", code.id().replace("::", "/"));
        let page = read(&root().join(&path));
        assert!(page.starts_with(&format!("# {}\n", code.id())), "{path}");
        let wrong = below(&page, "\n## Wrong\n");
        let fixed = below(&page, "\n## Fixed\n");
        // Codes that only the binary raises are shown by commands or by its input.
        let of_binary = [Code::ConfigGlob, Code::TemplateMemory].contains(&code);
        if wrong[0].0 != "sh" && !of_binary {
            let case = refused::case_of_page(code);
            assert_eq!(case.files, files_of(&wrong), "{path}: {}", case.path.display());
            let told = case.diagnostics();
            assert_eq!(codes(&told), BTreeSet::from([code]), "{path}: the wrong block");
            for told in told {
                assert!(!told.help.is_empty(), "{path}: no help for: {}", told.message);
            }
        }
        assert_eq!(diagnostics(&files_of(&fixed)), [], "{path}: the fixed block");
    }
}

#[test]
fn chapter_snippets_are_valid_or_raise_the_stated_code() {
    for path in files(&root().join("book/src"), ".md") {
        if path.components().any(|part| part.as_os_str() == "codes") {
            continue;
        }
        let page = read(&path);
        let page = blocks(&page);
        for &(language, text) in &page {
            // ```kdl,map::not_injective is a manifest that raises this code.
            let (language, code) = language.split_once(',').unwrap_or((language, ""));
            let told = raised(language, text, &page);
            let found: Vec<&str> = codes(&told).into_iter().map(Code::id).collect();
            // ```kdl,layout=a is a figure.
            let is_code = !["", "not-run"].contains(&code) && !code.starts_with("layout=");
            let expected: Vec<&str> = if is_code { vec![code] } else { Vec::new() };
            assert_eq!(found, expected, "{}:\n{text}", path.display());
        }
    }
}

#[test]
fn the_table_of_codes_has_their_titles() {
    let chapter = read(&root().join("book/src/diagnostics.md"));
    let row = |code: &Code| {
        let (id, page) = (code.id(), code.id().replace("::", "/"));
        format!("| [`{id}`](codes/{page}.md) | {} |", code.title())
    };
    let listed: BTreeSet<&str> = chapter.lines().filter(|line| line.starts_with("| [`")).collect();
    let rows: Vec<String> = Code::ALL.iter().map(row).collect();
    assert_eq!(listed, rows.iter().map(String::as_str).collect());
}

#[test]
fn every_code_is_raised_somewhere() {
    let mut sources = String::new();
    for folder in ["layoutc/compiler/src", "layoutc/cli/src"] {
        for path in files(&root().join(folder), ".rs") {
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            if !is_test && !path.ends_with("tests.rs") && !path.ends_with("codes.rs") {
                sources.push_str(&read(&path));
            }
        }
    }
    let words: BTreeSet<&str> = sources
        .split("Code::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .collect();
    let unraised: Vec<&Code> =
        Code::ALL.iter().filter(|code| !words.contains(format!("{code:?}").as_str())).collect();
    assert!(unraised.is_empty(), "nothing raises {unraised:?}");
}
