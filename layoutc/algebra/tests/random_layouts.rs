//! Random layouts against an enumerating oracle. `LAYOUTC_FULL=1` runs twenty thousand.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

mod exports;
mod foreign;
mod maps;
mod pairs;

use std::collections::BTreeMap;

use layoutc_algebra::builder::{BuildError, FinishError, LayoutBuilder};
use layoutc_algebra::expr::{Expr, Predicate, Var};
use layoutc_algebra::expr::{parse, print};
use layoutc_algebra::layout::{Layout, ProofMethod, Verdict};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::step::{self, OrderEntry, TileExtent};
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_testing::layouts::generate::{self, Kinds};
use layoutc_testing::layouts::{Case, Fault, Step, Tree, Truth, points, truth};
use layoutc_testing::{Random, cases, layouts};

/// Result of building a layout.
#[derive(Debug)]
enum Outcome {
    Built(Box<Layout>),
    Build(BuildError),
    Refused(InjectivityError),
}

fn wide(values: &[i64]) -> Vec<i128> {
    values.iter().map(|v| i128::from(*v)).collect()
}

fn constant(value: i64) -> Expr {
    Expr::constant(i128::from(value))
}

fn symbols(case: &Case) -> Vec<Symbol> {
    let symbol = |facts: layouts::Facts| Symbol {
        name: "batch".to_owned(),
        min: facts.min.into(),
        max: facts.max.into(),
        multiple: facts.multiple.into(),
    };
    case.symbol.map(symbol).into_iter().collect()
}

/// Builds a layout as the compiler does, from the text of its maps.
fn build(case: &Case) -> Outcome {
    let symbols = symbols(case);
    let mut logical: Vec<Axis> = case
        .axes
        .iter()
        .map(|(name, extent)| Axis { name: name.clone(), extent: constant(*extent) })
        .collect();
    if case.symbol.is_some() {
        logical[0].extent = Expr::var(Var::Symbol(0));
    }
    let bits = u32::try_from(case.element_bits).unwrap();
    let mut builder = LayoutBuilder::new(&symbols, &logical, bits).unwrap();
    let mut names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    for step in &case.steps {
        if let Err(error) = apply(&mut builder, step, &names) {
            return Outcome::Build(error);
        }
        names = step.names(&names);
    }
    match builder.finish(64, &SequentialExecutor) {
        Ok(layout) => Outcome::Built(Box::new(layout)),
        Err(FinishError::Injectivity(refusal)) => Outcome::Refused(refusal),
        Err(other) => panic!("{}: {other}", case.describe()),
    }
}

fn apply(builder: &mut LayoutBuilder, step: &Step, names: &[String]) -> Result<(), BuildError> {
    let axes = builder.axes().to_vec();
    let exprs = |values: &[i64]| values.iter().map(|v| constant(*v)).collect::<Vec<_>>();
    let map = match step {
        Step::Map { .. } => {
            let text = step.map_text(names);
            let parsed = parse::map(&text).unwrap_or_else(|e| panic!("{text}: {}", e.kind));
            let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
            resolve(&parsed, scope).unwrap_or_else(|e| panic!("{text}: {}", e[0].kind))
        }
        Step::Order(order) => {
            let order: Vec<OrderEntry> = order.iter().cloned().map(OrderEntry::Axis).collect();
            step::order(&axes, &order)?
        }
        Step::Split { axis, by, into } => step::split(&axes, axis, into, &exprs(by))?,
        Step::Fuse { axes: fused, into } => step::fuse(&axes, fused, Some(into))?,
        Step::Tile { entries, names } => {
            let entry = |e: &Option<i64>| {
                e.map_or(TileExtent::Merge, |extent| TileExtent::Extent(constant(extent)))
            };
            step::tile(&axes, &entries.iter().map(entry).collect::<Vec<_>>(), names)?
        }
        Step::PadMultiple { axis, multiple } => {
            step::pad_to_multiple(&axes, axis, &constant(*multiple))?
        }
        Step::PadAround { axis, before, after } => {
            step::pad_around(&axes, axis, &constant(*before), &constant(*after))?
        }
        Step::Strides(strides) => return builder.strides(&exprs(strides)),
        Step::Align { axis, bytes } => return builder.align_axis(axis, i128::from(*bytes)),
        Step::Separators(after) => {
            let after: Vec<usize> = after.iter().map(|n| layouts::position(names, n)).collect();
            return builder.separate(&after);
        }
    };
    builder.apply(&map)
}

