//! Foreign notations against known results, measured with each tool's code or by brute force.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Layout, ProofMethod, Verdict};
use layoutc_algebra::notation::{self, Notation, NotationError, xla};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::Axis;
use serde_json::Value;

const PEERS: &str = include_str!("cases/peers.json");
const TVM: &str = include_str!("cases/tvm.json");
const XLA: &str = include_str!("cases/xla.json");

fn cases(text: &str, kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    let all = file["cases"].as_array().unwrap();
    all.iter().filter(|case| case["kind"] == kind || kind.is_empty()).cloned().collect()
}

fn numbers(value: &Value) -> Vec<i128> {
    value.as_array().unwrap().iter().map(|v| i128::from(v.as_i64().unwrap())).collect()
}

fn axes(shape: &[i128]) -> Vec<Axis> {
    let axis = |(k, extent): (usize, &i128)| Axis {
        name: format!("d{k}"),
        extent: Expr::constant(*extent),
    };
    shape.iter().enumerate().map(axis).collect()
}

/// Layout of a text, with its remarks.
fn laid_out(
    notation: Notation,
    text: &str,
    sizes: &[(String, i128)],
    shape: &[i128],
    bits: u32,
) -> Result<(Layout, usize), String> {
    let mut builder = LayoutBuilder::new(&[], &axes(shape), bits).map_err(|e| e.to_string())?;
    let outcome = notation::apply(notation, text, sizes, &mut builder).map_err(|e| {
        if let NotationError::Fault(fault) = &e {
            assert!(fault.span.end <= text.len(), "{text}: {fault:?}");
            assert!(text.is_char_boundary(fault.span.start), "{text}: {fault:?}");
        }
        e.to_string()
    })?;
    let layout = builder.finish(64, &SequentialExecutor).map_err(|e| e.to_string())?;
    Ok((layout, outcome.remarks.len()))
}

fn layout(notation: Notation, text: &str, shape: &[i128]) -> Layout {
    laid_out(notation, text, &[], shape, 32).unwrap_or_else(|e| panic!("{text}: {e}")).0
}

fn storage_extents(layout: &Layout) -> Vec<i128> {
    layout.storage().iter().map(|axis| axis.extent.as_const().unwrap()).collect()
}

fn offset(layout: &Layout, index: &[i128]) -> i128 {
    let place = layout.locate(index, &[]).unwrap();
    assert_eq!(layout.element_at(&place.physical, &[]).unwrap().as_deref(), Some(index));
    place.offset
}

#[test]
fn onednn_tags_match_recorded_offsets() {
    let mut seen = 0;
    for case in cases(PEERS, "onednn_tag") {
        let dims = numbers(&case["input"]["dims"]);
        let tag = case["input"]["tag"].as_str().unwrap();
        let aliases = case["aliases"].as_array().unwrap().iter().map(|a| a.as_str().unwrap());
        for text in [tag].into_iter().chain(aliases) {
            let layout = layout(Notation::Onednn, text, &dims);
            for sample in case["expect"]["samples"].as_array().unwrap() {
                let index = numbers(&sample[0]);
                assert_eq!(
                    Some(offset(&layout, &index)),
                    sample[1].as_i64().map(i128::from),
                    "{text}"
                );
            }
            let size = case["expect"]["size_elems"].as_i64().map(i128::from);
            assert_eq!(layout.physical_elements().as_const(), size, "{text}");
            seen += 1;
        }
    }
    assert!(seen > 28, "{seen}");
}

