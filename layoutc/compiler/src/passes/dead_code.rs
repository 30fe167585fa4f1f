//! Dead code elimination: removes declarations that no statement reads, updates of them, and loops and branches
//! without statements.

use crate::ir::{Expr, Function, Part, Stmt, Storage, Value};

/// Removes dead statements from a function, until nothing changes: declarations of constants, variables and private
/// arrays that no statement reads, the stores and updates of these, and loops and branches without statements other
/// than comments, with the comment before them. Two variables that are read only by updates of each other stay.
pub fn dead_code(function: &mut Function) {
    while sweep(&mut function.body) {}
}

/// Removes the dead statements of a body and of those nested in it. Returns true if a statement was removed.
fn sweep(body: &mut Vec<Stmt>) -> bool {
    let length = body.len();
    let mut is_changed = false;
    for stmt in body.iter_mut() {
        for nested in stmt.nested_mut() {
            is_changed |= sweep(nested);
        }
    }
    // From the end to the start: what a dead statement reads may be dead too.
    let mut live: Vec<Stmt> = Vec::with_capacity(length);
    let mut is_described = false;
    for stmt in std::mem::take(body).into_iter().rev() {
        let is_comment = matches!(stmt, Stmt::Comment { .. });
        let name = declared(&stmt).map(str::to_owned);
        if let Some(name) = name.filter(|name| !is_read(live.iter().rev(), name)) {
            live.reverse();
            remove_updates(&mut live, &name);
            live.reverse();
        } else if is_empty(&stmt) {
            // The comment before the statement describes it.
            is_described = true;
            continue;
        } else if !(is_described && is_comment) {
            live.push(stmt);
        }
        is_described = false;
    }
    live.reverse();
    *body = live;
    is_changed || body.len() < length
}

/// True for a loop or a branch without statements other than comments.
fn is_empty(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { .. } | Stmt::If { .. })
        && stmt.nested().flatten().all(|stmt| matches!(stmt, Stmt::Comment { .. }))
}

/// Name of the constant, variable or private array that a statement declares; its scope is the statements that follow.
/// `None` for any other statement.
fn declared(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::Let { name, .. }
        | Stmt::LetIndex { name, .. }
        | Stmt::LetElement { name, .. }
        | Stmt::Variable { name, .. }
        | Stmt::Allocate { name, storage: Storage::Private | Storage::Restrict { .. }, .. } => {
            Some(name)
        }
        _ => None,
    }
}

/// True if one of the consecutive statements `stmts`, or one nested in them, reads the name `name` that is declared
/// before them. Statements after a second declaration of `name` do not count. An update does not read the variable or
/// array that it updates, and a store does not read the array that it writes.
fn is_read<'s>(stmts: impl Iterator<Item = &'s Stmt>, name: &str) -> bool {
    for stmt in stmts {
        let is_shadowed = matches!(stmt, Stmt::For { name: variable, .. } if variable == name);
        if names_itself(stmt, name)
            || !is_shadowed && stmt.nested().any(|nested| is_read(nested.iter(), name))
        {
            return true;
        }
        if declared(stmt) == Some(name) {
            return false;
        }
    }
    false
}

/// Removes from `stmts` the updates and stores of the variable or array `name` that is declared before them, up to a
/// second declaration of `name`.
fn remove_updates(stmts: &mut Vec<Stmt>, name: &str) {
    let is_of_name = |stmt: &Stmt| {
        matches!(
            stmt,
            Stmt::Update {
                into: Value::Name { name: target } | Value::Item { array: target, .. },
                ..
            } | Stmt::Store { buffer: target, .. } if target == name
        )
    };
    let end = stmts.iter().position(|stmt| declared(stmt) == Some(name)).unwrap_or(stmts.len());
    let shadowed = stmts.split_off(end);
    stmts.retain(|stmt| !is_of_name(stmt));
    for nested in stmts.iter_mut().flat_map(Stmt::nested_mut) {
        remove_updates(nested, name);
    }
    stmts.extend(shadowed);
}

