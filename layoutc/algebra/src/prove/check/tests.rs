//! Compares the checker's sums with the expressions that they represent, on every element.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use layoutc_testing::Random;

use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use crate::digits::{Chain, Digit, Digits};
use crate::expr::{BinOp, Expr, Var};
use crate::symbol::Axis;

fn expr(random: &mut Random, depth: u32) -> Expr {
    if depth == 0 || random.below(6) == 0 {
        return match random.below(5) {
            0 => Expr::constant(random.below(12) - 3),
            _ => Expr::var(Var::Axis(random.below(3))),
        };
    }
    let a = expr(random, depth - 1);
    let (op, b) = match random.below(8) {
        0 | 1 => (BinOp::Add, expr(random, depth - 1)),
        2 => (BinOp::Sub, expr(random, depth - 1)),
        3 => (BinOp::Mul, Expr::constant(random.below(9) - 2)),
        4 | 5 => (BinOp::FloorDiv, Expr::constant(random.below(9) + 1)),
        6 => (BinOp::Mod, Expr::constant(random.below(9) + 1)),
        _ => (BinOp::Xor, expr(random, depth - 1)),
    };
    Expr::binary(op, &a, &b).unwrap()
}

/// Digits of axes with these extents, two digits per axis: the low digit has a random number of values in `1..=5`.
fn digits(random: &mut Random, extents: &[i128]) -> Digits {
    let mut digits = Digits::default();
    for (axis, extent) in extents.iter().enumerate() {
        let cut = random.below(5) + 1;
        let (low, high) = (cut, (extent + cut - 1) / cut);
        let at = digits.digits.len();
        digits.digits.push(Digit { weight: cut, extent: Expr::constant(high) });
        digits.digits.push(Digit { weight: 1, extent: Expr::constant(low) });
        let of_digit = None;
        let (axes, digits_of) = (alloc::vec![axis], alloc::vec![at, at + 1]);
        digits.chains.push(Chain { axes, of_digit, sign: 1, constant: 0, digits: digits_of });
    }
    digits
}

/// Value of each digit at a point, by digit position: digits of the axes, their parts, and XORs.
fn values(domain: &CheckerContext<'_>, digits: &Digits, point: &[i128]) -> BTreeMap<usize, i128> {
    let mut values = BTreeMap::new();
    for (chain, index) in digits.chains.iter().zip(point) {
        let [high, low] = chain.digits[..] else { panic!("two digits") };
        values.insert(high, index / digits.digits[high].weight);
        values.insert(low, index % digits.digits[high].weight);
    }
    let split: Vec<(usize, Sum)> = {
        let all = domain.digits.borrow();
        let split = all.iter().enumerate();
        split.filter_map(|(k, digit)| Some((k, digit.made_of.clone()?))).collect()
    };
    // The parts of a digit come after it.
    loop {
        let before = values.len();
        for (digit, parts) in &split {
            let Some(value) = values.get(digit).copied() else { continue };
            let below = parts.terms().map(|(_, weight)| weight).max().unwrap();
            for (factors, weight) in parts.terms() {
                let [Factor::Digit(part)] = **factors else { panic!("{parts:?}") };
                values.insert(part, if weight == below { value / below } else { value % below });
            }
        }
        for (of, digit) in domain.parities.borrow().iter() {
            let all: Option<Vec<i128>> = of.iter().map(|part| values.get(part).copied()).collect();
            if let Some(all) = all {
                values.insert(*digit, all.into_iter().fold(0, |a, b| a ^ b));
            }
        }
        if values.len() == before {
            return values;
        }
    }
}

fn evaluated(sum: &Sum, values: &BTreeMap<usize, i128>) -> i128 {
    let factor = |factor: &Factor| match factor {
        Factor::Digit(digit) => values[digit],
        Factor::Quotient(x, k) => {
            let x = evaluated(x, values);
            assert!(x >= 0, "a quotient of what is negative: {x} // {k}");
            x / k
        }
        Factor::Unit(_) | Factor::Ratio(..) => panic!("no symbols here"),
    };
    sum.terms().map(|(factors, c)| factors.iter().map(factor).fold(c, |a, b| a * b)).sum()
}

#[test]
fn sums_equal_their_expressions_and_respect_their_bounds() {
    let mut random = Random::new(1);
    let (mut followed, mut settled) = (0, 0);
    for round in 0..4000 {
        let extents: Vec<i128> = (0..3).map(|_| random.below(9) + 1).collect();
        let digits = digits(&mut random, &extents);
        let logical: Vec<Axis> = ["a", "b", "c"]
            .iter()
            .zip(&extents)
            .map(|(name, n)| Axis { name: (*name).to_string(), extent: Expr::constant(*n) })
            .collect();
        let domain = CheckerContext::of_digits(&[], &digits, &logical).unwrap();
        let expr = expr(&mut random, 4);
        let axis = |var: Var| match var {
            Var::Axis(k) => domain.axis(usize::try_from(k).unwrap()),
            _ => None,
        };
        let Ok(sum) = domain.sum(&expr, &axis) else { continue };
        followed += 1;
        let (low, high) = domain.span(&sum).unwrap();
        let mut all = Vec::new();
        let points = extents.iter().product::<i128>();
        for number in 0..points {
            let (rest, a) = (number / extents[0], number % extents[0]);
            let point = [a, rest % extents[1], rest / extents[1]];
            let at = |var: Var| match var {
                Var::Axis(k) => point.get(usize::try_from(k).unwrap()).copied(),
                _ => None,
            };
            let wanted = expr.evaluate(&at).unwrap();
            let values = values(&domain, &digits, &point);
            assert_eq!(evaluated(&sum, &values), wanted, "round {round}: {expr:?} at {point:?}");
            assert!(low.as_constant().unwrap() <= wanted && wanted <= high.as_constant().unwrap());
            all.push(wanted);
        }
        let least = *all.iter().min().unwrap();
        let from = |n: i128| sum.minus(&Sum::constant(n)).unwrap();
        settled += usize::from(domain.never_negative(&from(least)).unwrap_or(false));
        for above in 1..4 {
            let is_claimed = domain.never_negative(&from(least + above)).unwrap_or(false);
            assert!(
                !is_claimed,
                "round {round}: {expr:?} is {least} somewhere, not {}",
                least + above
            );
        }
    }
    assert!(followed > 2000 && settled * 2 > followed, "{settled} of {followed}");
}
