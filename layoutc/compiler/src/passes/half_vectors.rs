//! Vectorization of conversions between f16 and f32. Processors convert a whole vector by one instruction, but
//! compilers do not generate it from a loop over elements. So the loop is split: each iteration of the new loop
//! converts runs of contiguous operands, computes in an inner loop over their elements, and converts the run of
//! results.

use super::Ranges;
use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{
    Expr, Function, LoopKind, Primitive, ReduceOp, Stmt, Storage, Strided, Value, ValueOp,
};
use crate::machine::CPU;

/// Element type f16 and its size in bytes.
const HALF: (Dtype, i64) = (Dtype { scalar: Scalar::F16, lanes: 1 }, 2);
const SINGLE: (Dtype, i64) = (Dtype { scalar: Scalar::F32, lanes: 1 }, 4);

/// Splits loops of a function into loops over runs of `half_vector_elements` iterations ([`CPU`](crate::machine::CPU))
/// and a remainder loop. A loop is split if it is serial with step 1 and may have that many iterations, if its body is
/// one store, and if it reads contiguous f16 elements that are converted to f32, or stores f32 values as contiguous f16
/// elements. `ranges` holds the value ranges of the function's parameters; `name` returns an unused name similar to its
/// argument.
pub fn half_vectors(
    function: &mut Function,
    ranges: &Ranges,
    name: &mut dyn FnMut(&str) -> String,
) {
    function.body = in_runs(std::mem::take(&mut function.body), &mut ranges.clone(), name);
}

fn in_runs(
    body: Vec<Stmt>,
    ranges: &mut Ranges,
    name: &mut dyn FnMut(&str) -> String,
) -> Vec<Stmt> {
    let depth = ranges.depth();
    let mut all: Vec<Stmt> = Vec::new();
    for mut stmt in body {
        if may_have_run(&stmt, ranges)
            && let Some(runs) = loop_in_runs(&stmt, name)
        {
            all.extend(runs);
            continue;
        }
        let outside = ranges.depth();
        match &stmt {
            Stmt::Let { name, value } => ranges.declare(name, ranges.of(value)),
            Stmt::For { name, from, to, .. } => ranges.declare(name, ranges.of_loop(from, to)),
            _ => {}
        }
        for body in stmt.nested_mut() {
            *body = in_runs(std::mem::take(body), ranges, name);
        }
        if let Stmt::For { .. } = stmt {
            ranges.leave(outside);
        }
        all.push(stmt);
    }
    ranges.leave(depth);
    all
}

/// True for a loop that may have at least `half_vector_elements` iterations; false for any other statement. Compilers
/// would warn of accesses in a loop over runs that never executes.
fn may_have_run(stmt: &Stmt, ranges: &Ranges) -> bool {
    let Stmt::For { from, to, .. } = stmt else { return false };
    let bounds = ranges.of(from).zip(ranges.of(to));
    bounds.is_none_or(|([from, _], [_, to])| {
        to.saturating_sub(from) >= i128::from(CPU.half_vector_elements)
    })
}

/// Run of contiguous f16 elements that one iteration of the loop over runs reads from `buffer`. `index` is the index of
/// an element in the original loop; with the start of the run for the loop variable, it is that of the first element.
/// `array` is the f32 array that holds the elements after conversion.
struct Read {
    buffer: String,
    index: Expr,
    array: String,
}

