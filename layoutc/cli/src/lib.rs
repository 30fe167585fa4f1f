//! layoutc: layout manifests in, proven layouts and generated source out.
//!
//! The binary, and [`build()`] for the build scripts of Rust projects. This crate holds all that touches the machine:
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
mod output;
mod pages;
mod project;
mod report;
mod rewrite;
mod runner;
mod session;
mod state;
mod watch;

use std::process::ExitCode;

pub use build_script::{Failure, Generated, build};

/// What the binary does: the command that was typed.
pub fn run() -> ExitCode {
    confine::enter();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}