#[test]
fn tvm_layout_strings_match_recorded_results() {
    let (mut accepted, mut refused) = (0, Vec::new());
    for case in cases(TVM, "layout_string") {
        let src = case["src"].as_str().or(case["layout"].as_str()).unwrap();
        let Some(shape) = case.get("shape").filter(|shape| shape.is_array()) else {
            // A text that must be rejected, or that has no source text.
            let rank = src.chars().filter(char::is_ascii_uppercase).count();
            let shape: Vec<i128> = vec![8; rank];
            let text = case["dst"].as_str().unwrap_or(src);
            let found = laid_out(Notation::Tvm, text, &[], &shape, 32);
            assert_eq!(found.is_err(), case["error"].is_string(), "{text}: {case}");
            refused.extend(found.err().map(|error| format!("{text}: {error}")));
            continue;
        };
        if case["error"].is_string() || src.contains(|c: char| c.is_ascii_lowercase()) {
            continue;
        }
        // Letters of the source are the axes' names.
        let shape = numbers(shape);
        let names: Vec<String> = src.chars().map(|c| c.to_string()).collect();
        let axis = |(name, extent): (&String, &i128)| Axis {
            name: name.to_lowercase(),
            extent: Expr::constant(*extent),
        };
        let logical: Vec<Axis> = names.iter().zip(&shape).map(axis).collect();
        let mut builder = LayoutBuilder::new(&[], &logical, 32).unwrap();
        let dst = case["dst"].as_str().unwrap();
        notation::apply(Notation::Tvm, dst, &[], &mut builder).unwrap();
        let layout = builder.finish(64, &SequentialExecutor).unwrap();
        assert_eq!(storage_extents(&layout), numbers(&case["physical_shape"]), "{dst}");
        assert_eq!(layout.verdict() == Verdict::Bijective, case["bijective"].as_bool().unwrap());
        for sample in case["samples"].as_array().unwrap() {
            let place = layout.locate(&numbers(&sample[0]), &[]).unwrap();
            assert_eq!(place.storage, numbers(&sample[1]), "{dst}");
        }
        accepted += 1;
    }
    for case in cases(PEERS, "tvm_letter_layout") {
        let from = case["input"]["from"].as_str().unwrap();
        let shape = numbers(&case["input"]["shape"]);
        let axis = |(name, extent): (char, &i128)| Axis {
            name: name.to_string(),
            extent: Expr::constant(*extent),
        };
        let logical: Vec<Axis> = from.chars().zip(&shape).map(axis).collect();
        let mut builder = LayoutBuilder::new(&[], &logical, 32).unwrap();
        let to = case["input"]["to"].as_str().unwrap();
        let applied = notation::apply(Notation::Tvm, to, &[], &mut builder);
        if case["expect"]["shape"].is_null() {
            refused.push(format!("{to}: {}", applied.unwrap_err()));
            continue;
        }
        applied.unwrap_or_else(|e| panic!("{to}: {e}"));
        let extents: Vec<i128> =
            builder.axes().iter().map(|axis| axis.extent.as_const().unwrap()).collect();
        assert_eq!(extents, numbers(&case["expect"]["shape"]), "{to}");
        accepted += 1;
    }
    assert!(accepted >= 7, "{accepted}");
    assert_eq!(
        refused,
        [
            ": expected a letter, found the end of the text",
            "NCHW: 4 letters for 1 axis: d0",
            "[O4o]: expected a letter or a block like `4c`, found `O`",
            "NCHWc: the block `c` has no factor",
            "NNCHW: `N` occurs twice",
            "[4o: expected a letter or a block like `4c`, found the end of the text",
            "NCHW-c: expected a letter or a block like `4c`, found `-`",
            "4NCHW: expected the lower-case letter of a block, found `N`",
        ]
    );
}

#[test]
fn tvm_unequal_packed_factors_are_bijective() {
    // TVM maps 24 of the 96 elements out of range.
    let layout = layout(Notation::Tvm, "OI[2o4i]", &[8, 12]);
    assert_eq!(storage_extents(&layout), [4, 3, 8]);
    assert_eq!(layout.verdict(), Verdict::Bijective);
    assert_eq!(layout.locate(&[3, 6], &[]).unwrap().storage, [1, 1, 4 + 2]);
}

#[test]
fn einops_patterns_match_recorded_results() {
    let (mut seen, mut refused) = (0, Vec::new());
    for case in cases(PEERS, "einops") {
        let pattern = case["input"]["pattern"].as_str().unwrap();
        let shape = numbers(&case["input"]["shape"]);
        let sizes: Vec<(String, i128)> = case["input"]["axes"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, size)| (name.clone(), i128::from(size.as_i64().unwrap())))
            .collect();
        let found = laid_out(Notation::Einops, pattern, &sizes, &shape, 32);
        if case["expect"]["error"].is_string() || case["expect"]["error"] == true {
            refused.push(format!("{pattern}: {}", found.unwrap_err()));
            continue;
        }
        let (layout, _) = found.unwrap_or_else(|e| panic!("{pattern}: {e}"));
        assert_eq!(storage_extents(&layout), numbers(&case["expect"]["shape"]), "{pattern}");
        for (k, element) in (0..).zip(numbers(&case["expect"]["first16"])) {
            let owner = layout.element_at(&[k], &[]).unwrap().unwrap();
            let flat = owner.iter().zip(&shape).fold(0, |at, (index, extent)| at * extent + index);
            assert_eq!(flat, element, "{pattern} at {k}");
        }
        seen += 1;
    }
    assert_eq!(
        refused,
        [
            "b (c 16) h w -> b c h w 16: `16` is not a name; `1` is the only number allowed",
            "(h h4) w -> h w h4: the sizes do not divide `d0`: it has 10, they are 4",
            "a b c -> a b: `c` occurs only on the left side",
            "a b -> a b c: `c` occurs only on the right side",
        ]
    );
    assert!(seen >= 4, "{seen}");
}

