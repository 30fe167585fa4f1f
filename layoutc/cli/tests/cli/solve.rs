//! `layoutc solve`, and the example whose schedule is compiled and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sandbox::Sandbox;
use layoutc_testing::process::needed_program;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn block() -> String {
    let path = root().join("examples/residual-block/layouts/block.kdl");
    fs::read_to_string(path).expect("the example")
}

#[test]
fn solve_json_has_the_documented_fields() {
    let sandbox = Sandbox::new(&[("block.kdl", &block())]);
    let ran = sandbox.run(&["solve", "block.kdl", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("one object");
    assert_eq!(object["version"], 1);
    let graph = &object["graphs"][0];
    assert_eq!(graph["name"], "block");
    assert_eq!((&graph["cost"], &graph["lower_bound"]), (&301_056.into(), &301_056.into()));
    assert_eq!(graph["optimal"], true);
    assert_eq!(graph["inputs"], serde_json::json!({}));
    assert_eq!(graph["choices"], serde_json::json!({ "conv1": 1, "conv2": 1 }));
    let first = serde_json::json!({
        "tensor": "x", "from": "NHWC", "to": "NCHW16c", "cost": 100_352,
    });
    assert_eq!(graph["conversions"][0], first);
    assert_eq!(graph["constants"].as_array().map(Vec::len), Some(2));
    // An unconstrained layout is chosen, and reported as such.
    let text = block().replace("input x dtype=f32 layout=NHWC", "input x dtype=f32");
    sandbox.write("block.kdl", &text);
    let ran = sandbox.run(&["solve", "block.kdl", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("one object");
    assert_eq!(object["graphs"][0]["inputs"], serde_json::json!({ "x": "NCHW16c" }));
}

#[test]
fn plans_are_deterministic() {
    let sandbox = Sandbox::new(&[("block.kdl", &block())]);
    for format in ["text", "json", "dot"] {
        let first = sandbox.run(&["solve", "block.kdl", "--format", format]);
        let again = sandbox.run(&["solve", "block.kdl", "--format", format]);
        assert_eq!(first.success(), again.success());
    }
}

#[test]
fn graphviz_shows_proof_and_conversion_bytes() {
    let sandbox = Sandbox::new(&[("block.kdl", &block())]);
    let ran = sandbox.run(&["solve", "block.kdl", "--format", "dot"]);
    for line in [
        "digraph \"block\" {\n  graph [label=\"block: 301056 bytes, proven least\" ",
        " [shape=box label=\"conv1\\nconv, 50176 bytes\"]\n",
        " fillcolor=\"#ffd9a0\" label=\"to NCHW16c\\n100352 bytes\"]\n",
        " fillcolor=\"#ffd9a0\" label=\"to OIHW16i16o\\nonce\"]\n",
        " [label=\"x NCHW16c, 50176 bytes\"]\n",
    ] {
        assert!(ran.success().contains(line), "{line}{}", ran.out);
    }
    assert_eq!(ran.out.matches(" -> ").count(), 13, "{}", ran.out);
}

#[test]
fn unknown_graphs_are_refused_in_one_line() {
    let sandbox = Sandbox::new(&[("block.kdl", &block()), ("none.kdl", "")]);
    let ran = sandbox.run(&["solve", "block.kdl", "--graph", "blok"]);
    let line = "error: unknown graph `blok`; expected one of `block`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    let ran = sandbox.run(&["solve", "none.kdl"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "no graphs found\n"));
}

#[test]
fn unsatisfiable_graph_is_an_error_of_every_command() {
    let text =
        block().replace("output y layout=NHWC", "output y layout=NHWC\n    keep x\n    keep t3");
    let text = text.replace("accepts cost-per-byte=6 { in NHWC OHWI; out NHWC }", "");
    let sandbox = Sandbox::new(&[("block.kdl", &text)]);
    for command in ["check", "build", "solve"] {
        let ran = sandbox.run(&[command, "block.kdl"]);
        assert_eq!(ran.code, Some(1), "{command}");
        let told = "error[graph::pinned]: no plan of `block` is possible";
        assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
    }
    assert!(sandbox.files("generated").is_empty());
}

#[test]
fn a_graph_that_check_refuses_has_no_plan() {
    let refused = "\
backend device {
    op conv {
        accepts cost=100 { in NCHW OIHW; out NCHW }
    }
}
graph refused backend=device {
    input x dtype=f32 layout=NHWC { shape { N 1; H 8; W 8; C 32 } }
    constant w dtype=f32 layout=OIHW { shape { O 32; I 32; H 1; W 1 } }
    node c op=conv { in x w; out y dtype=f32 layout=NCHW { shape { N 1; H 8; W 8; C 32 } } }
    output y
}
";
    let sandbox = Sandbox::new(&[("a.kdl", refused), ("block.kdl", &block())]);
    let report = sandbox.run(&["check", "a.kdl"]).err;
    assert!(report.contains("error[graph::unsatisfied]"), "{report}");
    for format in ["text", "dot"] {
        let ran = sandbox.run(&["solve", "a.kdl", "--format", format]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(1), "", report.as_str()));
    }
    // The other graphs are still solved.
    let ran = sandbox.run(&["solve", "a.kdl", "block.kdl", "--format", "json"]);
    assert_eq!(ran.code, Some(1));
    let first = ran.out.lines().next().expect("the plans");
    let object: Value = serde_json::from_str(first).expect("one object");
    let names: Vec<_> =
        object["graphs"].as_array().into_iter().flatten().map(|graph| &graph["name"]).collect();
    assert_eq!(names, ["block"]);
}

#[test]
fn example_schedule_agrees_with_dense_arrays() {
    let Some(gcc) = needed_program("gcc") else { return };
    let sandbox = Sandbox::new(&[("layouts/block.kdl", &block())]);
    let main = root().join("examples/residual-block/main.c");
    sandbox.run(&["build", "layouts/block.kdl", "--out", "generated"]).success();
    let folder = sandbox.path("generated/c");
    let strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion"];
    let program = sandbox.path("block");
    let compiled = Command::new(gcc)
        .args(strict)
        .args(["-Werror", "-O1", "-fsanitize=address,undefined", "-I"])
        .arg(&folder)
        .args([&main, &folder.join("block.c")])
        .arg("-o")
        .arg(&program)
        .output()
        .expect("gcc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // It frees nothing before it exits.
    let mut run = Command::new(&program);
    let result = sandbox.path("y.bin");
    let ran = run.env("ASAN_OPTIONS", "detect_leaks=0").arg(&result).output().expect("it runs");
    let message = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{message}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(message, "5 operators ran, 12544 elements agree\n");
    // If NumPy is available, as in the long campaigns, its result must agree.
    if let Some(numpy) = std::env::var_os("LAYOUTC_NUMPY") {
        let mut python = Command::new("python3");
        let ran = python.env("PYTHONPATH", numpy).args(["-c", NUMPY]).arg(&result).output();
        let ran = ran.expect("python runs");
        let message = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{message}");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "equal\n", "{message}");
    }
}

/// The block in `NumPy`, with the example's inputs, compared with the file it wrote.
const NUMPY: &str = "
import sys
import numpy as np
def filled(count, factor, modulus):
    return (np.arange(count) * factor % modulus - modulus // 2).astype(np.float32)
x = filled(14 * 14 * 64, 7, 11).reshape(14, 14, 64)
w1 = filled(64 * 64, 5, 7).reshape(64, 64)
w2 = filled(64 * 9 * 64, 3, 5).reshape(64, 3, 3, 64)
t = np.pad(np.maximum(np.einsum('hwi,oi->hwo', x, w1), 0), ((1, 1), (1, 1), (0, 0)))
taps = [(r, s) for r in range(3) for s in range(3)]
y = sum(np.einsum('hwi,oi->hwo', t[r:r + 14, s:s + 14], w2[:, r, s]) for r, s in taps)
y = np.maximum(y + x, 0)
found = np.fromfile(sys.argv[1], np.float32).reshape(y.shape)
print('equal' if np.array_equal(found, y) else np.argwhere(found != y)[:4])
";

#[test]
fn conversions_can_be_priced_by_measured_time() {
    if needed_program("gcc").is_none() {
        return;
    }
    let sandbox = Sandbox::new(&[("block.kdl", &block())]);
    let args = ["solve", "block.kdl", "--measure", "--cc", "gcc", "--format", "json"];
    let ran = sandbox.run(&args);
    let object: Value = serde_json::from_str(ran.success()).expect("one object");
    let graph = &object["graphs"][0];
    assert_eq!((&graph["optimal"], &graph["cost"]), (&true.into(), &graph["lower_bound"]));
    // For any choice of conversions, the cost is the sum of their costs and those of the alternatives.
    let paid = graph["conversions"].as_array().expect("a list").iter();
    let paid: u64 = paid.map(|one| one["cost"].as_u64().expect("a cost")).sum();
    let own: u64 = ["conv1", "conv2"]
        .iter()
        .map(|node| if graph["choices"][node] == 1 { 50_176 } else { 301_056 })
        .sum();
    assert_eq!(graph["cost"], paid + own);
    let ran = sandbox.run(&["solve", "block.kdl", "--measure", "--cc", "no-such-compiler"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let ran = sandbox.run(&["solve", "block.kdl", "--cc", "gcc"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}
