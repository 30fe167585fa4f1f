//! Lexical operations on paths, and their display.

use std::env;
use std::path::{Component, Path, PathBuf};

/// Path without `.` components, and without `..` components except at its start, computed from its text alone: `/a/c`
/// for `/a/b/../c`. Links are not resolved.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if normal
                    .components()
                    .next_back()
                    .is_some_and(|last| matches!(last, Component::Normal(_))) =>
            {
                normal.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => normal.push(component),
        }
    }
    normal
}

/// Path of `path` relative to the folder `from`, where both are absolute: `/a/b/c` from `/a/d` is `../b/c`. It is `.`
/// if the two are equal. Links are not resolved.
pub(crate) fn relative(path: &Path, from: &Path) -> PathBuf {
    let (path, from) = (normal(path), normal(from));
    let shared = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative }
}

/// Path of `path`, which is absolute, relative to the working directory, as text for display. Characters that are not
/// Unicode are replaced. The path itself if the working directory is unknown.
pub(crate) fn relative_to_cwd(path: &Path) -> String {
    let seen = env::current_dir().map_or_else(|_| path.to_owned(), |here| relative(path, &here));
    seen.to_string_lossy().into_owned()
}

/// Folder as the start of joined paths: the empty path for `.`, so that joined paths do not begin with `./`; any other
/// folder unchanged.
pub(crate) fn start(folder: &Path) -> &Path {
    if folder == Path::new(".") { Path::new("") } else { folder }
}

/// Path as text with `/` as separator, `None` if it is not Unicode.
pub(crate) fn slashed(path: &Path) -> Option<String> {
    let mut text = String::new();
    for component in path.components() {
        match component {
            Component::RootDir => text.push('/'),
            Component::Prefix(_)
            | Component::CurDir
            | Component::ParentDir
            | Component::Normal(_) => {
                if !text.is_empty() && !text.ends_with('/') {
                    text.push('/');
                }
                text.push_str(component.as_os_str().to_str()?);
            }
        }
    }
    Some(text)
}

/// True if `path` leads to a place below the folder that it is relative to. `path` has `/` as separator. It must not be
/// empty or absolute, contain `..`, a backslash or a NUL character, or begin with the component `.`.
pub(crate) fn is_below(path: &str) -> bool {
    let names = |component| matches!(component, Component::Normal(_));
    !path.is_empty() && !path.contains(['\0', '\\']) && Path::new(path).components().all(names)
}

/// True if `text` is a single path component other than `.` and `..`, without a backslash or a NUL character.
pub(crate) fn is_name(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_start_at_a_folder() {
        let seen = |path: &str, from: &str| {
            slashed(&relative(Path::new(path), Path::new(from))).expect("Unicode")
        };
        assert_eq!(seen("/a/b/c", "/a/d"), "../b/c");
        assert_eq!(seen("/a/b", "/a/b"), ".");
        assert_eq!(seen("/a/./x/../b/c", "/a"), "b/c");
        assert_eq!(slashed(Path::new("/a/b")).as_deref(), Some("/a/b"));
    }

    #[test]
    fn paths_below_a_folder_contain_only_names() {
        for good in ["c/a.h", "a", "a..b/c"] {
            assert!(is_below(good), "{good}");
        }
        for bad in ["", "/a", "../a", "a/../b", "./a", "a\\b", "a\0b"] {
            assert!(!is_below(bad), "{bad:?}");
            assert!(!is_name(bad), "{bad:?}");
        }
        assert!(is_name("a..b") && !is_name("a/b") && !is_name(".") && !is_name(".."));
    }
}
