//! Fusion of a reduction with the statement after it: if that reads each reduced value at its own element, as a bias, an
//! activation or a conversion of the element type does, it becomes the epilogue of the reduction, and the intermediate
//! needs no memory.

use std::convert::Infallible;

use layoutc_algebra::expr::{Expr, Var};

use super::program::KernelLowering;
use crate::base::dtype::Dtype;
use crate::model::Memory;
use crate::model::compute::{
    BoundaryCondition, BufferRef, DataIndex, ElementRead, Gather, Reduction, Statement, TypedExpr,
    TypedExprKind,
};

/// Fuses all pairs of statements of `program` that can be fused. `cached` are the names of the tensors with a cache, which
/// keep their memory.
pub(super) fn fuse(program: &mut KernelLowering<'_>, cached: &[&str]) {
    let mut first = 0;
    while first + 1 < program.statements.len() {
        match fused(program, first, cached) {
            Some((statement, local)) => {
                program.statements.splice(first..first + 2, [statement]);
                remove(program, local);
            }
            None => first += 1,
        }
    }
}

/// Statement that executes the statements at positions `first` and `first + 1`, and the intermediate that it replaces;
/// `None` if they cannot be fused.
fn fused(
    program: &KernelLowering<'_>,
    first: usize,
    cached: &[&str],
) -> Option<(Statement, usize)> {
    let [reduction, user] = program.statements.get(first..first + 2)? else { return None };
    let BufferRef::Local(local) = reduction.target else { return None };
    let tensor = program.locals.get(local)?;
    let is_stored = program.local(&tensor.name).is_some() || cached.contains(&tensor.name.as_str());
    let reduces = reduction.op != Reduction::Assign
        && !reduction.is_indexed()
        && reduction.epilogue.is_none()
        && reduction.axes.len() > reduction.written_axes;
    let maps =
        user.op == Reduction::Assign && !user.is_indexed() && user.target != reduction.target;
    let element = Dtype { scalar: reduction.accumulator, lanes: 1 };
    if is_stored || !reduces || !maps || tensor.dtype != element {
        return None;
    }
    let mut others = program.statements.iter().enumerate();
    let is_used = others.any(|(k, other)| {
        let is_other = k != first && k != first + 1;
        is_other && (other.target == reduction.target || other.reads(reduction.target))
    });
    let target = program.memory(user.target)?;
    if is_used
        || reduction.reads(user.target)
        || matches!(target.memory, Memory::Image2d | Memory::Image2dArray)
    {
        return None;
    }
    let written = user.axes.get(..user.written_axes)?;
    let own = reduction.axes.get(..reduction.written_axes)?;
    let mut reads = user.value.reads().into_iter().filter(|read| read.buffer == reduction.target);
    let read = reads.next().filter(|read| read.outside.is_none())?;
    if reads.next().is_some() {
        return None;
    }
    let axes = read.permutation(own, written)?;
    let reduced = reduction.axes.get(reduction.written_axes..)?;
    if reduced.iter().any(|axis| written.iter().any(|own| own.name == axis.name)) {
        return None;
    }
    let moved = |var: Var| match var {
        Var::Axis(k) => {
            let k = axes.get(usize::try_from(k).ok()?)?;
            Some(Expr::var(Var::Axis(u32::try_from(*k).ok()?)))
        }
        _ => None,
    };
    // Renaming axes does not enlarge an expression.
    let index = |expr: &Expr| expr.substitute(&moved).unwrap_or_else(|_| expr.clone());
    let value = ValueRewriter { index: &index, read: &|_| None, buffer: &|buffer| buffer };
    let is_it = |other: &ElementRead| (other == read).then_some(TypedExprKind::Reduced);
    let epilogue = ValueRewriter { index: &Expr::clone, read: &is_it, buffer: &|buffer| buffer };
    let statement = Statement {
        target: user.target,
        axes: written.iter().chain(reduced).cloned().collect(),
        written_axes: written.len(),
        value: value.value(&reduction.value),
        epilogue: Some(epilogue.value(&user.value)),
        store: user.store,
        text: format!("{}; {}", reduction.text, user.text),
        numbers: [reduction.numbers[0], user.numbers[1]],
        place: user.place.clone(),
        ..reduction.clone()
    };
    Some((statement, local))
}

/// Removes an intermediate that no statement uses.
fn remove(program: &mut KernelLowering<'_>, local: usize) {
    program.locals.remove(local);
    let buffer = |buffer| match buffer {
        BufferRef::Local(k) if k > local => BufferRef::Local(k - 1),
        other => other,
    };
    let rewriter = ValueRewriter { index: &Expr::clone, read: &|_| None, buffer: &buffer };
    for statement in &mut program.statements {
        statement.target = buffer(statement.target);
        statement.value = rewriter.value(&statement.value);
        statement.epilogue = statement.epilogue.as_ref().map(|value| rewriter.value(value));
        for index in statement.scatter.iter_mut().flatten() {
            index.value = rewriter.value(&index.value);
        }
    }
}

/// Rewriter of values.
struct ValueRewriter<'a> {
    /// Index expression that replaces another.
    index: &'a dyn Fn(&Expr) -> Expr,
    /// Operation that replaces a read; `None`: the read stays.
    read: &'a dyn Fn(&ElementRead) -> Option<TypedExprKind>,
    /// Buffer that replaces another.
    buffer: &'a dyn Fn(BufferRef) -> BufferRef,
}

impl ValueRewriter<'_> {
    fn value(&self, value: &TypedExpr) -> TypedExpr {
        let kind = match &value.kind {
            TypedExprKind::Index(expr) => TypedExprKind::Index((self.index)(expr)),
            TypedExprKind::Read(read) => (self.read)(read)
                .unwrap_or_else(|| TypedExprKind::Read(Box::new(self.element(read)))),
            TypedExprKind::Gather(gather) => {
                let index = gather.index.iter().map(|index| {
                    let (value, is_checked) = (self.value(&index.value), index.is_checked);
                    DataIndex { value, is_checked }
                });
                let (buffer, outside) = ((self.buffer)(gather.buffer), self.value(&gather.outside));
                TypedExprKind::Gather(Box::new(Gather { buffer, index: index.collect(), outside }))
            }
            kind => {
                match kind.with_operands(&mut |operand| Ok::<_, Infallible>(self.value(operand))) {
                    Ok(kind) => kind,
                    Err(never) => match never {},
                }
            }
        };
        TypedExpr { ty: value.ty, kind }
    }

    fn element(&self, read: &ElementRead) -> ElementRead {
        let outside = read.outside.as_ref().map(|outside| BoundaryCondition {
            value: self.value(&outside.value),
            ..outside.clone()
        });
        let index = read.index.iter().map(self.index).collect();
        ElementRead { buffer: (self.buffer)(read.buffer), index, outside }
    }
}
