//! Operator rules of graphs for shapes, element types and transpositions, and layout changes without cost; expected
//! costs are computed by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::common::check_text::{assert_diagnostics, check_text, diagnostics};
use layoutc_compiler::base::diagnostic::Severity;
use layoutc_compiler::model::Manifest;
use layoutc_compiler::model::schedule::ScheduleCall;
use layoutc_compiler::solve::{GraphPlan, SolverOptions, lay_out, solve};

fn laid_out(text: &str) -> (Manifest, GraphPlan) {
    let checked = check_text(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    let manifest = &checked.manifests[0];
    let plan = solve(&manifest.graphs[0], &SolverOptions::default()).unwrap();
    (lay_out(manifest).unwrap(), plan)
}

/// Cost of a plan, number of calls per run, and how many of these are conversions.
fn figures(text: &str) -> (u64, usize, usize) {
    let (manifest, plan) = laid_out(text);
    let run = &manifest.schedules[0].run;
    let is_conversion = |call: &&ScheduleCall| matches!(call, ScheduleCall::Convert { .. });
    (plan.cost, run.len(), run.iter().filter(is_conversion).count())
}

#[test]
fn an_aligned_string_is_a_layout_of_its_own() {
    let text = "backend b {
    op conv { accepts { in NHWC; out \"N[a=128]HWC\" } }
}
graph g backend=b {
    input x dtype=f32 layout=NHWC { shape { N 2; C 3; H 3; W 3 } }
    node c op=conv { in x; out t dtype=f32 { shape { N 2; C 3; H 3; W 3 } } }
    output t layout=NHWC
}
";
    // Images of 27 elements with a stride of 32.
    assert_eq!(figures(text), (256 + 216, 2, 1));
    // Images of 32 elements have equal strides in both layouts.
    let text = text.replace("C 3; H 3; W 3", "C 2; H 4; W 4");
    assert_eq!(figures(&text), (0, 1, 0));
}

/// A pool in NCHW before a convolution on blocks of 16 channels, with `channels` channels.
fn squeeze(channels: usize) -> String {
    format!(
        "backend b {{
    op pool {{ accepts {{ in NCHW; out NCHW }} }}
    op conv {{ accepts {{ in NCHW16c OIHW16i16o; out NCHW16c }} }}
}}
graph se backend=b {{
    input x dtype=f32 layout=NCHW {{ shape {{ N 1; C {channels}; H 7; W 7 }} }}
    constant w dtype=f32 layout=OIHW {{ shape {{ O 32; I {channels}; H 1; W 1 }} }}
    node p op=pool {{ in x; out t dtype=f32 {{ shape {{ N 1; C {channels}; H 1; W 1 }} }} }}
    node c op=conv {{ in t w; out y dtype=f32 {{ shape {{ N 1; C 32; H 1; W 1 }} }} }}
    output y layout=NCHW
}}
"
    )
}

#[test]
fn a_change_into_more_bytes_is_a_conversion_and_back_it_is_free() {
    // A conversion reads 12 channels and writes 16, because the block is padded.
    assert_eq!(figures(&squeeze(12)), (48 + 64, 3, 1));
    assert_eq!(figures(&squeeze(16)), (0, 2, 0));
    let back = "graph g {
    input x dtype=f32 layout=NCHW16c { shape { N 1; C 12; H 1; W 1 } }
    node f op=f { in x; out y dtype=f32 { shape { N 1; C 12; H 1; W 1 } }; accepts { in NCHW; out NCHW16c } }
    output y layout=NHWC
}
";
    assert_eq!(figures(back), (0, 1, 0));
    let (manifest, _) = laid_out(back);
    let schedule = &manifest.schedules[0];
    // Each buffer has the size of the layout that is written; the layout that is read is smaller.
    assert!(schedule.buffers.iter().all(|buffer| buffer.bytes == 64), "{:?}", schedule.buffers);
    let read = schedule.operators[0].reads[0].tensor;
    assert_eq!(manifest.tensors[read].layout.physical_elements.as_const(), Some(12));
    // Packed elements: three of 4 bits take as many bytes as four, but fewer slots.
    let text = "graph g {
    input x dtype=u4 layout=NC { shape { N 1; C 3 } }
    node f op=f { in x; out y dtype=u4 { shape { N 1; C 3 } }; accepts { in NC4c; out NC } }
    output y layout=NC
}
";
    assert_eq!(figures(text), (2 + 2, 2, 1));
}

