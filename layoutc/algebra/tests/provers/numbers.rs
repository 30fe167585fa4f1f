//! Remainders, quotients, and intermediate values with several divisors.

use layoutc_algebra::builder::FinishError;
use layoutc_algebra::layout::ProofMethod;
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};

use super::{builder, proven};

#[test]
fn remainders_are_decided_by_inverses() {
    let cases: &[(&[i128], &str)] = &[
        (&[16], "(i) -> (i ^ 5)"),
        (&[1 << 22], "(i) -> (i ^ 5)"),
        (&[16], "(i) -> (i // 8 + i // 4 % 2 * 2 + i // 2 % 2 * 4 + i % 2 * 8)"),
        (&[8], "(i) -> ((3 * i) % 8)"),
        (&[8, 8], "(i, j) -> (i, (i + j) % 8)"),
        (&[8, 8], "(i, j) -> (i, (j - i) % 8)"),
        (&[20], "(i) -> (i % 4, i % 5)"),
        (&[20], "(i) -> (i % 5, i % 4)"),
        (&[1_000_003], "(i) -> ((5 * i) % 1000003)"),
        (&[30], "(i) -> ((7 * i + 4) % 30)"),
        (&[4, 5], "(i, j) -> ((3 * j + i) % 5, i)"),
        (&[15], "(i) -> ((2 * i) // 3, (2 * i) % 3)"),
        (&[6, 7], "(i, j) -> ((i * 7 + j + 3) % 42)"),
        (&[16, 12], "(i, j) -> ((j + i // 4) % 12, i)"),
        (&[10], "(i) -> (2 * i)"),
        (&[10], "(i) -> (9 - i)"),
        (&[12], "(i) -> ((i + 5) % 12)"),
        (&[3, 9], "(i, j) -> (9 * i + 2 * j)"),
        (&[3000, 9001], "(i, j) -> (9001 * i + 2 * j)"),
        (&[3, 4], "(i, j) -> ((i + j) % 3 * 4 + j)"),
        (&[199], "(i) -> ((7 * i + 5) // 6)"),
        (&[7], "(i) -> (i % 3, i // 2)"),
        (&[13], "(i) -> ((i + 2) // 6 * 7 + (i + 3) % 6)"),
        (&[8_000_000], "(i) -> ((3 * i) % 8000000)"),
        (&[8000, 8000], "(i, j) -> (i, (i + j) % 8000)"),
        (&[8000, 8000], "(i, j) -> (i, (j - i) % 8000)"),
        (&[2000 * 2001], "(i) -> (i % 2000, i % 2001)"),
        (&[4096, 5000], "(i, j) -> ((3 * j + i) % 5000, i)"),
        (&[15_000_000], "(i) -> ((2 * i) // 3, (2 * i) % 3)"),
        (&[6000, 7001], "(i, j) -> ((i * 7001 + j + 3) % 42006000)"),
    ];
    for (shape, map) in cases {
        let layout = proven(shape, map);
        assert_eq!(layout.proof(), ProofMethod::Digits, "{map} on {shape:?}");
    }
}

#[test]
fn shared_dividends_are_decoded_like_axes() {
    let cases: &[(&[i128], &str)] = &[
        (&[256, 64], "(i, j) -> ((i + j) % 64 // 5, (i + j) % 64 % 5, i)"),
        (&[16, 16], "(i, j) -> (i, (i + j) // 2, (i + j) % 2)"),
        (&[6, 16], "(i, j) -> ((i - j) % 6 // 4, (i - j) % 6 // 2 % 2, (i - j) % 6 % 2, j)"),
        (&[8, 5], "(i, j) -> ((i + j) % 8 // 3, (i + j) % 8 % 3 // 2, (i + j) % 8 % 3 % 2, j)"),
        (&[9], "(i) -> (i * 7 % 9 // 4, i * 7 % 9 % 4 // 2, i * 7 % 9 % 4 % 2)"),
        // A boundary that does not nest with others, and remainders of a value whose blocks are known.
        (&[8], "(i) -> ((7 - i) // 4, (7 - i) % 5)"),
        (&[31], "(i) -> ((i + 8) // 5, (i + 8) % 6)"),
        (&[64], "(i) -> (i // 4, i % 3, i // 2 % 2)"),
        // Bits that remain whole under a divisor that is not a power of two.
        (&[4, 7], "(i, j) -> ((i ^ j) // 5, (i ^ j) % 5, (j + 2) // 5, (j + 2) % 5)"),
        (&[64, 20], "(i, j) -> ((i ^ j % 2) % 6, (i ^ j % 2) // 6 % 4, (i ^ j % 2) // 24, j)"),
        // A quotient that its remainder completes.
        (&[8, 16], "(i, j) -> ((i * 16 + j + 7) // 8, (i * 16 + j + 7) % 8)"),
        (&[6, 6], "(i, j) -> (((i + j) * 8 + j + 2) % 2, ((i + j) * 8 + j + 2) // 2)"),
        // One value, divided directly and after another division.
        (&[8, 8], "(i, j) -> ((i * 8 + j) // 4 % 3, (i * 8 + j) % 4, (i * 8 + j) // 12)"),
        (&[4, 16], "(i, j) -> ((i * 16 + j) // 12, (i * 16 + j) // 4 % 3, (i * 16 + j) % 4)"),
    ];
    for (shape, map) in cases {
        let layout = proven(shape, map);
        assert!(layout.inverse().is_some(), "{map} on {shape:?}: {:?}", layout.proof());
    }
}

#[test]
fn large_shared_dividends_are_proven_by_digits() {
    let cases: &[(&[i128], &str)] = &[
        (&[40_000, 4096], "(i, j) -> ((i + j) % 4096 // 5, (i + j) % 4096 % 5, i)"),
        (&[4096, 4096], "(i, j) -> (i, (i + j) // 2, (i + j) % 2)"),
        (&[7000, 8000], "(i, j) -> (j + 5, (i + j) % 3, (i + j) // 3)"),
        (&[8_000_000], "(i) -> ((i + 2) % 2, (i + 2) // 2 // 4 * 4 + (i + 2) // 2 % 4)"),
        (&[4000, 5000], "(i, j) -> ((j + i) // 4 % 2, (j + i) // 8, (j + i) % 4, i)"),
        (&[13_000_000], "(i) -> (i // 6, i % 7)"),
    ];
    for (shape, map) in cases {
        let layout = proven(shape, map);
        assert_eq!(layout.proof(), ProofMethod::Digits, "{map} on {shape:?}");
    }
}

#[test]
fn shared_dividend_collisions_have_immediate_witnesses() {
    let cases: &[(&[i128], &str)] = &[
        (&[1 << 20, 1 << 20], "(i, j) -> ((i + j) // 5, (i + j) % 5, 2 * j % 1048576)"),
        (&[1 << 30, 10], "(i, j) -> ((i - j) % 10 // 2 % 4, j, (i - j) % 10 % 4)"),
        (&[1 << 30, 1 << 30], "(i, j) -> ((i * 1073741824 + j + 2) // 3)"),
        (&[1 << 20, 1 << 20, 1 << 20], "(i, j, k) -> (i + j, j * 7 + k)"),
    ];
    for (shape, map) in cases {
        match builder(shape, map).finish(64, &SequentialExecutor) {
            Err(FinishError::Injectivity(InjectivityError::NotInjective {
                first,
                second,
                proof,
                ..
            })) => {
                assert_ne!(first, second, "{map}");
                assert_ne!(proof, ProofMethod::Enumeration, "{map}");
            }
            other => panic!("{map}: {other:?}"),
        }
    }
}
