//! `init`, `new`, `clean`, `outputs`, `templates`.

use std::fs;

use serde_json::Value;

use crate::world::{BLOCKED, BROKEN, World};

fn project() -> World {
    World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED), ("layouts/x/b.kdl", BLOCKED)])
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn a_new_project_builds_at_once_and_without_a_warning() {
    let world = World::new(&[]);
    let ran = world.run(&["new", "my-kernels"]);
    assert_eq!(
        ran.good(),
        "created  my-kernels/layoutc.toml\ncreated  my-kernels/layouts/example.kdl\n\
         next: cd my-kernels && layoutc build\n"
    );
    let config = "[project]\nname = \"my-kernels\"\nprefix = \"my_kernels_\"\n";
    assert_eq!(world.read("my-kernels/layoutc.toml").as_deref(), Some(config));
    world.run_in("my-kernels", &["build"], "").good();
    let header = world.read("my-kernels/generated/c/example.h").expect("a header");
    assert!(header.contains("my_kernels_blocked_offset"), "{header}");
}

#[test]
fn a_folder_becomes_a_project_and_nothing_in_it_is_overwritten() {
    let world = World::new(&[("here/mine.txt", "mine")]);
    let ran = world.run_in("here", &["init"], "");
    assert!(ran.good().ends_with("\nnext: layoutc build\n"), "{}", ran.out);
    assert_eq!(
        world.files("here"),
        ["here/layoutc.toml", "here/layouts/example.kdl", "here/mine.txt"]
    );
    world.run_in("here", &["build", "--check", "--out", "../none"], "");
    let ran = world.run(&["init", "here"]);
    let line = "error: `here/layoutc.toml` already exists and is not overwritten\n";
    assert_eq!(ran.refused(), (Some(2), line));
    let world = World::new(&[("there/layouts/example.kdl", "mine")]);
    assert_eq!(world.run(&["init", "there"]).refused().0, Some(2));
    assert_eq!(world.files("there"), ["there/layouts/example.kdl"]);
    let ran = world.run(&["new", "there"]);
    let line = "error: `there` already exists; try `layoutc init there`\n";
    assert_eq!(ran.refused(), (Some(2), line));
    assert_eq!(world.run(&["init", "there/layouts/example.kdl"]).refused().0, Some(2));
}

#[test]
fn a_new_project_as_json_is_one_object() {
    let world = World::new(&[]);
    let ran = world.run(&["init", "deep/er", "--format", "json"]);
    let object = json(ran.good());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"init".into()));
    assert_eq!(object["files"][1], "deep/er/layouts/example.kdl");
}

#[test]
fn clean_removes_what_layoutc_wrote_and_the_folders_that_held_it() {
    let world = project();
    let before = world.files(".");
    world.run(&["build"]).good();
    let built = world.files(".");
    let ran = world.run(&["clean", "--dry-run"]);
    assert!(ran.good().ends_with("\n6 outputs (dry run): 6 removed\n"), "{}", ran.out);
    assert_eq!(world.files("."), built);
    let ran = world.run(&["clean"]);
    assert!(ran.good().starts_with("removed    generated/c/a.c\n"), "{}", ran.out);
    assert!(ran.out.ends_with("\n6 outputs: 6 removed\n"), "{}", ran.out);
    assert_eq!(world.files("."), before);
    assert!(!world.path("generated").exists());
    assert_eq!(world.run(&["clean"]).good(), "0 outputs: 0 removed\n");
}

#[test]
fn clean_keeps_and_names_what_was_edited_and_keeps_what_is_not_its_own() {
    let world = project();
    world.run(&["build"]).good();
    let edited = world.read("generated/c/a.h").expect("there") + "int mine;\n";
    world.write("generated/c/a.h", &edited);
    world.write("generated/c/x/mine.h", "int mine;\n");
    world.write("generated/c/x/.layoutc-1-0.tmp", "left by a build that was killed");
    let ran = world.run(&["clean"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let warning = "warning[output::edited]: `generated/c/a.h` was edited since layoutc wrote it";
    assert!(ran.err.starts_with(warning), "{}", ran.err);
    let closing = "\n1 warning\nfor more information, run `layoutc explain output::edited`\n";
    assert!(ran.err.ends_with(closing), "{}", ran.err);
    assert!(ran.out.ends_with("\n5 outputs: 5 removed\n"), "{}", ran.out);
    assert_eq!(world.files("generated"), ["generated/c/a.h", "generated/c/x/mine.h"]);
    assert_eq!(world.read("generated/c/a.h"), Some(edited));
}

#[test]
fn clean_needs_no_good_manifest_and_finds_other_folders() {
    let world = project();
    world.run(&["build"]).good();
    world.write("layouts/a.kdl", BROKEN);
    fs::remove_dir_all(world.path("layouts/x")).expect("gone");
    world.run(&["clean"]).good();
    assert!(!world.path("generated").exists());
    fs::remove_dir_all(world.path("layouts")).expect("gone");
    assert_eq!(world.run(&["clean"]).good(), "0 outputs: 0 removed\n");
    let world = World::new(&[("here/one.kdl", BLOCKED)]);
    world.run(&["build", "here/one.kdl", "--out", "out"]).good();
    world.run(&["build", "here/one.kdl"]).good();
    let ran = world.run(&["clean", "here/one.kdl", "--format", "json"]);
    let object = json(ran.good());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"clean".into()));
    let first = serde_json::json!({ "path": "here/generated/c/one.c", "status": "removed" });
    assert_eq!(object["outputs"][0], first);
    assert!(!world.path("here/generated").exists());
    assert_eq!(world.files("out/c"), ["out/c/one.c", "out/c/one.h", "out/c/one_test.c"]);
    world.run(&["clean", "here/one.kdl", "--out", "out"]).good();
    assert_eq!(world.files("."), ["here/one.kdl"]);
}

