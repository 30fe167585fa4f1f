//! Diagnostics of layouts in graphs, including faults that Glow accepts: code, span, message and help.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::common::check_text;
use check_text::{assert_diagnostics as told, diagnostics as found};

/// A graph for the canonical profile, with `X` replaced by a shape of four axes.
fn graph(body: &str) -> String {
    let shape = "{ shape { N 2; H 4; W 4; C 3 } }";
    format!("graph g backend=canonical {{\n{}\n}}\n", body.replace('X', shape))
}

#[test]
fn a_layout_is_not_forgotten_at_operators_that_take_any() {
    let text = graph(
        "input x dtype=f32 layout=NCHW X
         constant f dtype=f32 { shape { O 3; H 3; W 3; I 3 } }
         node r1 op=Relu { in x; out r dtype=f32 layout=NCHW X }
         node t1 op=Tanh { in r; out t dtype=f32 layout=NCHW X }
         node c op=Convolution { in t f; out y dtype=f32 layout=NHWC X }",
    );
    let message = "`t` has layout NCHW, but `c` requires NHWC";
    let found = told(&text, &[("graph::unsatisfied", "c", message)]);
    assert_eq!(found[0].notes[0], "the layout is propagated by x → r1 → r → t1 → t → c");
    assert_eq!(
        found[0].help[0],
        "transpose it by [0, 2, 3, 1]: 768 bytes are read and written; or declare `t` with `layout=\"NHWC\"`"
    );
    // Also if the tensors in between declare no layout.
    let text = text.replace(
        " layout=NCHW { shape { N 2; H 4; W 4; C 3 } } }",
        " { shape { N 2; H 4; W 4; C 3 } } }",
    );
    told(&text, &[("graph::unsatisfied", "c", message)]);
}

#[test]
fn operands_of_one_operator_are_compared_with_each_other() {
    for op in ["Add", "Concat", "Select", "FloorDiv", "CmpLT"] {
        let mut text = graph(&format!(
            "input x dtype=f32 layout=NHWC X
             input z dtype=f32 layout=NCHW X
             node a op={op} {{ in x z; out y dtype=f32 layout=NHWC X }}"
        ));
        if op == "Concat" {
            text = text.replace(
                "layout=NHWC { shape { N 2; H 4; W 4; C 3 } } }",
                "layout=NHWC { shape { N 2; H 4; W 4; C 6 } } }",
            );
        }
        let message = "`z` has layout NCHW, but the other tensors of `a` have NHWC";
        told(&text, &[("graph::unsatisfied", "a", message)]);
    }
}

/// A graph with an operator that requires layout `asked` of `x`, which has layout `has`.
fn asks(has: &str, asked: &str) -> String {
    format!(
        "graph g {{
    input x dtype=f32 layout=\"{has}\" {{ shape {{ N 2; H 4; W 4; C 3 }} }}
    node c op=any {{
        in x
        out y dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
        accepts {{ in \"{asked}\"; out NHWC }}
    }}
}}
"
    )
}

#[test]
fn alignments_are_those_of_strides_in_bytes() {
    // Rows have 12 elements of 4 bytes, 48 bytes; planes have 192.
    told(&asks("NHWC", "NH[a=16]WC"), &[]);
    told(&asks("NHWC", "N[a=64]HWC"), &[]);
    let message = "`x` has layout NHWC, but `c` requires N[a=128]HWC";
    let found = told(&asks("NHWC", "N[a=128]HWC"), &[("graph::unsatisfied", "c", message)]);
    assert_eq!(
        found[0].notes[0],
        "stride of axis 0 is 48 elements of 32 bits, not a multiple of 128 bytes"
    );
    // Both strides are 256 bytes here.
    told(&asks("N[a=256]HWC", "N[a=128]HWC"), &[]);
    // The stride of N is larger than in NHWC.
    let message = "`x` has layout N[a=128]HWC, but `c` requires NHWC";
    let found = told(&asks("N[a=128]HWC", "NHWC"), &[("graph::unsatisfied", "c", message)]);
    assert_eq!(found[0].notes[0], "axis 0 has stride 64, but 48 in NHWC");
    let message = "`x` has layout N[a=512]HWC, but `c` requires N[a=128]HWC";
    told(&asks("N[a=512]HWC", "N[a=128]HWC"), &[("graph::unsatisfied", "c", message)]);
    // With one image its stride does not matter, but the padding after it does.
    let one = |text: String| text.replace("N 2", "N 1");
    told(&one(asks("N[a=128]HWC", "NHWC")), &[]);
    let message = "`x` has layout NHWC, but `c` requires N[a=128]HWC";
    told(&one(asks("NHWC", "N[a=128]HWC")), &[("graph::unsatisfied", "c", message)]);
}