fn loop_in_runs(stmt: &Stmt, name: &mut dyn FnMut(&str) -> String) -> Option<Vec<Stmt>> {
    let Stmt::For { name: round, from, to, step: 1, kind: LoopKind::Serial, body } = stmt else {
        return None;
    };
    let [Stmt::Store { buffer, index, value, through: None }] = body.as_slice() else {
        return None;
    };
    let whole = whole_runs(from, to)?;
    let (value, is_half) = match value {
        Value::Cast { cast, value }
            if is_cast(*cast, SINGLE, HALF) && is_consecutive(index, round) =>
        {
            (&**value, true)
        }
        _ => (value, false),
    };
    let mut reads = Vec::new();
    find(value, round, &mut reads, name);
    if reads.is_empty() && !is_half {
        return None;
    }
    let [run, lane] = [name(&format!("{round}_run")), name("lane")];
    let at_run = |expr: &Expr| replaced(expr, round, &Expr::name(&run));
    let here = Expr::Add { args: vec![Expr::name(&run), Expr::name(&lane)] };
    let mut value = value.clone();
    value.rewrite(
        &|number| {
            let read = reads.iter().find(|read| is_read(number, read));
            if let Some(read) = read {
                *number = Value::Item { array: read.array.clone(), index: Expr::name(&lane) };
            }
        },
        &|_| {},
    );
    value.rewrite(&|_| {}, &|expr| {
        if *expr != Expr::name(&lane) {
            *expr = replaced(expr, round, &here);
        }
    });
    let mut inside = Vec::new();
    for Read { buffer, index, array } in &reads {
        inside.push(declared(array));
        let to = (at(array, Expr::int(0), SINGLE), SINGLE);
        let from = (at(buffer, at_run(index), HALF), HALF);
        inside.push(converted(to, from)?);
    }
    let dtype = SINGLE.0;
    let lanes = |body: Stmt| Stmt::For {
        name: lane.clone(),
        from: Expr::int(0),
        to: Expr::int(CPU.half_vector_elements),
        step: 1,
        kind: LoopKind::Serial,
        body: vec![body],
    };
    if is_half {
        let array = name(&format!("{buffer}_run"));
        let into = Value::Item { array: array.clone(), index: Expr::name(&lane) };
        inside.push(declared(&array));
        inside.push(lanes(Stmt::Update { into, how: ReduceOp::Set, dtype, value }));
        let to = (at(buffer, at_run(index), HALF), HALF);
        let from = (at(&array, Expr::int(0), SINGLE), SINGLE);
        inside.push(converted(to, from)?);
    } else {
        let (buffer, index) = (buffer.clone(), replaced(index, round, &here));
        inside.push(lanes(Stmt::Store { buffer, index, value, through: None }));
    }
    let mut all = Vec::new();
    let end = match whole {
        Expr::Int { .. } => whole,
        computed => {
            let end = name(&format!("{round}_whole"));
            all.push(Stmt::Let { name: end.clone(), value: computed });
            Expr::name(&end)
        }
    };
    let (from, kind) = (from.clone(), LoopKind::Serial);
    all.push(Stmt::For {
        name: run,
        from,
        to: end.clone(),
        step: CPU.half_vector_elements,
        kind: kind.clone(),
        body: inside,
    });
    if end != *to {
        let (name, body) = (round.clone(), body.clone());
        all.push(Stmt::For { name, from: end, to: to.clone(), step: 1, kind, body });
    }
    Some(all)
}

/// Exclusive end of the iterations of the loop `from..to` that form whole runs of `half_vector_elements` iterations: 32
/// for `0..37` and 16 elements. `None` if both bounds are constants and no whole run fits.
fn whole_runs(from: &Expr, to: &Expr) -> Option<Expr> {
    if let (Expr::Int { value: from }, Expr::Int { value: to }) = (from, to) {
        let rounds = to.checked_sub(*from)?;
        let whole = rounds.checked_sub(rounds.checked_rem(CPU.half_vector_elements)?)?;
        return from.checked_add(whole).filter(|_| whole > 0).map(Expr::int);
    }
    let zero = Expr::int(0);
    let rounds = if *from == zero {
        to.clone()
    } else {
        Expr::Add { args: vec![to.clone(), Expr::Neg { a: Box::new(from.clone()) }] }
    };
    let (a, b) =
        (Box::new(rounds.max(zero.clone())), Box::new(Expr::int(CPU.half_vector_elements)));
    let whole = Expr::Mul { args: vec![Expr::Div { a, b }, Expr::int(CPU.half_vector_elements)] };
    Some(if *from == zero { whole } else { Expr::Add { args: vec![from.clone(), whole] } })
}

