//! Fusion of adjacent loops over the same range, which a relayout has if its elements are copied in several parts, such
//! as full tiles and the rest of each row. The parts of a row are then written while its cache lines are in cache.

use std::collections::BTreeSet;

use crate::ir::{LoopKind, Stmt};

/// Appends the body of each loop to that of the loop before it, if both have the same variable, bounds and step;
/// likewise in the bodies. The loops must write different elements, and read none that either of them writes. The fused
/// loop is parallel if one of the two is: a loop that is not has too few elements for threads of its own. Loops stay
/// apart if their kinds differ otherwise, or if iterations of a parallel loop might write to the same byte. `name`
/// returns an identifier that is not in use outside of `body`, similar to its argument.
pub fn fuse(body: Vec<Stmt>, name: &mut dyn FnMut(&str) -> String) -> Vec<Stmt> {
    let mut declared = BTreeSet::new();
    for stmt in &body {
        stmt.walk(&mut |stmt| {
            if let Stmt::For { name, .. } | Stmt::Let { name, .. } = stmt {
                declared.insert(name.clone());
            }
        });
    }
    let mut unused = |wanted: &str| {
        let mut found = name(wanted);
        while !declared.insert(found.clone()) {
            found = name(wanted);
        }
        found
    };
    fuse_loops(body, &mut unused)
}

fn fuse_loops(body: Vec<Stmt>, unused: &mut dyn FnMut(&str) -> String) -> Vec<Stmt> {
    let mut fused: Vec<Stmt> = Vec::with_capacity(body.len());
    for stmt in body {
        match fused.last_mut().and_then(|last| bodies(last, &stmt)) {
            Some((into, more)) => append(into, more, unused),
            None => fused.push(stmt),
        }
    }
    for body in fused.iter_mut().flat_map(Stmt::nested_mut) {
        *body = fuse_loops(std::mem::take(body), unused);
    }
    fused
}

/// Bodies of two adjacent loops that can be fused, the first with the kind of the fused loop; `None` for other
/// statements.
fn bodies<'s>(first: &'s mut Stmt, second: &'s Stmt) -> Option<(&'s mut Vec<Stmt>, &'s [Stmt])> {
    let kind = fused_kind(first, second)?;
    let Stmt::For { name, from, to, step, body: more, .. } = second else { return None };
    match first {
        Stmt::For { name: n, from: f, to: t, step: s, kind: own, body }
            if (&*n, &*f, &*t, &*s) == (name, from, to, step) =>
        {
            *own = kind;
            Some((body, more))
        }
        _ => None,
    }
}

/// Kind of the loop that two loops are fused to; `None` if their kinds do not allow it.
fn fused_kind(first: &Stmt, second: &Stmt) -> Option<LoopKind> {
    let (Stmt::For { kind: a, .. }, Stmt::For { kind: b, .. }) = (first, second) else {
        return None;
    };
    if *a != LoopKind::Parallel && *b != LoopKind::Parallel {
        return (a == b).then(|| a.clone());
    }
    let is_packed = |stmt: &Stmt| matches!(stmt, Stmt::Store { through: Some(_), .. });
    let may_be_parallel = |stmt: &Stmt, kind: &LoopKind| {
        !stmt.any(is_packed)
            && (*kind == LoopKind::Parallel || *kind == LoopKind::Serial && !stmt.is_parallel())
    };
    (may_be_parallel(first, a) && may_be_parallel(second, b)).then_some(LoopKind::Parallel)
}

/// Appends the statements `more` to a body, and their index constants to those at its start, so that loops of both are
/// adjacent. Constants that the body has with the same value are left out. Others that have the name of a constant or
/// loop variable anywhere in the body are renamed: the fusion of inner loops must not change what a name means.
fn append(into: &mut Vec<Stmt>, more: &[Stmt], unused: &mut dyn FnMut(&str) -> String) {
    let mut more = more.to_vec();
    let constants: Vec<Stmt> = into.iter().filter(|stmt| is_constant(stmt)).cloned().collect();
    for constant in &constants {
        more.retain(|stmt| stmt != constant);
        let Stmt::Let { name: taken, .. } = constant else { continue };
        rename_in(&mut more, taken, unused);
    }
    let mut names = BTreeSet::new();
    for stmt in &more {
        stmt.walk(&mut |stmt| {
            if let Stmt::Let { name, .. } = stmt {
                names.insert(name.clone());
            }
        });
    }
    for name in names.iter().filter(|name| into.iter().any(|stmt| stmt.declares(name))) {
        rename_in(&mut more, name, unused);
    }
    let head = into.iter().take_while(|stmt| is_constant(stmt)).count();
    let (own, rest): (Vec<Stmt>, Vec<Stmt>) = more.into_iter().partition(is_constant);
    into.splice(head..head, own);
    into.extend(rest);
}

/// Renames the index constant `taken` of a body, if it declares one.
fn rename_in(body: &mut [Stmt], taken: &str, unused: &mut dyn FnMut(&str) -> String) {
    if body.iter().any(|stmt| stmt.declares(taken)) {
        let new = unused(taken);
        body.iter_mut().for_each(|stmt| redeclare(stmt, taken, &new));
    }
}

/// True for a constant whose value depends on no memory, only on constants and loop variables.
fn is_constant(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let { .. })
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