/// Evaluates expressions at one value of the symbol.
struct At {
    symbol: Vec<i128>,
}

impl At {
    fn number(&self, expr: &Expr, what: &str) -> i128 {
        let value = |var| match var {
            Var::Symbol(_) => self.symbol.first().copied(),
            _ => None,
        };
        expr.evaluate(&value).unwrap_or_else(|e| panic!("{what}: {e}"))
    }

    fn numbers<'a>(&self, exprs: impl IntoIterator<Item = &'a Expr>, what: &str) -> Vec<i128> {
        exprs.into_iter().map(|e| self.number(e, what)).collect()
    }

    /// Logical index by the inverse, `None` where the predicate reports padding.
    fn invert(
        &self,
        inverse: &[Expr],
        valid: Option<&Predicate>,
        physical: &[i128],
    ) -> Option<Vec<i128>> {
        let value = |var| match var {
            Var::Physical(k) => physical.get(usize::try_from(k).unwrap()).copied(),
            Var::Symbol(_) => self.symbol.first().copied(),
            _ => None,
        };
        if !valid.is_none_or(|valid| valid.evaluate(&value).unwrap()) {
            return None;
        }
        Some(inverse.iter().map(|e| e.evaluate(&value).unwrap()).collect())
    }
}

/// Compares all properties of a layout with the oracle at one size.
fn compare(layout: &Layout, truth: &Truth, symbol: &[i128], what: &str) {
    let at = At { symbol: symbol.to_vec() };
    let storage = at.numbers(layout.storage().iter().map(|a| &a.extent), what);
    assert_eq!(storage, wide(&truth.storage), "storage extents: {what}");
    let names: Vec<&str> = layout.storage().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, truth.names, "names: {what}");
    let shape = at.numbers(layout.physical_shape(), what);
    assert_eq!(shape, wide(&truth.physical_shape), "physical shape: {what}");
    let pitches = at.numbers(layout.physical_strides(), what);
    if symbol.first() != Some(&0) {
        assert_eq!(pitches, wide(&truth.physical_strides), "physical strides: {what}");
    }
    // At size 0, only a static 0 has the strides of extent 1.
    if symbol.first() != Some(&0) {
        assert_eq!(at.numbers(layout.strides(), what), wide(&truth.strides), "strides: {what}");
    }
    let elements = at.number(layout.physical_elements(), what);
    assert_eq!(elements, i128::from(truth.physical_elements), "physical elements: {what}");
    let elements = at.number(layout.logical_elements(), what);
    assert_eq!(elements, i128::from(truth.logical_elements), "logical elements: {what}");
    let full = truth.logical_elements == truth.physical_elements;
    // With a symbol, the verdict holds for all of its values.
    if symbol.is_empty() || layout.verdict() == Verdict::Bijective {
        assert_eq!(layout.verdict() == Verdict::Bijective, full, "verdict: {what}");
    }
    let mut owners: BTreeMap<&[i64], &[i64]> = BTreeMap::new();
    for element in &truth.elements {
        let place = layout.locate(&wide(&element.logical), symbol).unwrap();
        let computed = (place.storage, place.physical, place.offset);
        let wanted = (wide(&element.storage), wide(&element.physical), i128::from(element.offset));
        assert_eq!(computed, wanted, "element {:?}: {what}", element.logical);
        owners.insert(&element.physical, &element.logical);
    }
    let searched = layout.inverse().is_none();
    let slots: i64 = truth.physical_shape.iter().product();
    // A layout without inverse expressions is searched: all elements of small ones, a sample of the slots of others.
    let stride = if searched { (slots * truth.logical_elements / 300_000).max(1) } else { 1 };
    let stride = stride.max(slots / 40_000);
    for (number, physical) in (0_i64..).zip(points(&truth.physical_shape)) {
        if number % stride != 0 {
            continue;
        }
        let owner = owners.get(physical.as_slice()).map(|logical| wide(logical));
        let computed = layout
            .element_at(&wide(&physical), symbol)
            .unwrap_or_else(|e| panic!("{e}: slot {physical:?}: {what}"));
        assert_eq!(computed, owner, "slot {physical:?}: {what}");
        if let Some(inverse) = layout.inverse() {
            let computed = at.invert(inverse, layout.valid(), &wide(&physical));
            assert_eq!(computed, owner, "inverse at {physical:?}: {what}");
        }
    }
}

