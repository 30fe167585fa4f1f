//! Environment variables that set the number of test cases, the random seed, and the treatment of missing tools.

use std::env;
use std::time::SystemTime;

/// True if the environment variable `LAYOUTC_FULL` is `1`, which requests the long test campaigns with more random
/// cases.
pub fn is_full() -> bool {
    env::var("LAYOUTC_FULL").is_ok_and(|value| value == "1")
}

/// Number of cases that a test runs: `full` in the long test campaigns ([`is_full`]), else `ordinary`.
pub fn cases<N>(ordinary: N, full: N) -> N {
    if is_full() { full } else { ordinary }
}

/// Value of the environment variable `variable` as a number, `None` if the variable is not set. Panics if the value is
/// not an integer from 0 to 2^64 - 1.
pub fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number")))
}

/// Seed of random tests: the number in `LAYOUTC_SEED`, else the number of days since 1970, so that the tests of several
/// days cover more.
pub fn seed() -> u64 {
    let today = || {
        let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        elapsed.map_or(1, |elapsed| elapsed.as_secs() / 86_400)
    };
    number("LAYOUTC_SEED").unwrap_or_else(today)
}

/// Returns `found`, which is true if the tool `tool` is available. If it is false, prints that the test is skipped, or
/// panics on CI (`CI=true`).
pub fn is_available(found: bool, tool: &str) -> bool {
    let is_ci = env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !is_ci, "{tool} is missing");
    if !found {
        eprintln!("skipped: {tool} is missing");
    }
    found
}
