//! Random layouts exported to every notation that can express them, and parsed again: the same map, element by element.

use std::collections::BTreeMap;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::notation::write::{ElementFormat, Inexpressible, NotationText, write};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::{Axis, Symbol};
use layoutc_testing::{Random, cases};

use super::foreign::{self, Foreign};
use super::{Outcome, build, constant, each_seed, wide};
use layoutc_testing::layouts::generate::{self, Kinds};
use layoutc_testing::layouts::{points, truth};

fn named(axes: &[(String, i64)]) -> Vec<Axis> {
    let axis =
        |(name, extent): &(String, i64)| Axis { name: name.clone(), extent: constant(*extent) };
    axes.iter().map(axis).collect()
}

/// Layout of a text on these axes.
fn read(notation: Notation, text: &str, sizes: &[(String, i128)], axes: &[Axis]) -> Option<Layout> {
    let mut builder = LayoutBuilder::new(&[], axes, 32).unwrap();
    notation::apply(notation, text, sizes, &mut builder).ok()?;
    builder.finish(64, &SequentialExecutor).ok()
}

/// Checks that every element has the same location in both layouts.
fn same_places(layout: &Layout, again: &Layout, what: &str) {
    let extents: Vec<i64> = layout
        .logical()
        .iter()
        .map(|axis| i64::try_from(axis.extent.as_const().unwrap()).unwrap())
        .collect();
    for point in points(&extents) {
        let places = [layout, again].map(|layout| {
            let place = layout.locate(&wide(&point), &[]).unwrap();
            (place.physical, place.offset)
        });
        assert_eq!(places[0], places[1], "at {point:?}: {what}");
    }
}

/// Exports a layout and compares the location of every element.
fn written(layout: &Layout, notation: Notation, what: &str) -> Result<NotationText, Inexpressible> {
    let elements = ElementFormat {
        bits: 32,
        dtype: layout.logical().len().is_multiple_of(2).then_some("f32"),
    };
    let written = write(notation, layout, elements, &SequentialExecutor)?;
    let word = notation.word();
    let again = read(notation, &written.text, &written.sizes, layout.logical())
        .unwrap_or_else(|| panic!("{word} does not take {}: {what}", written.text));
    same_places(layout, &again, &format!("{word} {}: {what}", written.text));
    let sizes = layout.physical_elements() == again.physical_elements();
    assert_eq!(sizes, written.equal_sizes, "{word} {}: {what}", written.text);
    Ok(written)
}

#[test]
fn random_layouts_round_trip_through_expressive_notations() {
    let mut counts: BTreeMap<Notation, u64> = BTreeMap::new();
    let total = cases(800, 2000);
    each_seed(total, |seed| {
        let mut random = Random::new(seed + 5_000_000);
        let skews = random.one_in(8);
        let kinds = Kinds { bits: skews, skews, empty: true, symbol: false, element_bits: 32 };
        let case = generate::valid(&mut random, kinds);
        if truth(&case).is_err() {
            return;
        }
        let Outcome::Built(layout) = build(&case) else { return };
        for notation in Notation::ALL {
            if written(&layout, notation, &case.describe()).is_ok() {
                *counts.entry(notation).or_default() += 1;
            }
        }
    });
    println!("of {total} layouts: {counts:?}");
    for notation in Notation::ALL {
        let count = counts.get(&notation).copied().unwrap_or_default();
        // Few random layouts have only powers of two.
        let share = if notation == Notation::Triton { 20 } else { 12 };
        assert!(count * share > total, "{notation:?}: {count} of {total}");
    }
}

/// Parses a text on axes with symbolic extents, which are multiples of a number.
fn read_symbolic(notation: Notation, foreign: &Foreign, multiple: i128) -> Option<Layout> {
    let symbol = |(name, _): &(String, i64)| Symbol {
        name: name.to_uppercase(),
        min: 1,
        max: 1 << 12,
        multiple,
    };
    let symbols: Vec<Symbol> = foreign.axes.iter().map(symbol).collect();
    let axis = |(k, (name, _)): (u32, &(String, i64))| Axis {
        name: name.clone(),
        extent: Expr::var(Var::Symbol(k)),
    };
    let axes: Vec<Axis> = (0..).zip(&foreign.axes).map(axis).collect();
    let mut builder = LayoutBuilder::new(&symbols, &axes, 32).unwrap();
    notation::apply(notation, &foreign.text, &foreign.sizes, &mut builder).ok()?;
    builder.finish(64, &SequentialExecutor).ok()
}