/// Storage index or offset of a logical index by the oracle.
fn storage_of(case: &Case, logical: &[i128]) -> Vec<i64> {
    // Evaluates the whole case: reducing the axes to one element would change padding.
    let mut current: Vec<i64> = logical.iter().map(|v| i64::try_from(*v).unwrap()).collect();
    let (mut names, mut extents): (Vec<String>, Vec<i64>) = case.axes.iter().cloned().unzip();
    let mut strides = None;
    for step in &case.steps {
        current = layouts::index_after(step, &names, &extents, &current);
        extents = layouts::extents_after(step, &names, &extents, case.open()).unwrap();
        names = step.names(&names);
        if let Step::Strides(own) = step {
            strides = Some(own.clone());
        }
    }
    match strides {
        None => current,
        Some(strides) => vec![current.iter().zip(&strides).map(|(i, s)| i * s).sum()],
    }
}

fn inside(case: &Case, logical: &[i128]) -> bool {
    logical.len() == case.axes.len()
        && logical.iter().zip(&case.axes).all(|(i, (_, e))| (0..i128::from(*e)).contains(i))
}

/// Checks a refusal against the oracle. Returns true if a good layout was refused.
fn check_refusal(case: &Case, outcome: &Outcome, what: &str) {
    match outcome {
        Outcome::Refused(InjectivityError::Certificate(error)) => {
            panic!("certificate: {error}: {what}")
        }
        Outcome::Refused(InjectivityError::NotInjective {
            first, second, symbols, target, ..
        }) => {
            let case = symbols
                .first()
                .map_or_else(|| case.clone(), |batch| case.at(i64::try_from(*batch).unwrap()));
            assert_ne!(first, second, "{what}");
            assert!(inside(&case, first) && inside(&case, second), "witness outside: {what}");
            let (a, b) = (storage_of(&case, first), storage_of(&case, second));
            assert_eq!(a, b, "the witness {first:?}, {second:?} does not collide: {what}");
            assert_eq!(*target, wide(&a), "the target of the witness: {what}");
        }
        _ => {}
    }
}

/// Runs all seeds, also after a failure; reports the number of failures and the shortest messages.
fn each_seed(seeds: u64, mut one: impl FnMut(u64)) {
    let mut failures = Vec::new();
    for seed in 0..seeds {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one(seed)));
        if let Err(panic) = run {
            let report = panic.downcast_ref::<String>().cloned();
            let fixed = panic.downcast_ref::<&str>().map(|text| format!("seed {seed}: {text}"));
            failures.push(report.or(fixed).unwrap_or_default());
        }
    }
    failures.sort_by_key(String::len);
    let shown = failures.iter().take(40).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {seeds} failed:\n{shown}", failures.len());
}

#[derive(Debug, Default)]
struct Tally {
    accepted: u64,
    digits: u64,
    plain: u64,
    plain_digits: u64,
    refused: u64,
    negative: u64,
    small: u64,
    unproven: u64,
    enumerated: Vec<String>,
}

