//! Windows and widened elements of layouts, against the definition at every index.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use layoutc_algebra::builder::{
    BuildError, ElementRegroup, FinishError, LayoutBuilder, RegroupError,
};
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::map::{IndexMap, MapScope, resolve};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_testing::Random;

fn batch() -> Vec<Symbol> {
    vec![Symbol { name: "batch".to_owned(), min: 1, max: 64, multiple: 4 }]
}

/// Axes; an extent of -1 is the symbol `batch`.
fn axes(axes: &[(&str, i128)]) -> Vec<Axis> {
    let extent = |extent: i128| match extent {
        -1 => Expr::var(Var::Symbol(0)),
        extent => Expr::constant(extent),
    };
    axes.iter().map(|(name, e)| Axis { name: (*name).to_owned(), extent: extent(*e) }).collect()
}

fn map(text: &str, axes: &[Axis]) -> IndexMap {
    let symbols = batch();
    let facts = Facts::new(&symbols);
    let scope = MapScope { axes, values: &|_| None, facts: &facts };
    resolve(&parse::map(text).unwrap(), scope).unwrap()
}

fn builder(shape: &[(&str, i128)], layout: &str) -> LayoutBuilder {
    let shape = axes(shape);
    let mut builder = LayoutBuilder::new(&batch(), &shape, 32).unwrap();
    builder.apply(&map(layout, &shape)).unwrap();
    builder
}

fn finish(builder: &LayoutBuilder) -> Layout {
    builder.clone().finish(64, &SequentialExecutor).unwrap()
}

/// Every index of a shape with a batch of `size`.
fn indices(axes: &[Axis], size: i128) -> Vec<Vec<i128>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let extent = axis.extent.evaluate(&|_| Some(size)).unwrap();
        all = all
            .into_iter()
            .flat_map(|index| (0..extent).map(move |k| [index.as_slice(), &[k]].concat()))
            .collect();
    }
    all
}

fn at(map: &IndexMap, index: &[i128]) -> Vec<i128> {
    let value = |var: Var| match var {
        Var::Storage(k) => index.get(usize::try_from(k).unwrap()).copied(),
        _ => None,
    };
    map.items.iter().map(|item| item.index.evaluate(&value).unwrap()).collect()
}

/// Names and extents.
type Shape = &'static [(&'static str, i128)];

const LAYOUTS: &[(Shape, &str)] = &[
    (&[("n", -1), ("h", 6), ("c", 8)], "(n, h, c) -> (n, h, c)"),
    (&[("n", -1), ("h", 6), ("c", 8)], "(n, h, c) -> (n, c // 4, h, c % 4)"),
    (&[("n", -1), ("h", 6), ("c", 8)], "(n, h, c) -> (n, c // 4 | h, c % 4)"),
    (&[("n", -1), ("h", 6), ("c", 8)], "(n, h, c) -> (c // 4, n // 4, h, n % 4, c % 4)"),
    (&[("n", -1), ("h", 6), ("c", 8)], "(n, h, c) -> (n, h + 1 : 8, c + 4 : 12)"),
    (&[("n", 3), ("h", 6), ("c", 8)], "(n, h, c) -> (h, (n + h) % 3, c)"),
    (&[("n", 4), ("h", 6), ("c", 8)], "(n, h, c) -> (h, c // 4 ^ n % 2, n, c % 4)"),
];

