//! `layoutc import`: output, files and errors.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

fn sandbox(models: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    for model in models {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/models");
        sandbox.write(model, &fs::read(folder.join(model)).expect("a model"));
    }
    sandbox
}

const RELU: &str = "\
// Imported from relu.onnx.
graph relu backend=onnx {
    input x dtype=f32 layout=NCHW { shape { N 1; C 3; H 8; W 8 } }

    node relu_0 op=Relu {
        in x
        out relu_0_out dtype=f32 { shape { N 1; C 3; H 8; W 8 } }
    }

    output relu_0_out layout=NCHW
}
";

#[test]
fn a_graph_is_printed_or_written() {
    let sandbox = sandbox(&["relu.onnx"]);
    assert_eq!(sandbox.run(&["import", "relu.onnx"]).success(), RELU);
    let report = sandbox.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    assert_eq!(report.success(), "written    relu.kdl\nrelu: 1 operator, 2 tensors\n");
    assert_eq!(sandbox.read("relu.kdl").as_deref(), Some(RELU));
    assert!(
        sandbox.run(&["check", "relu.kdl"]).success().starts_with("1 graph in 1 manifest proven")
    );
    let again = sandbox.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    assert!(again.success().starts_with("unchanged  relu.kdl\n"));
}

#[test]
fn user_files_are_not_overwritten() {
    let sandbox = sandbox(&["relu.onnx"]);
    sandbox.write("relu.kdl", "// mine\n");
    let ran = sandbox.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    let line = "error: `relu.kdl` exists with different content; use `--force` to overwrite it\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.read("relu.kdl").as_deref(), Some("// mine\n"));
    let ran = sandbox.run(&["import", "relu.onnx", "-o", "relu.kdl", "--force"]);
    assert!(ran.success().starts_with("written"));
    let ran = sandbox.run(&["import", "relu.onnx", "-o", "relu.onnx", "--force"]);
    let line = "error: output `relu.onnx` would overwrite the input `relu.onnx`\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn json_has_the_counts() {
    let sandbox = sandbox(&["relu.onnx"]);
    let ran =
        sandbox.run(&["import", "relu.onnx", "-o", "r.kdl", "--graph", "net", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("one object");
    let wanted = serde_json::json!({
        "version": 1, "kind": "import", "graph": "net", "nodes": 1, "tensors": 2, "transposes": 0,
        "folded": 0, "assumed": {}, "path": "r.kdl", "status": "written",
        "map": {
            "nodes": [{ "name": "relu_0", "model": "relu_0", "op": "Relu" }],
            "tensors": [
                { "name": "x", "model": "x", "axes": ["N", "C", "H", "W"] },
                { "name": "relu_0_out", "model": "relu_0_out", "axes": ["N", "C", "H", "W"] },
            ],
            "constants": [],
        },
    });
    assert_eq!(object, wanted);
    let ran = sandbox.run(&["import", "relu.onnx", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("one object");
    assert_eq!(object["text"], RELU);
}

#[test]
fn import_errors_name_the_file() {
    let sandbox = sandbox(&["batch.onnx", "mismatch.onnx", "nonzero.onnx", "sequence.onnx"]);
    let ran = sandbox.run(&["import", "nonzero.onnx"]);
    let report = "\
error[import::shape]: the result shapes of `NonZero` are unknown before the model runs
  ┌─ nonzero.onnx
  = in `nonzero_0`, the `NonZero` that produces `nonzero_0_out`
  = the number of nonzero elements is known only when the model runs
  = help: `onnx.shape_inference.infer_shapes` adds the shapes that it can infer

1 error
for more information, run `layoutc explain import::shape`
";
    assert_eq!(ran.failure(), (Some(1), report));
    for (args, line) in [
        (
            ["batch.onnx", "--set", "batch"],
            "`--set batch`: expected NAME=EXTENT with a positive integer",
        ),
        (
            ["batch.onnx", "--set", "batch=0"],
            "`--set batch=0`: expected NAME=EXTENT with a positive integer",
        ),
        (["batch.onnx", "--set", "n=1"], "no input has a dimension of that name; there is `batch`"),
        (["batch.onnx", "--shape", "y=1"], "the model has no input of that name; there is `x`"),
        (["batch.onnx", "--shape", "x=1,2"], "`--shape x=…`: [1, 2] for 4 axes"),
    ] {
        let ran = sandbox.run(&[&["import"], &args[..]].concat());
        let (code, report) = ran.failure();
        assert_eq!(code, Some(2), "{report}");
        assert!(report.contains(line), "{report}");
    }
    let ran = sandbox.run(&["import", "nothing.onnx"]);
    assert_eq!(ran.failure(), (Some(2), "error: `nothing.onnx` does not exist\n"));
    let report = sandbox.run(&["import", "sequence.onnx"]).err;
    let line = "error[import::unsupported]: `SplitToSequence` operates on sequences of tensors";
    assert!(report.contains(line), "{report}");
}

#[test]
fn open_extents_are_assumed_and_reported() {
    let sandbox = sandbox(&["batch.onnx"]);
    let ran = sandbox.run(&["import", "batch.onnx"]);
    let report = "assumed extents: batch=1; override them with `--set` or `--shape`\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), report));
    let head = "// The model leaves extents open; assumed: batch=1\n// Imported from batch.onnx.\n";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    let ran = sandbox.run(&["import", "batch.onnx", "--format", "json"]);
    let object: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!(object["assumed"], serde_json::json!({ "batch": 1 }));
    let ran = sandbox.run(&["import", "batch.onnx", "--set", "batch=4"]);
    assert!(ran.success().contains("{ N 4; C 3;"));
    assert_eq!(ran.err, "");
}

#[test]
fn run_time_branches_are_imported_as_one_operator() {
    let sandbox = sandbox(&["control.onnx", "declared.onnx"]);
    let ran = sandbox.run(&["import", "control.onnx"]);
    let node = "op=If {\n        in flag x\n        out if_0_out dtype=f32 { shape { N 1; C 3; H 8; W 8 } }\n";
    assert!(ran.success().contains(node), "{}", ran.out);
    assert!(
        sandbox.run(&["import", "declared.onnx"]).success().contains("{ shape { N 2; C 12 } }")
    );
}
