//! Positions on a curve.

use layoutc_algebra::builder::{FinishError, LayoutBuilder};
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::print;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::{ProofMethod, Verdict};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::{builder, every_slot_tells_its_owner, points, proven};

#[test]
fn curve_positions_are_decided_by_digits_for_every_box() {
    for shape in [[6, 10], [7, 5], [16, 16], [1, 9], [13, 1], [1, 1], [2, 3], [23, 24]] {
        let layout = proven(&shape, "(i, j) -> (hilbert(i, j))");
        assert_eq!((layout.verdict(), layout.proof()), (Verdict::Bijective, ProofMethod::Digits));
        assert!(layout.inverse().is_some() && layout.valid().is_none(), "{shape:?}");
    }
    let cases: [(&[i128], &str); 8] = [
        (&[24, 40], "(i, j) -> (hilbert(i // 4, j // 4), i % 4, j % 4)"),
        (&[10, 13], "(i, j) -> (hilbert(i // 4, j // 4), i % 4, j % 4)"),
        (&[6, 10], "(i, j) -> (hilbert(5 - i, (j + 3) % 10))"),
        (&[3, 6, 10], "(i, j, k) -> (hilbert(j, k) // 4, i, hilbert(j, k) % 4)"),
        (&[6, 10], "(i, j) -> (3 * hilbert(i, j) + 1)"),
        (&[8, 8, 4], "(i, j, k) -> (hilbert(i, j), k ^ hilbert(i, j) % 4)"),
        (&[4, 6, 5], "(i, j, k) -> (hilbert(i * 6 + j, k))"),
        (&[4, 4, 12], "(i, j, k) -> (hilbert(hilbert(i, j), k))"),
    ];
    for (shape, map) in cases {
        let layout = proven(shape, map);
        assert_ne!(layout.proof(), ProofMethod::Enumeration, "{map}");
        assert!(layout.inverse().is_some(), "{map}");
        every_slot_tells_its_owner(&layout, shape, map);
    }
    let layout = proven(&[2048, 2048], "(i, j) -> (hilbert(i, j))");
    assert_eq!(layout.proof(), ProofMethod::Digits);
    assert_eq!(layout.locate(&[2047, 2047], &[]).unwrap().offset, 4_194_303 * 2 / 3);
}

#[test]
fn curve_maps_dropping_tile_digits_have_a_witness() {
    let refused = builder(&[8, 8], "(i, j) -> (hilbert(i // 2, j // 2), i % 2)");
    match refused.finish(64, &SequentialExecutor) {
        Err(FinishError::Injectivity(InjectivityError::NotInjective { first, second, .. })) => {
            assert_eq!((first, second), (vec![0, 0], vec![0, 1]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_curve_arguments_are_reported_with_values() {
    let axes = [
        ("i", Expr::constant(4096)),
        ("j", Expr::constant(2048)),
        ("n", Expr::var(Var::Symbol(0))),
    ];
    let axes = axes.map(|(name, extent)| Axis { name: name.to_owned(), extent });
    let symbol = Symbol { name: "n".to_owned(), min: 1, max: 64, multiple: 1 };
    let builder = LayoutBuilder::new(&[symbol], &axes, 32).unwrap();
    let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
    let cases = [
        (
            "hilbert(i, j)",
            "box of 4096 by 2048 has 8388608 cells, but `hilbert` supports at most 4194304",
        ),
        ("hilbert(i - 1, j)", "argument of `hilbert` ranges from -1 to 4094, expected 0 to 2^62"),
        ("hilbert(n, j)", "argument of `hilbert` has a symbolic extent, expected a constant one"),
        (
            "hilbert(i)",
            "wrong number of arguments for `hilbert`: found 1, expected a row and a column, and the rows and columns of the box if it is larger",
        ),
        ("hilbert(i, j, 4096, 4)", "index goes up to 2047, but the box ends at 3"),
        ("hilbert(n, j, 64, 0)", "side of the box is not a positive constant"),
        ("hilbert(n, j, 64, j)", "side of the box is not a positive constant"),
    ];
    for (expr, message) in cases {
        let errors =
            resolve(&parse::map(&format!("(i, j, n) -> ({expr}, i, j, n)")).unwrap(), scope);
        let errors = errors.unwrap_err();
        assert_eq!(errors.iter().map(|e| e.kind.to_string()).collect::<Vec<_>>(), [message]);
    }
}

#[test]
fn curve_with_symbolic_extents_is_decided_at_every_size() {
    let symbol = Symbol { name: "n".to_owned(), min: 1, max: 64, multiple: 1 };
    let n = || Expr::var(Var::Symbol(0));
    let cases = [
        (n(), Expr::constant(6), "(i, j) -> (i, hilbert(j // 3, j % 3))"),
        (n(), Expr::constant(6), "(i, j) -> (hilbert(i, j, 64, 6))"),
        (n(), Expr::constant(6), "(i, j) -> (hilbert(i, j, 2 * 32, 7 - 1))"),
        (n(), Expr::constant(6), "(i, j) -> (hilbert(i // 4, j // 4, 16, 2), i % 4, j % 4)"),
    ];
    for (rows, columns, map) in cases {
        let axes = [("i", rows), ("j", columns)];
        let axes = axes.map(|(name, extent)| Axis { name: name.to_owned(), extent });
        let mut builder = LayoutBuilder::new(std::slice::from_ref(&symbol), &axes, 32).unwrap();
        let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
        let resolved = resolve(&parse::map(map).unwrap(), scope).unwrap();
        builder.apply(&resolved).unwrap();
        let layout =
            builder.finish(64, &SequentialExecutor).unwrap_or_else(|e| panic!("{map}: {e:?}"));
        assert_eq!(layout.proof(), ProofMethod::Digits, "{map}");
        for size in [1, 5, 64] {
            for point in points(&[size, 6]) {
                let place = layout.locate(&point, &[size]).unwrap();
                assert_eq!(
                    layout.element_at(&place.physical, &[size]).unwrap(),
                    Some(point),
                    "{map}"
                );
            }
        }
    }
}

#[test]
fn curve_positions_print_their_box_and_parse_back() {
    let layout = proven(&[10, 13], "(i, j) -> (hilbert(i // 4, j // 4), i % 4, j % 4)");
    let name = |var: Var| match var {
        Var::Axis(k) => ["i", "j"][usize::try_from(k).unwrap()].to_owned(),
        Var::Physical(k) => format!("p{k}"),
        other => panic!("{other:?}"),
    };
    let text = print::expr(&layout.storage_map()[0], &name);
    assert_eq!(text, "hilbert(i // 4, j // 4, 3, 4)");
    let inverse = layout.inverse().unwrap();
    let inverse: Vec<String> = inverse.iter().map(|expr| print::expr(expr, &name)).collect();
    assert_eq!(
        inverse,
        [
            "hilbert_cell(p0 // 16, 3, 4) // 4 * 4 + p0 // 4 % 4",
            "hilbert_cell(p0 // 16, 3, 4) % 4 * 4 + p0 % 4",
        ]
    );
    // The predicate covers exactly the padding of the tiles.
    let valid = print::predicate(layout.valid().unwrap(), &name);
    assert_eq!(valid, format!("{} < 10 and {} < 13", inverse[0], inverse[1]));
    let again = proven(&[10, 13], &format!("(i, j) -> ({text}, i % 4, j % 4)"));
    assert_eq!(again.storage_map(), layout.storage_map());
}
