//! Builds killed at any of their system calls.

use std::path::PathBuf;

use crate::scene::{Scene, Step, project, project_of_data, wide};
use crate::strace::{self, Fate, each_point};
use layoutc_testing::is_full;

/// Calls that leave something behind, and those between which it is left.
const CALLS: [&str; 9] = [
    "write",
    "fdatasync",
    "fsync",
    "renameat",
    "renameat2",
    "unlinkat",
    "mkdirat",
    "openat",
    "ftruncate",
];

/// Kills `step` at every point; `heal` repairs the scene and gets a description of the point.
fn sweep(step: &Step, mut heal: impl FnMut(&Scene, &str)) {
    if !strace::is_there() {
        return;
    }
    let mut hits = 0;
    for (salt, call) in (0..).zip(CALLS) {
        // strace counts calls per thread; the threads that write outputs come second.
        for is_thread in [false, true] {
            if is_thread && !matches!(call, "write" | "openat") {
                continue;
            }
            hits += each_point(salt, |number| {
                let scene = step.before.copy();
                let paths: Vec<PathBuf> =
                    if is_thread { strace::temporary(&scene) } else { Vec::new() };
                let at = (call, number);
                let injected = strace::run(&scene, step.args, at, Fate::Kill, &paths);
                if !injected.is_hit {
                    assert_eq!(injected.ran.code, Some(0), "{}", injected.ran.err);
                    return false;
                }
                let what = format!("{} killed at {call} {number}, {paths:?}", step.name);
                // The killed process may be the sandbox of the templates.
                assert!(injected.signal == Some(9) || injected.ran.code == Some(1), "{what}");
                step.is_whole(&scene, &what);
                heal(&scene, &what);
                true
            });
        }
    }
    eprintln!("{} killed at {hits} points", step.name);
    assert!(hits > 9, "{hits}");
}

#[test]
fn killed_first_build_leaves_only_complete_outputs() {
    let step = Step::first(project());
    sweep(&step, |scene, what| scene.heals(&step.built, what));
}

#[test]
fn killed_rebuild_leaves_only_complete_outputs() {
    let step = Step::next(project());
    sweep(&step, |scene, what| scene.heals(&step.built, what));
}

#[test]
fn killed_clean_leaves_only_complete_outputs() {
    let step = Step::clean(project());
    let mut is_built = false;
    sweep(&step, |scene, what| {
        is_built = !is_built;
        if is_built {
            return scene.heals(&step.built, what);
        }
        assert_eq!(scene.run(&["clean", "-q"]).code, Some(0), "{what}");
        crate::scene::same(&scene.files("generated"), &step.new, what);
        assert!(!scene.path(".layoutc").exists(), "{what}");
    });
}

#[test]
fn a_build_after_a_kill_and_an_edit_repairs_both() {
    for step in [Step::next(project_of_data()), Step::first(project_of_data())] {
        let later = step.before.copy();
        later.write("layouts/a.kdl", wide(20));
        later.run(&["build"]).success();
        let built = later.files("generated");
        sweep(&step, |scene, what| {
            scene.write("layouts/a.kdl", wide(20));
            scene.heals(&built, &format!("{what}, then an edit"));
        });
        if !is_full() {
            break;
        }
    }
}
