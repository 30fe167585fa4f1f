//! Helper: compiles generated Rust with rustc and runs it.
#![allow(clippy::disallowed_methods, reason = "runs compilers")]

use std::path::Path;
use std::process::Command;

use super::cc::build_and_run;
use layoutc_testing::process::needed_program;

/// Flags of rustc: warnings are errors, and integer overflow in generated code is a panic.
const FLAGS: &[&str] =
    &["--edition", "2021", "-D", "warnings", "-C", "opt-level=0", "-C", "overflow-checks=on"];

/// Compiles `source` to a program in a folder and runs it there; false if there is no rustc.
#[track_caller]
pub fn run(folder: &Path, source: &str) -> bool {
    if needed_program("rustc").is_none() {
        return false;
    }
    let mut command = Command::new("rustc");
    command.args(FLAGS).args(["-o", "rust_program", source]);
    build_and_run(&mut command, folder, "rust_program");
    true
}
