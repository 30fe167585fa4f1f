//! Operator rules of graphs for transpositions and conditions, and layout changes without cost; expected costs are
//! computed by hand.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::check_text::check_text;
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
fn aligned_layout_string_is_a_distinct_layout() {
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
fn padding_conversions_cost_and_unpadding_views_are_free() {
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
    assert_eq!(manifest.tensors[read].layout.physical_elements().as_const(), Some(12));
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
fn schedule_lists_transposed_aliases() {
    let (manifest, _) = laid_out(&turned("", "", "output y layout=NHWC"));
    let schedule = &manifest.schedules[0];
    let held: Vec<(&str, Vec<&str>)> = schedule
        .buffers
        .iter()
        .map(|buffer| {
            let held = buffer.aliases.iter().map(|alias| alias.name.as_str());
            (buffer.name.as_str(), held.collect())
        })
        .collect();
    assert_eq!(held, [("x", vec!["t"]), ("s", vec!["y"])]);
    let output = &schedule.outputs[0];
    assert_eq!((output.name.as_str(), output.buffer), ("y", 1));
    assert!(schedule.buffers[1].aliases[0].is_output);
    assert_eq!(schedule.operators[0].reads[0].name, "t");
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
fn conditions_can_use_every_operand_and_result() {
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
fn wildcard_axis_matches_any_axis_without_conversion() {
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
fn positional_layout_strings_depend_on_axis_order() {
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
