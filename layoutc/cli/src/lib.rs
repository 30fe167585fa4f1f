//! layoutc: layout manifests in, proven layouts and generated source out.
//!
//! The binaries, and [`build()`] for the build scripts of Rust projects. All input and output is here: arguments,
//! files, the terminal. Layouts are the compiler's part.

#![allow(missing_docs, reason = "a binary")]

mod args;
mod array;
mod atomic_write;
mod build;
mod build_script;
mod check_session;
mod code_pages;
mod command;
mod command_error;
mod compiled_program;
mod console;
mod exit_code;
mod interrupt;
mod lsp;
mod mdbook;
mod output;
mod paths;
mod progress;
mod project;
mod report;
mod state;
mod template_sandbox;
mod watch;

use std::process::ExitCode;

pub use build_script::{BuildFailure, GeneratedFiles, build};

/// Entry point of the binary `layoutc`.
pub fn run() -> ExitCode {
    template_sandbox::enter();
    interrupt::ignore_sigxfsz();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}

/// Entry point of the binary `mdbook-layoutc`, an mdBook preprocessor.
pub fn run_mdbook() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    mdbook::run(&args)
}
