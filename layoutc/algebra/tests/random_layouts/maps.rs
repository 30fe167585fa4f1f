//! Random maps: the deciding prover, against an enumerating oracle.

use layoutc_algebra::layout::ProofMethod;
use layoutc_algebra::prove::InjectivityError;
use layoutc_testing::{Random, cases};

use super::{Outcome, build, check_refusal, compare, each_seed};
use layoutc_testing::layouts::{Fault, generate, truth};

/// Number of maps by deciding method.
#[derive(Debug, Default)]
struct Decided {
    total: u64,
    splits: u64,
    by_digits: u64,
    by_gf2: u64,
    by_algebra: u64,
    enumerated: u64,
    visited: u64,
    outside: u64,
    shown: Vec<String>,
}

#[test]
fn random_maps_agree_with_enumeration_mostly_by_proof() {
    let wanted = cases(2000, 3_500);
    let mut tally = Decided::default();
    each_seed(3 * wanted, |seed| {
        if tally.total >= wanted {
            return;
        }
        let mut random = Random::new(seed ^ 0x5EED_0000);
        let mut case = generate::one_map(&mut random);
        if random.one_in(2) {
            case = generate::damage(&mut random, &case);
        }
        let is_split = generate::is_pure_split(&case);
        // At most a third of the maps are splits of single axes.
        if is_split && tally.splits * 3 >= wanted {
            return;
        }
        let what = format!("seed {seed}: {}", case.describe());
        let expected = truth(&case);
        if expected == Err(Fault::Open) {
            return;
        }
        let outcome = build(&case);
        check_refusal(&case, &outcome, &what);
        tally.total += 1;
        tally.splits += u64::from(is_split);
        match (&expected, &outcome) {
            (Ok(truth), Outcome::Built(layout)) => {
                compare(layout, truth, &[], &what);
                match layout.proof() {
                    ProofMethod::Digits => tally.by_digits += 1,
                    ProofMethod::Gf2 => tally.by_gf2 += 1,
                    ProofMethod::Enumeration => {
                        tally.enumerated += 1;
                        tally.shown.push(case.describe());
                    }
                }
            }
            (
                Err(Fault::Collision(..)),
                Outcome::Refused(InjectivityError::NotInjective { proof, .. }),
            ) => {
                if *proof == ProofMethod::Enumeration {
                    tally.visited += 1;
                    tally.shown.push(format!("refused: {}", case.describe()));
                } else {
                    tally.by_algebra += 1;
                }
            }
            (Err(Fault::Negative(..) | Fault::TooSmall(..)), Outcome::Build(_)) => {
                tally.outside += 1;
            }
            (expected, outcome) => {
                let expected = expected.as_ref().map(|_| "good");
                panic!("expected {expected:?}, and it was {outcome:?}: {what}");
            }
        }
    });
    let Decided {
        total, splits, by_digits, by_gf2, by_algebra, enumerated, visited, outside, ..
    } = tally;
    println!(
        "{total} maps, {splits} of them splits: {by_digits} proven by digits, {by_gf2} by gf2, {enumerated} by visiting; \
         {by_algebra} refused by algebra, {visited} by visiting; {outside} leave their extents"
    );
    tally.shown.sort_by_key(String::len);
    for line in tally.shown.iter().step_by(11).take(40) {
        println!("visited: {line}");
    }
    let judged = by_digits + by_gf2 + by_algebra + enumerated + visited;
    let decided = judged - enumerated - visited;
    println!("{decided} of {judged} decided without visiting");
    assert!(total >= wanted, "{total} of {wanted} maps");
    // 98.0 % of the full run's maps.
    assert!(decided * 1000 >= judged * 975, "{decided} of {judged}");
    assert!(
        by_algebra + visited >= wanted / 6,
        "too few of the maps are wrong: {}",
        by_algebra + visited
    );
}
