//! Random symbolic layouts against an enumerating oracle at legal values. `LAYOUTC_FULL=1` runs a thousand,
//! `LAYOUTC_ROUNDS` a given number from `LAYOUTC_SEED` on; `LAYOUTC_ROUND` runs a single one, and `LAYOUTC_LOUD` prints
//! those that are not proven.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

use std::collections::BTreeMap;

use layoutc_algebra::builder::{BuildError, FinishError, LayoutBuilder};
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::step::{self, OrderEntry, TileExtent};
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_testing::campaign::number;
use layoutc_testing::layouts::symbolic::{self, NAMES, Symbolic, SymbolicStep};
use layoutc_testing::layouts::{Fault, Op, Tree, truth};
use layoutc_testing::{Random, cases};

/// Result of building a layout.
enum Outcome {
    Built(Box<Layout>),
    Collides {
        elements: [Vec<i128>; 2],
        values: Vec<i128>,
    },
    Negative,
    Unproven(String),
    /// A refusal before any proof: a divisor that can be 0, or more slots than 64 bits can count.
    Other(String),
}

fn expr(tree: &Tree) -> Expr {
    match tree {
        Tree::Int(value) => Expr::constant(i128::from(*value)),
        Tree::Symbol(k) => Expr::var(Var::Symbol(u32::try_from(*k).unwrap())),
        Tree::Axis(_) => panic!("no axis here"),
        Tree::Neg(a) => Expr::negate(&expr(a)).unwrap(),
        Tree::Bin(op, a, b) => {
            let op = match op {
                Op::Add => BinOp::Add,
                Op::Sub => BinOp::Sub,
                Op::Mul => BinOp::Mul,
                Op::Div => BinOp::FloorDiv,
                Op::Mod => BinOp::Mod,
                Op::And | Op::Xor | Op::Hilbert { .. } => panic!("no bits here"),
            };
            Expr::binary(op, &expr(a), &expr(b)).unwrap()
        }
    }
}

fn symbols(case: &Symbolic) -> Vec<Symbol> {
    let symbol = |(facts, name): (&layoutc_testing::layouts::Facts, &str)| Symbol {
        name: name.to_owned(),
        min: facts.min.into(),
        max: facts.max.into(),
        multiple: facts.multiple.into(),
    };
    case.symbols.iter().zip(NAMES).map(symbol).collect()
}

fn build(case: &Symbolic) -> Outcome {
    let symbols = symbols(case);
    let logical: Vec<Axis> =
        case.axes.iter().map(|(name, e)| Axis { name: name.clone(), extent: expr(e) }).collect();
    let mut builder = match LayoutBuilder::new(&symbols, &logical, 32) {
        Ok(builder) => builder,
        Err(error) => return Outcome::Other(error.to_string()),
    };
    for (number, step) in case.steps.iter().enumerate() {
        match apply(&mut builder, number, step) {
            Ok(()) => {}
            Err(Applied::Refused(text)) => return Outcome::Other(text),
            Err(Applied::Build(BuildError::Negative { .. })) => return Outcome::Negative,
            Err(Applied::Build(error @ BuildError::Unbounded { .. })) => {
                return Outcome::Unproven(error.to_string());
            }
            Err(Applied::Build(error)) => return Outcome::Other(error.to_string()),
        }
    }
    match builder.finish(64, &SequentialExecutor) {
        Ok(layout) => Outcome::Built(Box::new(layout)),
        Err(FinishError::Injectivity(InjectivityError::NotInjective {
            first,
            second,
            symbols,
            ..
        })) => Outcome::Collides { elements: [first, second], values: symbols },
        Err(FinishError::Injectivity(
            error @ (InjectivityError::Unproven { .. } | InjectivityError::Certificate(_)),
        )) => Outcome::Unproven(error.to_string()),
        Err(error) => Outcome::Other(error.to_string()),
    }
}

enum Applied {
    Build(BuildError),
    Refused(String),
}

