//! Resolution of calls of `morton`, `bitrev` and `hilbert` in a map to expressions, with checks of the ranges of
//! their arguments.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::{MapErrorKind, MapResolver};
use crate::expr::curve::CurveGrid;
use crate::expr::functions;
use crate::expr::parse::{IndexAst, Span};
use crate::expr::{BinOp, Expr, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::Interval;
use crate::normal_form::written_extent::interval;

impl MapResolver<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[IndexAst], span: &Span) -> Option<Expr> {
        let wanted = match name {
            "bitrev" if arguments.len() != 2 => "an expression and a number of bits",
            "morton" if arguments.is_empty() => "an expression or more",
            "hilbert" if !matches!(arguments.len(), 2 | 4) => {
                "a row and a column, and the rows and columns of the box if it is larger"
            }
            "morton" | "bitrev" | "hilbert" => "",
            _ => {
                self.error(MapErrorKind::UnknownFunction(name.to_string()), span);
                return None;
            }
        };
        if !wanted.is_empty() {
            let (name, given) = (name.to_string(), arguments.len());
            self.error(MapErrorKind::Arguments { name, wanted, given }, span);
            return None;
        }
        if let ("bitrev", [x, bits]) = (name, arguments) {
            let (x, count) = (self.argument(name, x), self.simplified(bits));
            let count = count?.as_const().and_then(|count| u32::try_from(count).ok());
            let Some(count) = count.filter(|count| *count <= 62) else {
                self.error(MapErrorKind::Bits, &bits.span);
                return None;
            };
            return self.ok_or_record(functions::bitrev(&x?.0, count), span);
        }
        if let ("hilbert", [row, column, sides @ ..]) = (name, arguments) {
            return self.hilbert(row, column, sides, span);
        }
        let parts: Vec<Option<(Expr, u32)>> =
            arguments.iter().map(|argument| self.argument(name, argument)).collect();
        let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
        self.ok_or_record(functions::morton(&parts), span)
    }

    /// Resolves a call `hilbert(row, column)` or `hilbert(row, column, rows, columns)` to a position on the Hilbert
    /// curve of a box. `sides` contains `rows` and `columns`, or is empty; the box then has the extents of the
    /// arguments. Records an error and returns `None` if the call is invalid.
    fn hilbert(
        &mut self,
        row: &IndexAst,
        column: &IndexAst,
        sides: &[IndexAst],
        span: &Span,
    ) -> Option<Expr> {
        let (rows, columns) = (self.side(row, sides.first()), self.side(column, sides.get(1)));
        let ((row, rows), (column, columns)) = (rows?, columns?);
        let side = |extent: i128| u32::try_from(extent).ok();
        let grid = side(rows).zip(side(columns));
        let Some(grid) = grid.and_then(|(rows, columns)| CurveGrid::new(rows, columns)) else {
            self.error(MapErrorKind::Cells { rows, columns }, span);
            return None;
        };
        self.ok_or_record(Expr::binary(BinOp::Hilbert(grid), &row, &column), span)
    }

    /// Resolves an expression and simplifies it: `2 * M` becomes 16 for `const M 8`. Records an error and returns `None`
    /// if the expression is invalid.
    fn simplified(&mut self, ast: &IndexAst) -> Option<Expr> {
        let expr = self.expr(ast)?;
        self.ok_or_record(self.scope.facts.simplify(&expr), &ast.span)
    }

    /// Resolves an argument of `hilbert`. Returns the pair `(index, extent)`: `index` is the argument as an expression,
    /// and `extent` is the extent of the box along it. This is `written` if the call states an extent, otherwise the
    /// upper bound of the argument plus 1. Records an error and returns `None` if the argument is invalid.
    fn side(&mut self, ast: &IndexAst, written: Option<&IndexAst>) -> Option<(Expr, i128)> {
        let (argument, written) =
            (self.ranged("hilbert", ast), written.map(|w| (self.simplified(w), w)));
        let (expr, found) = argument?;
        let Some((extent, place)) = written else {
            let Some(high) = found.high.as_constant() else {
                let bounds = self.scope.facts.numeric(&found.high);
                let most = self.bounds_or_record(bounds, &ast.span)?.1.saturating_add(1);
                let name = "hilbert".to_string();
                self.error(MapErrorKind::ArgumentExtent { name, most }, &ast.span);
                return None;
            };
            return Some((expr, high.max(0) + 1));
        };
        let Some(extent) = extent?.as_const().filter(|extent| *extent > 0) else {
            self.error(MapErrorKind::Side, &place.span);
            return None;
        };
        let high = self.scope.facts.numeric(&found.high);
        let (_, high) = self.bounds_or_record(high, &ast.span)?;
        if high >= extent {
            self.error(MapErrorKind::BeyondBox { high, extent }, &ast.span);
            return None;
        }
        Some((expr, extent))
    }

    /// Resolves an argument of the function `name`. Returns the pair `(index, bits)`: `index` is the argument as an
    /// expression, and `bits` is the number of bits of its upper bound. Records an error and returns `None` if the
    /// argument is invalid.
    fn argument(&mut self, name: &str, ast: &IndexAst) -> Option<(Expr, u32)> {
        let (expr, found) = self.ranged(name, ast)?;
        let bounds = self.scope.facts.numeric(&found.high);
        let (_, high) = self.bounds_or_record(bounds, &ast.span)?;
        Some((expr, 128 - high.max(0).leading_zeros()))
    }

    /// Resolves an argument of the function `name`. Returns the pair `(index, interval)`: `index` is the argument as an
    /// expression, and `interval` contains its values, by interval arithmetic on the expression as written. Records an
    /// error and returns `None` if the argument is invalid, or its bounds are not within `0..2^62`.
    fn ranged(&mut self, name: &str, ast: &IndexAst) -> Option<(Expr, Interval)> {
        let expr = self.expr(ast)?;
        let range = |var| match var {
            Var::Storage(k) => {
                let axis = self.scope.axes.get(usize::try_from(k).ok()?)?;
                let extent = self.scope.facts.normalize(&axis.extent).ok()?;
                Some(Interval { low: Poly::zero(), high: extent.plus(-1).ok()? })
            }
            _ => None,
        };
        let facts = self.scope.facts;
        let found = interval(&expr, &range, facts).and_then(|found| {
            let bounds = (facts.numeric(&found.low)?.0, facts.numeric(&found.high)?.1);
            Ok((found, bounds))
        });
        let (found, (low, high)) = match found {
            Ok(found) => found,
            Err(error) => {
                self.error(MapErrorKind::Expr(error), &ast.span);
                return None;
            }
        };
        if low < 0 || high >= 1 << 62 {
            let name = name.to_string();
            self.error(MapErrorKind::ArgumentRange { name, low, high }, &ast.span);
            return None;
        }
        Some((expr, found))
    }
}
