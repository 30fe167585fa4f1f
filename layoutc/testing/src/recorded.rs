//! Texts compared with recorded files, which `BLESS=1` renews.

use std::fs;
use std::path::Path;

use crate::files;

/// True if `BLESS` is set: recorded files are renewed.
pub fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// True if a file has this text; renews the file first where `BLESS` is set.
pub fn is_recorded(path: impl AsRef<Path>, text: &str) -> bool {
    let path = path.as_ref();
    let is_same = || fs::read(path).is_ok_and(|recorded| recorded == text.as_bytes());
    if is_blessing() && !is_same() {
        files::write(path, text);
    }
    is_same()
}

/// Asserts that a file has this text; renews the file first where `BLESS` is set.
#[track_caller]
pub fn assert_recorded(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    assert!(is_recorded(path, text), "{} differs; BLESS=1 renews it:\n{text}", path.display());
}
