//! Functions of a ring buffer, which holds only some consecutive indices along one axis of the whole tensor: the offset
//! of an element of the whole tensor while it is in memory.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, Var};
use layoutc_algebra::normal_form::simplify::Facts;

use crate::ir::{Function, Returns, Stmt};
use crate::loops::arith::{fold, product};
use crate::loops::error::PlanError;
use crate::lower::context::Context;
use crate::lower::expr::lower;
use crate::lower::index::{Quantity, Signature};
use crate::lower::names::Namer;

/// Functions and constants that are generated for a ring buffer.
#[derive(Debug, Clone)]
pub(crate) struct RingPlan {
    /// Extents and number of elements of the whole tensor.
    pub quantities: Vec<Quantity>,
    /// `at(symbols, axes)`: offset of an element of the whole tensor, in elements.
    pub at: Function,
}

/// Plans the functions of a ring buffer; `None` for a tensor that is not one.
///
/// # Errors
/// Same as [`crate::plan::tensor`].
pub(crate) fn ring(context: &Context<'_>) -> Result<Option<RingPlan>, PlanError> {
    let Some(ring) = &context.tensor.ring else { return Ok(None) };
    let mut facts = Facts::new(context.layout.symbols());
    for (k, axis) in (0..).zip(&ring.whole) {
        facts.set_extent(Var::Axis(k), &axis.extent)?;
    }
    let inside = |var: Var| {
        let is_axis = matches!(var, Var::Axis(k) if usize::try_from(k) == Ok(ring.axis));
        let held = Algebra::constant(ring.capacity);
        if is_axis { fold(BinOp::Mod, &Algebra::var(var), &held).ok() } else { None }
    };
    let offset = facts.simplify(&context.layout.offset().substitute(&inside)?)?;
    let mut namer = Namer::new(context.naming.avoid);
    let signature = Signature::new(context, &mut namer, &ring.whole);
    let value = lower(&offset, &|var| signature.binding(var))?;
    let (name, held) = (ring.name(), ring.capacity);
    let at = Function {
        name: context.function("at"),
        doc: vec![
            format!(
                "Where an element of the whole tensor lies while it is in memory, which holds {held} neighbours"
            ),
            format!(
                "along {name} at a time: the offset in the buffer. One of {name} + {held} takes its place."
            ),
        ],
        returns: Returns::Index,
        params: signature.params,
        body: vec![Stmt::Return { value }],
    };
    Ok(Some(RingPlan { quantities: quantities(context, ring)?, at }))
}

fn quantities(
    context: &Context<'_>,
    ring: &crate::model::ring::Ring,
) -> Result<Vec<Quantity>, PlanError> {
    let symbol = |var| context.symbol(var);
    let mut all = Vec::new();
    let mut elements = Algebra::constant(1);
    for axis in &ring.whole {
        let (name, doc) = (
            format!("whole_extent_{}", axis.name),
            format!("Extent of axis {} of the whole tensor.", axis.name),
        );
        all.push(Quantity { name, doc, value: lower(&axis.extent, &symbol)? });
        elements = product(&elements, &axis.extent)?;
    }
    let (name, doc) = ("whole_elements".to_owned(), "Elements of the whole tensor.".to_owned());
    all.push(Quantity { name, doc, value: lower(&elements, &symbol)? });
    Ok(all)
}
