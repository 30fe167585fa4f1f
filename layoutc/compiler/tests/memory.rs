//! The result cache: a second check reads the stored proofs, and its result equals the first.
#![allow(clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use layoutc_compiler::config::Config;
use layoutc_compiler::env::{CacheKey, CompileEnv, ResultCache};
use layoutc_compiler::{Compiler, MemorySources};

/// A cache that counts hits.
#[derive(Default)]
struct Counting {
    entries: Mutex<BTreeMap<CacheKey, Vec<u8>>>,
    recalled: Mutex<usize>,
}

impl ResultCache for Counting {
    fn recall(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let found = self.entries.lock().expect("a map").get(key).cloned();
        *self.recalled.lock().expect("a count") += usize::from(found.is_some());
        found
    }

    fn store(&self, key: &CacheKey, value: Vec<u8>) {
        self.entries.lock().expect("a map").insert(*key, value);
    }
}

impl Counting {
    fn check(&self, text: &'static str) -> (usize, usize, String) {
        *self.recalled.lock().expect("a count") = 0;
        let before = self.entries.lock().expect("a map").len();
        let sources = MemorySources::of("a.kdl", text);
        let host = CompileEnv { memo: self, ..CompileEnv::new(&sources) };
        let checked = Compiler::new(host, &Config::default()).check(&["a.kdl".to_owned()]);
        let new = self.entries.lock().expect("a map").len() - before;
        (new, *self.recalled.lock().expect("a count"), format!("{checked:?}"))
    }
}

const ODD: &str = "tensor a dtype=u8 { shape { i 65536 }; layout { map \"(i) -> ((i + 2 * (i ^ 21)) % 65536)\" } }";

#[test]
fn enumerated_proofs_are_cached() {
    let memory = Counting::default();
    let (new, recalled, first) = memory.check(ODD);
    assert!(first.contains("Enumeration"), "{first}");
    // The parsed manifest, the proof, and the result of its check.
    assert_eq!((new, recalled), (3, 0));
    let (new, recalled, second) = memory.check(ODD);
    assert_eq!((new, recalled), (0, 3));
    assert_eq!(first, second);
}

#[test]
fn refused_layouts_are_not_cached_as_proven() {
    let memory = Counting::default();
    let text =
        "tensor a dtype=u8 { shape { i 65536 }; layout { map \"(i) -> ((i * 40502) % 65536)\" } }";
    let (new, _, first) = memory.check(text);
    assert_eq!(new, 1, "{first}");
    assert!(first.contains("MapNotInjective") || first.contains("Injective"), "{first}");
    assert_eq!(memory.check(text).2, first);
}
