//! A running `layoutc watch` whose inputs a test changes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::Sandbox;
use layoutc_testing::process::{TIME_LIMIT, wait_for};

pub(crate) struct Watching {
    child: Child,
    lines: Receiver<String>,
    err: Arc<Mutex<String>>,
}

impl Watching {
    /// Starts `layoutc watch` with these arguments in a folder of the sandbox.
    pub(crate) fn start(sandbox: &Sandbox, folder: &str, args: &[&str]) -> Self {
        let mut command = sandbox.command(folder, &["watch"]);
        command.args(args);
        Self::spawn(command)
    }

    /// Starts a command that executes `layoutc watch`.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let err = Arc::new(Mutex::new(String::new()));
        let (mut pipe, all) = (child.stderr.take().expect("a pipe"), Arc::clone(&err));
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(len @ 1..) = pipe.read(&mut part) {
                let text = String::from_utf8_lossy(&part[..len]).into_owned();
                all.lock().expect("no panic").push_str(&text);
            }
        });
        Self { child, lines, err }
    }

    /// Like [`Self::start`], after the first build.
    pub(crate) fn built(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut watching = Self::start(sandbox, ".", args);
        let line = watching.next();
        assert!(line.starts_with("built in "), "{line}\n{}", watching.err());
        watching
    }

    /// Next line of standard output.
    pub(crate) fn next(&mut self) -> String {
        let line = self.lines.recv_timeout(TIME_LIMIT).ok();
        assert!(line.is_some(), "no line came; standard error:\n{}", self.err());
        line.unwrap_or_default()
    }

    /// Next line, which must begin with `start`.
    pub(crate) fn expect(&mut self, start: &str) -> String {
        let line = self.next();
        assert!(line.starts_with(start), "{line}\nis not\n{start}\n{}", self.err());
        line
    }

    /// Waits until standard error contains a text.
    pub(crate) fn wait_for_message(&self, part: &str) {
        wait_for(part, || self.err().contains(part).then_some(()));
    }

    /// Standard error so far.
    pub(crate) fn err(&self) -> String {
        self.err.lock().expect("no panic").clone()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Interrupts the watch as Ctrl-C does; returns the exit code and the time it took.
    pub(crate) fn interrupt(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
        let code =
            wait_for("its end", || self.child.try_wait().expect("a child").map(|s| s.code()));
        (code, start.elapsed())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Fails if it was interrupted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
