//! Lowering of the steps that map the current axes: `order`, `split`, `fuse`, `tile` and `pad`.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::step::{self, OrderEntry as OrderPlace, TileExtent};

use super::StepLowering;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::faults::step_fault;
use crate::check::step_faults::{step_place, with_order};
use crate::check::step_map::unique_names;
use crate::check::step_scope::StepScope;
use crate::check::step_values::at_least;
use crate::manifest::syntax::{
    Identifier, IntegerExpr, SpannedText, StepItem, StepKind, TileEntry,
};

impl StepLowering<'_> {
    /// Lowers a step that is equivalent to an index map of the current axes: `order`, `split`, `fuse`, `tile`, `pad`.
    /// Does nothing for other steps, which `step` lowers itself.
    pub(super) fn axis_step(
        &mut self,
        step: &StepItem,
        ground: StepScope<'_>,
        place: &FileSpan,
    ) -> CheckResult<()> {
        let builder = &self.builder;
        let axes = builder.axes();
        let bound = |bound: &IntegerExpr| at_least(bound, 1, ground, builder);
        let from_zero = |bound: &Option<IntegerExpr>| match bound {
            None => Ok(Expr::constant(0)),
            Some(bound) => at_least(bound, 0, ground, builder),
        };
        let names =
            |names: &[Identifier]| names.iter().map(|n| n.value.clone()).collect::<Vec<_>>();
        let map = match &step.kind {
            StepKind::Order(words) => {
                step::order(axes, &words.iter().map(order_place).collect::<Vec<_>>())
            }
            StepKind::Split { axis, into, by } => {
                let by = by.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
                step::split(axes, &axis.value, &names(into), &by)
            }
            StepKind::Fuse { axes: fused, into } => {
                step::fuse(axes, &names(fused), into.as_ref().map(|n| n.value.as_str()))
            }
            StepKind::Tile { entries, names: given } => {
                let mut tile = Vec::new();
                for (k, entry) in entries.iter().enumerate() {
                    let at = (axes.len() + k).checked_sub(entries.len());
                    let axis = at.and_then(|at| axes.get(at));
                    tile.push(match entry {
                        TileEntry::Star(_) => TileExtent::Merge,
                        TileEntry::Extent(IntegerExpr::Integer(number))
                            if number.value == -1
                                && let Some(axis) = axis
                                && let Some(extent) = axis.extent.as_const() =>
                        {
                            let place = ground.place(&number.span);
                            let message = "expected at least 1, found -1";
                            let error = Diagnostic::error(Code::StepValue, message, place, "");
                            let help = format!("write `{extent}`, the extent of `{}`", axis.name);
                            let mut error = error.help(help);
                            error.add_fix(extent.to_string());
                            return Err(error.into());
                        }
                        TileEntry::Extent(extent) => TileExtent::Extent(bound(extent)?),
                    });
                }
                step::tile(axes, &tile, &names(given))
            }
            StepKind::PadMultiple { axis, multiple } => {
                step::pad_to_multiple(axes, &axis.value, &bound(multiple)?)
            }
            StepKind::PadBeforeAfter { axis, before, after } => {
                step::pad_around(axes, &axis.value, &from_zero(before)?, &from_zero(after)?)
            }
            StepKind::Map(_)
            | StepKind::Apply { .. }
            | StepKind::Strides(_)
            | StepKind::Swizzle { .. }
            | StepKind::SwizzleMode(_)
            | StepKind::SwizzleAuto(_)
            | StepKind::AlignBase(_)
            | StepKind::AlignAxis { .. }
            | StepKind::AlignOrigin(_)
            | StepKind::Fill(_)
            | StepKind::Padding(_)
            | StepKind::Separators(_)
            | StepKind::Notation { .. } => return Ok(()),
        };
        let known: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
        let map = map.map_err(|e| {
            let mut fault = step_fault(&e, &known, step_place(step, &e, ground));
            if let StepKind::Order(names) = &step.kind {
                let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
                with_order(&mut fault, &e, &names, &known);
            }
            fault
        })?;
        unique_names(&map, place)?;
        let applied = self.builder.apply(&map);
        Ok(self.built(applied, place)?)
    }
}

fn order_place(word: &SpannedText) -> OrderPlace {
    if word.value == "..." { OrderPlace::Others } else { OrderPlace::Axis(word.value.clone()) }
}
