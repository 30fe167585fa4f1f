//! Emitted C on other processors, under QEMU: big-endian s390x, 32-bit Arm, and `AArch64` with Neon. The oracle is the
//! generated test program. A missing tool fails with `CI=true` and is skipped otherwise.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use crate::common::cc::folder;
use crate::common::processors;
use crate::random_manifest;
use layoutc_testing::{Random, cases};
use std::path::PathBuf;

use layoutc_compiler::config::Config;
use processors::{on_each, run};
use random_manifest::{built, dtypes, manifest};

/// Writes a manifest and its generated C to a folder of its own.
fn written(name: &str, text: &str) -> PathBuf {
    let folder = folder(&format!("processors_{name}"));
    layoutc_testing::files::write(folder.join("m.kdl"), text);
    for (name, text) in built(text, &Config::default()).unwrap().1 {
        layoutc_testing::files::write(folder.join(name), text);
    }
    folder
}

#[test]
fn random_manifests_agree_on_every_processor() {
    let folders: Vec<PathBuf> = (0..cases(3, 8))
        .map(|seed| {
            let mut random = Random::new(9_000_000 + seed);
            let config = Config::default();
            let manifest = manifest(&mut random, 6, &config, &dtypes(), |_, tensor| tensor);
            written(&format!("random_{seed}"), &manifest.text())
        })
        .collect();
    on_each(|processor| {
        for (k, folder) in folders.iter().enumerate() {
            let optimised = if k.is_multiple_of(2) { "-O2" } else { "-O1" };
            run(processor, folder, &["tests/m_test.c", "m.c"], &[optimised]);
        }
    });
}

/// Relayouts large enough for every block and run routine, with every element size.
#[test]
fn block_and_run_routines_agree_on_every_processor() {
    let mut text = String::new();
    for (name, dtype) in [("a", "i8"), ("b", "f16"), ("c", "f32"), ("d", "i64"), ("e", "c128")] {
        text.push_str(&format!(
            "tensor {name}_plain dtype={dtype} {{ shape {{ n 3; c 37; h 9; w 20 }} }}\n\
             tensor {name}_last like={name}_plain {{ layout {{ order n h w c }} }}\n\
             tensor {name}_blocked like={name}_plain {{ layout {{ split c by=16; order n c_outer h w c_inner; fill 7 }} }}\n\
             tensor {name}_four like={name}_plain {{ layout {{ split c by=4; order n c_outer h w c_inner }} }}\n\
             tensor {name}_rows like={name}_plain {{ layout {{ order h n c w }} }}\n\
             convert {name}_plain to={name}_last\nconvert {name}_last to={name}_four\n\
             convert {name}_blocked to={name}_rows\nconvert {name}_four to={name}_blocked\n"
        ));
    }
    let folder = written("moves", &text);
    on_each(|processor| {
        for vector in ["-DLAYOUTC_VECTOR=16", "-DLAYOUTC_VECTOR=0"] {
            run(processor, &folder, &["tests/m_test.c", "m.c"], &["-O2", vector]);
        }
    });
}
