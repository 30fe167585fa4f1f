//! `layoutc`: see the library of the same name.

use std::process::ExitCode;

/// A build makes and drops millions of small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    layoutc::run()
}
