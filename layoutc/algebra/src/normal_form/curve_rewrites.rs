//! Normal forms of Hilbert curve operations. The position of a cell and the cell at a position cancel as
//! inverses.

use crate::expr::curve::CurveGrid;
use crate::expr::{BinOp, ExprError, apply};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;

impl Facts {
    /// Normal form of `hilbert(row, column)`. It is `d` if `row` and `column` are those of the cell at position
    /// `d`, and `d` is a position on the curve.
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

    /// Normal form of `hilbert_cell(distance)`. It is `row * columns + column` if `distance` is the position of
    /// the cell at `row` and `column`, and the cell is inside the grid.
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

/// Cell expression and its position `d`, if `p` is the cell at position `d`, or its row (`//`) or column
/// (`%`); `None` otherwise.
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
