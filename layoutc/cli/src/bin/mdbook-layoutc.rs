//! The binary `mdbook-layoutc`, which draws the layouts of a book; see the module `mdbook` of the library.

#![allow(missing_docs, reason = "a binary")]

use std::process::ExitCode;

fn main() -> ExitCode {
    layoutc::run_mdbook()
}