/// Checks one static layout against the oracle, whether built or refused.
fn check(case: &Case, plain: bool, what: &str, tally: &mut Tally) {
    let expected = truth(case);
    if expected == Err(Fault::Open) {
        return;
    }
    let outcome = build(case);
    check_refusal(case, &outcome, what);
    match (&expected, &outcome) {
        (Ok(truth), Outcome::Built(layout)) => {
            compare(layout, truth, &[], what);
            tally.accepted += 1;
            tally.plain += u64::from(plain);
            if layout.proof() == ProofMethod::Enumeration {
                tally.enumerated.push(case.describe());
            } else {
                tally.plain_digits += u64::from(plain);
                tally.digits += 1;
            }
        }
        (Err(Fault::Collision(..)), Outcome::Refused(InjectivityError::NotInjective { .. })) => {
            tally.refused += 1;
        }
        (
            Err(Fault::Negative(_, item)),
            Outcome::Build(BuildError::Negative { item: reported, witness, value }),
        ) => {
            assert_eq!(item, reported, "{what}");
            assert!(*value < 0 && inside(case, witness), "{what}");
            tally.negative += 1;
        }
        (
            Err(Fault::TooSmall(_, item)),
            Outcome::Build(BuildError::ExtentTooSmall { item: reported, witness, .. }),
        ) => {
            assert_eq!(item, reported, "{what}");
            assert!(inside(case, witness), "{what}");
            tally.small += 1;
        }
        (expected, outcome) => {
            let expected = expected.as_ref().map(|_| "good");
            let outcome = match outcome {
                Outcome::Built(layout) => format!("built, {:?}", layout.verdict()),
                other => format!("{other:?}"),
            };
            panic!("expected {expected:?}, and it was {outcome}: {what}");
        }
    }
}

#[test]
fn random_layouts_agree_with_the_oracle() {
    let mut tally = Tally::default();
    let total = cases(1500, 3_500);
    each_seed(total, |seed| {
        let mut random = Random::new(seed);
        let element_bits = *random.pick(&[1, 4, 8, 16, 24, 32, 64, 128]);
        let bits = random.one_in(5);
        let kinds = Kinds { bits, skews: bits, empty: !bits, symbol: false, element_bits };
        let mut case = generate::valid(&mut random, kinds);
        if random.one_in(2) {
            case = generate::damage(&mut random, &case);
        }
        check(&case, !bits, &format!("seed {seed}: {}", case.describe()), &mut tally);
    });
    let Tally { accepted, digits, plain, plain_digits, refused, negative, small, .. } = tally;
    println!(
        "{total} layouts: {accepted} good, {digits} of them by digits ({plain_digits} of the {plain} without bits, skews and \
         arbitrary expressions); {refused} refused with two elements, \
         {negative} negative, {small} with a small extent"
    );
    tally.enumerated.sort_by_key(String::len);
    for line in tally.enumerated.iter().take(40) {
        println!("enumerated: {line}");
    }
    // 98.6 % of the ordinary run's layouts, 98.4 % of the full run's.
    let floor = 98;
    assert!(plain_digits * 100 >= plain * floor, "{plain_digits} of {plain} by digits");
    assert!(refused * 20 >= total, "too few of the layouts are wrong to test refusals: {refused}");
}

