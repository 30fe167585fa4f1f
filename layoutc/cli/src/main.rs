//! The binary `layoutc`; see the library.

#![allow(missing_docs, reason = "a binary")]

use std::process::ExitCode;

/// A build allocates millions of small objects.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    layoutc::run()
}
