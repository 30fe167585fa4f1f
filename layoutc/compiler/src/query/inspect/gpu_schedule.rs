//! Schedules of GPU kernels in reports: thread blocks and threads, tiles, shared memory, and widths of accesses.

use layoutc_algebra::expr::Expr;

use super::PlanTargets;
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::schedule::{
    GpuRelayoutSchedule, ThreadPiece, TilePadding, TileSchedule,
};
use crate::loops::scheduled_kernel::StatementPlan;
use crate::loops::thread_mapping::ThreadMapping;
use crate::lower::context::Naming;
use crate::machine::GPU;
use crate::model::compute::KernelInstance;
use crate::model::{Manifest, layout_names};
use crate::plan::{self, GpuRelayout};

/// Lines on the schedule of a relayout. If some kernel needs aligned buffers, its lines precede those of the kernel for
/// other buffers.
pub(super) fn relayout_lines(GpuRelayout { schedule, symbols, .. }: &GpuRelayout) -> Vec<String> {
    let text = |expr: &Expr| layout_names::symbol_expr(expr, symbols);
    let tiled = match schedule {
        GpuRelayoutSchedule::Pieces(piece) => return vec![piece_text(*piece).to_owned()],
        GpuRelayoutSchedule::Tiles(tiled) => tiled,
    };
    let mut lines = match tiled.padding {
        TilePadding::Kept => Vec::new(),
        TilePadding::InTiles => vec!["tiles cover padding, which gets the fill value".to_owned()],
        TilePadding::First => vec!["a kernel fills the whole destination first".to_owned()],
    };
    if let Some(wide) = &tiled.wide {
        let [read, written] = wide.word_bytes();
        lines.push(format!("if buffers are aligned to {} bytes:", read.max(written)));
        lines.extend(tile_lines(wide, &text));
        lines.push("if not:".to_owned());
    }
    lines.extend(tile_lines(&tiled.single, &text));
    lines
}

/// Lines on the schedule of a kernel whose thread blocks copy tiles.
fn tile_lines(own: &TileSchedule, text: &dyn Fn(&Expr) -> String) -> Vec<String> {
    let extents = own.extents().into_iter().map(|(name, n)| format!("{n} of {name}"));
    let extents: Vec<String> = extents.collect();
    let tile = if extents.is_empty() { "one position".to_owned() } else { extents.join(" by ") };
    let blocks = if own.is_one_each() {
        "a thread block for each".to_owned()
    } else {
        format!("at most {} thread blocks", GPU.relayout_blocks)
    };
    let [read, written] = own.word_bytes();
    let mut lines = vec![
        format!("tiles of {tile}: {} tiles, {blocks}, {} threads", text(&own.tiles), GPU.threads),
        format!("loads of {read} bytes, stores of {written} bytes"),
    ];
    lines.extend(own.tile.transpose.map(|tile| {
        format!("a thread transposes blocks of {} by {} in registers", tile.rows, tile.columns)
    }));
    lines.extend(own.staging.as_ref().map(|staging| {
        let (elements, padding) = (staging.elements, staging.padding);
        format!("shared memory: {elements} words of {written} bytes, rows padded by {padding}")
    }));
    let held = own.held.iter().flatten().max();
    lines.extend(held.map(|held| format!("a thread holds {held} positions in registers")));
    lines
}

/// Text for the piece that a thread copies.
fn piece_text(piece: ThreadPiece) -> &'static str {
    match piece {
        ThreadPiece::Texel => "a thread for each texel",
        ThreadPiece::Slot => "a thread for each slot of the destination",
        ThreadPiece::Bytes => "a thread for each group of elements that fills bytes",
        ThreadPiece::Index => "a thread for each logical index",
        ThreadPiece::Whole => "one thread",
    }
}

/// Lines on the schedule of a kernel instance: that of a relayout if the kernel copies one operand to another, else those
/// of its statements. Empty if no target of `targets` has GPU kernels.
///
/// # Errors
/// As [`plan::gpu_kernels`].
pub(super) fn kernel_lines(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    targets: PlanTargets<'_>,
) -> Result<Vec<String>, PlanError> {
    let tensors = compute.operands.iter().filter_map(|operand| manifest.tensor(operand.tensor));
    if !targets.reach_gpu(&tensors.collect::<Vec<_>>()) {
        return Ok(Vec::new());
    }
    if let Some(relayout) = plan::gpu_copy_kernel(manifest, compute, naming)? {
        return Ok(relayout_lines(&relayout));
    }
    let plans = plan::gpu_statements(manifest, compute)?;
    Ok(plans.iter().flat_map(|plan| statement_lines(plan, compute)).collect())
}

/// Lines on the distribution of a statement's loops over GPU threads; none for a statement without a loop nest.
fn statement_lines(plan: &StatementPlan, compute: &KernelInstance) -> Vec<String> {
    let StatementPlan::Loops { schedule, mapping: Some(mapping), .. } = plan else {
        return Vec::new();
    };
    let name = |k: &usize| schedule.domain.loops.get(*k).map_or("", |found| found.name.as_str());
    let names = |loops: &[usize]| loops.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut lines = match mapping {
        ThreadMapping::Threads(outer) if outer.is_empty() => vec!["one thread".to_owned()],
        ThreadMapping::Threads(outer) => vec![format!("a thread for each {}", names(outer))],
        ThreadMapping::Blocks(own) => {
            let threads = own.threads.iter().enumerate().map(|(k, number)| {
                let along = own.grid.as_ref().and_then(|grid| grid.get(k));
                let along = along.map_or(String::new(), |n| format!(" by {n} threads"));
                let extent = schedule.domain.trip_count(*number).unwrap_or(1);
                format!("{} {extent}{along}", name(number))
            });
            let threads: Vec<String> = threads.collect();
            vec![
                format!("thread blocks of {} threads share {}", GPU.threads, names(&own.outer)),
                format!("threads share {}", threads.join(", ")),
            ]
        }
    };
    lines.extend(schedule.caches.iter().map(|cache| {
        let axes = cache.block.layout.logical().iter();
        let extents =
            axes.filter_map(|axis| axis.extent.as_const()).map(|extent| extent.to_string());
        let extents: Vec<String> = extents.collect();
        let memory = if cache.is_shared { "shared" } else { "private" };
        let name = compute.buffer_name(cache.buffer);
        format!("{memory} memory: {name} {} in {}", extents.join(" by "), cache.at.value)
    }));
    lines
}