fn apply(builder: &mut LayoutBuilder, number: usize, step: &SymbolicStep) -> Result<(), Applied> {
    let axes = builder.axes().to_vec();
    let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
    let exprs = |trees: &[Tree]| trees.iter().map(expr).collect::<Vec<_>>();
    let refused = |error: step::StepError| Applied::Refused(error.to_string());
    let map = match step {
        SymbolicStep::Map(_) => {
            let text = step.map_text(number, &names);
            let parsed = parse::map(&text).unwrap_or_else(|e| panic!("{text}: {}", e.kind));
            let values = |name: &str| {
                let k = NAMES.iter().position(|own| *own == name)?;
                Some(Expr::var(Var::Symbol(u32::try_from(k).unwrap())))
            };
            let scope = MapScope { axes: &axes, values: &values, facts: builder.facts() };
            resolve(&parsed, scope).map_err(|e| Applied::Refused(e[0].kind.to_string()))?
        }
        SymbolicStep::Order(order) => {
            let order: Vec<OrderEntry> = order.iter().cloned().map(OrderEntry::Axis).collect();
            step::order(&axes, &order).map_err(refused)?
        }
        SymbolicStep::Split { axis, by, into } => {
            step::split(&axes, axis, into, &exprs(by)).map_err(refused)?
        }
        SymbolicStep::Fuse { axes: fused, into } => {
            step::fuse(&axes, fused, Some(into)).map_err(refused)?
        }
        SymbolicStep::Tile { entries, names } => {
            let entry = |e: &Option<Tree>| {
                e.as_ref().map_or(TileExtent::Merge, |tile| TileExtent::Extent(expr(tile)))
            };
            let entries: Vec<TileExtent> = entries.iter().map(entry).collect();
            step::tile(&axes, &entries, names).map_err(refused)?
        }
        SymbolicStep::PadMultiple { axis, multiple } => {
            step::pad_to_multiple(&axes, axis, &expr(multiple)).map_err(refused)?
        }
        SymbolicStep::PadAround { axis, before, after } => {
            step::pad_around(&axes, axis, &expr(before), &expr(after)).map_err(refused)?
        }
        SymbolicStep::Strides(strides) => {
            return builder.strides(&exprs(strides)).map_err(Applied::Build);
        }
    };
    builder.apply(&map).map_err(Applied::Build)
}

fn narrow(values: &[i128]) -> Vec<i64> {
    values.iter().map(|value| i64::try_from(*value).unwrap()).collect()
}

fn wide(values: &[i64]) -> Vec<i128> {
    values.iter().map(|value| i128::from(*value)).collect()
}

/// True if the values of the symbols are legal.
fn legal(case: &Symbolic, values: &[i64]) -> bool {
    case.symbols.iter().zip(values).all(|(facts, value)| {
        (facts.min..=facts.max).contains(value) && value % facts.multiple == 0
    })
}

/// Location of an element, step by step.
fn landing(case: &Symbolic, values: &[i64], element: &[i64]) -> Option<Vec<i64>> {
    let plain = case.at(values);
    let mut names: Vec<String> = plain.axes.iter().map(|(name, _)| name.clone()).collect();
    let mut extents: Vec<i64> = plain.axes.iter().map(|(_, extent)| *extent).collect();
    if !element.iter().zip(&extents).all(|(index, extent)| (0..*extent).contains(index)) {
        return None;
    }
    let mut index = element.to_vec();
    for step in &plain.steps {
        let before = names.clone();
        index = layoutc_testing::layouts::index_after(step, &before, &extents, &index);
        if let layoutc_testing::layouts::Step::Strides(strides) = step {
            return Some(vec![index.iter().zip(strides).map(|(i, s)| i * s).sum()]);
        }
        names = step.names(&names);
        // An extent that the oracle leaves open is needed only to fuse axes.
        let after = layoutc_testing::layouts::extents_after(step, &before, &extents, plain.open());
        extents = after.unwrap_or_else(|| vec![1; names.len()]);
    }
    Some(index)
}

/// True if no two elements collide at any of these values; `None` if the oracle leaves the layout open.
fn one_to_one(case: &Symbolic, values: &[Vec<i64>]) -> Option<bool> {
    for values in values {
        match truth(&case.at(values)) {
            Ok(_) => {}
            Err(Fault::Collision(..)) => return Some(false),
            Err(_) => return None,
        }
    }
    Some(true)
}

