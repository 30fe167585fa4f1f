//! Import of ONNX models written by a script: shapes against ONNX's shape inference, costs of the solved graphs against
//! computed ones, random models against ONNX's reference evaluator. `LAYOUTC_ONNX` is the folder of the Python package.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that runs a script"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::cc::{empty_folder, folder};
use crate::common::check_text::check_valid;
use layoutc_compiler::import::{ImportOptions, ImportedGraph, import_onnx};
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::solve::{GraphPlan, SolverOptions, solve};
use layoutc_testing::campaign::is_available;
use layoutc_testing::cases;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folder with the models of the script; `None` if its package is not installed.
fn models(test: &str) -> Option<PathBuf> {
    let folder = folder(&format!("import_{test}"));
    run_script("models.py", &folder, &[folder.as_os_str()]).then_some(folder)
}

/// Runs a script that writes to a folder. Returns false if its package is not installed.
pub(crate) fn run_script(script: &str, folder: &Path, arguments: &[&OsStr]) -> bool {
    std::fs::create_dir_all(folder).unwrap();
    let Some(output) = python(script, arguments) else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn imported(folder: &Path, stem: &str, backend: &str) -> ImportedGraph {
    let file = std::fs::read(folder.join(format!("{stem}.onnx"))).unwrap();
    let sizes = [("batch".to_owned(), 1)];
    let sizes = if stem == "tensorflow" { &sizes[..] } else { &[] };
    let options = ImportOptions { name: stem, backend, sizes, ..ImportOptions::default() };
    import_onnx(file, &options).unwrap_or_else(|fault| panic!("{stem}: {fault:?}"))
}

pub(crate) fn graph(text: &str) -> Graph {
    let checked = check_valid(text);
    checked.manifests[0].graphs[0].clone()
}

pub(crate) fn extents(graph: &Graph, tensor: usize) -> Vec<u64> {
    let axes = graph.tensors[tensor].candidates[0].tensor.layout.logical().iter();
    axes.map(|axis| axis.extent.as_const().unwrap().try_into().unwrap()).collect()
}

fn plan(graph: &Graph) -> GraphPlan {
    let plan = solve(graph, &SolverOptions::default()).unwrap();
    assert!(plan.is_optimal(), "{}", graph.name);
    plan
}

/// ONNX's inference for each tensor: the number of the element type, then the extents.
fn shapes(folder: &Path, stem: &str) -> BTreeMap<String, Vec<u64>> {
    let text = std::fs::read_to_string(folder.join(format!("{stem}.shapes"))).unwrap();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_owned();
        (name, words.map(|word| word.parse().unwrap()).collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn inferred_shapes_equal_onnx_shape_inference() {
    let Some(folder) = models("shapes") else { return };
    let mut compared = 0;
    for (stem, operators, transposes) in [
        ("resnet50", 122, 0),
        ("mobilenet", 152, 0),
        ("tensorflow", 20, 8),
        ("attention", 17, 4),
        ("squeeze_excite", 11, 0),
        ("conflicts", 8, 0),
        ("elementwise", 10, 0),
        ("custom", 2, 0),
    ] {
        let found = imported(&folder, stem, "onnx");
        assert_eq!((found.nodes, found.transposes), (operators, transposes), "{stem}");
        let graph = graph(&found.text);
        assert_eq!(graph.nodes.len(), operators, "{stem}");
        let shapes = shapes(&folder, stem);
        for (position, tensor) in graph.tensors.iter().enumerate() {
            let Some([number, own @ ..]) = shapes.get(&tensor.name).map(Vec::as_slice) else {
                // ONNX infers nothing for constants, and not the size of one result.
                let is_open = tensor.name == "reshape_154_out";
                assert!(tensor.is_constant() || is_open, "{stem}: `{}`", tensor.name);
                continue;
            };
            let found_of = &tensor.candidates[0].tensor;
            let dtype = match number {
                1 => "f32",
                7 => "i64",
                9 => "bool",
                10 => "f16",
                _ => panic!("{stem}: `{}` has elements of {number}", tensor.name),
            };
            assert_eq!(found_of.dtype.to_string(), dtype, "{stem}: `{}`", tensor.name);
            let mut extents = extents(&graph, position);
            let mut own = own.to_vec();
            if transposes > 0 {
                // Transposed: equal axes in another order.
                extents.sort_unstable();
                own.sort_unstable();
            }
            assert_eq!(extents, own, "{stem}: `{}`", tensor.name);
            compared += 1;
        }
    }
    assert!(compared > 330, "{compared}");
}

#[test]
fn onnx_layouts_convert_only_at_transposes() {
    let Some(folder) = models("costs") else { return };
    for (stem, cost, conversions) in [
        ("resnet50", 0, 0),
        ("mobilenet", 0, 0),
        ("squeeze_excite", 0, 0),
        // The model has eight transpositions: channels first inside, channels last outside.
        ("tensorflow", 2 * 2 * 4 * 56 * 56 * 32, 2),
        ("attention", 4 * 2 * 4 * 2 * 128 * 4 * 64, 4),
    ] {
        let graph = graph(&imported(&folder, stem, "onnx").text);
        let plan = plan(&graph);
        let paid = plan.conversions.iter().filter(|conversion| conversion.cost > 0).count();
        assert_eq!((plan.cost, paid), (cost, conversions), "{stem}");
    }
}

#[test]
fn channels_last_cancels_the_transposes_of_a_model() {
    let Some(folder) = models("last") else { return };
    let text = imported(&folder, "tensorflow", "device").text;
    let backend = "backend device like=onnx { op Conv { accepts { in NHWC OHWI; out NHWC } } }\n";
    assert_eq!(plan(&graph(&format!("{backend}{text}"))).cost, 0);
}

#[test]
fn recorded_models_equal_generated_ones() {
    let Some(folder) = models("kept") else { return };
    let kept = root().join("bench/graphs");
    for stem in ["resnet50", "mobilenet"] {
        let own = imported(&kept, stem, "onnx");
        assert_eq!(own, imported(&folder, stem, "onnx"), "{stem}");
    }
}

#[test]
fn example_graph_equals_its_imported_model() {
    let folder = root().join("examples/imported-model");
    let file = std::fs::read(folder.join("model.onnx")).unwrap();
    let (uses, sizes) = (["cpu.kdl".to_owned()], [("batch".to_owned(), 1)]);
    let options = ImportOptions {
        name: "block",
        file: "model.onnx",
        backend: "cpu",
        uses: &uses,
        sizes: &sizes,
        ..ImportOptions::default()
    };
    let kept = std::fs::read_to_string(folder.join("layouts/block.kdl")).unwrap();
    assert_eq!(import_onnx(file, &options).unwrap().text, kept);
}

/// Output of a Python program of the tests; `None` if its package is not installed.
fn python(script: &str, args: &[&OsStr]) -> Option<std::process::Output> {
    let mut python = Command::new("python3");
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    if let Some(package) = std::env::var_os("LAYOUTC_ONNX") {
        python.env("PYTHONPATH", package);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(script);
    let ran = python.arg(script).args(args).output().unwrap();
    let report = String::from_utf8_lossy(&ran.stderr).into_owned();
    if ran.status.success() || !report.contains("No module named") {
        return Some(ran);
    }
    is_available(false, "the Python package onnx");
    None
}

/// Random models: an evaluator that only reads the imported manifest computes the values of ONNX's reference evaluator.
#[test]
fn random_models_agree_with_the_onnx_reference() {
    let count = cases(60, 600);
    let folder = empty_folder("import_random");
    let number = count.to_string();
    let args = [folder.as_os_str(), "0".as_ref(), number.as_ref()];
    let Some(ran) = python("random_models.py", &args) else { return };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut kept = 0;
    for seed in 0..count {
        let stem = folder.join(seed.to_string());
        let file = std::fs::read(stem.with_extension("onnx")).unwrap();
        let options = ImportOptions { name: "g", backend: "onnx", ..ImportOptions::default() };
        let found = import_onnx(file, &options).unwrap_or_else(|fault| panic!("{seed}: {fault:?}"));
        kept += found.text.matches("op=Transpose ").count();
        assert_eq!(plan(&graph(&found.text)).lower_bound, plan(&graph(&found.text)).cost);
        std::fs::write(stem.with_extension("kdl"), &found.text).unwrap();
        std::fs::write(stem.with_extension("json"), found.map.to_string()).unwrap();
    }
    assert!(kept > count / 5, "{kept}");
    let profile = root().join("layoutc/compiler/src/check/graph/profiles/onnx.kdl");
    let ran = python("evaluate.py", &[folder.as_os_str(), profile.as_os_str()]).unwrap();
    let report = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{report}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(report.starts_with(&format!("{count} models, ")), "{report}");
}

/// The table of default attributes equals that of ONNX's schemas.
#[test]
fn default_attributes_equal_onnx_schemas() {
    let Some(ran) = python("models.py", &["--defaults".as_ref()]) else { return };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let kept = root().join("layoutc/compiler/src/import/defaults.txt");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), std::fs::read_to_string(kept).unwrap());
}
