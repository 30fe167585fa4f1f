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

/// Path of a file URL, with links resolved if the file or its folder exists. `None` for other URLs.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    if bytes.contains(&0) {
        return None;
    }
    Some(resolved(Path::new(OsStr::from_bytes(&bytes))))
}

/// Path with links and `.` or `..` resolved. If the file does not exist, only the path of its folder is resolved.
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

/// File URL of a path.
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
