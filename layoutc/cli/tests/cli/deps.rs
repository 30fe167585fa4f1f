//! `deps`: the dependency graph.

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

fn project() -> Sandbox {
    let user = "use \"lib/common.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n";
    Sandbox::new(&[
        (
            "layoutc.toml",
            "[project]\nsources = [\"layouts/*.kdl\"]\n\n[target.c]\nemit = [\"index\"]\n",
        ),
        ("layouts/a.kdl", BLOCKED),
        ("layouts/b.kdl", user),
        ("layouts/lib/common.kdl", "transform blocked {\n    split c by=4\n}\n"),
        ("templates/c/note.j2", "mine"),
    ])
}

#[test]
fn inputs_are_listed_with_uses_and_dependents() {
    let sandbox = project();
    let listed = "\
layoutc.toml
  -> 2 outputs
layouts/a.kdl
  -> generated/c/a.h
layouts/b.kdl
  <- layouts/lib/common.kdl
  -> generated/c/b.h
layouts/lib/common.kdl
  -> layouts/b.kdl
templates/c/note.j2
  -> 2 outputs
";
    let before = sandbox.files(".");
    assert_eq!(sandbox.run(&["deps"]).success(), listed);
    assert_eq!(sandbox.files("."), before);
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.run(&["deps"]).success(), listed);
    let ran = sandbox.run(&["deps", "layouts/b.kdl", "--out", "o"]);
    assert!(
        ran.success().contains("\n  -> o/c/b.h\n") && !ran.out.contains("a.kdl"),
        "{}",
        ran.out
    );
}

#[test]
fn the_json_has_every_file_and_every_dependency() {
    let sandbox = project();
    let ran = sandbox.run(&["deps", "layouts/b.kdl", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let node = |path: &str, kind: &str| serde_json::json!({ "path": path, "kind": kind });
    let edge = |from: &str, to: &str| serde_json::json!({ "from": from, "to": to });
    let expected = serde_json::json!({
        "version": 1,
        "kind": "deps",
        "nodes": [
            node("generated/c/b.h", "output"),
            node("layoutc.toml", "config"),
            node("layouts/b.kdl", "manifest"),
            node("layouts/lib/common.kdl", "manifest"),
            node("templates/c/note.j2", "template"),
        ],
        "edges": [
            edge("layoutc.toml", "generated/c/b.h"),
            edge("layouts/b.kdl", "generated/c/b.h"),
            edge("layouts/lib/common.kdl", "layouts/b.kdl"),
            edge("templates/c/note.j2", "generated/c/b.h"),
        ],
    });
    assert_eq!(object, expected);
}

#[test]
fn the_umbrella_header_depends_on_every_manifest() {
    let config = "[target.c]\nemit = [\"index\"]\numbrella-header = \"all.h\"\n";
    let sandbox = Sandbox::new(&[("layoutc.toml", config), ("layouts/a.kdl", BLOCKED)]);
    let listed = "\
layoutc.toml
  -> 2 outputs
layouts/a.kdl
  -> generated/c/a.h
  -> generated/c/all.h
";
    assert_eq!(sandbox.run(&["deps"]).success(), listed);
}

#[test]
fn graphviz_digraph_is_only_for_deps_and_solve() {
    let sandbox = Sandbox::new(&[("a b.kdl", BLOCKED)]);
    let ran = sandbox.run(&["deps", "a b.kdl", "--format", "dot"]);
    assert!(
        ran.success().starts_with("digraph layoutc {\n  rankdir=LR\n  \"a b.kdl\" [shape=box]\n")
    );
    let edge = "  \"a b.kdl\" -> \"generated/c/a b.h\"\n";
    assert!(ran.out.contains(edge) && ran.out.ends_with("}\n"), "{}", ran.out);
    let ran = sandbox.run(&["build", "--format", "dot"]);
    let line = "error: `--format dot` is only for `layoutc deps` and `layoutc solve`; expected `text` or `json`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.run(&["deps", "--format", "cmake"]).failure().0, Some(2));
}

#[test]
fn a_broken_project_lists_no_outputs() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let ran = sandbox.run(&["deps"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.starts_with("error[map::not_injective]"), "{}", ran.err);
}
