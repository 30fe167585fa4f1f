//! Operators with an axes-by-letter rule: operands and results share one layout, each projected to its own axes.
//! Expected costs and layouts are computed by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::common::check_text::check_text;
use layoutc_compiler::solve::{GraphPlan, SolverOptions, solve};

const BACKEND: &str = "\
backend b {
    op conv { accepts { in NCHW16c; out NCHW16c } }
    op mean by-letter=#true
    op back by-letter=#true
    op relu elementwise=#true
}
";

fn solved(body: &str) -> GraphPlan {
    let text = format!("{BACKEND}graph g backend=b {{\n{body}\n}}\n");
    let checked = check_text(&text);
    assert_eq!(checked.diagnostics, [], "{text}");
    solve(&checked.manifests[0].graphs[0], &SolverOptions::default()).unwrap()
}

/// Stored layouts of all tensors in a plan.
fn layouts(body: &str, plan: &GraphPlan) -> Vec<String> {
    let text = format!("{BACKEND}graph g backend=b {{\n{body}\n}}\n");
    let graph = check_text(&text).manifests[0].graphs[0].clone();
    let stored = graph.tensors.iter().zip(&plan.stored);
    stored.map(|(tensor, k)| format!("{} {}", tensor.name, tensor.text(*k))).collect()
}

const BETWEEN: &str = "
    input x dtype=f32 layout=NCHW16c { shape { N 2; C 32; H 8; W 8 } }
    node c1 op=conv { in x; out a dtype=f32 { shape { N 2; C 32; H 8; W 8 } } }
    node m op=mean axes=\"H,W\" { in a; out b dtype=f32 { shape { N 2; C 32 } } }
    node r op=relu { in b; out c dtype=f32 { shape { N 2; C 32 } } }
    node u op=back axes=\"H,W\" { in c; out d dtype=f32 { shape { N 2; C 32; H 1; W 1 } } }
    node c2 op=conv { in d; out e dtype=f32 { shape { N 2; C 32; H 1; W 1 } } }
    output e layout=NCHW16c";

#[test]
fn removed_and_added_axes_keep_the_other_axes_layout() {
    let plan = solved(BETWEEN);
    assert_eq!((plan.cost, plan.conversions.len()), (0, 0), "{plan:?}");
    let layouts = layouts(BETWEEN, &plan);
    assert!(layouts.contains(&"b NC16c".to_owned()), "{layouts:?}");
    assert!(layouts.contains(&"d NCHW16c".to_owned()), "{layouts:?}");
}

#[test]
fn permuted_remaining_axes_are_converted() {
    // C outermost: two conversions of 256 bytes, each read and written.
    let body = BETWEEN.replace(
        "    node r op=relu { in b;",
        "    node f op=fixed { in b; out f dtype=f32 { shape { N 2; C 32 } }; accepts { in CN; out CN } }
    node r op=relu { in f;",
    );
    assert_eq!(solved(&body).cost, 2 * 512);
}

#[test]
fn reduction_to_a_scalar_accepts_every_layout() {
    let plan = solved(
        "
    input x dtype=f32 layout=\"N[a=64]CHW\" { shape { N 2; C 3; H 5; W 5 } }
    node m op=mean { in x; out y dtype=f32 { shape { } } }
    output y",
    );
    assert_eq!(plan.cost, 0);
}

/// Squeeze-and-excite as imported: the means take the blocked layout of the convolutions.
#[test]
fn reductions_keep_the_blocked_layout_of_their_input() {
    let text = |rest: &str, keeps: bool| {
        let means = if keeps { "C 64; H 1; W 1" } else { "C 64" };
        format!(
            "\
backend cpu like=onnx {{
    op Conv {{
        accepts cost=1000000000 {{ in NCHW OIHW; out NCHW }}
        accepts {{ in NCHW16c OIHW16i16o; out NCHW16c }}
    }}
}}
graph se backend=cpu {{
    input x dtype=f32 layout=NCHW {{ shape {{ N 1; C 32; H 28; W 28 }} }}
    constant w dtype=f32 layout=OIHW {{ shape {{ O 64; I 32; H 3; W 3 }} }}
    node c op=Conv kernel_shape=3 pads=1 {{ in x w; out c dtype=f32 {{ shape {{ N 1; C 64; H 28; W 28 }} }} }}
    node r op=Relu {{ in c; out r dtype=f32 {{ shape {{ N 1; C 64; H 28; W 28 }} }} }}
    node m op=ReduceMean axes=\"H,W\" {{ in r; out m dtype=f32 {{ shape {{ N 1; {means} }} }} }}
    {rest}
    constant w2 dtype=f32 layout=OIHW {{ shape {{ O 64; I 64; H 1; W 1 }} }}
    node s0 op=Conv {{ in u w2; out s0 dtype=f32 {{ shape {{ N 1; C 64; H 1; W 1 }} }} }}
    node s op=Sigmoid {{ in s0; out s dtype=f32 {{ shape {{ N 1; C 64; H 1; W 1 }} }} }}
    node g op=Mul {{ in r s; out g dtype=f32 {{ shape {{ N 1; C 64; H 28; W 28 }} }} }}
    constant w3 dtype=f32 layout=OIHW {{ shape {{ O 64; I 64; H 1; W 1 }} }}
    node y op=Conv {{ in g w3; out y dtype=f32 {{ shape {{ N 1; C 64; H 28; W 28 }} }} }}
    output y layout=NCHW
}}
"
        )
    };
    let cost = |text: &str| {
        let checked = check_text(text);
        assert_eq!(checked.diagnostics, [], "{text}");
        let plan = solve(&checked.manifests[0].graphs[0], &SolverOptions::default()).unwrap();
        assert!(plan.is_optimal());
        plan.cost
    };
    // Only `x` and `y` are converted, each read and written once.
    let moved = 2 * 4 * (32 + 64) * 28 * 28;
    assert_eq!(moved, 602_112);
    let all = "shape { N 1; C 64; H 1; W 1 }";
    for (op, properties) in
        [("Softmax", "axis=C"), ("Resize", "axes=\"H,W\" sizes=1"), ("LRN", "axis=C")]
    {
        let rest = format!("node u op={op} {properties} {{ in m; out u dtype=f32 {{ {all} }} }}");
        assert_eq!(cost(&text(&rest, true)), moved, "{op}");
    }
    let back = format!("node u op=Unsqueeze axes=\"H,W\" {{ in m; out u dtype=f32 {{ {all} }} }}");
    assert_eq!(cost(&text(&back, false)), moved);
    let both = format!(
        "node q op=Squeeze axes=\"H,W\" {{ in m; out q dtype=f32 {{ shape {{ N 1; C 64 }} }} }}
    node p op=LayerNormalization axes=C {{ in q; out p dtype=f32 {{ shape {{ N 1; C 64 }} }} }}
    {}",
        back.replace("in m", "in p")
    );
    assert_eq!(cost(&text(&both, true)), moved);
    // `Reshape` depends on the order of the axes and is pinned: the means are converted there and back.
    let order = format!("node u op=Reshape {{ in m; out u dtype=f32 {{ {all} }} }}");
    assert_eq!(cost(&text(&order, true)), moved);
}
