//! Fusion of adjacent loops over the same range, which a relayout has if its elements are copied in several parts, such
//! as full tiles and the rest of each row. The parts of a row are then written while its cache lines are in cache.

use crate::ir::{LoopKind, Stmt};

/// Appends the body of each loop to that of the loop before it, if both have the same variable, bounds, step and kind;
/// likewise in the bodies. The loops must write different elements, and read none that either of them writes. Parallel
/// loops whose iterations may write to the same byte are not fused. `name` returns an identifier that is not in use at
/// this point, similar to its argument.
pub fn fuse(body: Vec<Stmt>, name: &mut dyn FnMut(&str) -> String) -> Vec<Stmt> {
    let mut fused: Vec<Stmt> = Vec::with_capacity(body.len());
    for stmt in body {
        match fused.last_mut().and_then(|last| bodies(last, &stmt)) {
            Some((into, more)) => append(into, more, name),
            None => fused.push(stmt),
        }
    }
    for body in fused.iter_mut().flat_map(Stmt::nested_mut) {
        *body = fuse(std::mem::take(body), name);
    }
    fused
}

/// Bodies of two adjacent loops that can be fused; `None` for other statements.
fn bodies<'s>(first: &'s mut Stmt, second: &'s Stmt) -> Option<(&'s mut Vec<Stmt>, &'s [Stmt])> {
    let Stmt::For { name, from, to, step, kind, body: more } = second else { return None };
    let is_packed = |stmt: &Stmt| matches!(stmt, Stmt::Store { through: Some(_), .. });
    let may_share_bytes = *kind == LoopKind::Parallel && second.any(is_packed);
    match first {
        Stmt::For { name: n, from: f, to: t, step: s, kind: k, body }
            if (&*n, &*f, &*t, &*s, &*k) == (name, from, to, step, kind) && !may_share_bytes =>
        {
            Some((body, more))
        }
        _ => None,
    }
}

/// Appends the statements `more` to a body: constants that it has with the same value are left out, and others of the
/// same name renamed.
fn append(into: &mut Vec<Stmt>, more: &[Stmt], name: &mut dyn FnMut(&str) -> String) {
    let mut more = more.to_vec();
    let constants: Vec<Stmt> =
        into.iter().filter(|stmt| matches!(stmt, Stmt::Let { .. })).cloned().collect();
    for constant in &constants {
        more.retain(|stmt| stmt != constant);
        let Stmt::Let { name: taken, .. } = constant else { continue };
        if !more.iter().any(|stmt| stmt.declares(taken)) {
            continue;
        }
        let mut unused = name(taken);
        while into.iter().chain(&more).any(|stmt| stmt.declares(&unused)) {
            unused = name(taken);
        }
        more.iter_mut().for_each(|stmt| redeclare(stmt, taken, &unused));
    }
    into.append(&mut more);
}

/// Renames the index constant `from` in its declaration and in all index expressions.
fn redeclare(stmt: &mut Stmt, from: &str, to: &str) {
    stmt.rename(from, to);
    if let Stmt::Let { name, .. } = stmt
        && name == from
    {
        to.clone_into(name);
    }
    for stmt in stmt.nested_mut().flatten() {
        redeclare(stmt, from, to);
    }
}
