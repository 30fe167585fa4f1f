//! Command of `--exec`, which runs after each successful build. It has a process group of its own, so that all of its
//! processes can be stopped.

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

/// Time that the command has to end after SIGTERM before it is sent SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// Runner of the command of `--exec`. At most one process group of that command runs at a time.
#[derive(Debug)]
pub(super) struct ExecRunner {
    command: String,
    output: ExecOutput,
    inbox: SyncSender<WatchMessage>,
    running: Mutex<ExecChild>,
}

/// Destination of the standard output of the command of `--exec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExecOutput {
    /// Standard output of layoutc.
    Shared,
    /// Standard error of layoutc, if its standard output carries JSON.
    Aside,
}

#[derive(Debug, Default)]
struct ExecChild {
    child: Option<Child>,
    /// Number of times that the command of `--exec` was started. It is also the number of the latest run.
    number: u64,
}

impl ExecRunner {
    /// Runner of the shell command `command`, whose standard output goes to `output`. It sends [`WatchMessage::Ended`]
    /// to `inbox` when a run of the command ends.
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

    /// Stops the command if it is running, and starts it again.
    ///
    /// # Errors
    /// An error of the system if the shell `sh` cannot be started.
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
            // Not reaped here: until `stop` reaps it, its process id cannot be reused.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(pid), options).ok().flatten();
            drop(inbox.send(WatchMessage::Ended(number, status.as_ref().and_then(failure))));
        });
        Ok(())
    }

    /// Message about the failure of the run `number` of the command, where `failure` is the reason. `None` in three
    /// cases: `failure` is `None` because the run succeeded, the run was stopped, or a later run has replaced it.
    pub(super) fn ended(&self, number: u64, failure: Option<&str>) -> Option<String> {
        let running = self.running();
        let is_current = running.child.is_some() && running.number == number;
        failure.filter(|_| is_current).map(|failure| format!("`{}` {failure}\n", self.command))
    }

    /// Stops the command if it is running.
    pub(super) fn stop(&self) {
        let mut running = self.running();
        stop(running.child.take());
    }
}

fn failure(status: &WaitIdStatus) -> Option<String> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) | (None, None) => None,
        (Some(code), _) => Some(format!("ended with exit code {code}")),
        (None, Some(signal)) => Some(format!("was terminated by signal {signal}")),
    }
}

/// Sends SIGTERM to the process group of `child`, the shell of the command, and waits for the end of the shell, at most
/// for [`GRACE`]. Then sends SIGKILL to the processes of the group that are left, and reaps the child process.
fn stop(child: Option<Child>) {
    let Some(mut child) = child else { return };
    let pid = Pid::from_child(&child);
    // Fails only if the group is empty.
    let _ = kill_process_group(pid, Signal::TERM);
    let start = Instant::now();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while matches!(waitid(WaitId::Pid(pid), options), Ok(None)) && start.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(2));
    }
    let _ = kill_process_group(pid, Signal::KILL);
    drop(child.wait());
}
