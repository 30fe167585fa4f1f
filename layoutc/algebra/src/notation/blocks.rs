//! What letter notations share: storage axes that are runs of an axis' digits.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::layout::Axis;
use crate::map::{IndexMap, MapItem, unique};

/// A run of an axis' digits: `axis // div`, below `modulus` if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisBlock {
    /// The axis, by position.
    pub(super) axis: usize,
    /// What stands below it in the axis.
    pub(super) div: i128,
    /// Its extent; `None`: it is the axis' highest piece.
    pub(super) modulus: Option<i128>,
}

impl AxisBlock {
    /// A whole axis.
    pub(super) fn whole(axis: usize) -> Self {
        Self { axis, div: 1, modulus: None }
    }

    fn index(&self) -> Result<Expr, ExprError> {
        let mut index = Expr::var(Var::Storage(u32::try_from(self.axis).unwrap_or(u32::MAX)));
        if self.div != 1 {
            index = Expr::binary(BinOp::FloorDiv, &index, &Expr::constant(self.div))?;
        }
        match self.modulus {
            Some(modulus) => Expr::binary(BinOp::Mod, &index, &Expr::constant(modulus)),
            None => Ok(index),
        }
    }

    /// How many values it has; the last of a highest piece may be beyond the axis.
    fn extent(&self, axes: &[Axis]) -> Result<Expr, ExprError> {
        if let Some(modulus) = self.modulus {
            return Ok(Expr::constant(modulus));
        }
        let whole = axes.get(self.axis).map_or_else(|| Expr::constant(1), |a| a.extent.clone());
        if self.div == 1 {
            return Ok(whole);
        }
        let up = Expr::binary(BinOp::Add, &whole, &Expr::constant(self.div - 1))?;
        Expr::binary(BinOp::FloorDiv, &up, &Expr::constant(self.div))
    }

    fn name(&self, axes: &[Axis]) -> String {
        let axis = axes.get(self.axis).map_or("", |axis| axis.name.as_str());
        match (self.div, self.modulus) {
            (1, None) => String::from(axis),
            (_, None) => format!("{axis}_outer"),
            (_, Some(_)) => format!("{axis}_inner"),
        }
    }
}

/// The map whose storage axes are these; each is made of pieces, major to minor. One without pieces has the extent 1.
pub(super) fn map(dims: &[Vec<AxisBlock>], axes: &[Axis]) -> Result<IndexMap, ExprError> {
    let mut taken = BTreeSet::new();
    let mut items = Vec::new();
    for pieces in dims {
        let mut index: Option<Expr> = None;
        for piece in pieces {
            let own = piece.index()?;
            index = Some(match index {
                None => own,
                Some(above) => {
                    let scaled = Expr::binary(BinOp::Mul, &above, &piece.extent(axes)?)?;
                    Expr::binary(BinOp::Add, &scaled, &own)?
                }
            });
        }
        let names: Vec<String> = pieces.iter().map(|piece| piece.name(axes)).collect();
        let name = if names.is_empty() { String::from("unit") } else { names.join("_") };
        items.push(MapItem {
            name: unique(&name, &mut taken),
            index: index.unwrap_or_else(|| Expr::constant(0)),
            extent: None,
            span: 0..0,
        });
    }
    Ok(IndexMap { items, separators: Vec::new() })
}

/// Blocks as letters write them, major to minor: an axis with its factor, or without one for the highest part.
///
/// Each block stands above the later ones of its axis, and the highest part above all of them, wherever it is written.
pub(super) fn pieces(blocks: &[(usize, Option<i128>)]) -> Option<Vec<AxisBlock>> {
    let mut pieces = Vec::new();
    for (k, (axis, factor)) in blocks.iter().enumerate() {
        let later = if factor.is_some() { k + 1 } else { 0 };
        let below = blocks.iter().skip(later).filter(|(other, _)| other == axis);
        let div = below.filter_map(|(_, factor)| *factor).try_fold(1_i128, i128::checked_mul)?;
        if div > i128::from(i64::MAX) {
            return None;
        }
        pieces.push(AxisBlock { axis: *axis, div, modulus: *factor });
    }
    Some(pieces)
}