/// A transposition, an operator and the inverse transposition.
fn turned(first: &str, between: &str, ends: &str) -> String {
    format!(
        "graph g backend=canonical {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 1; H 4; W 4; C 8 }} }}
    node a op=Transpose {first} {{ in x; out t dtype=f32 {{ shape {{ N 1; C 8; H 4; W 4 }} }} }}
    node r op=Relu {{ in t; out s dtype=f32{between} {{ shape {{ N 1; C 8; H 4; W 4 }} }} }}
    node b op=Transpose shuffle=\"0,2,3,1\" {{ in s; out y dtype=f32 {{ shape {{ N 1; H 4; W 4; C 8 }} }} }}
    {ends}
}}
"
    )
}

#[test]
fn opposite_transpositions_cancel_through_an_operator() {
    for first in ["", "perm=\"0,3,1,2\"", "shuffle=\"0, 3, 1, 2\""] {
        assert_eq!(figures(&turned(first, "", "output y layout=NHWC")), (0, 1, 0), "{first}");
    }
    // One conversion reads and writes 512 bytes, wherever it is.
    let text = turned("", "", "output y layout=NCHW");
    assert_eq!(figures(&text), (1024, 2, 1));
    // The tensor in between must be channels first: it is converted there and back.
    let text = turned("", " layout=NCHW", "keep s; output y layout=NHWC");
    assert_eq!(figures(&text), (2048, 3, 2));
    // Kept tensors are not converted; tensors computed from them are.
    let text = turned("", " layout=NCHW", "keep x; keep t; keep s; output y layout=NHWC");
    assert_eq!(figures(&text), (2048, 3, 2));
    // Three consecutive transpositions with new letters cancel.
    let text = "graph g backend=canonical {
    input x dtype=f32 layout=HWC { shape { H 4; W 5; C 8 } }
    node a op=Transpose perm=\"2,0,1\" { in x; out t dtype=f32 { shape { D 8; Y 4; X 5 } } }
    node b op=Transpose perm=\"2,0,1\" { in t; out y dtype=f32 { shape { A 5; B 8; E 4 } } }
    node c op=Transpose perm=\"2,0,1\" { in y; out z dtype=f32 { shape { H 4; W 5; C 8 } } }
    output z layout=HWC
}
";
    assert_eq!(figures(text), (0, 0, 0));
}

#[test]
fn what_is_transposed_is_told_in_the_schedule() {
    let (manifest, _) = laid_out(&turned("", "", "output y layout=NHWC"));
    let schedule = &manifest.schedules[0];
    let held: Vec<(&str, Vec<&str>)> = schedule
        .buffers
        .iter()
        .map(|buffer| {
            let held = buffer.held.iter().map(|held| held.name.as_str());
            (buffer.name.as_str(), held.collect())
        })
        .collect();
    assert_eq!(held, [("x", vec!["t"]), ("s", vec!["y"])]);
    let output = &schedule.outputs[0];
    assert_eq!((output.name.as_str(), output.buffer), ("y", 1));
    assert!(schedule.buffers[1].held[0].is_output);
    assert_eq!(schedule.operators[0].reads[0].name, "t");
}

#[test]
fn a_transposition_that_cannot_be_one_is_refused() {
    let text = |perm: &str, axes: &str| {
        format!(
            "graph g backend=onnx {{
    input x dtype=f32 {{ shape {{ N 2; C 3 }} }}
    node t op=Transpose {perm} {{ in x; out y dtype=f32 {{ shape {{ {axes} }} }} }}
    output y
}}
"
        )
    };
    assert_eq!(diagnostics(&text("", "C 3; N 2")), []);
    assert_eq!(diagnostics(&text("perm=\"1,0\"", "A 3; B 2")), []);
    for (perm, axes, why) in [
        (
            "perm=\"1,0\"",
            "N 2; C 3",
            "the transposition of `x` (N 2, C 3) is not `y` (N 2, C 3): `N` is 2 and its source `C` is 3",
        ),
        (
            "perm=\"0,2\"",
            "N 2; C 3",
            "`perm` is not a permutation of the axes of `x` (N 2, C 3) to `y` (N 2, C 3)",
        ),
        (
            "",
            "A 3; B 2",
            "`x` (N 2, C 3) and `y` (A 3, B 2) have different axes, and there is no `perm`",
        ),
        (
            "",
            "C 4; N 2",
            "the transposition of `x` (N 2, C 3) is not `y` (C 4, N 2): `C` is 4 and its source `C` is 3",
        ),
    ] {
        let message = format!("incompatible shapes in `t` (Transpose): {why}");
        assert_diagnostics(&text(perm, axes), &[("graph::shape", "t", &message)]);
    }
}

