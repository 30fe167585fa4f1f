//! Exports by hand: known texts, and the features that each notation lacks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::notation::write::{ElementFormat, Inexpressible, write};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::{Axis, Symbol};

const NCHW: [(&str, i128); 4] = [("n", 2), ("c", 64), ("h", 56), ("w", 56)];

fn axes(axes: &[(&str, i128)]) -> Vec<Axis> {
    let axis = |(name, extent): &(&str, i128)| Axis {
        name: (*name).to_owned(),
        extent: Expr::constant(*extent),
    };
    axes.iter().map(axis).collect()
}

/// Axes whose extents are distinct symbols.
fn symbolic(names: &[&str], multiple: i128) -> (Vec<Symbol>, Vec<Axis>) {
    let symbol = |name: &&str| Symbol { name: (*name).to_owned(), min: 1, max: 1 << 12, multiple };
    let axis = |(k, name): (u32, &&str)| Axis {
        name: (*name).to_owned(),
        extent: Expr::var(Var::Symbol(k)),
    };
    (names.iter().map(symbol).collect(), (0..).zip(names).map(axis).collect())
}

fn read(notation: Notation, text: &str, symbols: &[Symbol], axes: &[Axis]) -> Layout {
    let mut builder = LayoutBuilder::new(symbols, axes, 32).unwrap();
    notation::apply(notation, text, &[], &mut builder).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap()
}

fn mapped(axes: &[Axis], text: &str) -> Layout {
    let mut builder = LayoutBuilder::new(&[], axes, 32).unwrap();
    let parsed = parse::map(text).unwrap();
    let scope = MapScope { axes: builder.axes(), values: &|_| None, facts: builder.facts() };
    let map = resolve(&parsed, scope).unwrap();
    builder.apply(&map).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap()
}

fn exported(
    notation: Notation,
    layout: &Layout,
    dtype: Option<&str>,
) -> Result<String, Inexpressible> {
    let elements = ElementFormat { bits: 32, dtype };
    let written = write(notation, layout, elements, &SequentialExecutor)?;
    let sizes = written.sizes.iter().map(|(name, size)| format!(" {name}={size}"));
    Ok(written.text.clone() + &sizes.collect::<String>())
}

/// All texts of a layout, in the order of [`Notation::ALL`].
fn all(layout: &Layout) -> Vec<Result<String, Inexpressible>> {
    Notation::ALL.iter().map(|notation| exported(*notation, layout, Some("f32"))).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "what is compared with is a result")]
fn text(text: &str) -> Result<String, Inexpressible> {
    Ok(text.to_owned())
}

#[test]
fn nchw16c_is_exported_to_notations_with_blocks() {
    let layout = read(Notation::Tvm, "NCHW16c", &[], &axes(&NCHW));
    let blocks = Err(Inexpressible::Blocks { axis: 1 });
    assert_eq!(
        all(&layout),
        [
            text("NCHW16c"),
            text("f32[2,64,56,56]{3,2,1,0:T(16,1,1)}"),
            blocks.clone(),
            text("aBcd16b"),
            text("(2,(16,4),56,56):(200704,(1,50176),896,16)"),
            text("affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)>"),
            text("n (c c16) h w -> n c h w c16 c16=16"),
            blocks.clone(),
            blocks,
            Err(Inexpressible::PowerOfTwo { axis: 2 }),
        ]
    );
}

#[test]
fn blocks_are_exported_for_symbolic_extents() {
    let (symbols, axes) = symbolic(&["n", "c", "h", "w"], 1);
    let layout = read(Notation::Tvm, "NCHW16c", &symbols, &axes);
    assert_eq!(exported(Notation::Onednn, &layout, None), text("aBcd16b"));
    assert_eq!(exported(Notation::Einops, &layout, None), Err(Inexpressible::Padding));
    assert_eq!(exported(Notation::Cute, &layout, None), Err(Inexpressible::Symbolic));
    let (symbols, axes) = symbolic(&["n", "c", "h", "w"], 16);
    let layout = read(Notation::Onednn, "aBcd16b", &symbols, &axes);
    assert_eq!(exported(Notation::Tvm, &layout, None), text("NCHW16c"));
    let layout = read(Notation::Tvm, "NHWC", &symbols, &axes);
    for (notation, wanted) in [
        (Notation::Tvm, "NHWC"),
        (Notation::Glow, "NHWC"),
        (Notation::Onednn, "acdb"),
        (Notation::Xla, "{1,3,2,0}"),
        (Notation::Einops, "n c h w -> n h w c"),
        (Notation::Mlir, "affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>"),
    ] {
        assert_eq!(exported(notation, &layout, None), text(wanted), "{notation:?}");
    }
}

