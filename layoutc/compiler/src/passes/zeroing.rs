//! Fusion of loops that zero padding with loops that copy elements: cache lines that contain elements and padding are
//! then written while they are in cache.

use crate::ir::{Function, Primitive, Stmt};

/// Moves the body of each loop that only zeroes runs to the end of the body of the first later loop with the same
/// variable, bounds and step, and removes the former loop. A loop without such a later one stays. Only loops at the top
/// level of the function are fused.
pub fn zeroing(function: &mut Function) {
    let mut rest = std::mem::take(&mut function.body).into_iter();
    while let Some(stmt) = rest.next() {
        let runs = zeroed_runs(&stmt);
        match runs.and_then(|runs| Some((same_loop(&stmt, rest.as_mut_slice())?, runs))) {
            Some((body, runs)) => body.extend(runs.iter().cloned()),
            None => function.body.push(stmt),
        }
    }
}

/// Body of a loop that only zeroes runs; `None` for any other statement.
fn zeroed_runs(stmt: &Stmt) -> Option<&[Stmt]> {
    let Stmt::For { body, .. } = stmt else { return None };
    let is_zeroing = |stmt: &Stmt| matches!(stmt, Stmt::Primitive(Primitive::ZeroRuns { .. }));
    (!body.is_empty() && body.iter().all(is_zeroing)).then_some(body)
}

/// Body of the first loop among `stmts` that has the variable, bounds and step of the loop `wanted`; `None` if there is
/// none.
fn same_loop<'s>(wanted: &Stmt, stmts: &'s mut [Stmt]) -> Option<&'s mut Vec<Stmt>> {
    let Stmt::For { name, from, to, step, .. } = wanted else { return None };
    stmts.iter_mut().find_map(|stmt| match stmt {
        Stmt::For { name: n, from: f, to: t, step: s, body, .. }
            if (&*n, &*f, &*t, &*s) == (name, from, to, step) =>
        {
            Some(body)
        }
        _ => None,
    })
}
