//! Domain conditions: which logical indices are elements, for tensors whose elements are a subset of the indices within
//! the extents.

use layoutc_algebra::expr::Var;

use crate::ir::{Expr, Function, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower_predicate};
use crate::lower::index::Signature;
use crate::lower::names::Namer;

/// Condition under which a logical index is that of an element; `None` if every index within the extents is. `names`
/// are the identifiers of the indices, one for each logical axis.
pub(crate) fn holds(context: &Context<'_>, names: &[String]) -> Result<Option<Expr>, PlanError> {
    let Some(domain) = context.layout.domain() else { return Ok(None) };
    let scope = |var| match var {
        Var::Axis(k) => {
            let name = names.get(usize::try_from(k).ok()?)?;
            Some(Binding { tree: Expr::name(name), range: Range::NATURAL })
        }
        other => context.symbol(other),
    };
    lower_predicate(domain, &scope).map(Some)
}

/// `in_domain(symbols, axes)`: true if a logical index is that of an element; `None` if every index within the extents
/// is.
pub(crate) fn in_domain(context: &Context<'_>) -> Result<Option<Function>, PlanError> {
    let Some(domain) = context.layout.domain() else { return Ok(None) };
    let mut namer = Namer::new(context.naming.avoid);
    let signature = Signature::new(context, &mut namer, context.layout.logical());
    let value = lower_predicate(domain, &|var| signature.binding(var))?;
    let doc = vec![
        "Whether an index of the shape is an element: the others have no slot, and no offset."
            .to_owned(),
    ];
    let function = Function {
        name: context.function("in_domain"),
        doc,
        returns: Returns::Bool,
        params: signature.params,
        body: vec![Stmt::Return { value }],
    };
    Ok(Some(function))
}

/// Statement `if (condition) body else otherwise`; only `body` if `condition` is `None`.
pub(crate) fn guarded(condition: Option<Expr>, body: Stmt, otherwise: Vec<Stmt>) -> Stmt {
    match condition {
        Some(condition) => Stmt::If { condition, likely: false, body: vec![body], otherwise },
        None => body,
    }
}