#[test]
fn mdspan_and_numpy_strides_match_recorded_values() {
    let unit = |rank: usize, axis: usize| -> Vec<i128> {
        (0..rank).map(|k| i128::from(k == axis)).collect()
    };
    let strides = |layout: &Layout, shape: &[i128]| -> Vec<Option<i128>> {
        let rank = shape.len();
        (0..rank).map(|axis| (shape[axis] > 1).then(|| offset(layout, &unit(rank, axis)))).collect()
    };
    let same = |found: &[Option<i128>], wanted: &[i128]| {
        found.iter().zip(wanted).all(|(found, wanted)| found.is_none_or(|found| found == *wanted))
    };
    let mut seen = 0;
    for case in cases(PEERS, "mdspan") {
        let shape = numbers(&case["input"]["extents"]);
        let mut text = case["input"]["layout"].as_str().unwrap().to_owned();
        if let Some(given) = case["input"]["strides"].as_array() {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            text = format!("layout_stride<{}>", given.join(", "));
        }
        // The dynamic form is equal to the static one.
        let text = text.replace("dyn=", "").replace('(', "<").replace(')', ">");
        let found = laid_out(Notation::Mdspan, &text, &[], &shape, 32);
        let (layout, _) = found.unwrap_or_else(|e| panic!("{text}: {e}"));
        let wanted = numbers(&case["expect"]["strides"]);
        assert!(same(&strides(&layout, &shape), &wanted), "{text}: {wanted:?}");
        // This version of kokkos/mdspan counts the padding after the last element of padded layouts; the standard does
        // not.
        let size = if text.contains("padded") {
            let last = shape.iter().zip(&wanted).map(|(extent, stride)| (extent - 1) * stride);
            Some(if shape.contains(&0) { 0 } else { last.sum::<i128>() + 1 })
        } else {
            case["expect"]["required_span_size"].as_i64().map(i128::from)
        };
        assert_eq!(layout.physical_elements().as_const(), size, "{text} of {shape:?}");
        seen += 1;
    }
    for case in cases(PEERS, "numpy_strides") {
        let given = &case["expect"]["shape"];
        let shape = numbers(if given.is_array() { given } else { &case["input"]["shape"] });
        let bytes = case["input"]["dtype"].as_str().unwrap();
        let bits: u32 = bytes.trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap();
        let wanted = numbers(&case["expect"]["strides_bytes"]);
        let size = i128::from(bits / 8);
        let in_elements: Vec<i128> = wanted.iter().map(|bytes| bytes / size).collect();
        if shape.contains(&0) {
            continue;
        }
        let order = case["input"]["order"].as_str().unwrap_or_default();
        let listed: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        for text in [order.to_owned(), format!("({},)", listed.join(", "))] {
            if !["C", "F"].contains(&order) && text == order {
                continue;
            }
            let (layout, _) = laid_out(Notation::Numpy, &text, &[], &shape, bits)
                .unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(same(&strides(&layout, &shape), &in_elements), "{text}");
        }
        seen += 1;
    }
    assert!(seen >= 16, "{seen}");
}

