//! Layouts with an aligned first element: elements have distinct slots, the first one is aligned, and the inverse
//! returns every element.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::BTreeSet;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::layout::{Layout, ProofMethod, Verdict};
use layoutc_algebra::map::{IndexMap, identity};
use layoutc_algebra::prove::SequentialExecutor;
use layoutc_algebra::step::{TileExtent, pad_around, tile};
use layoutc_algebra::symbol::{Axis, Symbol};

fn constant(value: i128) -> Expr {
    Expr::constant(value)
}

fn axes(extents: &[Expr]) -> Vec<Axis> {
    let named = extents.iter().zip('a'..);
    named.map(|(extent, name)| Axis { name: name.to_string(), extent: extent.clone() }).collect()
}

fn builder(symbols: &[Symbol], extents: &[Expr], bits: u32) -> LayoutBuilder {
    LayoutBuilder::new(symbols, &axes(extents), bits).unwrap()
}

/// Pads an axis on both sides.
fn halo(builder: &mut LayoutBuilder, axis: &str, before: i128, after: i128) {
    let map = pad_around(builder.axes(), axis, &constant(before), &constant(after)).unwrap();
    builder.apply(&map).unwrap();
}

/// All elements, for these values of the symbols.
fn points(layout: &Layout, symbols: &[i128]) -> Vec<Vec<i128>> {
    let value = |expr: &Expr| {
        expr.evaluate(&|var| match var {
            Var::Symbol(k) => symbols.get(k as usize).copied(),
            _ => None,
        })
        .unwrap()
    };
    let mut all = vec![Vec::new()];
    for axis in layout.logical() {
        let extent = value(&axis.extent);
        all = all
            .iter()
            .flat_map(|point: &Vec<i128>| {
                (0..extent).map(move |k| point.iter().copied().chain([k]).collect())
            })
            .collect();
    }
    all
}

/// Checks all elements and returns their slots.
fn visited(layout: &Layout, symbols: &[i128], bits: i128, bytes: i128) -> BTreeSet<i128> {
    let mut slots = BTreeSet::new();
    for point in points(layout, symbols) {
        let place = layout.locate(&point, symbols).unwrap();
        assert!(slots.insert(place.offset), "{point:?} shares slot {}", place.offset);
        assert_eq!(layout.element_at(&place.physical, symbols).unwrap(), Some(point.clone()));
        if point.iter().all(|index| *index == 0) {
            assert_eq!(place.offset * bits % (bytes * 8), 0, "the first is at {}", place.offset);
            let origin = layout.origin().unwrap();
            let evaluated = origin.offset.evaluate(&|var| match var {
                Var::Symbol(k) => symbols.get(k as usize).copied(),
                _ => None,
            });
            assert_eq!(evaluated.unwrap(), place.offset);
        }
    }
    slots
}

/// Checks that slots without an element have no owner, for a static layout of one physical axis.
fn padding_has_no_owner(layout: &Layout, slots: &BTreeSet<i128>) {
    let all = layout.physical_shape()[0].as_const().unwrap();
    for slot in (0..all).filter(|slot| !slots.contains(slot)) {
        assert_eq!(layout.element_at(&[slot], &[]).unwrap(), None, "slot {slot}");
    }
}

#[test]
fn first_element_after_a_halo_is_aligned() {
    for (bits, bytes) in [(32, 64), (8, 16), (96, 64), (4, 8), (64, 1), (16, 2)] {
        for [before, after] in [[1, 1], [0, 2], [3, 0], [7, 5]] {
            let mut builder = builder(&[], &[constant(5), constant(6)], bits);
            halo(&mut builder, "a", before, after);
            halo(&mut builder, "b", before, after);
            builder.align_origin(bytes).unwrap();
            let layout = builder.finish(1, &SequentialExecutor).unwrap();
            assert_eq!((layout.proof(), layout.verdict()), (ProofMethod::Digits, Verdict::Padded));
            assert_eq!(i128::from(layout.alignment_bytes()), bytes);
            let slots = visited(&layout, &[], i128::from(bits), bytes);
            padding_has_no_owner(&layout, &slots);
        }
    }
}