/// True if a direct operand of a statement reads `name`; the statements nested in it do not count.
fn names_itself(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    match stmt {
        Stmt::Update { into: Value::Name { .. }, value, .. } => found = value_reads(value, name),
        Stmt::Update { into: Value::Item { index, .. }, value, .. }
        | Stmt::Store { index, value, .. } => {
            found = index_reads(index, name) || value_reads(value, name);
        }
        _ => stmt.parts(&mut |part| {
            found |= match part {
                Part::Index(expr) => index_reads(expr, name),
                Part::Value(value) => value_reads(value, name),
                Part::Buffer(buffer) => buffer == name,
            };
        }),
    }
    found
}

fn index_reads(expr: &Expr, wanted: &str) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(part, Expr::Name { name } if name == wanted));
    found
}

fn value_reads(value: &Value, wanted: &str) -> bool {
    let (mut by_value, mut by_index, mut by_buffer) = (false, false, false);
    value.walk(&mut |value| {
        by_value |= matches!(value, Value::Name { name } | Value::Item { array: name, .. }
            if name == wanted);
    });
    value.visit(&mut |expr| by_index |= index_reads(expr, wanted), &mut |buffer| {
        by_buffer |= buffer == wanted;
    });
    by_value || by_index || by_buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::dtype::Dtype;
    use crate::ir::{LoopKind, ReduceOp, Returns};

    fn loop_of(name: &str, body: Vec<Stmt>) -> Stmt {
        let (from, to, kind) = (Expr::int(0), Expr::name("n"), LoopKind::Serial);
        Stmt::For { name: name.to_owned(), from, to, step: 1, kind, body }
    }

    #[test]
    fn updates_of_values_that_nothing_reads_go_with_their_loops() {
        let dtype = Dtype::parse("f32").unwrap();
        let zero = || Value::Constant { dtype, bits: 0 };
        let variable = |name: &str| Stmt::Variable { name: name.to_owned(), dtype, value: zero() };
        let update = |into: Value, value| Stmt::Update { into, how: ReduceOp::Sum, dtype, value };
        let item = || Value::Item { array: "sums".to_owned(), index: Expr::name("at") };
        let store = |value| Stmt::Store {
            buffer: "b".to_owned(),
            index: Expr::int(0),
            value,
            through: None,
        };
        let sums = Stmt::Allocate {
            name: "sums".to_owned(),
            dtype,
            elements: 8,
            storage: Storage::Private,
        };
        let constant =
            |name: &str, of: &str| Stmt::Let { name: name.to_owned(), value: Expr::name(of) };
        let at = constant("at", "i");
        let store_at = |index: &str| Stmt::Store {
            buffer: "b".to_owned(),
            index: Expr::name(index),
            value: zero(),
            through: None,
        };
        let comment = |text: &str| Stmt::Comment { text: text.to_owned() };
        let body = vec![
            comment("The function."),
            sums,
            variable("dead"),
            variable("live"),
            comment("The sums."),
            loop_of("i", vec![at, update(item(), Value::name("dead")), loop_of("j", Vec::new())]),
            update(Value::name("dead"), zero()),
            // Another constant of a name that is read later.
            loop_of("l", vec![constant("same", "l"), update(Value::name("live"), zero())]),
            loop_of("k", vec![constant("same", "k"), store_at("same")]),
            store(Value::name("live")),
        ];
        let (name, doc, params) = ("f".to_owned(), Vec::new(), Vec::new());
        let mut function = Function { name, doc, returns: Returns::Nothing, params, body };
        dead_code(&mut function);
        let live = vec![
            comment("The function."),
            variable("live"),
            loop_of("l", vec![update(Value::name("live"), zero())]),
            loop_of("k", vec![constant("same", "k"), store_at("same")]),
            store(Value::name("live")),
        ];
        assert_eq!(function.body, live, "{function}");
    }
}
