//! Shapes of imported models, against ONNX's operator tests and random shape arithmetic that ONNX evaluates.
//! `LAYOUTC_ONNX` is the folder of the Python package.
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

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::import::{ImportError, ImportOptions, ImportedGraph, import_onnx};
use layoutc_compiler::model::graph::Graph;

use crate::common::cc::empty_folder;
use crate::import::{extents, graph, run_script};
use layoutc_testing::cases;

/// ONNX element types: number and name.
const ELEMENTS: &[(u32, &str)] = &[
    (1, "f32"),
    (2, "u8"),
    (3, "i8"),
    (4, "u16"),
    (5, "i16"),
    (6, "i32"),
    (7, "i64"),
    (9, "bool"),
    (10, "f16"),
    (11, "f64"),
    (12, "u32"),
    (13, "u64"),
    (14, "c64"),
    (15, "c128"),
    (16, "bf16"),
    (17, "f8e4m3fn"),
    (18, "f8e4m3fnuz"),
    (19, "f8e5m2"),
    (20, "f8e5m2fnuz"),
    (21, "u4"),
    (22, "i4"),
    (23, "f4e2m1fn"),
    (24, "f8e8m0fnu"),
    (25, "u2"),
    (26, "i2"),
    (27, "f6e2m3fn"),
    (28, "f6e3m2fn"),
];

/// Reasons for rejecting models of ONNX's tests: a part of the message, and the maximum number of models.
const REASONS: &[(&str, usize)] = &[
    ("has string elements", 28),
    ("layoutc has no such element type", 45),
    ("unknown before the model runs", 70),
    ("is a sequence", 17),
    ("operates on sequences of tensors", 4),
    ("optional", 8),
];

fn imported(path: &Path) -> Result<ImportedGraph, ImportError> {
    let options = ImportOptions { name: "g", backend: "onnx", ..ImportOptions::default() };
    import_onnx(std::fs::read(path).unwrap(), &options)
}

/// Models of a folder.
fn models(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|own| own == "onnx")).collect();
    all.sort();
    all
}

/// Compares the results of a graph with lines `name dtype extents`. Returns the number of results compared.
fn compare(path: &Path, imported: &ImportedGraph, graph: &Graph) -> usize {
    let shapes = std::fs::read_to_string(path.with_extension("shapes")).unwrap();
    assert_eq!(shapes.lines().count(), graph.outputs.len(), "{}", path.display());
    let mut compared = 0;
    for (line, wanted) in shapes.lines().zip(&graph.outputs) {
        let mut words = line.split(' ').skip(1);
        let number: u32 = words.next().unwrap().parse().unwrap();
        let Ok(mut own) = words.map(str::parse).collect::<Result<Vec<u64>, _>>() else { continue };
        let mut found = extents(graph, wanted.tensor);
        if imported.transposes > 0 {
            // An imported transposition may have reordered the axes of the result.
            own.sort_unstable();
            found.sort_unstable();
        }
        assert_eq!(found, own, "{}: {line}", path.display());
        let dtype = graph.tensors[wanted.tensor].candidates[0].tensor.dtype.to_string();
        let elements = ELEMENTS.iter().find(|row| row.0 == number).map(|row| row.1);
        assert_eq!(Some(dtype.as_str()), elements, "{}: {line}", path.display());
        compared += 1;
    }
    compared
}

/// Row of [`REASONS`] that matches a diagnostic.
fn reason(fault: &Diagnostic) -> Option<usize> {
    let is_there = |part: &str| {
        fault.message.contains(part) || fault.notes.iter().any(|note| note.contains(part))
    };
    REASONS.iter().position(|(part, _)| is_there(part))
}

/// ONNX's operator tests: imported models are valid and have the shapes and element types that the tests declare and
/// that their data have. Runs every 16th, or all under `LAYOUTC_FULL=1`.
#[test]
fn result_shapes_of_onnx_node_tests_are_inferred() {
    let every = cases(16, 1);
    let folder = empty_folder("import_cases");
    let what = format!("--cases={every}");
    if !run_script("models.py", &folder, &[OsStr::new(&what), folder.as_os_str()]) {
        return;
    }
    let (mut accepted, mut compared) = (0, 0);
    let mut refused: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let models = models(&folder);
    for path in &models {
        match imported(path) {
            Ok(imported) => {
                accepted += 1;
                compared += compare(path, &imported, &graph(&imported.text));
            }
            Err(ImportError::Faulty(fault)) => {
                let expected = [Code::ImportShape, Code::ImportUnsupported];
                assert!(expected.contains(&fault.code), "{}: {fault:?}", path.display());
                let reason = reason(&fault).unwrap_or_else(|| panic!("{fault:?}"));
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                refused.entry(reason).or_default().push(name);
            }
            Err(ImportError::InvalidOption(line)) => panic!("{}: {line}", path.display()),
        }
    }
    for ((reason, most), names) in refused.iter().map(|(k, names)| (REASONS[*k], names)) {
        eprintln!("{} refused, {reason}: {}", names.len(), names.join(" "));
        assert!(names.len() <= most, "{reason}: {names:?}");
    }
    eprintln!("{accepted} of {} imported, {compared} results compared", models.len());
    let least = [(1, 1700, 1884), (16, 105, 118)].into_iter().find(|row| row.0 == every).unwrap();
    assert!(accepted >= least.1 && models.len() >= least.2, "{accepted} of {}", models.len());
    assert!(compared >= accepted, "{compared}");
}

/// Values computed from input shapes and constants equal those of ONNX: 40 models, or 200 under `LAYOUTC_FULL=1`.
#[test]
fn shape_arithmetic_equals_onnx() {
    let count = cases(40, 200);
    let folder = empty_folder("import_arithmetic");
    let all = count.to_string();
    let arguments = [folder.as_os_str(), OsStr::new("0"), OsStr::new(&all)];
    if !run_script("arithmetic.py", &folder, &arguments) {
        return;
    }
    let mut compared = 0;
    let models = models(&folder);
    for path in &models {
        let found = imported(path).unwrap_or_else(|fault| panic!("{}: {fault:?}", path.display()));
        assert_eq!(found.nodes, 0, "{}", path.display());
        compared += compare(path, &found, &graph(&found.text));
    }
    assert_eq!(models.len(), count);
    assert!(compared >= 4 * count, "{compared}");
}
