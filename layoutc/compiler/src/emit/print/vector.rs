//! Detection of unrolled loops that copy array elements to a buffer, printed as one vector store: gcc would extract the
//! elements of a vector register one by one.

use super::stmts::Writer;
use crate::emit::syntax::{Expr, Number, Operand, Stmt};

/// Store of consecutive elements of an array to consecutive elements of a buffer.
pub(super) struct VectorStore<'a> {
    elements: i64,
    buffer: &'a str,
    /// Index of the first element in the buffer.
    to: Expr,
    array: &'a str,
    /// Index of the first element in the array.
    from: Expr,
}

/// Vector store of an unroll directive and the loop after it: unit-stride copy of 2, 4, 8 or 16 array elements, the
/// only statement of the loop. `None` for any other pair of statements.
pub(super) fn vector_store<'a>(unroll: &Stmt, stmt: &'a Stmt) -> Option<VectorStore<'a>> {
    let (Stmt::Unroll { rounds }, Stmt::For { name, from, to, step: 1, body, .. }) = (unroll, stmt)
    else {
        return None;
    };
    let is_whole = *from == Expr::int(0) && *to == Expr::int(*rounds);
    let elements = Some(*rounds).filter(|n| is_whole && [2, 4, 8, 16].contains(n))?;
    let [Stmt::Store { buffer, index, value: Operand::Number { value }, through: None }] =
        &body[..]
    else {
        return None;
    };
    let Number::Item { array, index: item } = value else { return None };
    Some(VectorStore { elements, buffer, to: first(index, name)?, array, from: first(item, name)? })
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

impl Writer<'_> {
    /// True if the dialect has a vector store and the source is a numeric array declared so far.
    pub(super) fn is_vector(&self, store: &VectorStore<'_>) -> bool {
        !self.dialect.store_vector.is_empty() && self.arrays.contains(&store.array)
    }

    pub(super) fn vector_store(&mut self, store: &VectorStore<'_>, depth: usize) {
        let elements = store.elements.to_string();
        self.begin(depth, &[self.dialect.store_vector, "(", &elements, ", "]);
        self.put_address(store.buffer, &store.to);
        self.put(&[", "]);
        self.put_address(store.array, &store.from);
        self.put(&[");\n"]);
    }
}
