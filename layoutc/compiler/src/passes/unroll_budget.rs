//! Budget for unrolling. The numbers of copies of nested unrolled loops multiply, so their product is bounded. A loop
//! over an array that exceeds the registers is not unrolled, because it gains nothing.

use std::collections::BTreeSet;

use crate::ir::{Expr, Function, LoopKind, Part, Stmt, Storage, Value};
use crate::machine::CPU;

/// Makes unrolled loops serial if their bounds are not constants, if they index an array that exceeds the registers, or
/// if the copies of their bodies have more than `unrolled_statements` statements ([`CPU`]). Inner loops are unrolled
/// rather than outer ones.
pub fn unroll_budget(function: &mut Function) {
    keep_spilled_loops(&mut function.body, &mut BTreeSet::new());
    weigh(&mut function.body);
}

/// Makes each unrolled loop of a body, with an unroll factor above 1, serial if an index into one of the private arrays
/// `spilled` depends on its variable. `spilled` are the arrays that exceed the registers; those that the body declares
/// are added to it.
fn keep_spilled_loops(body: &mut [Stmt], spilled: &mut BTreeSet<String>) {
    for stmt in body {
        if let Stmt::Allocate { name, dtype, elements, storage: Storage::Private } = stmt
            && elements.saturating_mul(dtype.element_bits().into()) > CPU.register_bytes * 8
        {
            spilled.insert(name.clone());
        }
        if let Stmt::For { name, kind: kind @ LoopKind::Unrolled(2..), body, .. } = stmt
            && !spilled.is_empty()
            && indexes(body, &mut BTreeSet::from([name.clone()]), spilled)
        {
            *kind = LoopKind::Serial;
        }
        stmt.nested_mut().for_each(|nested| keep_spilled_loops(nested, spilled));
    }
}

/// True if the body reads or updates an item (`Value::Item`) of one of `arrays` at an index that depends on one of
/// `names`. Index constants that depend on `names` are added to `names`.
fn indexes(body: &[Stmt], names: &mut BTreeSet<String>, arrays: &BTreeSet<String>) -> bool {
    let depends = |expr: &Expr, names: &BTreeSet<String>| {
        let mut found = false;
        expr.visit(&mut |part| {
            found |= matches!(part, Expr::Name { name } if names.contains(name));
        });
        found
    };
    body.iter().any(|stmt| {
        if let Stmt::Let { name, value } = stmt
            && depends(value, names)
        {
            names.insert(name.clone());
        }
        let mut found = false;
        stmt.parts(&mut |part| {
            if let Part::Value(value) = part {
                value.walk(&mut |value| {
                    found |= matches!(value, Value::Item { array, index }
                        if arrays.contains(array) && depends(index, names));
                });
            }
        });
        found || stmt.nested().any(|nested| indexes(nested, names, arrays))
    })
}

/// Weight of a body, in statements. An unrolled loop weighs its body times the unroll factor, a GPU loop its body, a
/// serial or parallel loop its body plus `loop_weight` ([`CPU`]), and a branch both of its bodies; any other statement
/// counts as one. An unrolled loop is made serial if its bounds are not constants, or if its unroll factor is above 1
/// and it weighs more than `unrolled_statements`.
fn weigh(body: &mut [Stmt]) -> i64 {
    let mut all = 0_i64;
    for stmt in body {
        let own = match stmt {
            Stmt::For { from, to, kind, body, .. } => {
                let inside = weigh(body);
                let is_known = matches!((&from, &to), (Expr::Int { .. }, Expr::Int { .. }));
                if matches!(kind, LoopKind::Unrolled(_)) && !is_known {
                    *kind = LoopKind::Serial;
                }
                match kind {
                    LoopKind::Unrolled(rounds @ 2..) => {
                        let whole = inside.saturating_mul(*rounds);
                        if whole > CPU.unrolled_statements {
                            *kind = LoopKind::Serial;
                            inside.saturating_add(CPU.loop_weight)
                        } else {
                            whole
                        }
                    }
                    // The compiler vectorizes the loop instead of unrolling it.
                    LoopKind::Unrolled(_) => inside,
                    _ if kind.is_gpu() => inside,
                    _ => inside.saturating_add(CPU.loop_weight),
                }
            }
            Stmt::If { body, otherwise, .. } => weigh(body).saturating_add(weigh(otherwise)),
            _ => 1,
        };
        all = all.saturating_add(own);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::dtype::Dtype;
    use crate::ir::ReduceOp;

    fn nest(rounds: &[i64]) -> Vec<Stmt> {
        let Some((first, rest)) = rounds.split_first() else {
            return vec![Stmt::Comment { text: String::new() }];
        };
        let (from, to) = (Expr::int(0), Expr::int(*first));
        let (name, body) = ("i".to_owned(), nest(rest));
        let kind = LoopKind::Unrolled(*first);
        vec![Stmt::For { name, from, to, step: 1, kind, body }]
    }

    fn written_out(body: &[Stmt]) -> Vec<bool> {
        match body {
            [Stmt::For { kind, body, .. }] => {
                [vec![matches!(kind, LoopKind::Unrolled(_))], written_out(body)].concat()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn loops_over_an_array_that_exceeds_the_registers_are_serial() {
        // 30 registers of 16 f32, and one element more.
        for (elements, is_unrolled) in [(480, true), (481, false)] {
            let sum = Value::Item { array: "sum".to_owned(), index: Expr::name("at") };
            let dtype = Dtype::parse("f32").unwrap();
            let zero = Value::Constant { dtype, bits: 0 };
            let update = Stmt::Update { into: sum, how: ReduceOp::Set, dtype, value: zero };
            let at = Stmt::Let { name: "at".to_owned(), value: Expr::name("i") };
            let (name, from, to) = ("i".to_owned(), Expr::int(0), Expr::int(4));
            let kind = LoopKind::Unrolled(4);
            let nest = Stmt::For { name, from, to, step: 1, kind, body: vec![at, update] };
            let (name, storage) = ("sum".to_owned(), Storage::Private);
            let array = Stmt::Allocate { name, dtype, elements, storage };
            let mut body = vec![array, nest];
            keep_spilled_loops(&mut body, &mut BTreeSet::new());
            assert_eq!(written_out(&body[1..]), [is_unrolled], "{elements}");
        }
    }

    #[test]
    fn unrolled_trip_count_product_is_bounded() {
        let mut small = nest(&[4, 8, 32]);
        weigh(&mut small);
        assert_eq!(written_out(&small), [true; 3]);
        let mut large = nest(&[2, 3, 24, 4, 32]);
        weigh(&mut large);
        assert_eq!(written_out(&large), [true, true, false, true, true]);
    }
}
