//! Traversal of statements: the statements nested in a statement, and its direct operands. An operand is an index
//! expression, an element value or the name of a buffer.

use super::{Expr, LaunchAxis, LoopKind, Primitive, Stmt, Strided, Value};

/// Direct operand of a statement or primitive. Operands of nested statements are no direct operands.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// Index expression, such as a loop bound or the index of a store.
    Index(&'a Expr),
    /// Element value, such as the stored value of a store.
    Value(&'a Value),
    /// Identifier of a buffer, an array or an output parameter.
    Buffer(&'a str),
}

/// Mutable direct operand of a statement or primitive, which a visitor rewrites in place.
#[derive(Debug)]
pub enum PartMut<'a> {
    /// Index expression, such as a loop bound or the index of a store.
    Index(&'a mut Expr),
    /// Element value, such as the stored value of a store.
    Value(&'a mut Value),
}

impl Stmt {
    /// Lists of statements nested directly in this one: the body of a loop or of a `Single`, or both branches of an
    /// `If`. Empty for any other statement.
    pub fn nested(&self) -> impl Iterator<Item = &Vec<Stmt>> {
        let [body, otherwise] = match self {
            Self::For { body, .. } | Self::Single { body } => [Some(body), None],
            Self::If { body, otherwise, .. } => [Some(body), Some(otherwise)],
            _ => [None, None],
        };
        body.into_iter().chain(otherwise)
    }

    /// Mutable lists of statements nested directly in this one: the body of a loop or of a `Single`, or both branches
    /// of an `If`. Empty for any other statement.
    pub fn nested_mut(&mut self) -> impl Iterator<Item = &mut Vec<Stmt>> {
        let [body, otherwise] = match self {
            Self::For { body, .. } | Self::Single { body } => [Some(body), None],
            Self::If { body, otherwise, .. } => [Some(body), Some(otherwise)],
            _ => [None, None],
        };
        body.into_iter().chain(otherwise)
    }

    /// Calls `visit` on this statement, then on the statements nested in it, recursively (pre-order).
    pub fn walk(&self, visit: &mut dyn FnMut(&Stmt)) {
        visit(self);
        for stmt in self.nested().flatten() {
            stmt.walk(visit);
        }
    }

    /// True if `condition` holds for this statement or for a statement nested in it at any depth.
    pub fn any(&self, condition: impl Fn(&Stmt) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |stmt| found |= condition(stmt));
        found
    }

    /// True if this statement, or one nested in it, declares the name `wanted`: as that of a constant, of a variable, a
    /// loop variable or the index of a launch axis, of an array, or of an alias. The fields `memory` and `common` of a
    /// `Storage` do not count.
    pub fn declares(&self, wanted: &str) -> bool {
        self.any(|stmt| match stmt {
            Self::Let { name, .. }
            | Self::LetIndex { name, .. }
            | Self::LetElement { name, .. }
            | Self::Variable { name, .. }
            | Self::Alias { name, .. }
            | Self::Allocate { name, .. } => name == wanted,
            Self::For { name, kind: LoopKind::Thread { round: Some(round) }, .. } => {
                name == wanted || round == wanted
            }
            Self::For { name, .. } => name == wanted,
            Self::Declare { names } => names.iter().any(|name| name == wanted),
            Self::Launch { axes } => axes.iter().any(|axis| axis.name == wanted),
            _ => false,
        })
    }

    /// Replaces the index name `from` by `to` in the index expressions of this statement and of those nested in it.
    /// Declarations keep their names.
    pub fn rename(&mut self, from: &str, to: &str) {
        let replaced = |expr: &Expr| {
            expr.map(&|part| if part == Expr::name(from) { Expr::name(to) } else { part })
        };
        self.parts_mut(&mut |part| match part {
            PartMut::Index(expr) => *expr = replaced(expr),
            PartMut::Value(value) => value.rewrite(&|_| {}, &|expr| *expr = replaced(expr)),
        });
        self.nested_mut().flatten().for_each(|stmt| stmt.rename(from, to));
    }

    /// True if this statement is or contains a loop of kind [`LoopKind::Parallel`].
    pub fn is_parallel(&self) -> bool {
        self.any(|stmt| matches!(stmt, Self::For { kind: LoopKind::Parallel, .. }))
    }

    /// Calls `visit` on each direct operand of this statement; operands of nested statements are left out.
    pub fn parts(&self, visit: &mut dyn FnMut(Part<'_>)) {
        let mut index = |exprs: &[&Expr]| exprs.iter().for_each(|expr| visit(Part::Index(expr)));
        match self {
            Self::Let { value, .. } | Self::Return { value } => index(&[value]),
            Self::Assert { condition } | Self::If { condition, .. } => index(&[condition]),
            Self::For { from, to, .. } => index(&[from, to]),
            Self::Launch { axes } => {
                axes.iter().for_each(|LaunchAxis { extent, .. }| index(&[extent]));
            }
            Self::LetIndex { value, .. } | Self::Variable { value, .. } => {
                visit(Part::Value(value));
            }
            Self::Update { into, value, .. } => {
                visit(Part::Value(into));
                visit(Part::Value(value));
            }
            Self::Store { buffer, index, value, .. } => {
                visit(Part::Buffer(buffer));
                visit(Part::Index(index));
                visit(Part::Value(value));
            }
            Self::StoreByte { buffer, index, .. } => {
                visit(Part::Buffer(buffer));
                visit(Part::Index(index));
            }
            Self::Set { name, value } => {
                visit(Part::Buffer(name));
                visit(Part::Index(value));
            }
            Self::Alias { buffer, .. } => visit(Part::Buffer(buffer)),
            Self::Primitive(primitive) => primitive.parts(visit),
            Self::LetElement { .. }
            | Self::Declare { .. }
            | Self::Allocate { .. }
            | Self::Single { .. }
            | Self::Comment { .. } => {}
        }
    }

    /// Calls `visit` on each index expression and each element value that is a direct operand of this statement, to
    /// rewrite it in place. Nested statements are not visited.
    pub fn parts_mut(&mut self, visit: &mut dyn FnMut(PartMut<'_>)) {
        match self {
            Self::Let { value: index, .. }
            | Self::Return { value: index }
            | Self::Set { value: index, .. }
            | Self::StoreByte { index, .. }
            | Self::Assert { condition: index }
            | Self::If { condition: index, .. } => visit(PartMut::Index(index)),
            Self::For { from, to, .. } => {
                visit(PartMut::Index(from));
                visit(PartMut::Index(to));
            }
            Self::Launch { axes } => {
                axes.iter_mut().for_each(|axis| visit(PartMut::Index(&mut axis.extent)));
            }
            Self::LetIndex { value, .. } | Self::Variable { value, .. } => {
                visit(PartMut::Value(value));
            }
            Self::Update { into, value, .. } => {
                visit(PartMut::Value(into));
                visit(PartMut::Value(value));
            }
            Self::Store { index, value, .. } => {
                visit(PartMut::Index(index));
                visit(PartMut::Value(value));
            }
            Self::Primitive(primitive) => primitive.parts_mut(visit),
            Self::LetElement { .. }
            | Self::Declare { .. }
            | Self::Allocate { .. }
            | Self::Alias { .. }
            | Self::Single { .. }
            | Self::Comment { .. } => {}
        }
    }

    /// Calls `visit` on every index expression of this statement and of the statements nested in it, including operands
    /// of expressions. Calls `name` on each operand [`Part::Buffer`] of these statements, and on the names that
    /// [`Value::visit`] passes to it.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        self.walk(&mut |stmt| {
            stmt.parts(&mut |part| match part {
                Part::Index(expr) => expr.visit(visit),
                Part::Value(value) => value.visit(visit, name),
                Part::Buffer(buffer) => name(buffer),
            });
        });
    }
}

impl Primitive {
    fn parts(&self, visit: &mut dyn FnMut(Part<'_>)) {
        let mut strided = |places: &[&Strided]| {
            for Strided { buffer, index, stride } in places {
                visit(Part::Buffer(buffer));
                visit(Part::Index(index));
                visit(Part::Index(stride));
            }
        };
        match self {
            Self::StoreVector { to, to_index, from, from_index, elements: _ } => {
                visit(Part::Buffer(to));
                visit(Part::Buffer(from));
                [to_index, from_index].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::CopyAsync { dtype: _, to, to_index, from, from_index } => {
                visit(Part::Buffer(to));
                visit(Part::Buffer(from));
                [to_index, from_index].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::Copy { to, to_index, from, from_index, bytes } => {
                visit(Part::Buffer(to));
                visit(Part::Buffer(from));
                [to_index, from_index, bytes].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::CopyRuns { to, from, count, bytes, whole_bytes } => {
                strided(&[to, from]);
                [count, bytes, whole_bytes].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::Transpose { to, from, rows, columns, whole_bytes, blocks, .. } => {
                strided(&[to, from]);
                [rows, columns, whole_bytes].iter().for_each(|expr| visit(Part::Index(expr)));
                if let Some(blocks) = blocks {
                    blocks.exprs().iter().for_each(|expr| visit(Part::Index(expr)));
                }
            }
            Self::CastRuns { cast: _, to, from, count, elements } => {
                strided(&[to, from]);
                [count, elements].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::CastTranspose { cast: _, together: _, to, from, rows, columns, whole_bytes } => {
                strided(&[to, from]);
                [rows, columns, whole_bytes].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::Zero { buffer, index, bytes } => {
                visit(Part::Buffer(buffer));
                [index, bytes].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::ZeroRuns { to, count, bytes } => {
                strided(&[to]);
                [count, bytes].iter().for_each(|expr| visit(Part::Index(expr)));
            }
            Self::TransposeWords { from, first, to, .. } => {
                visit(Part::Buffer(from));
                visit(Part::Buffer(to));
                visit(Part::Index(first));
            }
            Self::Fence { whole_bytes } => visit(Part::Index(whole_bytes)),
            Self::Call { args, .. } => args.iter().for_each(|arg| visit(Part::Index(arg))),
            Self::StoreTexel { args, value, .. } => {
                args.iter().for_each(|arg| visit(Part::Index(arg)));
                visit(Part::Value(value));
            }
            Self::Barrier | Self::AwaitCopies => {}
        }
    }

    fn parts_mut(&mut self, visit: &mut dyn FnMut(PartMut<'_>)) {
        let mut exprs: Vec<&mut Expr> = Vec::new();
        match self {
            Self::StoreVector { to_index, from_index, .. }
            | Self::CopyAsync { to_index, from_index, .. } => {
                exprs.extend([to_index, from_index]);
            }
            Self::Copy { to_index, from_index, bytes, .. } => {
                exprs.extend([to_index, from_index, bytes]);
            }
            Self::CopyRuns { to, from, count, bytes, whole_bytes } => {
                exprs.extend([&mut to.index, &mut to.stride, &mut from.index, &mut from.stride]);
                exprs.extend([count, bytes, whole_bytes]);
            }
            Self::Transpose { to, from, rows, columns, whole_bytes, blocks, .. } => {
                exprs.extend([&mut to.index, &mut to.stride, &mut from.index, &mut from.stride]);
                exprs.extend([rows, columns, whole_bytes]);
                exprs.extend(blocks.iter_mut().flat_map(|blocks| blocks.exprs_mut()));
            }
            Self::CastRuns { to, from, count, elements, .. } => {
                exprs.extend([&mut to.index, &mut to.stride, &mut from.index, &mut from.stride]);
                exprs.extend([count, elements]);
            }
            Self::CastTranspose { to, from, rows, columns, whole_bytes, .. } => {
                exprs.extend([&mut to.index, &mut to.stride, &mut from.index, &mut from.stride]);
                exprs.extend([rows, columns, whole_bytes]);
            }
            Self::Zero { index, bytes, .. } => exprs.extend([index, bytes]),
            Self::ZeroRuns { to, count, bytes } => {
                exprs.extend([&mut to.index, &mut to.stride, count, bytes]);
            }
            Self::TransposeWords { first, .. } => exprs.push(first),
            Self::Fence { whole_bytes } => exprs.push(whole_bytes),
            Self::Call { args, .. } => exprs.extend(args),
            Self::StoreTexel { args, value, .. } => {
                exprs.extend(args);
                visit(PartMut::Value(value));
            }
            Self::Barrier | Self::AwaitCopies => {}
        }
        exprs.into_iter().for_each(|expr| visit(PartMut::Index(expr)));
    }
}

impl super::stmt::Blocks {
    fn exprs(&self) -> [&Expr; 4] {
        [&self.to_step, &self.from_step, &self.from_next, &self.count]
    }

    fn exprs_mut(&mut self) -> [&mut Expr; 4] {
        [&mut self.to_step, &mut self.from_step, &mut self.from_next, &mut self.count]
    }
}
