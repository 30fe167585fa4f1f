//! Commands with failing or fatal system calls.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::scene::{Scene, binary, finished, is_large};
use layoutc_testing::campaign::is_available;
use layoutc_testing::is_full;
use layoutc_testing::process::Finished;

/// Time limit of a run under strace.
fn long() -> Duration {
    Duration::from_mins(if is_large() { 10 } else { 1 })
}

/// Injected result of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate<'a> {
    /// The process is killed.
    Kill,
    /// The process is stopped.
    Stop,
    /// The call fails with this error.
    Error(&'a str),
    /// This and all later calls fail with this error.
    ErrorEver(&'a str),
    /// The call returns this value without doing anything.
    Returns(u32),
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Injected {
    pub(crate) ran: Finished,
    /// Signal that ended the run.
    pub(crate) signal: Option<i32>,
    /// True if the call was reached.
    pub(crate) is_hit: bool,
}

/// True if strace is available and may trace; required on CI.
pub(crate) fn is_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let tried = Command::new("strace").args(["-o", "/dev/fd/2", "-f", "true"]).output();
        is_available(tried.is_ok_and(|output| output.status.success()), "strace that may trace")
    })
}

/// strace of `layoutc` that injects `fate` into the `number`th `call` about one of `paths` (empty: any path) and
/// writes to the file `trace`.
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
    // A single thread makes the order of calls reproducible.
    command.env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command to its end.
pub(crate) fn run(
    scene: &Scene,
    args: &[&str],
    at: (&str, u32),
    fate: Fate<'_>,
    paths: &[PathBuf],
) -> Injected {
    let traces = tempfile::tempdir().expect("a folder");
    let trace = traces.path().join("trace");
    // To files: a full pipe would block the process.
    let output_paths = ["out", "err"].map(|name| traces.path().join(name));
    let [out, err] = output_paths.each_ref().map(|path| File::create(path).expect("a file"));
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
    let [stdout, stderr] = output_paths.map(|path| fs::read(path).expect("what it said"));
    let output = Output { status, stdout, stderr };
    let trace = fs::read_to_string(trace).unwrap_or_default();
    let is_hit = trace.contains("(INJECTED)") || trace.contains("killed by SIGKILL");
    Injected { ran: finished(&output), signal: output.status.signal(), is_hit }
}

/// Paths that a build of a scene may access, including temporary files.
pub(crate) fn paths(scene: &Scene) -> Vec<PathBuf> {
    // For a large project, the folder of its many manifests suffices.
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

/// Temporary files of a build.
pub(crate) fn temporary(scene: &Scene) -> Vec<PathBuf> {
    let names = (0..24).map(|k| scene.path(&format!(".layoutc/tmp/{k}")));
    names.chain([scene.path(".layoutc/tmp")]).collect()
}

/// Calls `attempt` with the numbers of calls from 1 on until it returns false; returns the number of hits. Samples by
/// `salt`: every second call in a full run.
pub(crate) fn each_point(salt: u32, mut attempt: impl FnMut(u32) -> bool) -> u32 {
    let (mut number, mut hits) = (1 + salt % if is_full() { 2 } else { 4 }, 0);
    while attempt(number) {
        hits += 1;
        number += match () {
            () if is_large() => 1 + number / 3,
            () if is_full() => 2,
            () => 13,
        };
    }
    hits
}
