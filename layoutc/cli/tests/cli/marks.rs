//! `--stamp` and `--depfile`: files that a build leaves for make and ninja.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::watching::Watching;
use crate::world::{BLOCKED, BROKEN, World};

const USER: &str = "\
use \"lib/common.kdl\"
tensor b dtype=f32 {
    shape { n 4; c 8 }
    layout blocked
}
";

const COMMON: &str = "transform blocked {\n    split c by=4\n}\n";

fn project() -> World {
    World::new(&[
        ("layoutc.toml", "[target.c]\nemit = [\"index\", \"pack\"]\n"),
        ("layouts/a.kdl", BLOCKED),
        ("layouts/b.kdl", USER),
        ("layouts/lib/common.kdl", COMMON),
        ("templates/c/note.j2", "mine"),
    ])
}

const INPUTS: &str = "layoutc.toml \\\n  layouts/a.kdl \\\n  layouts/b.kdl \\\n  layouts/lib/common.kdl \\\n  templates/c/note.j2\n";

fn modified(world: &World, path: &str) -> SystemTime {
    fs::metadata(world.path(path)).and_then(|m| m.modified()).expect("a time")
}

fn set_modified(world: &World, path: &str, time: SystemTime) {
    let file = fs::File::options().append(true).open(world.path(path)).expect("there");
    file.set_modified(time).expect("set");
}

fn hour_ago() -> SystemTime {
    SystemTime::now() - Duration::from_hours(1)
}

#[test]
fn the_rule_holds_every_input_also_when_nothing_was_to_be_done() {
    let world = project();
    let build = ["build", "-q", "--stamp", "o/done", "--depfile", "o/done.d"];
    for _ in 0..2 {
        world.run(&build).good();
        assert_eq!(world.read("o/done.d"), Some(format!("o/done: \\\n  {INPUTS}")));
        assert_eq!(world.read("o/done").as_deref(), Some(""));
        fs::remove_file(world.path("o/done.d")).expect("gone");
    }
    world.run(&["build", "-q", "--depfile", "d"]).good();
    let outputs =
        "generated/c/a.c \\\n  generated/c/a.h \\\n  generated/c/b.c \\\n  generated/c/b.h";
    let rule = world.read("d").expect("a rule");
    assert!(rule.starts_with(outputs) && rule.ends_with(&format!(": \\\n  {INPUTS}")), "{rule}");
    // The stamp is named as given.
    let stamp = world.path("s").to_str().expect("UTF-8").to_owned();
    world.run(&["build", "-q", "--stamp", &stamp, "--depfile", "d"]).good();
    assert_eq!(world.read("d"), Some(format!("{stamp}: \\\n  {INPUTS}")));
    // Relative to the working directory, whatever is requested.
    world.run_in("layouts", &["build", "-q", "b.kdl", "--stamp", "s", "--depfile", "d"], "").good();
    let rule =
        "s: \\\n  ../layoutc.toml \\\n  b.kdl \\\n  lib/common.kdl \\\n  ../templates/c/note.j2\n";
    assert_eq!(world.read("layouts/d").as_deref(), Some(rule));
}

#[test]
fn a_manifest_that_is_used_no_more_leaves_the_rule() {
    let world = World::new(&[("a.kdl", USER), ("lib/common.kdl", COMMON)]);
    let build = ["build", "-q", "a.kdl", "--stamp", "s", "--depfile", "d"];
    world.run(&build).good();
    assert_eq!(world.read("d").as_deref(), Some("s: \\\n  a.kdl \\\n  lib/common.kdl\n"));
    world.write("a.kdl", BLOCKED);
    world.run(&build).good();
    assert_eq!(world.read("d").as_deref(), Some("s: \\\n  a.kdl\n"));
}

#[test]
fn the_stamp_becomes_new_with_every_good_build_and_the_rule_only_when_it_changes() {
    let world = project();
    let build = ["build", "-q", "--stamp", "s", "--depfile", "d"];
    world.run(&build).good();
    let old = hour_ago();
    set_modified(&world, "s", old);
    set_modified(&world, "d", old);
    let before = SystemTime::now();
    world.run(&build).good();
    assert!(modified(&world, "s") >= before);
    assert_eq!(modified(&world, "d"), old);
    set_modified(&world, "s", old);
    world.write("layouts/a.kdl", BROKEN);
    assert_eq!(world.run(&build).code, Some(1));
    assert_eq!(modified(&world, "s"), old);
    assert_eq!(world.files(".").iter().filter(|file| file.contains(".tmp")).count(), 0);
}

#[test]
fn what_only_looks_leaves_neither() {
    let world = project();
    let marks = ["--stamp", "s", "--depfile", "d"];
    world.run(&[&["build", "--dry-run"], &marks[..]].concat()).good();
    world.run(&["build"]).good();
    world.run(&[&["build", "--check"], &marks[..]].concat()).good();
    assert!(world.read("s").is_none() && world.read("d").is_none());
}

#[test]
fn an_output_of_the_same_build_is_neither_stamp_nor_rule() {
    for option in ["--stamp", "--depfile"] {
        let world = project();
        let ran = world.run(&["build", option, "generated/c/a.c"]);
        let line = format!(
            "error: `{option}`: `generated/c/a.c` is an output of this build; choose another file\n"
        );
        assert_eq!(ran.refused(), (Some(2), line.as_str()));
        assert_eq!(world.read("generated/c/a.c"), None);
    }
}

