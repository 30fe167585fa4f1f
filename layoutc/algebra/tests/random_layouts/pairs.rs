//! Random pairs of layouts: their equivalence, against an enumerating oracle.

use layoutc_algebra::layout::Layout;
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::query::equivalence::{LayoutEquivalence, compare};
use layoutc_testing::{Random, cases};

use super::{Outcome, build, each_seed, wide};
use layoutc_testing::layouts::generate::{self, Kinds, current};
use layoutc_testing::layouts::{Case, MapItem, Op, Step, Tree, Truth, bin, truth};

/// An equivalent layout: an axis is split and fused again, and every index written as two parts.
fn rewritten(random: &mut Random, case: &Case) -> Case {
    let mut case = case.clone();
    let keeps = |step: &Step| !matches!(step, Step::Strides(_) | Step::Align { .. });
    let last = case.steps.iter().take_while(|step| keeps(step)).count();
    let separates = |step: &Step| match step {
        Step::Map { separators, .. } => !separators.is_empty(),
        step => matches!(step, Step::Separators(_)),
    };
    let last = case.steps.iter().position(separates).unwrap_or(last).min(last);
    let at = random.below(last + 1);
    let before = Case { steps: case.steps[..at].to_vec(), ..case.clone() };
    let Some((names, extents)) = current(&before) else { return case };
    let k = random.between(2, 9);
    let items = names.iter().zip(&extents).enumerate().map(|(position, (name, extent))| {
        let own = || Tree::Axis(position);
        let quotient = bin(Op::Mul, bin(Op::Div, own(), Tree::Int(k)), Tree::Int(k));
        let index = bin(Op::Add, quotient, bin(Op::Mod, own(), Tree::Int(k)));
        MapItem { name: name.clone(), index, extent: Some(*extent) }
    });
    let map = Step::Map { items: items.collect(), separators: Vec::new(), all_parentheses: false };
    case.steps.insert(at, map);
    case
}

/// The second layout of a pair.
fn partner(random: &mut Random, kinds: Kinds, case: &Case) -> Case {
    match random.below(5) {
        0 | 1 => rewritten(random, case),
        2 => generate::damage(random, case),
        _ => generate::valid_of(random, kinds, &case.axes, case.symbol),
    }
}

/// First element, in row-major order, that the layouts place differently.
fn first_difference(a: &Truth, b: &Truth) -> Option<usize> {
    let place = |truth: &Truth, k: usize| {
        let element = &truth.elements[k];
        (element.physical.clone(), element.offset)
    };
    (0..a.elements.len()).find(|k| place(a, *k) != place(b, *k))
}

/// Checks the result of a comparison against the oracle at one size.
fn check(found: &LayoutEquivalence, a: &Truth, b: &Truth, what: &str) {
    let first = first_difference(a, b);
    match found {
        LayoutEquivalence::Same { equal_sizes } => {
            assert_eq!(first, None, "{what}");
            let sizes = |truth: &Truth| (truth.physical_shape.clone(), truth.physical_elements);
            assert_eq!(*equal_sizes, sizes(a) == sizes(b), "{what}");
        }
        LayoutEquivalence::Differs { logical, first: one, second, .. } => {
            let k = first.unwrap_or_else(|| panic!("they are the same: {found:?}: {what}"));
            let (x, y) = (&a.elements[k], &b.elements[k]);
            assert_eq!(*logical, wide(&x.logical), "{what}");
            assert_eq!(
                (&one.physical, one.offset),
                (&wide(&x.physical), x.offset.into()),
                "{what}"
            );
            assert_eq!(
                (&second.physical, second.offset),
                (&wide(&y.physical), y.offset.into()),
                "{what}"
            );
        }
        LayoutEquivalence::Ranks { first, second } => {
            let ranks = (a.physical_shape.len(), b.physical_shape.len());
            assert!(ranks == (*first, *second) && first != second, "{what}");
        }
        LayoutEquivalence::Undecided { .. } => panic!("undecided: {what}"),
    }
}

fn built(case: &Case) -> Option<Layout> {
    match build(case) {
        Outcome::Built(layout) => Some(*layout),
        Outcome::Build(_) | Outcome::Refused(_) => None,
    }
}

#[test]
fn random_layouts_are_equal_iff_every_element_is() {
    let (mut same, mut differ, mut ranks) = (0, 0, 0);
    each_seed(cases(1500, 3000), |seed| {
        let mut random = Random::new(seed + 3_000_000);
        let skews = random.one_in(3);
        let kinds = Kinds { bits: skews, skews, empty: true, symbol: false, element_bits: 16 };
        let case = generate::valid(&mut random, kinds);
        let other = partner(&mut random, kinds, &case);
        let what = format!("seed {seed}: {} and {}", case.describe(), other.describe());
        let (Ok(a), Ok(b)) = (truth(&case), truth(&other)) else { return };
        let (Some(first), Some(second)) = (built(&case), built(&other)) else { return };
        if a.logical_elements == 0 {
            return;
        }
        let found =
            compare(&first, &second, &SequentialExecutor).unwrap_or_else(|e| panic!("{e}: {what}"));
        match &found {
            LayoutEquivalence::Same { .. } => same += 1,
            LayoutEquivalence::Differs { .. } => differ += 1,
            _ => ranks += 1,
        }
        check(&found, &a, &b, &what);
    });
    println!("{same} are the same, {differ} differ, {ranks} are of two ranks");
    assert!(same > 300 && differ > 300 && ranks > 20, "{same} {differ} {ranks}");
}

#[test]
fn layout_equality_holds_for_symbolic_batches() {
    let (mut same, mut differ, mut undecided) = (0, 0, 0);
    each_seed(cases(800, 900), |seed| {
        let mut random = Random::new(seed + 4_000_000);
        let kinds =
            Kinds { bits: false, skews: false, empty: false, symbol: true, element_bits: 16 };
        let case = generate::valid(&mut random, kinds);
        let other = partner(&mut random, kinds, &case);
        let what = format!("seed {seed}: {} and {}", case.describe(), other.describe());
        let (Some(first), Some(second)) = (built(&case), built(&other)) else { return };
        let found =
            compare(&first, &second, &SequentialExecutor).unwrap_or_else(|e| panic!("{e}: {what}"));
        let facts = case.symbol.unwrap();
        let at = |size: i64| (truth(&case.at(size)).unwrap(), truth(&other.at(size)).unwrap());
        match &found {
            LayoutEquivalence::Undecided { points } => {
                assert_eq!(*points, None, "{what}");
                undecided += 1;
            }
            LayoutEquivalence::Differs { symbols, .. } => {
                let (a, b) = at(i64::try_from(symbols[0].1).unwrap());
                check(&found, &a, &b, &what);
                differ += 1;
            }
            _ => {
                let least = facts.multiple.max(facts.min);
                for size in [1, 2, 3, 5, 9].map(|k| least * k) {
                    let (a, b) = at(size);
                    match &found {
                        // Sizes are compared for all values of the symbol.
                        LayoutEquivalence::Same { equal_sizes: false } => {
                            assert_eq!(first_difference(&a, &b), None, "{what}");
                        }
                        found => check(found, &a, &b, &what),
                    }
                }
                same += usize::from(matches!(found, LayoutEquivalence::Same { .. }));
            }
        }
    });
    println!("{same} are the same, {differ} differ, {undecided} are undecided");
    assert!(same > 120 && differ > 80 && undecided * 10 <= same, "{same} {differ} {undecided}");
}
