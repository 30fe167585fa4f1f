//! `layoutc`: layout manifests in, proven layouts and generated source out.
//!
//! The binary holds all that touches the machine: arguments, files, the terminal. What a layout means is the
//! compiler's.

mod args;
mod build;
mod command;
mod confine;
mod console;
mod fault;
mod interrupt;
mod output;
mod pages;
mod project;
mod report;
mod session;
mod state;
mod watch;

use std::process::ExitCode;

/// A build makes and drops millions of small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    confine::enter();
    match args::parse(std::env::args_os()) {
        Ok(args) => command::run(&args),
        Err(refusal) => refusal.show(),
    }
}
