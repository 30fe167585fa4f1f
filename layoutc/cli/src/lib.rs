//! layoutc: layout manifests in, proven layouts and generated source out.
//!
//! The binaries, and [`build()`] for the build scripts of Rust projects. This crate holds all that touches the machine:
//! arguments, files, the terminal. What a layout means is the compiler's.

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
mod interrupt;
mod lsp;
mod mdbook;
mod output;
mod progress;
mod project;
mod report;
mod state;
mod template_sandbox;
mod watch;

use std::process::ExitCode;

pub use build_script::{BuildFailure, GeneratedFiles, build};

/// What the binary does: the command that was typed.
pub fn run() -> ExitCode {
    template_sandbox::enter();
    interrupt::ignore_sigxfsz();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}

/// What the binary `mdbook-layoutc` does: a step of mdBook, which draws the layouts of a book.
pub fn run_mdbook() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    mdbook::run(&args)
}
