//! Reference implementation of the offset of a tensor at a logical index, and its offset at a physical index.

use layoutc_algebra::expr::{Expr as Algebra, Var};

use crate::ir::{Expr, Function, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower};
use crate::lower::index::Signature;
use crate::lower::names::Namer;

/// `plain_offset(symbols, axes)`: reference implementation of `offset`, as the layout's lead plus the sum of storage
/// index times stride over the storage axes. The storage indices are not simplified, and have floor divisions. A
/// swizzle is applied to the terms of the last physical axis. Tests compare the other functions with it.
pub(crate) fn plain_offset(context: &Context<'_>) -> Result<Function, PlanError> {
    let layout = context.layout;
    let mut namer = Namer::new(context.naming.avoid);
    let signature = Signature::new(context, &mut namer, layout.logical());
    // With unbounded ranges, no floor division is lowered as a truncating one.
    let scope = |var| signature.binding(var).map(|b| Binding { range: Range::ANY, ..b });
    let mut offset = lower(layout.lead(), &scope)?;
    let mut body = Vec::new();
    let last = layout.separators().last().map_or(0, |last| last + 1);
    // The offset inside the last physical axis is swizzled before the other terms are added.
    let mut rest = None;
    for (k, ((axis, index), stride)) in
        layout.storage().iter().zip(layout.storage_map()).zip(layout.strides()).enumerate()
    {
        if layout.swizzle().is_some() && k == last {
            rest = Some(std::mem::replace(&mut offset, Expr::int(0)));
        }
        let name = namer.name(&format!("storage_{}", axis.name));
        let term = crate::lower::expr::multiply(Expr::name(&name), lower(stride, &scope)?)?;
        if term != Expr::int(0) {
            body.push(Stmt::Let { name, value: lower(index, &scope)? });
        }
        offset = crate::lower::expr::add(offset, term)?;
    }
    if let Some(swizzle) = layout.swizzle() {
        let name = namer.name("unswizzled");
        body.push(Stmt::Let { name: name.clone(), value: offset });
        let own = Var::Physical(0);
        let turned = swizzle.apply(&Algebra::var(own))?;
        let binding = Binding { tree: Expr::name(&name), range: Range::NATURAL };
        offset = lower(&turned, &|var| (var == own).then(|| binding.clone()))?;
        offset = crate::lower::expr::add(rest.unwrap_or(Expr::int(0)), offset)?;
    }
    body.push(Stmt::Return { value: offset });
    let function = Function {
        name: context.function("plain_offset"),
        doc: vec![
            "The offset as the manifest defines it, storage axis by storage axis.".to_owned(),
        ],
        returns: Returns::Index,
        params: signature.params,
        body,
    };
    Ok(function)
}

/// Offset in the flat buffer of the slot at a physical index, in elements; for tests. `names` are the identifiers of
/// the physical indices, one for each physical axis.
pub(crate) fn physical_offset(context: &Context<'_>, names: &[String]) -> Result<Expr, PlanError> {
    let symbol = |var| context.symbol(var);
    let mut offset = Expr::int(0);
    for (name, stride) in names.iter().zip(context.layout.physical_strides()) {
        let term = crate::lower::expr::multiply(Expr::name(name), lower(stride, &symbol)?)?;
        offset = crate::lower::expr::add(offset, term)?;
    }
    Ok(offset)
}
