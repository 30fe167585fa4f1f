//! Generated files, compared with the whole texts in `tests/golden`. To update them, run
//! `BLESS=1 cargo test -p layoutc-compiler --test compiler golden` and review the difference.
#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "a test")]

use crate::common;
use layoutc_testing::recorded::assert_recorded;
use std::collections::BTreeMap;
use std::path::Path;

use common::{ZERO, convert, manifest, nchw4c, nchw4c_texture, permuted, tensor};
use layoutc_compiler::base::content_hash;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::emit::model::Unit;
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::{Compiler, LoadError, SourceLoader};

fn golden(name: &str, text: &str) {
    assert_recorded(Path::new(env!("CARGO_MANIFEST_DIR")).join(name), text);
}

#[test]
fn nchw4c_header_and_source_match_golden_files() {
    let layout = nchw4c([16, 64, 64, 126]);
    let planes = permuted(&[("n", 16), ("h", 64), ("w", 64), ("c", 126)], &[0, 3, 1, 2]);
    let tensors =
        vec![tensor("planes", "f32", planes, ZERO), tensor("blocked", "f32", layout, ZERO)];
    let convert = convert(0, 1, &[0, 1, 2, 3]);
    let manifest = manifest(tensors, vec![convert]);
    let outputs = emit(&manifest, &Settings::c(), "nchw4c", &Templates::default()).unwrap();
    golden("tests/golden/nchw4c.h", &outputs[0].text);
    golden("tests/golden/nchw4c.c", &outputs[1].text);
    assert!(outputs.iter().all(|output| content_hash::verify_seal(&output.text) == Some(true)));
}

#[test]
fn texture_header_and_test_match_golden_files() {
    let mut texture = tensor("texture", "f32", nchw4c_texture([16, 64, 64, 128]), ZERO);
    texture.steps = vec!["map \"(n, h, w, c) -> (n, c//4, h | w, c%4)\"".to_owned()];
    let manifest = manifest(vec![texture], Vec::new());
    let settings = Settings { prefix: "my_".to_owned(), ..Settings::c() };
    let outputs = emit(&manifest, &settings, "layers/texture", &Templates::default()).unwrap();
    let paths: Vec<&str> = outputs.iter().map(|output| output.path.as_str()).collect();
    assert_eq!(paths, ["layers/texture.h", "layers/texture.c", "tests/layers/texture_test.c"]);
    golden("tests/golden/texture.h", &outputs[0].text);
    golden("tests/golden/texture_test.c", &outputs[2].text);
}

/// Loads `GPU` for every path.
struct Only;

impl SourceLoader for Only {
    fn load(&self, _path: &str) -> Result<String, LoadError> {
        Ok(GPU.to_owned())
    }
}

const GPU: &str = r#"
symbol batch min=0 max=1000000000

tensor texture dtype=f16 {
    shape { n 2; h 5; c 6 }
    layout {
        map "(n, h, c) -> (n, c // 4 | h, c % 4)"
        fill 1
    }
    memory texture
}

tensor dense dtype=f64 {
    shape { n batch }
}

tensor nibbles dtype=i4 {
    shape { n 5; c 3 }
    layout {
        order c n
    }
}

tensor skewed dtype=c64 {
    shape { n 3; c 4 }
    layout {
        map "(n, c) -> (n, (n + c) % 5)"
        padding allow
    }
}

tensor flat dtype=c64 like=skewed {
}

tensor turned dtype=f32 {
    shape { n 1000; c 40 }
    layout {
        order c n
        pad c multiple=32
        fill 1
    }
}

convert skewed to=flat

tensor mixed dtype=u8 {
    shape { c 16 }
    layout {
        map "(c) -> ((c + 2 * (c ^ 5)) % 16)"
    }
}
"#;

#[test]
fn kernels_match_golden_files() {
    let targets = TargetsConfig {
        c: None,
        opencl: Some(TargetOpenCl::default()),
        cuda: Some(TargetCuda::default()),
        hip: None,
        rust: None,
        own: BTreeMap::new(),
    };
    let config = Config { target: targets, ..Config::default() };
    let compiler = Compiler::new(&Only, &config);
    let checked = compiler.check(&["gpu.kdl".to_owned()]);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let paths: Vec<&str> = outputs.iter().map(|output| output.path.as_str()).collect();
    assert_eq!(paths, ["opencl/gpu.cl", "opencl/gpu.h", "cuda/gpu.cuh", "cuda/gpu.cu"]);
    for output in &outputs {
        golden(&format!("tests/golden/{}", &output.path), &output.text);
        assert_eq!(content_hash::verify_seal(&output.text), Some(true));
    }
    // 8 GB: the number of bytes exceeds the index type, the number of elements does not.
    assert!(outputs[2].text.contains("int64_t dense_bytes(int64_t batch)"));
    assert!(outputs[0].text.contains("long dense_bytes(long batch)"));
}

#[test]
fn template_model_matches_its_schema() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Unit)).unwrap();
    golden("../../schemas/template-model.json", &format!("{schema}\n"));
}
