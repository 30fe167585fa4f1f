//! Incremental builds: no repeated work, and the same results as a clean build.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

fn project() -> Sandbox {
    Sandbox::new(&[
        ("layoutc.toml", "[project]\nname = \"p\"\n"),
        ("layouts/a.kdl", BLOCKED),
        (
            "layouts/b.kdl",
            "use \"lib/common.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n",
        ),
        ("layouts/lib/common.kdl", "transform blocked {\n    split c by=4\n}\n"),
    ])
}

fn statuses(sandbox: &Sandbox) -> Vec<(String, String)> {
    let ran = sandbox.run(&["build", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let outputs = object["outputs"].as_array().expect("a list");
    outputs.iter().map(|o| (text(&o["path"]), text(&o["status"]))).collect()
}

fn written(sandbox: &Sandbox) -> Vec<String> {
    let new = statuses(sandbox).into_iter().filter(|(_, status)| status != "unchanged");
    new.map(|(path, _)| path).collect()
}

#[test]
fn used_manifest_change_rebuilds_only_its_dependents() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    assert_eq!(written(&sandbox), [""; 0]);
    let time = |path: &str| fs::metadata(sandbox.path(path)).and_then(|m| m.modified()).expect("");
    let before = time("generated/c/a.h");
    sandbox.write("layouts/lib/common.kdl", "transform blocked {\n    split c by=2\n}\n");
    let expected = ["generated/c/b.c", "generated/c/b.h", "generated/c/tests/b_test.c"];
    assert_eq!(written(&sandbox), expected);
    assert_eq!(time("generated/c/a.h"), before);
}

#[test]
fn edit_of_equal_size_and_time_is_detected() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let file = fs::File::options().write(true).open(sandbox.path("layouts/a.kdl")).expect("there");
    let time = file.metadata().and_then(|m| m.modified()).expect("a time");
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 4"));
    file.set_modified(time).expect("set");
    assert_eq!(written(&sandbox).len(), 3);
}

#[test]
fn touched_files_rebuild_nothing() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    for ahead in [0, 1 << 30] {
        for path in ["layouts/a.kdl", "layoutc.toml", "generated/c/a.h"] {
            let file = fs::File::options().write(true).open(sandbox.path(path)).expect("there");
            file.set_modified(SystemTime::now() + Duration::from_secs(ahead)).expect("set");
        }
        assert_eq!(written(&sandbox), [""; 0], "{ahead} s ahead");
    }
}

#[test]
fn missing_and_reverted_outputs_are_restored() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let old = sandbox.read("generated/c/a.h").expect("there");
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    sandbox.run(&["build"]).success();
    let new = sandbox.read("generated/c/a.h").expect("there");
    // As a version control system would restore it.
    sandbox.write("generated/c/a.h", &old);
    fs::remove_file(sandbox.path("generated/c/b.c")).expect("gone");
    assert_eq!(written(&sandbox), ["generated/c/a.h", "generated/c/b.c"]);
    assert_eq!(sandbox.read("generated/c/a.h"), Some(new));
}

/// Builds repeatedly with `files`: the warning of `layouts/a.kdl` is repeated each time.
fn each_build_repeats_the_warning(files: &[(&str, &str)], code: i32) {
    let narrow = BLOCKED.replace("w 8", "w 1");
    let sandbox =
        Sandbox::new(&[("layoutc.toml", "[project]\n"), ("layouts/a.kdl", narrow.as_str())]);
    for (path, text) in files {
        sandbox.write(path, text);
    }
    let first = sandbox.run(&["build"]);
    assert!(first.err.contains("warning[padding::"), "{}", first.err);
    for _ in 0..2 {
        let again = sandbox.run(&["build"]);
        assert_eq!((again.code, &again.err), (Some(code), &first.err));
    }
}

#[test]
fn warnings_are_repeated_by_an_up_to_date_build() {
    each_build_repeats_the_warning(&[], 0);
}

#[test]
fn warnings_are_repeated_despite_an_error_elsewhere() {
    each_build_repeats_the_warning(&[("layouts/b.kdl", BROKEN)], 1);
}

