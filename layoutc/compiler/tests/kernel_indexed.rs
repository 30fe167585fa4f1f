//! Kernels with data-dependent indices: gather and scatter by index tensors of every width, over layouts, in C, OpenCL
//! and CUDA, against C references.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::string_slice,
    reason = "a test, which writes the program that it runs"
)]

use std::sync::Arc;

use crate::common::cc::{compile_and_run, compilers, folder};
use crate::common::kernel;
use kernel::{Kernel, Operand, computes};
use layoutc_compiler::config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::is_full;

/// C type of an element.
fn element(dtype: &str) -> &'static str {
    match dtype {
        "i64" => "int64_t",
        "i32" => "int32_t",
        "i16" => "int16_t",
        "i8" => "int8_t",
        "u64" => "uint64_t",
        "u32" => "uint32_t",
        "u16" => "uint16_t",
        _ => "uint8_t",
    }
}

/// An index tensor of 29 elements.
fn indices(name: &'static str, dtype: &'static str) -> Operand {
    let shape = &[("t", 29)];
    Operand { name, dtype, element: element(dtype), shape, layouts: &["order t", "pad t after=3"] }
}

/// Layouts of a table of 7 rows: tiled, split by a map, padded, swizzled.
const TABLES: &[&str] = &[
    "order v d",
    "order d v",
    "tile 4 4",
    "map \"(v, d) -> (v // 2, d // 8, v % 2, d % 8)\"; padding allow",
    "strides 24 1; padding allow",
    "pad d multiple=16; pad v multiple=8; swizzle 2 0 3 unit=elements; padding allow",
];

/// Layouts of the tensor that is read; the last is an image on GPUs.
const READ: &[&str] = &[
    "order v d",
    "order d v",
    "tile 4 4",
    "map \"(v, d) -> (v // 2, d // 8, v % 2, d % 8)\"; padding allow",
    "pad d multiple=16; pad v multiple=8; swizzle 2 0 3 unit=elements; padding allow",
    "map \"(v, d) -> (v, d // 4 | d % 4)\"; padding allow",
];

const ROWS: &[&str] = &["order t d", "order d t", "tile 8 4", "strides 20 1; padding allow"];

/// Gathers rows of a table by indices of -8 to 8, converted to this type; out-of-bounds indices read 0.
fn gathers_rows(name: &'static str, dtype: &'static str) {
    let text = format!(
        "kernel {name} {{ operands ids table out\n  compute \"out[t, d] = table[ids[t], d]\" }}\n"
    );
    computes(&Kernel {
        name,
        text: text.leak(),
        operands: vec![
            Operand::f32("table", &[("v", 7), ("d", 13)], READ),
            indices("ids", dtype),
            Operand::f32("out", &[("t", 29), ("d", 13)], ROWS),
        ],
        written: &["out"],
        plain: "for (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) { const int64_t v = (int64_t)ids[t]; out[t * 13 + d] = v >= 0 && v < 7 ? table[v * 13 + d] : 0.0f; }",
        numpy: "",
        tolerance: "0",
        schedules: &[(1, "parallel t"), (2, "tile t_outer d_outer by=\"2 2\""), (3, "vectorize d")],
    });
}

#[test]
fn rows_are_gathered_by_indices_of_64_bits() {
    gathers_rows("gather_i64", "i64");
}

#[test]
fn rows_are_gathered_by_indices_of_every_width() {
    if is_full() {
        gathers_rows("gather_u8", "u8");
        gathers_rows("gather_i32", "i32");
        gathers_rows("gather_i8", "i8");
        gathers_rows("gather_u64", "u64");
        gathers_rows("gather_u16", "u16");
    }
}

/// Index arithmetic on elements, nested indices, out-of-bounds values, and a sum over gathered rows.
#[test]
fn indices_are_expressions_of_elements() {
    computes(&Kernel {
        name: "gather_bags",
        text: "kernel gather_bags { operands ids more table out\n  compute \"out[t, d] += (table[ids[t] // 2 + more[k], d] ?? 3) + table[min(max(more[ids[t] + k], 0), 6), d]\" }\n",
        operands: vec![
            Operand::f32("table", &[("v", 7), ("d", 13)], &["order d v", "tile 4 4"]),
            indices("ids", "i32"),
            Operand {
                name: "more",
                dtype: "i16",
                element: "int16_t",
                shape: &[("k", 5)],
                layouts: &["order k"],
            },
            Operand::f32("out", &[("t", 29), ("d", 13)], &["order t d"]),
        ],
        written: &["out"],
        plain: "for (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) { float sum = 0; for (int k = 0; k < 5; ++k) { const int64_t half = ids[t] >= 0 ? ids[t] / 2 : -((1 - (int64_t)ids[t]) / 2), v = half + more[k], w = (int64_t)ids[t] + k; int64_t m = w >= 0 && w < 5 ? more[w] : 0; m = m < 0 ? 0 : m > 6 ? 6 : m; sum += (v >= 0 && v < 7 ? table[v * 13 + d] : 3.0f) + table[m * 13 + d]; } out[t * 13 + d] = sum; }",
        numpy: "",
        tolerance: "1e-5",
        schedules: &[],
    });
}