#[test]
fn xla_tiles_round_trip() {
    for (shape, layout) in [
        (vec![("i", 16), ("j", 256)], "{1,0:T(8,128)(2,1)}"),
        (vec![("i", 1000), ("j", 500)], "{0,1:T(8,128)}"),
        (vec![("i", 2500)], "{0:T(1024)(128)(2,1)}"),
        (vec![("b", 3), ("i", 20), ("j", 300)], "{2,1,0:T(8,128)}"),
        (vec![("i", 5), ("j", 7)], "{1,0:L(128)}"),
        (vec![("b", 4), ("i", 3), ("j", 20)], "{2,1,0:T(2,*,8)}"),
    ] {
        let read = read(Notation::Xla, layout, &[], &axes(&shape));
        assert_eq!(exported(Notation::Xla, &read, None), text(layout));
    }
    let scalar = mapped(&[], "() -> ()");
    assert_eq!(exported(Notation::Xla, &scalar, Some("f32")), text("f32[]"));
    assert_eq!(exported(Notation::Xla, &scalar, None), Err(Inexpressible::Scalar));
}

#[test]
fn xla_text_starts_with_named_element_types() {
    let elements = |bits, dtype| ElementFormat { bits, dtype: Some(dtype) };
    for (bits, dtype, wanted) in [
        (32, "f32", "f32[4,8]{1,0}"),
        (16, "bf16", "bf16[4,8]{1,0}"),
        (8, "i8", "s8[4,8]{1,0}"),
        (8, "bool", "pred[4,8]{1,0}"),
        (8, "u8", "u8[4,8]{1,0}"),
        (4, "i4", "s4[4,8]{1,0:E(4)}"),
        (1, "u1", "u1[4,8]{1,0:E(1)}"),
        (2, "u2", "u2[4,8]{1,0:E(2)}"),
        (2, "i2", "s2[4,8]{1,0:E(2)}"),
        (24, "f24", "{1,0}"),
    ] {
        let builder = LayoutBuilder::new(&[], &axes(&[("i", 4), ("j", 8)]), bits).unwrap();
        let layout = builder.finish(64, &SequentialExecutor).unwrap();
        let written =
            write(Notation::Xla, &layout, elements(bits, dtype), &SequentialExecutor).unwrap();
        assert_eq!(written.text, wanted);
    }
}

#[test]
fn padded_rows_are_exported_where_expressible() {
    let layout = mapped(&axes(&[("n", 4), ("c", 3)]), "(n, c) -> (n, c : 4)");
    assert_eq!(
        all(&layout),
        [
            text("NC4c"),
            text("f32[4,3]{1,0:T(4)}"),
            text("N[a=8]C"),
            text("aB4b"),
            text("(4,3):(4,1)"),
            text("strided<[4, 1]>"),
            Err(Inexpressible::Padding),
            text("(16, 4)"),
            text("layout_right_padded<2>"),
            Err(Inexpressible::PowerOfTwo { axis: 1 }),
        ]
    );
    let written = |notation| {
        write(notation, &layout, ElementFormat { bits: 32, dtype: None }, &SequentialExecutor)
            .unwrap()
            .equal_sizes
    };
    // Neither strides nor mdspan's padded layouts express padding after the last row.
    assert!(written(Notation::Tvm) && !written(Notation::Mdspan) && !written(Notation::Numpy));
}

