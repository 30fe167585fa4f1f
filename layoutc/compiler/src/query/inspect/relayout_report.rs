//! Reports on relayouts (pack, unpack and conversions): digits, loops, innermost kernels, pseudo-code.

use crate::model::{ConvertSchedule, StorePolicy};
use crate::plan::view;
use layoutc_algebra::expr::Expr;
use serde_json::{Value, json};

use super::{PlanTargets, gpu_schedule, labelled, number, pseudo_code};
use crate::base::diagnostic::Diagnostic;
use crate::emit::plan_fault;
use crate::loops::relayout::digits::CommonDigit;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions, RelayoutPart, RelayoutPlan};
use crate::loops::relayout::schedule::{RelayoutLoop, RelayoutPrimitive};
use crate::lower::context::Naming;
use crate::lower::relayout::padding::Padding;
use crate::machine::CPU;
use crate::model::layout_names;
use crate::model::{Manifest, Tensor, View};
use crate::passes;
use crate::plan::{self, RelayoutFunction};

/// Report on the plan of a relayout: pack, unpack or a conversion.
#[derive(Debug)]
pub struct RelayoutReport {
    relayout: RelayoutFunction,
    /// Directives of the `convert` that state the plan; `None` for other relayouts, and if no directives state the
    /// plan.
    schedule: Option<ConvertSchedule>,
    /// Lines on the schedule of the GPU kernels; empty without a target that has them, or if they cannot access the
    /// memory.
    gpu: Vec<String>,
}

/// Reports on the relayouts of a tensor, planned for C and for the GPUs of `targets`: pack, unpack, and the conversions
/// of which it is the source. A tensor with `memory none` has neither pack nor unpack.
///
/// # Errors
/// The diagnostic that a build gives if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub fn plans(
    manifest: &Manifest,
    tensor: &Tensor,
    targets: PlanTargets<'_>,
) -> Result<Vec<RelayoutReport>, Diagnostic> {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: targets.cores, primitives: Primitives::Runtime };
    let naming = Naming { prefix: "", avoid: &avoid, options };
    let fault = |error| plan_fault(tensor.places.layout.clone(), &tensor.name, &error);
    let moves = plan::relayouts(tensor, &naming).map_err(fault)?;
    let gpus = if targets.reach_gpu(&[tensor]) {
        plan::gpu_relayouts(tensor, &naming).map_err(fault)?
    } else {
        Vec::new()
    };
    let mut gpus = gpus.iter().map(gpu_schedule::relayout_lines);
    let report = |relayout| RelayoutReport::new(relayout, gpus.next().unwrap_or_default());
    let mut plans: Vec<RelayoutReport> = moves.into_iter().flatten().map(report).collect();
    plans.extend(conversions(manifest, tensor, &naming, targets)?);
    Ok(plans)
}

/// Reports on the relayouts of a view, planned for C: pack and unpack of a window with memory, and the conversions of
/// which the view is the source, these also for the GPUs of `targets`. A broadcast has no pack.
///
/// # Errors
/// The diagnostic that a build gives if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub fn view_plans(
    manifest: &Manifest,
    view: &View,
    targets: PlanTargets<'_>,
) -> Result<Vec<RelayoutReport>, Diagnostic> {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: targets.cores, primitives: Primitives::Runtime };
    let naming = Naming { prefix: "", avoid: &avoid, options };
    let moves = view::relayouts(view, &naming);
    let tensor = &view.tensor;
    let moves =
        moves.map_err(|error| plan_fault(tensor.places.layout.clone(), &tensor.name, &error))?;
    let mut plans: Vec<RelayoutReport> =
        moves.into_iter().map(|relayout| RelayoutReport::new(relayout, Vec::new())).collect();
    plans.extend(conversions(manifest, tensor, &naming, targets)?);
    Ok(plans)
}

/// Reports on the conversions of which a tensor, or a view in the form of a tensor, is the source. The error is the
/// diagnostic that a build gives if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
fn conversions(
    manifest: &Manifest,
    tensor: &Tensor,
    naming: &Naming<'_>,
    targets: PlanTargets<'_>,
) -> Result<Vec<RelayoutReport>, Diagnostic> {
    let mut plans = Vec::new();
    for convert in &manifest.converts {
        let ends = (manifest.tensor(convert.from), manifest.tensor(convert.to));
        let (Some(from), Some(to)) = ends else { continue };
        if from.name != tensor.name {
            continue;
        }
        let fault = |error| plan_fault(convert.place.clone(), &from.name, &error);
        let relayout = plan::convert(manifest, convert, naming).map_err(fault)?;
        let schedule = plan::convert_schedule(manifest, convert, naming).map_err(fault)?;
        let gpu = if targets.reach_gpu(&[from, to]) {
            plan::gpu_convert(manifest, convert, naming).map_err(fault)?
        } else {
            None
        };
        let gpu = gpu.as_ref().map(gpu_schedule::relayout_lines).unwrap_or_default();
        plans.extend(relayout.map(|relayout| RelayoutReport { relayout, schedule, gpu }));
    }
    Ok(plans)
}

