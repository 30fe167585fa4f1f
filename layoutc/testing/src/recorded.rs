//! Comparison of texts with recorded files. With the environment variable `BLESS=1`, the files are rewritten.

use std::fs;
use std::path::Path;

use crate::files;

/// True if the environment variable `BLESS` is set, so that recorded files are rewritten.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// True if the file at `path` has the text `text`. If the environment variable `BLESS` is set, the file is first
/// rewritten with this text.
pub fn is_recorded(path: impl AsRef<Path>, text: &str) -> bool {
    let path = path.as_ref();
    let is_same = || fs::read(path).is_ok_and(|recorded| recorded == text.as_bytes());
    if is_blessing() && !is_same() {
        files::write(path, text);
    }
    is_same()
}

/// Panics unless the file at `path` has the text `text`. If the environment variable `BLESS` is set, the file is first
/// rewritten with this text.
#[track_caller]
pub fn assert_recorded(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    assert!(is_recorded(path, text), "{} differs; BLESS=1 renews it:\n{text}", path.display());
}
