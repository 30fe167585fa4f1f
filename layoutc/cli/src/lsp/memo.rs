//! In-memory cache of check results in two generations, young and old. When the young generation is full, it replaces
//! the old one; results that were not used since the last replacement are dropped.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use layoutc_compiler::env::{CacheKey, ResultCache};

/// Approximate maximum size of both generations together, in bytes. A generation is full if it exceeds half of it.
const MOST: usize = 64 << 20;

#[derive(Debug, Default)]
pub(super) struct InMemoryMemo(Mutex<MemoGenerations>);

#[derive(Debug, Default)]
struct MemoGenerations {
    young: BTreeMap<CacheKey, Vec<u8>>,
    old: BTreeMap<CacheKey, Vec<u8>>,
    /// Size of the keys and results that were added to `young`, in bytes.
    bytes: usize,
}

impl MemoGenerations {
    fn store(&mut self, key: CacheKey, value: Vec<u8>) {
        self.bytes += size_of::<CacheKey>() + value.len();
        self.young.insert(key, value);
        if self.bytes > MOST / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }
}

impl ResultCache for InMemoryMemo {
    fn recall(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = all.young.get(key) {
            return Some(value.clone());
        }
        let value = all.old.remove(key)?;
        all.store(*key, value.clone());
        Some(value)
    }

    fn store(&self, key: &CacheKey, value: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).store(*key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_entries_are_kept() {
        let memory = InMemoryMemo::default();
        let key = |k: usize| CacheKey::new("test", &k.to_le_bytes());
        memory.store(&key(0), vec![7]);
        for k in 1..200 {
            memory.store(&key(k), vec![0; 1 << 20]);
            assert_eq!(memory.recall(&key(0)), Some(vec![7]), "{k}");
        }
        assert_eq!(memory.recall(&key(1)), None);
    }
}
