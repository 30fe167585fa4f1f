//! Vector stores: a loop that copies elements of a private array to consecutive elements of a buffer becomes one store
//! of a vector. For the loop, gcc would extract the elements of a vector register one by one.

use crate::base::dtype::Scalar;
use crate::ir::{Expr, Function, LoopKind, Primitive, Stmt, Storage, Value};

/// Numbers of elements that one [`Primitive::StoreVector`] can write.
const ELEMENTS: [i64; 4] = [2, 4, 8, 16];

/// Replaces the completely unrolled loops of a function that copy 2, 4, 8 or 16 adjacent elements of a private array,
/// whose type is not `bool`, to adjacent elements of a buffer, and do nothing else, by [`Primitive::StoreVector`].
pub fn vector_stores(function: &mut Function) {
    rewrite(&mut function.body, &mut Vec::new());
}

/// Replaces the loops of a body by vector stores where possible. `arrays` are the names of the private arrays, of other
/// types than `bool`, declared before the body; it is unchanged after the call.
fn rewrite(body: &mut [Stmt], arrays: &mut Vec<String>) {
    let outside = arrays.len();
    for stmt in body {
        if let Stmt::Allocate { name, dtype, storage: Storage::Private, .. } = stmt
            && dtype.scalar != Scalar::Bool
        {
            arrays.push(name.clone());
        }
        match vector_store(stmt, arrays) {
            Some(store) => *stmt = store.into(),
            None => stmt.nested_mut().for_each(|body| rewrite(body, arrays)),
        }
    }
    arrays.truncate(outside);
}

/// Vector store that replaces the loop `stmt`; `None` if `stmt` is not a loop that [`vector_stores`] replaces. `arrays`
/// are the names of the arrays that a vector store can read.
fn vector_store(stmt: &Stmt, arrays: &[String]) -> Option<Primitive> {
    let Stmt::For { name, from, to, step: 1, kind: LoopKind::Unrolled(elements), body } = stmt
    else {
        return None;
    };
    let [Stmt::Store { buffer, index, value: Value::Item { array, index: item }, through: None }] =
        body.as_slice()
    else {
        return None;
    };
    let is_whole = *from == Expr::int(0) && *to == Expr::int(*elements);
    if !is_whole || !ELEMENTS.contains(elements) || !arrays.contains(array) {
        return None;
    }
    let (to, from) = (buffer.clone(), array.clone());
    let (to_index, from_index) = (first(index, name)?, first(item, name)?);
    Some(Primitive::StoreVector { to, to_index, from, from_index, elements: *elements })
}

/// Index in the first iteration of the loop over `name`; `None` unless the index is `name` plus terms without `name`.
fn first(index: &Expr, name: &str) -> Option<Expr> {
    let is_loop = |expr: &Expr| matches!(expr, Expr::Name { name: own } if own == name);
    let mut left: Vec<Expr> = match index {
        Expr::Add { args } => args.clone(),
        other => vec![other.clone()],
    };
    left.remove(left.iter().position(is_loop)?);
    let mut is_left = false;
    left.iter().for_each(|arg| arg.visit(&mut |part| is_left |= is_loop(part)));
    match left.len() {
        _ if is_left => None,
        0 => Some(Expr::int(0)),
        1 => left.pop(),
        _ => Some(Expr::Add { args: left }),
    }
}