#[cfg(unix)]
#[test]
fn a_used_link_loop_is_reported_at_the_use() {
    let narrow = BLOCKED.replace("w 8", "w 1");
    let used = format!("use \"../shared/b.kdl\"\n{BLOCKED}");
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", &used)]);
    sandbox.write("layouts/b.kdl", &narrow);
    sandbox.write("shared/README", "");
    std::os::unix::fs::symlink("b.kdl", sandbox.path("shared/b.kdl")).expect("a link");
    let build = sandbox.run(&["build"]);
    assert_eq!(build.code, Some(1), "{}", build.err);
    assert!(build.err.contains("error[name::file]"), "{}", build.err);
    assert!(build.err.contains("warning[padding::"), "{}", build.err);
}

#[test]
fn colliding_partial_builds_are_refused_by_a_full_build() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\n"),
        ("layouts/a.kdl", BLOCKED),
        ("layouts/A.kdl", BLOCKED),
    ]);
    sandbox.run(&["build", "layouts/a.kdl"]).success();
    sandbox.run(&["build", "layouts/A.kdl"]).success();
    for _ in 0..2 {
        let ran = sandbox.run(&["build"]);
        assert!(ran.err.starts_with("error[output::collision]: "), "{}", ran.err);
    }
}

#[test]
fn output_of_two_manifests_in_turn_is_not_foreign() {
    let config = |of: &str| {
        format!(
            "[project]\nsources = [\"{of}/*.kdl\"]\n\n[target.json]\ntemplate = \"t.json.j2\"\n"
        )
    };
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", &config("src")),
        ("src/z.kdl", BLOCKED),
        ("layouts/m.kdl", BLOCKED),
        ("templates/t.json.j2", "[{% for t in tensors %}\"{{ t.name }}\"{% endfor %}]\n"),
    ]);
    let named = |name: &str| BLOCKED.replace("tensor t", &format!("tensor {name}"));
    sandbox.run(&["build"]).success();
    sandbox.write("layoutc.toml", &config("layouts"));
    sandbox.run(&["build"]).success();
    sandbox.write("src/m.kdl", &named("one"));
    sandbox.write("layoutc.toml", &config("src"));
    sandbox.run(&["build"]).success();
    sandbox.write("layoutc.toml", &(config("src") + "# another text\n"));
    sandbox.run(&["build"]).success();
    sandbox.write("src/m.kdl", &named("two"));
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.read("generated/json/m.json").as_deref(), Some("[\"two\"]\n"));
    fs::remove_file(sandbox.path("src/m.kdl")).expect("gone");
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.files("generated"), ["generated/json/z.json"]);
}

#[test]
fn errors_keep_outputs_and_fixes_rebuild_only_changes() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let before = sandbox.read("generated/c/a.h");
    sandbox.write("layouts/a.kdl", BROKEN);
    assert_eq!(sandbox.run(&["build"]).code, Some(1));
    assert_eq!(sandbox.run(&["build"]).code, Some(1));
    assert_eq!(sandbox.read("generated/c/a.h"), before);
    sandbox.write("layouts/a.kdl", BLOCKED);
    assert_eq!(written(&sandbox), [""; 0]);
}

#[test]
fn configuration_and_template_changes_rebuild_outputs() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    sandbox.write("layoutc.toml", "[project]\nname = \"p\"\nprefix = \"q_\"\n");
    assert_eq!(written(&sandbox).len(), 9);
    sandbox.run(&["templates", "eject", "c/source.c.j2"]).success();
    assert_eq!(written(&sandbox).len(), 9, "the stamp of each set changed");
    assert_eq!(written(&sandbox), [""; 0]);
}

#[test]
fn stale_outputs_are_found_after_a_sweep_without_any() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    // Once the folders are older than a clock tick, a build records that it found only outputs.
    std::thread::sleep(Duration::from_millis(60));
    sandbox.run(&["build"]).success();
    let log = fs::read(sandbox.path(".layoutc/log")).expect("a log");
    sandbox.run(&["build"]).success();
    assert_eq!(fs::read(sandbox.path(".layoutc/log")).expect("a log"), log);
    // Stale outputs, in unchanged folders.
    fs::rename(sandbox.path("layouts/b.kdl"), sandbox.path("layouts/b.txt")).expect("renamed");
    let gone = ["generated/c/b.c", "generated/c/b.h", "generated/c/tests/b_test.c"];
    assert_eq!(written(&sandbox), gone);
    assert!(gone.iter().all(|path| !sandbox.path(path).exists()));
    // A copy of an output in another folder.
    std::thread::sleep(Duration::from_millis(60));
    sandbox.run(&["build"]).success();
    let copy = sandbox.read("generated/c/a.h").expect("an output");
    sandbox.write("generated/c/deep/copy.h", &copy);
    assert_eq!(written(&sandbox), ["generated/c/deep/copy.h"]);
    sandbox.write("generated/c/a.h", "int mine;\n");
    sandbox.run(&["build"]).failure();
}

