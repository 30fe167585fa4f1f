//! The formatter: every manifest of the repository, the book and the tests gives the same diagnostics, model and
//! outputs before and after, and formatting is idempotent.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "reads the book and the manifests"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::manifest::format;
use layoutc_compiler::{Compiler, GeneratedFile, MemorySources};

/// Result of compiling a manifest: codes and messages, the model, the outputs.
fn build_outputs(
    memory: &MemorySources,
    path: &str,
) -> (Vec<String>, Vec<String>, Vec<GeneratedFile>) {
    let config = Config::default();
    let compiler = Compiler::new(memory, &config);
    let checked = compiler.check(&[path.to_owned()]);
    let printed = checked.diagnostics.iter().map(|d| format!("{} {}", d.code.id(), d.message));
    let tensors = checked.manifests.iter().flat_map(|manifest| &manifest.tensors);
    let models =
        tensors.map(|tensor| layoutc_compiler::query::inspect::summary_json(tensor).to_string());
    let outputs = if checked.is_valid() {
        compiler.emit(&checked, &Templates::default()).unwrap_or_default()
    } else {
        Vec::new()
    };
    (printed.collect(), models.collect(), outputs)
}

/// Formats every manifest and compares the results of compiling it. Returns the number of manifests that parse.
fn compare(texts: &BTreeMap<String, String>) -> usize {
    let mut forms = texts.clone();
    let mut count = 0;
    for (path, text) in texts {
        let name = Arc::from(path.as_str());
        let Ok(form) = format(&name, text) else { continue };
        assert_eq!(format(&name, &form).as_ref(), Ok(&form), "{path}");
        forms.insert(path.clone(), form);
        count += 1;
    }
    let (before, after) = (MemorySources::from_iter(texts), MemorySources::from_iter(&forms));
    for path in texts.keys().filter(|path| texts[*path] != forms[*path]) {
        assert_eq!(
            build_outputs(&before, path),
            build_outputs(&after, path),
            "{path}:\n{}",
            forms[path]
        );
    }
    count
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Files below a folder whose names end with `ending`.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Manifests in a text: code blocks of a page, or strings of a test.
fn blocks(text: &str, start: &str, end: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(start) {
        let Some((block, after)) = after.split_once(end) else { break };
        found.push(block.split_once('\n').map_or(block, |(_, block)| block).to_owned());
        rest = after;
    }
    found
}

#[test]
fn formatting_preserves_manifests_of_the_repository() {
    let mut count = 0;
    for folder in ["examples", "bench", "integrations", "layoutc", "templates"] {
        let mut folders: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
        for path in files(&root().join(folder), ".kdl") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            folders.entry(path.parent().unwrap().to_owned()).or_default().insert(name, text);
        }
        count += folders.values().map(compare).sum::<usize>();
    }
    assert!(count > 50, "{count}");
}

#[test]
fn formatting_preserves_manifests_of_the_book() {
    let mut count = 0;
    for path in files(&root().join("book/src"), ".md") {
        let page = std::fs::read_to_string(&path).unwrap();
        let texts = blocks(&page, "```kdl", "\n```").into_iter().enumerate();
        count += compare(&texts.map(|(at, text)| (format!("{at}.kdl"), text + "\n")).collect());
    }
    assert!(count > 150, "{count}");
}

#[test]
fn formatting_preserves_manifests_in_tests() {
    let mut count = 0;
    for path in files(&root().join("layoutc"), ".rs") {
        let source = std::fs::read_to_string(&path).unwrap();
        let strings = blocks(&source, "= \"\\", "\";").into_iter();
        let texts = strings.map(|text| text.replace("\\\"", "\"").replace("\\n", "\n")).enumerate();
        let tensors = texts.filter(|(_, text)| text.contains("tensor "));
        count += compare(&tensors.map(|(at, text)| (format!("{at}.kdl"), text)).collect());
    }
    assert!(count > 10, "{count}");
}

#[test]
fn examples_are_formatted() {
    for folder in ["examples", "bench", "integrations"] {
        for path in files(&root().join(folder), ".kdl") {
            let text = std::fs::read_to_string(&path).unwrap();
            let form = format(&Arc::from("a.kdl"), &text).unwrap();
            assert_eq!(text, form, "{}", path.display());
        }
    }
}
