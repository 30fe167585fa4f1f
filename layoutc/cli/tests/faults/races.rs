//! Concurrent builds, and builds whose files are removed concurrently.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{Scene, Step, edit, finished, project, same, wide};
use crate::strace::{self, Fate};
use layoutc_testing::is_full;
use layoutc_testing::process::{Finished, wait_for};

fn start(scene: &Scene, args: &[&str]) -> Child {
    let mut command = scene.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn end(child: Child) -> Finished {
    finished(&child.wait_with_output().expect("it ends"))
}

#[test]
fn fifty_concurrent_builds_give_one_result() {
    let scene = project();
    let states: [(&str, &dyn Fn()); 3] =
        [("cold", &|| ()), ("warm", &|| ()), ("edited", &|| edit(&scene))];
    for (state, prepare) in states {
        prepare();
        let fresh =
            scene.copy_but(&[".layoutc", "generated/c/a", "generated/c/b", "generated/c/x"]);
        fresh.run(&["build"]).success();
        let children: Vec<Child> = (0..50).map(|_| start(&scene, &["build", "-q"])).collect();
        for child in children {
            let ran = end(child);
            let err =
                ran.err.lines().filter(|l| !l.starts_with("waiting for ")).collect::<String>();
            assert_eq!((ran.code, err.as_str()), (Some(0), ""), "{state}");
        }
        same(&scene.files("generated"), &fresh.files("generated"), state);
        scene.heals(&fresh.files("generated"), state);
    }
}

#[test]
fn builds_concurrent_with_a_watch_give_its_outputs() {
    let scene = project();
    scene.run(&["build"]).success();
    let mut watch = start(&scene, &["watch"]);
    let mut lines = BufReader::new(watch.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    let (mut seen, rounds) = (0, if is_full() { 40 } else { 8 });
    for round in 1..=rounds {
        scene.write("layouts/a.kdl", wide(8 + 4 * round));
        let ran = scene.run(&["build", "-q"]);
        assert_eq!(ran.code, Some(0), "{round}: {}", ran.err);
        scene.run(&["build", "--check", "-q"]).success();
        seen = round;
    }
    // The watch reaches the same result.
    thread::sleep(Duration::from_millis(300));
    scene.run(&["build", "--check", "-q"]).success();
    kill_process(Pid::from_child(&watch), Signal::INT).expect("it runs");
    assert_eq!(end(watch).code, Some(130), "{seen}");
}

/// A build stopped after it renamed its first output, while it holds the lock.
struct Stopped {
    strace: Option<Child>,
    holder: Pid,
}

impl Stopped {
    fn start(step: &Step, scene: &Scene) -> Option<Self> {
        if !strace::is_there() {
            return None;
        }
        let traces = tempfile::tempdir().expect("a folder");
        let trace = traces.path().join("trace");
        let at = ("renameat,renameat2", 1);
        let there = (&[scene.path(".layoutc/tmp")][..], trace.clone());
        let child =
            strace::command(scene, step.args, at, Fate::Stop, there).spawn().expect("strace");
        let holder = wait_for("the stop", || {
            let text = fs::read_to_string(&trace).ok()?;
            let line = text.lines().find(|line| line.contains("stopped by SIGSTOP"))?;
            // The line has the thread id.
            let thread = format!("/proc/{}/status", line.split(' ').next()?);
            let status = fs::read_to_string(thread).ok()?;
            let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
            Pid::from_raw(process.trim().parse().ok()?)
        });
        Some(Self { strace: Some(child), holder })
    }

    /// Resumes the build and waits for its end.
    fn end(mut self) -> Finished {
        let mut strace = self.strace.take().expect("once");
        wait_for("the end", || {
            // strace may miss the signal while it handles another thread.
            let _ = kill_process(self.holder, Signal::CONT);
            thread::sleep(Duration::from_millis(30));
            strace.try_wait().expect("a child")
        });
        end(strace)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(strace) = &mut self.strace {
            let _ = kill_process(self.holder, Signal::KILL);
            drop(strace.wait());
        }
    }
}

#[test]
fn stopped_build_is_waited_for_or_given_up() {
    let step = Step::next(project());
    let scene = step.before.copy();
    let Some(stopped) = Stopped::start(&step, &scene) else { return };
    let name = format!("process {} (`layoutc build`)", stopped.holder.as_raw_nonzero());
    let ran = scene.run(&["build", "--no-wait"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains(&format!("{name} is writing to ")), "{}", ran.err);
    let waiting = start(&scene, &["build"]);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(stopped.end().code, Some(0));
    let ran = end(waiting);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.err.starts_with(&format!("waiting for {name}, which is writing to ")),
        "{}",
        ran.err
    );
    same(&scene.files("generated"), &step.new, "both");
    scene.heals(&step.built, "both");
}

#[test]
fn removing_a_held_lock_or_state_loses_no_output() {
    let step = Step::next(project());
    for removed in [".layoutc/lock", ".layoutc"] {
        let scene = step.before.copy();
        let Some(stopped) = Stopped::start(&step, &scene) else { return };
        scene.remove(removed);
        let ran = scene.run(&["build", "-q"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{removed}");
        let ran = stopped.end();
        assert!(matches!(ran.code, Some(0 | 3)), "{removed}: {:?} {}", ran.code, ran.err);
        step.is_whole(&scene, removed);
        scene.heals(&step.built, removed);
    }
}

#[test]
fn repeated_removal_of_the_state_folder_fails_no_build() {
    let step = Step::next(project());
    let scene = step.before.copy();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                drop(fs::remove_dir_all(scene.path(".layoutc")));
                thread::sleep(Duration::from_micros(700));
            }
        });
        for round in 0..if is_full() { 150 } else { 40 } {
            scene.write("layouts/a.kdl", wide(if round % 2 == 0 { 12 } else { 8 }));
            let ran = scene.run(&["build", "-q"]);
            if !matches!(ran.code, Some(0 | 3)) {
                is_over.store(true, Ordering::SeqCst);
            }
            assert!(matches!(ran.code, Some(0 | 3)), "{round}: {:?} {}", ran.code, ran.err);
        }
        is_over.store(true, Ordering::SeqCst);
    });
    scene.write("layouts/a.kdl", wide(12));
    scene.heals(&step.built, "removed again and again");
}

