//! Builds that are killed, starved or disturbed at any moment must leave complete outputs, and the next build must
//! repair the rest.
//!
//! By default, a sample of points is tested. `LAYOUTC_FULL=1` tests every point; with `LAYOUTC_FAULTS_PROJECT=large`,
//! `kill` and `errors` use 1,000 manifests, at points with growing distances:
//!
//! ```text
//! LAYOUTC_FULL=1 LAYOUTC_FAULTS_PROJECT=large cargo nextest run -p layoutc --test faults kill errors
//! ```

#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "what could not be tried is said")]

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
mod watched;
