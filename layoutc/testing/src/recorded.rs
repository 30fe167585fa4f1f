//! Comparison of texts with recorded files, which `BLESS=1` renews.

use std::fs;
use std::path::Path;

use crate::files;

/// True if the environment variable `BLESS` is set, which renews recorded files.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// True if the file at `path` has this text. If `BLESS` is set, the file is renewed first.
pub fn is_recorded(path: impl AsRef<Path>, text: &str) -> bool {
    let path = path.as_ref();
    let is_same = || fs::read(path).is_ok_and(|recorded| recorded == text.as_bytes());
    if is_blessing() && !is_same() {
        files::write(path, text);
    }
    is_same()
}

/// Asserts that the file at `path` has this text. If `BLESS` is set, the file is renewed first.
#[track_caller]
pub fn assert_recorded(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    assert!(is_recorded(path, text), "{} differs; BLESS=1 renews it:\n{text}", path.display());
}
