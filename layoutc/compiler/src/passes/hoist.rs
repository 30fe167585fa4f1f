//! Loop-invariant code motion. A quotient or call that has the same value in all iterations of a loop, such as the root
//! of a layer norm, is computed once, before the loop. Compilers of the generated code do not move calls that may set
//! `errno`.

use std::collections::BTreeSet;

use super::Ranges;
use crate::base::dtype::Dtype;
use crate::ir::{Expr, Function, LoopKind, Part, PartMut, Stmt, Value, ValueOp};

/// Moves invariant values that contain a division, a remainder or a call out of the loops of a function, each to a
/// variable before the outermost possible loop. A value is moved out of loops only if it is invariant in them, if they
/// are known to have an iteration, and if every iteration computes the value, outside of branches. The outermost of
/// these loops is not parallel. `ranges` holds the value ranges of the function's parameters; `name` returns an unused
/// identifier similar to its argument.
pub fn hoist(function: &mut Function, ranges: &Ranges, name: &mut dyn FnMut(&str) -> String) {
    let mut hoister = Hoister { ranges: ranges.clone(), name };
    function.body = hoister.body(std::mem::take(&mut function.body));
}

struct Hoister<'a> {
    ranges: Ranges,
    name: &'a mut dyn FnMut(&str) -> String,
}

impl Hoister<'_> {
    /// Statements of a body after hoisting: declarations of the values that are moved out of a loop precede the loop.
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut all = Vec::with_capacity(body.len());
        for mut stmt in body {
            if self.runs(&stmt)
                && let Stmt::For { name, body, kind, .. } = &mut stmt
                && *kind != LoopKind::Parallel
            {
                let mut changed = BTreeSet::from([name.clone()]);
                changes(body, &mut changed);
                let mut moved = Vec::new();
                self.collect(body, &changed, &mut moved);
                let variable = |(value, name, dtype)| Stmt::Variable { name, dtype, value };
                all.extend(moved.into_iter().map(variable));
            }
            for nested in stmt.nested_mut() {
                *nested = self.body(std::mem::take(nested));
            }
            all.push(stmt);
        }
        all
    }

    /// True for a loop that is known to have an iteration.
    fn runs(&self, stmt: &Stmt) -> bool {
        let Stmt::For { from, to, .. } = stmt else { return false };
        let bounds = self.ranges.of(from).zip(self.ranges.of(to));
        bounds.is_some_and(|([_, first], [end, _])| first < end)
    }

    /// Replaces the invariant values that are moved out of a loop by names, in the statements of the loop's body that
    /// every iteration executes. Appends to `moved` a triple (value, name, type) for each distinct value. `changed` are
    /// the names that the loop declares or writes.
    fn collect(
        &mut self,
        body: &mut [Stmt],
        changed: &BTreeSet<String>,
        moved: &mut Vec<(Value, String, Dtype)>,
    ) {
        for stmt in body {
            if matches!(stmt, Stmt::Store { .. } | Stmt::Update { .. } | Stmt::Variable { .. }) {
                stmt.parts_mut(&mut |part| {
                    if let PartMut::Value(value) = part {
                        self.value(value, changed, moved);
                    }
                });
            } else if self.runs(stmt) {
                let nested = stmt.nested_mut();
                nested.for_each(|body| self.collect(body, changed, moved));
            }
        }
    }

    fn value(
        &mut self,
        value: &mut Value,
        changed: &BTreeSet<String>,
        moved: &mut Vec<(Value, String, Dtype)>,
    ) {
        if let Some(dtype) = result(value).filter(|_| is_costly(value) && is_fixed(value, changed))
        {
            let known = moved.iter().find(|(other, ..)| other == value);
            let name = known.map_or_else(|| (self.name)("invariant"), |(_, name, _)| name.clone());
            let old = std::mem::replace(value, Value::Name { name: name.clone() });
            if moved.iter().all(|(other, ..)| *other != old) {
                moved.push((old, name, dtype));
            }
            return;
        }
        // Operands that are not always evaluated stay: the arms of a selection, and the second truth value.
        match value {
            Value::Select { condition: operand, .. }
            | Value::Binary { op: ValueOp::And | ValueOp::Or, a: operand, .. }
            | Value::Negate { a: operand, .. }
            | Value::Not { a: operand }
            | Value::Convert { value: operand, .. }
            | Value::Cast { value: operand, .. } => self.value(operand, changed, moved),
            Value::Binary { a, b, .. } => {
                self.value(a, changed, moved);
                self.value(b, changed, moved);
            }
            Value::Call { args, .. } => {
                args.iter_mut().for_each(|arg| self.value(arg, changed, moved));
            }
            Value::Constant { .. }
            | Value::Name { .. }
            | Value::Item { .. }
            | Value::Index { .. }
            | Value::Holds { .. }
            | Value::Load { .. }
            | Value::Fetch { .. } => {}
        }
    }
}