#[test]
fn clean_of_a_project_that_builds_into_itself_touches_the_targets_folders_only() {
    let world =
        World::new(&[("layoutc.toml", "[project]\nout-dir = \".\"\n"), ("layouts/a.kdl", BLOCKED)]);
    world.run(&["build"]).good();
    let header = world.read("c/a.h").expect("a header");
    world.write("copies/a.h", &header);
    world.run(&["clean"]).good();
    assert!(!world.path("c").exists());
    assert_eq!(world.files("."), ["copies/a.h", "layoutc.toml", "layouts/a.kdl"]);
}

/// A running command, and its first line on standard error.
#[cfg(unix)]
fn begun(world: &World, command: &str) -> (std::process::Child, String) {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let mut child = world
        .command(".", &[command])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    (child, line)
}

#[cfg(unix)]
#[test]
fn clean_waits_for_a_build_that_holds_the_folder() {
    let world = project();
    world.run(&["build"]).good();
    let folder = fs::File::open(world.path(".layoutc/lock")).expect("there");
    folder.lock().expect("locked");
    let (mut child, line) = begun(&world, "clean");
    let start = "waiting for process ";
    assert!(line.starts_with(start), "{line}");
    assert!(line.ends_with(" (`layoutc build`), which is writing to `generated`\n"), "{line}");
    assert!(world.read("generated/c/a.h").is_some());
    folder.unlock().expect("unlocked");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(!world.path("generated").exists());
}

#[cfg(unix)]
#[test]
fn what_is_edited_while_a_build_waits_is_built_too() {
    let world = project();
    let text = world.read("layouts/a.kdl").expect("a manifest");
    world.write("layouts/b.kdl", &text);
    world.run(&["build"]).good();
    let folder = fs::File::open(world.path(".layoutc/lock")).expect("there");
    folder.lock().expect("locked");
    world.write("layouts/a.kdl", &format!("{text}tensor more dtype=f32 {{ shape {{ n 3 }} }}\n"));
    let (mut child, line) = begun(&world, "build");
    assert!(line.starts_with("waiting for process "), "{line}");
    world.write("layouts/b.kdl", &format!("{text}tensor later dtype=f32 {{ shape {{ n 5 }} }}\n"));
    folder.unlock().expect("unlocked");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    world.run(&["build", "--check"]).good();
    assert!(world.read("generated/c/b.h").is_some_and(|header| header.contains("later")));
}

#[test]
fn outputs_are_what_a_build_writes_and_nothing_is_written() {
    let world = project();
    let before = world.files(".");
    let ran = world.run(&["outputs"]);
    assert_eq!(world.files("."), before);
    let listed: Vec<&str> = ran.good().lines().collect();
    world.run(&["build"]).good();
    assert_eq!(world.files("generated"), listed);
    let object = json(world.run(&["outputs", "--format", "json"]).good());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"outputs".into()));
    assert_eq!(object["outputs"], serde_json::json!(listed));
    let ran = world.run(&["outputs", "layouts/a.kdl", "--out", "o"]);
    assert_eq!(ran.good(), "o/c/a.c\no/c/a.h\no/c/a_test.c\n");
}

#[test]
fn outputs_for_cmake_are_absolute_and_quoted_and_no_other_command_knows_cmake() {
    let world = World::new(&[("a b;$c/one.kdl", BLOCKED)]);
    let ran = world.run(&["outputs", "a b;$c/one.kdl", "--format", "cmake"]);
    let root = world.path("").canonicalize().expect("there");
    let line = |name: &str| format!("  \"{}/a b\\;\\$c/generated/c/{name}\"\n", root.display());
    let lines = ["one.c", "one.h", "one_test.c"].map(line).concat();
    assert_eq!(ran.good(), format!("set(LAYOUTC_OUTPUTS\n{lines})\n"));
    let ran = world.run(&["build", "--format", "cmake"]);
    let line = "error: `--format cmake` is only for `layoutc outputs`; expected `text` or `json`\n";
    assert_eq!(ran.refused(), (Some(2), line));
}

