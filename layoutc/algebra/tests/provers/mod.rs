//! Maps that are not plain sums of digits (XORs, remainders, rotations, curves), each with the prover that decides it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod bits;
mod curves;
mod numbers;
mod swizzles;
mod symbols;

use std::collections::BTreeMap;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::parse;
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::symbol::Axis;

pub(crate) fn builder(shape: &[i128], map: &str) -> LayoutBuilder {
    let names = ["i", "j", "k", "l"];
    let axis = |(name, extent): (&&str, &i128)| Axis {
        name: (*name).to_owned(),
        extent: Expr::constant(*extent),
    };
    let axes: Vec<Axis> = names.iter().zip(shape).map(axis).collect();
    let mut builder = LayoutBuilder::new(&[], &axes, 32).unwrap();
    let text = parse::map(map).unwrap_or_else(|e| panic!("{map}: {e:?}"));
    let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
    let map = resolve(&text, scope).unwrap_or_else(|e| panic!("{map}: {e:?}"));
    builder.apply(&map).unwrap_or_else(|e| panic!("{e:?}"));
    builder
}

pub(crate) fn points(shape: &[i128]) -> Vec<Vec<i128>> {
    let mut points = vec![Vec::new()];
    for extent in shape {
        points = points
            .into_iter()
            .flat_map(|point: Vec<i128>| {
                (0..*extent).map(move |i| [point.clone(), vec![i]].concat())
            })
            .collect();
    }
    points
}

/// Proves a map; enumerates every element of a small layout.
pub(crate) fn proven(shape: &[i128], map: &str) -> Layout {
    let layout = builder(shape, map).finish(64, &SequentialExecutor);
    let layout = layout.unwrap_or_else(|e| panic!("{map} on {shape:?}: {e:?}"));
    if shape.iter().product::<i128>() > 1 << 16 {
        return layout;
    }
    let mut seen = BTreeMap::new();
    for point in points(shape) {
        let place = layout.locate(&point, &[]).unwrap();
        let owner = layout.element_at(&place.physical, &[]).unwrap();
        assert_eq!(owner.as_ref(), Some(&point), "{map} on {shape:?}");
        assert_eq!(seen.insert(place.physical, point), None, "{map} on {shape:?}");
    }
    layout
}

/// Checks every slot of a small layout: it has the element that the map assigns to it, or none.
pub(crate) fn every_slot_tells_its_owner(layout: &Layout, shape: &[i128], what: &str) {
    let mut held = BTreeMap::new();
    for point in points(shape) {
        let place = layout.locate(&point, &[]).unwrap();
        assert_eq!(held.insert(place.physical, point), None, "{what}");
    }
    let extents: Vec<i128> =
        layout.physical_shape().iter().map(|e| e.as_const().unwrap()).collect();
    for slot in points(&extents) {
        assert_eq!(
            layout.element_at(&slot, &[]).unwrap(),
            held.get(&slot).cloned(),
            "{what}: {slot:?}"
        );
    }
}
