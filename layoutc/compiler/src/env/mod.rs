//! Environment of a compilation: source texts, a cache of earlier results, and a progress observer. The cache and the
//! observer do not affect the results.

pub(crate) mod executor;
pub mod library;
pub mod sources;

use crate::env::sources::SourceLoader;

/// Key of a cached result: a hash of the stage and of all inputs of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey(pub [u8; 32]);

impl CacheKey {
    /// Key of the result that the stage named `stage` computes from `input`, the serialized inputs.
    pub fn new(stage: &str, input: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(stage.as_bytes()).update(&[0]).update(input);
        Self(*hasher.finalize().as_bytes())
    }
}

/// Cache of results of earlier runs of the same compiler version. Losing an entry is no fault: its result is computed
/// again.
pub trait ResultCache: Sync {
    /// Returns the bytes stored under a key; `None` if there are none.
    fn recall(&self, key: &CacheKey) -> Option<Vec<u8>>;
    /// Stores the bytes of a result under a key.
    fn store(&self, key: &CacheKey, value: Vec<u8>);
}

/// Cache that stores nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoCache;

impl ResultCache for NoCache {
    fn recall(&self, _key: &CacheKey) -> Option<Vec<u8>> {
        None
    }

    fn store(&self, _key: &CacheKey, _value: Vec<u8>) {}
}

/// Stage in the compilation of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompileStage {
    /// Parsing of the text.
    Parse,
    /// Lookup of the parsed text in the cache, in place of parsing.
    Recall,
    /// Checks and proofs.
    Check,
    /// Planning, and rendering of the generated files.
    Emit,
}

impl CompileStage {
    /// All stages, in the order of their declaration.
    pub const ALL: [CompileStage; 4] =
        [CompileStage::Parse, CompileStage::Recall, CompileStage::Check, CompileStage::Emit];

    /// Name of the stage in reports.
    pub fn word(self) -> &'static str {
        match self {
            CompileStage::Parse => "parse",
            CompileStage::Recall => "recall",
            CompileStage::Check => "check",
            CompileStage::Emit => "emit",
        }
    }
}

/// Observer of progress. It is called before and after each unit of work, on the thread that executes it. A unit is one
/// stage of one manifest; [`CompileStage::Emit`] has one unit for each target.
pub trait Observer: Sync {
    /// Called when a unit of work begins on this thread.
    fn begin(&self);
    /// Called on the same thread as [`Self::begin`] when that unit of work ends. `stage` is its stage, `item` the path
    /// of its manifest.
    fn end(&self, stage: CompileStage, item: &str);
}

/// Observer that ignores all events.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self) {}

    fn end(&self, _stage: CompileStage, _item: &str) {}
}

/// Environment of a compilation: source texts, a cache and an observer.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "trait objects without Debug")]
pub struct CompileEnv<'a> {
    /// Loader of the manifests' texts.
    pub sources: &'a dyn SourceLoader,
    /// Cache of results of earlier runs.
    pub memo: &'a dyn ResultCache,
    /// Observer of progress.
    pub observer: &'a dyn Observer,
}

impl<'a, S: SourceLoader> From<&'a S> for CompileEnv<'a> {
    fn from(sources: &'a S) -> Self {
        Self::new(sources)
    }
}

impl<'a> CompileEnv<'a> {
    /// Creates an environment without a cache and an observer.
    pub fn new(sources: &'a dyn SourceLoader) -> Self {
        Self { sources, memo: &NoCache, observer: &NoObserver }
    }
}