/// Diagnostics of an operator with these tensors: each a shape, followed by `:` and the type if it is not f32.
fn messages(backend: &str, op: &str, reads: &[&str], gives: &[&str]) -> Vec<String> {
    let tensor = |head: &str, k: usize, text: &str| {
        let (shape, dtype) = text.split_once(':').unwrap_or((text, "f32"));
        format!("{head}{k} dtype={dtype} {{ shape {{ {shape} }} }}")
    };
    let inputs: Vec<String> = reads
        .iter()
        .enumerate()
        .map(|(k, text)| format!("    {}\n", tensor("input x", k, text)))
        .collect();
    let names: Vec<String> = (0..reads.len()).map(|k| format!("x{k}")).collect();
    let outs: Vec<String> =
        gives.iter().enumerate().map(|(k, text)| tensor("; out y", k, text)).collect();
    let text = format!(
        "backend b {{ op each elementwise=#true; op mix any=#true shapes=product }}\n\
         graph g backend={backend} {{\n{}    node n op={op} {{ in {}{} }}\n    output y0\n}}\n",
        inputs.concat(),
        names.join(" "),
        outs.concat()
    );
    diagnostics(&text)
        .iter()
        .map(|fault| format!("{}: {}", fault.code.id(), fault.message))
        .collect()
}

#[test]
fn shapes_that_go_together_are_good() {
    for (backend, op, reads, gives) in [
        ("b", "each", &["N 2; C 3", "C 3"][..], &["N 2; C 3"][..]),
        ("b", "each", &["N 2; C 3", "C 3; N 2"], &["C 3; N 2"]),
        ("b", "each", &["N 2; C 1", "N 1; C 3"], &["N 2; C 3"]),
        ("onnx", "Add", &["N 2; C 3", "A 3"], &["N 2; C 3"]),
        ("onnx", "Add", &["N 2; C 3", ""], &["N 2; C 3"]),
        ("onnx", "Cast", &["N 2; C 3"], &["N 2; C 3:i8"]),
        ("onnx", "Less", &["N 2; C 3", "C 3"], &["N 2; C 3:bool"]),
        ("onnx", "Where", &["N 2; C 3:bool", "C 3", "C 3"], &["N 2; C 3"]),
        ("onnx", "Concat axis=C", &["N 2; C 3", "N 2; C 4"], &["N 2; C 7"]),
        ("onnx", "Concat axis=-1", &["N 2; C 3", "N 2; C 4"], &["N 2; C 7"]),
        ("canonical", "Concat", &["N 2; C 3", "N 2; C 3"], &["N 4; C 3"]),
        ("onnx", "Split axis=C", &["N 2; C 7"], &["N 2; C 3", "N 2; C 4"]),
        ("onnx", "MatMul", &["N 2; C 3", "N 3; C 5"], &["N 2; C 5"]),
        ("canonical", "MatMul", &["B 7; M 2; K 3", "K 3; N 5"], &["B 7; M 2; N 5"]),
        ("canonical", "MatMul", &["K 3", "K 3; N 5"], &["N 5"]),
        ("b", "mix", &["K 3; M 2", "N 5; K 3"], &["M 2; N 5"]),
        ("onnx", "Gemm transA=1 transB=1", &["N 3; C 2", "N 5; C 3"], &["N 2; C 5"]),
        ("onnx", "Conv group=2", &["N 1; C 4; W 5", "O 6; I 2; W 1"], &["N 1; C 6; W 5"]),
        ("onnx", "Reshape", &["N 2; C 6"], &["N 4; C 3"]),
    ] {
        assert_eq!(messages(backend, op, reads, gives), [""; 0], "{op} {reads:?} {gives:?}");
    }
}