#[test]
fn aligned_origin_adds_no_padding() {
    let mut builder = builder(&[], &[constant(4), constant(8)], 32);
    builder.align_origin(64).unwrap();
    let layout = builder.finish(1, &SequentialExecutor).unwrap();
    assert_eq!(layout.verdict(), Verdict::Bijective);
    assert_eq!(layout.lead().as_const(), Some(0));
    assert_eq!(layout.physical_elements().as_const(), Some(32));
}

#[test]
fn aligned_origin_combines_with_tiles_strides_and_rows() {
    let mut tiled = builder(&[], &[constant(10), constant(10)], 16);
    halo(&mut tiled, "b", 1, 1);
    let map = tile(
        tiled.axes(),
        &[TileExtent::Extent(constant(4)), TileExtent::Extent(constant(8))],
        &[],
    );
    tiled.apply(&map.unwrap()).unwrap();
    tiled.align_origin(32).unwrap();
    let layout = tiled.finish(1, &SequentialExecutor).unwrap();
    padding_has_no_owner(&layout, &visited(&layout, &[], 16, 32));

    let mut strided = builder(&[], &[constant(6), constant(5)], 32);
    halo(&mut strided, "b", 2, 0);
    strided.strides(&[constant(9), constant(1)]).unwrap();
    strided.align_origin(16).unwrap();
    let layout = strided.finish(1, &SequentialExecutor).unwrap();
    padding_has_no_owner(&layout, &visited(&layout, &[], 32, 16));

    let mut rows = builder(&[], &[constant(6), constant(5)], 32);
    halo(&mut rows, "a", 1, 1);
    halo(&mut rows, "b", 1, 1);
    rows.separate(&[0]).unwrap();
    rows.align_origin(64).unwrap();
    let layout = rows.finish(1, &SequentialExecutor).unwrap();
    visited(&layout, &[], 32, 64);
    // The lead of 15 and the 7 of a row, up to the next aligned row.
    assert_eq!(layout.physical_shape(), [constant(8), constant(22)]);
    assert_eq!(layout.physical_strides(), [constant(32), constant(1)]);
}

#[test]
fn enumerated_layouts_can_align_the_origin() {
    let mut builder = builder(&[], &[constant(8), constant(8)], 32);
    let IndexMap { mut items, separators } = identity(builder.axes());
    let (a, b) = (Expr::var(Var::Storage(0)), Expr::var(Var::Storage(1)));
    items[0].index = Expr::binary(BinOp::Xor, &a, &b).unwrap();
    builder.apply(&IndexMap { items, separators }).unwrap();
    halo(&mut builder, "b", 3, 0);
    builder.align_origin(64).unwrap();
    let layout = builder.finish(1, &SequentialExecutor).unwrap();
    padding_has_no_owner(&layout, &visited(&layout, &[], 32, 64));
}

#[test]
fn symbolic_pitch_is_aligned_for_every_value() {
    let symbol = Symbol { name: "w".to_owned(), min: 1, max: 4096, multiple: 1 };
    let mut builder = builder(&[symbol], &[constant(4), Expr::var(Var::Symbol(0))], 32);
    halo(&mut builder, "a", 1, 1);
    halo(&mut builder, "b", 1, 1);
    builder.align_origin(64).unwrap();
    let layout = builder.finish(1, &SequentialExecutor).unwrap();
    for value in [1, 2, 3, 13, 14, 30, 100] {
        visited(&layout, &[value], 32, 64);
    }
}

#[test]
fn empty_tensor_has_no_leading_padding() {
    let mut builder = builder(&[], &[constant(0), constant(5)], 32);
    halo(&mut builder, "b", 1, 1);
    builder.align_origin(64).unwrap();
    let layout = builder.finish(1, &SequentialExecutor).unwrap();
    assert_eq!(layout.physical_elements().as_const(), Some(0));
}