#[test]
fn the_lock_knows_which_device_holds_what() {
    const CUT: &str =
        "mesh pod { x 2; y 4 }\ntensor a dtype=f32 {\n    shape { n 16 }\n    shard n=\"x y\"\n}\n";
    let world = World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", CUT)]);
    world.run(&["lock"]).good();
    world.run(&["build", "-q", "--locked"]).good();
    for other in [
        CUT.replace("x y", "y x"),
        CUT.replace("n 16", "n 15"),
        CUT.replace("    shard n=\"x y\"\n", "").replace("n 16", "n 2"),
    ] {
        world.write("layouts/a.kdl", &other);
        let ran = world.run(&["build", "-q", "--locked"]);
        assert!(ran.err.starts_with("error[output::locked]"), "{other}: {}", ran.err);
    }
}

#[test]
fn a_manifest_named_like_an_option_is_a_file_for_ninja() {
    let world = World::new(&[("layoutc.toml", ""), ("layouts/-v.kdl", BLOCKED)]);
    let flat = world.run(&["outputs", "--format", "ninja"]);
    assert!(flat.good().contains(": layoutc layouts/-v.kdl "), "{}", flat.out);
    let world =
        World::new(&[("layoutc.toml", "[project]\nsources = [\"*.kdl\"]\n"), ("-v.kdl", BLOCKED)]);
    let flat = world.run(&["outputs", "--format", "ninja"]);
    assert!(flat.good().contains(": layoutc ./-v.kdl "), "{}", flat.out);
}

#[test]
fn other_files_are_never_written_over() {
    let world = project();
    world.write("mine.c", "int mine;\n");
    let ran = world.run(&["build", "--stamp", "mine.c"]);
    let line = "error[output::foreign]: `mine.c` is not a stamp, and is not overwritten\n  = help: move it, or choose another file\n\n1 error\nfor more information, run `layoutc explain output::foreign`\n";
    assert_eq!(ran.refused(), (Some(1), line));
    let ran = world.run(&["build", "--depfile", "layouts/a.kdl"]);
    assert_eq!(ran.refused().0, Some(1));
    assert!(ran.err.starts_with(
        "error[output::foreign]: `layouts/a.kdl` is not a dependency rule of layoutc"
    ));
    assert_eq!(world.run(&["build", "--stamp", "layouts"]).refused().0, Some(1));
    assert_eq!(world.run(&["build", "--stamp", "x", "--depfile", "./x"]).refused().0, Some(2));
    assert!(!world.path("generated").exists());
    assert_eq!(world.read("mine.c").as_deref(), Some("int mine;\n"));
    // A path that cannot be written is a system error.
    let ran = world.run(&["build", "-q", "--stamp", "mine.c/s"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
}

#[test]
fn a_path_that_make_cannot_be_told_is_refused_before_anything_is_written() {
    let world = World::new(&[("a;b.kdl", BLOCKED)]);
    let ran = world.run(&["build", "a;b.kdl", "--depfile", "d"]);
    assert_eq!(ran.refused().0, Some(2));
    assert!(ran.err.starts_with("error: `--depfile` cannot express `a;b.kdl`: "), "{}", ran.err);
    assert!(!world.path("generated").exists());
}

#[test]
fn a_watch_leaves_both_after_each_good_build() {
    let world = project();
    let mut watching = Watching::built(&world, &["--stamp", "s", "--depfile", "d"]);
    assert_eq!(world.read("d"), Some(format!("s: \\\n  {INPUTS}")));
    set_modified(&world, "s", hour_ago());
    world.write("layouts/c.kdl", BLOCKED);
    watching.expect("layouts/c.kdl added: rebuilt in ");
    assert!(modified(&world, "s") > hour_ago() + Duration::from_mins(1));
    assert!(world.read("d").is_some_and(|rule| rule.contains("  layouts/c.kdl \\\n")));
}

/// Prerequisites of `s` as read by make and ninja, for manifests with unusual names.
#[test]
fn make_and_ninja_read_the_paths_back() {
    let Some(ninja) = crate::tools::find("ninja") else { return };
    let names = ["a b.kdl", "a$b.kdl", "a#b.kdl", "a:b.kdl", "ä.kdl", "a(1),~.kdl"];
    let world = World::new(&[]);
    for (number, name) in names.iter().enumerate() {
        let text = BLOCKED.replace("tensor t", &format!("tensor t{number}"));
        world.write(&format!("in/{name}"), &text);
    }
    let layoutc = env!("CARGO_BIN_EXE_layoutc");
    let build = format!("{layoutc} build -q in --out o --stamp s --depfile s.d");
    world.write("Makefile", &format!("s:\n\t{build}\n-include s.d\n"));
    let rule = format!("rule l\n  command = {build}\n  depfile = s.d\n  deps = gcc\nbuild s: l\n");
    world.write("build.ninja", &rule);
    let make = |program: &str| {
        let output = Command::new(program).current_dir(world.path(".")).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{program}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        said
    };
    for (program, idle) in [("make", "up to date"), (ninja.to_str().expect("UTF-8"), "no work")] {
        make(program);
        let said = make(program);
        assert!(said.contains(idle), "{program}: {said}");
        for name in names {
            set_modified(&world, &format!("in/{name}"), SystemTime::now() + Duration::from_secs(5));
            let said = make(program);
            assert!(!said.contains(idle), "{program} does not know `{name}`: {said}");
            set_modified(&world, &format!("in/{name}"), hour_ago());
            make(program);
            assert!(make(program).contains(idle));
        }
    }
}