#[test]
fn random_layouts_with_symbolic_batch_hold_at_every_size() {
    let mut tally = Tally::default();
    let total = cases(300, 350);
    each_seed(total, |seed| {
        let mut random = Random::new(seed + 1_000_000);
        let element_bits = *random.pick(&[8, 16, 32]);
        let kinds = Kinds { bits: false, skews: false, empty: false, symbol: true, element_bits };
        let mut case = generate::valid(&mut random, kinds);
        if random.one_in(3) {
            case = generate::damage(&mut random, &case);
        }
        let what = format!("seed {seed}: {}", case.describe());
        let outcome = build(&case);
        check_refusal(&case, &outcome, &what);
        let facts = case.symbol.unwrap();
        let sizes: Vec<i64> = (0..6)
            .map(|_| facts.multiple * random.between(i64::from(facts.min > 0), 24))
            .chain((facts.min == 0).then_some(0))
            .collect();
        let truths: Vec<(i64, Result<Truth, Fault>)> =
            sizes.iter().map(|size| (*size, truth(&case.at(*size)))).collect();
        match outcome {
            Outcome::Built(layout) => {
                assert_ne!(layout.proof(), ProofMethod::Enumeration, "{what}");
                tally.accepted += 1;
                for (size, truth) in &truths {
                    let what = format!("batch {size}, {what}");
                    let truth = truth.as_ref().unwrap_or_else(|e| panic!("{e:?}: {what}"));
                    compare(&layout, truth, &[i128::from(*size)], &what);
                }
            }
            Outcome::Refused(InjectivityError::NotInjective { .. }) => tally.refused += 1,
            Outcome::Build(BuildError::Negative { .. }) => tally.negative += 1,
            other => {
                if truths.iter().all(|(_, truth)| truth.is_ok()) {
                    tally.unproven += 1;
                    tally.enumerated.push(format!("{other:?}: {what}"));
                }
            }
        }
    });
    let Tally { accepted, refused, negative, unproven, .. } = tally;
    println!(
        "{total} layouts with a symbol: {accepted} good, {refused} refused with two elements, {negative} negative, \
         {unproven} good at all sizes and yet not proven"
    );
    for line in tally.enumerated.iter().take(30) {
        println!("not proven: {line}");
    }
    assert!(unproven * 100 <= accepted * 8, "{unproven} of {accepted} not proven");
}

#[test]
fn random_curve_boxes_agree_with_the_oracle() {
    let mut tally = Tally::default();
    each_seed(cases(300, 800), |seed| {
        let mut random = Random::new(seed + 9_000_000);
        let axes = ["a", "b", "c"].map(|name| (name.to_owned(), random.between(1, 11)));
        let items = generate::curve_of(&mut random, &axes);
        let map = Step::Map { items, separators: Vec::new(), all_parentheses: false };
        let case = Case { axes: axes.to_vec(), symbol: None, element_bits: 32, steps: vec![map] };
        check(&case, false, &format!("seed {seed}: {}", case.describe()), &mut tally);
    });
    assert_eq!(tally.enumerated, [""; 0]);
}

/// A random tree as an expression over `Var::Axis`, parsed from its text.
fn parsed(tree: &Tree, names: &[String], axes: &[Axis], all: bool) -> Option<Expr> {
    expression(&tree.text(names, all), axes)
}

fn expression(text: &str, axes: &[Axis]) -> Option<Expr> {
    let facts = Facts::default();
    let parsed = parse::map(text).unwrap_or_else(|e| panic!("{text}: {}", e.kind));
    let scope = MapScope { axes, values: &|_| None, facts: &facts };
    let map = resolve(&parsed, scope).unwrap_or_else(|e| panic!("{text}: {}", e[0].kind));
    let to_axis = |var| match var {
        Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
        _ => None,
    };
    map.items.first().map(|item| item.index.substitute(&to_axis).unwrap())
}

