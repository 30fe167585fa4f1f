//! XORs, reversed and interleaved bits.

use layoutc_algebra::builder::FinishError;
use layoutc_algebra::layout::ProofMethod;
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use serde_json::Value;

use super::{builder, every_slot_tells_its_owner, points, proven};

#[test]
fn xors_are_decided_by_linear_algebra() {
    let cases: &[(&[i128], &str)] = &[
        (&[8, 8], "(i, j) -> (i, j ^ i)"),
        (&[64, 64], "(i, j) -> (i, j ^ (i % 8))"),
        (&[5, 64], "(i, j) -> (i, j ^ (i % 8) * 8)"),
        (&[60, 60], "(i, j) -> (i, j ^ (i % 8))"),
        (&[16], "(i) -> (i ^ (i // 2))"),
        (&[1024, 1024], "(i, j) -> (i ^ (j // 4), j)"),
        (&[8, 8], "(i, j) -> (i ^ j, (i ^ j) * 2 + (j & 1) + 2 * (j // 2 * 8) )"),
        (&[8, 16], "(i, j) -> (i * 16 + (j ^ i * 2))"),
        (&[4096, 4096], "(i, j) -> (i, j ^ i)"),
        (&[4096, 4096], "(i, j) -> (i, j ^ (i % 8))"),
        (&[4000, 4000], "(i, j) -> (i, j ^ (i % 8) * 8)"),
        (&[4000, 4000], "(i, j) -> (i * 4096 + (j ^ (i % 8) * 8))"),
        (&[1 << 21], "(i) -> (i ^ (i // 2))"),
        (&[4096, 4096, 3], "(i, j, k) -> (i, k, j ^ (4095 - i))"),
        (&[8, 8, 3], "(i, j, k) -> (i, k, j ^ (7 - i))"),
    ];
    for (shape, map) in cases {
        let layout = proven(shape, map);
        assert_eq!(layout.proof(), ProofMethod::Gf2, "{map} on {shape:?}");
    }
}

#[test]
fn xor_collisions_have_immediate_witnesses() {
    let cases: &[(&[i128], &str)] = &[
        (&[1 << 20, 1 << 20], "(i, j) -> (i ^ j, (i ^ j) // 2)"),
        (&[3 << 20, 3 << 20], "(i, j) -> (i ^ j, j % 4)"),
        (&[1 << 40], "(i) -> (i ^ (i // 2 * 2))"),
    ];
    for (shape, map) in cases {
        match builder(shape, map).finish(64, &SequentialExecutor) {
            Err(FinishError::Injectivity(InjectivityError::NotInjective {
                first, second, ..
            })) => {
                assert_ne!(first, second, "{map}");
            }
            other => panic!("{map}: {other:?}"),
        }
    }
}

#[test]
fn morton_and_bit_reversal_match_recorded_offsets() {
    let file: Value = serde_json::from_str(include_str!("../cases/peers.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        match case["kind"].as_str().unwrap() {
            "morton_rect" => {
                let numbers = |v: &Value| -> Vec<i128> {
                    v.as_array().unwrap().iter().map(|n| n.as_i64().unwrap().into()).collect()
                };
                let shape = numbers(&case["input"]["shape"]);
                let names = ["i", "j", "k"][..shape.len()].join(", ");
                let layout = proven(&shape, &format!("({names}) -> (morton({names}))"));
                let offsets = numbers(&case["expect"]["offsets_row_major"]);
                for (point, offset) in points(&shape).iter().zip(offsets) {
                    assert_eq!(layout.locate(point, &[]).unwrap().offset, offset);
                }
            }
            "morton" => {
                // The case has the first coordinate in the lowest bits.
                let layout = proven(&[1024, 1024], "(i, j) -> (morton(j, i))");
                for pair in case["expect"]["pairs"].as_array().unwrap() {
                    let at = |k: usize| i128::from(pair[0][k].as_i64().unwrap());
                    let place = layout.locate(&[at(0), at(1)], &[]).unwrap();
                    assert_eq!(Some(place.offset), pair[1].as_i64().map(i128::from));
                }
            }
            _ => {}
        }
    }
    for shape in [[5, 9], [1, 16], [7, 300]] {
        let layout = proven(&shape, "(i, j) -> (morton(i, j))");
        every_slot_tells_its_owner(&layout, &shape, "morton");
        assert_ne!(layout.proof(), ProofMethod::Enumeration);
    }
    let layout = proven(&[16], "(i) -> (bitrev(i, 4))");
    assert_eq!(layout.locate(&[3], &[]).unwrap().offset, 12);
    proven(&[8, 1 << 20], "(i, j) -> (bitrev(i, 3), bitrev(j, 20))");
}
