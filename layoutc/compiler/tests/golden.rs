//! Whole texts of generated files. `BLESS=1 cargo test -p layoutc-compiler --test golden` writes them anew: read the
//! difference before you commit it.
#![allow(clippy::disallowed_methods, reason = "reads and writes the golden files")]
#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "a test")]

mod common;

use std::path::Path;

use common::{ZERO, convert, manifest, nchw4c, permuted, tensor};
use layoutc_compiler::emit::model::Unit;
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::seal;

fn check(name: &str, text: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join(name);
    if std::env::var("BLESS").is_ok() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "{name} differs; BLESS=1 writes it anew:\n{text}");
}

#[test]
fn nchw4c_gives_this_header_and_source() {
    let layout = nchw4c([16, 64, 64, 126], &[]);
    let planes = permuted(&[("n", 16), ("h", 64), ("w", 64), ("c", 126)], &[0, 3, 1, 2]);
    let tensors =
        vec![tensor("planes", "f32", planes, ZERO), tensor("blocked", "f32", layout, ZERO)];
    let convert = convert(0, 1, &[0, 1, 2, 3]);
    let manifest = manifest(tensors, vec![convert]);
    let outputs = emit(&manifest, &Settings::c(), "nchw4c", &Templates::default()).unwrap();
    check("tests/golden/nchw4c.h", &outputs[0].text);
    check("tests/golden/nchw4c.c", &outputs[1].text);
    assert!(outputs.iter().all(|output| seal::holds(&output.text) == Some(true)));
}

#[test]
fn a_texture_gives_this_header_and_test() {
    let mut texture = tensor("texture", "f32", nchw4c([16, 64, 64, 128], &[2]), ZERO);
    texture.steps = vec!["map \"(n, h, w, c) -> (n, c//4, h | w, c%4)\"".to_owned()];
    let manifest = manifest(vec![texture], Vec::new());
    let settings = Settings { prefix: "my_".to_owned(), ..Settings::c() };
    let outputs = emit(&manifest, &settings, "layers/texture", &Templates::default()).unwrap();
    let paths: Vec<&str> = outputs.iter().map(|output| output.path.as_str()).collect();
    assert_eq!(paths, ["layers/texture.h", "layers/texture.c", "layers/texture_test.c"]);
    check("tests/golden/texture.h", &outputs[0].text);
    check("tests/golden/texture_test.c", &outputs[2].text);
}

#[test]
fn the_template_model_has_this_schema() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Unit)).unwrap();
    check("../../schemas/template-model.json", &format!("{schema}\n"));
}
