//! `--stamp` and `--depfile`: files that a build leaves for make and ninja.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};
use crate::watching::Watching;
use layoutc_testing::process::needed_program;

const USER: &str = "\
use \"lib/common.kdl\"
tensor b dtype=f32 {
    shape { n 4; c 8 }
    layout blocked
}
";

const COMMON: &str = "transform blocked {\n    split c by=4\n}\n";

fn project() -> Sandbox {
    Sandbox::new(&[
        ("layoutc.toml", "[target.c]\nemit = [\"index\", \"pack\"]\n"),
        ("layouts/a.kdl", BLOCKED),
        ("layouts/b.kdl", USER),
        ("layouts/lib/common.kdl", COMMON),
        ("templates/c/note.j2", "mine"),
    ])
}

const INPUTS: &str = "layoutc.toml \\\n  layouts/a.kdl \\\n  layouts/b.kdl \\\n  layouts/lib/common.kdl \\\n  templates/c/note.j2\n";

fn modified(sandbox: &Sandbox, path: &str) -> SystemTime {
    fs::metadata(sandbox.path(path)).and_then(|m| m.modified()).expect("a time")
}

fn set_modified(sandbox: &Sandbox, path: &str, time: SystemTime) {
    let file = fs::File::options().append(true).open(sandbox.path(path)).expect("there");
    file.set_modified(time).expect("set");
}

fn hour_ago() -> SystemTime {
    SystemTime::now() - Duration::from_hours(1)
}

#[test]
fn depfile_lists_every_input_of_unchanged_builds() {
    let sandbox = project();
    let build = ["build", "-q", "--stamp", "o/done", "--depfile", "o/done.d"];
    for _ in 0..2 {
        sandbox.run(&build).success();
        assert_eq!(sandbox.read("o/done.d"), Some(format!("o/done: \\\n  {INPUTS}")));
        assert_eq!(sandbox.read("o/done").as_deref(), Some(""));
        fs::remove_file(sandbox.path("o/done.d")).expect("gone");
    }
    sandbox.run(&["build", "-q", "--depfile", "d"]).success();
    let outputs =
        "generated/c/a.c \\\n  generated/c/a.h \\\n  generated/c/b.c \\\n  generated/c/b.h";
    let rule = sandbox.read("d").expect("a rule");
    assert!(rule.starts_with(outputs) && rule.ends_with(&format!(": \\\n  {INPUTS}")), "{rule}");
    // The stamp is named as given.
    let stamp = sandbox.path("s").to_str().expect("UTF-8").to_owned();
    sandbox.run(&["build", "-q", "--stamp", &stamp, "--depfile", "d"]).success();
    assert_eq!(sandbox.read("d"), Some(format!("{stamp}: \\\n  {INPUTS}")));
    // Relative to the working directory, whatever is requested.
    sandbox
        .run_in("layouts", &["build", "-q", "b.kdl", "--stamp", "s", "--depfile", "d"], "")
        .success();
    let rule =
        "s: \\\n  ../layoutc.toml \\\n  b.kdl \\\n  lib/common.kdl \\\n  ../templates/c/note.j2\n";
    assert_eq!(sandbox.read("layouts/d").as_deref(), Some(rule));
}

#[test]
fn unused_manifest_is_dropped_from_the_depfile() {
    let sandbox = Sandbox::new(&[("a.kdl", USER), ("lib/common.kdl", COMMON)]);
    let build = ["build", "-q", "a.kdl", "--stamp", "s", "--depfile", "d"];
    sandbox.run(&build).success();
    assert_eq!(sandbox.read("d").as_deref(), Some("s: \\\n  a.kdl \\\n  lib/common.kdl\n"));
    sandbox.write("a.kdl", BLOCKED);
    sandbox.run(&build).success();
    assert_eq!(sandbox.read("d").as_deref(), Some("s: \\\n  a.kdl\n"));
}

#[test]
fn stamp_is_always_renewed_and_depfile_only_on_change() {
    let sandbox = project();
    let build = ["build", "-q", "--stamp", "s", "--depfile", "d"];
    sandbox.run(&build).success();
    let old = hour_ago();
    set_modified(&sandbox, "s", old);
    set_modified(&sandbox, "d", old);
    let before = SystemTime::now();
    sandbox.run(&build).success();
    assert!(modified(&sandbox, "s") >= before);
    assert_eq!(modified(&sandbox, "d"), old);
    set_modified(&sandbox, "s", old);
    sandbox.write("layouts/a.kdl", BROKEN);
    assert_eq!(sandbox.run(&build).code, Some(1));
    assert_eq!(modified(&sandbox, "s"), old);
    assert_eq!(sandbox.files(".").iter().filter(|file| file.contains(".tmp")).count(), 0);
}

#[test]
fn read_only_commands_write_neither_stamp_nor_depfile() {
    let sandbox = project();
    let marks = ["--stamp", "s", "--depfile", "d"];
    sandbox.run(&[&["build", "--dry-run"], &marks[..]].concat()).success();
    sandbox.run(&["build"]).success();
    sandbox.run(&[&["build", "--check"], &marks[..]].concat()).success();
    assert!(sandbox.read("s").is_none() && sandbox.read("d").is_none());
}

#[test]
fn stamp_and_depfile_must_not_be_outputs() {
    for option in ["--stamp", "--depfile"] {
        let sandbox = project();
        let ran = sandbox.run(&["build", option, "generated/c/a.c"]);
        let line = format!(
            "error: `{option}`: `generated/c/a.c` is an output of this build; choose another file\n"
        );
        assert_eq!(ran.failure(), (Some(2), line.as_str()));
        assert_eq!(sandbox.read("generated/c/a.c"), None);
    }
}

