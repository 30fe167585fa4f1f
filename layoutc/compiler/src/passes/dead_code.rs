//! Dead code elimination: removes index constants that no statement mentions.

use std::collections::BTreeSet;

use crate::ir::{Expr, Function, Part, Stmt, Value};

/// Removes the index constants of a function that no later statement mentions.
pub fn dead_code(function: &mut Function) {
    sweep(&mut function.body, &mut BTreeSet::new());
}

/// Removes dead constants of a body, from its end to its start. `used` holds the names mentioned after the body,
/// and then also those mentioned in it.
fn sweep(body: &mut Vec<Stmt>, used: &mut BTreeSet<String>) {
    let mut live: Vec<Stmt> = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body).into_iter().rev() {
        if matches!(&stmt, Stmt::Let { name, .. } if !used.contains(name)) {
            continue;
        }
        for nested in stmt.nested_mut() {
            sweep(nested, used);
        }
        stmt.parts(&mut |part| mention(part, used));
        live.push(stmt);
    }
    live.reverse();
    *body = live;
}

fn mention(part: Part<'_>, used: &mut BTreeSet<String>) {
    let mut index = |expr: &Expr| {
        expr.visit(&mut |part| {
            if let Expr::Name { name } = part {
                used.insert(name.clone());
            }
        });
    };
    match part {
        Part::Index(expr) => index(expr),
        Part::Value(value) => {
            value.visit(&mut index, &mut |_| {});
            value.walk(&mut |value| {
                if let Value::Name { name } = value {
                    used.insert(name.clone());
                }
            });
        }
        Part::Buffer(_) => {}
    }
}
