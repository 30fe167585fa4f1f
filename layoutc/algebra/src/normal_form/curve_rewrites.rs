//! Normal forms of the Hilbert curve operations `hilbert(row, column)`, the position of a cell along the curve, and
//! `hilbert_cell(position)`, the cell at a position. Inside the grid, the two operations cancel as inverses.

use crate::expr::curve::CurveGrid;
use crate::expr::{BinOp, ExprError, apply};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;

impl Facts {
    /// Normal form of `hilbert(row, column)`, the position of a cell along the curve of `grid`: an integer for
    /// constant arguments, `d` if the cell is `hilbert_cell(d)` and `0 <= d < cells` is proven, otherwise an atom.
    pub(crate) fn distance(
        &self,
        grid: CurveGrid,
        row: Poly,
        column: Poly,
    ) -> Result<Poly, ExprError> {
        if let (Some(row), Some(column)) = (row.as_constant(), column.as_constant()) {
            return Ok(Poly::constant(apply(BinOp::Hilbert(grid), row, column)?));
        }
        let columns = Poly::constant(grid.columns().into());
        for (cell, distance) in [cell_in(grid, &row), cell_in(grid, &column)].into_iter().flatten()
        {
            if self.stays_below(distance, grid.cells())?
                && self.floor_div(&cell, &columns)? == row
                && self.modulo(&cell, &columns)? == column
            {
                return Ok(distance.clone());
            }
        }
        Ok(Poly::op(BinOp::Hilbert(grid), row, column))
    }

    /// Normal form of `hilbert_cell(distance)`, the cell at a position along the curve of `grid`: an integer for a
    /// constant, `row * columns + column` if `distance` is `hilbert(row, column)` and the cell is proven inside the
    /// grid, otherwise an atom.
    pub(crate) fn cell(&self, grid: CurveGrid, distance: Poly) -> Result<Poly, ExprError> {
        if let Some(distance) = distance.as_constant() {
            return Ok(Poly::constant(apply(BinOp::HilbertCell(grid), distance, 0)?));
        }
        if let Some(Atom::Op(op, row, column)) = distance.as_atom()
            && *op == BinOp::Hilbert(grid)
            && self.stays_below(row, grid.rows())?
            && self.stays_below(column, grid.columns())?
        {
            return row.scale(grid.columns().into())?.add_owned(column);
        }
        Ok(Poly::op(BinOp::HilbertCell(grid), distance, Poly::zero()))
    }

    /// True if `0 <= p < extent` is proven for all values of the variables.
    fn stays_below(&self, p: &Poly, extent: u32) -> Result<bool, ExprError> {
        let left = Poly::constant(i128::from(extent) - 1).sub(p)?;
        Ok(self.at_least_zero(p)? && self.at_least_zero(&left)?)
    }
}

/// Pair `(cell, d)` if `p` is `hilbert_cell(d)`, or a quotient (row) or remainder (column) of `hilbert_cell(d)`; `cell`
/// is the polynomial `hilbert_cell(d)`. `None` otherwise.
fn cell_in(grid: CurveGrid, p: &Poly) -> Option<(Poly, &Poly)> {
    let cell = match p.as_atom()? {
        Atom::Op(BinOp::FloorDiv | BinOp::Mod, x, _) => &**x,
        _ => p,
    };
    match cell.as_atom()? {
        Atom::Op(op, distance, _) if *op == BinOp::HilbertCell(grid) => {
            Some((cell.clone(), distance))
        }
        _ => None,
    }
}
