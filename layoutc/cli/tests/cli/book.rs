//! Runs the book and README.md: each page is a story, run from top to bottom in its own folder. The chapters of the
//! tutorial are one story (`book/tutorial.rs`).
//!
//! Meaning of the fenced blocks of a page:
//!
//! - a block that begins with a comment that is a path (`// layouts/a.kdl`, `# layoutc.toml`, `{# templates/a.j2 #}`)
//!   defines that file, including the comment;
//! - a block that begins with `// from generated/c/a.h` quotes that file: its lines occur there consecutively, except
//!   where the block has a line `…`;
//! - `console` contains commands, each after `$ ` (continued by a `\` at the end of a line), followed by their output,
//!   including standard error. A line `…` matches any lines. A command fails if and only if a line of its output begins
//!   with `error`, or is an error as JSON;
//! - `sh` contains commands that succeed; their output is ignored;
//! - `cd` applies to the following commands and files;
//! - `kdl`, `toml` and `jinja` without a path are checked by the compiler (`tests/pages.rs`);
//! - `text` is not run, nor is a block of another language marked `not-run` (`c,not-run`).
//!
//! Times are not compared, and the folder of a story is displayed as `/home/me`. `BLESS=1` writes the output into the
//! pages.
//!
//! On the pages of codes, the commands that raise and fix the code are run; those of `import::` use the models in the
//! folder `models`.

mod compare;
mod page;
mod story;
mod tutorial;

use std::fs;
use std::path::{Path, PathBuf};

use page::{anchors, blocks, links};
use story::{Comparison, shell, tell};

use crate::sandbox::Sandbox;
use layoutc_testing::files::{self, files_below};
use layoutc_testing::recorded::is_blessing;

/// Codes not raised by the commands of their pages here: root may write anywhere, or another code is reported first.
const NOT_RAISED: &[&str] = &["output::io", "output::outside"];

#[test]
fn outputs_shown_in_the_book_are_up_to_date() {
    let examples: Vec<(String, Vec<u8>)> = ["examples", "integrations"]
        .iter()
        .flat_map(|folder| files_below(&root().join(folder)))
        .filter(|path| !path.iter().any(|part| part == "generated" || part == ".layoutc"))
        .map(|path| (below_root(&path), fs::read(&path).expect("a file")))
        .collect();
    let mut faults = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).expect("a page");
        faults.extend(settle(&path, &page, tell(&below_root(&path), &page, &examples)));
    }
    assert!(faults.is_empty(), "{}\n(BLESS=1 writes what is printed)", faults.join("\n"));
}

#[test]
fn a_page_with_other_output_is_reported_by_line() {
    let page = "# A page\n\n```console\n$ echo one && echo two\none\nthree\n```\n";
    let report = tell("a.md", page, &[]);
    assert_eq!(report.faults, ["a.md:4: `echo one && echo two` prints\n  one\n- three\n+ two"]);
    assert_eq!(report.page, page.replace("three", "two"));
}

#[test]
fn invalid_page_blocks_are_reported_by_line() {
    for (page, fault) in [
        ("```console\n$ wget example\n```\n", "a.md:2: pages do not run `wget`"),
        ("```sh\ncat nothing 2> log\n```\n", "a.md:2: `cat nothing 2> log` ends with 1"),
        (
            "```console\n$ echo error\nerror\n```\n",
            "a.md:2: `echo error` shows an error and ends with 0",
        ),
        ("```console\nseen\n```\n", "a.md:2: no `$ ` before what is shown"),
        ("```c\nint x;\n```\n", "a.md:1: a block of `c` without a path"),
        (
            "```c\n// a.h\nint x;\n```\n```c\n// from a.h\nint y;\n```\n",
            "a.md:5: a.h has no such lines",
        ),
    ] {
        assert_eq!(tell("a.md", page, &[]).faults, [fault]);
    }
}

#[test]
fn elided_lines_and_times_match() {
    let page = "```console\n$ echo a && echo b && echo c\na\n…\nc\n$ echo done in 12 ms\ndone in 7 ms\n```\n";
    let report = tell("a.md", page, &[]);
    assert_eq!((report.faults, report.page.as_str()), (Vec::new(), page));
}

