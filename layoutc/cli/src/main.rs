//! Binary `layoutc`: calls `layoutc::run` of the library.

#![allow(missing_docs, reason = "a binary")]

use std::process::ExitCode;

/// Allocator for the millions of small objects of a build.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    layoutc::run()
}
