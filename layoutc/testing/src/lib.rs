//! Helpers that the tests of several crates share: random numbers and layouts, the number of test cases, recorded
//! texts, folders, processes. The crate depends on no crate of this workspace, so that all of them can use it in unit
//! tests.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on fails"
)]

pub mod campaign;
pub mod files;
pub mod hostile;
pub mod layouts;
pub mod process;
pub mod random;
pub mod recorded;

pub use campaign::{cases, is_full};
pub use random::Random;
