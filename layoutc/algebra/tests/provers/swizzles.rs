//! Swizzles of the last physical index.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::swizzle::{Swizzle, SwizzleError};
use layoutc_algebra::layout::{Layout, ProofMethod};
use layoutc_algebra::prove::SequentialExecutor;
use serde_json::Value;

use super::{builder, every_slot_tells_its_owner};

fn swizzled(shape: &[i128], map: &str, swizzle: Swizzle) -> Layout {
    let mut builder = builder(shape, map);
    builder.swizzle(swizzle).unwrap();
    let layout = builder.finish(64, &SequentialExecutor);
    let layout = layout.unwrap_or_else(|e| panic!("{map} on {shape:?}: {e:?}"));
    assert_eq!(layout.proof(), ProofMethod::Gf2, "{map}");
    layout
}

#[test]
fn swizzles_match_cute_offsets() {
    let file: Value = serde_json::from_str(include_str!("../cases/peers.json")).unwrap();
    let mut seen = 0;
    for case in file["cases"].as_array().unwrap() {
        if case["kind"] != "cute_swizzle" {
            continue;
        }
        let get = |name: &str| case["input"][name].as_i64().unwrap();
        let (bits, base, shift) = (get("bits").into(), get("base").into(), get("shift").into());
        let swizzle = Swizzle::new(bits, base, shift).unwrap();
        let layout = builder(&[1024], "(i) -> (i)");
        let mut layout = layout;
        layout.swizzle(swizzle).unwrap();
        let layout = layout.finish(64, &SequentialExecutor).unwrap();
        for pair in case["expect"]["pairs"].as_array().unwrap() {
            let (from, to) = (pair[0].as_i64().unwrap(), pair[1].as_i64().unwrap());
            assert_eq!(layout.locate(&[from.into()], &[]).unwrap().offset, i128::from(to));
            assert_eq!(swizzle.at(from.into()), i128::from(to));
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen}");
}

/// A shape, a map, and the bits, base and shift of a swizzle.
type Swizzled = (&'static [i128], &'static str, (i128, i128, i128));

#[test]
fn swizzled_layouts_are_decoded_with_their_padding() {
    let cases: &[Swizzled] = &[
        (&[8, 64], "(i, j) -> (i, j)", (3, 3, 3)),
        (&[8, 60], "(i, j) -> (i, j)", (3, 3, 3)),
        (&[5, 7, 9], "(i, j, k) -> (j, i, k)", (2, 1, 3)),
        (&[5, 70], "(i, j) -> (i | j)", (1, 0, 1)),
        (&[30, 33], "(i, j) -> (i // 8, j // 4 | i % 8, j % 4)", (2, 2, -3)),
        (&[16, 16], "(i, j) -> (i, j ^ i)", (2, 0, 4)),
        (&[40], "(i) -> (i)", (0, 4, 3)),
    ];
    for (shape, map, (bits, base, shift)) in cases {
        let swizzle = Swizzle::new(*bits, *base, *shift).unwrap();
        let layout = swizzled(shape, map, swizzle);
        let last = layout.physical_shape().last().and_then(Expr::as_const).unwrap();
        assert!((0..last).all(|slot| swizzle.at(slot) < last), "{map}");
        every_slot_tells_its_owner(&layout, shape, map);
    }
    // Too large to enumerate.
    let large = swizzled(&[5000, 4000], "(i, j) -> (i, j)", Swizzle::new(3, 3, 4).unwrap());
    let place = large.locate(&[4321, 1234], &[]).unwrap();
    assert_eq!(large.element_at(&place.physical, &[]).unwrap(), Some(vec![4321, 1234]));
}

#[test]
fn overlapping_or_out_of_range_swizzles_are_refused() {
    assert_eq!(Swizzle::new(3, 0, 2), Err(SwizzleError::Overlap { bits: 3, shift: 2 }));
    assert_eq!(Swizzle::new(3, 60, 3), Err(SwizzleError::Range));
    assert_eq!(Swizzle::of_bytes(3, 4, 3, 16), Swizzle::new(3, 3, 3));
    assert_eq!(Swizzle::of_bytes(3, 4, 3, 4), Swizzle::new(3, 5, 3));
    let unit = SwizzleError::Unit { bytes: 1, element_bits: 32 };
    assert_eq!(Swizzle::of_bytes(1, 0, 1, 32), Err(unit));
}
