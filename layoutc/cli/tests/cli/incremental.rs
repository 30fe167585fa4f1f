//! Incremental builds: no repeated work, and the same results as a clean build.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::world::{BLOCKED, BROKEN, World};

fn project() -> World {
    World::new(&[
        ("layoutc.toml", "[project]\nname = \"p\"\n"),
        ("layouts/a.kdl", BLOCKED),
        (
            "layouts/b.kdl",
            "use \"lib/common.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n",
        ),
        ("layouts/lib/common.kdl", "transform blocked {\n    split c by=4\n}\n"),
    ])
}

fn statuses(world: &World) -> Vec<(String, String)> {
    let ran = world.run(&["build", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.good()).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let outputs = object["outputs"].as_array().expect("a list");
    outputs.iter().map(|o| (text(&o["path"]), text(&o["status"]))).collect()
}

fn written(world: &World) -> Vec<String> {
    let new = statuses(world).into_iter().filter(|(_, status)| status != "unchanged");
    new.map(|(path, _)| path).collect()
}

#[test]
fn a_change_of_a_used_manifest_remakes_what_uses_it_and_nothing_else() {
    let world = project();
    world.run(&["build"]).good();
    assert_eq!(written(&world), [""; 0]);
    let time = |path: &str| fs::metadata(world.path(path)).and_then(|m| m.modified()).expect("");
    let before = time("generated/c/a.h");
    world.write("layouts/lib/common.kdl", "transform blocked {\n    split c by=2\n}\n");
    let expected = ["generated/c/b.c", "generated/c/b.h", "generated/c/b_test.c"];
    assert_eq!(written(&world), expected);
    assert_eq!(time("generated/c/a.h"), before);
}

#[test]
fn an_edit_of_the_same_size_under_the_same_time_is_seen() {
    let world = project();
    world.run(&["build"]).good();
    let file = fs::File::options().write(true).open(world.path("layouts/a.kdl")).expect("there");
    let time = file.metadata().and_then(|m| m.modified()).expect("a time");
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 4"));
    file.set_modified(time).expect("set");
    assert_eq!(written(&world).len(), 3);
}

#[test]
fn a_new_time_alone_remakes_nothing_also_one_to_come() {
    let world = project();
    world.run(&["build"]).good();
    for ahead in [0, 1 << 30] {
        for path in ["layouts/a.kdl", "layoutc.toml", "generated/c/a.h"] {
            let file = fs::File::options().write(true).open(world.path(path)).expect("there");
            file.set_modified(SystemTime::now() + Duration::from_secs(ahead)).expect("set");
        }
        assert_eq!(written(&world), [""; 0], "{ahead} s ahead");
    }
}

#[test]
fn outputs_that_vanish_or_go_back_in_time_are_restored() {
    let world = project();
    world.run(&["build"]).good();
    let old = world.read("generated/c/a.h").expect("there");
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    world.run(&["build"]).good();
    let new = world.read("generated/c/a.h").expect("there");
    // As a version control system would restore it.
    world.write("generated/c/a.h", &old);
    fs::remove_file(world.path("generated/c/b.c")).expect("gone");
    assert_eq!(written(&world), ["generated/c/a.h", "generated/c/b.c"]);
    assert_eq!(world.read("generated/c/a.h"), Some(new));
}

/// Builds repeatedly with `files`: the warning of `layouts/a.kdl` is repeated each time.
fn a_warning_is_told_each_time(files: &[(&str, &str)], code: i32) {
    let narrow = BLOCKED.replace("w 8", "w 1");
    let world = World::new(&[("layoutc.toml", "[project]\n"), ("layouts/a.kdl", narrow.as_str())]);
    for (path, text) in files {
        world.write(path, text);
    }
    let first = world.run(&["build"]);
    assert!(first.err.contains("warning[padding::"), "{}", first.err);
    for _ in 0..2 {
        let again = world.run(&["build"]);
        assert_eq!((again.code, &again.err), (Some(code), &first.err));
    }
}

#[test]
fn warnings_are_told_again_by_a_build_that_does_nothing() {
    a_warning_is_told_each_time(&[], 0);
}

#[test]
fn warnings_are_told_again_beside_the_error_of_another_manifest() {
    a_warning_is_told_each_time(&[("layouts/b.kdl", BROKEN)], 1);
}

#[cfg(unix)]
#[test]
fn a_used_link_that_loops_is_told_at_the_use_and_hides_nothing() {
    let narrow = BLOCKED.replace("w 8", "w 1");
    let used = format!("use \"../shared/b.kdl\"\n{BLOCKED}");
    let world = World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", &used)]);
    world.write("layouts/b.kdl", &narrow);
    world.write("shared/README", "");
    std::os::unix::fs::symlink("b.kdl", world.path("shared/b.kdl")).expect("a link");
    let build = world.run(&["build"]);
    assert_eq!(build.code, Some(1), "{}", build.err);
    assert!(build.err.contains("error[name::file]"), "{}", build.err);
    assert!(build.err.contains("warning[padding::"), "{}", build.err);
}

#[test]
fn parts_of_a_project_that_collide_are_refused_by_a_whole_build() {
    let world = World::new(&[
        ("layoutc.toml", "[project]\n"),
        ("layouts/a.kdl", BLOCKED),
        ("layouts/A.kdl", BLOCKED),
    ]);
    world.run(&["build", "layouts/a.kdl"]).good();
    world.run(&["build", "layouts/A.kdl"]).good();
    for _ in 0..2 {
        let ran = world.run(&["build"]);
        assert!(ran.err.starts_with("error[output::collision]: "), "{}", ran.err);
    }
}

#[test]
fn a_file_that_two_manifests_were_made_into_in_turn_is_still_layoutcs_own() {
    let config = |of: &str| {
        format!(
            "[project]\nsources = [\"{of}/*.kdl\"]\n\n[target.json]\ntemplate = \"t.json.j2\"\n"
        )
    };
    let world = World::new(&[
        ("layoutc.toml", &config("src")),
        ("src/z.kdl", BLOCKED),
        ("layouts/m.kdl", BLOCKED),
        ("templates/t.json.j2", "[{% for t in tensors %}\"{{ t.name }}\"{% endfor %}]\n"),
    ]);
    let named = |name: &str| BLOCKED.replace("tensor t", &format!("tensor {name}"));
    world.run(&["build"]).good();
    world.write("layoutc.toml", &config("layouts"));
    world.run(&["build"]).good();
    world.write("src/m.kdl", &named("one"));
    world.write("layoutc.toml", &config("src"));
    world.run(&["build"]).good();
    world.write("layoutc.toml", &(config("src") + "# another text\n"));
    world.run(&["build"]).good();
    world.write("src/m.kdl", &named("two"));
    world.run(&["build"]).good();
    assert_eq!(world.read("generated/json/m.json").as_deref(), Some("[\"two\"]\n"));
    fs::remove_file(world.path("src/m.kdl")).expect("gone");
    world.run(&["build"]).good();
    assert_eq!(world.files("generated"), ["generated/json/z.json"]);
}

#[test]
fn an_error_keeps_the_outputs_and_its_mending_makes_only_what_changed() {
    let world = project();
    world.run(&["build"]).good();
    let before = world.read("generated/c/a.h");
    world.write("layouts/a.kdl", BROKEN);
    assert_eq!(world.run(&["build"]).code, Some(1));
    assert_eq!(world.run(&["build"]).code, Some(1));
    assert_eq!(world.read("generated/c/a.h"), before);
    world.write("layouts/a.kdl", BLOCKED);
    assert_eq!(written(&world), [""; 0]);
}

#[test]
fn the_configuration_and_the_templates_count() {
    let world = project();
    world.run(&["build"]).good();
    world.write("layoutc.toml", "[project]\nname = \"p\"\nprefix = \"q_\"\n");
    assert_eq!(written(&world).len(), 9);
    world.run(&["templates", "eject", "c/source.c.j2"]).good();
    assert_eq!(written(&world).len(), 9, "the stamp of each set changed");
    assert_eq!(written(&world), [""; 0]);
}

#[test]
fn what_is_left_over_is_found_also_where_a_former_build_found_nothing() {
    let world = project();
    world.run(&["build"]).good();
    // Once the folders are older than a clock tick, a build records that it found only outputs.
    std::thread::sleep(Duration::from_millis(60));
    world.run(&["build"]).good();
    let log = fs::read(world.path(".layoutc/log")).expect("a log");
    world.run(&["build"]).good();
    assert_eq!(fs::read(world.path(".layoutc/log")).expect("a log"), log);
    // Stale outputs, in unchanged folders.
    fs::rename(world.path("layouts/b.kdl"), world.path("layouts/b.txt")).expect("renamed");
    let gone = ["generated/c/b.c", "generated/c/b.h", "generated/c/b_test.c"];
    assert_eq!(written(&world), gone);
    assert!(gone.iter().all(|path| !world.path(path).exists()));
    // A copy of an output in another folder.
    std::thread::sleep(Duration::from_millis(60));
    world.run(&["build"]).good();
    let copy = world.read("generated/c/a.h").expect("an output");
    world.write("generated/c/deep/copy.h", &copy);
    assert_eq!(written(&world), ["generated/c/deep/copy.h"]);
    world.write("generated/c/a.h", "int mine;\n");
    world.run(&["build"]).refused();
}

#[test]
fn a_moved_project_builds_nothing_again() {
    let world = project();
    world.run(&["build"]).good();
    let elsewhere = World::new(&[]);
    for path in ["layoutc.toml", "layouts", "generated", ".layoutc"] {
        fs::rename(world.path(path), elsewhere.path(path)).expect("moved");
    }
    assert_eq!(written(&elsewhere), [""; 0]);
}

#[test]
fn a_part_of_a_project_or_one_target_leaves_the_rest_alone() {
    let world = project();
    world.write("layoutc.toml", "[target.c]\n[target.cuda]\n");
    world.run(&["build"]).good();
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    world.write("layouts/b.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    world.run(&["build", "layouts/a.kdl", "--target", "c"]).good();
    let expected: Vec<String> =
        ["c/b.c", "c/b.h", "c/b_test.c", "cuda/a.cu", "cuda/a.cuh", "cuda/b.cu", "cuda/b.cuh"]
            .iter()
            .map(|path| format!("generated/{path}"))
            .collect();
    assert_eq!(written(&world), expected);
}

#[test]
fn files_without_comments_are_known_by_the_log() {
    let world = World::new(&[
        ("layoutc.toml", "[target.json]\ntemplate = \"shapes.json.j2\"\n"),
        ("layouts/a.kdl", BLOCKED),
        ("templates/shapes.json.j2", "[{% for t in tensors %}\"{{ t.name }}\"{% endfor %}]\n"),
    ]);
    world.run(&["build"]).good();
    assert_eq!(world.read("generated/json/a.json").as_deref(), Some("[\"t\"]\n"));
    world.write("layouts/a.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    world.run(&["build"]).good();
    assert_eq!(world.read("generated/json/a.json").as_deref(), Some("[\"u\"]\n"));
    world.write("generated/json/a.json", "[\"mine\"]\n");
    let ran = world.run(&["build"]);
    assert!(ran.err.starts_with("error[output::edited]: "), "{}", ran.err);
    fs::remove_dir_all(world.path(".layoutc")).expect("gone");
    let ran = world.run(&["build"]);
    assert!(ran.err.starts_with("error[output::foreign]: "), "{}", ran.err);
    world.run(&["build", "--force"]).good();
    fs::remove_file(world.path("layouts/a.kdl")).expect("gone");
    world.write("layouts/b.kdl", BLOCKED);
    world.run(&["build"]).good();
    assert_eq!(world.files("generated"), ["generated/json/b.json"]);
    world.run(&["clean"]).good();
    assert!(!world.path("generated").exists() && !world.path(".layoutc").exists());
}

#[test]
fn what_a_power_failure_left_of_outputs_is_replaced() {
    let world = project();
    world.run(&["build"]).good();
    let whole = |path: &str| world.read(path).expect("there");
    let (header, source) = (whole("generated/c/a.h"), whole("generated/c/a.c"));
    let half = |text: &str, zeros: usize| format!("{}{}", &text[..100], "\0".repeat(zeros));
    world.write("generated/c/a.h", "");
    world.write("generated/c/a.c", &half(&source, source.len() - 100));
    world.write("generated/c/a_test.c", &"\0".repeat(512));
    assert_eq!(written(&world), ["generated/c/a.c", "generated/c/a.h", "generated/c/a_test.c"]);
    assert_eq!((whole("generated/c/a.h"), whole("generated/c/a.c")), (header, source.clone()));
    // Text without trailing zeros, or with other zeros, was written by somebody else.
    for text in [&half(&source, 0), &format!("\0{}", half(&source, 8))] {
        world.write("generated/c/a.c", text);
        let ran = world.run(&["build"]);
        assert!(ran.err.starts_with("error[output::"), "{}", ran.err);
        assert_eq!(&whole("generated/c/a.c"), text);
    }
    // So was a file where no output is recorded; recorded outputs are cleaned.
    for text in ["", &half(&source, 64)] {
        world.write("generated/c/a.c", text);
        world.run(&["clean"]).good();
        assert!(!world.path("generated").exists());
        world.run(&["build"]).good();
    }
    world.write("generated/c/a.c", "");
    fs::remove_dir_all(world.path(".layoutc")).expect("gone");
    let ran = world.run(&["build"]);
    assert!(ran.err.starts_with("error[output::foreign]: "), "{}", ran.err);
}

#[test]
fn what_holds_the_lock_is_named_and_need_not_be_waited_for() {
    let world = project();
    world.run(&["build"]).good();
    let lock = fs::File::open(world.path(".layoutc/lock")).expect("there");
    lock.lock().expect("locked");
    // Nothing to do, so the lock is not needed.
    world.run(&["build"]).good();
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    let ran = world.run(&["build", "--no-wait"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.starts_with("error[output::io]: process "), "{}", ran.err);
    assert!(ran.err.contains(" (`layoutc build`) is writing to `generated`\n"), "{}", ran.err);
    lock.unlock().expect("unlocked");
    world.run(&["build", "--no-wait"]).good();
}

#[test]
fn a_locked_build_refuses_what_changes_the_abi_and_shows_both() {
    let world = project();
    let ran = world.run(&["build", "--locked"]);
    assert!(
        ran.err.starts_with("error[output::locked]: `layoutc.lock` does not exist"),
        "{}",
        ran.err
    );
    assert_eq!(world.files("generated"), [""; 0]);
    assert_eq!(world.run(&["lock"]).good(), "written    layoutc.lock: 2 tensors\n");
    assert_eq!(world.run(&["lock"]).good(), "unchanged  layoutc.lock: 2 tensors\n");
    for _ in 0..2 {
        world.run(&["build", "--locked"]).good();
    }
    // Another notation of the same layout is not a change.
    world.write("layouts/a.kdl", &BLOCKED.replace("w // 4, h", "w // 2 // 2, h"));
    world.run(&["build", "--locked"]).good();
    let before = world.read("generated/c/a.h");
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    for _ in 0..2 {
        let ran = world.run(&["build", "--locked"]);
        assert_eq!(ran.code, Some(1));
        assert!(
            ran.err.contains("layout of `t` differs from layoutc.lock\n  ┌─ layouts/a.kdl:3:5"),
            "{}",
            ran.err
        );
        assert!(
            ran.err.contains("= locked: f32 h=4 w=8 -> [32] strides [1] map \""),
            "{}",
            ran.err
        );
        assert!(
            ran.err.contains("= now:    f32 h=4 w=12 -> [48] strides [1] map \""),
            "{}",
            ran.err
        );
    }
    assert_eq!(world.read("generated/c/a.h"), before);
    world.run(&["lock"]).good();
    world.run(&["build", "--locked"]).good();
    world.write("layouts/a.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    let ran = world.run(&["build", "--locked"]);
    assert!(ran.err.contains("`u` is not in layoutc.lock"), "{}", ran.err);
    assert!(ran.err.contains("locked tensor `t` of `layouts/a.kdl` does not exist"), "{}", ran.err);
}

#[test]
fn a_lock_file_that_was_edited_or_is_somebody_elses_is_kept() {
    let world = project();
    world.run(&["lock"]).good();
    let good = world.read("layoutc.lock").expect("there");
    let edits = [
        (good.replace(" f32 ", " f64 "), "was edited since layoutc wrote it"),
        (good.clone() + "# a remark\n", "was edited since layoutc wrote it"),
        (good.replacen("layoutc-hash", "hash", 1), "was not written by layoutc"),
        ("mine\n".to_owned(), "was not written by layoutc"),
    ];
    for (text, reason) in edits {
        world.write("layoutc.lock", &text);
        let ran = world.run(&["lock"]);
        assert_eq!(ran.code, Some(1), "{text}");
        assert!(ran.err.contains(reason), "{}", ran.err);
        assert_eq!(world.read("layoutc.lock").as_ref(), Some(&text));
        assert_eq!(world.run(&["lock", "--force"]).good(), "written    layoutc.lock: 2 tensors\n");
        assert_eq!(world.read("layoutc.lock").as_ref(), Some(&good));
    }
    // An unedited lock file of other layouts is overwritten.
    world.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    assert_eq!(world.run(&["lock"]).good(), "written    layoutc.lock: 2 tensors\n");
    // So is what a power failure may leave.
    world.write("layoutc.lock", "");
    assert_eq!(world.run(&["lock"]).good(), "written    layoutc.lock: 2 tensors\n");
}
