//! What results depend on, as hashes.

use crate::state::fact::ContentHash;

/// A hash of several parts, each told from the next by its length.
pub(super) struct KeyHasher(Vec<u8>);

/// As many bytes as the parts of most results have.
const MOST: usize = 512;

impl KeyHasher {
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
    pub(super) fn hash(&mut self, hash: &ContentHash) {
        self.0.extend(hash.0);
    }

    /// The hash of all.
    pub(super) fn finish(self) -> ContentHash {
        ContentHash::of(&self.0)
    }
}

/// What all results of a project depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BaseHashes {
    /// The program itself.
    pub(super) program: ContentHash,
    /// The configuration.
    pub(super) config: ContentHash,
}

/// The key of a checked manifest: the texts that it depends on, by path.
pub(super) fn checked<'a>(
    base: BaseHashes,
    texts: impl Iterator<Item = (&'a str, &'a ContentHash)>,
) -> ContentHash {
    let mut parts = KeyHasher::of("checked");
    parts.hash(&base.program);
    parts.hash(&base.config);
    for (path, hash) in texts {
        parts.text(path);
        parts.hash(hash);
    }
    parts.finish()
}

/// The key of the templates: their texts by name.
pub(super) fn templates<'a>(
    texts: impl Iterator<Item = (&'a str, &'a ContentHash)>,
) -> ContentHash {
    let mut parts = KeyHasher::of("templates");
    for (name, hash) in texts {
        parts.text(name);
        parts.hash(hash);
    }
    parts.finish()
}

/// The key of the files of a manifest for a target.
pub(super) fn emitted(
    checked: &ContentHash,
    templates: &ContentHash,
    target: &str,
    manifest: &str,
) -> ContentHash {
    let mut parts = KeyHasher::of("emitted");
    parts.hash(checked);
    parts.hash(templates);
    parts.text(target);
    parts.text(manifest);
    parts.finish()
}

/// The key of the umbrella header: the paths of all other outputs of its target.
pub(super) fn umbrella<'a>(
    base: BaseHashes,
    templates: &ContentHash,
    outputs: impl Iterator<Item = &'a str>,
) -> ContentHash {
    let mut parts = KeyHasher::of("umbrella");
    parts.hash(&base.program);
    parts.hash(&base.config);
    parts.hash(templates);
    for output in outputs {
        parts.text(output);
    }
    parts.finish()
}