#[test]
fn window_elements_have_the_offsets_of_the_source_elements() {
    let windows: &[(Shape, &str, bool)] = &[
        (&[("h", 2), ("c", 3)], "(h, c) -> (1, h + 3, c + 4)", false),
        (&[("c", 8), ("h", 6)], "(c, h) -> (2, 5 - h, c)", false),
        (&[("b", 5), ("h", 3)], "(b, h) -> (0, 2 * h, 7)", true),
        (&[("h", 24)], "(h) -> (0, h // 4, h % 4 * 2)", false),
        (&[], "() -> (1, 2, 3)", false),
        (&[("x", 0)], "(x) -> (0, x, 5)", false),
    ];
    for (shape, layout) in LAYOUTS {
        let whole = builder(shape, layout);
        let there = finish(&whole);
        for (own, text, shared) in windows {
            let own = axes(own);
            // The window has a literal index along `n`, so the batch is at least 4.
            let symbols = vec![Symbol { min: 4, ..batch().remove(0) }];
            let mut window = map(text, &own);
            if window.items.is_empty() {
                continue;
            }
            window.separators.clear();
            let fixed = rebuilt(shape, layout, &symbols);
            let view = fixed.window(&symbols, &own, &window).unwrap();
            let layout = match view.clone().finish(64, &SequentialExecutor) {
                Ok(found) => {
                    assert!(!shared, "{text}");
                    found
                }
                Err(FinishError::Injectivity(InjectivityError::NotInjective { .. })) => {
                    assert!(shared, "{text}");
                    view.finish_overlapping(64).unwrap()
                }
                Err(error) => panic!("{text} of {layout}: {error}"),
            };
            for index in indices(&own, 4) {
                let place = layout.locate(&index, &[4]).unwrap();
                let expected = there.locate(&at(&window, &index), &[4]).unwrap();
                assert_eq!(place, expected, "{text} {index:?}");
                if !shared {
                    let owner = layout.element_at(&place.physical, &[4]).unwrap();
                    assert_eq!(owner, Some(index), "{text}");
                }
            }
        }
    }
}

fn rebuilt(shape: &[(&str, i128)], layout: &str, symbols: &[Symbol]) -> LayoutBuilder {
    let shape = axes(shape);
    let mut builder = LayoutBuilder::new(symbols, &shape, 32).unwrap();
    builder.apply(&map(layout, &shape)).unwrap();
    builder
}

#[test]
fn an_index_outside_its_extent_is_refused_with_a_witness() {
    let symbols = vec![Symbol { min: 0, ..batch().remove(0) }];
    let shape = [("n", -1), ("h", 6), ("c", 8)];
    let whole = rebuilt(&shape, "(n, h, c) -> (n, c // 4, h, c % 4)", &symbols);
    let own = axes(&[("n", -1), ("h", 4)]);
    let refused = |text: &str| whole.window(&symbols, &own, &map(text, &own)).unwrap_err();
    assert_eq!(
        refused("(n, h) -> (n, h + 3, 0)"),
        BuildError::ExtentTooSmall {
            item: 1,
            witness: vec![0, 3],
            value: 6,
            needed: Expr::constant(7)
        }
    );
    assert_eq!(
        refused("(n, h) -> (n, h - 1, 0)"),
        BuildError::Negative { item: 1, witness: vec![0, 0], value: -1 }
    );
    // The batch may be 0.
    assert_eq!(refused("(n, h) -> (0, h, 0)"), BuildError::Unbounded { item: 0 });
    assert_eq!(refused("(n, h) -> (n + 1, h, 0)"), BuildError::Unbounded { item: 0 });
    assert_eq!(refused("(n, h) -> (n, h)"), BuildError::WindowRank { given: 2, axes: 3 });
}

/// Checks that every element of `view` is `lanes` neighbors of `there` along `axis`.
fn joins(view: &Layout, there: &Layout, axis: usize, lanes: i128, size: i128) {
    for index in indices(view.logical(), size) {
        let own = view.locate(&index, &[size]).unwrap();
        for lane in 0..lanes {
            let mut other = index.clone();
            other[axis] = other[axis] * lanes + lane;
            let other = there.locate(&other, &[size]).unwrap();
            assert_eq!(other.offset, own.offset * lanes + lane, "{index:?} lane {lane}");
            let (last, rows) = own.physical.split_last().unwrap();
            let (other_last, other_rows) = other.physical.split_last().unwrap();
            assert_eq!((other_rows, *other_last), (rows, last * lanes + lane));
        }
    }
}

