//! Index maps of notations that split axes into blocks, such as TVM's letters and einops' patterns. A block is a digit
//! of the mixed-radix representation of an axis index. `pieces` computes the digits from the factors in a text. `map`
//! combines digits to storage axes.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::map::{IndexMap, MapItem, unique};
use crate::symbol::Axis;
use crate::text::NotationFault;

/// Block of an axis: the digit `index // div % modulus` of the axis index, or `index // div` if `modulus` is `None`.
/// The block `16c` has `div` 1 and `modulus` 16.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisBlock {
    /// Position of the axis among the axes to which the index map is applied, the current axes of the builder.
    pub(super) axis: usize,
    /// Weight of the digit in the index of the axis.
    pub(super) div: i128,
    /// Number of values of the digit; `None` for the most significant digit. That digit has `ceil(extent / div)`
    /// values, where `extent` is the extent of the axis.
    pub(super) modulus: Option<i128>,
}

impl AxisBlock {
    /// Block that is the whole index of the axis at position `axis`.
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

    /// Number of values of the digit: `modulus`, or `ceil(extent / div)` for the most significant digit, with the
    /// extent of its axis in `axes`.
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

/// Index map from `axes` to one storage axis per entry of `dims`. An entry lists the blocks of a storage axis,
/// major to minor; the storage index is the mixed-radix number that they form. An empty entry is a storage axis
/// of extent 1.
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

/// Digit of each block of a text, in the order of `blocks`, which is major to minor. A block is a pair
/// `(axis, factor)`: the position of its axis, and its number of values, `None` for the most significant digit of the
/// axis. `CN16c` of axes n, c is `[(1, None), (0, None), (1, Some(16))]`. `length` is the length of the text in bytes,
/// for faults.
///
/// The weight of a block is the product of the later factors of its axis. The weight of the most significant digit is
/// the product of all factors of its axis, regardless of its position. A weight above `i64::MAX` is a fault.
pub(super) fn pieces(
    blocks: &[(usize, Option<i128>)],
    length: usize,
) -> Result<Vec<AxisBlock>, NotationFault> {
    let mut pieces = Vec::new();
    for (k, (axis, factor)) in blocks.iter().enumerate() {
        let later = if factor.is_some() { k + 1 } else { 0 };
        let below = blocks.iter().skip(later).filter(|(other, _)| other == axis);
        let div = below.filter_map(|(_, factor)| *factor).try_fold(1_i128, i128::checked_mul);
        let Some(div) = div.filter(|div| *div <= i128::from(i64::MAX)) else {
            let fault = NotationFault::value(0..length, "the blocks do not fit 64 bits");
            return Err(fault.help("write smaller blocks"));
        };
        pieces.push(AxisBlock { axis: *axis, div, modulus: *factor });
    }
    Ok(pieces)
}
