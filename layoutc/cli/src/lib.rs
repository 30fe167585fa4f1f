//! Command line of layoutc, which turns layout manifests into proven layouts and generated source.
//!
//! The library offers [`build()`] to the build scripts of Rust projects, and contains the binary with the
//! feature `cli`. All input and output is here (arguments, files, the terminal); the compiler checks layouts
//! and generates source.

#![allow(missing_docs, reason = "a binary")]
#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, reason = "the command line uses the rest")
)]

#[cfg(feature = "cli")]
mod args;
#[cfg(feature = "cli")]
mod array;
#[cfg(feature = "cli")]
mod atomic_write;
mod build;
mod build_script;
#[cfg(feature = "cli")]
mod check_session;
#[cfg(feature = "cli")]
mod code_pages;
#[cfg(feature = "cli")]
mod command;
mod command_error;
#[cfg(feature = "cli")]
mod compiled_program;
mod console;
#[cfg(feature = "cli")]
mod exit_code;
mod interrupt;
#[cfg(feature = "cli")]
mod lsp;
mod output;
mod paths;
mod progress;
mod project;
mod report;
mod state;
mod template_sandbox;
#[cfg(feature = "cli")]
mod watch;

use std::process::ExitCode;

pub use build_script::{BuildFailure, GeneratedFiles, build};
pub use command_error::os_error_text;
pub use console::write_plainly;
pub use report::human::render as render_diagnostic;
pub use report::{DiagnosticSource, escape};

/// Entry point of the binary `layoutc`: parses the arguments of the process, runs the command, and returns its exit
/// code.
#[cfg(feature = "cli")]
pub fn run() -> ExitCode {
    template_sandbox::enter();
    interrupt::ignore_sigxfsz();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}