#[test]
fn regrouped_elements_have_the_offsets_of_their_lanes() {
    for (shape, layout) in LAYOUTS {
        let whole = builder(shape, layout);
        let there = finish(&whole);
        for lanes in [2, 4] {
            let (joined, axis) = whole.regroup_elements(ElementRegroup::Join(lanes)).unwrap();
            assert_eq!((axis, joined.element_bits()), (2, 32 * u32::try_from(lanes).unwrap()));
            let view = finish(&joined);
            let (cut, back) = joined.regroup_elements(ElementRegroup::Split(lanes)).unwrap();
            assert_eq!(cut.element_bits(), 32);
            let again = finish(&cut);
            for size in [4, 8] {
                joins(&view, &there, axis, lanes, size);
                // If a whole block is one element, another axis is contiguous.
                joins(&view, &again, back, lanes, size);
            }
            assert_eq!(view.verdict(), there.verdict());
        }
    }
}

#[test]
fn symbolic_axis_joins_if_its_multiple_allows() {
    let whole = builder(&[("c", 3), ("n", -1)], "(c, n) -> (c, n)");
    let (joined, axis) = whole.regroup_elements(ElementRegroup::Join(4)).unwrap();
    assert_eq!(axis, 1);
    joins(&finish(&joined), &finish(&whole), 1, 4, 12);
    assert_eq!(finish(&joined).verdict(), Verdict::Bijective);
    assert_eq!(
        whole.regroup_elements(ElementRegroup::Join(8)).unwrap_err(),
        strided("c", Expr::var(Var::Symbol(0)), 8)
    );
}

fn strided(axis: &str, stride: Expr, lanes: i128) -> RegroupError {
    RegroupError::Stride { axis: axis.to_owned(), stride, lanes }
}

#[test]
fn unjoinable_elements_are_refused_with_the_extent() {
    let refused = |shape: &[(&str, i128)], layout: &str| {
        builder(shape, layout).regroup_elements(ElementRegroup::Join(4)).unwrap_err()
    };
    assert_eq!(refused(&[("c", 30)], "(c) -> (c)"), row("c", 30));
    assert_eq!(
        refused(&[("h", 4), ("c", 30)], "(h, c) -> (h, c)"),
        strided("h", Expr::constant(30), 4)
    );
    assert_eq!(
        refused(&[("c", 6)], "(c) -> (c // 4, c % 4)"),
        RegroupError::Extent { axis: 0, lanes: 4 }
    );
    let runs = RegroupError::NotContiguous { axis: 1, lanes: 4 };
    assert_eq!(refused(&[("h", 4), ("c", 8)], "(h, c) -> (h, c + 1 : 12)"), runs);
    assert_eq!(refused(&[("h", 4), ("c", 8)], "(h, c) -> (h, 7 - c)"), runs);
    assert_eq!(refused(&[("h", 8), ("c", 8)], "(h, c) -> (h, (h + c) % 8)"), runs);
    let mut strides = builder(&[("h", 4), ("c", 8)], "(h, c) -> (h, c)");
    strides.strides(&[Expr::constant(16), Expr::constant(2)]).unwrap();
    assert_eq!(
        strides.regroup_elements(ElementRegroup::Join(4)).unwrap_err(),
        RegroupError::NoAxis
    );
}

fn row(axis: &str, extent: i128) -> RegroupError {
    RegroupError::StorageExtent { axis: axis.to_owned(), extent: Expr::constant(extent), lanes: 4 }
}

#[test]
fn regrouped_strides_count_regrouped_elements() {
    let shape = axes(&[("h", 4), ("c", 8)]);
    let mut strides = LayoutBuilder::new(&[], &shape, 32).unwrap();
    strides.strides(&[Expr::constant(12), Expr::constant(1)]).unwrap();
    let mut aligned = LayoutBuilder::new(&[], &shape, 32).unwrap();
    aligned.align_axis("h", 64).unwrap();
    let mut columns = LayoutBuilder::new(&[], &shape, 32).unwrap();
    columns.strides(&[Expr::constant(1), Expr::constant(4)]).unwrap();
    for (whole, axis) in [(strides, 1), (aligned, 1), (columns, 0)] {
        let there = finish(&whole);
        let (joined, found) = whole.regroup_elements(ElementRegroup::Join(4)).unwrap();
        assert_eq!(found, axis);
        let view = finish(&joined);
        joins(&view, &there, axis, 4, 0);
        let slots = |layout: &Layout| layout.physical_elements().as_const().unwrap();
        assert_eq!(slots(&view) * 4, slots(&there));
    }
}

