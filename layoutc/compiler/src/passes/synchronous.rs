//! Synchronous copies: a language without asynchronous copies copies elements through registers.

use crate::ir::{Function, Primitive, Stmt, Value};

/// Replaces each [`Primitive::CopyAsync`] of a function by a load and a store, and removes [`Primitive::AwaitCopies`].
pub fn synchronous(function: &mut Function) {
    rewrite(&mut function.body);
}

fn rewrite(body: &mut Vec<Stmt>) {
    body.retain(|stmt| !matches!(stmt, Stmt::Primitive(Primitive::AwaitCopies)));
    for stmt in body {
        if let Stmt::Primitive(Primitive::CopyAsync { to, to_index, from, from_index, .. }) = stmt {
            let (buffer, index) = (from.clone(), from_index.clone());
            let value = Value::Load { buffer, index, through: None };
            let (buffer, index) = (to.clone(), to_index.clone());
            *stmt = Stmt::Store { buffer, index, value, through: None };
        }
        stmt.nested_mut().for_each(rewrite);
    }
}
