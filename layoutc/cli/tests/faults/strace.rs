//! A command whose system calls are made to fail, or are its last.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::scene::{Ran, Scene, binary, is_full, is_large};

/// How long a run under strace may take.
fn long() -> Duration {
    Duration::from_mins(if is_large() { 10 } else { 1 })
}

/// What happens to a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate<'a> {
    /// It is the last.
    Kill,
    /// It is the last until the process is told to go on.
    Stop,
    /// It fails with this error.
    Error(&'a str),
    /// It fails with this error, and so does every later one.
    ErrorEver(&'a str),
    /// It says that it did so much.
    Returns(u32),
}

/// What became of a run.
#[derive(Debug)]
pub(crate) struct Injected {
    pub(crate) ran: Ran,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// Whether the run came to the call at all.
    pub(crate) is_hit: bool,
}

/// Whether there is an strace that may trace; on CI there must be one.
pub(crate) fn is_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let tried = Command::new("strace").args(["-o", "/dev/fd/2", "-f", "true"]).output();
        let is_there = tried.is_ok_and(|output| output.status.success());
        if !is_there {
            assert!(std::env::var_os("CI").is_none(), "strace is needed here, and may not trace");
            eprintln!("not tried: strace is not there, or may not trace");
        }
        is_there
    })
}

/// An strace of `layoutc` whose `number`th call of `call` about one of `paths` (none: about anything) has this fate;
/// what it sees goes to the file `trace`.
pub(crate) fn command(
    scene: &Scene,
    args: &[&str],
    (call, number): (&str, u32),
    fate: Fate<'_>,
    (paths, trace): (&[PathBuf], PathBuf),
) -> Command {
    let fate = match fate {
        Fate::Kill => format!("signal=SIGKILL:when={number}"),
        Fate::Stop => format!("signal=SIGSTOP:when={number}"),
        Fate::Error(error) => format!("error={error}:when={number}"),
        Fate::ErrorEver(error) => format!("error={error}:when={number}+"),
        Fate::Returns(count) => format!("retval={count}:when={number}"),
    };
    let mut command = Command::new("strace");
    command.current_dir(scene.path("")).args(["-f", "-q", "-o"]).arg(trace);
    command.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fate}")]);
    for path in paths {
        command.arg("-P").arg(path);
    }
    command.arg(binary()).args(args);
    // One thread does what several would, at the same calls in each run.
    command.env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it to its end.
pub(crate) fn run(
    scene: &Scene,
    args: &[&str],
    at: (&str, u32),
    fate: Fate<'_>,
    paths: &[PathBuf],
) -> Injected {
    let traces = tempfile::tempdir().expect("a folder");
    let trace = traces.path().join("trace");
    // To files: who does not read a pipe stops who writes to it.
    let said = ["out", "err"].map(|name| traces.path().join(name));
    let [out, err] = said.each_ref().map(|path| File::create(path).expect("a file"));
    let mut command = command(scene, args, at, fate, (paths, trace.clone()));
    let mut child = command.stdout(out).stderr(err).spawn().expect("strace starts");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > long() {
            drop(child.kill());
            assert!(start.elapsed() <= long(), "{at:?} {fate:?}: it hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let status = child.wait().expect("it ended");
    let [stdout, stderr] = said.map(|path| fs::read(path).expect("what it said"));
    let output = Output { status, stdout, stderr };
    let trace = fs::read_to_string(trace).unwrap_or_default();
    let is_hit = trace.contains("(INJECTED)") || trace.contains("killed by SIGKILL");
    Injected { ran: Ran::of(&output), signal: output.status.signal(), is_hit }
}

/// The paths that a build of a scene is about, down to its temporary files.
pub(crate) fn paths(scene: &Scene) -> Vec<PathBuf> {
    // Of the many manifests of a large project it is enough to know the folder.
    let names = scene.files("").into_keys().filter(|path| !path.contains("/more/m"));
    let mut paths: Vec<PathBuf> =
        names.map(|path| scene.path(path.trim_end_matches('/'))).collect();
    paths.extend([
        scene.path(""),
        scene.path(".layoutc"),
        scene.path(".layoutc/lock"),
        scene.path(".layoutc/log"),
        scene.path(".layoutc/log.new"),
        scene.path(".layoutc/memo"),
        scene.path(".layoutc/memo.new"),
        scene.path("generated/c"),
        scene.path("generated/c/x"),
        scene.path("generated/json"),
    ]);
    paths.extend(temporary(scene));
    paths
}

/// The temporary files of a build.
pub(crate) fn temporary(scene: &Scene) -> Vec<PathBuf> {
    let names = (0..24).map(|k| scene.path(&format!(".layoutc/tmp/{k}")));
    names.chain([scene.path(".layoutc/tmp")]).collect()
}

/// Tries `attempt` on the first call, the second and so on, until it says that there was none; how often it was hit.
/// A sample of them where not all are asked for: `salt` says which.
pub(crate) fn each_point(salt: u32, mut attempt: impl FnMut(u32) -> bool) -> u32 {
    let (mut number, mut hits) = (if is_full() { 1 } else { 1 + salt % 4 }, 0);
    while attempt(number) {
        hits += 1;
        number += match () {
            () if is_large() => 1 + number / 3,
            () if is_full() => 1,
            () => 13,
        };
    }
    hits
}
