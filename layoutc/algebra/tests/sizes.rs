//! Buffer sizes and extents of storage axes, against formulas of other tools and against enumeration.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::notation::write::{ElementFormat, write};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::provers::{builder, every_slot_tells_its_owner, points};

fn constant(expr: &Expr) -> i128 {
    expr.as_const().unwrap()
}

/// CuTe's `Swizzle<bits, base, shift>` of one offset, from its source.
fn folded(bits: i128, base: i128, shift: i128, offset: i128) -> i128 {
    let mask = ((1 << bits) - 1) << (base + shift.max(0));
    let taken = offset & mask;
    offset ^ if shift >= 0 { taken >> shift } else { taken << -shift }
}

#[test]
fn swizzled_size_is_the_smallest_closed_under_the_swizzle() {
    let mut seen = 0;
    // 32B, 64B and 128B swizzles of elements of 8 to 64 bits, then others.
    let modes = (1..=3).flat_map(|bits| (1..=4).map(move |base| (bits, base, 3)));
    for (bits, base, shift) in modes.chain([(2, 0, 2), (2, 1, -3), (1, 0, -1), (0, 4, 3)]) {
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        for rows in [1, 2, 3, 4, 5, 7, 8, 9, 16, 20] {
            for row in [1, 3, 8, 16, 20, 32, 64] {
                let mut swizzled = builder(&[rows, row], "(i, j) -> (i, j)");
                swizzled.swizzle(swizzle).unwrap();
                let layout = swizzled.finish(64, &SequentialExecutor).unwrap();
                let what = format!("{swizzle} on {rows} x {row}");
                for point in points(&[rows, row]) {
                    let offset = folded(bits, base, shift, point[0] * row + point[1]);
                    assert_eq!(layout.locate(&point, &[]).unwrap().offset, offset, "{what}");
                }
                let slots = constant(layout.physical_elements());
                let stays =
                    |slots: i128| (0..slots).all(|slot| folded(bits, base, shift, slot) < slots);
                assert!(stays(slots), "{what}: {slots}");
                let is_bijective = layout.verdict() == Verdict::Bijective;
                assert_eq!(is_bijective, slots == rows * row, "{what}");
                // Bits that move up round the size to a whole block.
                if shift >= 0 && stays(rows * row) {
                    assert_eq!(slots, rows * row, "{what}");
                }
                if rows * row <= 64 {
                    every_slot_tells_its_owner(&layout, &[rows, row], &what);
                }
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 16 * 70);
}

fn named(extents: &[i128]) -> Vec<Axis> {
    let axis = |(name, extent): (&&str, &i128)| Axis {
        name: (*name).to_owned(),
        extent: Expr::constant(*extent),
    };
    ["i", "j", "k"].iter().zip(extents).map(axis).collect()
}

fn read(notation: Notation, text: &str, axes: &[Axis]) -> Layout {
    let mut builder = LayoutBuilder::new(&[], axes, 32).unwrap();
    notation::apply(notation, text, &[], &mut builder).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap_or_else(|e| panic!("{text} on {axes:?}: {e:?}"))
}

/// Strides of `layout_left_padded<multiple>`, and of `layout_right_padded` on reversed extents.
fn padded(extents: &[i128], multiple: i128) -> Vec<i128> {
    let mut strides = vec![1];
    for (k, extent) in extents.iter().enumerate().take(extents.len().saturating_sub(1)) {
        let whole = if k == 0 { (extent + multiple - 1) / multiple * multiple } else { *extent };
        strides.push(strides[k] * whole);
    }
    strides
}

/// `required_span_size()` of the standard: 0 without elements, else the last offset + 1.
fn span(extents: &[i128], strides: &[i128]) -> i128 {
    if extents.contains(&0) {
        return 0;
    }
    1 + extents.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum::<i128>()
}

#[test]
fn padded_mdspans_and_strides_span_the_standard_size() {
    let mut shapes: Vec<Vec<i128>> = Vec::new();
    for i in [0, 1, 2, 3, 5, 8] {
        shapes.push(vec![i]);
        for j in [0, 1, 3, 4, 5] {
            shapes.push(vec![i, j]);
            shapes.extend([0, 1, 2, 3].map(|k| vec![i, j, k]));
        }
    }
    for extents in &shapes {
        let axes = named(extents);
        for multiple in [1, 2, 3, 4, 8, 16] {
            let reversed = |all: &[i128]| all.iter().rev().copied().collect::<Vec<_>>();
            let left = padded(extents, multiple);
            let right = reversed(&padded(&reversed(extents), multiple));
            for (text, strides) in [
                (format!("layout_left_padded<{multiple}>"), left),
                (format!("layout_right_padded<{multiple}>"), right),
            ] {
                let layout = read(Notation::Mdspan, &text, &axes);
                same(&layout, extents, &strides, &text);
                let (numpy, cute, mlir) = strided(&strides, extents);
                // CuTe has no empty modes.
                if !extents.contains(&0) {
                    same(&read(Notation::Numpy, &numpy, &axes), extents, &strides, &numpy);
                    same(&read(Notation::Cute, &cute, &axes), extents, &strides, &cute);
                    same(&read(Notation::Mlir, &mlir, &axes), extents, &strides, &mlir);
                    let elements = ElementFormat { bits: 32, dtype: None };
                    let written =
                        write(Notation::Mdspan, &layout, elements, &SequentialExecutor).unwrap();
                    let again = read(Notation::Mdspan, &written.text, &axes);
                    assert!(written.equal_sizes, "{text} on {extents:?}: {}", written.text);
                    same(&again, extents, &strides, &written.text);
                }
            }
        }
    }
}

fn strided(strides: &[i128], extents: &[i128]) -> (String, String, String) {
    let list = |all: Vec<i128>| {
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        all.join(", ")
    };
    let bytes = strides.iter().map(|stride| stride * 4).collect::<Vec<_>>();
    let tail = if bytes.len() == 1 { "," } else { "" };
    (
        format!("({}{tail})", list(bytes)),
        format!("({}):({})", list(extents.to_vec()), list(strides.to_vec())),
        format!("strided<[{}]>", list(strides.to_vec())),
    )
}

fn same(layout: &Layout, extents: &[i128], strides: &[i128], what: &str) {
    assert_eq!(constant(layout.physical_elements()), span(extents, strides), "{what}: {extents:?}");
    for point in points(extents) {
        let offset: i128 = point.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        assert_eq!(layout.locate(&point, &[]).unwrap().offset, offset, "{what}: {extents:?}");
    }
}

#[test]
fn symbolic_padded_mdspans_span_the_standard_size() {
    let symbol = |name: &str| Symbol { name: name.to_owned(), min: 1, max: 4096, multiple: 1 };
    let symbols = [symbol("m"), symbol("n")];
    let axis =
        |k: u32, name: &str| Axis { name: name.to_owned(), extent: Expr::var(Var::Symbol(k)) };
    let axes = [axis(0, "i"), axis(1, "j")];
    for (text, is_left) in [("layout_left_padded<4>", true), ("layout_right_padded<8>", false)] {
        let mut builder = LayoutBuilder::new(&symbols, &axes, 32).unwrap();
        notation::apply(Notation::Mdspan, text, &[], &mut builder).unwrap();
        let layout = builder.finish(64, &SequentialExecutor).unwrap();
        for (m, n) in [(1, 1), (3, 5), (7, 8), (4096, 33)] {
            let strides = if is_left {
                padded(&[m, n], 4)
            } else {
                padded(&[n, m], 8).into_iter().rev().collect()
            };
            let size = layout.physical_elements().evaluate(&|var| match var {
                Var::Symbol(0) => Some(m),
                Var::Symbol(_) => Some(n),
                _ => None,
            });
            assert_eq!(size, Ok(span(&[m, n], &strides)), "{text} at {m}, {n}");
        }
    }
}

/// Shapes, an index over `i` and `j`, and its extent.
const DIFFERENCES: &[(&[i128], &str, i128)] = &[
    (&[9, 7], "i + j - j", 9),
    (&[9, 7], "j - j + i", 9),
    (&[9, 7], "2 * i - i", 9),
    (&[9, 8], "j - j % 4 + j % 4", 8),
    (&[9, 8], "j - j % 4", 5),
    (&[9, 8], "j % 8 - j % 4", 5),
    (&[9, 8], "j - j // 4 * 4", 4),
    (&[9, 8], "(i + j - j) // 2", 5),
    (&[9, 8], "3 * (j - j % 4) // 4", 4),
    (&[9, 8], "-(0 - i)", 9),
    (&[9, 8], "i // 2 - i // 3", 3),
    (&[9, 8], "8 - i", 9),
    // `e % k` spans its block, and subtracting zero changes nothing.
    (&[3, 8], "i % 4 + j - j", 4),
    (&[3, 8], "(j - i + 2) % 4", 4),
    (&[5, 8], "i // 4 * 4 + i % 4 + (j - j)", 8),
];

#[test]
fn difference_extents_are_tight() {
    for (shape, index, extent) in DIFFERENCES {
        let layout = builder(shape, &format!("(i, j) -> (d = {index}, i, j)"));
        assert_eq!(constant(&layout.axes()[0].extent), *extent, "{index} on {shape:?}");
    }
}

/// Too many indices to enumerate, or symbolic extents: bounded by the normal form.
#[test]
fn large_and_symbolic_differences_use_normal_form_bounds() {
    let large: &[(&str, i128)] = &[
        ("i + j - j", 90000),
        ("j - j % 4 + j % 4", 80000),
        ("j - j % 4", 79997),
        ("j % 8 - j % 4", 5),
        ("j - j // 4 * 4", 4),
        ("3 * i - 3 * j + 3 * j", 269_998),
    ];
    for (index, extent) in large {
        let layout = builder(&[90000, 80000], &format!("(i, j) -> (d = {index}, i, j)"));
        assert_eq!(constant(&layout.axes()[0].extent), *extent, "{index}");
    }
}