#[test]
fn lock_file_records_shardings() {
    const CUT: &str =
        "mesh pod { x 2; y 4 }\ntensor a dtype=f32 {\n    shape { n 16 }\n    shard n=\"x y\"\n}\n";
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", CUT)]);
    sandbox.run(&["lock"]).success();
    sandbox.run(&["build", "-q", "--locked"]).success();
    for other in [
        CUT.replace("x y", "y x"),
        CUT.replace("n 16", "n 15"),
        CUT.replace("    shard n=\"x y\"\n", "").replace("n 16", "n 2"),
    ] {
        sandbox.write("layouts/a.kdl", &other);
        let ran = sandbox.run(&["build", "-q", "--locked"]);
        assert!(ran.err.starts_with("error[output::locked]"), "{other}: {}", ran.err);
    }
}

#[test]
fn ninja_escapes_manifests_named_like_options() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/-v.kdl", BLOCKED)]);
    let flat = sandbox.run(&["outputs", "--format", "ninja"]);
    assert!(flat.success().contains(": layoutc layouts/-v.kdl "), "{}", flat.out);
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\nsources = [\"*.kdl\"]\n"),
        ("-v.kdl", BLOCKED),
    ]);
    let flat = sandbox.run(&["outputs", "--format", "ninja"]);
    assert!(flat.success().contains(": layoutc ./-v.kdl "), "{}", flat.out);
}

#[test]
fn stamp_and_depfile_overwrite_no_other_file() {
    let sandbox = project();
    sandbox.write("mine.c", "int mine;\n");
    let ran = sandbox.run(&["build", "--stamp", "mine.c"]);
    let line = "error[output::foreign]: `mine.c` is not a stamp, and is not overwritten\n  = help: move it, or choose another file\n\n1 error\nfor more information, run `layoutc explain output::foreign`\n";
    assert_eq!(ran.failure(), (Some(1), line));
    let ran = sandbox.run(&["build", "--depfile", "layouts/a.kdl"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.starts_with(
        "error[output::foreign]: `layouts/a.kdl` is not a dependency rule of layoutc"
    ));
    assert_eq!(sandbox.run(&["build", "--stamp", "layouts"]).failure().0, Some(1));
    assert_eq!(sandbox.run(&["build", "--stamp", "x", "--depfile", "./x"]).failure().0, Some(2));
    assert!(!sandbox.path("generated").exists());
    assert_eq!(sandbox.read("mine.c").as_deref(), Some("int mine;\n"));
    // A path that cannot be written is a system error.
    let ran = sandbox.run(&["build", "-q", "--stamp", "mine.c/s"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
}

#[test]
fn a_path_that_make_cannot_express_is_refused_before_writing() {
    let sandbox = Sandbox::new(&[("a;b.kdl", BLOCKED)]);
    let ran = sandbox.run(&["build", "a;b.kdl", "--depfile", "d"]);
    assert_eq!(ran.failure().0, Some(2));
    assert!(ran.err.starts_with("error: `--depfile` cannot express `a;b.kdl`: "), "{}", ran.err);
    assert!(!sandbox.path("generated").exists());
}

#[test]
fn each_successful_watch_build_writes_rule_and_stamp() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &["--stamp", "s", "--depfile", "d"]);
    assert_eq!(sandbox.read("d"), Some(format!("s: \\\n  {INPUTS}")));
    set_modified(&sandbox, "s", hour_ago());
    sandbox.write("layouts/c.kdl", BLOCKED);
    watching.expect("layouts/c.kdl added: rebuilt in ");
    assert!(modified(&sandbox, "s") > hour_ago() + Duration::from_mins(1));
    assert!(sandbox.read("d").is_some_and(|rule| rule.contains("  layouts/c.kdl \\\n")));
}

/// Prerequisites of `s` as read by make and ninja, for manifests with unusual names.
#[test]
fn make_and_ninja_parse_depfile_paths() {
    let Some(ninja) = needed_program("ninja") else { return };
    let names = ["a b.kdl", "a$b.kdl", "a#b.kdl", "a:b.kdl", "ä.kdl", "a(1),~.kdl"];
    let sandbox = Sandbox::new(&[]);
    for (number, name) in names.iter().enumerate() {
        let text = BLOCKED.replace("tensor t", &format!("tensor t{number}"));
        sandbox.write(&format!("in/{name}"), &text);
    }
    let layoutc = env!("CARGO_BIN_EXE_layoutc");
    let build = format!("{layoutc} build -q in --out o --stamp s --depfile s.d");
    sandbox.write("Makefile", &format!("s:\n\t{build}\n-include s.d\n"));
    let rule = format!("rule l\n  command = {build}\n  depfile = s.d\n  deps = gcc\nbuild s: l\n");
    sandbox.write("build.ninja", &rule);
    let make = |program: &str| {
        let output =
            Command::new(program).current_dir(sandbox.path(".")).output().expect("it runs");
        let message = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{program}: {message}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        message
    };
    for (program, idle) in [("make", "up to date"), (ninja.to_str().expect("UTF-8"), "no work")] {
        make(program);
        let message = make(program);
        assert!(message.contains(idle), "{program}: {message}");
        for name in names {
            set_modified(
                &sandbox,
                &format!("in/{name}"),
                SystemTime::now() + Duration::from_secs(5),
            );
            let message = make(program);
            assert!(!message.contains(idle), "{program} does not know `{name}`: {message}");
            set_modified(&sandbox, &format!("in/{name}"), hour_ago());
            make(program);
            assert!(make(program).contains(idle));
        }
    }
}
