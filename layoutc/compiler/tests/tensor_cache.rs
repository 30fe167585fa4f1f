//! The tensor cache: after random edits, a check with the cache gives the same models, spans, steps and diagnostics as
//! a check without it.

use layoutc_compiler::check::{Recorder, TensorCache};
use layoutc_compiler::config::Config;
use layoutc_compiler::{Compiler, LoadError, SourceLoader};
use layoutc_testing::{Random, cases};

/// Items of every kind, with spans in other items: transforms, symbols, other tensors, the other manifest.
const OWN: &str = r#"use "common.kdl"

const LANES 4
symbol batch min=1 max=64 multiple=4
memory-space vmem bytes="16 MiB" align=512 xla=1

transform local block=8 {
    split c by=block
    order n c_outer c_inner
    fill 3
}

tensor a dtype=f32 {
    shape { n 8; c 30 }
    layout local
}

tensor b dtype=i8 {
    shape { n batch; c "LANES * 8" }
    layout { map "(n, c) -> (n // 4, c, n % 4)" }
    require bijective
}

tensor c like=a { layout { order c n } }

tensor d dtype=f16 {
    shape { h 5; w 7 }
    layout { notation xla="{1,0:T(3,3)(2,2)S(1)}" }
}

tensor e dtype=u16 {
    shape { n 8; c 32 }
    layout shared block=16
}

view f of=e dtype=u16x2
tensor g { dtype { x f32; y f32 }; shape { n 33 }; layout { split n by=8; padding allow } }
tensor h dtype=f32 { shape { n 8; c 30 }; memory vmem; require fits }
tensor i dtype=i32 { shape { n 8; c 4 }; layout { map "(n, c) -> (n + c)" } }
convert a to=h
"#;

const COMMON: &str = "transform shared block=4 { split c by=block; order n c_outer c_inner; axis-separators c_outer }\nconst WIDE 9\n";

struct Two<'a> {
    own: &'a str,
    common: &'a str,
}

impl SourceLoader for Two<'_> {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        match path {
            "own.kdl" => Ok(self.own.to_owned()),
            "common.kdl" => Ok(self.common.to_owned()),
            _ => Err(LoadError::NotFound),
        }
    }
}

/// Debug text of the whole result of a check.
fn checked(texts: &Two<'_>, cache: Option<&TensorCache>) -> String {
    let recorder = Recorder::of_all();
    let config = Config::default();
    let mut compiler = Compiler::new(texts, &config).recording(&recorder);
    if let Some(cache) = cache {
        compiler = compiler.caching(cache);
    }
    let checked = compiler.check(&["own.kdl".to_owned()]);
    format!("{checked:#?}\n{:#?}", recorder.into_all())
}

/// Applies a random edit to one line.
fn edit(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = random.below(lines.len());
    match random.below(7) {
        0 => lines.insert(at, String::new()),
        1 => lines.insert(at, "// a comment".to_owned()),
        2 => drop(lines.remove(at)),
        3 => lines.insert(at, lines[at].clone()),
        4 => {
            let other = random.below(lines.len());
            lines.swap(at, other);
        }
        5 => lines[at] = lines[at].replace('8', "16"),
        _ => {
            let cut = random.below(lines[at].chars().count() + 1);
            lines[at] =
                lines[at].chars().enumerate().filter(|(k, _)| *k != cut).map(|(_, c)| c).collect();
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_cache_does_not_change_results() {
    for seed in 0..cases(20, 200) {
        let mut random = Random::new(seed);
        let cache = TensorCache::default();
        let (mut own, mut common) = (OWN.to_owned(), COMMON.to_owned());
        for turn in 0..20 {
            let texts = Two { own: &own, common: &common };
            let again = checked(&texts, Some(&cache));
            assert!(again == checked(&texts, None), "seed {seed}, turn {turn}:\n{common}\n{own}");
            match random.below(8) {
                0 => common = edit(&mut random, &common),
                // Restores the valid manifests.
                1 => (own, common) = (OWN.to_owned(), COMMON.to_owned()),
                _ => own = edit(&mut random, &own),
            }
        }
    }
}

#[test]
fn diagnostics_hidden_by_a_syntax_error_appear_once_it_is_fixed() {
    let cache = TensorCache::default();
    let tensor = "tensor t dtype=f32 { shape { w X; c 4 } }\n";
    for own in [&format!("{tensor}}}\n"), tensor] {
        let texts = Two { own, common: COMMON };
        assert_eq!(checked(&texts, Some(&cache)), checked(&texts, None), "{own}");
    }
}