#[test]
fn shapes_that_do_not_go_together_are_told_with_their_figures() {
    for (backend, op, reads, gives, why) in [
        (
            "b",
            "each",
            &["N 2; C 3", "N 2; C 4"][..],
            &["N 2; C 3"][..],
            "`x1` (N 2, C 4) cannot be broadcast to `y0` (N 2, C 3): `C` is 4 and 3",
        ),
        (
            "b",
            "each",
            &["N 2; C 1"],
            &["N 2; C 3"],
            "`y0` (N 2, C 3) has extent 3 along `C`, and no operand has it",
        ),
        (
            "b",
            "each",
            &["B 1; N 2; C 3"],
            &["N 2; C 3"],
            "`x0` (B 1, N 2, C 3) cannot be broadcast to `y0` (N 2, C 3): it has more axes",
        ),
        (
            "onnx",
            "Concat axis=C",
            &["N 2; C 3", "N 2; C 4"],
            &["N 2; C 6"],
            "the concatenation of `x0` (N 2, C 3) and `x1` (N 2, C 4) along `C` is not `y0` (N 2, C 6)",
        ),
        (
            "onnx",
            "Concat axis=C",
            &["N 2; C 3", "N 1; C 4"],
            &["N 2; C 7"],
            "the concatenation of `x0` (N 2, C 3) and `x1` (N 1, C 4) along `C` is not `y0` (N 2, C 7)",
        ),
        (
            "onnx",
            "MatMul",
            &["N 2; C 3", "N 4; C 5"],
            &["N 2; C 5"],
            "the product of `x0` (N 2, C 3) and `x1` (N 4, C 5) is not `y0` (N 2, C 5): the inner extents are 3 and 4",
        ),
        (
            "onnx",
            "MatMul",
            &["N 2; C 3", "N 3; C 5"],
            &["N 2; C 4"],
            "the product of `x0` (N 2, C 3) and `x1` (N 3, C 5) is not `y0` (N 2, C 4): the product has the extents (2, 5)",
        ),
        (
            "onnx",
            "Conv group=1",
            &["N 1; C 4; W 5", "O 6; I 2; W 1"],
            &["N 1; C 6; W 5"],
            "`C` of `x0` (N 1, C 4, W 5) is 4, and `I` of `x1` (O 6, I 2, W 1) is 2 per group",
        ),
        (
            "onnx",
            "Reshape",
            &["N 2; C 6"],
            &["N 4; C 4"],
            "`x0` (N 2, C 6) has 12 elements, and `y0` (N 4, C 4) has 16",
        ),
    ] {
        let name = op.split(' ').next().unwrap();
        let expected = format!("graph::shape: incompatible shapes in `n` ({name}): {why}");
        assert_eq!(messages(backend, op, reads, gives), [expected], "{op} {reads:?} {gives:?}");
    }
}

#[test]
fn element_types_that_do_not_go_together_are_told() {
    for (op, reads, gives, why) in [
        ("Add", &["N 2:f32", "N 2:i8"][..], "N 2:f32", "reads `x0` as f32 and reads `x1` as i8"),
        ("Relu", &["N 2:f32"], "N 2:f16", "reads `x0` as f32 and writes `y0` as f16"),
        ("Less", &["N 2:f32", "N 2:f64"], "N 2:bool", "reads `x0` as f32 and reads `x1` as f64"),
        (
            "Where",
            &["N 2:bool", "N 2:f32", "N 2:i32"],
            "N 2:f32",
            "reads `x1` as f32 and reads `x2` as i32",
        ),
        ("Transpose", &["N 2:f32"], "N 2:i32", "reads `x0` as f32 and writes `y0` as i32"),
    ] {
        let expected = format!("graph::dtype: `n` ({op}) {why}");
        assert_eq!(messages("onnx", op, reads, &[gives]), [expected], "{op} {reads:?} {gives}");
    }
    // All faults of an operator are reported.
    let text = "graph g backend=canonical {
    input a dtype=f32 layout=NHWC { shape { N 1; H 8; W 8; C 16 } }
    input b dtype=i8 layout=NHWC { shape { N 1; H 4; W 5; C 3 } }
    node s op=Add { in a b; out y dtype=f16 layout=NHWC { shape { N 7; H 7; W 7; C 7 } } }
    output y layout=NHWC
}
";
    let codes: Vec<&str> = diagnostics(text).iter().map(|fault| fault.code.id()).collect();
    assert_eq!(codes, ["graph::dtype", "graph::shape"]);
}

