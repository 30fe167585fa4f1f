//! Symbolic weights and pitches.

use std::collections::BTreeMap;

use layoutc_algebra::builder::{FinishError, LayoutBuilder};
use layoutc_algebra::expr::parse;
use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::layout::{Layout, ProofMethod};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::points;

pub(crate) fn symbolic(
    symbols: &[(&str, i128, i128)],
    axes: &[(&str, Expr)],
    strides: &[Expr],
) -> Result<Layout, FinishError> {
    let symbols: Vec<Symbol> = symbols
        .iter()
        .map(|(name, min, max)| Symbol {
            name: (*name).to_owned(),
            min: *min,
            max: *max,
            multiple: 1,
        })
        .collect();
    let axes: Vec<Axis> = axes
        .iter()
        .map(|(name, extent)| Axis { name: (*name).to_owned(), extent: extent.clone() })
        .collect();
    let mut builder = LayoutBuilder::new(&symbols, &axes, 32).unwrap();
    builder.strides(strides).unwrap();
    builder.finish(64, &SequentialExecutor)
}

#[test]
fn symbolic_row_pitch_is_proven_for_all_sizes() {
    let symbol = |k: u32| Expr::var(Var::Symbol(k));
    let one = Expr::constant(1);
    let pitch = Expr::binary(BinOp::Add, &symbol(1), &Expr::constant(7)).unwrap();
    let symbols = [("rows", 1, 5000), ("cols", 1, 600)];
    let axes = [("i", symbol(0)), ("j", symbol(1))];
    for strides in [[pitch.clone(), one.clone()], [Expr::constant(600), one.clone()]] {
        let layout = symbolic(&symbols, &axes, &strides).unwrap();
        assert_eq!(layout.proof(), ProofMethod::Digits);
        for (rows, cols) in [(1, 1), (1, 600), (7, 33), (20, 64)] {
            let values = [rows, cols];
            let mut seen = BTreeMap::new();
            for i in 0..rows {
                for j in 0..cols {
                    let place = layout.locate(&[i, j], &values).unwrap();
                    let owner = layout.element_at(&place.physical, &values).unwrap();
                    assert_eq!(owner, Some(vec![i, j]), "{rows} {cols}");
                    assert_eq!(seen.insert(place.offset, (i, j)), None);
                }
            }
            let size = layout.physical_elements().evaluate(&|var| match var {
                Var::Symbol(k) => values.get(k as usize).copied(),
                _ => None,
            });
            for slot in (0..size.unwrap()).filter(|slot| !seen.contains_key(slot)) {
                assert_eq!(
                    layout.element_at(&[slot], &values).unwrap(),
                    None,
                    "{rows} {cols} {slot}"
                );
            }
        }
    }
    // Column-major.
    let turned = [one.clone(), Expr::binary(BinOp::Add, &symbol(0), &one).unwrap()];
    let layout = symbolic(&symbols, &axes, &turned).unwrap();
    let place = layout.locate(&[3, 5], &[10, 10]).unwrap();
    assert_eq!(place.offset, 3 + 5 * 11);
    assert_eq!(layout.element_at(&place.physical, &[10, 10]).unwrap(), Some(vec![3, 5]));
    // A pitch that can be shorter than a row.
    let short = [Expr::constant(599), one];
    assert!(matches!(
        symbolic(&symbols, &axes, &short),
        Err(FinishError::Injectivity(
            InjectivityError::NotInjective { .. } | InjectivityError::Unproven { .. }
        ))
    ));
}

#[test]
fn symbolic_divisor_of_a_constant_extent_is_bounded() {
    let symbol = Symbol { name: "n".to_owned(), min: 1, max: 8, multiple: 1 };
    let axes = [Axis { name: "i".to_owned(), extent: Expr::constant(64) }];
    let values = |name: &str| (name == "n").then(|| Expr::var(Var::Symbol(0)));
    for text in ["(i) -> (i - i // n * n : n, i // n)", "(i) -> (i // n, i - i // n * n : n)"] {
        let mut builder = LayoutBuilder::new(std::slice::from_ref(&symbol), &axes, 32).unwrap();
        let scope = MapScope { axes: &axes, values: &values, facts: builder.facts() };
        builder.apply(&resolve(&parse::map(text).unwrap(), scope).unwrap()).unwrap();
        let layout = builder.finish(64, &SequentialExecutor).unwrap();
        for n in 1..=8 {
            let mut held = BTreeMap::new();
            for point in points(&[64]) {
                let place = layout.locate(&point, &[n]).unwrap();
                assert_eq!(held.insert(place.physical, point), None, "{text} {n}");
            }
        }
    }
}

