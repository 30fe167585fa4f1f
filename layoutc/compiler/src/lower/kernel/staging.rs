//! Staging buffers of a statement: their boundary values, declarations and copies.

use crate::base::dtype::Dtype;
use crate::ir::{LoopKind, Stmt, Storage, Value};
use crate::loops::ExecutionModel;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::staged_tile::StagedTile;
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::nest::Nest;
use crate::lower::kernel::value::{convert, float_constant, integer_constant};
use crate::model::compute::{BufferRef, Statement, TileCache, TypedExpr, TypedExprKind};

/// Staging buffer of a tile.
pub(crate) struct StagingBuffer<'a> {
    /// Tile in the buffer.
    pub(crate) tile: StagedTile,
    /// Buffer of the tensor.
    pub(crate) whole: &'a BufferBinding,
    /// Staging buffer that holds the tile.
    pub(crate) part: &'a BufferBinding,
    /// Constant that the tile holds for elements outside the tensor, the boundary value of all reads of the tensor that
    /// have one; `None` if there is no such constant, or the element type cannot hold it.
    pub(crate) outside: Option<Value>,
    /// Numbers of the copy loops, one for each axis of the tile.
    pub(crate) digits: Vec<usize>,
}

impl<'a> StagingBuffer<'a> {
    /// Staging buffer of a tile. `whole` returns the buffer of a tensor, `parts` are the buffers of the schedule's
    /// caches. Adds the copy loops to `domain`.
    ///
    /// # Errors
    /// [`PlanError::Scope`] if the tile has no buffer. [`PlanError::Expr`] if an expression becomes too large.
    pub(crate) fn new(
        statement: &Statement,
        tile: StagedTile,
        (whole, parts): (&dyn Fn(BufferRef) -> Option<&'a BufferBinding>, &'a [BufferBinding]),
        domain: &mut IterationDomain,
    ) -> Result<Self, PlanError> {
        let buffers = whole(tile.cache.buffer).zip(parts.get(tile.position));
        let (whole, part) = buffers.ok_or(PlanError::Scope)?;
        let axes = whole.tensor().layout.logical().iter().zip(&tile.block.extents);
        let digits = axes.map(|(axis, extent)| domain.add_copy_loop(&axis.name, *extent));
        let digits = digits.collect::<Result<_, _>>()?;
        let outside = outside(statement, &tile.cache, whole.tensor().dtype);
        Ok(Self { tile, whole, part, outside, digits })
    }
}

/// Constant that all reads of the cached tensor with a boundary condition have for elements outside, converted to
/// `dtype`. `None` if no read has a boundary condition, the values differ or are no number constants, their type is not
/// the compute type of `dtype`, or a nonzero value is of another type than `dtype`.
fn outside(statement: &Statement, cache: &TileCache, dtype: Dtype) -> Option<Value> {
    let reads = statement.value.reads();
    let mut found: Vec<&TypedExpr> = Vec::new();
    for read in reads.iter().filter(|read| read.buffer == cache.buffer) {
        found.extend(read.outside.as_ref().map(|outside| &outside.value));
    }
    let (first, others) = found.split_first()?;
    if others.iter().any(|other| other != first) || first.ty != dtype.scalar.compute_type() {
        return None;
    }
    let (number, is_zero) = match &first.kind {
        TypedExprKind::Float(float) => (float_constant(first.ty, *float), *float == 0.0),
        TypedExprKind::Integer(integer) => (integer_constant(first.ty, *integer), *integer == 0),
        _ => return None,
    };
    (is_zero || dtype == first.ty.element()).then(|| convert(number, first.ty.element(), dtype))
}

/// Statements `copy`; with `is_shared`, their outermost loops become parallel.
fn shared(mut copy: Vec<Stmt>, is_shared: bool) -> Vec<Stmt> {
    for stmt in &mut copy {
        if let Stmt::For { kind, .. } = stmt
            && is_shared
        {
            *kind = LoopKind::Parallel;
        }
    }
    copy
}

impl Nest<'_> {
    /// Positions in `staged` of the staging buffers that are used in each iteration of the loop `number`.
    pub(crate) fn blocks_at(&self, number: usize) -> Vec<usize> {
        let all = self.staged.iter().enumerate();
        all.filter(|(_, staged)| staged.tile.at == number).map(|(k, _)| k).collect()
    }

    /// Body of the loop `number`, enclosed by the declarations, copy-in and copy-out of the staging buffers that its
    /// iterations use.
    pub(crate) fn with_blocks(
        &mut self,
        number: usize,
        body: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        // If a loop inside is parallel, the copy is too: its iterations write different elements.
        let is_shared = body.iter().any(Stmt::is_parallel);
        for k in self.blocks_at(number) {
            let Some(staged) = self.staged.get(k) else { continue };
            let (name, dtype) = (staged.part.name.clone(), staged.part.tensor().dtype);
            let elements = staged.tile.elements().max(1);
            let (is_written, whole) = (staged.tile.is_written, staged.whole.name.clone());
            let storage = match self.processor {
                ExecutionModel::Cpu(_) => {
                    Storage::Restrict { memory: self.namer.name(&format!("{whole}_memory")) }
                }
                ExecutionModel::Gpu => Storage::Private,
            };
            before.push(Stmt::Allocate { name, dtype, elements, storage });
            if !is_written || self.accumulates_into_output {
                before.push(Stmt::Comment { text: format!("A block of {whole}.") });
                before.extend(shared(self.copied_in(k)?, is_shared));
            }
            if is_written {
                after.push(Stmt::Comment { text: format!("The block goes to {whole}.") });
                after.extend(shared(self.copied_out(k)?, is_shared));
            }
        }
        Ok(before.into_iter().chain(body).chain(after).collect())
    }
}
