//! `deps`: the dependency graph.

use serde_json::Value;

use crate::world::{BLOCKED, BROKEN, World};

fn project() -> World {
    let user = "use \"lib/common.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n";
    World::new(&[
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
fn each_input_is_listed_with_what_it_uses_and_what_depends_on_it() {
    let world = project();
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
    let before = world.files(".");
    assert_eq!(world.run(&["deps"]).good(), listed);
    assert_eq!(world.files("."), before);
    world.run(&["build"]).good();
    assert_eq!(world.run(&["deps"]).good(), listed);
    let ran = world.run(&["deps", "layouts/b.kdl", "--out", "o"]);
    assert!(ran.good().contains("\n  -> o/c/b.h\n") && !ran.out.contains("a.kdl"), "{}", ran.out);
}

#[test]
fn the_json_has_every_file_and_every_edge_from_input_to_what_depends_on_it() {
    let world = project();
    let ran = world.run(&["deps", "layouts/b.kdl", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.good()).expect("JSON");
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
    let world = World::new(&[("layoutc.toml", config), ("layouts/a.kdl", BLOCKED)]);
    let listed = "\
layoutc.toml
  -> 2 outputs
layouts/a.kdl
  -> generated/c/a.h
  -> generated/c/all.h
";
    assert_eq!(world.run(&["deps"]).good(), listed);
}

#[test]
fn graphviz_gets_a_digraph_and_no_other_command_knows_it() {
    let world = World::new(&[("a b.kdl", BLOCKED)]);
    let ran = world.run(&["deps", "a b.kdl", "--format", "dot"]);
    assert!(ran.good().starts_with("digraph layoutc {\n  rankdir=LR\n  \"a b.kdl\" [shape=box]\n"));
    let edge = "  \"a b.kdl\" -> \"generated/c/a b.h\"\n";
    assert!(ran.out.contains(edge) && ran.out.ends_with("}\n"), "{}", ran.out);
    let ran = world.run(&["build", "--format", "dot"]);
    let line = "error: `--format dot` is only for `layoutc deps` and `layoutc solve`; expected `text` or `json`\n";
    assert_eq!(ran.refused(), (Some(2), line));
    assert_eq!(world.run(&["deps", "--format", "cmake"]).refused().0, Some(2));
}

#[test]
fn of_a_broken_project_there_are_none() {
    let world = World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let ran = world.run(&["deps"]);
    assert_eq!(ran.refused().0, Some(1));
    assert!(ran.err.starts_with("error[map::not_injective]"), "{}", ran.err);
}
