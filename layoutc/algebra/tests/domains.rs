//! Layouts with domains against an enumerating oracle. `LAYOUTC_FULL=1` runs twenty thousand.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;

use layoutc_algebra::builder::{BuildError, FinishError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::parse;
use layoutc_algebra::layout::{Layout, ProofMethod, Verdict};
use layoutc_algebra::map::conditions::conditions;
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::query::equivalence::{CompareError, LayoutEquivalence, compare};
use layoutc_algebra::query::locate::ElementLocationError;
use layoutc_algebra::symbol::Axis;
use layoutc_testing::{Random, cases};

const NAMES: [&str; 3] = ["i", "j", "k"];

/// Reason that there is no layout.
#[derive(Debug)]
enum Fault {
    Build(BuildError),
    Finish(FinishError),
}

fn laid_out(extents: &[i128], domain: &str, map: &str) -> Result<Layout, Fault> {
    let named = extents.iter().zip(NAMES);
    let axis = |(extent, name): (&i128, &str)| Axis {
        name: name.to_owned(),
        extent: Expr::constant(*extent),
    };
    let axes: Vec<Axis> = named.map(axis).collect();
    let mut builder = LayoutBuilder::new(&[], &axes, 32).unwrap();
    if !domain.is_empty() {
        let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
        let predicate = conditions(domain, scope).unwrap();
        builder.restrict(predicate).map_err(Fault::Build)?;
    }
    let text = parse::map(map).unwrap();
    let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
    let map = resolve(&text, scope).unwrap();
    builder.apply(&map).map_err(Fault::Build)?;
    builder.finish(64, &SequentialExecutor).map_err(Fault::Finish)
}

/// A text such as `2 * i - j + 1`, and its value.
#[derive(Clone)]
struct Sum {
    weights: Vec<i128>,
    constant: i128,
}

impl Sum {
    fn of(random: &mut Random, rank: usize) -> Self {
        // Two of five weights are 0.
        let weights = (0..rank).map(|_| {
            let weight = random.between(-2, 2);
            if random.below(5) < 3 { weight } else { 0 }
        });
        let weights = weights.collect();
        Self { weights, constant: random.between(-3, 3) }
    }

    fn text(&self) -> String {
        let terms = self.weights.iter().zip(NAMES).filter(|(weight, _)| **weight != 0);
        let terms = terms.map(|(weight, name)| format!("{weight} * {name}"));
        let terms: Vec<String> = terms.chain([self.constant.to_string()]).collect();
        terms.join(" + ").replace("+ -", "- ")
    }

    fn at(&self, index: &[i128]) -> i128 {
        self.constant + self.weights.iter().zip(index).map(|(weight, k)| weight * k).sum::<i128>()
    }
}

/// A condition, and its truth value.
struct Condition {
    left: Sum,
    sign: &'static str,
    right: Sum,
}

impl Condition {
    fn of(random: &mut Random, rank: usize) -> Self {
        let signs = ["<=", "<=", ">=", "<", ">", "=="];
        let mut left = Sum::of(random, rank);
        let right = Sum::of(random, rank);
        // A condition must read an axis.
        if left.weights.iter().chain(&right.weights).all(|weight| *weight == 0) {
            left.weights[0] = 1;
        }
        let sign = *random.pick(&signs);
        Self { left, sign, right }
    }

    fn text(&self) -> String {
        format!("{} {} {}", self.left.text(), self.sign, self.right.text())
    }

    fn reads(&self, axis: usize) -> bool {
        [&self.left, &self.right].iter().any(|side| side.weights.get(axis).is_some_and(|w| *w != 0))
    }

    fn holds(&self, index: &[i128]) -> bool {
        let (left, right) = (self.left.at(index), self.right.at(index));
        match self.sign {
            "<=" => left <= right,
            ">=" => left >= right,
            "<" => left < right,
            ">" => left > right,
            _ => left == right,
        }
    }
}

/// Text of a map, and its value.
type Map = (String, Box<dyn Fn(&[i128]) -> Vec<i128>>);

fn random_map(random: &mut Random, extents: &[i128]) -> Map {
    let rank = extents.len();
    let (a, b, c) = (random.between(1, 3), random.between(-2, 6), random.between(0, 3));
    let n = extents[0];
    let names = NAMES[..rank].join(", ");
    let rest = move |index: &[i128]| index.get(2).copied().unwrap_or(0);
    let deep = if rank > 2 { ", k" } else { "" };
    let two = move |value: i128, index: &[i128]| {
        if index.len() > 2 { vec![value, rest(index)] } else { vec![value] }
    };
    let (items, map): Map = match random.below(if rank > 1 { 9 } else { 2 }) {
        0 => (format!("{a} * i + {c}"), Box::new(move |x| vec![a * x[0] + c])),
        1 => (format!("i * i // {a}"), Box::new(move |x| vec![(x[0] * x[0]).div_euclid(a)])),
        2 => (
            format!("i * (i + 1) // 2 + j{deep}"),
            Box::new(move |x| two(x[0] * (x[0] + 1) / 2 + x[1], x)),
        ),
        3 => (
            format!("i + j * (2 * {n} - j - 1) // 2{deep}"),
            Box::new(move |x| two(x[0] + (x[1] * (2 * n - x[1] - 1)).div_euclid(2), x)),
        ),
        4 => (
            format!("i + j * (j + 1) // 2{deep}"),
            Box::new(move |x| two(x[0] + x[1] * (x[1] + 1) / 2, x)),
        ),
        5 => (
            format!("{c} + i - j, j{deep}"),
            Box::new(move |x| [vec![c + x[0] - x[1], x[1]], x[2..].to_vec()].concat()),
        ),
        6 => (format!("{a} * i + {b} * j{deep}"), Box::new(move |x| two(a * x[0] + b * x[1], x))),
        7 => (
            format!("i // 2 * (i // 2 + 1) // 2 + j // 2, i % 2, j % 2{deep}"),
            Box::new(move |x| {
                let (p, q) = (x[0] / 2, x[1] / 2);
                [vec![p * (p + 1) / 2 + q, x[0] % 2, x[1] % 2], x[2..].to_vec()].concat()
            }),
        ),
        _ => (
            format!("{a} * i * i + {c} * i * j + j{deep}"),
            Box::new(move |x| two(a * x[0] * x[0] + c * x[0] * x[1] + x[1], x)),
        ),
    };
    (format!("({names}) -> ({items})"), map)
}

fn indices(extents: &[i128]) -> Vec<Vec<i128>> {
    let mut all = vec![Vec::new()];
    for extent in extents {
        let longer = |index: &Vec<i128>| {
            (0..*extent).map(|k| [index.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Compares a layout with the oracle.
fn is_right(layout: &Layout, elements: &BTreeMap<Vec<i128>, Vec<i128>>, extents: &[i128]) {
    let count = i128::try_from(elements.len()).unwrap();
    assert_eq!(layout.logical_elements().as_const(), Some(count));
    let slots = layout.physical_elements().as_const().unwrap();
    assert!(slots >= count);
    assert_eq!(layout.verdict() == Verdict::Bijective, slots == count);
    let mut owners = BTreeMap::new();
    for index in indices(extents) {
        let Some(target) = elements.get(&index) else {
            assert_eq!(
                layout.locate(&index, &[]),
                Err(ElementLocationError::NoElement),
                "{index:?}"
            );
            continue;
        };
        let place = layout.locate(&index, &[]).unwrap();
        assert_eq!(place.storage, *target, "{index:?}");
        assert!(
            place
                .storage
                .iter()
                .zip(layout.storage())
                .all(|(at, axis)| { (0..axis.extent.as_const().unwrap()).contains(at) })
        );
        assert!(owners.insert(place.offset, index.clone()).is_none(), "{index:?} shares a slot");
    }
    for slot in 0..slots {
        assert_eq!(
            layout.element_at(&[slot], &[]).unwrap(),
            owners.get(&slot).cloned(),
            "slot {slot}"
        );
    }
}

/// Runs one seed. Storage axes of tied axes must not have more slots than elements reach.
fn tries(seed: u64) -> &'static str {
    let mut random = Random::new(seed);
    let rank = random.between(1, 3);
    let extents: Vec<i128> = (0..rank).map(|_| random.between(1, 6)).collect();
    let count = random.between(1, 3);
    let conditions: Vec<Condition> = (0..count).map(|_| Condition::of(&mut random, rank)).collect();
    let domain: Vec<String> = conditions.iter().map(Condition::text).collect();
    let (domain, (text, map)) = (domain.join(" and "), random_map(&mut random, &extents));
    let elements: BTreeMap<Vec<i128>, Vec<i128>> = indices(&extents)
        .into_iter()
        .filter(|index| conditions.iter().all(|condition| condition.holds(index)))
        .map(|index| (index.clone(), map(&index)))
        .collect();
    let what = format!("seed {seed}: {extents:?} where {domain}: {text}");
    let found = laid_out(&extents, &domain, &text);
    let below = elements.iter().find(|(_, target)| target.iter().any(|at| *at < 0));
    let mut seen = BTreeMap::new();
    let shared = elements.iter().any(|(index, target)| seen.insert(target, index).is_some());
    match found {
        Err(Fault::Build(BuildError::NoElement)) => {
            assert!(elements.is_empty(), "{what}");
            "empty"
        }
        Err(Fault::Build(BuildError::Negative { witness, value, .. })) => {
            assert!(below.is_some() && elements[&witness].contains(&value), "{what}");
            "negative"
        }
        Err(Fault::Finish(FinishError::Injectivity(InjectivityError::NotInjective {
            first,
            second,
            ..
        }))) => {
            assert!(below.is_none() && first != second, "{what}");
            assert_eq!(elements[&first], elements[&second], "{what}");
            "shared"
        }
        Ok(layout) => {
            assert!(below.is_none() && !shared && !elements.is_empty(), "{what}");
            is_right(&layout, &elements, &extents);
            // An axis of extent 1 is dropped from the index, which then has the extent of the box.
            let is_tied = conditions.iter().any(|one| one.reads(0) && one.reads(1));
            let is_kept = extents.iter().take(2).all(|extent| *extent > 1);
            if text.contains("// 2 + j)") && is_tied && is_kept {
                let most = elements.values().map(|target| target[0]).max().unwrap();
                assert_eq!(layout.physical_elements().as_const(), Some(most + 1), "{what}");
            }
            "good"
        }
        Err(fault) => panic!("{what}: {fault:?}"),
    }
}

#[test]
fn random_domains_and_maps_agree_with_an_oracle() {
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..cases(2_000, 8_000) {
        *outcomes.entry(tries(seed)).or_default() += 1;
    }
    let all: Vec<&str> = outcomes.keys().copied().collect();
    assert_eq!(all, ["empty", "good", "negative", "shared"], "{outcomes:?}");
    assert!(outcomes.values().all(|count| *count > 20), "{outcomes:?}");
}

#[test]
fn a_packed_triangle_has_a_slot_for_each_element() {
    for n in [1, 2, 5, 8, 300] {
        for (domain, map) in [
            ("j <= i", "(i, j) -> (i * (i + 1) // 2 + j)".to_owned()),
            ("j <= i", format!("(i, j) -> (i + j * (2 * {n} - j - 1) // 2)")),
            ("i <= j", "(i, j) -> (i + j * (j + 1) // 2)".to_owned()),
            ("i <= j", format!("(i, j) -> (j + i * (2 * {n} - i - 1) // 2)")),
        ] {
            let layout = laid_out(&[n, n], domain, &map).unwrap();
            let slots = layout.physical_elements().as_const();
            assert_eq!(slots, Some(n * (n + 1) / 2), "{n} {map}");
            assert_eq!(layout.verdict(), Verdict::Bijective);
        }
    }
}

#[test]
fn a_map_proven_by_digits_stays_proven_under_a_domain() {
    // A square: the domain is counted, but the map is proven by its digits.
    let layout = laid_out(&[1000, 1000], "j <= i", "(i, j) -> (j, i)").unwrap();
    assert_eq!((layout.proof(), layout.verdict()), (ProofMethod::Digits, Verdict::Padded));
    assert_eq!(layout.logical_elements().as_const(), Some(500_500));
    assert_eq!(layout.element_at(&[3 * 1000 + 5], &[]).unwrap(), Some(vec![5, 3]));
    assert_eq!(layout.element_at(&[5 * 1000 + 3], &[]).unwrap(), None);
}

#[test]
fn layouts_with_different_domains_are_not_equal() {
    let of = |domain: &str, map: &str| laid_out(&[6, 6], domain, map).unwrap();
    let packed = of("j <= i", "(i, j) -> (i * (i + 1) // 2 + j)");
    let other = of("i >= j", "(i, j) -> ((i * i + i) // 2 + j)");
    assert!(matches!(
        compare(&packed, &other, &SequentialExecutor),
        Ok(LayoutEquivalence::Same { .. })
    ));
    let column = of("j <= i", "(i, j) -> (i + j * (11 - j) // 2)");
    let differs = compare(&packed, &column, &SequentialExecutor).unwrap();
    assert!(
        matches!(differs, LayoutEquivalence::Differs { ref logical, .. } if packed.contains(logical, &[]).unwrap()),
        "{differs:?}"
    );
    let whole = of("", "(i, j) -> (i, j)");
    assert_eq!(compare(&packed, &whole, &SequentialExecutor), Err(CompareError::Domain));
}