#[test]
fn outputs_stand_where_the_configuration_puts_them() {
    let config = "[project]\nsources = [\"k/*.kdl\"]\nout-dir = \"gen/deep/\"\nprefix = \"p_\"\n";
    let world = World::new(&[("layoutc.toml", config), ("k/a.kdl", BLOCKED), ("a.kdl", BROKEN)]);
    let ran = world.run_in("k", &["outputs"], "");
    let listed = "../gen/deep/c/a.c\n../gen/deep/c/a.h\n../gen/deep/c/a_test.c\n";
    assert_eq!(ran.good(), listed);
    world.run(&["build"]).good();
    assert!(world.read("gen/deep/c/a.h").is_some_and(|text| text.contains("p_t_offset")));
    world.run(&["clean"]).good();
    assert_eq!(world.files("gen"), [""; 0]);
    assert!(!world.path("gen/deep").exists());
}

#[test]
fn outputs_of_a_broken_project_are_none() {
    let world = World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let ran = world.run(&["outputs"]);
    assert_eq!(ran.refused().0, Some(1));
    assert!(ran.err.starts_with("error[map::not_injective]"), "{}", ran.err);
}

#[test]
fn the_templates_are_listed_with_what_they_are_for() {
    let world = World::new(&[]);
    let ran = world.run(&["templates", "list"]);
    let row = "c/header.h.j2         c       public header: constants, index functions, prototypes";
    assert!(ran.good().lines().any(|line| line == row), "{}", ran.out);
    let ran = world.run(&["templates", "list", "--format", "json"]);
    let names: Vec<Value> = ran.good().lines().map(|line| json(line)["name"].clone()).collect();
    assert!(names.contains(&"c/source.c.j2".into()), "{names:?}");
}

#[test]
fn an_ejected_template_changes_nothing_until_it_is_edited() {
    let world = World::new(&[
        ("layoutc.toml", "[project]\ntemplates-dir = \"own\"\n"),
        ("layouts/a.kdl", BLOCKED),
    ]);
    world.run(&["build"]).good();
    // The stamp shared by the outputs of a build depends on the project's own templates.
    let header = || {
        let text = world.read("generated/c/a.h").expect("a header");
        let is_plain = |line: &&str| !line.contains("_STAMP ") && !line.contains("layoutc-hash");
        text.lines().filter(is_plain).map(str::to_owned).collect::<Vec<_>>()
    };
    let built_in = header();
    let ran = world.run_in("layouts", &["templates", "eject", "c/header.h.j2"], "");
    assert_eq!(ran.good(), "wrote ../own/c/header.h.j2, which overrides the built-in template\n");
    world.run(&["build"]).good();
    assert_eq!(header(), built_in);
    world.write("own/c/header.h.j2", "// mine\n");
    let ran = world.run(&["templates", "eject", "c/header.h.j2"]);
    let line = "error: `own/c/header.h.j2` already exists; use `--force` to overwrite it\n";
    assert_eq!(ran.refused(), (Some(2), line));
    assert_eq!(world.read("own/c/header.h.j2").as_deref(), Some("// mine\n"));
    world.run(&["templates", "eject", "c/header.h.j2", "--force"]).good();
    world.run(&["build", "--check"]).good();
}

#[test]
fn a_template_that_is_not_built_in_finds_the_nearest() {
    let world = project();
    for asked in ["c/headr.h.j2", "header.h.j2"] {
        let ran = world.run(&["templates", "eject", asked]);
        let line = format!(
            "error: unknown template `{asked}`; did you mean `c/header.h.j2`? \
             (`layoutc templates list` lists all)\n"
        );
        assert_eq!(ran.refused(), (Some(2), line.as_str()));
    }
}

#[cfg(unix)]
#[test]
fn templates_are_not_ejected_through_a_link_out_of_the_project() {
    let world = World::new(&[("p/layoutc.toml", ""), ("out/x", "")]);
    std::os::unix::fs::symlink("../out", world.path("p/templates")).expect("a link");
    let ran = world.run_in("p", &["templates", "eject", "c/header.h.j2"], "");
    assert_eq!(ran.refused().0, Some(2));
    assert_eq!(world.files("out"), ["out/x"]);
}

#[test]
fn check_refuses_a_choice_that_a_build_would() {
    let text = "tensor a dtype=f32 { shape { n 8; c 32; w 64 } }\n\
                tensor b like=a { layout { order n w c } }\nconvert a to=b { inside runs }\n";
    let world = World::new(&[("a.kdl", text)]);
    let ran = world.run(&["check", "a.kdl"]);
    assert_eq!(ran.refused().0, Some(1));
    assert!(ran.err.contains("error[limit::choice]: there are no runs"), "{}", ran.err);
    assert_eq!(world.run(&["build", "a.kdl"]).refused().1, ran.err);
}