#[test]
fn affine_offsets_have_an_origin_and_strides() {
    let whole = builder(&[("h", 6), ("c", 8)], "(h, c) -> (c // 4, h, c % 4)");
    assert_eq!(finish(&whole).affine().unwrap(), None);
    let own = axes(&[("h", 3), ("c", 4)]);
    let window = whole.window(&batch(), &own, &map("(h, c) -> (2 * h + 1, 7 - c)", &own)).unwrap();
    let affine = finish(&window).affine().unwrap().unwrap();
    let numbers = affine.strides.iter().map(Expr::as_const).collect::<Vec<_>>();
    assert_eq!((affine.origin.as_const(), numbers), (Some(31), vec![Some(8), Some(-1)]));
}

/// A random index over `x` and `y`: mostly a sum, sometimes a quotient or a remainder.
fn random_index(random: &mut Random) -> String {
    let (a, b, c) = (random.between(-1, 2), random.between(-1, 2), random.between(-1, 7));
    match random.below(6) {
        0 => format!("(x + {} * y) // {}", random.between(0, 3), random.between(1, 3)),
        1 => format!("(y + {}) % {}", random.between(0, 3), random.between(1, 4)),
        2 => format!("{}", random.between(0, 5)),
        _ => format!("{a} * x + {b} * y + {c}"),
    }
}

#[test]
fn random_windows_agree_with_enumeration_or_are_refused() {
    let mut random = Random::new(1);
    let (mut inside, mut outside, mut shared) = (0, 0, 0);
    for round in 0..1500 {
        let (shape, text) = LAYOUTS[random.below(7)];
        let shape: Vec<(&str, i128)> =
            shape.iter().map(|(name, e)| (*name, if *e < 0 { 4 } else { *e })).collect();
        let own = axes(&[("x", random.between(1, 4)), ("y", random.between(1, 4))]);
        let items: Vec<String> = (0..3).map(|_| random_index(&mut random)).collect();
        let window_text = format!("(x, y) -> ({})", items.join(", "));
        let (whole, window) = (rebuilt(&shape, text, &[]), map(&window_text, &own));
        let there = finish(&whole);
        let what = format!("round {round}: {window_text} of {text}");
        let all = indices(&own, 0);
        let seen: Vec<Vec<i128>> = all.iter().map(|index| at(&window, index)).collect();
        let is_inside = |index: &Vec<i128>| {
            index.iter().zip(&shape).all(|(value, (_, extent))| (0..*extent).contains(value))
        };
        let view = match whole.window(&[], &own, &window) {
            Ok(view) => view,
            Err(
                BuildError::Negative { witness, .. } | BuildError::ExtentTooSmall { witness, .. },
            ) => {
                assert!(!is_inside(&at(&window, &witness)), "{what}: {witness:?}");
                outside += 1;
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        assert!(seen.iter().all(is_inside), "{what}");
        let distinct = (1..seen.len()).all(|k| !seen[..k].contains(&seen[k]));
        let layout = match view.clone().finish(64, &SequentialExecutor) {
            Ok(layout) => {
                assert!(distinct, "{what}");
                inside += 1;
                layout
            }
            Err(FinishError::Injectivity(InjectivityError::NotInjective { .. })) => {
                assert!(!distinct, "{what}");
                shared += 1;
                view.finish_overlapping(64).unwrap()
            }
            Err(error) => panic!("{what}: {error}"),
        };
        let affine = layout.affine().unwrap();
        for (index, element) in all.iter().zip(&seen) {
            let place = layout.locate(index, &[]).unwrap();
            assert_eq!(place, there.locate(element, &[]).unwrap(), "{what}");
            if let Some(affine) = &affine {
                let steps = index.iter().zip(&affine.strides);
                let sum: i128 = steps.map(|(at, stride)| at * stride.as_const().unwrap()).sum();
                assert_eq!(affine.origin.as_const().unwrap() + sum, place.offset, "{what}");
            }
        }
    }
    assert!(inside > 50 && outside > 500 && shared > 50, "{inside} {outside} {shared}");
}
