//! Common subexpressions of index constants: a constant with the value of an earlier one is replaced by it.

use crate::ir::{Expr, Function, Stmt};

/// Removes each index constant whose value is that of an earlier constant that is visible there, and replaces its uses
/// by the earlier one: statements that compute the same row then share the offset of the row. Only constants whose
/// names differ in their number only are merged, as `x0` and `x1`: offsets in two buffers stay apart, also where they
/// are equal. A constant whose value is such a name, as in `x1 = x0`, is removed too. A constant stays if its value is
/// an integer or any other single name, or if one of the two names is declared again after it.
pub fn merge_constants(function: &mut Function) {
    merge(&mut function.body, &mut Vec::new());
}

/// Pairs (value, name) of the visible constants.
type Known = Vec<(Expr, String)>;

/// Merges the constants of a body, and those of the bodies nested in it, with each other and with the constants `known`
/// that are declared outside.
fn merge(body: &mut Vec<Stmt>, known: &mut Known) {
    let outside = known.clone();
    let mut at = 0;
    while let Some((stmt, after)) = body.get_mut(at..).and_then(<[Stmt]>::split_first_mut) {
        if let Some((name, same)) = equal(stmt, known)
            && !after.iter().any(|stmt| stmt.declares(&name) || stmt.declares(&same))
        {
            after.iter_mut().for_each(|stmt| stmt.rename(&name, &same));
            body.remove(at);
            continue;
        }
        for nested in stmt.nested_mut() {
            let mut visible = known.clone();
            visible.retain(|(value, name)| !nested.iter().any(|stmt| hides(stmt, value, name)));
            merge(nested, &mut visible);
        }
        known.retain(|(value, name)| !hides(stmt, value, name));
        if let Stmt::Let { name, value } = stmt {
            known.push((value.clone(), name.clone()));
        }
        at = at.saturating_add(1);
    }
    *known = outside;
}

/// Pair of the name of the constant that a statement declares, and of the name of the same stem that replaces it: its
/// value, or the constant in `known` with the same value. `None` if there is none, for other statements, and for
/// integers.
fn equal(stmt: &Stmt, known: &Known) -> Option<(String, String)> {
    let Stmt::Let { name, value } = stmt else { return None };
    match value {
        Expr::Int { .. } => return None,
        Expr::Name { name: same } => {
            return (stem(same) == stem(name)).then(|| (name.clone(), same.clone()));
        }
        _ => {}
    }
    let is_same = |(other, own): &&(Expr, String)| other == value && stem(own) == stem(name);
    let (_, same) = known.iter().find(is_same)?;
    Some((name.clone(), same.clone()))
}

/// Stem of a name, without the digits at its end: `x` of `x12`.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// True if the statement, or one nested in it, declares `name` or a name in `value` again: the constant `name`, whose
/// value is `value`, is then hidden.
fn hides(stmt: &Stmt, value: &Expr, name: &str) -> bool {
    let mut hidden = stmt.declares(name);
    value.visit(&mut |part| {
        if let Expr::Name { name } = part {
            hidden |= stmt.declares(name);
        }
    });
    hidden
}
