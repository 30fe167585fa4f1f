//! Layouts from text: errors as their users read them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::{
    Axis, Error, Expr, Layout, LayoutBuilder, LayoutDefinition, SequentialExecutor, Symbol, Var,
    Verdict,
};

#[test]
fn errors_name_the_fault() {
    for (map, text) in [
        ("(n, c) -> (n, c // 4)", "elements [0, 0] and [0, 1] share the slot [0, 0]"),
        ("(n, c) -> (n, c // 4, c % 4", "expected an operator or `)`, found `,`"),
        ("(n, c) -> (n, x)", "unknown name `x`: expected an axis, const, parameter or symbol"),
    ] {
        let built = Layout::builder([("n", 16), ("c", 128)]).map(map);
        let error = built.and_then(LayoutDefinition::prove).unwrap_err();
        assert_eq!(error.to_string(), text, "{map}");
    }
}

#[test]
fn maps_compose_and_domains_restrict() {
    let twice = Layout::builder([("n", 4), ("c", 8)])
        .map("(n, c) -> (n, c // 4, c % 4)")
        .and_then(|definition| definition.map("(n, o, i) -> (o, n, i)"));
    let once = Layout::builder([("n", 4), ("c", 8)]).map("(n, c) -> (c // 4, n, c % 4)");
    let (twice, once) = (twice.unwrap().prove().unwrap(), once.unwrap().prove().unwrap());
    assert_eq!(twice.same_as(&once), Ok(Some(true)));
    let triangle = Layout::builder([("i", 5), ("j", 5)])
        .restrict("j <= i")
        .map("(i, j) -> (i * (i + 1) // 2 + j)")
        .unwrap()
        .prove()
        .unwrap();
    assert_eq!((triangle.verdict(), triangle.offset_of(&[4, 4])), (Verdict::Bijective, Ok(14)));
    let outside = triangle.offset_of(&[0, 1]).unwrap_err();
    assert_eq!(outside.to_string(), "index outside the domain");
}

fn mapped(axes: &[(&str, i128)], map: &str) -> Layout {
    let definition = Layout::builder(axes.iter().copied()).map(map);
    definition.and_then(LayoutDefinition::prove).unwrap_or_else(|error| panic!("{map}: {error}"))
}

