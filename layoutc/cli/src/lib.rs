//! layoutc: layout manifests in, proven layouts and generated source out.
//!
//! [`build()`] for the build scripts of Rust projects, and by the feature `cli` the binaries. All input and output is
//! here: arguments, files, the terminal. Layouts are the compiler's part.

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
#[cfg(feature = "cli")]
mod mdbook;
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

/// Entry point of the binary `layoutc`.
#[cfg(feature = "cli")]
pub fn run() -> ExitCode {
    template_sandbox::enter();
    interrupt::ignore_sigxfsz();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}

/// Entry point of the binary `mdbook-layoutc`, an mdBook preprocessor.
#[cfg(feature = "cli")]
pub fn run_mdbook() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    mdbook::run(&args)
}
