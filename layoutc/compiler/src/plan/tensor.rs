//! Plans of one tensor: index functions, counts, pack and unpack.

use layoutc_algebra::symbol::Symbol;

use crate::ir::Function;
use crate::loops::error::PlanError;
use crate::lower::context::{Context, Naming};
use crate::lower::index::{self, Quantity, domain, inverse};
use crate::model::{Memory, Tensor};
use crate::plan::relayout::{self, RelayoutFunction};

/// Functions and constants that are generated for one tensor.
#[derive(Debug, Clone)]
pub struct TensorPlan {
    /// Symbols that the functions take as their first parameters, in order.
    pub symbols: Vec<Symbol>,
    /// `symbols_ok(symbols)`: true if the symbols have values for which the layout is proven; `None` without symbols.
    pub symbols_ok: Option<Function>,
    /// Constants such as counts, extents, strides and the alignment, in the order in which they are printed.
    pub quantities: Vec<Quantity>,
    /// `offset(symbols, axes)`: offset of an element in the flat buffer, in elements.
    pub offset: Function,
    /// `index_0(symbols, axes)`, …: index of an element along each physical axis; empty if the physical rank is at most
    /// 1.
    pub indices: Vec<Function>,
    /// `logical(symbols, physical indices, outputs)`, the inverse map: writes the logical index of the element at a
    /// physical index to the outputs; false for padding.
    pub logical: Function,
    /// `in_domain(symbols, axes)`: true if a logical index is that of an element; `None` if every index within the
    /// extents is.
    pub in_domain: Option<Function>,
    /// `pack(symbols, logical, physical)`: copies from the dense row-major buffer into the layout; `None` if the tensor
    /// has no memory.
    pub pack: Option<Function>,
    /// `unpack(symbols, physical, logical)`: copies from the layout into the dense row-major buffer; `None` if the
    /// tensor has no memory.
    pub unpack: Option<Function>,
}

/// Plans the functions of one tensor.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn tensor(tensor: &Tensor, naming: &Naming<'_>) -> Result<TensorPlan, PlanError> {
    let context = Context::new(tensor, naming);
    let (mut pack, mut unpack) = (None, None);
    if tensor.memory != Memory::None {
        pack = Some(relayout::pack(&context)?.function);
        unpack = Some(relayout::unpack(&context)?.function);
    }
    Ok(TensorPlan {
        symbols: context.symbols.iter().map(|symbol| symbol.facts.clone()).collect(),
        symbols_ok: index::symbols_ok(&context),
        quantities: index::quantities(&context)?,
        offset: index::offset(&context)?,
        indices: index::indices(&context)?,
        logical: inverse::logical(&context)?,
        in_domain: domain::in_domain(&context)?,
        pack,
        unpack,
    })
}

/// Functions `pack` and `unpack` of one tensor, in this order, with the decisions behind them; `None` if the tensor has
/// no memory.
///
/// # Errors
/// Same as [`tensor`].
pub fn relayouts(
    tensor: &Tensor,
    naming: &Naming<'_>,
) -> Result<Option<[RelayoutFunction; 2]>, PlanError> {
    if tensor.memory == Memory::None {
        return Ok(None);
    }
    let context = Context::new(tensor, naming);
    Ok(Some([relayout::pack(&context)?, relayout::unpack(&context)?]))
}
