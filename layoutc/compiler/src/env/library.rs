//! Library of manifests that are part of the compiler. A manifest imports one by `use "std/nvidia.kdl"`.
//!
//! A path in a `use` that begins with `std/` always names a manifest of the library. Its path in spans and diagnostics is
//! `<std>/nvidia.kdl`, which is the path of no file in a project.

/// Prefix of the paths in `use` that name manifests of the library.
const PREFIX: &str = "std/";

/// Prefix of the paths of the library's manifests in spans and diagnostics.
const SHOWN: &str = "<std>/";

/// Manifest of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibraryManifest {
    /// Path in a `use`: `std/nvidia.kdl`.
    pub path: &'static str,
    /// Contents in a few words.
    pub purpose: &'static str,
    /// Text of the manifest.
    pub text: &'static str,
}

/// Manifests of the library, sorted by path.
pub const LIBRARY: &[LibraryManifest] = &[
    LibraryManifest {
        path: "std/amd.kdl",
        purpose: "operands and accumulators of MFMA",
        text: include_str!("../../std/amd.kdl"),
    },
    LibraryManifest {
        path: "std/nvidia.kdl",
        purpose: "fragments of mma, ldmatrix and wgmma; operands in shared memory; scale factors",
        text: include_str!("../../std/nvidia.kdl"),
    },
];

/// Path in spans of the library's manifest that a `use` names: `<std>/nvidia.kdl` for `std/nvidia.kdl`, also if the
/// library has no such manifest. `None` for a path that names a file.
pub fn path(used: &str) -> Option<String> {
    used.strip_prefix(PREFIX).map(|name| format!("{SHOWN}{name}"))
}

/// True if `path`, a path in a span, is that of a manifest of the library.
pub fn is_library(path: &str) -> bool {
    text(path).is_some()
}

/// Text of the library's manifest whose path in spans is `path`; `None` if the library has no such manifest.
pub fn text(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix(SHOWN)?;
    let is_it = |one: &&LibraryManifest| one.path.strip_prefix(PREFIX) == Some(name);
    LIBRARY.iter().find(is_it).map(|one| one.text)
}
