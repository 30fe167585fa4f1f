//! Waiting for another process.

use std::thread;
use std::time::{Duration, Instant};

/// Time limit of any operation.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// Polls until `look` returns a value.
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
