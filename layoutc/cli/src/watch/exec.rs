//! The command of `--exec`: run after each good build, in a process group of its own, so that all of it can be stopped.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::WatchMessage;

/// How long a command may take to end when it is asked to.
const GRACE: Duration = Duration::from_millis(500);

/// Runs one command again and again, never twice at once.
#[derive(Debug)]
pub(super) struct ExecRunner {
    command: String,
    /// Where its standard output goes: where ours goes, or to standard error.
    output: ExecOutput,
    inbox: SyncSender<WatchMessage>,
    running: Mutex<ExecChild>,
}

/// Where a command prints its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecOutput {
    /// To our standard output.
    Shared,
    /// To standard error: our standard output is for programs.
    Aside,
}

#[derive(Debug, Default)]
struct ExecChild {
    child: Option<Child>,
    /// How many were started.
    number: u64,
}

impl ExecRunner {
    /// Runs `command`; tells `inbox` when one ended by itself.
    pub(super) fn new(
        command: String,
        output: ExecOutput,
        inbox: SyncSender<WatchMessage>,
    ) -> Self {
        Self { command, output, inbox, running: Mutex::default() }
    }

    fn running(&self) -> MutexGuard<'_, ExecChild> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what is still running, and starts the command.
    pub(super) fn restart(&self) -> io::Result<()> {
        let mut running = self.running();
        stop(running.child.take());
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command).stdin(Stdio::null()).process_group(0);
        if self.output == ExecOutput::Aside {
            command.stdout(Stdio::from(io::stderr()));
        }
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        running.child = Some(child);
        running.number += 1;
        let (number, inbox) = (running.number, self.inbox.clone());
        thread::spawn(move || {
            // It is not reaped here: while it is not, nobody else gets its number.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(pid), options).ok().flatten();
            drop(inbox.send(WatchMessage::Ended(number, status.as_ref().and_then(failure))));
        });
        Ok(())
    }

    /// What there is to say of a command that ended: how it failed, if it was not stopped.
    pub(super) fn ended(&self, number: u64, failure: Option<&str>) -> Option<String> {
        let running = self.running();
        let is_current = running.child.is_some() && running.number == number;
        failure.filter(|_| is_current).map(|failure| format!("`{}` {failure}\n", self.command))
    }

    /// Stops what is still running.
    pub(super) fn stop(&self) {
        let mut running = self.running();
        stop(running.child.take());
    }
}

fn failure(status: &WaitIdStatus) -> Option<String> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) | (None, None) => None,
        (Some(code), _) => Some(format!("ended with exit code {code}")),
        (None, Some(signal)) => Some(format!("was ended by signal {signal}")),
    }
}

/// Asks the whole group to end, ends it after a while, and waits for it.
fn stop(child: Option<Child>) {
    let Some(mut child) = child else { return };
    let pid = Pid::from_child(&child);
    // A group of which nothing is left needs no signal.
    let _ = kill_process_group(pid, Signal::TERM);
    let start = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while matches!(waitid(WaitId::Pid(pid), options), Ok(None)) && start.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
    }
    let _ = kill_process_group(pid, Signal::KILL);
    drop(child.wait());
}
