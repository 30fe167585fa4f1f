//! Suggested fixes of diagnostics: the manifest with the fix applied no longer has the diagnostic.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "reads the book")]

use crate::common::check_text;
use std::path::{Path, PathBuf};

use check_text::{FILE, diagnostics as found};
use layoutc_compiler::base::diagnostic::{Diagnostic, Fix};

fn fixed(text: &str, fix: &Fix) -> String {
    [&text[..fix.place.start], &fix.text, &text[fix.place.end..]].concat()
}

/// `text` with each fix of its only diagnostic applied.
fn ways_out(text: &str) -> Vec<String> {
    let found = found(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found[0].fixes.iter().map(|fix| fixed(text, fix)).collect()
}

#[track_caller]
fn mends(wrong: &str, right: &str) {
    assert_eq!(ways_out(wrong), [right]);
    let after = found(right);
    assert!(after.is_empty(), "{right}: {after:?}");
}

fn layout(steps: &str) -> String {
    format!("const LANES 4\ntensor t dtype=f32 {{ shape {{ n 4; c 8 }}; layout {{ {steps} }} }}\n")
}

#[test]
fn a_mistyped_name_becomes_the_one_that_was_meant() {
    for (wrong, right) in [
        ("splti c by=4", "split c by=4"),
        ("split c bye=4", "split c by=4"),
        ("split c by=LANSE", "split c by=LANES"),
        ("split c by=4; order c_uoter n c_inner", "split c by=4; order c_outer n c_inner"),
        ("padding frobid", "padding forbid"),
        ("map \"(rows, c) -> (rosw, c)\"", "map \"(rows, c) -> (rows, c)\""),
    ] {
        mends(&layout(wrong), &layout(right));
    }
}

#[test]
fn what_a_map_drops_is_kept() {
    for (wrong, right) in [
        ("(n, c) -> (n, c % 4)", "(n, c) -> (n, c // 4, c % 4)"),
        ("n, c % 4", "(n, c // 4, c % 4)"),
        ("(n, c) -> n, c // 4", "(n, c) -> (n, c // 4, c % 4)"),
        ("(n, c) ->   (c | 0)", "(n, c) ->   (c | 0, n)"),
        ("(n, c) -> (n, c // 4, c % 3)", "(n, c) -> (n, c // 4, c % 4)"),
    ] {
        mends(&layout(&format!("map \"{wrong}\"")), &layout(&format!("map \"{right}\"")));
    }
}

#[test]
fn a_slip_of_form_is_put_right() {
    mends("tensor t dtype=f32 { shape n=4 c=8 }\n", "tensor t dtype=f32 { shape { n 4; c 8 } }\n");
    mends("tensor t dtype=f32 { shape { n \"4\" } }\n", "tensor t dtype=f32 { shape { n 4 } }\n");
    mends(
        &layout("map \"(n, c) -> (n, c / 4, c % 4)\""),
        &layout("map \"(n, c) -> (n, c // 4, c % 4)\""),
    );
    mends(&layout("map \"(n, c) -> (n - 1, c)\""), &layout("map \"(n, c) -> (n, c)\""));
    mends(&layout("split c by=LANES*1"), &layout("split c by=\"LANES*1\""));
}

/// Path of every page of a code, its wrong example, and the diagnostics of that.
fn pages() -> Vec<(PathBuf, String, Vec<Diagnostic>)> {
    let mut pages = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/codes")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let page = std::fs::read_to_string(&path).unwrap();
            let Some((_, wrong)) = page.split_once("```kdl\n") else { continue };
            let wrong = wrong.split_once("```").unwrap().0.to_owned();
            let found = found(&wrong);
            pages.push((path, wrong, found));
        }
    }
    pages
}

#[test]
fn each_fix_in_the_book_mends_what_it_belongs_to() {
    let mut count = 0;
    for (path, wrong, diagnostics) in pages() {
        for diagnostic in &diagnostics {
            for fix in &diagnostic.fixes {
                assert_eq!(fix.place.file.as_ref(), FILE);
                let text = fixed(&wrong, fix);
                let after = found(&text);
                let is_same =
                    |d: &&Diagnostic| d.code == diagnostic.code && d.message == diagnostic.message;
                assert_eq!(after.iter().find(is_same), None, "{}:\n{text}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 5, "{count} fixes");
}

#[test]
fn who_is_asked_what_was_meant_is_offered_it() {
    for (path, wrong, diagnostics) in pages() {
        for diagnostic in diagnostics {
            for help in diagnostic.help.iter().filter(|help| help.starts_with("did you mean `")) {
                let meant = help.split('`').nth(1).unwrap();
                let has = diagnostic.fixes.iter().any(|fix| fix.text == meant);
                assert!(has, "{}: {help}\n{wrong}", path.display());
            }
        }
    }
}
