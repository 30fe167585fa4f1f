//! Hilbert curves in the checker. The position of a cell along a curve is a digit, one for each combination of grid,
//! row and column.
//!
//! The checker does not rely on the definition of a curve: it verifies for each grid that the curve visits every cell
//! once.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use super::{Certificate, CertificateError};
use crate::expr::curve::CurveGrid;
use crate::expr::{BinOp, Expr, ExprError, ExprNode, apply};
use crate::prove::Executor;
use crate::prove::executor::prove_cached;

/// Digit that stands for `hilbert(row, column)`, the position of a cell along the Hilbert curve of `grid`. `digit` is
/// the position of the digit in [`CheckerContext::digits`].
pub(super) struct CurveDigit {
    grid: CurveGrid,
    row: Sum,
    column: Sum,
    digit: usize,
}

/// Grids of all Hilbert curves in the composed targets and in the composed physical indices.
/// [`CertificateError::Curve`] if a curve does not visit every cell of its grid exactly once.
pub(super) fn visited(
    certificate: &Certificate<'_>,
    executor: &dyn Executor,
) -> Result<BTreeSet<CurveGrid>, CertificateError> {
    let mut grids = BTreeSet::new();
    for expr in certificate.composed_targets.iter().chain(certificate.composed_physical) {
        collect(expr, &mut grids);
    }
    for grid in &grids {
        let question = || alloc::format!("visits every cell once: {grid:?}");
        let visits = || visits_every_cell(*grid);
        if !prove_cached(executor, i128::from(grid.cells()), question, visits)? {
            return Err(CertificateError::Curve(grid.rows(), grid.columns()));
        }
    }
    Ok(grids)
}

fn collect(expr: &Expr, grids: &mut BTreeSet<CurveGrid>) {
    match expr.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => {}
        ExprNode::Neg(a) => collect(a, grids),
        ExprNode::Bin(op, a, b) => {
            if let BinOp::Hilbert(grid) | BinOp::HilbertCell(grid) = op {
                grids.insert(*grid);
            }
            collect(a, grids);
            collect(b, grids);
        }
    }
}

/// True if the curve visits every cell of `grid` once: every cell has a position in `0..cells`, and this position maps
/// back to the cell, so that no two cells share a position.
fn visits_every_cell(grid: CurveGrid) -> Result<bool, ExprError> {
    let (columns, cells) = (i128::from(grid.columns()), i128::from(grid.cells()));
    for cell in 0..cells {
        let distance = apply(BinOp::Hilbert(grid), cell / columns, cell % columns)?;
        let back = apply(BinOp::HilbertCell(grid), distance, 0)?;
        if !(0..cells).contains(&distance) || back != cell {
            return Ok(false);
        }
    }
    Ok(true)
}

impl CheckerContext<'_> {
    /// Position along the curve of `grid` of the cell at `row` and `column`, as a digit. A cell with an equal row and
    /// column reuses the digit. [`ExprError::Unbound`] if the cell is not proven to be inside the grid on every
    /// element, or the curve is not verified.
    pub(super) fn distance(
        &self,
        grid: CurveGrid,
        row: Sum,
        column: Sum,
    ) -> Result<Sum, ExprError> {
        if !self.curves.contains(&grid) {
            return Err(ExprError::Unbound);
        }
        let extent = |n: u32| Sum::constant(i128::from(n));
        if !self.stays_inside(&row, &extent(grid.rows()))?
            || !self.stays_inside(&column, &extent(grid.columns()))?
        {
            return Err(ExprError::Unbound);
        }
        for place in self.places.borrow().iter().filter(|place| place.grid == grid) {
            if self.equal(&place.row, &row)? && self.equal(&place.column, &column)? {
                return Ok(Sum::factor(Factor::Digit(place.digit), 1));
            }
        }
        let digit = self.add_digit(extent(grid.cells() - 1), None);
        self.places.borrow_mut().push(CurveDigit { grid, row, column, digit });
        Ok(Sum::factor(Factor::Digit(digit), 1))
    }

    /// Linear index `row * columns + column` of the cell at the position `distance` along the curve of `grid`;
    /// [`ExprError::Unbound`] unless `distance` equals a digit that [`Self::distance`] returned.
    pub(super) fn cell(&self, grid: CurveGrid, distance: &Sum) -> Result<Sum, ExprError> {
        let known: Vec<(usize, Sum, Sum)> = {
            let places = self.places.borrow();
            let own = places.iter().filter(|place| place.grid == grid);
            own.map(|place| (place.digit, place.row.clone(), place.column.clone())).collect()
        };
        for (digit, row, column) in known {
            if self.equal(distance, &Sum::factor(Factor::Digit(digit), 1))? {
                let columns = Sum::constant(i128::from(grid.columns()));
                return row.times(&columns)?.plus_owned(&column);
            }
        }
        Err(ExprError::Unbound)
    }
}