/// Type of a computed value; `None` for elements, constants, indices, truth values, selections and casts, which are not
/// moved.
fn result(value: &Value) -> Option<Dtype> {
    match value {
        Value::Binary { op, dtype, .. } => {
            let is_truth = op.is_comparison() || matches!(op, ValueOp::And | ValueOp::Or);
            Some(*dtype).filter(|_| !is_truth)
        }
        Value::Call { dtype, .. } | Value::Negate { dtype, .. } => Some(*dtype),
        Value::Convert { to, .. } => Some(*to),
        Value::Constant { .. }
        | Value::Name { .. }
        | Value::Item { .. }
        | Value::Index { .. }
        | Value::Holds { .. }
        | Value::Load { .. }
        | Value::Fetch { .. }
        | Value::Not { .. }
        | Value::Select { .. }
        | Value::Cast { .. } => None,
    }
}

/// True if a value contains a division of floats or integers, a remainder, or a call.
fn is_costly(value: &Value) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        found |= matches!(
            part,
            Value::Call { .. }
                | Value::Binary {
                    op: ValueOp::Divide | ValueOp::FloorDivide | ValueOp::Modulo,
                    ..
                }
        );
    });
    found
}

/// True if a value is invariant in a loop that declares or writes the names `changed`: it uses none of them, contains
/// no selection, and reads no image.
fn is_fixed(value: &Value, changed: &BTreeSet<String>) -> bool {
    let (mut by_value, mut by_index, mut by_buffer) = (true, true, true);
    value.walk(&mut |part| match part {
        Value::Name { name } | Value::Item { array: name, .. } => {
            by_value &= !changed.contains(name);
        }
        Value::Select { .. } | Value::Fetch { .. } => by_value = false,
        _ => {}
    });
    let mut index = |expr: &Expr| {
        if let Expr::Name { name } = expr {
            by_index &= !changed.contains(name);
        }
    };
    value.visit(&mut index, &mut |buffer| by_buffer &= !changed.contains(buffer));
    by_value && by_index && by_buffer
}

/// Adds to `changed` the names that the statements `body`, and those nested in them, declare or write. A buffer counts
/// as written if a primitive or an alias uses it.
fn changes(body: &[Stmt], changed: &mut BTreeSet<String>) {
    for stmt in body {
        stmt.walk(&mut |stmt| {
            match stmt {
                Stmt::For { name, .. }
                | Stmt::Let { name, .. }
                | Stmt::LetIndex { name, .. }
                | Stmt::LetElement { name, .. }
                | Stmt::Variable { name, .. }
                | Stmt::Allocate { name, .. }
                | Stmt::Alias { name, .. }
                | Stmt::Update {
                    into:
                        Value::Name { name }
                        | Value::Item { array: name, .. }
                        | Value::Load { buffer: name, .. },
                    ..
                } => {
                    changed.insert(name.clone());
                }
                Stmt::Declare { names, .. } => changed.extend(names.iter().cloned()),
                _ => {}
            }
            stmt.parts(&mut |part| {
                if let Part::Buffer(buffer) = part {
                    changed.insert(buffer.to_owned());
                }
            });
        });
    }
}
