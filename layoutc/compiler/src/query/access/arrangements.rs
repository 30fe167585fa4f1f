//! Arrangements of a tensor in shared memory, with their bank conflicts: the report of `layoutc swizzle`.

use serde_json::{Value, json};

use super::wavefronts_text;
use crate::manifest::syntax::Memory;
use crate::model::{Tensor, WarpAccess};
use crate::query::inspect::lines_text;
use crate::warp::{
    Arrangement, ArrangementCost, TileSlots, cost_of, fewest_by_padding, fewest_by_swizzle,
};

/// Wavefronts of accesses to a tensor in its present layout, without a swizzle, and with the best swizzle and row
/// padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrangementReport {
    /// Name of the tensor.
    tensor: String,
    /// Names of the accesses that are counted.
    accesses: Vec<String>,
    present: ArrangementCost,
    /// Pairs (step of a layout, cost); the first is the layout without a swizzle.
    found: Vec<(String, ArrangementCost)>,
}

/// Report on the arrangements of `tensor` for the named accesses, all if `names` is empty.
///
/// # Errors
/// A message if the tensor has no access, no access of a name, no constant size, several physical axes, or is not in shared
/// memory.
pub fn arrangements(tensor: &Tensor, names: &[String]) -> Result<ArrangementReport, String> {
    let name = &tensor.name;
    let accesses = named(tensor, names)?;
    let layout = &tensor.layout;
    if tensor.memory != Memory::Shared {
        return Err(format!("`{name}` is not in shared memory: write `memory shared` in it"));
    }
    let row = layout.storage().last().map(|axis| (&axis.name, axis.extent.as_const()));
    let slots = layout.physical_elements().as_const();
    let (Some((axis, Some(row))), Some(slots)) = (row, slots) else {
        return Err(format!("`{name}` has no constant size"));
    };
    if !layout.separators().is_empty() {
        return Err(format!("`{name}` has several physical axes; shared memory has one"));
    }
    let mut present = Vec::new();
    for access in &accesses {
        let slots = access.slots(layout, tensor.dtype.element_bits());
        present.push(slots.map_err(|_| format!("access `{}` does not fit `{name}`", access.name))?);
    }
    let plain: Vec<TileSlots> =
        present.iter().cloned().map(|tile: TileSlots| tile.unswizzled(layout.swizzle())).collect();
    let unswizzled = cost_of(&plain, row, Arrangement::Plain);
    let tries = [
        Some((Arrangement::Plain, unswizzled)),
        fewest_by_swizzle(&plain, (slots, row)),
        fewest_by_padding(&plain, (slots, row)),
    ];
    let step = |arrangement: Arrangement| arrangement.step(axis).unwrap_or("no swizzle".to_owned());
    let found = tries.into_iter().flatten().map(|(arrangement, cost)| (step(arrangement), cost));
    Ok(ArrangementReport {
        tensor: name.clone(),
        accesses: accesses.iter().map(|access| access.name.clone()).collect(),
        present: cost_of(&present, row, Arrangement::Plain),
        found: found.collect(),
    })
}

/// Accesses of a tensor by their names, all if there are none.
fn named<'a>(tensor: &'a Tensor, names: &[String]) -> Result<Vec<&'a WarpAccess>, String> {
    if tensor.accesses.is_empty() {
        return Err(format!(
            "`{}` declares no access: write `access load from=\"(lane) -> (…)\"` in it",
            tensor.name
        ));
    }
    let find = |name: &String| {
        let found = tensor.accesses.iter().find(|access| access.name == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> =
                tensor.accesses.iter().map(|access| access.name.as_str()).collect();
            format!("`{}` has no access `{name}`; its accesses: {}", tensor.name, known.join(", "))
        })
    };
    if names.is_empty() {
        Ok(tensor.accesses.iter().collect())
    } else {
        names.iter().map(find).collect()
    }
}

impl ArrangementReport {
    /// Lines of a text report: the present layout, then the layout without a swizzle, the best swizzle, and the best row
    /// padding.
    pub fn text(&self) -> String {
        let counts = |cost: &ArrangementCost| wavefronts_text(cost.wavefronts, cost.least);
        let mut lines = vec![("present layout", counts(&self.present))];
        lines.extend(self.found.iter().map(|(step, cost)| (step.as_str(), counts(cost))));
        let width = lines.iter().map(|(step, _)| step.len()).max().unwrap_or(0);
        let lines: Vec<(String, String)> =
            lines.into_iter().map(|(step, counts)| (format!("{step:<width$}"), counts)).collect();
        let lines: Vec<(&str, String)> =
            lines.iter().map(|(step, counts)| (step.as_str(), counts.clone())).collect();
        format!("{} ({})\n{}", self.tensor, self.accesses.join(", "), lines_text(&lines))
    }

    /// Object of a JSON report.
    pub fn json(&self) -> Value {
        let object = |step: &str, cost: &ArrangementCost| json!({ "step": step, "wavefronts": cost.wavefronts, "bank_conflicts": cost.conflicts() });
        json!({
            "version": 1,
            "tensor": self.tensor,
            "accesses": self.accesses,
            "present": object("", &self.present),
            "found": self.found.iter().map(|(step, cost)| object(step, cost)).collect::<Vec<_>>(),
        })
    }
}
