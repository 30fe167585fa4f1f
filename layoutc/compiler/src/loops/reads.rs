//! Reads of a statement, and their offsets over the loops of a domain.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};

use crate::loops::access::AffineAccess;
use crate::loops::buffers::KernelBuffer;
use crate::loops::domain::IterationDomain;
use crate::model::compute::{BufferRef, ElementRead, Statement, TypedExpr};

/// Access pattern of the reads of a statement, over the loops of a domain.
pub(crate) struct AccessSummary {
    /// Offset of each read in elements, in affine form, in the order of [`StatementReads::reads`].
    pub(crate) steps: Vec<AffineAccess>,
    /// Numbers of the loops on which the boundary conditions of reads depend; may have duplicates.
    pub(crate) guarded: Vec<usize>,
}

/// Function that returns the access pattern of a statement's reads over the live loops of a domain.
pub(crate) type Reads<'r> = &'r dyn Fn(&IterationDomain) -> Result<AccessSummary, ExprError>;

/// Reads of a statement at affine indices, without duplicates. Reads at data-dependent indices (gathers) are not among
/// them.
#[derive(Debug, Clone)]
pub(crate) struct StatementReads<'a> {
    /// Pairs (read, offset): the offset of an element in the read buffer, in elements, as an expression over the
    /// logical axes of the buffer's tensor.
    pub(crate) reads: Vec<(&'a ElementRead, Algebra)>,
}

impl<'a> StatementReads<'a> {
    /// Reads of a statement's value. `bound` returns the buffer of a reference; reads of a buffer that it does not have
    /// get offset 0.
    pub(crate) fn of(
        statement: &'a Statement,
        bound: &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>,
    ) -> Self {
        Self::of_reads(statement.value.reads(), bound)
    }

    /// Reads of a statement's epilogue, none without an epilogue. `bound` returns the buffer of a reference; reads of a
    /// buffer that it does not have get offset 0.
    pub(crate) fn of_epilogue(
        statement: &'a Statement,
        bound: &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>,
    ) -> Self {
        let reads = statement.epilogue.as_ref().map(TypedExpr::reads);
        Self::of_reads(reads.unwrap_or_default(), bound)
    }

    fn of_reads(
        reads: Vec<&'a ElementRead>,
        bound: &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>,
    ) -> Self {
        let offset = |read: &ElementRead| match bound(read.buffer) {
            Some(found) => found.offset().clone(),
            None => Algebra::constant(0),
        };
        Self { reads: reads.into_iter().map(|read| (read, offset(read))).collect() }
    }

    /// Offset of a read in its buffer, in elements, over the loops of `domain`; 0 if `reads` does not have the read.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn offset(
        &self,
        read: &ElementRead,
        domain: &IterationDomain,
    ) -> Result<Algebra, ExprError> {
        let found = self.reads.iter().find(|(other, _)| *other == read);
        let Some((read, offset)) = found else { return Ok(Algebra::constant(0)) };
        domain.at(offset, &index(read, domain)?)
    }

    /// Affine offsets of all reads, and the loops on which their boundary conditions depend.
    ///
    /// # Errors
    /// As [`StatementReads::offset`].
    pub(crate) fn seen(&self, domain: &IterationDomain) -> Result<AccessSummary, ExprError> {
        let steps = self
            .reads
            .iter()
            .map(|(read, _)| AffineAccess::of(&self.offset(read, domain)?, domain));
        let steps = steps.collect::<Result<_, _>>()?;
        let mut guarded = Vec::new();
        for (read, _) in &self.reads {
            let Some(outside) = &read.outside else { continue };
            for axis in outside.below.iter().chain(&outside.beyond) {
                let Some(index) = read.index.get(*axis) else { continue };
                guarded.extend(domain.mentioned(&domain.at(index, &domain.axes)?));
            }
        }
        Ok(AccessSummary { steps, guarded })
    }
}

/// Logical index of a read over the loops of `domain`, one expression for each axis of the tensor that is read.
///
/// # Errors
/// [`ExprError`] if a value overflows or an expression becomes too large.
pub(crate) fn index(
    read: &ElementRead,
    domain: &IterationDomain,
) -> Result<Vec<Algebra>, ExprError> {
    read.index.iter().map(|index| domain.at(index, &domain.axes)).collect()
}
