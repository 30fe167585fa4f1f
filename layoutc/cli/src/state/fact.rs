//! What a build found to be true. A later fact takes the place of an earlier one of the same kind and name.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::stat::Stat;

/// A hash of a content, or of all that a result depends on.
pub(crate) type Hash = [u8; 32];

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
pub(crate) struct Checked {
    /// Of all that the outcome depends on.
    pub(crate) key: Hash,
    /// The other manifests that it uses, directly or not.
    pub(crate) uses: Vec<String>,
    /// How many tensors it has.
    pub(crate) tensors: u64,
    /// Its warnings, encoded; empty without one.
    pub(crate) warnings: Vec<u8>,
}

/// What was made of a manifest for one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Emitted {
    /// Of all that the files depend on.
    pub(crate) key: Hash,
    /// The files: paths below the output folder, and what belongs in them.
    pub(crate) outputs: Vec<(String, Hash)>,
}

/// One fact. Paths of inputs are relative to the project's folder, those of outputs to the output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fact {
    /// The machine was started, and this names that start: what was written before it may have been lost.
    Boot(String),
    /// An input was read.
    Input(String, Known),
    /// An output was written, or found to be as it should be.
    Output(String, Known),
    /// An output is no longer one.
    Removed(String),
    /// A manifest was checked.
    Checked(String, Checked),
    /// Files were made: target and manifest.
    Emitted(String, String, Emitted),
    /// Nothing is made of a manifest for a target any more.
    Forgotten(String, String),
    /// An output is about to be written: its text may stand there, should the build not come to say so.
    Coming(String, Hash),
}

/// All facts that still hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The start of the machine in which the last build ran.
    pub(crate) boot: String,
    /// By path.
    pub(crate) inputs: IndexMap<String, Known>,
    /// By path.
    pub(crate) outputs: IndexMap<String, Known>,
    /// What may stand there instead, by path.
    pub(crate) coming: BTreeMap<String, Hash>,
    /// By manifest.
    pub(crate) checked: IndexMap<String, Checked>,
    /// By target, then by manifest; the umbrella header has the manifest "".
    pub(crate) emitted: BTreeMap<String, IndexMap<String, Emitted>>,
}

impl Facts {
    /// Takes a fact in.
    pub(crate) fn learn(&mut self, fact: Fact) {
        match fact {
            Fact::Boot(boot) => self.boot = boot,
            Fact::Input(path, known) => drop(self.inputs.insert(path, known)),
            Fact::Output(path, known) => {
                self.coming.remove(&path);
                self.outputs.insert(path, known);
            }
            Fact::Removed(path) => {
                self.coming.remove(&path);
                self.outputs.swap_remove(&path);
            }
            Fact::Coming(path, hash) => drop(self.coming.insert(path, hash)),
            Fact::Checked(manifest, checked) => drop(self.checked.insert(manifest, checked)),
            Fact::Emitted(target, manifest, emitted) => {
                self.emitted.entry(target).or_default().insert(manifest, emitted);
            }
            Fact::Forgotten(target, manifest) => {
                if let Some(of_target) = self.emitted.get_mut(&target) {
                    of_target.swap_remove(&manifest);
                }
            }
        }
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
    pub(crate) fn all(&self) -> Vec<Fact> {
        let mut all = vec![Fact::Boot(self.boot.clone())];
        all.extend(self.inputs.iter().map(|(path, known)| Fact::Input(path.clone(), *known)));
        all.extend(self.outputs.iter().map(|(path, known)| Fact::Output(path.clone(), *known)));
        all.extend(self.coming.iter().map(|(path, hash)| Fact::Coming(path.clone(), *hash)));
        all.extend(
            self.checked.iter().map(|(m, checked)| Fact::Checked(m.clone(), checked.clone())),
        );
        for (target, of_target) in &self.emitted {
            all.extend(
                of_target.iter().map(|(m, e)| Fact::Emitted(target.clone(), m.clone(), e.clone())),
            );
        }
        all
    }
}