/// Checks every element and every slot of a proven layout at some values: distinct slots, and the inverse.
fn holds(case: &Symbolic, layout: &Layout, values: &[i64]) -> Result<(), String> {
    let plain = truth(&case.at(values)).map_err(|fault| format!("{fault:?}"))?;
    let symbols = wide(values);
    let number = |expr: &Expr| {
        let at = |var| match var {
            Var::Symbol(k) => symbols.get(usize::try_from(k).unwrap()).copied(),
            _ => None,
        };
        expr.evaluate(&at).map_err(|e| format!("{e}"))
    };
    // Extents of differences and bits cover all sizes.
    let computed_shape =
        layout.physical_shape().iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let is_same_shape = !case.has_bits() && computed_shape == wide(&plain.physical_shape);
    let mut held: BTreeMap<Vec<i128>, Vec<i128>> = BTreeMap::new();
    for element in &plain.elements {
        let logical = wide(&element.logical);
        let place = layout.locate(&logical, &symbols).map_err(|e| format!("{logical:?}: {e}"))?;
        if is_same_shape && place.offset != i128::from(element.offset) {
            return Err(format!("{logical:?} is at {}, not at {}", place.offset, element.offset));
        }
        if held.insert(place.physical.clone(), logical.clone()).is_some() {
            return Err(format!("{logical:?} shares its slot"));
        }
    }
    let shape: Vec<i64> = layout
        .physical_shape()
        .iter()
        .map(|e| number(e).map(|n| i64::try_from(n).unwrap()))
        .collect::<Result<_, _>>()?;
    if !plain.elements.is_empty() && shape.iter().product::<i64>() < 60_000 {
        for slot in layoutc_testing::layouts::points(&shape) {
            let slot = wide(&slot);
            let owner =
                layout.element_at(&slot, &symbols).map_err(|e| format!("slot {slot:?}: {e}"))?;
            if layout.inverse().is_some() && owner.as_ref() != held.get(&slot) {
                return Err(format!("slot {slot:?} holds {:?}, said {owner:?}", held.get(&slot)));
            }
        }
        let full = shape.iter().product::<i64>() == plain.logical_elements;
        if layout.verdict() == Verdict::Bijective && !full {
            return Err("bijective, and has padding".to_owned());
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Counts {
    proven: usize,
    refused: usize,
    unproven: usize,
    unproven_but_one_to_one: usize,
    other: usize,
    open: usize,
}

#[test]
fn symbolic_layouts_agree_with_enumeration() {
    let seed = number("LAYOUTC_SEED").unwrap_or(0);
    let rounds = number("LAYOUTC_ROUNDS").unwrap_or(cases(300, 600));
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    let only = number("LAYOUTC_ROUND");
    for round in (0..rounds).filter(|r| only.is_none_or(|o| o == *r)) {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let mut case = symbolic::any(&mut random);
        if random.one_in(3) {
            case = symbolic::damage(&mut random, &case);
        }
        if let Err(fault) = judge(&mut random, &case, &mut counts, round) {
            wrong.push(format!("round {round}: {fault}\n{}", case.describe()));
        }
    }
    let one_to_one = counts.proven + counts.unproven_but_one_to_one;
    println!(
        "{counts:?}: {} of {one_to_one} one-to-one are unproven",
        counts.unproven_but_one_to_one
    );
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(counts.unproven_but_one_to_one * 10 <= one_to_one, "{counts:?}");
    assert!(counts.refused * 20 > usize::try_from(rounds).unwrap(), "{counts:?}");
}

fn judge(
    random: &mut Random,
    case: &Symbolic,
    counts: &mut Counts,
    round: u64,
) -> Result<(), String> {
    let is_loud = std::env::var("LAYOUTC_LOUD").is_ok();
    let (values, _) = case.values(random, 24);
    match build(case) {
        Outcome::Built(layout) => {
            counts.proven += 1;
            for values in &values {
                holds(case, &layout, values)
                    .map_err(|e| format!("proven, but at {values:?}: {e}"))?;
            }
        }
        Outcome::Collides { elements: [first, second], values } => {
            counts.refused += 1;
            let values = if values.is_empty() {
                some_values(case).ok_or("no values")?
            } else {
                narrow(&values)
            };
            if !legal(case, &values) {
                return Err(format!("the witness has illegal values {values:?}"));
            }
            let (first, second) = (narrow(&first), narrow(&second));
            let at = |element: &[i64]| landing(case, &values, element);
            if first == second || at(&first).is_none() || at(&first) != at(&second) {
                return Err(format!("{first:?} and {second:?} do not collide for {values:?}"));
            }
        }
        Outcome::Negative => {
            counts.other += 1;
            let is_negative =
                |values: &Vec<i64>| matches!(truth(&case.at(values)), Err(Fault::Negative(..)));
            let (values, is_all) = case.values(random, 400);
            if is_all && !values.iter().any(is_negative) {
                return Err("no index is negative".to_owned());
            }
        }
        Outcome::Other(why) => {
            counts.other += 1;
            if is_loud {
                println!("other {round}: {why}");
            }
        }
        Outcome::Unproven(why) => {
            counts.unproven += 1;
            match one_to_one(case, &values) {
                Some(true) => {
                    counts.unproven_but_one_to_one += 1;
                    if is_loud {
                        println!("--- round {round}: {why}\n{}", case.describe());
                    }
                }
                Some(false) => {
                    if is_loud {
                        println!("--- round {round}: collides, {why}\n{}", case.describe());
                    }
                }
                None => counts.open += 1,
            }
        }
    }
    Ok(())
}

/// Legal values of the symbols for which the layout has elements.
fn some_values(case: &Symbolic) -> Option<Vec<i64>> {
    let has_elements = |values: &Vec<i64>| case.at(values).axes.iter().all(|(_, n)| *n > 0);
    case.ends().into_iter().find(has_elements)
}
