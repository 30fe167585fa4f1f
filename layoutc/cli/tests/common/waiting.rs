//! Waiting for what another process does.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test fails.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// Waits until there is something.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < LONG, "{what} did not come");
        thread::sleep(Duration::from_millis(5));
    }
}
