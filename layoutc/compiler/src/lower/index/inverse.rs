//! Inverse map of a layout: from a physical index to the logical index of its element.

use layoutc_algebra::expr::{Expr as Algebra, Var};

mod search;

use crate::ir::{Expr, Function, Param, ParamType, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, Scope, lower, lower_predicate, range};
use crate::lower::index::symbol_params;
use crate::lower::names::Namer;

/// `logical(symbols, physical indices, outputs)`: writes the logical index of the element in a slot to the outputs;
/// returns false for padding, where the outputs are undefined.
pub(crate) fn logical(context: &Context<'_>) -> Result<Function, PlanError> {
    let layout = context.layout;
    let mut namer = Namer::new(context.naming.avoid);
    let mut params = symbol_params(context, &mut namer);
    let symbol = |var| context.symbol(var);
    let mut physical = Vec::new();
    for (k, extent) in layout.physical_shape().iter().enumerate() {
        let name = namer.name(&format!("p{k}"));
        let high = range(extent, &symbol).high.map(|extent| extent - 1);
        let tree = Expr::name(&name);
        physical.push(Binding { tree, range: Range { low: Some(0), high } });
        params.push(Param { name, ty: ParamType::Index });
    }
    let outputs: Vec<String> = layout.logical().iter().map(|axis| namer.name(&axis.name)).collect();
    for name in &outputs {
        params.push(Param { name: name.clone(), ty: ParamType::OutIndex });
    }
    let scope = |var: Var| match var {
        Var::Physical(k) => physical.get(usize::try_from(k).ok()?).cloned(),
        Var::Symbol(_) => context.symbol(var),
        Var::Axis(_) | Var::Storage(_) | Var::Digit(_) => None,
    };
    let mut doc = vec![
        "Which element a slot holds. False on padding, where the outputs mean nothing.".to_owned(),
    ];
    let body = if layout.logical_elements().as_const() == Some(0) {
        vec![Stmt::Return { value: Expr::Bool { value: false } }]
    } else if let Some(inverse) = layout.inverse() {
        read_off(context, inverse, &outputs, &scope)?
    } else {
        let search = search::of(context, &physical, &outputs, &mut namer)?;
        doc.extend(search.doc);
        search.body
    };
    let function =
        Function { name: context.function("logical"), doc, returns: Returns::Bool, params, body };
    Ok(function)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other conditions stay as they are")]
fn read_off(
    context: &Context<'_>,
    inverse: &[Algebra],
    outputs: &[String],
    scope: &Scope<'_>,
) -> Result<Vec<Stmt>, PlanError> {
    let mut body = Vec::new();
    let mut values = Vec::new();
    for (expr, name) in inverse.iter().zip(outputs) {
        let value = lower(expr, scope)?;
        body.push(Stmt::Set { name: name.clone(), value: value.clone() });
        values.push(value);
    }
    let holds = match context.layout.valid() {
        Some(valid) => lower_predicate(valid, scope)?,
        None => Expr::Bool { value: true },
    };
    // An operand of a comparison that was already written to an output is read from there.
    let reuse = |side: Box<Expr>| {
        let trivial = matches!(*side, Expr::Int { .. } | Expr::Name { .. });
        let output = values.iter().position(|value| *value == *side).and_then(|k| outputs.get(k));
        match output {
            Some(name) if !trivial => Box::new(Expr::Output { name: name.clone() }),
            _ => side,
        }
    };
    let shorten = |condition: Expr| match condition {
        Expr::Compare { op, a, b } => Expr::Compare { op, a: reuse(a), b: reuse(b) },
        other => other,
    };
    let holds = match holds {
        Expr::All { args } => Expr::All { args: args.into_iter().map(shorten).collect() },
        other => shorten(other),
    };
    body.push(Stmt::Return { value: holds });
    Ok(body)
}
