//! Extent of the tests: the environment variables that they read.

use std::env;
use std::time::SystemTime;

/// True if `LAYOUTC_FULL=1` requests the long campaigns.
pub fn is_full() -> bool {
    env::var("LAYOUTC_FULL").is_ok_and(|value| value == "1")
}

/// Number of cases to test: `full` in the long campaigns, else `ordinary`.
pub fn cases<N>(ordinary: N, full: N) -> N {
    if is_full() { full } else { ordinary }
}

/// Number in an environment variable; `None` if it is not set.
pub fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

/// Seed in `LAYOUTC_SEED`, else one per day, so that the days add up.
pub fn seed() -> u64 {
    let today = || {
        let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        elapsed.map_or(1, |elapsed| elapsed.as_secs() / 86_400)
    };
    number("LAYOUTC_SEED").unwrap_or_else(today)
}

/// True if a tool that a test needs is available. Without it the test is skipped, with a line on standard error; on CI
/// (`CI=true`) it fails.
pub fn is_available(found: bool, tool: &str) -> bool {
    let is_ci = env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !is_ci, "{tool} is missing");
    if !found {
        eprintln!("skipped: {tool} is missing");
    }
    found
}