#[test]
fn attributes_are_compared_to_the_letter_and_never_taken_for_alignments() {
    told(&asks("N[ns:v]HWC", "N[ns:v]HWC"), &[]);
    // Glow parses this attribute as an alignment of 7.
    told(&asks("N[ns:a=7]HWC", "NHWC"), &[]);
    let message = "cannot decide if the layout NHWC of `x` satisfies N[ns:v]HWC";
    told(&asks("NHWC", "N[ns:v]HWC"), &[("graph::unknown", "c", message)]);
    let message = "`x` has layout N[ns:w]HWC, but `c` requires N[ns:v]HWC";
    told(&asks("N[ns:w]HWC", "N[ns:v]HWC"), &[("graph::unsatisfied", "c", message)]);
}

#[test]
fn bytes_count_and_not_names() {
    // With one row and one column, NCHW and NHWC are equal.
    let text = asks("NCHW", "NHWC").replace("H 4; W 4", "H 1; W 1");
    told(&text, &[]);
    // NCHW4c of 4 channels is NHWC.
    let text = asks("NHWC", "NCHW4c").replace("C 3", "C 4");
    told(&text, &[]);
}

#[test]
fn five_axes_are_checked() {
    let text = "graph g backend=canonical {
    input x dtype=f32 layout=NTHWC { shape { N 1; T 2; H 4; W 4; C 3 } }
    node c op=Convolution3D layout=NCTHW {
        in x
        out y dtype=f32 layout=NCTHW { shape { N 1; T 2; H 4; W 4; C 3 } }
    }
}
";
    let message = "`x` has layout NTHWC, but `c` requires NCTHW";
    told(text, &[("graph::unsatisfied", "c", message)]);
    told(&text.replace("layout=NTHWC", "layout=NCTHW"), &[]);
}

#[test]
fn a_star_is_the_same_axis_for_all() {
    let text = |accepts: &str| {
        format!(
            "graph g {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
    input z dtype=f32 layout=NCHW {{ shape {{ N 2; H 4; W 4; C 3 }} }}
    node c op=join {{
        in x z
        out y dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
        accepts {{ {accepts} }}
    }}
}}
"
        )
    };
    let message = "`z` has layout NCHW, but `c` requires NHWC";
    told(&text("in \"****\" \"****\"; out \"****\""), &[("graph::unsatisfied", "c", message)]);
    told(&text("in \"****\" NCHW; out \"****\""), &[]);
}

#[test]
fn a_tensor_without_a_layout_has_one_that_does_for_all_or_none() {
    let text = |second: &str| {
        format!(
            "graph g {{
    input x dtype=f32 {{ shape {{ N 2; H 4; W 4; C 3 }} }}
    node a op=f {{
        in x
        out y dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
        accepts {{ in NCHW; out NHWC }}
        accepts {{ in NHWC; out NHWC }}
    }}
    node b op=f {{
        in x
        out z dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
        accepts {{ in {second}; out NHWC }}
    }}
}}
"
        )
    };
    // Only the second alternative of `a` is compatible with `b`.
    told(&text("NHWC"), &[]);
    let found = told(
        &text("CHWN"),
        &[("graph::unsatisfied", "b", "`x` has layout NCHW, but `b` requires CHWN")],
    );
    assert_eq!(found[0].notes[0], "`x` declares no layout");
}

#[test]
fn an_output_is_there_in_its_layout() {
    let text = graph(
        "input x dtype=f32 layout=NHWC X
         node r op=Relu { in x; out y dtype=f32 layout=NHWC X }
         output y layout=NCHW",
    );
    let message = "`y` has layout NHWC, but the output requires NCHW";
    told(&text, &[("graph::unsatisfied", "y", message)]);
}

#[test]
fn verification_can_be_switched_off() {
    let text = "backend quiet verify=#false { op f { accepts { in NHWC; out NHWC } } }
graph g backend=quiet {
    input x dtype=f32 layout=NCHW { shape { N 2; H 4; W 4; C 3 } }
    node c op=f { in x; out y dtype=f32 layout=NHWC { shape { N 2; H 4; W 4; C 3 } } }
}
";
    told(text, &[]);
    let text = text.replace(" verify=#false", "");
    told(&text, &[("graph::unsatisfied", "c", "`x` has layout NCHW, but `c` requires NHWC")]);
}

