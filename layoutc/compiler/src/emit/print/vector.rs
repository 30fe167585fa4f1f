//! A loop that stores a vector, told from others: gcc would take the elements out of their vector one by one.

use super::stmts::Writer;
use crate::emit::syntax::{Expr, Number, Operand, Stmt};

/// Elements of an array that are stored side by side.
pub(super) struct VectorStore<'a> {
    elements: i64,
    buffer: &'a str,
    /// The first element there.
    to: Expr,
    array: &'a str,
    /// The first of them.
    from: Expr,
}

/// What two statements store, where they are a loop that is written out and its only store.
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

/// The index of the first element, where each is one after the one before.
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
    /// Whether such elements are stored at once in this language.
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
