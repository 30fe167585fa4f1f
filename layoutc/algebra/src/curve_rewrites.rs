//! Places on a curve in the normal form: there and back is where one was.

use crate::curve::CurveGrid;
use crate::expr::{BinOp, ExprError, apply};
use crate::monomial::Atom;
use crate::poly::Poly;
use crate::simplify::Facts;

impl Facts {
    /// How far along a curve a cell is: that of the cell at `d`, where `d` lies on the curve, is `d`.
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

    /// The cell at a distance along a curve: at that of a cell of the box it is the cell.
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

    /// Whether `0 <= p < extent` for all values.
    fn stays_below(&self, p: &Poly, extent: u32) -> Result<bool, ExprError> {
        let left = Poly::constant(i128::from(extent) - 1).sub(p)?;
        Ok(self.at_least_zero(p)? && self.at_least_zero(&left)?)
    }
}

/// `(cell, d)` of a polynomial that is the cell at `d`, or a quotient or remainder of it.
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
