//! Second check of a graph's plan, without the solver's code. Every layout must be available when it is read, and the
//! costs must add up.

use std::collections::BTreeSet;

use super::graph_plan::GraphPlan;
use super::network_build::ConversionPrices;
use crate::model::graph::{Compatibility, Graph, TensorRole};

/// Checks that a plan is valid and costs what it states. `price` gives the costs of conversions in bytes.
///
/// # Errors
/// Message of the first error found.
pub(super) fn recheck(
    graph: &Graph,
    plan: &GraphPlan,
    price: &ConversionPrices<'_>,
) -> Result<(), String> {
    let mut total: u128 = 0;
    let mut there: Vec<BTreeSet<usize>> = Vec::new();
    for (k, tensor) in graph.tensors.iter().enumerate() {
        let stored = *plan.stored.get(k).ok_or("a tensor has no layout")?;
        if let (TensorRole::Input | TensorRole::Constant, Some(declared)) =
            (tensor.role, tensor.declared)
            && declared != stored
        {
            return Err(format!("`{}` is passed in another layout", tensor.name));
        }
        let mut own = BTreeSet::from([stored]);
        for conversion in plan.conversions_of(k) {
            let (from, to) = (conversion.from, conversion.to);
            if !own.contains(&from) {
                return Err(format!("`{}` is converted before it is available", tensor.name));
            }
            let is_free = tensor.compatibility(from, to) == Compatibility::Satisfied;
            let paid = if is_free || tensor.is_constant() { Some(0) } else { price(k, from, to) };
            let cost = paid.ok_or_else(|| format!("invalid conversion of `{}`", tensor.name))?;
            if cost != conversion.cost || is_free != conversion.is_free {
                return Err(format!("a conversion of `{}` costs {cost}", tensor.name));
            }
            if tensor.is_pinned && !is_free {
                return Err(format!("`{}` is converted but pinned", tensor.name));
            }
            total += u128::from(cost);
            own.insert(to);
        }
        let forbidden = |k: &usize| tensor.candidates.get(*k).is_none_or(|c| c.is_forbidden);
        if tensor.role != TensorRole::Input && own.iter().any(forbidden) {
            return Err(format!("`{}` has a forbidden layout", tensor.name));
        }
        if let Some(declared) = tensor.declared.filter(|declared| !own.contains(declared)) {
            return Err(format!("`{}` is never in `{}`", tensor.name, tensor.text(declared)));
        }
        there.push(own);
    }
    for (k, node) in graph.nodes.iter().enumerate() {
        let choice = plan.choices.get(k).and_then(|choice| node.choices.get(*choice));
        let choice = choice.ok_or("an operator has no choice")?;
        total += u128::from(choice.cost);
        for (tensor, asked) in node.inputs.iter().zip(&choice.inputs) {
            let is_there =
                asked.is_none_or(|k| there.get(*tensor).is_some_and(|own| own.contains(&k)));
            if !is_there {
                return Err(format!("`{}` reads an unavailable layout", node.name));
            }
        }
        for (tensor, given) in node.outputs.iter().zip(&choice.outputs) {
            if plan.stored.get(*tensor) != Some(given) {
                return Err(format!("`{}` produces another layout", node.name));
            }
        }
    }
    for wanted in &graph.outputs {
        let own = there.get(wanted.tensor);
        if wanted.candidate.is_some_and(|k| own.is_none_or(|own| !own.contains(&k))) {
            return Err("an output is not available in its layout".to_owned());
        }
    }
    if total != u128::from(plan.cost) {
        return Err(format!("the costs sum to {total}, not {}", plan.cost));
    }
    Ok(())
}
