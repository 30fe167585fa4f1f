//! What the test program of a manifest needs to know of each tensor.

use layoutc_algebra::layout::Symbol;

use super::model::{AxisUnit, TestUnit};
use crate::fill;
use crate::model::Tensor;
use crate::plan::index::{buffer_bytes, count, dense_offset, physical_offset, plain_offset};
use crate::plan::lower::{PlanError, lower};
use crate::plan::names::Namer;
use crate::plan::tree::Stmt;
use crate::plan::{Context, Naming};

/// Names that the template uses itself, inside a function with the tensor's names.
const TAKEN: &[&str] = &[
    "all",
    "back",
    "dense",
    "elements",
    "failed",
    "fill",
    "from",
    "from_slot",
    "invert",
    "logical",
    "logical_bytes",
    "physical",
    "physical_bytes",
    "seen",
    "slot",
    "slots",
    "to",
    "to_slot",
    "used",
    "at",
    "found",
    "source",
    "target",
    "check",
    "step",
    "allocate",
    "scatter",
    "mismatch",
    "limit",
];

/// The test values of one tensor.
pub(super) fn tensor(tensor: &Tensor, naming: &Naming<'_>) -> Result<TestUnit, PlanError> {
    let avoid =
        |name: &str| (naming.avoid)(name) || TAKEN.contains(&name) || name.starts_with("found_");
    let naming = &Naming { prefix: naming.prefix, avoid: &avoid };
    let context = Context::new(tensor, naming);
    let layout = &tensor.layout;
    let symbol = |var| context.symbol(var);
    let mut namer = Namer::new(&avoid);
    let symbols: Vec<String> =
        context.symbols.iter().map(|symbol| namer.name(&symbol.facts.name)).collect();
    let mut axes = Vec::new();
    for axis in &layout.logical {
        let extent = lower(&axis.extent, &symbol)?;
        axes.push(AxisUnit { name: namer.name(&axis.name), extent });
    }
    let mut physical = Vec::new();
    for (k, extent) in layout.physical_shape.iter().enumerate() {
        physical
            .push(AxisUnit { name: namer.name(&format!("p{k}")), extent: lower(extent, &symbol)? });
    }
    let names = |axes: &[AxisUnit]| axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    let elements = count(&layout.logical)?;
    let facts: Vec<&Symbol> = context.symbols.iter().map(|symbol| symbol.facts).collect();
    Ok(TestUnit {
        plain: plain_offset(&context)?,
        cases: cases(&facts),
        dense: dense_offset(&layout.logical, &names(&axes), &symbol)?,
        slot: physical_offset(&context, &names(&physical))?,
        elements: lower(&elements, &symbol)?,
        slots: lower(&layout.physical_elements, &symbol)?,
        logical_bytes: lower(&buffer_bytes(&context, &elements)?, &symbol)?,
        physical_bytes: lower(&buffer_bytes(&context, &layout.physical_elements)?, &symbol)?,
        fill: context.fills().then(|| fill_stmt(tensor)),
        search: layout.inverse.is_none(),
        symbols,
        axes,
        physical,
    })
}

fn fill_stmt(tensor: &Tensor) -> Stmt {
    let bits = fill::bits(tensor.dtype, tensor.fill).unwrap_or(0);
    let element = tensor.dtype.to_string();
    Stmt::LetElement { name: "fill".to_owned(), element, bits: format!("{bits:x}") }
}

/// A few values for each symbol: the least, and two above that are promised too.
pub(super) fn cases(symbols: &[&Symbol]) -> Vec<Vec<i64>> {
    let mut cases: Vec<Vec<i64>> = Vec::new();
    for round in 0..3_usize {
        let mut case = Vec::new();
        for (k, symbol) in symbols.iter().enumerate() {
            let step = symbol.multiple.max(1);
            let least = symbol.min.max(0);
            let first = least + (step - least.rem_euclid(step)).rem_euclid(step);
            let steps = [0, 1, 3].get((round + k) % 3).copied().unwrap_or(0);
            let value = first.saturating_add(step.saturating_mul(steps));
            let value = if value > symbol.max { first } else { value };
            case.extend(i64::try_from(value));
        }
        if case.len() == symbols.len() && !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}
