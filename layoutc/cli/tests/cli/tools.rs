//! External programs that tests run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Path of a program. Without it the test is skipped with a message, but fails on CI (`CI=true`).
#[expect(clippy::print_stderr, reason = "a test that is not run says so")]
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|p| p.is_file());
    let on_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    assert!(found.is_some() || !on_ci, "{program} is missing");
    if found.is_none() {
        eprintln!("not run: there is no {program}");
    }
    found
}

/// `PATH`, with layoutc in front.
pub(crate) fn path_with_layoutc() -> OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_layoutc")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("a path")
}
