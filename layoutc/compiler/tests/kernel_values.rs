//! Regressions in kernel values, against C references: integer overflow, `select` as an operand, code size that must
//! grow linearly with the value.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

use std::fmt::Write as _;

use crate::common::check_text::check_valid;
use crate::common::kernel::{Kernel, Operand, computes};
use layoutc_compiler::emit::{Settings, Templates, emit};

const ROW: &[(&str, usize)] = &[("i", 24)];

fn integers(name: &'static str) -> Operand {
    Operand { name, dtype: "i32", element: "int32_t", shape: ROW, layouts: &["order i"] }
}

/// Generated C source of a valid manifest.
fn source(text: &str) -> String {
    let checked = check_valid(text);
    let outputs = emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
    outputs.into_iter().find(|output| output.path.ends_with("m.c")).unwrap().text
}

/// Manifests with one conversion, of one or two steps: the generated C defines each function that it calls.
#[test]
fn kernel_cast_functions_are_defined() {
    let from = [
        "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64",
        "f8e4m3fn", "f8e5m2",
    ];
    let to = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"];
    let mut called = 0;
    for from in from {
        for to in to {
            for value in [format!("{to}(A[i])"), format!("{to}(f64(A[i]))")] {
                let text = format!(
                    "tensor a dtype={from} {{ shape {{ i 24 }} }}\ntensor b dtype={to} {{ shape {{ i 24 }} }}\n\
                     kernel k {{ operands A B\n  compute \"B[i] = {value}\" }}\ninstance run of=k A=a B=b\n"
                );
                let checked = check_valid(&text);
                let settings = Settings::c();
                let outputs = emit(&checked.manifests[0], &settings, "m", &Templates::default());
                // The header defines what the source and its test program share.
                let source: String =
                    outputs.unwrap().into_iter().map(|output| output.text).collect();
                for (at, _) in source.match_indices("layoutc_cast_") {
                    let name: String = source[at..]
                        .chars()
                        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                        .collect();
                    let is_defined = |line: &str| {
                        line.contains("static ") && line.contains(&format!(" {name}("))
                    };
                    assert!(
                        source.lines().any(is_defined),
                        "{name} in {from} to {value}:\n{source}"
                    );
                    called += 1;
                }
            }
        }
    }
    assert!(called > 500, "{called}");
}

