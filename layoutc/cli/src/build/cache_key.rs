//! Cache keys of a build: hashes of everything that a result depends on.

use crate::state::fact::ContentHash;

/// Bytes from which a cache key is hashed: a sequence of hashes and texts. Each text is preceded by its length.
pub(super) struct KeyHasher(Vec<u8>);

/// Initial capacity in bytes of a [`KeyHasher`], enough for most keys.
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

/// Hashes of the inputs on which all results of a project depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BaseHashes {
    /// Hash of the layoutc binary; zero bytes with `--root`, where no result is cached.
    pub(super) program: ContentHash,
    pub(super) config: ContentHash,
}

/// Cache key of the check of a manifest. `texts` are pairs of path and hash, one for each manifest on which the check
/// depends: the manifest itself and those that it uses, sorted by path.
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

/// Hash of the templates of a project. `texts` are pairs of the name of a template and the hash of its text, sorted by
/// name.
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

/// Cache key of the files that are generated from the manifest `manifest` for the code-generation target `target`.
/// `checked` is the cache key of the check of the manifest, `templates` the hash of all templates.
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

/// Cache key of the header with the shared runtime.
pub(super) fn runtime(base: BaseHashes) -> ContentHash {
    let mut parts = KeyHasher::of("runtime");
    parts.hash(&base.program);
    parts.hash(&base.config);
    parts.finish()
}

/// Cache key of the umbrella header. `templates` is the hash of all templates, `outputs` the paths of all other outputs
/// of the C target.
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
