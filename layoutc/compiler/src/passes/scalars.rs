//! Scalars: a private array of one element becomes a variable.

use std::cell::Cell;

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Expr, Function, Part, PartMut, ReduceOp, Stmt, Storage, Value};

/// Replaces the private arrays of one element in a function by variables, each declared where its element is first
/// written. An array stays if
/// - its type is `bool`, a vector, or a type whose arithmetic is done in another type, such as f16
/// - the first statement that uses it is not a store of its element, in the statement list of the declaration, of a
///   value without the element
/// - a later use is not a read, store or update of its element, or its name is declared again
/// - a parallel loop uses it, because the threads of a region share arrays, not variables
pub fn scalars(function: &mut Function) {
    rewrite(&mut function.body);
}

fn rewrite(body: &mut Vec<Stmt>) {
    let mut at = 0;
    while let Some(stmt) = body.get(at) {
        match scalar(stmt).and_then(|(name, dtype)| first_write(body, at, &name, dtype)) {
            Some((first, declaration)) => {
                let Stmt::Variable { name, dtype, .. } = &declaration else { return };
                let (name, dtype) = (name.clone(), *dtype);
                for stmt in body.iter_mut().skip(first) {
                    replace(stmt, &name, dtype);
                }
                if let Some(slot) = body.get_mut(first) {
                    *slot = declaration;
                }
                body.remove(at);
            }
            None => at = at.saturating_add(1),
        }
    }
    body.iter_mut().flat_map(Stmt::nested_mut).for_each(rewrite);
}

/// Pair of the name and the element type of the array of one element that `stmt` declares in private memory. `None` for
/// any other statement, and if the type is `bool`, a vector, or a type whose arithmetic is done in another type.
fn scalar(stmt: &Stmt) -> Option<(String, Dtype)> {
    let Stmt::Allocate { name, dtype, elements: 1, storage: Storage::Private } = stmt else {
        return None;
    };
    let is_own = dtype.scalar.compute_type() == dtype.scalar && dtype.lanes == 1;
    (is_own && dtype.scalar != Scalar::Bool).then(|| (name.clone(), *dtype))
}

/// First write of the array `name` that is declared at the position `at` of `body`: the pair of the position of the
/// store, which is the first statement that uses the array, and of the declaration of a variable that replaces the
/// store. `None` if that statement is not a store of the element, of a value without the element, if a use is not a
/// read or write of the element, or if a parallel loop uses the array.
fn first_write(body: &[Stmt], at: usize, name: &str, dtype: Dtype) -> Option<(usize, Stmt)> {
    let after = || body.iter().enumerate().skip(at).skip(1);
    let (first, stmt) = after().find(|(_, stmt)| uses(stmt, name) != Some(0))?;
    let Stmt::Store { buffer, index, value, through: None } = stmt else { return None };
    let is_write = buffer == name && *index == Expr::int(0) && uses(stmt, name) == Some(1);
    let is_plain = after()
        .all(|(_, stmt)| uses(stmt, name).is_some_and(|uses| uses == 0 || !stmt.is_parallel()));
    let declaration = || Stmt::Variable { name: name.to_owned(), dtype, value: value.clone() };
    (is_write && is_plain).then(|| (first, declaration()))
}

/// Number of reads and writes of the element of the array `name` in a statement and those nested in it. `None` if the
/// statement uses the array otherwise, or declares the name again.
fn uses(stmt: &Stmt, name: &str) -> Option<usize> {
    let (known, named) = (Cell::new(0_usize), Cell::new(0_usize));
    let count =
        |counter: &Cell<usize>, is_it: bool| counter.set(counter.get() + usize::from(is_it));
    let index = |part: &Expr| count(&named, *part == Expr::name(name));
    let buffer = |buffer: &str| count(&named, buffer == name);
    stmt.walk(&mut |stmt| {
        if let Stmt::Store { buffer, index, through: None, .. } = stmt {
            count(&known, buffer == name && *index == Expr::int(0));
        }
        if let Stmt::Let { name: own, .. }
        | Stmt::LetIndex { name: own, .. }
        | Stmt::LetElement { name: own, .. }
        | Stmt::Variable { name: own, .. }
        | Stmt::Allocate { name: own, .. }
        | Stmt::For { name: own, .. } = stmt
        {
            buffer(own);
        }
        stmt.parts(&mut |part| match part {
            Part::Buffer(own) => buffer(own),
            Part::Index(expr) => expr.visit(&mut |part| index(part)),
            Part::Value(value) => {
                value.walk(&mut |value| {
                    count(&known, is_element(value, name));
                    if let Value::Item { array: own, .. } | Value::Name { name: own } = value {
                        buffer(own);
                    }
                });
                value.visit(&mut |part| index(part), &mut |own| buffer(own));
            }
        });
    });
    (known == named).then_some(known.get())
}

/// True if `value` is the element 0 of the array `name`.
fn is_element(value: &Value, name: &str) -> bool {
    match value {
        Value::Load { buffer, index, through: None } => buffer == name && *index == Expr::int(0),
        Value::Item { array, index } => array == name && *index == Expr::int(0),
        _ => false,
    }
}

/// Replaces the element of the array `name` by a variable of the same name and of type `dtype`, in a statement and
/// those nested in it. Stores become updates of the variable.
fn replace(stmt: &mut Stmt, name: &str, dtype: Dtype) {
    stmt.parts_mut(&mut |part| {
        if let PartMut::Value(value) = part {
            let variable = |value: &mut Value| {
                if is_element(value, name) {
                    *value = Value::name(name);
                }
            };
            value.rewrite(&variable, &|_| {});
        }
    });
    if let Stmt::Store { buffer, value, .. } = stmt
        && buffer == name
    {
        let (into, how) = (Value::name(name), ReduceOp::Set);
        *stmt = Stmt::Update { into, how, dtype, value: value.clone() };
    }
    stmt.nested_mut().flatten().for_each(|stmt| replace(stmt, name, dtype));
}
