//! File states (fingerprint or read error) of the manifests in a build log. They are read ahead while projects are
//! discovered, or on demand.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::project::files::{self, hash_if_changed};
use crate::project::read_set::{FileState, FileStates};
use crate::state::fact::{BuildFacts, CheckRecord, Fingerprint, PathSet};

/// Number of manifests per parallel task: the minimum where manifests are read, and the maximum where a scan compares
/// them with the log.
pub(super) const AT_ONCE: usize = 64;

/// Map from the path of a manifest to a value.
pub(crate) type ManifestMap<'a, T> = IndexMap<&'a str, T, FxBuildHasher>;

/// File states of manifests that were read shortly before a build, in one of two maps, or none.
#[derive(Debug, Default)]
pub(crate) enum ManifestReads<'a> {
    #[default]
    Nothing,
    /// States of files by absolute path.
    ByPath(&'a FileStates),
    /// States of the manifests of the project in a folder, by path relative to that folder.
    ByName(PathBuf, ManifestMap<'a, FileState>),
}

impl<'a> ManifestReads<'a> {
    /// Reads the file states of all manifests in `facts`, the log of the project at `root`, and of the manifests that
    /// they use.
    pub(super) fn at(root: PathBuf, facts: &BuildFacts<'a>) -> Self {
        let names = with_uses(facts.checked.iter().map(|(name, checked)| (*name, checked)));
        let seen = hash_manifests(&root, &names, facts);
        Self::ByName(root, seen)
    }

    /// File states of the manifests `names` of the project at `root`. States that were read ahead are used; for
    /// [`Self::ByName`] only if they are those of exactly `names`. All other states are read by this call. A file whose
    /// metadata equals that of its fingerprint in `facts`, the build log, is not read.
    pub(super) fn texts<'l>(
        &'l self,
        root: &Path,
        names: PathSet<'a>,
        facts: &BuildFacts<'_>,
    ) -> Cow<'l, ManifestMap<'a, FileState>> {
        if let Self::ByPath(looks) = self {
            let look = |name: &'a str| {
                let path = root.join(name);
                let seen = looks.get(&path).cloned();
                (name, seen.unwrap_or_else(|| hash_if_changed(&path, facts.inputs.get(name))))
            };
            return Cow::Owned(names.into_iter().map(look).collect());
        }
        match self.all(root, &names) {
            Some(seen) => Cow::Borrowed(seen),
            None => Cow::Owned(hash_manifests(root, &names, facts)),
        }
    }

    /// Map of [`Self::ByName`], if it belongs to the project at `root` and has the states of exactly the manifests
    /// `names`. `None` otherwise, and for the other variants.
    fn all(&self, root: &Path, names: &PathSet<'_>) -> Option<&ManifestMap<'a, FileState>> {
        let Self::ByName(of, seen) = self else { return None };
        let is_same = of == root && seen.len() == names.len();
        (is_same && names.iter().all(|name| seen.contains_key(name))).then_some(seen)
    }
}

/// Paths of the manifests in `checked`, and of the manifests that these use. `checked` has pairs of the path of a
/// manifest and its check result in the build log, which lists the used manifests.
pub(super) fn with_uses<'a: 'f, 'f>(
    checked: impl Iterator<Item = (&'a str, &'f CheckRecord<'a>)>,
) -> PathSet<'a> {
    checked.flat_map(|(name, checked)| checked.uses.iter().copied().chain([name])).collect()
}

/// File states of the manifests `names` of the project at `root`, read in parallel. A manifest whose metadata equals
/// that of its fingerprint in `facts`, the build log, is not read and gets that fingerprint.
fn hash_manifests<'a>(
    root: &Path,
    names: &PathSet<'a>,
    facts: &BuildFacts<'_>,
) -> ManifestMap<'a, FileState> {
    let folder = files::open_folder(root).ok();
    let glance = |name: &&'a str| {
        let known = facts.inputs.get(*name);
        let is_unchanged = |known: &&Fingerprint| {
            folder.as_ref().is_some_and(|folder| files::is_unchanged(folder, name, known))
        };
        let seen = match known.filter(is_unchanged) {
            Some(known) => Ok(*known),
            None => hash_if_changed(&root.join(name), known),
        };
        (*name, seen)
    };
    let names: Vec<&str> = names.iter().copied().collect();
    let seen: Vec<_> = names.par_iter().with_min_len(AT_ONCE).map(glance).collect();
    seen.into_iter().collect()
}
