//! Tests of expressions printed in C and Python.

use super::*;
use crate::emit::dialect::{C, C_PLAIN};

fn name(name: &str) -> Expr {
    Expr::name(name)
}

fn boxed(tree: Expr) -> Box<Expr> {
    Box::new(tree)
}

fn c(tree: &Expr) -> String {
    expr(Style::C(&C), tree)
}

#[test]
fn power_of_two_divisions_print_as_parenthesized_shifts() {
    let sum = Expr::Add { args: vec![name("h"), Expr::int(1)] };
    let div = Expr::FloorDiv { a: boxed(sum.clone()), b: boxed(Expr::int(4)) };
    let rest = Expr::FloorMod { a: boxed(div.clone()), b: boxed(Expr::int(8)) };
    assert_eq!(c(&div), "(h + 1) >> 2");
    assert_eq!(c(&rest), "((h + 1) >> 2) & 7");
    let total = Expr::Add { args: vec![rest.clone(), Expr::int(3)] };
    assert_eq!(c(&total), "(((h + 1) >> 2) & 7) + 3");
    let product = Expr::Mul { args: vec![div, Expr::int(3)] };
    assert_eq!(c(&product), "((h + 1) >> 2) * 3");
    assert_eq!(expr(Style::Python, &rest), "(h + 1) // 4 % 8");
    let xor = Expr::BitXor { args: vec![rest, name("w")] };
    assert_eq!(c(&xor), "(((h + 1) >> 2) & 7) ^ w");
}

#[test]
fn nonnegative_operands_use_c_division() {
    let b = || boxed(Expr::int(3));
    let div = Expr::Div { a: boxed(name("x")), b: b() };
    let rest = Expr::Mod { a: boxed(div.clone()), b: boxed(name("k")) };
    assert_eq!(c(&rest), "x / 3 % k");
    let floor = Expr::FloorDiv { a: boxed(name("x")), b: b() };
    assert_eq!(c(&floor), "layoutc_floor_div(x, 3)");
    let cell = Expr::HilbertCell { a: boxed(name("x")), rows: 6, columns: 8 };
    let (row, column) = (
        Expr::Div { a: boxed(cell.clone()), b: boxed(Expr::int(8)) },
        Expr::Mod { a: boxed(cell), b: boxed(Expr::int(8)) },
    );
    assert_eq!(c(&column), "layoutc_hilbert_cell(x, 6, 8) & 7");
    let place = Expr::Hilbert { a: boxed(row), b: boxed(column), rows: 6, columns: 8 };
    let python = expr(Style::Python, &place);
    assert_eq!(python, "hilbert(hilbert_cell(x, 6, 8) // 8, hilbert_cell(x, 6, 8) % 8, 6, 8)");
    let floor = Expr::FloorMod { a: boxed(name("x")), b: boxed(Expr::int(4)) };
    assert_eq!(expr(Style::C(&C_PLAIN), &floor), "plain_floor_mod(x, 4)");
    let inner = Expr::Div { a: boxed(name("x")), b: boxed(div) };
    assert_eq!(c(&inner), "x / (x / 3)");
}

#[test]
fn sums_start_with_a_positive_term() {
    let product = Expr::Mul { args: vec![name("c"), Expr::int(-4)] };
    assert_eq!(c(&Expr::Add { args: vec![product.clone(), Expr::int(6)] }), "6 - c * 4");
    let neg = Expr::Neg { a: boxed(name("c")) };
    assert_eq!(c(&Expr::Add { args: vec![neg.clone(), Expr::int(-1)] }), "-c - 1");
    assert_eq!(c(&Expr::Mul { args: vec![name("a"), neg] }), "a * -c");
    let both = Expr::Add { args: vec![name("a"), name("b")] };
    assert_eq!(c(&Expr::Neg { a: boxed(both) }), "-(a + b)");
}

#[test]
fn wide_literals_carry_their_type() {
    assert_eq!(c(&Expr::int(2_147_483_647)), "2147483647");
    assert_eq!(c(&Expr::int(2_147_483_648)), "INT64_C(2147483648)");
    assert_eq!(c(&Expr::int(-2_147_483_648)), "-INT64_C(2147483648)");
    assert_eq!(c(&Expr::int(i64::MIN)), "-INT64_C(9223372036854775807) - 1");
}

#[test]
fn conditions_follow_c_precedence() {
    let low = Expr::compare(Compare::Ge, name("a"), Expr::int(0));
    let high = Expr::compare(Compare::Lt, name("a"), name("b"));
    let all = Expr::All { args: vec![low, high.clone()] };
    assert_eq!(c(&all), "a >= 0 && a < b");
    assert_eq!(expr(Style::Python, &all), "a >= 0 and a < b");
    assert_eq!(c(&Expr::Not { a: boxed(all) }), "!(a >= 0 && a < b)");
    let select = Expr::Select {
        condition: boxed(high),
        then: boxed(Expr::int(1)),
        otherwise: boxed(Expr::int(0)),
    };
    assert_eq!(c(&Expr::Add { args: vec![name("q"), select] }), "q + (a < b)");
}
