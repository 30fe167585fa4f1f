//! Inverse of a layout that has none in closed form. The layout is decomposed into independent components; only
//! components without an inverse are searched.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::query::decomposition::{LayoutComponent, LayoutDecomposition};

use crate::ir::{Compare, Expr, LoopKind, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower, range};
use crate::lower::names::Namer;

/// Statements that find the element in a slot, and lines of their function's doc comment.
pub(crate) struct Search {
    pub(crate) doc: Vec<String>,
    pub(crate) body: Vec<Stmt>,
}

/// Search for the element in the slot at the physical indices `physical`. `outputs` are the identifiers of the output
/// parameters, one for each logical axis.
pub(crate) fn of(
    context: &Context<'_>,
    physical: &[Binding],
    outputs: &[String],
    namer: &mut Namer<'_>,
) -> Result<Search, PlanError> {
    let parts = context.layout.decompose()?;
    let mut body = Vec::new();
    let wanted = wanted(&parts, physical, namer, &mut body)?;
    let mut searched = Vec::new();
    for part in &parts.components {
        match &part.inverse {
            Some(inverse) => body.extend(read_off(part, inverse, outputs, &wanted)?),
            None => searched.push(part),
        }
    }
    let doc = said(context, &searched);
    let mut found = vec![Stmt::Return { value: is_there(context, &parts, physical, outputs)? }];
    for part in searched.into_iter().rev() {
        found = nest(context, part, &parts, (&wanted, outputs), found, namer)?;
    }
    body.extend(found);
    Ok(Search { doc, body })
}

fn said(context: &Context<'_>, searched: &[&LayoutComponent]) -> Vec<String> {
    let name = |axis: &usize| context.layout.logical().get(*axis).map(|axis| axis.name.clone());
    let names: Vec<String> = searched.iter().flat_map(|part| &part.axes).filter_map(name).collect();
    let mut doc = vec!["The layout is proven by enumeration. In closed form there is".to_owned()];
    doc.push(format!("no inverse for {}: this searches.", layoutc_algebra::prove::listed(&names)));
    doc
}

/// Value of each target of the decomposition `parts` at the slot with the physical indices `physical`, declared in
/// `body` unless it is a name or a constant. `None` for a target that belongs to no component.
fn wanted(
    parts: &LayoutDecomposition,
    physical: &[Binding],
    namer: &mut Namer<'_>,
    body: &mut Vec<Stmt>,
) -> Result<Vec<Option<Binding>>, PlanError> {
    let scope = |var: Var| match var {
        Var::Physical(k) => physical.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    };
    let mut wanted = Vec::new();
    for (k, at) in parts.at.iter().enumerate() {
        if !parts.components.iter().any(|part| part.targets.contains(&k)) {
            wanted.push(None);
            continue;
        }
        let (mut tree, range) = (lower(at, &scope)?, range(at, &scope));
        if !matches!(tree, Expr::Name { .. } | Expr::Int { .. }) {
            let name = namer.name(&format!("s{k}"));
            body.push(Stmt::Let { name: name.clone(), value: tree });
            tree = Expr::name(&name);
        }
        // In gaps of the layout the value may exceed the number of slots.
        wanted.push(Some(Binding { tree, range: Range { high: None, ..range } }));
    }
    Ok(wanted)
}

/// Assignments to the outputs of a component's axes, from its closed-form inverse. `wanted` has the values of the
/// targets at the slot.
fn read_off(
    part: &LayoutComponent,
    inverse: &[Algebra],
    outputs: &[String],
    wanted: &[Option<Binding>],
) -> Result<Vec<Stmt>, PlanError> {
    let scope = |var: Var| match var {
        Var::Storage(k) => wanted.get(usize::try_from(k).ok()?).cloned().flatten(),
        _ => None,
    };
    let set = |(axis, index): (&usize, &Algebra)| {
        let name = outputs.get(*axis).cloned().ok_or(PlanError::Scope)?;
        Ok(Stmt::Set { name, value: lower(index, &scope)? })
    };
    part.axes.iter().zip(inverse).map(set).collect()
}

