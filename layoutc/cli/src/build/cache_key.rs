//! Cache keys: hashes of everything that results depend on.

use crate::state::fact::ContentHash;

/// Hashes a sequence of texts, each prefixed with its length, and hashes.
pub(super) struct KeyHasher(Vec<u8>);

/// Initial capacity, enough for most keys.
const MOST: usize = 512;

impl KeyHasher {
    pub(super) fn of(kind: &str) -> Self {
        let mut parts = Self(Vec::with_capacity(MOST));
        parts.text(kind);
        parts
    }

    pub(super) fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    pub(super) fn hash(&mut self, hash: &ContentHash) {
        self.0.extend(hash.0);
    }

    pub(super) fn finish(self) -> ContentHash {
        ContentHash::of(&self.0)
    }
}

/// Hashes that all results of a project depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BaseHashes {
    /// Hash of the layoutc binary.
    pub(super) program: ContentHash,
    pub(super) config: ContentHash,
}

/// Key of a checked manifest: the texts that it depends on, by path.
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

/// Key of the templates: their texts by name.
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

/// Key of the files of a manifest for a target.
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

/// Key of the umbrella header: the paths of all other outputs of its target.
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
