//! `layoutc import`: what is printed, written, and refused.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::World;

fn world(models: &[&str]) -> World {
    let world = World::new(&[]);
    for model in models {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/models");
        world.write_bytes(model, &fs::read(folder.join(model)).expect("a model"));
    }
    world
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
    let world = world(&["relu.onnx"]);
    assert_eq!(world.run(&["import", "relu.onnx"]).good(), RELU);
    let told = world.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    assert_eq!(told.good(), "written    relu.kdl\nrelu: 1 operator, 2 tensors\n");
    assert_eq!(world.read("relu.kdl").as_deref(), Some(RELU));
    assert!(world.run(&["check", "relu.kdl"]).good().starts_with("1 graph in 1 manifest proven"));
    let again = world.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    assert!(again.good().starts_with("unchanged  relu.kdl\n"));
}

#[test]
fn what_somebody_wrote_is_not_written_over() {
    let world = world(&["relu.onnx"]);
    world.write("relu.kdl", "// mine\n");
    let ran = world.run(&["import", "relu.onnx", "-o", "relu.kdl"]);
    let line =
        "error: `relu.kdl` is there already and says something else; `--force` writes over it\n";
    assert_eq!(ran.refused(), (Some(2), line));
    assert_eq!(world.read("relu.kdl").as_deref(), Some("// mine\n"));
    let ran = world.run(&["import", "relu.onnx", "-o", "relu.kdl", "--force"]);
    assert!(ran.good().starts_with("written"));
    let ran = world.run(&["import", "relu.onnx", "-o", "relu.onnx", "--force"]);
    let line = "error: `relu.onnx` would overwrite `relu.onnx`, which is read\n";
    assert_eq!(ran.refused(), (Some(2), line));
}

#[test]
fn json_has_the_counts() {
    let world = world(&["relu.onnx"]);
    let ran =
        world.run(&["import", "relu.onnx", "-o", "r.kdl", "--graph", "net", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.good()).expect("one object");
    let wanted = serde_json::json!({
        "version": 1, "kind": "import", "graph": "net", "nodes": 1, "tensors": 2, "transposes": 0,
        "folded": 0, "path": "r.kdl", "status": "written",
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
    let ran = world.run(&["import", "relu.onnx", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.good()).expect("one object");
    assert_eq!(object["text"], RELU);
}

#[test]
fn what_is_wrong_is_told_with_the_file() {
    let world = world(&["batch.onnx", "mismatch.onnx", "control.onnx"]);
    let ran = world.run(&["import", "batch.onnx"]);
    let told = "\
error[import::shape]: the model leaves extents open: `batch`
  ┌─ batch.onnx
  = help: say them: `--set batch=1`
  = help: or give an input's whole shape: `--shape NAME=1,3,224,224`

1 error
";
    assert_eq!(ran.refused(), (Some(1), told));
    assert!(
        world.run(&["import", "batch.onnx", "--set", "batch=4"]).good().contains("{ N 4; C 3;")
    );
    for (args, line) in [
        (["batch.onnx", "--set", "batch"], "`--set batch`: write a name and a whole number"),
        (["batch.onnx", "--set", "batch=0"], "`--set batch=0`: write a name and a whole number"),
        (["batch.onnx", "--set", "n=1"], "no input has an extent of that name; there is `batch`"),
        (["batch.onnx", "--shape", "y=1"], "the model has no input of that name; there is `x`"),
        (["batch.onnx", "--shape", "x=1,2"], "`--shape x=…`: [1, 2] for 4 axes"),
    ] {
        let ran = world.run(&[&["import"], &args[..]].concat());
        let (code, told) = ran.refused();
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(line), "{told}");
    }
    let ran = world.run(&["import", "nothing.onnx"]);
    assert_eq!(ran.refused(), (Some(2), "error: there is no `nothing.onnx`\n"));
    let (code, told) = (ran.code, world.run(&["import", "control.onnx"]).err);
    assert_eq!(code, Some(2));
    assert!(told.contains("error[import::unsupported]: `If` runs a graph of its own"), "{told}");
}