#[test]
fn mlir_maps_match_recorded_offsets_if_injective() {
    let mut seen = 0;
    for case in cases(PEERS, "mlir_memref_map") {
        let shape = numbers(&case["input"]["shape"]);
        let map = case["input"]["affine_map"].as_str().unwrap();
        for text in [map.to_owned(), format!("affine_map<{map}>")] {
            let found = laid_out(Notation::Mlir, &text, &[], &shape, 32);
            if case["expect"]["injective"] == false {
                let error = found.unwrap_err();
                let is_collision =
                    error.starts_with("elements [") && error.contains("] share the slot [");
                assert!(is_collision, "{text}: {error}");
                continue;
            }
            let (layout, _) = found.unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(
                storage_extents(&layout),
                numbers(&case["expect"]["physical_shape"]),
                "{text}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

/// Number of indices of a CuTe mode.
fn size(mode: &Value) -> i128 {
    match mode.as_array() {
        Some(list) => list.iter().map(size).product(),
        None => i128::from(mode.as_i64().unwrap()),
    }
}

#[test]
fn cute_layouts_match_cute_offsets() {
    let mut seen = 0;
    for case in cases(PEERS, "cute_crd2idx") {
        let text = case["input_text"]["a"].as_str().unwrap();
        let modes = case["input"]["a"]["shape"].as_array().unwrap();
        let shape: Vec<i128> = modes.iter().map(size).collect();
        let layout = layout(Notation::Cute, text, &shape);
        let cosize = case["expect"]["cosize"].as_i64().map(i128::from);
        assert_eq!(layout.physical_elements().as_const(), cosize, "{text}");
        for pair in case["expect"]["pairs"].as_array().unwrap() {
            let Some(coordinate) = pair[0].as_array() else { continue };
            if coordinate.iter().all(Value::is_i64) {
                let index = numbers(&pair[0]);
                assert_eq!(
                    Some(offset(&layout, &index)),
                    pair[1].as_i64().map(i128::from),
                    "{text}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn xla_layouts_match_the_documentation_or_are_refused() {
    let (mut accepted, mut refused) = (0, Vec::new());
    for case in cases(XLA, "") {
        let id = case["id"].as_str().unwrap();
        let text = case["text"].as_str().unwrap();
        let parsed = xla::parse(text);
        if case["error"].is_string() {
            // A fault that depends on the tensor appears when the text is applied to its own shape.
            let error = parsed
                .map_err(|fault| fault.to_string())
                .and_then(|shape| laid_out(Notation::Xla, text, &[], &shape.dims, 32))
                .unwrap_err();
            refused.push(format!("{text}: {error}"));
            continue;
        }
        let shape = parsed.unwrap_or_else(|e| panic!("{id}: {text}: {e}"));
        assert_eq!(shape.dims, numbers(&case["dims"]), "{id}");
        let dtype = shape.dtype.unwrap();
        let digits = dtype.trim_start_matches(|c: char| c.is_alphabetic());
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        let bits: u32 = digits.parse().unwrap_or(8);
        let (layout, remarks) = laid_out(Notation::Xla, text, &[], &shape.dims, bits)
            .unwrap_or_else(|e| panic!("{id}: {text}: {e}"));
        assert_eq!(storage_extents(&layout), numbers(&case["padded_physical_shape"]), "{id}");
        let bytes = layout.physical_elements().as_const().unwrap() * i128::from(bits);
        let bytes = (bytes + 7) / 8;
        assert_eq!(Some(bytes), case["bytes"].as_i64().map(i128::from), "{id}: {text}");
        for sample in case["samples"].as_array().unwrap() {
            let at = offset(&layout, &numbers(&sample[0]));
            assert_eq!(Some(at), sample[1].as_i64().map(i128::from), "{id}");
        }
        if let Some(theirs) = case["xla"]["array_size"].as_i64() {
            let differs = i128::from(theirs) != bytes;
            assert!(!differs || remarks > 0, "{id}: {text}: XLA says {theirs}, we {bytes}");
        }
        accepted += 1;
    }
    assert_eq!(accepted, 46);
    assert_eq!(
        refused,
        [
            "f8_e4m3fn[3]: unknown XLA type `f8_e4m3fn`",
            "f32[2,7,8,11,10]{4,3,2,1,0:T(-1,-1,2,-1,3)}: -1 is below 0",
            "f32[3,5]{1,0:T(2,-3)}: -3 is below 0",
            "f32[3,5]{1,0:T(2,0)}: a tile of 0 holds nothing",
            "f32[3,5]{1,0:T(2,*)}: there is nothing more minor to merge this axis into",
            "f32[3,5]{-1,0}: -1 is below 0",
            "f32[3,5]{1,0,2}: 3 of 2 dimensions are in the order",
            "f32[3,5]{0}: 1 of 2 dimensions are in the order",
            "f32[3,5]{:T(2)}: 0 of 2 dimensions are in the order",
            "f32[3,5]{}: 0 of 2 dimensions are in the order",
            "f32[3,5]{1,0:L(2)T(4)}: expected `}`, found `T`",
            "f32[3,5]{1,0:T(2,2)T(2,2)}: expected `}`, found `T`",
            "f32[3,5]{1,0:t(2)}: expected `}`, found `t`",
            "f32[3,5]{1,0:T(2,2: expected `,`, found the end of the text",
            "f32[3,5]{1,0,}: expected an integer, found `}`",
            "f32[3,]: expected an integer, found `]`",
            "f32[-3,5]: -3 is below 0",
            "f32[2305843009213693952]: the tensor does not fit 64 bits",
            "f32[3,5]{1,0:E(-1)}: -1 is below 0",
            "f32[3]{0:E()}: expected an integer, found `)`",
            "(f32[3]: tuples and buffers are several tensors, or none",
            "f32[0x3]: expected `,`, found `x`",
            "f32[<=?]: expected an integer, found `?`",
            "f32[3,5]{1,0:T(+2)}: expected an integer, found `+`",
        ]
    );
}

#[test]
fn parsers_survive_arbitrary_text() {
    let texts =
        ["", "(", "[", "{", "4", "a", "A", "N[", "1:", "(1", "{0", "f32[", "affine_map<", "S<1"];
    let seeds = [
        "NCHW16c",
        "OIHW[4o4i]",
        "aBcd16b",
        "OIhw16i16o",
        "b (c c16) h w -> b c h w c16",
        "((4,2),8):((1,32),4)",
        "bf16[8,8]{1,0:T(2,4)(2,1)L(2)E(16)S(1)}",
        "(12, 4)",
        "F",
        "affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>",
        "strided<[8, 1], offset: 0>",
        "layout_right_padded<4>",
        "N[a=32]H[x:y]WC",
    ];
    for seed in texts.into_iter().chain(seeds) {
        for cut in 0..=seed.len() {
            for added in ["", "é", "9999999999999999999999", "(", "*", "0", "-", " "] {
                let text = format!("{}{added}{}", &seed[..cut], &seed[cut..]);
                for notation in Notation::ALL {
                    for shape in [&[][..], &[4], &[8, 8], &[2, 16, 3, 5]] {
                        // Spans of faults are within the text.
                        drop(laid_out(notation, &text, &[], shape, 32));
                    }
                }
            }
        }
    }
}

#[test]
fn einops_ellipsis_axes_can_be_fused() {
    let found = laid_out(Notation::Einops, "a ... -> (... a)", &[], &[2, 3, 5], 32).unwrap();
    assert_eq!(storage_extents(&found.0), [30]);
    assert_eq!(offset(&found.0, &[1, 2, 4]), 29);
    assert_eq!(offset(&found.0, &[1, 0, 1]), 3);
    for (refused, error) in [
        ("(a ...) -> a ...", "`...` cannot be inside a group: it stands for whole axes"),
        ("a b c -> (... a b c)", "`...` occurs only on the right side"),
        ("... -> a", "`a` occurs only on the right side"),
    ] {
        let found = laid_out(Notation::Einops, refused, &[], &[2, 3, 5], 32);
        assert_eq!(found.unwrap_err(), error, "{refused}");
    }
}

/// Bases of a case as Triton's dictionary.
fn dictionary(case: &Value) -> (String, Vec<i128>) {
    let (mut inputs, mut shape) = (Vec::new(), Vec::new());
    for base in case["input"]["bases"].as_array().unwrap() {
        let images = base[1].as_array().unwrap();
        inputs.push(format!("{}: {}", base[0].as_str().unwrap(), base[1]));
        shape.push(1 << images.len());
    }
    let outputs = case["input"]["out_dims"].as_array().unwrap().iter();
    let outputs: Vec<String> =
        outputs.map(|out| format!("{}: {}", out[0].as_str().unwrap(), out[1])).collect();
    (format!("{{{}}} -> {{{}}}", inputs.join(", "), outputs.join(", ")), shape)
}

#[test]
fn triton_linear_layouts_match_recorded_offsets() {
    let (mut accepted, mut refused) = (0, 0);
    for case in cases(PEERS, "linear_layout") {
        let (text, shape) = dictionary(&case);
        let laid = laid_out(Notation::Triton, &text, &[], &shape, 32);
        if case["expect"]["injective"] == false {
            let refusal = laid.unwrap_err();
            let is_collision =
                refusal.starts_with("elements [") && refusal.contains("] share the slot [");
            assert!(is_collision, "{text}: {refusal}");
            refused += 1;
            continue;
        }
        let (layout, _) = laid.unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_ne!(layout.proof(), ProofMethod::Enumeration, "{text}");
        for sample in case["expect"]["samples"].as_array().unwrap() {
            let by_name = |point: &Value, names: &[&str]| -> Vec<i128> {
                names.iter().map(|name| i128::from(point[*name].as_i64().unwrap())).collect()
            };
            let inputs = case["input"]["bases"].as_array().unwrap();
            let inputs: Vec<&str> = inputs.iter().map(|base| base[0].as_str().unwrap()).collect();
            let outputs = case["input"]["out_dims"].as_array().unwrap();
            let outputs: Vec<&str> = outputs.iter().map(|out| out[0].as_str().unwrap()).collect();
            let place = layout.locate(&by_name(&sample[0], &inputs), &[]).unwrap();
            assert_eq!(place.storage, by_name(&sample[1], &outputs), "{text}");
        }
        accepted += 1;
    }
    assert!(accepted >= 4 && refused >= 1, "{accepted} {refused}");
}

#[test]
fn triton_hardware_to_tensor_layouts_are_inverted() {
    let printed = " - register=1 -> (0, 1)\n   register=2 -> (0, 2)\n - lane=1 -> (1, 0)\n   lane=2 -> (2, 1)\n - block is a size 1 dimension\nwhere out dims are: [d0 (size 4), d1 (size 4)]";
    let layout = layout(Notation::Triton, printed, &[4, 4]);
    let names: Vec<&str> = layout.storage().iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["register", "lane", "block"]);
    // Element (2, 1) is register 0 of lane 2.
    assert_eq!(layout.locate(&[2, 1], &[]).unwrap().storage, [0, 2, 0]);
    assert_eq!(layout.locate(&[3, 3], &[]).unwrap().storage, [2, 3, 0]);
    for (text, report) in [
        ("{a: [[1]], b: [[1]]} -> {d0: 2, d1: 1}", "2 outputs are named for images of 1 numbers"),
        ("{a: [[1, 0]], b: [[1, 0]]} -> {d0: 2, d1: 2}", "the inputs do not lead to every output"),
        (
            "{a: [[1, 0]], b: [[0, 1]], c: [[1, 1]]} -> {d0: 2, d1: 2}",
            "several inputs lead to one output",
        ),
        ("{a: [[1]]} -> {d0: 12}", "12 is not a power of two"),
        ("{a: [[1], [4]]} -> {d0: 4}", "index 4 is out of range for `d0` of size 4"),
        ("{a: [[1], [2, 3]]}", "the images of `a` are not all of 2 numbers"),
        ("{a: [[1]], a: [[2]]}", "`a` occurs twice"),
        ("lane=1 -> (1)\nlane=4 -> (2)", "expected 2, found 4"),
    ] {
        let rank = if text.contains("d1") { vec![2, 2] } else { vec![4] };
        assert_eq!(laid_out(Notation::Triton, text, &[], &rank, 32).unwrap_err(), report, "{text}");
    }
}

#[test]
fn cute_swizzled_layouts_are_applied() {
    let text = "S<3,4,3> o 0 o (64,64):(64,1)";
    let layout = layout(Notation::Cute, text, &[64, 64]);
    let swizzle = layoutc_algebra::layout::swizzle::Swizzle::new(3, 4, 3).unwrap();
    for (row, column) in [(0, 0), (1, 5), (17, 40), (63, 63)] {
        assert_eq!(offset(&layout, &[row, column]), swizzle.at(row * 64 + column));
    }
    assert_eq!(layout.proof(), ProofMethod::Gf2);
    let report =
        laid_out(Notation::Cute, "S<3,4,3> o 8 o (8,8):(8,1)", &[], &[8, 8], 32).unwrap_err();
    assert_eq!(report, "an offset before the first element is not supported");
}

#[test]
fn comments_of_xla_texts_end_after_their_beginning() {
    let plain = storage_extents(&layout(Notation::Xla, "{0,1}", &[4, 8]));
    for text in ["{0,1/*/ minor to major */}", "{0,/**/1}", "{0,1/* a // b */}"] {
        assert_eq!(storage_extents(&layout(Notation::Xla, text, &[4, 8])), plain, "{text}");
    }
    let unclosed = laid_out(Notation::Xla, "{0,1/*/}", &[], &[4, 8], 32).unwrap_err();
    assert_eq!(unclosed, "expected `}`, found `/`");
}
