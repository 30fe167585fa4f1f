//! `mdbook-layoutc`: draws the layouts of a book. See the module `mdbook` of the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    layoutc::run_mdbook()
}
