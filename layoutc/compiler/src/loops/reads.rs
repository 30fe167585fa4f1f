//! Reads of a statement, and their offsets over the loops of a domain.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};

use crate::loops::access::AffineAccess;
use crate::loops::buffers::KernelBuffer;
use crate::loops::domain::IterationDomain;
use crate::model::compute::{BufferRef, ElementRead, Statement, TypedExpr};

/// Access pattern of the reads of a statement, for the loops of a domain.
pub(crate) struct AccessSummary {
    /// Offset of each read, as a stride for each loop and a remainder.
    pub(crate) steps: Vec<AffineAccess>,
    /// Loops on which the boundary conditions of reads depend.
    pub(crate) guarded: Vec<usize>,
}

/// Computes the access pattern of a statement's reads.
pub(crate) type Reads<'r> = &'r dyn Fn(&IterationDomain) -> Result<AccessSummary, ExprError>;

/// Reads of a statement, without duplicates.
#[derive(Debug, Clone)]
pub(crate) struct StatementReads<'a> {
    /// Each read with the offset of an element of its tensor, as an expression over the tensor's axes.
    pub(crate) reads: Vec<(&'a ElementRead, Algebra)>,
}

impl<'a> StatementReads<'a> {
    /// Reads of a statement's value. Reads of a buffer that `bound` does not have get offset 0.
    pub(crate) fn of(
        statement: &'a Statement,
        bound: &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>,
    ) -> Self {
        Self::of_reads(statement.value.reads(), bound)
    }

    /// Reads of a statement's epilogue; none without an epilogue.
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

    /// Offset of a read, over the loops; 0 if the statement does not have the read.
    ///
    /// # Errors
    /// [`ExprError`] if an expression grows too large.
    pub(crate) fn offset(
        &self,
        read: &ElementRead,
        domain: &IterationDomain,
    ) -> Result<Algebra, ExprError> {
        let found = self.reads.iter().find(|(other, _)| *other == read);
        let Some((read, offset)) = found else { return Ok(Algebra::constant(0)) };
        domain.at(offset, &index(read, domain)?)
    }

    /// Strides of all reads, and the loops on which their boundary conditions depend.
    ///
    /// # Errors
    /// Same as [`StatementReads::offset`].
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

/// Logical index of a read, over the loops.
///
/// # Errors
/// [`ExprError`] if an expression grows too large.
pub(crate) fn index(
    read: &ElementRead,
    domain: &IterationDomain,
) -> Result<Vec<Algebra>, ExprError> {
    read.index.iter().map(|index| domain.at(index, &domain.axes)).collect()
}
