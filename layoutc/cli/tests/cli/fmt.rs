//! `layoutc fmt`: files written, output, and files left unchanged.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::sandbox::{BLOCKED, Sandbox};

const MESSY: &str = "tensor t   dtype=f32 {\n  shape { h 4;w 0x8 } // rows\n\n\n}";
const NEAT: &str = "tensor t dtype=f32 {\n    shape { h 4; w 0x8 } // rows\n}\n";

#[test]
fn formatting_a_project_is_idempotent() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", ""),
        ("layouts/a.kdl", MESSY),
        ("layouts/b.kdl", BLOCKED),
        ("other.kdl", MESSY),
    ]);
    let report = "formatted  layouts/a.kdl\nformatted 1 manifest, 1 unchanged\n";
    assert_eq!(sandbox.run(&["fmt"]).success(), report);
    assert_eq!(sandbox.read("layouts/a.kdl").as_deref(), Some(NEAT));
    assert_eq!(sandbox.read("other.kdl").as_deref(), Some(MESSY));
    assert_eq!(sandbox.run(&["fmt"]).success(), "2 manifests unchanged\n");
    assert_eq!(sandbox.run(&["fmt", "-q"]).success(), "");
    let report = "unchanged  layouts/a.kdl\nunchanged  layouts/b.kdl\n2 manifests unchanged\n";
    assert_eq!(sandbox.run(&["fmt", "-v"]).out, report);
    assert_eq!(sandbox.files("."), ["layoutc.toml", "layouts/a.kdl", "layouts/b.kdl", "other.kdl"]);
}

#[test]
fn check_shows_the_first_unformatted_line() {
    let sandbox = Sandbox::new(&[("a.kdl", MESSY), ("b.kdl", BLOCKED)]);
    let ran = sandbox.run(&["fmt", "--check", "a.kdl", "b.kdl"]);
    let shown = "\
error[kdl::style]: `a.kdl` is not formatted
  ┌─ a.kdl:1:1
1 │ tensor t   dtype=f32 {
  │ ^^^^^^^^^^^^^^^^^^^^^^ `layoutc fmt` writes `tensor t dtype=f32 {`
  = lines 1 to 5 change
  = help: run `layoutc fmt`

1 error
for more information, run `layoutc explain kdl::style`
";
    assert_eq!(ran.failure(), (Some(1), shown));
    assert_eq!(sandbox.read("a.kdl").as_deref(), Some(MESSY));
    assert_eq!(sandbox.run(&["fmt", "--check", "b.kdl"]).success(), "1 manifest unchanged\n");
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let sandbox = Sandbox::new(&[]);
    assert_eq!(sandbox.run_in(".", &["fmt", "-"], MESSY).success(), NEAT);
    assert_eq!(sandbox.run_in(".", &["fmt", "-"], NEAT).success(), NEAT);
    assert_eq!(sandbox.run_in(".", &["fmt", "--check", "-"], NEAT).success(), "");
    let ran = sandbox.run_in(".", &["fmt", "--check", "-"], MESSY);
    assert!(ran.err.contains("`standard input` is not formatted"), "{}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    let ran = sandbox.run_in(".", &["fmt", "-"], "tensor {");
    assert!(ran.err.contains("┌─ standard input:1:8"), "{}", ran.err);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    let ran = sandbox.run_in(".", &["fmt", "-", "a.kdl"], "");
    assert_eq!(
        ran.failure(),
        (Some(2), "error: `-` (standard input) cannot be combined with other paths\n")
    );
    let ran = sandbox.run_in(".", &["fmt", "--format", "json", "-"], MESSY);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    assert_eq!(object, json!({ "version": 1, "kind": "fmt", "text": NEAT }));
}

#[test]
fn invalid_kdl_is_skipped_and_other_files_formatted() {
    let broken = "tensor t  {\n  shape { n 4 }\n";
    let sandbox = Sandbox::new(&[("layouts/a.kdl", broken), ("layouts/b.kdl", MESSY)]);
    sandbox.write("layouts/c.kdl", b"tensor \xff {}");
    let ran = sandbox.run(&["fmt", "layouts"]);
    let report = "formatted  layouts/b.kdl\nformatted 1 manifest, 2 refused\n";
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), report), "{}", ran.err);
    assert!(ran.err.contains("error[kdl::syntax]: unclosed block"), "{}", ran.err);
    let unread = "cannot read the manifest `layouts/c.kdl`: invalid UTF-8 at byte 7";
    assert!(ran.err.contains(unread), "{}", ran.err);
    assert_eq!(sandbox.read("layouts/a.kdl").as_deref(), Some(broken));
    assert_eq!(sandbox.read("layouts/b.kdl").as_deref(), Some(NEAT));
    let ran = sandbox.run(&["fmt", "--format", "json", "layouts"]);
    let first: Value =
        serde_json::from_str(ran.out.lines().next().unwrap_or_default()).expect("JSON");
    let status = |at: usize| first["files"][at]["status"].clone();
    assert_eq!([status(0), status(1), status(2)], ["refused", "unchanged", "refused"]);
}

#[test]
fn formatting_preserves_mode_line_endings_and_links() {
    let sandbox = Sandbox::new(&[("real/a.kdl", &MESSY.replace('\n', "\r\n"))]);
    fs::set_permissions(sandbox.path("real/a.kdl"), Permissions::from_mode(0o640)).expect("a mode");
    symlink("real/a.kdl", sandbox.path("link.kdl")).expect("a link");
    sandbox.run(&["fmt", "link.kdl"]).success();
    assert!(sandbox.path("link.kdl").is_symlink());
    let mode = fs::metadata(sandbox.path("real/a.kdl")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(sandbox.read("real/a.kdl"), Some(NEAT.replace('\n', "\r\n")));
}

#[test]
fn a_file_that_does_not_change_is_not_written() {
    let sandbox = Sandbox::new(&[("a.kdl", NEAT)]);
    let stamp = || fs::metadata(sandbox.path("a.kdl")).expect("there").modified().expect("a time");
    let before = stamp();
    sandbox.run(&["fmt", "a.kdl"]).success();
    assert_eq!(stamp(), before);
}

#[test]
fn formatting_does_not_change_outputs() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", MESSY)]);
    sandbox.run(&["build"]).success();
    sandbox.run(&["fmt"]).success();
    sandbox.run(&["build", "--check"]).success();
}