/// Every index of the axes, row-major.
fn indices(axes: &[Axis]) -> Vec<Vec<i128>> {
    axes.iter().fold(vec![Vec::new()], |all, axis| {
        let extent = axis.extent.as_const().unwrap();
        let longer = |index: &Vec<i128>| {
            let index = index.clone();
            (0..extent).map(move |k| [index.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Layouts of `(n, c)` with 6 by 10 elements: padded, strided, swizzled, on two physical axes, and by enumeration.
fn outer_layouts() -> Vec<Layout> {
    let axes = [("n", 6), ("c", 10)];
    let maps = [
        "(n, c) -> (n, c)",
        "(n, c) -> (c // 4, n, c % 4)",
        "(n, c) -> (n // 4, c // 4 | n % 4, c % 4)",
        "(n, c) -> (c, 5 - n)",
        "(n, c) -> (n, c ^ n)",
        "(n, c) -> (n, (c + n) % 10)",
        "(n, c) -> (17 * n + 3 * c)",
    ];
    let mut all: Vec<Layout> = maps.iter().map(|map| mapped(&axes, map)).collect();
    let axes =
        axes.map(|(name, extent)| Axis { name: name.into(), extent: Expr::constant(extent) });
    let builder = || LayoutBuilder::new(&[], &axes, 32).unwrap();
    let mut swizzled = builder();
    swizzled.swizzle(Swizzle::new(2, 0, 3).unwrap()).unwrap();
    let mut strided = builder();
    strided.strides(&[Expr::constant(1), Expr::constant(8)]).unwrap();
    let mut aligned = builder();
    aligned.align_axis("n", 64).unwrap();
    for builder in [swizzled, strided, aligned] {
        all.push(builder.finish(64, &SequentialExecutor).unwrap());
    }
    all
}

#[test]
fn composition_applies_the_outer_layout_to_inner_indices() {
    let triangle =
        Layout::builder([("i", 5), ("j", 5)]).restrict("j <= i").map("(i, j) -> (i | j)");
    let inner = [
        mapped(&[("a", 6), ("b", 10)], "(a, b) -> (a | b)"),
        mapped(&[("k", 3), ("c", 10)], "(k, c) -> (2 * k | 9 - c)"),
        mapped(&[("a", 2), ("b", 3), ("c", 5)], "(a, b, c) -> (a * 3 + b | c * 2 + a)"),
        mapped(&[("c", 10)], "(c) -> (0 * c | c)"),
        triangle.unwrap().prove().unwrap(),
    ];
    for outer in outer_layouts() {
        for inner in &inner {
            let composed = outer.compose(inner).unwrap();
            for index in indices(inner.logical()) {
                let composed = composed.locate(&index, &[]);
                let expected =
                    inner.locate(&index, &[]).and_then(|at| outer.locate(&at.physical, &[]));
                let place =
                    |at: layoutc_algebra::query::locate::ElementLocation| (at.physical, at.offset);
                assert_eq!(
                    composed.map(place),
                    expected.map(place),
                    "{outer} after {inner} at {index:?}"
                );
            }
        }
    }
}

#[test]
fn element_at_offset_inverts_offset_of() {
    for layout in outer_layouts() {
        let slots = layout.physical_elements().as_const().unwrap();
        let mut owners = vec![None; usize::try_from(slots).unwrap()];
        for index in indices(layout.logical()) {
            let offset = usize::try_from(layout.offset_of(&index).unwrap()).unwrap();
            owners[offset] = Some(index);
        }
        for (offset, owner) in (0..).zip(owners) {
            assert_eq!(layout.element_at_offset(offset), Ok(owner), "{layout} at {offset}");
        }
        assert!(matches!(layout.element_at_offset(slots), Err(Error::Location(_))), "{layout}");
    }
}

#[test]
fn a_layout_after_its_inverse_is_the_identity() {
    for map in [
        "(n, c) -> (c // 4, n, c % 4)",
        "(n, c) -> (n // 4, c // 4 | n % 4, c % 4)",
        "(n, c) -> (c, 7 - n)",
        "(n, c) -> (n, c ^ n)",
    ] {
        let layout = mapped(&[("n", 8), ("c", 16)], map);
        let inverse = layout.inverted().unwrap();
        let identity = mapped(&[("n", 8), ("c", 16)], "(n, c) -> (n | c)");
        assert_eq!(inverse.compose(&layout).unwrap().same_as(&identity), Ok(Some(true)), "{map}");
        for slot in indices(inverse.logical()) {
            let index = inverse.locate(&slot, &[]).unwrap().physical;
            assert_eq!(layout.locate(&index, &[]).unwrap().physical, slot, "{map}");
        }
    }
    let padded = mapped(&[("n", 8), ("c", 10)], "(n, c) -> (c // 4, n, c % 4)");
    assert_eq!(padded.inverted().unwrap_err(), Error::Padding);
}

#[test]
fn symbolic_compositions_hold_for_all_values() {
    let symbol = |name: &str| Symbol { name: name.into(), min: 1, max: 1 << 20, multiple: 1 };
    let axis = |name: &str, extent: Expr| Axis { name: name.into(), extent };
    let number = |k| Expr::var(Var::Symbol(k));
    let layout = |symbols: &[Symbol], axes: &[Axis], map: &str| {
        let mut builder = LayoutBuilder::new(symbols, axes, 32).unwrap();
        builder.map(map).unwrap();
        builder.finish(64, &SequentialExecutor).unwrap()
    };
    let axes = [axis("n", number(0)), axis("c", Expr::constant(6))];
    let outer = layout(&[symbol("n")], &axes, "(n, c) -> (c // 4, n, c % 4)");
    // The symbols are in another order.
    let axes = [axis("c", Expr::constant(6)), axis("r", number(1))];
    let inner = layout(&[symbol("m"), symbol("n")], &axes, "(c, r) -> (r | c)");
    let composed = outer.compose(&inner).unwrap();
    let names: Vec<&str> = composed.symbols().iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(names, ["n", "m"]);
    for (n, c, r) in [(3, 5, 2), (100, 4, 0), (1, 0, 0)] {
        let place = composed.locate(&[c, r], &[n, 7]).unwrap();
        assert_eq!(place.offset, outer.locate(&[r, c], &[n]).unwrap().offset);
    }
}

#[test]
fn out_of_bounds_compositions_are_refused() {
    let outer = mapped(&[("n", 6), ("c", 10)], "(n, c) -> (c, n)");
    let compose = |inner: &Layout| outer.compose(inner).unwrap_err().to_string();
    let beyond = mapped(&[("n", 6), ("c", 10)], "(n, c) -> (n + 1 | c)");
    assert_eq!(compose(&beyond), "the stated extent is too small: an index is 6");
    let flat = mapped(&[("n", 6), ("c", 10)], "(n, c) -> (n, c)");
    assert_eq!(compose(&flat), "window with 1 indices for 2 axes");
}
