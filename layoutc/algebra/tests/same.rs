//! Equivalence of layouts, by hand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::query::equivalence::{CompareError, LayoutEquivalence, compare};
use layoutc_algebra::symbol::{Axis, Symbol};

fn axis(name: &str, extent: i128) -> Axis {
    Axis { name: name.to_owned(), extent: Expr::constant(extent) }
}

fn symbol(name: &str, multiple: i128) -> Symbol {
    Symbol { name: name.to_owned(), min: 1, max: 1 << 20, multiple }
}

/// Layout of a single map.
fn mapped(symbols: &[Symbol], axes: &[Axis], text: &str) -> Layout {
    let mut builder = LayoutBuilder::new(symbols, axes, 32).unwrap();
    let parsed = parse::map(text).unwrap();
    let scope = MapScope { axes: builder.axes(), values: &|_| None, facts: builder.facts() };
    let map = resolve(&parsed, scope).unwrap();
    builder.apply(&map).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap()
}

fn noted(notation: Notation, text: &str, axes: &[Axis]) -> Layout {
    let mut builder = LayoutBuilder::new(&[], axes, 32).unwrap();
    notation::apply(notation, text, &[], &mut builder).unwrap();
    builder.finish(64, &SequentialExecutor).unwrap()
}

/// First index with a difference.
fn first(a: &Layout, b: &Layout) -> Vec<i128> {
    match compare(a, b, &SequentialExecutor).unwrap() {
        LayoutEquivalence::Differs { logical, .. } => logical,
        other => panic!("{other:?}"),
    }
}

#[test]
fn notations_of_one_layout_are_equal() {
    let axes = [axis("n", 2), axis("c", 64), axis("h", 56), axis("w", 56)];
    let a = noted(Notation::Tvm, "NCHW16c", &axes);
    let b = noted(Notation::Onednn, "aBcd16b", &axes);
    let c = mapped(&[], &axes, "(n, c, h, w) -> (n, c // 16, h, w * 16 + c % 16)");
    for other in [&b, &c] {
        assert_eq!(
            compare(&a, other, &SequentialExecutor),
            Ok(LayoutEquivalence::Same { equal_sizes: true })
        );
    }
    let d = noted(Notation::Tvm, "NCHW8c", &axes);
    assert_eq!(first(&a, &d), [0, 0, 0, 1]);
    assert_eq!(first(&a, &noted(Notation::Tvm, "NCHW", &axes)), [0, 0, 0, 1]);
}

#[test]
fn large_layouts_are_compared_by_their_digits() {
    let axes = [axis("i", 1 << 20), axis("j", 1 << 20)];
    let a = noted(Notation::Xla, "{1,0:T(8,128)}", &axes);
    let b = mapped(&[], &axes, "(i, j) -> (i // 8, j // 128, i % 8 * 128 + j % 128)");
    assert_eq!(
        compare(&a, &b, &SequentialExecutor),
        Ok(LayoutEquivalence::Same { equal_sizes: true })
    );
    let c = noted(Notation::Xla, "{1,0:T(8,128)(2,1)}", &axes);
    assert_eq!(first(&a, &c), [0, 1]);
    let d = noted(Notation::Xla, "{1,0:T(16,128)}", &axes);
    assert_eq!(first(&a, &d), [0, 128]);
}

#[test]
fn trailing_padding_changes_the_size_but_not_the_map() {
    let axes = [axis("i", 5)];
    let a = mapped(&[], &axes, "(i) -> (i)");
    let b = mapped(&[], &axes, "(i) -> (i : 8)");
    assert_eq!(
        compare(&a, &b, &SequentialExecutor),
        Ok(LayoutEquivalence::Same { equal_sizes: false })
    );
    let c = mapped(&[], &axes, "(i) -> (i // 4 | i % 4)");
    assert_eq!(
        compare(&a, &c, &SequentialExecutor),
        Ok(LayoutEquivalence::Ranks { first: 1, second: 2 })
    );
}

#[test]
fn symbols_are_matched_by_name() {
    let symbolic = |k| Expr::var(Var::Symbol(k));
    let axes = |m: u32, n: u32| {
        [
            Axis { name: "i".to_owned(), extent: symbolic(m) },
            Axis { name: "j".to_owned(), extent: symbolic(n) },
        ]
    };
    let (m, n) = (symbol("m", 1), symbol("n", 4));
    let a = mapped(&[m.clone(), n.clone()], &axes(0, 1), "(i, j) -> (i, j // 4, j % 4)");
    let b = mapped(&[n.clone(), m.clone()], &axes(1, 0), "(i, j) -> (i, j)");
    assert_eq!(
        compare(&a, &b, &SequentialExecutor),
        Ok(LayoutEquivalence::Same { equal_sizes: true })
    );
    let c = mapped(&[n, m.clone()], &axes(1, 0), "(i, j) -> (j, i)");
    let Ok(LayoutEquivalence::Differs { logical, symbols, first, second }) =
        compare(&a, &c, &SequentialExecutor)
    else {
        panic!("they are not the same");
    };
    // Both are equal for one row, but not for two.
    assert_eq!(symbols, [("m".to_owned(), 2), ("n".to_owned(), 4)]);
    assert_eq!((logical, first.offset, second.offset), (vec![0, 1], 1, 2));
    let d = mapped(&[m, symbol("n", 8)], &axes(0, 1), "(i, j) -> (i, j)");
    assert_eq!(
        compare(&a, &d, &SequentialExecutor),
        Err(CompareError::Symbol { name: "n".to_owned() })
    );
}

#[test]
fn comparison_requires_equal_axes() {
    let a = mapped(&[], &[axis("i", 4), axis("j", 6)], "(i, j) -> (i, j)");
    let b = mapped(&[], &[axis("j", 6), axis("i", 4)], "(j, i) -> (i, j)");
    assert_eq!(compare(&a, &b, &SequentialExecutor), Err(CompareError::Extent { axis: 0 }));
    let b = b.permuted(&[1, 0]).unwrap();
    assert_eq!(
        compare(&a, &b, &SequentialExecutor),
        Ok(LayoutEquivalence::Same { equal_sizes: true })
    );
    for (logical, _) in (0..24).map(|k| ([k / 6, k % 6], k)) {
        let place = b.locate(&logical, &[]).unwrap();
        assert_eq!(b.element_at(&place.physical, &[]).unwrap().as_deref(), Some(&logical[..]));
    }
    let c = mapped(&[], &[axis("i", 4)], "(i) -> (i)");
    assert_eq!(
        compare(&a, &c, &SequentialExecutor),
        Err(CompareError::Rank { first: 2, second: 1 })
    );
}
