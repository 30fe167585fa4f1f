//! Output paths. They follow from the configuration, the manifests' paths, and whether a manifest converts sharded
//! tensors; errors in a manifest do not change them.

use std::sync::Arc;

use crate::config::{Config, TargetC};
use crate::manifest::syntax::Identifier;
use crate::{emit, manifest, target_settings};

/// Paths of the files that [`emit_each`](crate::emit_each) generates from the manifest `path` for a target.
pub fn output_paths(config: &Config, target: &str, path: &str, exchanges: bool) -> Vec<String> {
    let stem = stem(path, &common_folder(&config.project.sources));
    let settings = target_settings(config).into_iter().find(|settings| settings.target == target);
    let paths =
        settings.map(|settings| emit::paths(&settings, &stem, exchanges)).unwrap_or_default();
    paths.into_iter().map(|path| format!("{target}/{path}")).collect()
}

/// True if the text of a manifest, as parsed, converts sharded tensors.
pub fn text_needs_mpi(text: &str) -> bool {
    let (manifest, _) = manifest::parse(&Arc::from(""), text);
    let is_cut = |name: &Identifier| {
        let mut tensors = manifest.tensors.iter();
        tensors.any(|tensor| tensor.name.value == name.value && tensor.shard.is_some())
    };
    manifest.converts.iter().any(|convert| is_cut(&convert.from))
}

/// Path of the header that [`umbrella`](crate::umbrella) generates.
pub fn umbrella_path(config: &Config) -> Option<String> {
    umbrella_header(config).map(|(_, path)| format!("c/{path}"))
}

/// The C target if it has an umbrella header, and the header's path in the target's folder.
pub(crate) fn umbrella_header(config: &Config) -> Option<(&TargetC, String)> {
    let c = config.target.c.as_ref()?;
    let path = c.umbrella_header.as_ref()?;
    let parts: Vec<&str> = path.split('/').filter(|part| !["", "."].contains(part)).collect();
    Some((c, parts.join("/")))
}

/// Common parent folder of all source patterns, up to the first wildcard: `layouts` for `layouts/**/*.kdl`.
pub(crate) fn common_folder(patterns: &[String]) -> String {
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
pub(crate) fn stem(path: &str, common: &str) -> String {
    let inside = path.strip_prefix(common).filter(|_| !common.is_empty());
    let path = inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let path = path.strip_suffix(".kdl").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !["", ".", ".."].contains(part)).collect();
    parts.join("/")
}