/// A `clean` removes the state folder in which a build is waiting: the build creates it again and succeeds.
#[test]
fn builds_concurrent_with_a_clean_succeed() {
    let scene = project();
    for round in 0..if is_full() { 80 } else { 25 } {
        let build = || start(&scene, &["build", "-q"]);
        let children = [build(), start(&scene, &["clean", "-q"]), build(), build()];
        for child in children {
            let ran = end(child);
            let err: String = ran.err.lines().filter(|l| !l.starts_with("waiting for ")).collect();
            assert_eq!((ran.code, err.as_str()), (Some(0), ""), "{round}");
        }
    }
    let fresh = scene.copy_but(&[".layoutc", "generated/c/a", "generated/c/b", "generated/c/x"]);
    fresh.run(&["build"]).success();
    scene.heals(&fresh.files("generated"), "beside a clean");
}

#[test]
fn folder_swapped_with_a_link_never_escapes_the_project() {
    for flipped in ["generated", "generated/c", "generated/c/x"] {
        let scene = project();
        scene.run(&["build"]).success();
        let outside = Scene::new(&[("a.h", "mine\n"), ("c/a.h", "mine\n"), ("x/c.h", "mine\n")]);
        let before = outside.files("");
        let (here, aside) = (scene.path(flipped), scene.path("aside"));
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    drop(fs::rename(&here, &aside));
                    drop(symlink(outside.path(""), &here));
                    thread::sleep(Duration::from_micros(300));
                    drop(fs::remove_file(&here));
                    // A build may have created the folder meanwhile.
                    drop(fs::remove_dir_all(&here));
                    drop(fs::rename(&aside, &here));
                    thread::sleep(Duration::from_micros(300));
                }
            });
            for round in 0..if is_full() { 120 } else { 30 } {
                scene.write("layouts/a.kdl", wide(8 + 4 * (round % 3)));
                scene.write("layouts/x/c.kdl", wide(8 + 4 * (round % 2)));
                let args: &[&str] =
                    if round % 10 == 9 { &["clean", "-q"] } else { &["build", "-q"] };
                let ran = scene.run(args);
                if !matches!(ran.code, Some(0 | 1 | 3)) {
                    is_over.store(true, Ordering::SeqCst);
                }
                assert!(matches!(ran.code, Some(0 | 1 | 3)), "{round}: {:?} {}", ran.code, ran.err);
            }
            is_over.store(true, Ordering::SeqCst);
        });
        assert_eq!(outside.files(""), before, "{flipped}");
    }
}
