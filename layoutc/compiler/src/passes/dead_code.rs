//! Dead code elimination: removes declarations that no statement reads, updates of them, and loops and branches
//! without statements.

use std::collections::BTreeSet;

use crate::ir::{Expr, Function, Part, Stmt, Storage, Value};

/// Removes from a function the constants, variables and private arrays that no statement reads, the statements
/// that update them, and loops and branches without statements, until none is left.
pub fn dead_code(function: &mut Function) {
    loop {
        let mut read = BTreeSet::new();
        function.body.iter().for_each(|stmt| reads(stmt, &mut read));
        if !sweep(&mut function.body, &read) {
            return;
        }
    }
}

/// Removes the dead statements of a body and of those nested in it. `read` holds the names that the function reads.
/// Returns true if a statement was removed.
fn sweep(body: &mut Vec<Stmt>, read: &BTreeSet<String>) -> bool {
    let length = body.len();
    let mut is_changed = false;
    for stmt in body.iter_mut() {
        for nested in stmt.nested_mut() {
            is_changed |= sweep(nested, read);
        }
    }
    let mut live: Vec<Stmt> = Vec::with_capacity(length);
    for stmt in std::mem::take(body) {
        if !is_dead(&stmt, read) {
            live.push(stmt);
        } else if matches!(stmt, Stmt::For { .. } | Stmt::If { .. })
            && matches!(live.last(), Some(Stmt::Comment { .. }))
        {
            // The comment describes the removed statement.
            live.pop();
        }
    }
    *body = live;
    is_changed || body.len() < length
}

fn is_dead(stmt: &Stmt, read: &BTreeSet<String>) -> bool {
    match stmt {
        Stmt::Let { name, .. }
        | Stmt::LetIndex { name, .. }
        | Stmt::LetElement { name, .. }
        | Stmt::Variable { name, .. }
        | Stmt::Allocate { name, storage: Storage::Private | Storage::Restrict { .. }, .. }
        | Stmt::Update { into: Value::Name { name } | Value::Item { array: name, .. }, .. } => {
            !read.contains(name)
        }
        Stmt::For { .. } | Stmt::If { .. } => {
            stmt.nested().flatten().all(|stmt| matches!(stmt, Stmt::Comment { .. }))
        }
        _ => false,
    }
}

/// Adds the names that a statement and those nested in it read to `names`. The target of an update is read only by
/// statements that name it elsewhere.
fn reads(stmt: &Stmt, names: &mut BTreeSet<String>) {
    stmt.walk(&mut |stmt| match stmt {
        Stmt::Update { into: Value::Name { .. }, value, .. } => value_reads(value, names),
        Stmt::Update { into: Value::Item { index: at, .. }, value, .. } => {
            index_reads(at, names);
            value_reads(value, names);
        }
        _ => stmt.parts(&mut |part| match part {
            Part::Index(expr) => index_reads(expr, names),
            Part::Value(value) => value_reads(value, names),
            Part::Buffer(buffer) => {
                names.insert(buffer.to_owned());
            }
        }),
    });
}

fn index_reads(expr: &Expr, names: &mut BTreeSet<String>) {
    expr.visit(&mut |part| {
        if let Expr::Name { name } = part {
            names.insert(name.clone());
        }
    });
}

fn value_reads(value: &Value, names: &mut BTreeSet<String>) {
    value.walk(&mut |value| {
        if let Value::Name { name } | Value::Item { array: name, .. } = value {
            names.insert(name.clone());
        }
    });
    let mut buffers = BTreeSet::new();
    value.visit(&mut |expr| index_reads(expr, names), &mut |buffer| {
        buffers.insert(buffer.to_owned());
    });
    names.append(&mut buffers);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::dtype::Dtype;
    use crate::ir::{LoopKind, Returns, Update};

    fn loop_of(name: &str, body: Vec<Stmt>) -> Stmt {
        let (from, to, kind) = (Expr::int(0), Expr::name("n"), LoopKind::Serial);
        Stmt::For { name: name.to_owned(), from, to, step: 1, kind, body }
    }

    #[test]
    fn updates_of_values_that_nothing_reads_go_with_their_loops() {
        let dtype = Dtype::parse("f32").unwrap();
        let zero = || Value::Constant { dtype, bits: 0 };
        let variable = |name: &str| Stmt::Variable { name: name.to_owned(), dtype, value: zero() };
        let update = |into: Value, value| Stmt::Update { into, how: Update::Sum, dtype, value };
        let item = || Value::Item { array: "sums".to_owned(), index: Expr::name("at") };
        let store = |value| Stmt::Store {
            buffer: "b".to_owned(),
            index: Expr::int(0),
            value,
            through: None,
        };
        let sums = Stmt::Allocate {
            name: "sums".to_owned(),
            element: "f32".to_owned(),
            elements: 8,
            storage: Storage::Private,
        };
        let at = Stmt::Let { name: "at".to_owned(), value: Expr::name("i") };
        let comment = |text: &str| Stmt::Comment { text: text.to_owned() };
        let body = vec![
            comment("The function."),
            sums,
            variable("dead"),
            variable("live"),
            comment("The sums."),
            loop_of("i", vec![at, update(item(), Value::name("dead")), loop_of("j", Vec::new())]),
            update(Value::name("dead"), zero()),
            loop_of("k", vec![update(Value::name("live"), zero())]),
            store(Value::name("live")),
        ];
        let (name, doc, params) = ("f".to_owned(), Vec::new(), Vec::new());
        let mut function = Function { name, doc, returns: Returns::Nothing, params, body };
        dead_code(&mut function);
        let live = vec![
            comment("The function."),
            variable("live"),
            loop_of("k", vec![update(Value::name("live"), zero())]),
            store(Value::name("live")),
        ];
        assert_eq!(function.body, live, "{function}");
    }
}
