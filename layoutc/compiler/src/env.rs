//! What the compiler is given to work with: texts, a memory of earlier runs, and somebody who is told how far it is.
//! None of the three changes what comes out.

use crate::sources::SourceLoader;

/// What a result is remembered by: a hash of the stage and of all that its result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheKey(pub [u8; 32]);

impl CacheKey {
    /// The key of what `stage` makes of `input`.
    pub fn new(stage: &str, input: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(stage.as_bytes()).update(&[0]).update(input);
        Self(*hasher.finalize().as_bytes())
    }
}

/// Results of earlier runs of the same compiler. One that is lost is computed again.
pub trait ResultCache: Sync {
    /// What was kept under a key, byte for byte.
    fn recall(&self, key: &CacheKey) -> Option<Vec<u8>>;
    /// Keeps a result.
    fn keep(&self, key: &CacheKey, value: Vec<u8>);
}

/// Remembers nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoCache;

impl ResultCache for NoCache {
    fn recall(&self, _key: &CacheKey) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _key: &CacheKey, _value: Vec<u8>) {}
}

/// What the compiler does with a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompileStage {
    /// Its text becomes syntax.
    Parse,
    /// Its syntax is recalled instead.
    Recall,
    /// It is checked and proven.
    Check,
    /// Its files are made.
    Emit,
}

impl CompileStage {
    /// Every stage, in order.
    pub const ALL: [CompileStage; 4] =
        [CompileStage::Parse, CompileStage::Recall, CompileStage::Check, CompileStage::Emit];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            CompileStage::Parse => "parse",
            CompileStage::Recall => "recall",
            CompileStage::Check => "check",
            CompileStage::Emit => "emit",
        }
    }
}

/// Is told of each piece of work, on the thread that does it: once before it, and once after.
pub trait Observer: Sync {
    /// Work on the manifest `item` begins.
    fn begin(&self);
    /// The work that this thread began last has ended, and was this.
    fn end(&self, stage: CompileStage, item: &str);
}

/// Looks away.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn begin(&self) {}

    fn end(&self, _stage: CompileStage, _item: &str) {}
}

/// All three.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the three say nothing of themselves")]
pub struct CompileEnv<'a> {
    /// Gives texts.
    pub sources: &'a dyn SourceLoader,
    /// Remembers results.
    pub memo: &'a dyn ResultCache,
    /// Is told.
    pub observer: &'a dyn Observer,
}

impl<'a> CompileEnv<'a> {
    /// Texts, and nothing else.
    pub fn new(sources: &'a dyn SourceLoader) -> Self {
        Self { sources, memo: &NoCache, observer: &NoObserver }
    }
}
