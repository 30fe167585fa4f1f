//! What results depend on, as hashes.

use crate::state::fact::Hash;

/// A hash of several parts, each told from the next by its length.
pub(super) struct Parts(Vec<u8>);

/// As many bytes as the parts of most results have.
const MOST: usize = 512;

impl Parts {
    /// The parts of a result of this kind.
    pub(super) fn of(kind: &str) -> Self {
        let mut parts = Self(Vec::with_capacity(MOST));
        parts.text(kind);
        parts
    }

    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    /// Adds a hash.
    pub(super) fn hash(&mut self, hash: &Hash) {
        self.0.extend(hash.0);
    }

    /// The hash of all.
    pub(super) fn finish(self) -> Hash {
        Hash::of(&self.0)
    }
}

/// What all results of a project depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Base {
    /// The program itself.
    pub(super) program: Hash,
    /// The configuration.
    pub(super) config: Hash,
}

/// The key of a checked manifest: the texts that it depends on, by path.
pub(super) fn checked<'a>(base: Base, texts: impl Iterator<Item = (&'a str, &'a Hash)>) -> Hash {
    let mut parts = Parts::of("checked");
    parts.hash(&base.program);
    parts.hash(&base.config);
    for (path, hash) in texts {
        parts.text(path);
        parts.hash(hash);
    }
    parts.finish()
}

/// The key of the templates: their texts by name.
pub(super) fn templates<'a>(texts: impl Iterator<Item = (&'a str, &'a Hash)>) -> Hash {
    let mut parts = Parts::of("templates");
    for (name, hash) in texts {
        parts.text(name);
        parts.hash(hash);
    }
    parts.finish()
}

/// The key of the files of a manifest for a target.
pub(super) fn emitted(checked: &Hash, templates: &Hash, target: &str, manifest: &str) -> Hash {
    let mut parts = Parts::of("emitted");
    parts.hash(checked);
    parts.hash(templates);
    parts.text(target);
    parts.text(manifest);
    parts.finish()
}

/// The key of the umbrella header: the paths of all other outputs of its target.
pub(super) fn umbrella<'a>(
    base: Base,
    templates: &Hash,
    outputs: impl Iterator<Item = &'a str>,
) -> Hash {
    let mut parts = Parts::of("umbrella");
    parts.hash(&base.program);
    parts.hash(&base.config);
    parts.hash(templates);
    for output in outputs {
        parts.text(output);
    }
    parts.finish()
}
