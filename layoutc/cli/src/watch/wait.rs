//! Waiting of the watch loop for an event, then for a time without events.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use super::exec::ExecRunner;
use super::{POLL, QUIET, RESTLESS, WatchLoop, WatchMessage};

impl WatchLoop<'_> {
    /// Waits until the inputs must be read, because of an event or the end of the polling interval, or until the watch
    /// is over.
    pub(super) fn wait(&mut self) {
        loop {
            let message = match &self.eyes {
                Some(_) => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                None => self.inbox.recv_timeout(POLL),
            };
            match message {
                Ok(message) => {
                    if self.matters(message) {
                        return self.settle();
                    }
                }
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => self.is_over = true,
            }
            if self.is_over {
                return;
            }
        }
    }

    /// Waits until no relevant event has arrived for [`QUIET`], but at most for [`RESTLESS`].
    pub(super) fn settle(&mut self) {
        let restless = Instant::now() + RESTLESS;
        let mut quiet = Instant::now() + QUIET;
        loop {
            let now = Instant::now();
            let left = quiet.min(restless).saturating_duration_since(now);
            if left.is_zero() || self.is_over {
                return;
            }
            if let Ok(message) = self.inbox.recv_timeout(left)
                && self.matters(message)
            {
                quiet = Instant::now() + QUIET;
            }
        }
    }

    /// Handles a message to the watch loop. A failed run of `--exec` is reported, and an interrupt ends the watch.
    /// Returns true for an event of the file system that may concern an input; the inputs must then be read again.
    fn matters(&mut self, message: WatchMessage) -> bool {
        match message {
            WatchMessage::Event(event) => {
                self.eyes.as_ref().is_some_and(|eyes| eyes.matters(&event))
            }
            WatchMessage::Ended(number, failure) => {
                let ended = |runner: &Arc<ExecRunner>| runner.ended(number, failure.as_deref());
                if let Some(remark) = self.runner.as_ref().and_then(ended) {
                    self.console.remark(&remark);
                }
                false
            }
            WatchMessage::Interrupt => {
                self.is_over = true;
                false
            }
        }
    }
}
