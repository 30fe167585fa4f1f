//! What the compiler is given to work with: texts, a memory of earlier runs, and somebody who is told how far it is.
//! None of the three changes what comes out.

use crate::sources::Sources;

/// What a result is remembered by: a hash of the stage and of all that its result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The key of what `stage` makes of `input`.
    pub fn new(stage: &str, input: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(stage.as_bytes()).update(&[0]).update(input);
        Self(*hasher.finalize().as_bytes())
    }
}

/// Results of earlier runs of the same compiler. One that is lost is computed again.
pub trait Memo: Sync {
    /// What was kept under a key, byte for byte.
    fn recall(&self, key: &Key) -> Option<Vec<u8>>;
    /// Keeps a result.
    fn keep(&self, key: &Key, value: Vec<u8>);
}

/// Remembers nothing.
#[derive(Debug, Clone, Copy)]
pub struct Forgetful;

impl Memo for Forgetful {
    fn recall(&self, _key: &Key) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _key: &Key, _value: Vec<u8>) {}
}

/// What the compiler does with a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its text becomes syntax.
    Parse,
    /// Its syntax is recalled instead.
    Recall,
    /// It is checked and proven.
    Check,
    /// Its files are made.
    Emit,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 4] = [Stage::Parse, Stage::Recall, Stage::Check, Stage::Emit];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Parse => "parse",
            Stage::Recall => "recall",
            Stage::Check => "check",
            Stage::Emit => "emit",
        }
    }
}

/// Is told of each piece of work, on the thread that does it: once before it, and once after.
pub trait Observer: Sync {
    /// Work on the manifest `item` begins.
    fn begin(&self);
    /// The work that this thread began last has ended, and was this.
    fn end(&self, stage: Stage, item: &str);
}

/// Looks away.
#[derive(Debug, Clone, Copy)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn begin(&self) {}

    fn end(&self, _stage: Stage, _item: &str) {}
}

/// All three.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the three say nothing of themselves")]
pub struct Host<'a> {
    /// Gives texts.
    pub sources: &'a dyn Sources,
    /// Remembers results.
    pub memo: &'a dyn Memo,
    /// Is told.
    pub observer: &'a dyn Observer,
}

impl<'a> Host<'a> {
    /// Texts, and nothing else.
    pub fn new(sources: &'a dyn Sources) -> Self {
        Self { sources, memo: &Forgetful, observer: &Unobserved }
    }
}
