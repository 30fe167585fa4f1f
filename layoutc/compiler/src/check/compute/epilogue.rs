//! Fusion of a reduction with the next statement, which must read each reduced value only at the element that it
//! writes, as a bias, an activation or a conversion of the element type does. That statement then becomes the epilogue
//! of the reduction, and the intermediate between the two needs no memory.

use std::convert::Infallible;

use layoutc_algebra::expr::{Expr, Var};

use super::program::KernelLowering;
use crate::base::dtype::Dtype;
use crate::manifest::syntax::{InstanceItem, KernelItem, ScheduleKind};
use crate::model::Memory;
use crate::model::compute::{
    BoundaryCondition, BufferRef, DataIndex, ElementRead, Gather, Reduction, Statement, TypedExpr,
    TypedExprKind, UnfusedStatements,
};

/// Fuses each reduction in `program` with the next statement where [`fused`] allows it. `directives` are those of the
/// kernel and of the instance. A pair stays apart if a directive caches the intermediate or a tensor that only the
/// second statement reads, or names a loop that the fused statement does not have. Returns the statements before the
/// fusion; `None` if none was fused.
pub(super) fn fuse(
    program: &mut KernelLowering<'_>,
    directives: &Directives<'_>,
) -> Option<UnfusedStatements> {
    let (mut unfused, mut first) = (None, 0);
    while first + 1 < program.statements.len() {
        match fused(program, first, directives) {
            Some((statement, local)) => {
                unfused.get_or_insert_with(|| UnfusedStatements {
                    locals: program.locals.clone(),
                    statements: program.statements.clone(),
                });
                program.statements.splice(first..first + 2, [statement]);
                remove(program, local);
            }
            None => first += 1,
        }
    }
    unfused
}

/// Names that occur in the schedule directives of a kernel and of an instance.
pub(super) struct Directives<'a> {
    /// Names of the tensors that `cache` directives cache.
    cached: Vec<&'a str>,
    /// Names of the loops that schedule directives refer to, except `cache` and complete schedules.
    loops: Vec<&'a str>,
    /// Names of the new loops of `fuse` directives outside of complete schedules.
    fused: Vec<&'a str>,
}

impl<'a> Directives<'a> {
    /// Directives of a kernel, and of an instance of it.
    pub(super) fn new(kernel: &'a KernelItem, instance: Option<&'a InstanceItem>) -> Self {
        let own = instance.map_or(&[][..], |item| &item.schedule);
        let caches = instance.map_or(&[][..], |item| &item.caches);
        let complete = kernel.complete.iter().chain(instance.into_iter().flat_map(|i| &i.complete));
        let of_complete = complete.flat_map(|schedule| &schedule.caches);
        let cached = kernel.caches.iter().chain(caches).chain(of_complete);
        let (mut loops, mut fused) = (Vec::new(), Vec::new());
        for item in kernel.schedule.iter().chain(own) {
            loops.extend(item.kind.loops().into_iter().map(|name| name.value.as_str()));
            if let ScheduleKind::Fuse { name, .. } = &item.kind {
                fused.push(name.value.as_str());
            }
        }
        let cached = cached.map(|cache| cache.tensor.value.as_str()).collect();
        Self { cached, loops, fused }
    }
}

/// Pair `(statement, local)`: `statement` executes the statements at the positions `first` and `first + 1`, and `local`
/// is the position of the intermediate that is no longer needed. `None` if the two statements cannot be fused.
fn fused(
    program: &KernelLowering<'_>,
    first: usize,
    directives: &Directives<'_>,
) -> Option<(Statement, usize)> {
    let [reduction, user] = program.statements.get(first..first + 2)? else { return None };
    let BufferRef::Local(local) = reduction.target else { return None };
    let tensor = program.locals.get(local)?;
    let is_stored = program.local(&tensor.name).is_some();
    let is_cached =
        directives.cached.iter().filter_map(|name| program.buffer(name)).any(|buffer| {
            buffer == reduction.target || user.reads(buffer) && !reduction.reads(buffer)
        });
    let reduces = reduction.op != Reduction::Assign
        && !reduction.is_indexed()
        && reduction.epilogue.is_none()
        && reduction.axes.len() > reduction.written_axes;
    let maps =
        user.op == Reduction::Assign && !user.is_indexed() && user.target != reduction.target;
    let element = Dtype { scalar: reduction.accumulator, lanes: 1 };
    if is_stored || is_cached || !reduces || !maps || tensor.dtype != element {
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
    let storage = target.layout.storage();
    let names = written.iter().chain(storage).map(|axis| axis.name.as_str());
    if reduced.iter().any(|axis| names.clone().any(|name| name == axis.name)) {
        return None;
    }
    // A split of the loop `k` gives the loops `k_outer` and `k_inner`, which may be split again.
    let is_loop = |name: &str| {
        let mut wholes = std::iter::successors(Some(name), |name| {
            name.strip_suffix("_outer").or_else(|| name.strip_suffix("_inner"))
        });
        wholes.any(|name| {
            storage.iter().chain(reduced).any(|axis| axis.name == name)
                || directives.fused.contains(&name)
        })
    };
    if !directives.loops.iter().all(|name| is_loop(name)) {
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
        numbers: reduction.numbers.zip(user.numbers).map(|([first, _], [_, last])| [first, last]),
        place: user.place.clone(),
        ..reduction.clone()
    };
    Some((statement, local))
}

/// Removes the intermediate at position `local`, which no statement uses, and renumbers the references to later ones.
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

/// Rewriter of typed expressions that replaces index expressions, reads and buffers, each by a function of its own.
struct ValueRewriter<'a> {
    /// Function that returns the index expression to write in place of the given one.
    index: &'a dyn Fn(&Expr) -> Expr,
    /// Function that returns the operation to write in place of the given read. `None`: the read stays, with its index
    /// and its buffer replaced.
    read: &'a dyn Fn(&ElementRead) -> Option<TypedExprKind>,
    /// Function that returns the buffer to read in place of the given one.
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