#[test]
fn symbolic_exports_hold_at_every_size() {
    let mut counts: BTreeMap<Notation, u64> = BTreeMap::new();
    let total = cases(40, 50);
    for from in [Notation::Tvm, Notation::Onednn, Notation::Xla, Notation::Glow, Notation::Mlir] {
        each_seed(total, |seed| {
            let mut random = Random::new(seed + 7_000_000);
            let foreign = foreign::text(&mut random, from);
            let few = foreign.axes.len() < 3;
            let multiple = *random.pick(if few { &[1, 1, 4, 16] } else { &[1, 1, 1, 2] });
            let most = if multiple == 1 { 7 } else { 3 };
            let Some(layout) = read_symbolic(from, &foreign, i128::from(multiple)) else { return };
            for to in Notation::ALL {
                let elements = ElementFormat { bits: 32, dtype: Some("f32") };
                let Ok(written) = write(to, &layout, elements, &SequentialExecutor) else {
                    continue;
                };
                *counts.entry(to).or_default() += 1;
                for _ in 0..2 {
                    let mut axes = foreign.axes.clone();
                    axes.iter_mut().for_each(|axis| axis.1 = multiple * random.between(1, most));
                    let what = format!("seed {seed}: {} {foreign:?} at {axes:?}", from.word());
                    let axes = named(&axes);
                    let layout = read(from, &foreign.text, &foreign.sizes, &axes).unwrap();
                    let again = read(to, &written.text, &written.sizes, &axes);
                    let again = again.unwrap_or_else(|| panic!("{}: {what}", written.text));
                    same_places(
                        &layout,
                        &again,
                        &format!("{} {}: {what}", to.word(), written.text),
                    );
                }
            }
        });
    }
    println!("{counts:?}");
    for to in [Notation::Tvm, Notation::Onednn, Notation::Xla, Notation::Glow, Notation::Einops] {
        let count = counts.get(&to).copied().unwrap_or_default();
        assert!(count > total / 2, "{to:?}: {count}");
    }
}

#[test]
fn notation_texts_round_trip_through_all_notations() {
    let mut counts: BTreeMap<(Notation, Notation), u64> = BTreeMap::new();
    let mut lost: BTreeMap<Notation, Vec<String>> = BTreeMap::new();
    let total = cases(60, 120);
    for from in Notation::ALL {
        each_seed(total, |seed| {
            let mut random = Random::new(seed + 6_000_000);
            let Foreign { text, sizes, axes } = foreign::text(&mut random, from);
            let what = format!("seed {seed}: {} {text} {sizes:?} {axes:?}", from.word());
            let Some(layout) = read(from, &text, &sizes, &named(&axes)) else { return };
            *counts.entry((from, from)).or_default() += 0;
            for to in Notation::ALL {
                match written(&layout, to, &what) {
                    Ok(_) => *counts.entry((from, to)).or_default() += 1,
                    Err(error) if from == to => {
                        lost.entry(from).or_default().push(format!("{error}: {what}"));
                    }
                    Err(_) => {}
                }
            }
        });
    }
    let mut faults = Vec::new();
    for from in Notation::ALL {
        let own = counts.get(&(from, from)).copied().unwrap_or_default();
        let others: Vec<String> = Notation::ALL
            .iter()
            .map(|to| format!("{} {}", to.word(), counts.get(&(from, *to)).unwrap_or(&0)))
            .collect();
        println!("{}: {}", from.word(), others.join(", "));
        let lost = lost.remove(&from).unwrap_or_default();
        for line in lost.iter().take(12) {
            println!("  not back: {line}");
        }
        let count = u64::try_from(lost.len()).unwrap();
        if own * 10 < total * 7 || count * 20 > total {
            faults.push(format!("{from:?}: {own} of {total}, {count} are not written again"));
        }
    }
    assert!(faults.is_empty(), "{faults:?}");
    for to in Notation::ALL {
        let all: u64 = counts.iter().filter(|(pair, _)| pair.1 == to).map(|(_, n)| n).sum();
        let share = if to == Notation::Triton { 2 } else { 3 };
        assert!(all > share * total, "{to:?}: {all}");
    }
}
