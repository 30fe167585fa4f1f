//! Sizes of buffers and their padding, as expressions over symbols.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;

use super::Tensor;

/// Size of a tensor's buffer, as expressions over symbols. A slot is a position in the buffer that can hold one
/// element.
#[derive(Debug, Clone)]
pub struct MemoryFootprint {
    /// Number of slots minus the number of elements. These slots are padding, unless elements share slots.
    pub padding_elements: Expr,
    /// Size of the buffer in bytes: `ceil(slots * element_bits / 8)`.
    pub bytes: Expr,
}

impl Tensor {
    /// Size of the tensor's buffer. The check has rejected layouts whose size overflows 64 bits.
    pub fn counts(&self) -> MemoryFootprint {
        let layout = &self.layout;
        let all = layout.physical_elements();
        let padding = Expr::binary(BinOp::Sub, all, layout.logical_elements());
        MemoryFootprint {
            padding_elements: simple(padding, layout),
            bytes: layout_bytes(layout, self.dtype.element_bits()),
        }
    }
}

/// Size of a layout's buffer in bytes, over symbols: `ceil(slots * element_bits / 8)`, where a slot can hold one
/// element.
pub fn layout_bytes(layout: &Layout, element_bits: u32) -> Expr {
    let all = layout.physical_elements();
    let bits = i128::from(element_bits);
    let bytes = if bits % 8 == 0 {
        Expr::binary(BinOp::Mul, all, &Expr::constant(bits / 8))
    } else {
        let bits = Expr::binary(BinOp::Mul, all, &Expr::constant(bits));
        let up = bits.and_then(|bits| Expr::binary(BinOp::Add, &bits, &Expr::constant(7)));
        up.and_then(|up| Expr::binary(BinOp::FloorDiv, &up, &Expr::constant(8)))
    };
    simple(bytes, layout)
}

/// Simplified form of `expr` over the symbols of the layout. If `expr` is an error or cannot be simplified, the number
/// of slots of the layout takes its place.
fn simple(expr: Result<Expr, ExprError>, layout: &Layout) -> Expr {
    let facts = Facts::new(layout.symbols());
    expr.and_then(|e| facts.simplify(&e)).unwrap_or_else(|_| layout.physical_elements().clone())
}
