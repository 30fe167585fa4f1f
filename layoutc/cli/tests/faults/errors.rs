//! Failing system calls: the disk is full, broken, read-only or forbidden; memory or file handles are exhausted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::scene::{Scene, Step, project, project_of_data, same};
use crate::strace::{self, Fate, Injected, each_point};
use layoutc_testing::campaign::seed;
use layoutc_testing::is_full;

/// Calls, and the errors they may return.
const FAILING: [(&str, &[&str]); 15] = [
    ("openat", &["EACCES", "EMFILE", "ENOMEM", "EIO", "ENOSPC", "EROFS", "EDQUOT"]),
    ("open", &["EACCES", "EMFILE", "EIO"]),
    ("read", &["EIO", "ENOMEM"]),
    ("write", &["ENOSPC", "EDQUOT", "EIO"]),
    ("fdatasync", &["EIO", "ENOSPC", "EROFS"]),
    ("fsync", &["EIO", "ENOSPC"]),
    ("ftruncate", &["EIO", "EROFS"]),
    ("close", &["EIO", "EINTR"]),
    ("statx", &["EIO", "ENOMEM"]),
    ("newfstatat", &["EIO", "EACCES", "ENOMEM"]),
    ("fstat", &["EIO", "ENOMEM"]),
    ("getdents64", &["EIO", "EACCES"]),
    ("mkdirat", &["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO"]),
    ("renameat", &["ENOSPC", "EIO", "EROFS", "EACCES"]),
    ("unlinkat", &["EIO", "EROFS", "EACCES"]),
];

/// Errors that must not make a build fail.
const HARMLESS: [(&str, &[&str]); 10] = [
    ("openat", &["EINTR"]),
    ("read", &["EINTR"]),
    ("write", &["EINTR"]),
    ("fdatasync", &["EINTR"]),
    ("ftruncate", &["EINTR"]),
    ("renameat", &["EINTR"]),
    ("renameat2", &["EINTR", "ENOSYS", "EINVAL"]),
    ("unlinkat", &["EINTR"]),
    ("mkdirat", &["EINTR"]),
    ("flock", &["EINTR", "ENOLCK", "ENOSYS", "EOPNOTSUPP"]),
];

/// True if all outputs are as before, or all are as after.
fn is_one_of_both(step: &Step, scene: &Scene) -> bool {
    let found = scene.files("generated");
    let of = |files: &crate::scene::Files| -> BTreeMap<String, Vec<u8>> {
        files
            .iter()
            .filter(|(p, _)| !p.ends_with('/'))
            .map(|(p, t)| (p.clone(), t.clone()))
            .collect()
    };
    of(&found) == of(&step.old) || of(&found) == of(&step.new)
}

/// Checks that hold for every run with failing calls.
fn is_orderly(injected: &Injected, what: &str) {
    let Injected { ran, signal, .. } = injected;
    assert_eq!(*signal, None, "{what}: {}", ran.err);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{what}: {:?}\n{}", ran.code, ran.err);
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
    if ran.code == Some(3) {
        assert!(ran.err.starts_with("error[output::io]: cannot "), "{what}: {}", ran.err);
        assert!(ran.err.matches('`').count() >= 2, "{what} names no file: {}", ran.err);
    } else if ran.code == Some(1) {
        assert!(ran.err.starts_with("error["), "{what}: {}", ran.err);
    }
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none() && !path.ends_with("log") && !path.ends_with("memo")
}

/// Injects `faults` at all points of a step, the errors of each call in turn; returns the counts by exit code.
fn sweep(
    step: &Step,
    faults: &[(&str, &[&str])],
    forever: bool,
    check: impl Fn(&Injected, &Scene, &str),
) -> BTreeMap<Option<i32>, u32> {
    sweep_at(step, faults, forever, strace::paths, check)
}

/// Like [`sweep`], for calls about some paths.
fn sweep_at(
    step: &Step,
    faults: &[(&str, &[&str])],
    forever: bool,
    paths: impl Fn(&Scene) -> Vec<PathBuf>,
    check: impl Fn(&Injected, &Scene, &str),
) -> BTreeMap<Option<i32>, u32> {
    let mut codes = BTreeMap::new();
    if !strace::is_there() {
        return codes;
    }
    for (salt, (call, errors)) in (0..).zip(faults) {
        // One error per point, another one tomorrow.
        let first = usize::try_from(seed()).expect("64 bits");
        each_point(salt, |number| {
            let error = errors[(first + usize::try_from(number).expect("few")) % errors.len()];
            let scene = step.before.copy();
            let fate = if forever { Fate::ErrorEver(error) } else { Fate::Error(error) };
            let mut paths = paths(&scene);
            // Within one folder, nothing is across devices.
            paths.retain(|path| error != "EXDEV" || path.ends_with(".layoutc/tmp"));
            // The standard library panics if closing a folder fails; no file system does that.
            paths.retain(|path| *call != "close" || !is_folder(path));
            let injected = strace::run(&scene, step.args, (call, number), fate, &paths);
            if !injected.is_hit {
                return false;
            }
            let what = format!("{}, {error} at {call} {number}", step.name);
            is_orderly(&injected, &what);
            step.is_whole(&scene, &what);
            check(&injected, &scene, &what);
            *codes.entry(injected.ran.code).or_default() += 1;
            true
        });
    }
    eprintln!("{}: runs with a failing call by exit code: {codes:?}", step.name);
    codes
}