/// Loops over the axes of the component `part` that compare its targets with their values at the slot (`wanted`). At
/// the first match they set the outputs and execute `found`, which returns; without a match the function returns false.
fn nest(
    context: &Context<'_>,
    part: &LayoutComponent,
    parts: &LayoutDecomposition,
    (wanted, outputs): (&[Option<Binding>], &[String]),
    found: Vec<Stmt>,
    namer: &mut Namer<'_>,
) -> Result<Vec<Stmt>, PlanError> {
    let symbol = |var| context.symbol(var);
    let mut loops = Vec::new();
    for k in &part.axes {
        let axis = context.layout.logical().get(*k).ok_or(PlanError::Scope)?;
        let high = range(&axis.extent, &symbol).high.map(|extent| extent - 1);
        loops.push((*k, namer.name(&format!("at_{}", axis.name)), axis, high));
    }
    let scope = |var: Var| match var {
        Var::Axis(k) => {
            let (_, name, _, high) = loops.iter().find(|(own, ..)| u32::try_from(*own) == Ok(k))?;
            let range = Range { low: Some(0), high: *high };
            Some(Binding { tree: Expr::name(name), range })
        }
        other => context.symbol(other),
    };
    let mut same = Vec::new();
    for k in &part.targets {
        let target = parts.targets.get(*k).ok_or(PlanError::Scope)?;
        let there = wanted.get(*k).cloned().flatten().ok_or(PlanError::Scope)?;
        same.push(Expr::compare(Compare::Eq, lower(target, &scope)?, there.tree));
    }
    for margin in &part.within {
        same.push(Expr::compare(Compare::Ge, lower(margin, &scope)?, Expr::int(0)));
    }
    let mut body: Vec<Stmt> = Vec::new();
    for (k, name, ..) in &loops {
        let output = outputs.get(*k).cloned().ok_or(PlanError::Scope)?;
        body.push(Stmt::Set { name: output, value: Expr::name(name) });
    }
    body.extend(found);
    let mut body =
        vec![Stmt::If { condition: all(same), likely: false, body, otherwise: Vec::new() }];
    for (_, name, axis, _) in loops.iter().rev() {
        let (name, to) = (name.clone(), lower(&axis.extent, &symbol)?);
        let (from, kind) = (Expr::int(0), LoopKind::Serial);
        body = vec![Stmt::For { name, from, to, step: 1, kind, body }];
    }
    body.push(Stmt::Return { value: Expr::Bool { value: false } });
    Ok(body)
}

/// Condition that the logical index in `outputs` is that of an element, and that this element is stored in the slot
/// with the physical indices `physical`.
fn is_there(
    context: &Context<'_>,
    parts: &LayoutDecomposition,
    physical: &[Binding],
    outputs: &[String],
) -> Result<Expr, PlanError> {
    let output = |name: &String| Expr::Output { name: name.clone() };
    let mut holds = Vec::new();
    for part in parts.components.iter().filter(|part| part.inverse.is_some()) {
        for axis in &part.axes {
            let (Some(own), Some(name)) = (context.layout.logical().get(*axis), outputs.get(*axis))
            else {
                continue;
            };
            holds.push(Expr::compare(Compare::Ge, output(name), Expr::int(0)));
            if let Ok(extent) = lower(&own.extent, &|var| context.symbol(var)) {
                holds.push(Expr::compare(Compare::Lt, output(name), extent));
            }
        }
    }
    let of_output = |var: Var| match var {
        Var::Axis(k) => {
            let name = outputs.get(usize::try_from(k).ok()?)?;
            Some(Binding { tree: output(name), range: Range::ANY })
        }
        other => context.symbol(other),
    };
    for part in parts.components.iter().filter(|part| part.inverse.is_some()) {
        for margin in &part.within {
            holds.push(Expr::compare(Compare::Ge, lower(margin, &of_output)?, Expr::int(0)));
        }
    }
    let mut args = context.symbol_args();
    args.extend(outputs.iter().map(output));
    let there = if physical.len() == 1 {
        vec![context.function("offset")]
    } else {
        (0..physical.len()).map(|k| context.function(&format!("index_{k}"))).collect()
    };
    let places = there.iter().zip(physical);
    holds.extend(places.map(|(function, at)| {
        Expr::compare(Compare::Eq, Expr::call(function, args.clone()), at.tree.clone())
    }));
    Ok(all(holds))
}

fn all(mut conditions: Vec<Expr>) -> Expr {
    if conditions.len() == 1 { conditions.swap_remove(0) } else { Expr::All { args: conditions } }
}
