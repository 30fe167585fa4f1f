//! A build that is killed, starved, disturbed or lied to at any moment: what it leaves is whole, and the next build
//! heals the rest.
//!
//! The ordinary run takes a sample. `LAYOUTC_FULL=1` takes every point; with it, `LAYOUTC_FAULTS_PROJECT=large` runs
//! the sweeps `kill` and `errors` on 1,000 manifests, at points that lie further and further apart:
//!
//! ```text
//! LAYOUTC_FULL=1 LAYOUTC_FAULTS_PROJECT=large cargo nextest run -p layoutc --test faults kill errors
//! ```

#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "what could not be tried is said")]

mod chance;
mod damage;
mod edits;
mod errors;
mod kill;
mod mounts;
mod odd;
mod pieces;
mod races;
mod scene;
mod signals;
mod strace;
#[path = "../common/waiting.rs"]
mod waiting;
mod watched;