impl RelayoutReport {
    /// Report on a relayout that no directives state, with the lines `gpu` on its GPU kernels.
    pub(super) fn new(relayout: RelayoutFunction, gpu: Vec<String>) -> Self {
        Self { relayout, schedule: None, gpu }
    }

    /// JSON form of the report. Strides are in elements. The size of a block along a digit is a number of the digit's
    /// values, `null` for a loop over the whole digit.
    pub fn json(&self) -> Value {
        let text = |expr: &Expr| layout_names::symbol_expr(expr, &self.relayout.symbols);
        let plan = self.relayout.plan.as_ref();
        let parts = plan.map(|plan| plan.parts.iter().map(|p| part_json(p, &text)).collect());
        let parts: Option<Vec<Value>> = parts;
        let schedule = self.schedule.as_ref().map(directives);
        let mut object = json!({
            "name": self.relayout.function.name,
            "schedule": schedule,
            "by": if plan.is_some() { "digits" } else { "elements" },
            "parts": parts.unwrap_or_default(),
            "padding": self.padding(),
            "stores": plan.map(|plan| self.stores(plan)),
            "code": pseudo_code::lines(self.relayout.function.body.clone()),
        });
        if !self.gpu.is_empty() {
            object["gpu"] = self.gpu.clone().into();
        }
        object
    }

    /// Text form of the report, one property per line.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.relayout.function.name, super::lines_text(&self.lines()))
    }

    /// Properties of the relayout as pairs (label, line): digits, loops, code inside the loops, stores, padding,
    /// directives, pseudo-code.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines: Vec<(&'static str, String)> = Vec::new();
        match &self.relayout.plan {
            None => {
                lines.push((
                    "loops",
                    "one element at a time: the maps have no common digits".into(),
                ));
            }
            Some(plan) => {
                for (k, part) in plan.parts.iter().enumerate() {
                    if plan.parts.len() > 1 {
                        lines.push((
                            "part",
                            format!("{} of {}", k.saturating_add(1), plan.parts.len()),
                        ));
                    }
                    lines.extend(self.part_lines(part));
                }
                lines.push(("stores", self.stores(plan).to_owned()));
            }
        }
        lines.push(("padding", self.padding().to_owned()));
        lines.extend(labelled("schedule", self.schedule.iter().flat_map(directives)));
        lines.extend(labelled("gpu", self.gpu.iter().cloned()));
        lines.extend(labelled("code", pseudo_code::lines(self.relayout.function.body.clone())));
        lines
    }

    fn part_lines(&self, part: &RelayoutPart) -> Vec<(&'static str, String)> {
        let text = |expr: &Expr| layout_names::symbol_expr(expr, &self.relayout.symbols);
        let digits = part.refinement.digits.iter().filter(|digit| !digit.is_unit());
        let digits = digits.map(|CommonDigit { name, extent, from_stride, to_stride, .. }| {
            let (from, to) = (text(from_stride), text(to_stride));
            format!("{name} {}: stride {from} to {to}", text(extent))
        });
        let mut lines: Vec<_> = labelled("digits", digits).collect();
        let loops: Vec<String> =
            part.schedule.levels.iter().map(|level| level_text(part, level)).collect();
        let none = "none".to_owned();
        lines.push(("loops", if loops.is_empty() { none } else { loops.join(", ") }));
        lines.push(("inside", inside_text(part)));
        lines
    }

    /// Text on the stores of the relayout: `streaming`, `cached`, or the sizes of the destination above which they are
    /// streaming.
    fn stores(&self, plan: &RelayoutPlan) -> &'static str {
        let is_small =
            plan.whole_bytes.as_const().is_some_and(|bytes| bytes <= CPU.stream_bytes.into());
        match plan.stores {
            _ if !passes::streams(&self.relayout.function.body) => "cached",
            Some(StorePolicy::Streaming) => "streaming",
            Some(StorePolicy::Cached) => "cached",
            None if is_small => "cached",
            None => {
                "streaming from 12 MiB on AMD processors, from 32 MiB on Intel processors that benefit"
            }
        }
    }

    /// Text on the padding of the relayout's destination: `none`, `not written`, or a sentence on how it is filled.
    fn padding(&self) -> &'static str {
        match self.relayout.padding {
            Padding::None => "none",
            Padding::Kept => "not written",
            Padding::First => "the whole destination is filled first",
            Padding::Alone => "only padding is filled",
        }
    }
}