#[test]
fn bad_strings_have_their_place() {
    for (layout, code, marked) in [
        ("N[b=4]HWC", "notation::syntax", "b=4"),
        ("NHW1", "notation::syntax", ""),
        ("NHWN", "notation::value", "N"),
        ("NHW", "notation::axes", "NHW"),
        ("N[ns:xHWC", "notation::syntax", "["),
    ] {
        let text = asks(layout, "NHWC");
        let found = found(&text);
        assert_eq!(found.len(), 1, "{layout}: {found:?}");
        let place = &found[0].labels[0].place;
        assert_eq!(found[0].code.id(), code, "{layout}");
        assert!(
            text[place.start..place.end].contains(marked),
            "{layout}: {:?}",
            &text[place.start..place.end]
        );
    }
}

#[test]
fn what_is_wrong_is_told_of_each_tensor() {
    let text = "graph g {
    input x dtype=f32 layout=NHWX { shape { N 1; H 4; W 4; C 8 } }
    input z dtype=f32 layout=NHWX { shape { N 1; H 4; W 4; C 8 } }
}
";
    let message = "`X` is not an axis; the axes are N, H, W, C";
    let found = told(text, &[("notation::axes", "X", message), ("notation::axes", "X", message)]);
    assert_ne!(found[0].labels[0].place, found[1].labels[0].place);
}

#[test]
fn both_declarations_are_quoted() {
    let text = asks("NCHW", "NHWC");
    let found = found(&text);
    let quoted: Vec<&str> =
        found[0].labels.iter().map(|label| &text[label.place.start..label.place.end]).collect();
    assert_eq!(quoted, ["c", "accepts", "NCHW"]);
}

#[test]
fn names_that_are_none_are_told() {
    let base = |what: &str| {
        format!(
            "backend b {{ op f {{ accepts {{ in NHWC; out NHWC }} }} }}
graph g backend=b {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 2; H 4; W 4; C 3 }} }}
    {what}
}}
"
        )
    };
    let shape = "{ shape { N 2; H 4; W 4; C 3 } }";
    let node = |op: &str, read: &str| {
        base(&format!("node c op={op} {{ in {read}; out y dtype=f32 {shape} }}"))
    };
    told(&node("g", "x"), &[("name::unknown", "g", "the backend `b` has no operator `g`")]);
    told(&node("f", "z"), &[("name::unknown", "z", "the graph has no tensor `z`")]);
    told(&base("output z"), &[("name::unknown", "z", "the graph has no tensor `z`")]);
    told(
        &base("").replace("backend=b", "backend=c"),
        &[("name::unknown", "c", "there is no backend `c`")],
    );
    let twice = base(&format!("input x dtype=f32 {shape}"));
    told(&twice, &[("name::duplicate", "x", "two tensors of the graph are called `x`")]);
    let word = base(&format!("input int dtype=f32 {shape}"));
    told(&word, &[("name::reserved", "int", "tensor name `int` is reserved in C")]);
}

#[test]
fn what_operators_accept_is_stated_in_one_way() {
    let operator = |text: &str| format!("backend b {{ op f {text} }}\n");
    told(&operator(""), &[("kdl::missing", "op f", "an operator needs alternatives or a rule")]);
    told(
        &operator("elementwise=#true { accepts { out NHWC } }"),
        &[(
            "kdl::twice",
            "op f elementwise=#true",
            "an operator can have either alternatives or one rule",
        )],
    );
    told(
        &operator("{ accepts { in NHWC } }"),
        &[("kdl::missing", "accepts", "an alternative needs `out`, the layouts of the results")],
    );
    told(
        &operator("{ accepts cost=-1 { out NHWC } }"),
        &[("kdl::value", "-1", "`cost` must be a number of bytes from 0 to 2^63 - 1")],
    );
    told(
        &operator("{ accepts cost-per-byte=-0.5 { out NHWC } }"),
        &[("kdl::value", "-0.5", "`cost-per-byte` must be a number from 0 and below 1000000000")],
    );
    told(
        "backend b { default-layout 4 NHWC; default-layout 4 NCHW }\n",
        &[("kdl::twice", "4", "duplicate default layout for rank 4")],
    );
}