/// Adds to `found` the runs of f16 elements that `value` reads, without duplicates. A run is a load that is converted
/// to f32, and whose index grows by one per iteration of the loop with variable `round`. Operands that are evaluated
/// only under a condition are left out. `name` returns an unused name similar to its argument.
fn find(value: &Value, round: &str, found: &mut Vec<Read>, name: &mut dyn FnMut(&str) -> String) {
    match value {
        Value::Cast { cast, value: read } if is_cast(*cast, HALF, SINGLE) => {
            let Value::Load { buffer, index, through: None } = &**read else { return };
            let is_new = !found.iter().any(|read| is_read(value, read));
            if is_new && is_consecutive(index, round) {
                let (buffer, index) = (buffer.clone(), index.clone());
                let array = name(&format!("{buffer}_run"));
                found.push(Read { buffer, index, array });
            }
        }
        Value::Select { condition, .. } => find(condition, round, found, name),
        Value::Binary { op: ValueOp::And | ValueOp::Or, a, .. } => find(a, round, found, name),
        Value::Binary { a, b, .. } => {
            find(a, round, found, name);
            find(b, round, found, name);
        }
        Value::Negate { a, .. } | Value::Not { a } => find(a, round, found, name),
        Value::Call { args, .. } => {
            for arg in args {
                find(arg, round, found, name);
            }
        }
        Value::Convert { value, .. } | Value::Cast { value, .. } => {
            find(value, round, found, name);
        }
        Value::Constant { .. }
        | Value::Name { .. }
        | Value::Item { .. }
        | Value::Index { .. }
        | Value::Holds { .. }
        | Value::Load { .. }
        | Value::Fetch { .. } => {}
    }
}

fn is_read(number: &Value, read: &Read) -> bool {
    let Value::Cast { cast, value } = number else { return false };
    match &**value {
        Value::Load { buffer, index, through: None } => {
            is_cast(*cast, HALF, SINGLE) && *buffer == read.buffer && *index == read.index
        }
        _ => false,
    }
}

/// True if the index is the loop variable `round`, or a sum of it and of terms without it: it then grows by one from
/// one iteration to the next.
fn is_consecutive(index: &Expr, round: &str) -> bool {
    let is_round = |expr: &Expr| *expr == Expr::name(round);
    let mentions = |expr: &Expr| {
        let mut found = false;
        expr.visit(&mut |part| found |= is_round(part));
        found
    };
    match index {
        Expr::Add { args } => {
            let mut own = args.iter().filter(|arg| mentions(arg));
            own.next().is_some_and(is_round) && own.next().is_none()
        }
        other => is_round(other),
    }
}

fn replaced(expr: &Expr, round: &str, by: &Expr) -> Expr {
    expr.map(&|part| if part == Expr::name(round) { by.clone() } else { part })
}

fn is_cast(cast: Cast, from: (Dtype, i64), to: (Dtype, i64)) -> bool {
    (cast.from(), cast.to(), cast.mode()) == (from.0, to.0, CastMode::Round)
}

fn declared(array: &str) -> Stmt {
    let (name, elements) = (array.to_owned(), CPU.half_vector_elements);
    Stmt::Allocate { name, dtype: SINGLE.0, elements, storage: Storage::Private }
}

fn at(buffer: &str, index: Expr, (_, bytes): (Dtype, i64)) -> Strided {
    let stride = Expr::int(CPU.half_vector_elements.saturating_mul(bytes));
    Strided { buffer: buffer.to_owned(), index, stride }
}

type Typed = (Strided, (Dtype, i64));

fn converted((to, wanted): Typed, (from, held): Typed) -> Option<Stmt> {
    let cast = Cast::new(held.0, wanted.0, CastMode::Round).ok()??;
    let (count, elements) = (Expr::int(1), Expr::int(CPU.half_vector_elements));
    Some(Primitive::CastRuns { cast, to, from, count, elements }.into())
}
