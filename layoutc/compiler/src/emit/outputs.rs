//! Output paths, which depend on the configuration, the manifests' paths, and whether a manifest converts sharded
//! tensors. Errors in a manifest do not change the paths.

use super::Settings;
use super::runtime::header;
use crate::config::{Config, TargetC};

/// Paths of the files that [`Compiler`](crate::Compiler) generates from the manifest `path` for a target; empty if the
/// target is not configured. `exchanges` is true if the manifest converts sharded tensors
/// ([`text_needs_mpi`](crate::manifest::text_needs_mpi)).
pub fn output_paths(config: &Config, target: &str, path: &str, exchanges: bool) -> Vec<String> {
    let stem = stem(path, &common_folder(&config.project.sources));
    let settings =
        Settings::of_config(config).into_iter().find(|settings| settings.target == target);
    let paths =
        settings.map(|settings| super::paths(&settings, &stem, exchanges)).unwrap_or_default();
    paths.into_iter().map(|path| format!("{target}/{path}")).collect()
}

/// Path of the header that [`Emitter::umbrella`](super::Emitter::umbrella) generates; `None` if none is configured.
pub fn umbrella_path(config: &Config) -> Option<String> {
    umbrella_header(config).map(|(_, path)| format!("c/{path}"))
}

/// Path of the header that [`Emitter::runtime`](super::Emitter::runtime) generates; `None` if the configuration has no
/// shared runtime.
pub fn runtime_path(config: &Config) -> Option<String> {
    header::path(config)
}

/// Header of the tensors that an exchange over MPI moves: `layers/a.h` if `path` is `mpi/layers/a_mpi.h` or
/// `mpi/layers/a_mpi.c`; `None` for a path of another form. A file with a path of this form needs MPI if that header is
/// an output too. Both paths are relative to the folder of the C target.
pub fn exchanged(path: &str) -> Option<String> {
    let below = path.strip_prefix("mpi/")?;
    let stem = below.strip_suffix("_mpi.h").or_else(|| below.strip_suffix("_mpi.c"))?;
    Some(format!("{stem}.h"))
}

/// C target and path of its umbrella header, relative to the target's folder; `None` if no header is configured.
pub(super) fn umbrella_header(config: &Config) -> Option<(&TargetC, String)> {
    let c = config.target.c.as_ref()?;
    let path = c.umbrella_header.as_ref()?;
    let parts: Vec<&str> = path.split('/').filter(|part| !["", "."].contains(part)).collect();
    Some((c, parts.join("/")))
}

/// Common parent folder of all source patterns, up to the first wildcard: `layouts` for `layouts/**/*.kdl`.
pub(super) fn common_folder(patterns: &[String]) -> String {
    let mut common: Option<Vec<&str>> = None;
    for pattern in patterns {
        let folders: Vec<&str> = match pattern.rsplit_once('/') {
            Some((folders, _)) => {
                folders.split('/').take_while(|f| !f.contains(['*', '?', '[', '{'])).collect()
            }
            None => Vec::new(),
        };
        common = Some(match common {
            None => folders,
            Some(before) => before
                .into_iter()
                .zip(folders)
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a)
                .collect(),
        });
    }
    common.unwrap_or_default().join("/")
}

/// Path of a manifest's outputs without extension, relative to the common source folder if the manifest is in it.
/// Components `.` and `..` are removed.
pub(super) fn stem(path: &str, common: &str) -> String {
    let inside = path.strip_prefix(common).filter(|_| !common.is_empty());
    let path = inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let path = path.strip_suffix(".kdl").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !["", ".", ".."].contains(part)).collect();
    parts.join("/")
}

/// Path of `to` relative to the folder of `from`: `../a.h` from `include/all.h` to `a.h`.
pub(super) fn relative(from: &str, to: &str) -> String {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    let mut parts: Vec<&str> = to.split('/').collect();
    let file = parts.pop().unwrap_or_default();
    let shared = folders.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let up = folders.iter().skip(shared).map(|_| "..");
    let down = parts.iter().skip(shared).copied().chain([file]);
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{exchanged, relative};

    #[test]
    fn paths_relative_to_the_folder_of_a_file() {
        for (from, to, expected) in [
            ("all.h", "a.h", "a.h"),
            ("all.h", "layers/a.h", "layers/a.h"),
            ("include/all.h", "a.h", "../a.h"),
            ("layers/all.h", "layers/a.h", "a.h"),
            ("layers/x/all.h", "layers/y/a.h", "../y/a.h"),
        ] {
            assert_eq!(relative(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn exchanges_have_paths_of_one_form() {
        for (path, header) in [
            ("mpi/a_mpi.h", Some("a.h")),
            ("mpi/layers/a.b_mpi.c", Some("layers/a.b.h")),
            ("mpi/a_mpi.cu", None),
            ("mpi/a.h", None),
            ("layers/mpi/a_mpi.h", None),
            ("a_mpi.h", None),
        ] {
            assert_eq!(exchanged(path).as_deref(), header, "{path}");
        }
    }
}