fn fails_and_heals(step: &Step) {
    sweep(step, &FAILING, false, |injected, scene, what| {
        if injected.ran.code == Some(1) {
            eprintln!("{what}: {}", injected.ran.err.lines().next().unwrap_or_default());
        }
        assert!(
            step.args == ["clean"]
                || is_one_of_both(step, scene)
                || what.contains(" renameat")
                || what.contains(" unlinkat")
                || what.contains(" openat")
                || what.contains(" open "),
            "{what}: torn apart"
        );
        scene.heals(&step.built, what);
    });
}

#[test]
fn failing_system_calls_of_a_first_build_are_recoverable() {
    fails_and_heals(&Step::first(project()));
}

#[test]
fn failing_system_calls_of_a_rebuild_are_recoverable() {
    fails_and_heals(&Step::next(project()));
}

#[test]
fn failing_system_calls_of_a_clean_are_recoverable() {
    fails_and_heals(&Step::clean(project()));
}

#[test]
fn full_disk_keeps_the_old_outputs() {
    let faults: [(&str, &[&str]); 2] = [("write", &["ENOSPC"]), ("mkdirat", &["EDQUOT"])];
    for step in [Step::first(project()), Step::next(project())] {
        sweep(&step, &faults, true, |injected, scene, what| {
            assert_ne!(injected.ran.code, Some(1), "{what}");
            assert!(is_one_of_both(&step, scene), "{what}");
            scene.heals(&step.built, what);
        });
    }
}

/// The step succeeds without output, whichever of its calls fails.
fn does_no_harm(step: &Step, faults: &[(&str, &[&str])], is_forever: bool) {
    sweep(step, faults, is_forever, |injected, scene, what| {
        assert_eq!((injected.ran.code, injected.ran.err.as_str()), (Some(0), ""), "{what}");
        same(&scene.files("generated"), &step.new, what);
        scene.heals(&step.built, what);
    });
}

#[test]
fn retryable_and_optional_errors_are_not_reported() {
    for step in [Step::next(project()), Step::first(project_of_data())] {
        does_no_harm(&step, &HARMLESS, false);
        if !is_full() {
            break;
        }
    }
}

#[test]
fn temporarily_unreadable_log_is_preserved() {
    // Only the log identifies outputs without comments.
    let step = Step::next(project_of_data());
    let faults: [(&str, &[&str]); 3] =
        [("openat", &["EMFILE"]), ("read", &["EIO"]), ("statx", &["EIO"])];
    let log = |scene: &Scene| vec![scene.path(".layoutc"), scene.path(".layoutc/log")];
    sweep_at(&step, &faults, false, log, |_, scene, what| scene.heals(&step.built, what));
}

#[test]
fn cross_mount_outputs_are_written_next_to_their_target() {
    let faults: [(&str, &[&str]); 2] = [("renameat", &["EXDEV"]), ("renameat2", &["EXDEV"])];
    for step in [Step::next(project()), Step::first(project())] {
        for is_forever in [false, true] {
            does_no_harm(&step, &faults, is_forever);
        }
        if !is_full() {
            break;
        }
    }
}

#[test]
fn a_lost_write_is_found_by_the_next_build() {
    // strace reports that one byte was written, which was not, as with a bad disk. The build cannot know, but its
    // stored state must not hide the missing byte.
    let step = Step::next(project());
    if !strace::is_there() {
        return;
    }
    each_point(1, |number| {
        let scene = step.before.copy();
        let paths = [".layoutc/log", ".layoutc/log.new", ".layoutc/memo", ".layoutc/memo.new"];
        let paths = paths.map(|path| scene.path(path));
        let at = ("write", number);
        let injected = strace::run(&scene, step.args, at, Fate::Returns(1), &paths);
        if injected.is_hit {
            let what = format!("byte lost at write {number}");
            is_orderly(&injected, &what);
            scene.heals(&step.built, &what);
        }
        injected.is_hit
    });
}