#[test]
fn every_link_resolves() {
    let mut faults = Vec::new();
    let mut pages = files_below(&root().join("book/src"));
    let others = ["README.md", "editors/README.md", "integrations/README.md"];
    pages.extend(others.map(|path| root().join(path)));
    for path in pages {
        let page = fs::read_to_string(&path).expect("a page");
        for link in links(&page) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = path.parent().expect("a folder");
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            let there = match fs::read_to_string(&target) {
                Ok(text) => anchor.is_empty() || anchors(&text).iter().any(|known| known == anchor),
                Err(_) => target.is_dir() && anchor.is_empty(),
            };
            if !there {
                faults.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "links to nothing:\n{}", faults.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let folder = root().join("book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("a summary");
    let listed: Vec<PathBuf> = links(&summary).iter().map(|link| folder.join(link)).collect();
    let mut pages = files_below(&folder);
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.retain(|page| !page.ends_with("SUMMARY.md") && !listed.contains(page));
    assert_eq!(pages, Vec::<PathBuf>::new());
}

#[test]
fn commands_on_code_pages_raise_and_fix_the_code() {
    let folder = root().join("book/src/codes");
    let (mut tried, mut faults) = (0, Vec::new());
    for path in files_below(&folder) {
        let name = path.strip_prefix(&folder).expect("below").with_extension("");
        let code = name.to_string_lossy().replace('/', "::");
        let page = fs::read_to_string(&path).expect("a page");
        let blocks = blocks(&page);
        let [wrong, fixed] = &blocks[..] else { continue };
        if wrong.language != "sh" || NOT_RAISED.contains(&code.as_str()) {
            continue;
        }
        tried += 1;
        let (wrong, fixed) = (wrong.lines.join("\n"), fixed.lines.join("\n"));
        let manifest = "tensor a dtype=f32 {\n    shape { n 8 }\n}\n";
        let other = "tensor b dtype=f32 {\n    shape { n 8 }\n}\n";
        let sandbox = if wrong.contains(" t.kdl") {
            Sandbox::new(&[("t.kdl", manifest)])
        } else if wrong.contains("Conv.kdl") {
            let two = [("layouts/Conv.kdl", manifest), ("layouts/conv.kdl", other)];
            Sandbox::new(&[&[("layoutc.toml", "")], &two[..]].concat())
        } else {
            Sandbox::new(&[("layoutc.toml", ""), ("layouts/t.kdl", manifest)])
        };
        if name.starts_with("import") {
            for model in files_below(&root().join("layoutc/cli/tests/cli/models")) {
                let name = model.file_name().expect("a name").to_string_lossy().into_owned();
                sandbox.write(&name, &fs::read(&model).expect("a model"));
            }
        }
        let ran = shell(&sandbox, ".", &format!("{wrong}\necho FIXED\nset -e\n{fixed}"));
        let (before, after) = ran.text.split_once("FIXED\n").unwrap_or((&ran.text, "not reached"));
        if !before.contains(&format!("error[{code}]")) || ran.code != 0 || after.contains("error") {
            faults.push(format!("{code}, ended with {}:\n{}", ran.code, ran.text));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried >= 7, "only {tried} pages");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root")
}

/// Errors of a page; with `BLESS=1`, writes the output into it.
fn settle(path: &Path, page: &str, comparison: Comparison) -> Vec<String> {
    if is_blessing() && comparison.page != page {
        files::write(path, comparison.page);
    }
    comparison.faults
}

/// Path relative to the root of the repository.
fn below_root(path: &Path) -> String {
    path.strip_prefix(root()).expect("below the root").display().to_string()
}

/// The chapters and README.md, without the pages of codes, whose blocks are checked by the compiler, and the tutorial.
fn pages() -> Vec<PathBuf> {
    let mut pages = files_below(&root().join("book/src"));
    let is_elsewhere =
        |page: &PathBuf| page.iter().any(|part| part == "codes" || part == "tutorial");
    pages.retain(|page| !page.ends_with("SUMMARY.md") && !is_elsewhere(page));
    pages.push(root().join("README.md"));
    pages
}
