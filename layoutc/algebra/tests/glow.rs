//! Glow's strings: known cases and random layouts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::notation::glow::{
    AxisPermutation, GlowEditError, GlowLayout, GlowTensor, PermutationError, Satisfaction,
    TransposeOperand, UnknownAttribute, UnmetRequirement, check_satisfied, parse,
};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::Axis;
use layoutc_testing::{Random, cases, layouts};
use serde_json::Value;

const GLOW: &str = include_str!("cases/glow.json");

fn recorded_cases(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(GLOW).unwrap();
    let all = file["cases"].as_array().unwrap();
    all.iter().filter(|case| case["kind"] == kind).cloned().collect()
}

fn read(text: &str) -> GlowLayout {
    parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn shuffle(perm: &[usize]) -> AxisPermutation {
    AxisPermutation::new(perm.to_vec()).unwrap()
}

fn axes(extents: &[i128]) -> Vec<Axis> {
    let axis = |(k, extent): (usize, &i128)| Axis {
        name: format!("d{k}"),
        extent: Expr::constant(*extent),
    };
    extents.iter().enumerate().map(axis).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    let index = |v: &Value| usize::try_from(v.as_u64().unwrap()).unwrap();
    value.as_array().unwrap().iter().map(index).collect()
}

/// A random layout of up to six axes with alignments and attributes; letters may repeat, and `*` may occur.
fn any_layout(random: &mut Random) -> GlowLayout {
    let letters: String =
        (0..random.below(7)).map(|_| *random.pick(&['N', 'H', 'c', '*'])).collect();
    extended(random, &letters)
}

/// Axes of these letters with random alignments and attributes.
fn extended(random: &mut Random, letters: &str) -> GlowLayout {
    let mut layout = read(letters);
    for axis in 0..layout.rank() {
        for _ in 0..random.below(4) {
            if random.one_in(2) {
                layout.set_align(axis, *random.pick(&[1, 2, 6, 16, 64, u64::MAX])).unwrap();
            } else {
                let name = random.pick(&["a=3", "ns", "a", " ", "é"]);
                let value = random.pick(&["", "a=7", "x:y", " [", "\n"]);
                layout.set_attribute(axis, name, value).unwrap();
            }
        }
    }
    layout
}

/// Up to six distinct letters.
fn distinct(random: &mut Random) -> Vec<char> {
    let mut letters: Vec<char> = "NHWCnz".chars().collect();
    random.shuffle(&mut letters);
    letters.truncate(random.below(7));
    letters
}

#[test]
fn glow_strings_parse_with_extensions_or_report_the_byte() {
    let mut seen = 0;
    for case in recorded_cases("parse") {
        let text = case["text"].as_str().unwrap();
        match (parse(text), case["expect"]["at"].as_u64()) {
            (Err(fault), Some(at)) => {
                assert_eq!(fault.span.start as u64, at, "{text}: {fault:?}");
            }
            (Ok(layout), None) => {
                let wanted = case["expect"]["dims"].as_array().unwrap();
                assert_eq!(layout.rank(), wanted.len(), "{text}");
                for (dim, wanted) in layout.dims().iter().zip(wanted) {
                    assert_eq!(wanted["letter"].as_str(), Some(dim.letter().to_string().as_str()));
                    assert_eq!(wanted["align"].as_u64(), Some(dim.align()), "{text}");
                    let spaces = wanted["namespaces"].as_object().unwrap();
                    assert_eq!(spaces.len(), dim.attributes().count(), "{text}");
                    for (name, value) in dim.attributes() {
                        assert_eq!(spaces[name].as_str(), Some(value), "{text}");
                    }
                }
            }
            (found, wanted) => panic!("{text}: {found:?}, and {wanted:?} is wanted"),
        }
        seen += 1;
    }
    assert!(seen >= 31, "{seen}");
    let mut builder = LayoutBuilder::new(&[], &axes(&[2, 3, 5, 7]), 32).unwrap();
    notation::apply(Notation::Glow, "N[a=64]HWC", &[], &mut builder).unwrap();
    let layout = builder.finish(64, &SequentialExecutor).unwrap();
    assert_eq!(layout.strides().first().and_then(Expr::as_const), Some(112));
}

#[test]
fn edits_give_the_expected_texts() {
    let mut seen = 0;
    for case in recorded_cases("edit") {
        let mut layout = read(case["text"].as_str().unwrap());
        match case["edit"].as_object().unwrap().iter().next().unwrap() {
            (edit, value) if edit == "set_align" => {
                let axis = indices(value)[0];
                layout.set_align(axis, value[1].as_u64().unwrap()).unwrap();
            }
            (edit, _) => assert_eq!(edit, "serialize"),
        }
        assert_eq!(Some(layout.to_string().as_str()), case["expect"].as_str(), "{case}");
        seen += 1;
    }
    assert!(seen >= 4, "{seen}");
}

#[test]
fn invalid_edits_leave_the_layout_unchanged() {
    let mut layout = read("N[x:y]H");
    assert_eq!(layout.set_align(2, 4), Err(GlowEditError::Axis { axis: 2, rank: 2 }));
    assert_eq!(layout.set_align(0, 0), Err(GlowEditError::Align));
    for name in ["", "a:b", "a]"] {
        let error = GlowEditError::Name { name: name.to_owned() };
        assert_eq!(layout.set_attribute(0, name, "v"), Err(error));
    }
    let error = GlowEditError::Value { value: "]".to_owned() };
    assert_eq!(layout.set_attribute(0, "x", "]"), Err(error));
    assert_eq!(layout.to_string(), "N[x:y]H");
    layout.set_attribute(0, "a", "3").unwrap();
    layout.set_attribute(0, "x", "z").unwrap();
    assert_eq!(layout.to_string(), "N[a:3][x:z]H");
    assert_eq!(layout.dims()[0].align(), 1);
    assert_eq!(layout.remove_attribute(0, "a"), Ok(true));
    assert_eq!(layout.remove_attribute(0, "a"), Ok(false));
    assert_eq!(layout.to_string(), "N[x:z]H");
}

#[test]
fn layouts_that_differ_in_an_extension_differ() {
    let base = read("N[a=32][x:y]HWC");
    for other in ["NHWC", "N[a=32]HWC", "N[x:y]HWC", "N[a=64][x:y]HWC", "N[a=32][x:z]HWC"] {
        assert_ne!(base, read(other));
    }
    assert_eq!(base, read(" N [a=032]\t[x:y]H[a=1]WC "));
}

#[test]
fn printed_layouts_round_trip() {
    for seed in 0..cases(500, 4000) {
        let layout = any_layout(&mut Random::new(seed));
        let text = layout.to_string();
        let again = read(&text);
        assert_eq!(again, layout, "seed {seed}: {text}");
        assert_eq!(again.to_string(), text, "seed {seed}");
    }
}

#[test]
fn set_align_changes_only_the_alignment() {
    for seed in 0..cases(500, 4000) {
        let mut random = Random::new(seed + 1_000_000);
        let layout = any_layout(&mut random);
        let Some(axis) = layout.rank().checked_sub(1).map(|last| random.below(last + 1)) else {
            continue;
        };
        let mut edited = layout.clone();
        edited.set_align(axis, 48).unwrap();
        assert_eq!(edited.dims()[axis].align(), 48);
        edited.set_align(axis, layout.dims()[axis].align()).unwrap();
        for (before, after) in layout.dims().iter().zip(edited.dims()) {
            assert_eq!((before.letter(), before.align()), (after.letter(), after.align()));
            let attributes = [before, after].map(|dim| dim.attributes().collect::<Vec<_>>());
            assert_eq!(attributes[0], attributes[1], "seed {seed}: {layout}");
        }
    }
}

#[test]
fn satisfaction_matches_recorded_cases() {
    let mut seen = 0;
    for case in recorded_cases("satisfied") {
        let strides: Vec<i128> =
            indices(&case["type"]["strides"]).iter().map(|s| i128::try_from(*s).unwrap()).collect();
        let bytes = u32::try_from(case["type"]["elem_bytes"].as_u64().unwrap()).unwrap();
        let layout = case["source"].as_str().map(read);
        let tensor =
            GlowTensor { strides: &strides, element_bits: 8 * bytes, layout: layout.as_ref() };
        let found = match parse(case["required"].as_str().unwrap()) {
            Err(_) => Value::from("error"),
            Ok(required) => match check_satisfied(&tensor, &required) {
                Satisfaction::Satisfied => Value::from(true),
                Satisfaction::Unsatisfied(unmet) => {
                    assert!(!unmet.is_empty(), "{case}");
                    Value::from(false)
                }
                Satisfaction::Unknown(unjudged) => {
                    assert!(!unjudged.is_empty(), "{case}");
                    Value::from("unknown")
                }
            },
        };
        assert_eq!(found, case["expect"], "{case}");
        seen += 1;
    }
    assert!(seen >= 23, "{seen}");
}

#[test]
fn unmet_requirements_report_axis_and_values() {
    let judged = |required: &str, layout: Option<&str>, strides: &[i128], element_bits| {
        let layout = layout.map(read);
        check_satisfied(
            &GlowTensor { strides, element_bits, layout: layout.as_ref() },
            &read(required),
        )
    };
    let align = |axis, align, stride, element_bits| UnmetRequirement::Align {
        axis,
        align,
        stride,
        element_bits,
    };
    let strides = &[48, 16, 4, 1];
    assert_eq!(
        judged("N[a=128]HwC[x:q][y:1]", Some("N[a=128]HWC[x:r]"), strides, 32),
        Satisfaction::Unsatisfied(vec![
            align(0, 128, 48, 32),
            UnmetRequirement::Letter { axis: 2, required: 'w', found: 'W' },
            UnmetRequirement::Attribute {
                axis: 3,
                name: "x".to_owned(),
                required: "q".to_owned(),
                found: "r".to_owned(),
            },
        ])
    );
    assert_eq!(
        align(0, 128, 48, 32).to_string(),
        "stride of axis 0 is 48 elements of 32 bits, not a multiple of 128 bytes"
    );
    assert_eq!(
        judged("NHWC[y:1]", Some("****[x:r]"), strides, 32),
        Satisfaction::Unknown(vec![UnknownAttribute {
            axis: 3,
            name: "y".to_owned(),
            value: "1".to_owned()
        }])
    );
    assert_eq!(
        judged("NHW", Some("NH"), strides, 32),
        Satisfaction::Unsatisfied(vec![
            UnmetRequirement::Rank { required: 3, strides: 4 },
            UnmetRequirement::LayoutRank { required: 3, layout: 2 },
        ])
    );
    // Four bits: 4 elements are 2 bytes. The sign of a stride is irrelevant.
    assert_eq!(judged("N[a=2]", None, &[4], 4), Satisfaction::Satisfied);
    assert_eq!(judged("N[a=2]", None, &[-8], 4), Satisfaction::Satisfied);
    assert_eq!(judged("N[a=2]", None, &[2], 4), Satisfaction::Unsatisfied(vec![align(0, 2, 2, 4)]));
    let most = "N[a=18446744073709551615]";
    assert_eq!(
        judged(most, None, &[i128::MIN], u32::MAX),
        Satisfaction::Unsatisfied(vec![align(0, u64::MAX, i128::MIN, u32::MAX)])
    );
}

/// Strides that satisfy all alignments, the last axis fastest.
fn aligned_strides(random: &mut Random, layout: &GlowLayout) -> Vec<i128> {
    let (mut strides, mut next) = (Vec::new(), 1);
    for dim in layout.dims().iter().rev() {
        let align = i128::from(dim.align());
        next = (next + align - 1) / align * align;
        strides.push(next);
        next *= i128::from(random.between(0, 4));
    }
    strides.reverse();
    strides
}

#[test]
fn a_tensor_with_aligned_strides_satisfies_its_own_string() {
    for seed in 0..cases(500, 4000) {
        let mut random = Random::new(seed + 2_000_000);
        let layout = any_layout(&mut random);
        let element_bits = *random.pick(&[8, 16, 32, 64]);
        let strides = aligned_strides(&mut random, &layout);
        let tensor = GlowTensor { strides: &strides, element_bits, layout: Some(&layout) };
        assert_eq!(
            check_satisfied(&tensor, &layout),
            Satisfaction::Satisfied,
            "seed {seed}: {layout}"
        );
        // Perturbs every stride: the result must follow from the byte strides alone.
        let strides: Vec<i128> =
            strides.iter().map(|s| s + i128::from(random.between(-2, 2))).collect();
        let tensor = GlowTensor { strides: &strides, element_bits, layout: Some(&layout) };
        let wrong = |(dim, stride): (&notation::glow::GlowAxis, &i128)| {
            stride * i128::from(element_bits / 8) % i128::from(dim.align()) != 0
        };
        let wanted = layout.dims().iter().zip(&strides).filter(|row| wrong(*row)).count();
        let found = match check_satisfied(&tensor, &layout) {
            Satisfaction::Satisfied => 0,
            Satisfaction::Unsatisfied(unmet) => unmet.len(),
            Satisfaction::Unknown(unjudged) => panic!("seed {seed}: {unjudged:?}"),
        };
        assert_eq!(found, wanted, "seed {seed}: {layout} {strides:?}");
    }
}

#[test]
fn built_layouts_satisfy_their_layout_string() {
    for seed in 0..cases(100, 800) {
        let mut random = Random::new(seed + 3_000_000);
        let letters: String = distinct(&mut random).into_iter().filter(|c| *c != 'n').collect();
        let mut layout = read(&letters);
        let rank = layout.rank();
        for axis in 0..rank {
            layout.set_align(axis, *random.pick(&[1, 4, 8, 12, 64])).unwrap();
        }
        let extents: Vec<i128> = (0..rank).map(|_| random.between(1, 5)).collect();
        let mut builder = LayoutBuilder::new(&[], &axes(&extents), 32).unwrap();
        notation::apply(Notation::Glow, &layout.to_string(), &[], &mut builder).unwrap();
        let laid_out = builder.finish(64, &SequentialExecutor).unwrap();
        let strides: Vec<i128> =
            laid_out.strides().iter().map(|stride| stride.as_const().unwrap()).collect();
        let tensor = GlowTensor { strides: &strides, element_bits: 32, layout: Some(&layout) };
        assert_eq!(
            check_satisfied(&tensor, &layout),
            Satisfaction::Satisfied,
            "seed {seed}: {layout} {extents:?} {strides:?}"
        );
    }
}

#[test]
fn shuffles_match_recorded_cases() {
    let mut seen = 0;
    for case in recorded_cases("shuffle") {
        let expect = &case["expect"];
        if let (Some(from), Some(to)) = (case["from"].as_str(), case["to"].as_str()) {
            match AxisPermutation::between(&read(from), &read(to)) {
                Ok(shuffle) => assert_eq!(shuffle.perm(), indices(&expect["perm"]), "{case}"),
                Err(PermutationError::Wildcard { .. }) => {
                    assert_eq!(expect["error"], "ambiguous-wildcard", "{case}");
                }
                Err(error) => panic!("{error}: {case}"),
            }
        } else if let Some(merge) = case["merge"].as_array() {
            let all = merge.iter().map(|perm| shuffle(&indices(perm)));
            let merged = all.reduce(|all, next| all.then(&next).unwrap()).unwrap();
            assert_eq!(merged.perm(), indices(&expect["perm"]), "{case}");
            assert_eq!(Some(merged.is_identity()), expect["identity"].as_bool(), "{case}");
        } else {
            let shape: Vec<u64> =
                case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            let moves = shuffle(&indices(&case["perm"])).moves_data(&shape).unwrap();
            assert_eq!(Some(!moves), expect["moves_no_data"].as_bool(), "{case}");
        }
        seen += 1;
    }
    assert!(seen >= 21, "{seen}");
}

#[test]
fn ambiguous_shuffles_are_refused_with_a_reason() {
    let between = |from, to| AxisPermutation::between(&read(from), &read(to));
    assert_eq!(between("NHWC", "NHW"), Err(PermutationError::Rank { from: 4, to: 3 }));
    for (from, to, side, axis) in [
        ("****", "NHWC", TransposeOperand::From, 0),
        ("NHWC", "N*WC", TransposeOperand::To, 1),
        ("N*", "N*", TransposeOperand::From, 1),
    ] {
        assert_eq!(
            between(from, to),
            Err(PermutationError::Wildcard { side, axis }),
            "{from} {to}"
        );
    }
    let repeated =
        |side| Err(PermutationError::Repeated { side, letter: 'N', first: 0, second: 3 });
    assert_eq!(between("NHWN", "NHWN"), repeated(TransposeOperand::From));
    assert_eq!(between("NHWC", "NHWN"), repeated(TransposeOperand::To));
    let letter = |side, letter, axis| Err(PermutationError::Letter { side, letter, axis });
    assert_eq!(between("NHWC", "NHWc"), letter(TransposeOperand::From, 'C', 3));
    assert_eq!(between("OIHW", "NCHW"), letter(TransposeOperand::From, 'O', 0));
    assert_eq!(
        between("NHWC", "N*WC").map_err(|error| error.to_string()),
        Err("axis 1 of the output layout is `*`, which matches any axis".to_owned())
    );
    assert_eq!(between("N[a=32]HW[x:y]C", "NCHW[a=64]"), Ok(shuffle(&[0, 3, 1, 2])));
    assert_eq!(between("", ""), Ok(shuffle(&[])));
    for (perm, axis) in [(vec![0, 2], 2), (vec![1, 1], 1)] {
        let error = PermutationError::Permutation { perm: perm.clone(), axis };
        assert_eq!(AxisPermutation::new(perm), Err(error));
    }
    let turned = shuffle(&[1, 0]);
    let rank = PermutationError::Rank { from: 2, to: 3 };
    assert_eq!(turned.then(&shuffle(&[0, 1, 2])), Err(rank));
    assert_eq!(turned.moves_data(&[1]), Err(PermutationError::Rank { from: 1, to: 2 }));
    assert_eq!(turned.moves_data(&[0, 9]), Ok(false));
}

#[test]
fn a_shuffle_and_its_inverse_cancel() {
    for seed in 0..cases(500, 4000) {
        let mut random = Random::new(seed + 4_000_000);
        let letters = distinct(&mut random);
        let [a, b, c] = [(); 3].map(|()| {
            let mut letters = letters.clone();
            random.shuffle(&mut letters);
            extended(&mut random, &letters.iter().collect::<String>())
        });
        let there = AxisPermutation::between(&a, &b).unwrap();
        let back = AxisPermutation::between(&b, &a).unwrap();
        let what = format!("seed {seed}: {a} {b} {c}");
        assert!(there.then(&back).unwrap().is_identity(), "{what}");
        assert!(back.then(&there).unwrap().is_identity(), "{what}");
        assert!(AxisPermutation::between(&a, &a).unwrap().is_identity(), "{what}");
        // out[i] = in[perm[i]]
        for (out, axis) in b.dims().iter().zip(there.perm()) {
            assert_eq!(out.letter(), a.dims()[*axis].letter(), "{what}");
        }
        let on = AxisPermutation::between(&b, &c).unwrap();
        assert_eq!(there.then(&on), AxisPermutation::between(&a, &c), "{what}");
    }
}

#[test]
fn shuffle_moves_data_iff_an_element_changes_offset() {
    for seed in 0..cases(500, 4000) {
        let mut random = Random::new(seed + 5_000_000);
        let rank = random.below(5);
        let mut perm: Vec<usize> = (0..rank).collect();
        random.shuffle(&mut perm);
        let shape: Vec<i64> = (0..rank).map(|_| *random.pick(&[1, 1, 2, 3, 0])).collect();
        let out: Vec<i64> = perm.iter().map(|axis| shape[*axis]).collect();
        let offset = |shape: &[i64], index: &[i64]| {
            shape.iter().zip(index).fold(0, |offset, (extent, index)| offset * extent + index)
        };
        let moves = layouts::points(&shape).into_iter().any(|index| {
            let moved: Vec<i64> = perm.iter().map(|axis| index[*axis]).collect();
            offset(&shape, &index) != offset(&out, &moved)
        });
        let extents: Vec<u64> = shape.iter().map(|n| u64::try_from(*n).unwrap()).collect();
        let found = shuffle(&perm).moves_data(&extents);
        assert_eq!(found, Ok(moves), "seed {seed}: {perm:?} {shape:?}");
    }
}
