//! What a build found to be true. A later fact takes the place of an earlier one of the same kind and name.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::stat::Stat;

/// A hash of a content, or of all that a result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Hash(#[serde(with = "serde_bytes")] pub(crate) [u8; 32]);

impl Hash {
    /// The hash of a content.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }
}

/// What is looked up by name. The names come from the user's own files: nobody gains by making them collide.
type Named<'a, T> = IndexMap<&'a str, T, FxBuildHasher>;

/// Some paths.
pub(crate) type Paths<'a> = IndexSet<&'a str, FxBuildHasher>;

/// What stood in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// As long as the file has this, its content is the same; `None`: it must be read to know.
    pub(crate) stat: Option<Stat>,
    /// Of the content.
    pub(crate) hash: Hash,
}

/// A manifest that was checked and is good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checked<'a> {
    /// Of all that the outcome depends on.
    pub(crate) key: Hash,
    /// The other manifests that it uses, directly or not.
    #[serde(borrow)]
    pub(crate) uses: Vec<&'a str>,
    /// How many tensors it has.
    pub(crate) tensors: u64,
    /// Its warnings, encoded; empty without one.
    pub(crate) warnings: &'a [u8],
}

/// What was made of a manifest for one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Emitted<'a> {
    /// Of all that the files depend on.
    pub(crate) key: Hash,
    /// The files: paths below the output folder, and what belongs in them.
    #[serde(borrow)]
    pub(crate) outputs: Vec<(&'a str, Hash)>,
}

impl<'a> Emitted<'a> {
    /// The paths of the files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.outputs.iter().map(|(path, _)| *path)
    }
}

/// One fact. Paths of inputs are relative to the project's folder, those of outputs to the output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fact<'a> {
    /// The machine was started, and this names that start: what was written before it may have been lost.
    Boot(&'a str),
    /// An input was read.
    Input(&'a str, Known),
    /// An output was written, or found to be as it should be.
    Output(&'a str, Known),
    /// An output is no longer one.
    Removed(&'a str),
    /// A manifest was checked.
    Checked(&'a str, #[serde(borrow)] Checked<'a>),
    /// Files were made: target and manifest.
    Emitted(&'a str, &'a str, #[serde(borrow)] Emitted<'a>),
    /// An output is about to be written: its text may stand there, should the build not come to say so.
    Coming(&'a str, Hash),
}

/// All facts that still hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts<'a> {
    /// The start of the machine in which the last build ran.
    pub(crate) boot: &'a str,
    /// By path.
    pub(crate) inputs: Named<'a, Known>,
    /// By path.
    pub(crate) outputs: Named<'a, Known>,
    /// What may stand there instead, by path.
    pub(crate) coming: BTreeMap<&'a str, Hash>,
    /// By manifest.
    pub(crate) checked: Named<'a, Checked<'a>>,
    /// By target, then by manifest; the umbrella header has the manifest "".
    emitted: BTreeMap<&'a str, Named<'a, Emitted<'a>>>,
}

impl<'a> Facts<'a> {
    /// Takes a fact in.
    pub(crate) fn learn(&mut self, fact: Fact<'a>) {
        match fact {
            Fact::Boot(boot) => self.boot = boot,
            Fact::Input(path, known) => drop(self.inputs.insert(path, known)),
            Fact::Output(path, known) => {
                self.coming.remove(path);
                self.outputs.insert(path, known);
            }
            Fact::Removed(path) => {
                self.coming.remove(path);
                self.outputs.swap_remove(path);
            }
            Fact::Coming(path, hash) => drop(self.coming.insert(path, hash)),
            Fact::Checked(manifest, checked) => drop(self.checked.insert(manifest, checked)),
            Fact::Emitted(target, manifest, emitted) => {
                self.emitted.entry(target).or_default().insert(manifest, emitted);
            }
        }
    }

    /// What was made for a target of a manifest.
    pub(crate) fn emitted(&self, (target, manifest): (&str, &str)) -> Option<&Emitted<'a>> {
        self.emitted.get(target)?.get(manifest)
    }

    /// Whether layoutc wrote a file with this hash to the output `path`.
    pub(crate) fn wrote(&self, path: &str, hash: &Hash) -> bool {
        self.outputs.get(path).is_some_and(|known| known.hash == *hash)
            || self.coming.get(path) == Some(hash)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let emitted: usize = self.emitted.values().map(IndexMap::len).sum();
        let files = self.inputs.len() + self.outputs.len() + self.coming.len();
        1 + files + self.checked.len() + emitted
    }

    /// The facts one by one.
    pub(crate) fn all(&self) -> Vec<Fact<'a>> {
        let mut all = vec![Fact::Boot(self.boot)];
        all.extend(self.inputs.iter().map(|(path, known)| Fact::Input(path, *known)));
        all.extend(self.outputs.iter().map(|(path, known)| Fact::Output(path, *known)));
        all.extend(self.coming.iter().map(|(path, hash)| Fact::Coming(path, *hash)));
        all.extend(self.checked.iter().map(|(m, checked)| Fact::Checked(m, checked.clone())));
        for (target, of_target) in &self.emitted {
            all.extend(of_target.iter().map(|(m, e)| Fact::Emitted(target, m, e.clone())));
        }
        all
    }
}