#[test]
fn moved_project_rebuilds_nothing() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let elsewhere = Sandbox::new(&[]);
    for path in ["layoutc.toml", "layouts", "generated", ".layoutc"] {
        fs::rename(sandbox.path(path), elsewhere.path(path)).expect("moved");
    }
    assert_eq!(written(&elsewhere), [""; 0]);
}

#[test]
fn partial_build_leaves_other_outputs_unchanged() {
    let sandbox = project();
    sandbox.write("layoutc.toml", "[target.c]\n[target.cuda]\n");
    sandbox.run(&["build"]).success();
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    sandbox.write("layouts/b.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    sandbox.run(&["build", "layouts/a.kdl", "--target", "c"]).success();
    let expected: Vec<String> = [
        "c/b.c",
        "c/b.h",
        "c/tests/b_test.c",
        "cuda/a.cu",
        "cuda/a.cuh",
        "cuda/b.cu",
        "cuda/b.cuh",
    ]
    .iter()
    .map(|path| format!("generated/{path}"))
    .collect();
    assert_eq!(written(&sandbox), expected);
}

#[test]
fn outputs_without_comments_are_tracked_by_the_log() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[target.json]\ntemplate = \"shapes.json.j2\"\n"),
        ("layouts/a.kdl", BLOCKED),
        ("templates/shapes.json.j2", "[{% for t in tensors %}\"{{ t.name }}\"{% endfor %}]\n"),
    ]);
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.read("generated/json/a.json").as_deref(), Some("[\"t\"]\n"));
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.read("generated/json/a.json").as_deref(), Some("[\"u\"]\n"));
    sandbox.write("generated/json/a.json", "[\"mine\"]\n");
    let ran = sandbox.run(&["build"]);
    assert!(ran.err.starts_with("error[output::edited]: "), "{}", ran.err);
    fs::remove_dir_all(sandbox.path(".layoutc")).expect("gone");
    let ran = sandbox.run(&["build"]);
    assert!(ran.err.starts_with("error[output::foreign]: "), "{}", ran.err);
    sandbox.run(&["build", "--force"]).success();
    fs::remove_file(sandbox.path("layouts/a.kdl")).expect("gone");
    sandbox.write("layouts/b.kdl", BLOCKED);
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.files("generated"), ["generated/json/b.json"]);
    sandbox.run(&["clean"]).success();
    assert!(!sandbox.path("generated").exists() && !sandbox.path(".layoutc").exists());
}

#[test]
fn truncated_and_zeroed_outputs_are_replaced() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let whole = |path: &str| sandbox.read(path).expect("there");
    let (header, source) = (whole("generated/c/a.h"), whole("generated/c/a.c"));
    let half = |text: &str, zeros: usize| format!("{}{}", &text[..100], "\0".repeat(zeros));
    sandbox.write("generated/c/a.h", "");
    sandbox.write("generated/c/a.c", &half(&source, source.len() - 100));
    sandbox.write("generated/c/tests/a_test.c", &"\0".repeat(512));
    assert_eq!(
        written(&sandbox),
        ["generated/c/a.c", "generated/c/a.h", "generated/c/tests/a_test.c"]
    );
    assert_eq!((whole("generated/c/a.h"), whole("generated/c/a.c")), (header, source.clone()));
    // Text without trailing zeros, or with other zeros, was written by somebody else.
    for text in [&half(&source, 0), &format!("\0{}", half(&source, 8))] {
        sandbox.write("generated/c/a.c", text);
        let ran = sandbox.run(&["build"]);
        assert!(ran.err.starts_with("error[output::"), "{}", ran.err);
        assert_eq!(&whole("generated/c/a.c"), text);
    }
    // So was a file where no output is recorded; recorded outputs are cleaned.
    for text in ["", &half(&source, 64)] {
        sandbox.write("generated/c/a.c", text);
        sandbox.run(&["clean"]).success();
        assert!(!sandbox.path("generated").exists());
        sandbox.run(&["build"]).success();
    }
    sandbox.write("generated/c/a.c", "");
    fs::remove_dir_all(sandbox.path(".layoutc")).expect("gone");
    let ran = sandbox.run(&["build"]);
    assert!(ran.err.starts_with("error[output::foreign]: "), "{}", ran.err);
}

