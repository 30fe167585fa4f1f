//! Elements of 16-bit floats in runs. Processors convert a whole vector of them by one instruction, which compilers do not find: so
//! a loop that computes elements by themselves converts a run of what it reads, computes, and converts a run of what it writes.

use super::super::tree::{Expr, Gathering, Number, NumberOp, Operand, Stmt, Strided};

/// Elements of a run: a vector of 64 bytes of f32, which stays in a register.
const RUN: i64 = 16;

/// The types on the way, with their bytes.
const HALF: (&str, i64) = ("f16", 2);
const SINGLE: (&str, i64) = ("f32", 4);

/// The statements with innermost loops over f16 in runs; `name` gives names that are free.
pub(super) fn in_runs(body: Vec<Stmt>, name: &mut dyn FnMut(&str) -> String) -> Vec<Stmt> {
    let mut all: Vec<Stmt> = Vec::new();
    for mut stmt in body {
        if !matches!(all.last(), Some(Stmt::Unroll { .. }))
            && let Some(runs) = loop_in_runs(&stmt, name)
        {
            all.extend(runs);
            continue;
        }
        match &mut stmt {
            Stmt::For { body, .. } | Stmt::Share { body, .. } | Stmt::Single { body } => {
                *body = in_runs(std::mem::take(body), name);
            }
            Stmt::If { body, otherwise, .. } => {
                *body = in_runs(std::mem::take(body), name);
                *otherwise = in_runs(std::mem::take(otherwise), name);
            }
            _ => {}
        }
        all.push(stmt);
    }
    all
}

/// A place that a run is read from, and the array that holds it.
struct Read {
    buffer: String,
    index: Expr,
    array: String,
}

fn loop_in_runs(stmt: &Stmt, name: &mut dyn FnMut(&str) -> String) -> Option<Vec<Stmt>> {
    let Stmt::For { name: round, from, to, step: 1, parallel: false, body } = stmt else {
        return None;
    };
    let [Stmt::Store { buffer, index, value, through: None }] = body.as_slice() else {
        return None;
    };
    let Operand::Number { value } = value else { return None };
    let whole = whole_runs(from, to)?;
    let (value, is_half) = match value {
        Number::Cast { cast, value } if *cast == cast_of(SINGLE, HALF) && goes_on(index, round) => {
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
                *number = Number::Item { array: read.array.clone(), index: Expr::name(&lane) };
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
        let (to, from) = (at(array, Expr::int(0), SINGLE), at(buffer, at_run(index), HALF));
        inside.push(converted(cast_of(HALF, SINGLE), to, from));
    }
    let element = SINGLE.0.to_owned();
    let lanes = |body: Stmt| Stmt::For {
        name: lane.clone(),
        from: Expr::int(0),
        to: Expr::int(RUN),
        step: 1,
        parallel: false,
        body: vec![body],
    };
    if is_half {
        let array = name(&format!("{buffer}_run"));
        let into = Number::Item { array: array.clone(), index: Expr::name(&lane) };
        inside.push(declared(&array));
        inside.push(lanes(Stmt::Gather { into, how: Gathering::Set, element, value }));
        let (to, from) = (at(buffer, at_run(index), HALF), at(&array, Expr::int(0), SINGLE));
        inside.push(converted(cast_of(SINGLE, HALF), to, from));
    } else {
        let (buffer, index) = (buffer.clone(), replaced(index, round, &here));
        let value = Operand::Number { value };
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
    let (from, parallel) = (from.clone(), false);
    all.push(Stmt::For { name: run, from, to: end.clone(), step: RUN, parallel, body: inside });
    if end != *to {
        let (name, body) = (round.clone(), body.clone());
        all.push(Stmt::For { name, from: end, to: to.clone(), step: 1, parallel, body });
    }
    Some(all)
}

/// One past the last round of a whole run; `None` where there is none.
fn whole_runs(from: &Expr, to: &Expr) -> Option<Expr> {
    if let (Expr::Int { value: from }, Expr::Int { value: to }) = (from, to) {
        let rounds = to.checked_sub(*from)?;
        let whole = rounds.checked_sub(rounds.checked_rem(RUN)?)?;
        return from.checked_add(whole).filter(|_| whole > 0).map(Expr::int);
    }
    let zero = Expr::int(0);
    let rounds = if *from == zero {
        to.clone()
    } else {
        Expr::Add { args: vec![to.clone(), Expr::Neg { a: Box::new(from.clone()) }] }
    };
    let (a, b) = (Box::new(rounds.max(zero.clone())), Box::new(Expr::int(RUN)));
    let whole = Expr::Mul { args: vec![Expr::Div { a, b }, Expr::int(RUN)] };
    Some(if *from == zero { whole } else { Expr::Add { args: vec![from.clone(), whole] } })
}

/// The runs that a value reads in every round: not those of which a condition says whether they are there.
fn find(value: &Number, round: &str, found: &mut Vec<Read>, name: &mut dyn FnMut(&str) -> String) {
    match value {
        Number::Cast { cast, value: read } if *cast == cast_of(HALF, SINGLE) => {
            let Number::Load { buffer, index, through: None } = &**read else { return };
            let is_new = !found.iter().any(|read| is_read(value, read));
            if is_new && goes_on(index, round) {
                let (buffer, index) = (buffer.clone(), index.clone());
                let array = name(&format!("{buffer}_run"));
                found.push(Read { buffer, index, array });
            }
        }
        Number::Select { condition, .. } => find(condition, round, found, name),
        Number::Binary { op: NumberOp::And | NumberOp::Or, a, .. } => find(a, round, found, name),
        Number::Binary { a, b, .. } => {
            find(a, round, found, name);
            find(b, round, found, name);
        }
        Number::Negate { a, .. } | Number::Not { a } => find(a, round, found, name),
        Number::Call { args, .. } => {
            for arg in args {
                find(arg, round, found, name);
            }
        }
        Number::Convert { value, .. } | Number::Cast { value, .. } => {
            find(value, round, found, name);
        }
        Number::Constant { .. }
        | Number::Name { .. }
        | Number::Item { .. }
        | Number::Index { .. }
        | Number::Holds { .. }
        | Number::Load { .. }
        | Number::Fetch { .. } => {}
    }
}

fn is_read(number: &Number, read: &Read) -> bool {
    let Number::Cast { cast, value } = number else { return false };
    match &**value {
        Number::Load { buffer, index, through: None } => {
            *cast == cast_of(HALF, SINGLE) && *buffer == read.buffer && *index == read.index
        }
        _ => false,
    }
}

/// Whether an index grows by one from round to round.
fn goes_on(index: &Expr, round: &str) -> bool {
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

fn cast_of(from: (&str, i64), to: (&str, i64)) -> String {
    format!("{}_to_{}", from.0, to.0)
}

fn declared(array: &str) -> Stmt {
    let (name, element) = (array.to_owned(), SINGLE.0.to_owned());
    Stmt::DeclareArray { name, element, elements: RUN }
}

fn at(buffer: &str, index: Expr, (_, bytes): (&str, i64)) -> Strided {
    let stride = Expr::int(RUN.saturating_mul(bytes));
    Strided { buffer: buffer.to_owned(), index, stride }
}

fn converted(cast: String, to: Strided, from: Strided) -> Stmt {
    Stmt::CastRuns { cast, to, from, count: Expr::int(1), elements: Expr::int(RUN) }
}
