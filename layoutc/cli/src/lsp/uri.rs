//! Conversion between paths and file URLs such as `file:///a/b%20c.kdl`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::paths::normal;

const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Absolute path of the file URL `uri`. Links are resolved, also if only the folder of the file exists. `None` for
/// other URLs, and for a path with a NUL character.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    if bytes.contains(&0) {
        return None;
    }
    Some(resolved(Path::new(OsStr::from_bytes(&bytes))))
}

/// Path of `path` with links, `.` and `..` resolved. If the file does not exist, only the path of its folder is
/// resolved; if that does not exist either, links are not resolved.
pub(super) fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => normal(path),
    }
}

/// File URL of the absolute path `path`, such as `file:///a/b%20c.kdl`; `None` if the text is not a valid URL.
pub(super) fn of_path(path: &Path) -> Option<Uri> {
    let encoded = percent_encode(path.as_os_str().as_bytes(), PLAIN);
    Uri::from_str(&format!("file://{encoded}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_paths_convert_both_ways() {
        for path in ["/nowhere/a b/ü#?.kdl", "/nowhere/%41"] {
            let uri = of_path(Path::new(path)).expect("an address");
            assert_eq!(path_of(&uri), Some(PathBuf::from(path)), "{}", uri.as_str());
        }
        for uri in ["untitled:x", "file://", "http://a/b", "file:///a%00b"] {
            assert_eq!(path_of(&Uri::from_str(uri).expect("an address")), None, "{uri}");
        }
    }
}
