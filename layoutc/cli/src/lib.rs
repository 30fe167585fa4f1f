//! layoutc: layout manifests in, proven layouts and generated source out.
//!
//! The binaries, and [`build()`] for the build scripts of Rust projects. This crate holds all that touches the machine:
//! arguments, files, the terminal. What a layout means is the compiler's.

mod args;
mod array;
mod build;
mod build_script;
mod command;
mod confine;
mod console;
mod fault;
mod interrupt;
mod lsp;
mod mdbook;
mod output;
mod pages;
mod progress;
mod project;
mod report;
mod rewrite;
mod runner;
mod session;
mod state;
mod watch;

use std::process::ExitCode;

pub use build_script::{BuildFailure, GeneratedFiles, build};

/// What the binary does: the command that was typed.
pub fn run() -> ExitCode {
    confine::enter();
    interrupt::outlive_limits();
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