#[test]
fn printing_parsing_and_simplification_preserve_values() {
    each_seed(cases(4000, 10_000), |seed| {
        let mut random = Random::new(seed + 2_000_000);
        let rank = random.below(3) + 1;
        let extents: Vec<i64> = (0..rank).map(|_| random.between(1, 9)).collect();
        let names: Vec<String> =
            ["a", "b", "c"].iter().take(rank).map(|n| (*n).to_owned()).collect();
        let axes: Vec<Axis> = names
            .iter()
            .zip(&extents)
            .map(|(name, extent)| Axis { name: name.clone(), extent: constant(*extent) })
            .collect();
        let kinds = Kinds {
            bits: random.one_in(3),
            skews: true,
            empty: false,
            symbol: false,
            element_bits: 8,
        };
        let tree = generate::tree(&mut random, rank, 6, kinds);
        let all = random.one_in(2);
        let text = tree.text(&names, all);
        let what = format!("seed {seed}: {text} over {extents:?}");
        let mut facts = Facts::default();
        for (k, axis) in (0_u32..).zip(&axes) {
            facts.set_extent(Var::Axis(k), &axis.extent).unwrap();
        }
        let expr = parsed(&tree, &names, &axes, all).unwrap();
        let simple = facts.simplify(&expr).unwrap_or_else(|e| panic!("{what}: {e}"));
        let again = facts.simplify(&simple).unwrap_or_else(|e| panic!("{what}: {e}"));
        let name = |var| match var {
            Var::Axis(k) => names[usize::try_from(k).unwrap()].clone(),
            other => panic!("{what}: {other:?}"),
        };
        let printed = [&expr, &simple].map(|expr| print::expr(expr, &name));
        let read = printed.clone().map(|text| expression(&text, &axes).unwrap());
        let (low, high) = facts.bounds(&expr).unwrap();
        for point in points(&extents) {
            let wanted = i128::from(tree.value(&point));
            let at = |var| match var {
                Var::Axis(k) => Some(i128::from(point[usize::try_from(k).unwrap()])),
                _ => None,
            };
            for (how, expr) in [("parsed", &expr), ("simple", &simple), ("again", &again)]
                .into_iter()
                .chain([("printed", &read[0]), ("printed simple", &read[1])])
            {
                let value = expr.evaluate(&at);
                assert_eq!(value, Ok(wanted), "{how} at {point:?}: {what}; printed {printed:?}");
            }
            assert!((low..=high).contains(&wanted), "{wanted} outside {low}..={high}: {what}");
        }
    });
}

#[test]
fn symbol_quotients_do_not_inherit_its_multiple() {
    let symbol = Symbol { name: "n".to_owned(), min: 0, max: 4096, multiple: 2 };
    let facts = Facts::new(&[symbol]);
    let names = ["n".to_owned()];
    let axes = [Axis { name: "n".to_owned(), extent: constant(100) }];
    for text in ["n // 4", "(n + 4) // 4", "n // 2 // 2 * 3", "n // 2 + n // 4", "n // 12 % 2"] {
        let expr = expression(text, &axes).unwrap();
        let expr = expr.substitute(&|_| Some(Expr::var(Var::Symbol(0)))).unwrap();
        let simple = facts.simplify(&expr).unwrap();
        let printed = print::expr(&simple, &|_| names[0].clone());
        for n in (0..200).step_by(2) {
            let at = |_| Some(n);
            assert_eq!(simple.evaluate(&at), expr.evaluate(&at), "{text} at {n}: {printed}");
        }
    }
}

#[test]
fn zero_strides_decode_no_index() {
    let case = Case {
        axes: vec![("a".to_owned(), 5), ("b".to_owned(), 1)],
        symbol: None,
        element_bits: 8,
        steps: vec![
            Step::Map {
                items: vec![
                    layouts::MapItem {
                        name: "s".to_owned(),
                        index: Tree::Bin(
                            layouts::Op::Mod,
                            Box::new(Tree::Bin(
                                layouts::Op::Mul,
                                Box::new(Tree::Axis(0)),
                                Box::new(Tree::Int(3)),
                            )),
                            Box::new(Tree::Int(5)),
                        ),
                        extent: None,
                    },
                    layouts::MapItem { name: "t".to_owned(), index: Tree::Axis(1), extent: None },
                ],
                separators: Vec::new(),
                all_parentheses: false,
            },
            Step::Strides(vec![1, 0]),
        ],
    };
    check(&case, false, &case.describe(), &mut Tally::default());
}