fn level_text(part: &RelayoutPart, level: &RelayoutLoop) -> String {
    let name = digit_name(part, level.digit());
    let cores = if part.parallel == Some(*level) { " (parallel)" } else { "" };
    match level {
        RelayoutLoop::Digit(_) => format!("{name}{cores}"),
        RelayoutLoop::Tiles { size, .. } => format!("{name} by {size}{cores}"),
    }
}

/// Description of the code inside the loops of one loop nest: single elements, a transpose tile, or copies of
/// contiguous runs.
fn inside_text(part: &RelayoutPart) -> String {
    let name = |k| digit_name(part, k);
    match part.schedule.inner {
        RelayoutPrimitive::Element => {
            "one element; a contiguous innermost loop is a single copy".to_owned()
        }
        RelayoutPrimitive::Transpose { rows, columns, together, count, bytes } => {
            let unit = if bytes == 1 { "byte" } else { "bytes" };
            let of = together.map_or(String::new(), |k| format!(" (all of {})", name(k)));
            let (rows, columns) = (name(rows), name(columns));
            let what = match count.map(name) {
                Some(count) => format!("tiles of all {count} are transposed"),
                None => "a tile is transposed".to_owned(),
            };
            format!("{what}: {rows} by {columns}, {bytes} {unit} each{of}")
        }
        RelayoutPrimitive::Runs { run, count } => {
            format!("runs of {} are copied, {} of them", name(run), name(count))
        }
    }
}

fn digit_name(part: &RelayoutPart, k: usize) -> String {
    part.refinement.digits.get(k).map_or(String::new(), |digit| digit.name.clone())
}

fn part_json(part: &RelayoutPart, text: &dyn Fn(&Expr) -> String) -> Value {
    let digit = |digit: &CommonDigit| {
        json!({
            "name": digit.name,
            "extent": number(&digit.extent, text),
            "from_stride": number(&digit.from_stride, text),
            "to_stride": number(&digit.to_stride, text),
        })
    };
    let level = |level: &RelayoutLoop| {
        let block = match level {
            RelayoutLoop::Digit(_) => None,
            RelayoutLoop::Tiles { size, .. } => Some(*size),
        };
        let parallel = part.parallel == Some(*level);
        json!({ "digit": digit_name(part, level.digit()), "block": block, "parallel": parallel })
    };
    let inside = match part.schedule.inner {
        RelayoutPrimitive::Element => json!({ "kind": "elements" }),
        RelayoutPrimitive::Transpose { rows, columns, together, count, bytes } => json!({
            "kind": "blocks",
            "rows": digit_name(part, rows),
            "columns": digit_name(part, columns),
            "together": together.map(|k| digit_name(part, k)),
            "count": count.map(|k| digit_name(part, k)),
            "bytes": bytes,
        }),
        RelayoutPrimitive::Runs { run, count } => {
            json!({ "kind": "runs", "run": digit_name(part, run), "count": digit_name(part, count) })
        }
    };
    let digits = part.refinement.digits.iter().filter(|digit| !digit.is_unit());
    json!({
        "digits": digits.map(digit).collect::<Vec<_>>(),
        "loops": part.schedule.levels.iter().map(level).collect::<Vec<_>>(),
        "inside": inside,
    })
}

/// Lines of the directives of a `convert`, one for each directive.
fn directives(schedule: &ConvertSchedule) -> Vec<String> {
    let ConvertSchedule { order, block, inside, stores, fill } = schedule;
    let names: Vec<&str> = order.iter().map(|name| name.value.as_str()).collect();
    let lines = [
        (!names.is_empty()).then(|| format!("order {}", names.join(" "))),
        block.as_ref().map(|sizes| format!("block {} {}", sizes.value[0], sizes.value[1])),
        inside.as_ref().map(|kind| format!("inside {}", kind.value.keyword())),
        stores.as_ref().map(|policy| format!("stores {}", policy.value.keyword())),
        fill.as_ref().map(|strategy| format!("fill {}", strategy.value.keyword())),
    ];
    lines.into_iter().flatten().collect()
}