#[test]
fn target_of_symbols_only_is_no_sum_of_digits() {
    let symbol = Symbol { name: "n".to_owned(), min: 1, max: 8, multiple: 1 };
    let axes = [("h", 12), ("w", 16)]
        .map(|(name, extent)| Axis { name: name.to_owned(), extent: Expr::constant(extent) });
    let values = |name: &str| (name == "n").then(|| Expr::var(Var::Symbol(0)));
    let made = |text: &str| {
        let mut builder = LayoutBuilder::new(std::slice::from_ref(&symbol), &axes, 32).unwrap();
        let scope = MapScope { axes: &axes, values: &values, facts: builder.facts() };
        builder.apply(&resolve(&parse::map(text).unwrap(), scope).unwrap()).unwrap();
        builder.finish(64, &SequentialExecutor).unwrap_or_else(|e| panic!("{text}: {e:?}"))
    };
    assert!(made("(h, w) -> (n, h // 4, w, h % 4)").digits().is_none());
    assert!(made("(h, w) -> (h // 4 + n, w, h % 4)").digits().is_none());
    assert!(made("(h, w) -> (5, h // 4, w, h % 4)").digits().is_some());
    // A product of two values is one value, whatever the signs.
    made("(h, w) -> (h + 40 + (n - 5) * 3, w)");
    made("(h, w) -> (h + 40 + 3 * (n - 5), w)");
}

#[test]
fn symbolic_weights_identify_their_axes() {
    let symbols = [("S", 9), ("R", 13)].map(|(name, max)| Symbol {
        name: name.to_owned(),
        min: 1,
        max,
        multiple: 1,
    });
    let axes = [("i", 0), ("j", 1)]
        .map(|(name, k)| Axis { name: name.to_owned(), extent: Expr::var(Var::Symbol(k)) });
    let values = |name: &str| {
        let k = symbols.iter().position(|symbol| symbol.name == name)?;
        Some(Expr::var(Var::Symbol(u32::try_from(k).ok()?)))
    };
    let mapped = |text: &str| {
        let mut builder = LayoutBuilder::new(&symbols, &axes, 32).unwrap();
        let scope = MapScope { axes: &axes, values: &values, facts: builder.facts() };
        let map = resolve(&parse::map(text).unwrap(), scope).unwrap();
        builder.apply(&map).unwrap();
        builder.finish(64, &SequentialExecutor)
    };
    for text in [
        "(i, j) -> (i * R + j)",
        "(i, j) -> (j * S + i)",
        "(i, j) -> (S - 1 - i, R - 1 - j)",
        "(i, j) -> ((S - 1 - i) * R + j)",
        "(i, j) -> (i * (R + 3) + j)",
        "(i, j) -> (i, R + 4 - j)",
    ] {
        let layout = mapped(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(layout.proof(), ProofMethod::Digits, "{text}");
        for (s, r) in [(1, 1), (1, 13), (9, 1), (4, 5), (9, 13)] {
            let mut held = BTreeMap::new();
            for point in points(&[s, r]) {
                let place = layout.locate(&point, &[s, r]).unwrap();
                assert_eq!(held.insert(place.physical, point), None, "{text} {s} {r}");
            }
            let size = layout.physical_shape()[0].evaluate(&|var| match var {
                Var::Symbol(k) => [s, r].get(k as usize).copied(),
                _ => None,
            });
            for slot in points(&[size.unwrap()]) {
                let owner = layout.element_at(&slot, &[s, r]).unwrap();
                assert_eq!(owner, held.get(&slot).cloned(), "{text} {s} {r} {slot:?}");
            }
        }
    }
    let refused = mapped("(i, j) -> (i * (R - 1) + j)");
    assert!(
        matches!(refused, Err(FinishError::Injectivity(InjectivityError::NotInjective { .. }))),
        "{refused:?}"
    );
}