/// Swizzles by a step, by CuTe's text, and by equivalent XORs all have a CuTe text.
#[test]
fn swizzles_are_written_as_cute_writes_them() {
    for (text, extents) in [
        ("S<3,3,3> o 0 o (8,64):(64,1)", [8, 64]),
        ("S<3,3,3> o 0 o (8,72):(72,1)", [8, 72]),
        ("S<2,1,-3> o 0 o ((4,4),8):((1,32),4)", [16, 8]),
        ("S<1,0,1> o 0 o (4,3):(1,4)", [4, 3]),
    ] {
        let axes = axes(&[("i", extents[0]), ("j", extents[1])]);
        let layout = read(Notation::Cute, text, &[], &axes);
        assert_eq!(exported(Notation::Cute, &layout, None), Ok(text.to_owned()));
    }
    let mut seen = 0;
    for bits in 1..=3 {
        for base in 0..=2 {
            for shift in [3, 4, -3, -4] {
                let swizzle = Swizzle::new(bits, base, shift).unwrap();
                for by_column in [false, true] {
                    let image = |bit: i128, inner: bool| {
                        let low = inner == by_column;
                        format!("[{}]", swizzle.at(1 << if low { bit } else { bit + 4 }))
                    };
                    let images = |inner: bool| {
                        let all: Vec<String> = (0..4).map(|bit| image(bit, inner)).collect();
                        all.join(", ")
                    };
                    let triton = format!(
                        "{{i: [{}], j: [{}]}} -> {{offset: 4096}}",
                        images(true),
                        images(false)
                    );
                    let axes = axes(&[("i", 16), ("j", 16)]);
                    let layout = read(Notation::Triton, &triton, &[], &axes);
                    let written = exported(Notation::Cute, &layout, None).unwrap();
                    let again = read(Notation::Cute, &written, &[], &axes);
                    for point in crate::provers::points(&[16, 16]) {
                        let offset = |layout: &Layout| layout.locate(&point, &[]).unwrap().offset;
                        assert_eq!(offset(&layout), offset(&again), "{triton}: {written}");
                    }
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 3 * 3 * 4 * 2);
    let rows = "{i: [[1], [2], [4]], j: [[9], [18], [36]]} -> {offset: 64}";
    let layout = read(Notation::Triton, rows, &[], &axes(&[("i", 8), ("j", 8)]));
    assert_eq!(exported(Notation::Cute, &layout, None), text("S<3,0,3> o 0 o (8,8):(1,8)"));
    // Each bit of `j` is XORed with one of `i`, in an order that no swizzle has.
    let other = "{i: [[1], [2], [4]], j: [[12], [18], [33]]} -> {offset: 64}";
    let layout = read(Notation::Triton, other, &[], &axes(&[("i", 8), ("j", 8)]));
    assert_eq!(exported(Notation::Cute, &layout, None), Err(Inexpressible::Swizzle));
}

/// Strides of axes of extent 1 as in `NumPy`, measured: `np.empty(stored, 'f4').transpose(...)`.
#[test]
fn numpy_strides_of_extent_one_axes_match() {
    for (map, extents, wanted) in [
        ("(n, c, h, w) -> (n, h, w, c)", [1, 3, 4, 5], "(240, 4, 60, 12)"),
        ("(n, c, h, w) -> (n, h, w, c)", [2, 1, 4, 5], "(80, 4, 20, 4)"),
        ("(n, c, h, w) -> (n, c, w, h)", [2, 3, 1, 5], "(60, 20, 4, 4)"),
        ("(n, c, h, w) -> (w, h, c, n)", [1, 1, 1, 5], "(4, 4, 4, 4)"),
    ] {
        let [n, c, h, w] = extents;
        let axes = axes(&[("n", n), ("c", c), ("h", h), ("w", w)]);
        let layout = mapped(&axes, map);
        let elements = ElementFormat { bits: 32, dtype: None };
        let written = write(Notation::Numpy, &layout, elements, &SequentialExecutor).unwrap();
        assert!(["C", "F", wanted].contains(&written.text.as_str()), "{map}: {}", written.text);
        if map.ends_with("(n, h, w, c)") && extents[0] == 1 {
            assert_eq!(written.text, wanted);
        }
    }
}

#[test]
fn inexpressible_features_are_named() {
    let four = axes(&[("i", 4), ("j", 4)]);
    let separated = mapped(&four, "(i, j) -> (i | j)");
    let swizzled = mapped(&four, "(i, j) -> (i, j ^ i)");
    let shifted = mapped(&four, "(i, j) -> (i + 1, j)");
    let reversed = mapped(&four, "(i, j) -> (i, 3 - j)");
    let merged =
        mapped(&axes(&[("i", 4), ("j", 6)]), "(i, j) -> ((i * 6 + j) % 4, (i * 6 + j) // 4)");
    for notation in Notation::ALL {
        let lack = |layout| exported(notation, layout, None).err();
        assert_eq!(lack(&separated), Some(Inexpressible::Separators { rank: 2 }), "{notation:?}");
        if notation == Notation::Triton {
            let folded = "{i: [[5], [10]], j: [[1], [2]]} -> {offset: 16}";
            assert_eq!(exported(notation, &swizzled, None), text(folded));
            assert_eq!(lack(&reversed), Some(Inexpressible::Offset));
            assert_eq!(lack(&merged), Some(Inexpressible::PowerOfTwo { axis: 1 }));
            continue;
        }
        if notation == Notation::Cute {
            assert_eq!(exported(notation, &swizzled, None), text("S<2,0,2> o 0 o (4,4):(4,1)"));
        } else {
            assert_eq!(lack(&swizzled), Some(Inexpressible::Swizzle), "{notation:?}");
        }
        if notation == Notation::Mlir {
            continue;
        }
        assert_eq!(lack(&shifted), Some(Inexpressible::Offset), "{notation:?}");
        assert_eq!(lack(&reversed), Some(Inexpressible::Reversed { axis: 1 }), "{notation:?}");
        if notation != Notation::Xla {
            let axes = vec![0, 1];
            assert_eq!(lack(&merged), Some(Inexpressible::Merged { axes }), "{notation:?}");
        }
    }
    let lack = |notation, layout: &Layout| exported(notation, layout, None).unwrap_err();
    let long = axes(&[("row", 4), ("column", 4)]);
    let turned = mapped(&long, "(row, column) -> (column, row)");
    assert_eq!(lack(Notation::Tvm, &turned), Inexpressible::Names);
    assert_eq!(lack(Notation::Glow, &turned), Inexpressible::Names);
    assert_eq!(exported(Notation::Onednn, &turned, None), text("ba"));
    assert_eq!(exported(Notation::Tvm, &mapped(&long, "() -> ()"), None), text("RC"));
    let twice =
        mapped(&axes(&[("i", 8), ("j", 4)]), "(i, j) -> (i // 4, j, i // 2 % 2, j % 1, i % 2)");
    assert_eq!(exported(Notation::Tvm, &twice, None), text("IJ4i"));
    let twice = mapped(
        &axes(&[("i", 8), ("j", 4)]),
        "(i, j) -> (i // 4, j // 2, i // 2 % 2, j % 2, i % 2)",
    );
    assert_eq!(lack(Notation::Tvm, &twice), Inexpressible::TwoBlocks { axis: 0 });
    assert_eq!(exported(Notation::Onednn, &twice, None), text("AB2a2b2a"));
    let minor = mapped(&axes(&[("i", 8), ("j", 4)]), "(i, j) -> (i % 2, i // 2 % 2, j, i // 4)");
    assert_eq!(lack(Notation::Onednn, &minor), Inexpressible::Order);
    assert_eq!(lack(Notation::Xla, &minor), Inexpressible::Order);
    let seven = mapped(&axes(&["a", "b", "c", "d", "e", "f", "g"].map(|n| (n, 2))), "() -> ()");
    assert_eq!(lack(Notation::Glow, &seven), Inexpressible::Rank { rank: 7, most: 6 });
    let scalar = mapped(&[], "() -> ()");
    assert_eq!(lack(Notation::Tvm, &scalar), Inexpressible::Scalar);
    let empty = mapped(&axes(&[("i", 0)]), "() -> ()");
    assert_eq!(lack(Notation::Tvm, &empty), Inexpressible::Empty);
    let mut builder = LayoutBuilder::new(&[], &axes(&[("i", 4), ("j", 3)]), 4).unwrap();
    builder.strides(&[Expr::constant(5), Expr::constant(1)]).unwrap();
    let nibbles = builder.finish(64, &SequentialExecutor).unwrap();
    let elements = ElementFormat { bits: 4, dtype: None };
    let lack = write(Notation::Numpy, &nibbles, elements, &SequentialExecutor).unwrap_err();
    assert_eq!(lack, Inexpressible::Bits);
}