#[test]
fn the_process_that_holds_the_lock_is_named() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let lock = fs::File::open(sandbox.path(".layoutc/lock")).expect("there");
    lock.lock().expect("locked");
    // Nothing to do, so the lock is not needed.
    sandbox.run(&["build"]).success();
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    let ran = sandbox.run(&["build", "--no-wait"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.starts_with("error[output::io]: process "), "{}", ran.err);
    assert!(ran.err.contains(" (`layoutc build`) is writing to `generated`\n"), "{}", ran.err);
    lock.unlock().expect("unlocked");
    sandbox.run(&["build", "--no-wait"]).success();
}

#[test]
fn locked_build_refuses_abi_changes_and_shows_both() {
    let sandbox = project();
    let ran = sandbox.run(&["build", "--locked"]);
    assert!(
        ran.err.starts_with("error[output::locked]: `layoutc.lock` does not exist"),
        "{}",
        ran.err
    );
    assert_eq!(sandbox.files("generated"), [""; 0]);
    assert_eq!(sandbox.run(&["lock"]).success(), "written    layoutc.lock: 2 tensors\n");
    assert_eq!(sandbox.run(&["lock"]).success(), "unchanged  layoutc.lock: 2 tensors\n");
    for _ in 0..2 {
        sandbox.run(&["build", "--locked"]).success();
    }
    // Another notation of the same layout is not a change.
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w // 4, h", "w // 2 // 2, h"));
    sandbox.run(&["build", "--locked"]).success();
    let before = sandbox.read("generated/c/a.h");
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    for _ in 0..2 {
        let ran = sandbox.run(&["build", "--locked"]);
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
    assert_eq!(sandbox.read("generated/c/a.h"), before);
    sandbox.run(&["lock"]).success();
    sandbox.run(&["build", "--locked"]).success();
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("tensor t", "tensor u"));
    let ran = sandbox.run(&["build", "--locked"]);
    assert!(ran.err.contains("`u` is not in layoutc.lock"), "{}", ran.err);
    assert!(ran.err.contains("locked tensor `t` of `layouts/a.kdl` does not exist"), "{}", ran.err);
}

#[test]
fn an_edited_or_foreign_lock_file_is_kept() {
    let sandbox = project();
    sandbox.run(&["lock"]).success();
    let original = sandbox.read("layoutc.lock").expect("there");
    let edits = [
        (original.replace(" f32 ", " f64 "), "was edited since layoutc wrote it"),
        (original.clone() + "# a remark\n", "was edited since layoutc wrote it"),
        (original.replacen("layoutc-hash", "hash", 1), "was not written by layoutc"),
        ("mine\n".to_owned(), "was not written by layoutc"),
    ];
    for (text, reason) in edits {
        sandbox.write("layoutc.lock", &text);
        let ran = sandbox.run(&["lock"]);
        assert_eq!(ran.code, Some(1), "{text}");
        assert!(ran.err.contains(reason), "{}", ran.err);
        assert_eq!(sandbox.read("layoutc.lock").as_ref(), Some(&text));
        assert_eq!(
            sandbox.run(&["lock", "--force"]).success(),
            "written    layoutc.lock: 2 tensors\n"
        );
        assert_eq!(sandbox.read("layoutc.lock").as_ref(), Some(&original));
    }
    // An unedited lock file of other layouts is overwritten.
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    assert_eq!(sandbox.run(&["lock"]).success(), "written    layoutc.lock: 2 tensors\n");
    // So is what a power failure may leave.
    sandbox.write("layoutc.lock", "");
    assert_eq!(sandbox.run(&["lock"]).success(), "written    layoutc.lock: 2 tensors\n");
}