/// A loop split by a factor that does not divide its extent reads nothing beyond the end, also in reductions.
#[test]
fn partial_tiles_gather_in_bounds() {
    computes(&Kernel {
        name: "gather_tiled",
        text: "kernel gather_tiled { operands table ids w out\n  compute \"out[t, d] += table[ids[k], d] * w[t, k]\" }\n",
        operands: vec![
            Operand::f32("table", &[("v", 7), ("d", 13)], &["order v d", "order d v"]),
            Operand {
                name: "ids",
                dtype: "i32",
                element: "int32_t",
                shape: &[("k", 40)],
                layouts: &["order k"],
            },
            Operand::f32("w", &[("t", 29), ("k", 40)], &["order t k"]),
            Operand::f32("out", &[("t", 29), ("d", 13)], &["order t d"]),
        ],
        written: &["out"],
        plain: "for (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) for (int k = 0; k < 40; ++k) out[t * 13 + d] += (ids[k] >= 0 && ids[k] < 7 ? table[ids[k] * 13 + d] : 0.0f) * w[t * 40 + k];",
        numpy: "",
        tolerance: "1e-5",
        schedules: &[
            (0, "tile t d by=\"8 8\""),
            (1, "tile t d by=\"16 16\"; split k by=8; cache w at=k_outer"),
        ],
    });
}

