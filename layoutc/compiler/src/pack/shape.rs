//! Sizes and shapes of a tensor for given values of its symbols.

use std::collections::BTreeMap;

use layoutc_algebra::expr::{Expr as Algebra, Var};

use crate::model::{Tensor, layout_bytes};

use super::PackError;

/// Extents of the logical axes for the values `symbols`, outermost first, in elements.
///
/// # Errors
/// [`PackError::Symbols`] if a symbol has no value or an extent cannot be computed, [`PackError::TooLarge`] if an
/// extent is negative or exceeds 64 bits.
pub fn logical_shape(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<Vec<u64>, PackError> {
    extents(tensor, symbols, tensor.layout.logical().iter().map(|axis| &axis.extent))
}

/// Extents of the physical axes for the values `symbols`, outermost first, in elements. If the number of slots of the
/// buffer is not their product, as with padded rows, it is the only extent.
///
/// # Errors
/// Errors of [`logical_shape`].
pub fn physical_shape(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<Vec<u64>, PackError> {
    let shape = extents(tensor, symbols, tensor.layout.physical_shape().iter())?;
    let slots = extents(tensor, symbols, std::iter::once(tensor.layout.physical_elements()))?;
    let all = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
    Ok(if all.as_ref() == slots.first() { shape } else { slots })
}

/// Position of the first logical axis whose extent is exactly the symbol with index `symbol` of the layout; `None` if
/// there is none.
pub fn axis_of_symbol(tensor: &Tensor, symbol: u32) -> Option<usize> {
    let is_it = |extent: &Algebra| extent.as_var() == Some(Var::Symbol(symbol));
    tensor.layout.logical().iter().position(|axis| is_it(&axis.extent))
}

fn extents<'e>(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    shape: impl Iterator<Item = &'e Algebra>,
) -> Result<Vec<u64>, PackError> {
    let extent = |expr| {
        let extent = number(tensor, expr, symbols)?;
        u64::try_from(extent).map_err(|_| PackError::TooLarge)
    };
    shape.map(extent).collect()
}

/// Pair (dense, laid out) of buffer sizes for the values `symbols`, in bytes, rounded up: of the dense row-major
/// buffer, in its own element type, and of the buffer in the layout. 3 elements of 4 bits take 2 bytes.
///
/// # Errors
/// [`PackError::Symbols`] if a symbol has no value or a size cannot be computed, [`PackError::TooLarge`] if a size
/// exceeds the address space.
pub fn sizes(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<(usize, usize), PackError> {
    let layout = &tensor.layout;
    let bits = i128::from(tensor.logical_dtype().element_bits());
    let bytes = |count: i128| {
        let bytes =
            count.checked_mul(bits).map(|bits| bits.div_euclid(8) + i128::from(bits % 8 > 0));
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or(PackError::TooLarge)
    };
    let shape = logical_shape(tensor, symbols)?;
    let elements = shape.iter().try_fold(1_i128, |all, extent| all.checked_mul((*extent).into()));
    let dense = bytes(elements.ok_or(PackError::TooLarge)?)?;
    let laid_out = number(tensor, &layout_bytes(layout, tensor.dtype.element_bits()), symbols)?;
    Ok((dense, usize::try_from(laid_out).map_err(|_| PackError::TooLarge)?))
}

/// Checks that every symbol of a tensor has a value for which the layout is proven: within its range, and a multiple of
/// its divisor. [`PackError::Symbols`] otherwise.
pub(super) fn check_symbols(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<(), PackError> {
    let is_proven = tensor.layout.symbols().iter().all(|symbol| {
        symbols.get(&symbol.name).is_some_and(|value| {
            let is_multiple = value.checked_rem(symbol.multiple.max(1)) == Some(0);
            (symbol.min..=symbol.max).contains(value) && is_multiple
        })
    });
    if is_proven { Ok(()) } else { Err(PackError::Symbols) }
}

/// Value of an expression over the symbols of a tensor; [`PackError::Symbols`] if a symbol has no value or evaluation
/// fails.
pub(super) fn number(
    tensor: &Tensor,
    expr: &Algebra,
    symbols: &BTreeMap<String, i128>,
) -> Result<i128, PackError> {
    let value = |var: Var| {
        let Var::Symbol(symbol) = var else { return None };
        let symbol = tensor.layout.symbols().get(usize::try_from(symbol).ok()?)?;
        symbols.get(&symbol.name).copied()
    };
    expr.evaluate(&value).map_err(|_| PackError::Symbols)
}
