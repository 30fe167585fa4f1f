//! A watch killed at any of its system calls during a rebuild.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Step, project, wide};
use crate::strace::{self, Fate, each_point};

/// Kills the process traced by strace.
fn end(strace: &mut Child) {
    let number = strace.id();
    let children = fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    let child = children.ok().and_then(|ids| Pid::from_raw(ids.split(' ').next()?.parse().ok()?));
    if let Some(child) = child {
        let _ = kill_process(child, Signal::INT);
    }
}

/// Starts a watch that is killed at this call, edits a manifest, and waits for the rebuild or the kill. Returns true
/// if it was killed.
fn is_killed(step: &Step, at: (&str, u32)) -> bool {
    let scene = step.before.copy();
    scene.write("layouts/a.kdl", crate::scene::BLOCKED);
    let traces = tempfile::tempdir().expect("a folder");
    let to = (&[][..], traces.path().join("trace"));
    let mut watch =
        strace::command(&scene, &["watch"], at, Fate::Kill, to).spawn().expect("strace");
    let mut lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    let first = lines.next();
    scene.write("layouts/a.kdl", wide(12));
    if let Some(first) = first {
        assert!(first.expect("text").starts_with("built in "));
        if let Some(second) = lines.next() {
            let second = second.expect("text");
            assert!(second.starts_with("layouts/a.kdl changed: rebuilt in "), "{second}");
            end(&mut watch);
        }
    }
    let status = watch.wait().expect("it ends");
    let what = format!("a watch killed at {at:?}");
    let is_killed = status.signal() == Some(9);
    assert!(is_killed || status.code() == Some(130), "{what}: {status}");
    step.is_whole(&scene, &what);
    scene.heals(&step.built, &what);
    is_killed
}

#[test]
fn killed_watch_leaves_only_complete_outputs() {
    if !strace::is_there() {
        return;
    }
    let step = Step::rebuild(project());
    let calls = ["write", "fdatasync", "renameat", "unlinkat", "mkdirat", "openat"];
    let hits: u32 = (2..)
        .zip(calls)
        .map(|(salt, call)| each_point(salt, |number| is_killed(&step, (call, number))))
        .sum();
    eprintln!("watch killed at {hits} points");
    assert!(hits > 5, "{hits}");
}