#[test]
fn select_can_be_an_operand_of_any_operator() {
    computes(&Kernel {
        name: "chosen",
        text: "kernel chosen { operands A O P Q R S\n  compute \"O[i] = abs(A[i - 1] ?? -1)\"\n  compute \"P[i] = abs(select(i < 2, A[i], 5))\"\n  compute \"Q[i] = min(A[i - 1] ?? -1, 2) - (A[i - 2] ?? 3)\"\n  compute \"R[i] = (A[i - 1] ?? -1) // 2 + select(A[i] < 0, 1, 7) % 3\"\n  compute \"S[i] = select((A[i - 1] ?? 7) < 0, -select(A[i] > 1, A[i], 2), 0)\" }\n",
        operands: ["A", "O", "P", "Q", "R", "S"].map(integers).into(),
        written: &["O", "P", "Q", "R", "S"],
        plain: "for (int i = 0; i < 24; ++i) {\n\
                const int before = i < 1 ? -1 : A[i - 1], far = i < 2 ? 3 : A[i - 2], first = i < 1 ? 7 : A[i - 1];\n\
                const int taken = i < 2 ? A[i] : 5;\n\
                O[i] = before < 0 ? -before : before;\n\
                P[i] = taken < 0 ? -taken : taken;\n\
                Q[i] = (before < 2 ? before : 2) - far;\n\
                R[i] = (before >= 0 ? before / 2 : -((1 - before) / 2)) + (A[i] < 0 ? 1 : 1);\n\
                if (first < 0) S[i] = A[i] > 1 ? -A[i] : -2; else S[i] = 0; }",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn integers_wrap_and_no_division_is_undefined() {
    computes(&Kernel {
        name: "wraps",
        text: "kernel wraps { operands A O P Q R S\n  compute \"O[i] = select(A[i] + 2147483647 > A[i], 1, 0)\"\n  compute \"P[i] = abs(A[i] * 0 - 2147483647 - 1)\"\n  compute \"Q[i] = -(A[i] * 0 - 2147483647 - 1) // -1\"\n  compute \"R[i] = A[i] // (A[i] - A[i]) + A[i] % (A[i] - A[i])\"\n  compute \"S[i] = (A[i] * 0 - 2147483647 - 1) % (A[i] * 0 - 1)\" }\n",
        operands: ["A", "O", "P", "Q", "R", "S"].map(integers).into(),
        written: &["O", "P", "Q", "R", "S"],
        plain: "for (int i = 0; i < 24; ++i) { O[i] = A[i] <= 0; P[i] = INT32_MIN; Q[i] = INT32_MIN; R[i] = A[i]; S[i] = 0; }",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn f32_rounding_is_not_optimized_away() {
    let operand = |name, layouts| Operand {
        name,
        dtype: "f64",
        element: "double",
        shape: if name == "A" { &[("p", 3), ("q", 2)] } else { &[("q", 2), ("p", 3)] },
        layouts,
    };
    computes(&Kernel {
        name: "rounds",
        text: "kernel rounds { operands A O\n  compute \"O[p, q] = f32(A[q, p] / 10.0)\" }\n",
        operands: vec![operand("A", &["order p q"]), operand("O", &["order q p"])],
        written: &["O"],
        plain: "for (int p = 0; p < 2; ++p) for (int q = 0; q < 3; ++q) { volatile float near = (float)(A[q * 2 + p] / 10.0); O[p * 3 + q] = near; }",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn code_size_is_linear_in_expression_size() {
    let nested = |operator: &dyn Fn(&str) -> String, depth: usize| {
        let value = (0..depth).fold("A[i]".to_owned(), |value, _| operator(&value));
        let mut text = String::new();
        for name in ["A", "B", "O"] {
            writeln!(text, "tensor {name} dtype=i32 {{ shape {{ i 8 }} }}").unwrap();
        }
        writeln!(text, "kernel k {{ compute #\"O[i] = {value} + B[i]\"# }}").unwrap();
        source(&text).len()
    };
    let operators: [&dyn Fn(&str) -> String; 6] = [
        &|value| format!("abs({value})"),
        &|value| format!("min({value}, B[i])"),
        &|value| format!("max({value}, 1, 2)"),
        &|value| format!("({value}) // 3"),
        &|value| format!("({value}) % 1000"),
        &|value| format!("-({value})"),
    ];
    for operator in operators {
        let [none, some, more] = [0, 24, 48].map(|depth| nested(operator, depth));
        assert!(more - some < 2 * (some - none) && more < 40_000, "{none} {some} {more}");
    }
}

#[test]
fn intermediate_extents_follow_their_readers() {
    let images: &[&str] = &["order o h w", "order h w o"];
    computes(&Kernel {
        name: "relu",
        text: "kernel relu { operands X F B Y\n  local t dtype=f32\n  compute \"t[o, h, w] += (X[c, h * 2 + r - 1, w * 2 + s - 1] ?? 0) * F[o, c, r, s]\"\n  compute \"u[o, h, w] = t[o, h, w] + B[o]\"\n  compute \"Y[o, h, w] = max(u[o, h, w], 0)\" }\n",
        operands: vec![
            Operand::f32("X", &[("c", 3), ("h", 10), ("w", 12)], &["order c h w"]),
            Operand::f32("F", &[("o", 8), ("c", 3), ("r", 3), ("s", 3)], &["order o c r s"]),
            Operand::f32("B", &[("o", 8)], &["order o"]),
            Operand::f32("Y", &[("o", 8), ("h", 5), ("w", 6)], images),
        ],
        written: &["Y"],
        plain: "for (int o = 0; o < 8; ++o) for (int h = 0; h < 5; ++h) for (int w = 0; w < 6; ++w) {\n\
                float sum = 0;\n\
                for (int c = 0; c < 3; ++c) for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) {\n\
                const int y = h * 2 + r - 1, x = w * 2 + s - 1;\n\
                if (y >= 0 && y < 10 && x >= 0 && x < 12) sum += X[(c * 10 + y) * 12 + x] * F[((o * 3 + c) * 3 + r) * 3 + s]; }\n\
                sum += B[o];\n\
                Y[(o * 5 + h) * 6 + w] = sum > 0 ? sum : 0; }",
        numpy: "",
        tolerance: "1e-5",
        schedules: &[],
    });
}

/// Body of a function.
fn body<'s>(source: &'s str, function: &str) -> &'s str {
    let start = source.find(&format!("layoutc_{function}_compute(")).unwrap();
    let rest = source[start..].split_once('\n').unwrap().1;
    rest.split_once("\n}").unwrap().0
}

#[test]
fn manual_vectorize_leaves_other_decisions_to_the_planner() {
    let matrices = "\
tensor a dtype=f32 { shape { i 512; k 512 } }
tensor b dtype=f32 { shape { k 512; j 512 } }
tensor c dtype=f32 { shape { i 512; j 512 } }
kernel product { operands A B C; compute \"C[i, j] += A[i, k] * B[k, j]\" }
instance none of=product A=a B=b C=c
instance vectors of=product A=a B=b C=c { vectorize j }
";
    let images = "\
tensor input dtype=f32 { shape { n 2; h 32; w 32; c 16 }; layout tvm=\"NHWC4c\" }
tensor filters dtype=f32 { shape { k 32; r 3; s 3; c 16 } }
tensor output dtype=f32 { shape { n 2; h 32; w 32; k 32 }; layout tvm=\"NHWK16k\" }
kernel conv { operands A W B; compute \"B[n, h, w, k] += (A[n, h + r - 1, w + s - 1, c] ?? 0) * W[k, r, s, c]\" }
instance none of=conv A=input W=filters B=output
instance vectors of=conv A=input W=filters B=output { vectorize k_inner }
";
    for text in [matrices, images] {
        let source = source(text);
        assert_eq!(body(&source, "none"), body(&source, "vectors"));
    }
}

#[test]
fn float_loops_call_no_library_functions() {
    let text = "\
tensor x dtype=f32 { shape { i 4096 } }
tensor y dtype=f32 { shape { i 4096 } }
tensor q dtype=i8 { shape { i 4096 } }
tensor a dtype=f16 { shape { i 4096 } }
tensor b dtype=f16 { shape { i 4096 } }
kernel relu { compute \"y[i] = max(x[i], 0.0)\" }
kernel quantize { compute \"q[i] = i8(min(max(x[i] * 20.0, -128.0), 127.0))\" }
kernel halves { compute \"b[i] = a[i] + 1.0\" }
";
    let source = source(text);
    assert!(!source.contains("fmax") && !source.contains("fmin"), "{source}");
    assert!(body(&source, "relu").contains("layoutc_greater_f32(x[i], 0.0f)"), "{source}");
    assert!(body(&source, "quantize").contains("layoutc_cast_f32_to_i8_within("), "{source}");
    assert!(body(&source, "halves").contains("layoutc_cast_runs_f16_to_f32("), "{source}");
}