/// A graph with a backend whose convolution has a condition.
fn condition(when: &str) -> String {
    format!(
        "const CHANNELS 32
backend b {{
    op conv {{
        accepts cost=10 {{ in NHWC OHWI; out NHWC }}
        accepts cost=1 when=\"{when}\" {{ in NHWC OHWI; out NHWC }}
    }}
}}
graph g backend=b {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 1; H 4; W 4; C CHANNELS }} }}
    constant w dtype=i8 layout=OHWI {{ shape {{ O 16; H 3; W 3; I 32 }} }}
    node a op=conv stride=2 {{ in x w; out y dtype=f32 {{ shape {{ N 1; H 4; W 4; C 16 }} }} }}
    output y layout=NHWC
}}
"
    )
}

#[test]
fn conditions_ask_every_operand_and_result() {
    for (when, holds) in [
        ("in[1].O == 16 and in[1].I == in[0].C", true),
        ("in[0].C == 32 and out[0].C == 16 and C == 32", true),
        ("in[1].rank == 4 and in[1].dtype == 'i8' and in[0].dtype == 'f32'", true),
        ("in[1][3] == 32 and out[0][0] == 1", true),
        ("in[1].dtype == 'f32'", false),
        ("in[1].H * in[1].W > 9", false),
        ("stride == 2 and not in[0].rank != 4", true),
    ] {
        let (_, plan) = laid_out(&condition(when));
        assert_eq!(plan.cost, if holds { 1 } else { 10 }, "{when}");
    }
}

#[test]
fn names_that_no_node_has_are_warned_of() {
    for (when, marked, message, help) in [
        (
            "strid == 2",
            "strid",
            "no `conv` of the manifest has a property or an axis `strid`",
            "did you mean `stride`?",
        ),
        (
            "Q % 16 == 0",
            "Q",
            "no `conv` of the manifest has a property or an axis `Q`",
            "properties and axes here: `C`, `H`, `I`, `N`, `O`, `W`, `stride`",
        ),
        (
            "in[1].C == 1",
            "C",
            "no `conv` of the manifest has an axis `C` in `in[1]`",
            "names here: `H`, `I`, `O`, `W`, `dtype`, `rank`",
        ),
        (
            "in[1].rnak == 4",
            "rnak",
            "no `conv` of the manifest has an axis `rnak` in `in[1]`",
            "did you mean `rank`?",
        ),
        (
            "in[2].C == 1",
            "C",
            "no `conv` of the manifest has `in[2]`",
            "count operands and results from 0",
        ),
    ] {
        let found = assert_diagnostics(&condition(when), &[("name::unknown", marked, message)]);
        assert_eq!(found[0].severity, Severity::Warning, "{when}");
        assert_eq!(found[0].help, [help], "{when}");
    }
    // Another node of the operator has the property.
    let text = condition("pad == 1").replace("    output y", "    node c op=conv pad=1 { in x w; out z dtype=f32 { shape { N 1; H 4; W 4; C 16 } } }\n    output y");
    assert_eq!(diagnostics(&text), []);
}

#[test]
fn a_star_is_any_axis_and_leads_to_no_other_layout() {
    let text = |second: &str| {
        format!(
            "graph g {{
    input x dtype=f32 layout=NWHC {{ shape {{ N 1; H 4; W 5; C 8 }} }}
    node a op=f {{ in x; out y dtype=f32 {{ shape {{ N 1; H 4; W 5; C 8 }} }}; accepts {{ in \"N**C\"; out NHWC }} }}
    node b op=f {{ in x; out z dtype=f32 {{ shape {{ N 1; H 4; W 5; C 8 }} }}; accepts {{ in {second}; out NHWC }} }}
    output y
    output z
}}
"
        )
    };
    assert_eq!(figures(&text("NWHC")), (0, 2, 0));
    // Satisfying `N**C` does not make the layout NHWC.
    assert_eq!(figures(&text("NHWC")), (1280, 3, 1));
}

#[test]
fn a_text_that_counts_axes_is_one_layout_only_for_one_order() {
    let text = |layout: &str| {
        format!(
            "backend b {{ op each elementwise=#true }}
graph g backend=b {{
    input x dtype=f32 layout=\"{layout}\" {{ shape {{ H 4; C 8 }} }}
    input z dtype=f32 layout=HC {{ shape {{ H 4; C 8 }} }}
    node e op=each {{ in x z; out y dtype=f32 {{ shape {{ C 8; H 4 }} }} }}
    output y layout=HC
}}
"
        )
    };
    // `xla:{0,1}` is CH for `x` and HC for `y`: two layouts.
    assert_eq!(figures(&text("xla:{0,1}")), (256, 2, 1));
    assert_eq!(figures(&text("HC")), (0, 1, 0));
}