/// Scatters rows to a key cache by slots of this type: out-of-bounds slots are skipped, and the last of equal slots
/// wins.
fn scatters_rows(name: &'static str, dtype: &'static str) {
    let text = format!(
        "kernel {name} {{ operands base slot key cache\n  compute \"cache[v, d] = base[v, d]\"\n  compute \"cache[slot[t], d] = key[t, d]\" }}\n"
    );
    computes(&Kernel {
        name,
        text: text.leak(),
        operands: vec![
            Operand::f32("base", &[("v", 7), ("d", 13)], &["order v d"]),
            indices("slot", dtype),
            Operand::f32("key", &[("t", 29), ("d", 13)], ROWS),
            Operand::f32("cache", &[("v", 7), ("d", 13)], TABLES),
        ],
        written: &["cache"],
        plain: "for (int k = 0; k < 7 * 13; ++k) cache[k] = base[k];\nfor (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) { const int64_t v = (int64_t)slot[t]; if (v >= 0 && v < 7) cache[v * 13 + d] = key[t * 13 + d]; }",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn scattered_rows_are_written_in_iteration_order() {
    scatters_rows("scatter_i64", "i64");
}

#[test]
fn rows_are_scattered_by_indices_of_every_width() {
    if is_full() {
        scatters_rows("scatter_i32", "i32");
        scatters_rows("scatter_i8", "i8");
        scatters_rows("scatter_u16", "u16");
    }
}

/// Scatter reductions: sums from 0, and a maximum with the previous values (`accumulate`).
#[test]
fn scatter_reductions_combine_colliding_elements() {
    computes(&Kernel {
        name: "scatter_sum",
        text: "kernel scatter_sum { operands bin key sums\n  compute \"sums[bin[t], d // 2] += key[t, d]\" }\n",
        operands: vec![
            indices("bin", "i32"),
            Operand::f32("key", &[("t", 29), ("d", 13)], &["order t d", "tile 8 4"]),
            Operand::f32("sums", &[("v", 7), ("d", 7)], &["order v d", "tile 4 4"]),
        ],
        written: &["sums"],
        plain: "for (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) if (bin[t] >= 0 && bin[t] < 7) sums[bin[t] * 7 + d / 2] += key[t * 13 + d];",
        numpy: "",
        tolerance: "1e-5",
        schedules: &[],
    });
    computes(&Kernel {
        name: "scatter_most",
        text: "kernel scatter_most { operands bin base key most\n  compute \"most[v] = base[v]\"\n  compute \"most[bin[t]] max= key[t, d]\"\n  accumulate #true }\n",
        operands: vec![
            Operand::f32("base", &[("v", 7)], &["order v"]),
            indices("bin", "u8"),
            Operand::f32("key", &[("t", 29), ("d", 13)], &["order d t"]),
            Operand::f32("most", &[("v", 7)], &["order v"]),
        ],
        written: &["most"],
        plain: "for (int v = 0; v < 7; ++v) most[v] = base[v];\nfor (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) if (bin[t] < 7 && key[t * 13 + d] > most[bin[t]]) most[bin[t]] = key[t * 13 + d];",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

/// Indices beyond 32 bits are out of bounds, also on GPUs, where index arithmetic has 32 bits.
#[test]
fn an_index_has_64_bits() {
    computes(&Kernel {
        name: "gather_far",
        text: "kernel gather_far { operands table ids out\n  compute \"out[t, d] = (table[ids[t] * 4294967296 + 1, d] ?? 5) + table[ids[t] * 4611686018427387904 * 4 + 2, d]\" }\n",
        operands: vec![
            Operand::f32("table", &[("v", 7), ("d", 13)], &["order d v", "tile 4 4"]),
            indices("ids", "i32"),
            Operand::f32("out", &[("t", 29), ("d", 13)], &["order t d"]),
        ],
        written: &["out"],
        plain: "for (int t = 0; t < 29; ++t) for (int d = 0; d < 13; ++d) out[t * 13 + d] = (ids[t] == 0 ? table[13 + d] : 5.0f) + table[26 + d];",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}

/// A paged key cache, a table of 256 values indexed by u8 codes, and tables whose bounds the caller guarantees
/// (`range`): the generated test program draws indices within them.
const PAGED: &str = "\
symbol rows min=3 max=4000
tensor key dtype=f16 { shape { t 37; h 4; d 64 } }
tensor slot dtype=i64 { shape { t 37 } }
tensor cache dtype=f16 { shape { s 128; h 4; d 64 }; layout { map \"(s, h, d) -> (s // 16, h, d // 8, s % 16, d % 8)\" } }
kernel scatter { compute \"cache[slot[t], h, d] = key[t, h, d]\" }
tensor ids dtype=u16 { shape { t 37 } }
tensor table dtype=f32 { shape { v rows; d 16 }; layout { tile 2 4; padding allow } }
tensor out dtype=f32 { shape { t 37; d 16 } }
kernel lookup { compute \"out[t, d] = table[ids[t], d]\"; range ids \"rows\" }
kernel halves { compute \"out[t, d] = table[ids[t] // 2, d]\"; range ids \"2 * rows\" }
tensor code dtype=u8 { shape { t 37 } }
tensor values dtype=f32 { shape { c 256 } }
tensor decoded dtype=f32 { shape { t 37 } }
kernel decode { compute \"decoded[t] = values[code[t]]\" }
tensor counts dtype=i32 { shape { c 256 } }
kernel histogram { compute \"counts[code[t]] += 1\" }
";

#[test]
fn guaranteed_index_ranges_remove_bounds_checks() {
    let toml = "[project]\n[target.c]\nindex-type = \"int32_t\"\n";
    for (name, toml) in [("paged", "[project]\n[target.c]\n"), ("paged_32", toml)] {
        let config = config::parse(&Arc::from("layoutc.toml"), toml).unwrap();
        let sources = MemorySources::of("a.kdl", PAGED);
        let compiler = Compiler::new(&sources, &config);
        let checked = compiler.check(&["a.kdl".to_owned()]);
        assert_eq!(checked.diagnostics, []);
        let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
        let folder = folder(name);
        for output in &outputs {
            let path = folder.join(output.path.strip_prefix("c/").unwrap());
            layoutc_testing::files::write(path, &output.text);
        }
        for (k, compiler) in compilers().into_iter().enumerate() {
            compile_and_run(&folder, &format!("test_{k}"), &["tests/a_test.c", "a.c"], compiler);
        }
        let text = |end: &str| &outputs.iter().find(|one| one.path.ends_with(end)).unwrap().text;
        let source = text("a.c");
        let body = |name: &str| {
            let from = source.find(&format!("layoutc_{name}_compute(")).unwrap();
            source[from..].split("\n}").next().unwrap().to_owned()
        };
        assert!(body("scatter").contains("(uint64_t)s_read < 128"), "{source}");
        for (name, index) in [("lookup", "v_index"), ("halves", "v_index")] {
            let body = body(name);
            assert!(!body.contains("uint64_t"), "{body}");
            assert!(body.contains(&format!("assert({index} >= 0 && {index} < rows)")), "{body}");
        }
        for name in ["decode", "histogram"] {
            let body = body(name);
            assert!(!body.contains("uint64_t") && !body.contains("assert"), "{body}");
        }
        let header = text("a.h");
        assert!(header.contains("Every element of `ids` is at least 0 and below rows."));
        assert!(header.contains("Every element of `ids` is at least 0 and below rows * 2."));
    }
}
