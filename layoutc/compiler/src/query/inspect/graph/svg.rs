//! SVG drawing of a solved graph: rows of boxes from the inputs down, each below its operands.

use super::arrows;
use super::drawing::{BoxKind, GraphBox, GraphDrawing};
use crate::model::graph::Graph;
use crate::solve::GraphPlan;

/// Sizes in pixels.
pub(super) const BOX: (usize, usize) = (190, 44);
pub(super) const GAP: (usize, usize) = (70, 56);
const MARGIN: usize = 24;
const HEAD: usize = 40;
/// Margin at each side for arrows around rows.
const SIDE: usize = 150;

/// Box with the middle of its upper edge.
pub(super) struct PositionedBox<'d> {
    pub(super) shown: &'d GraphBox,
    pub(super) x: usize,
    pub(super) y: usize,
}

/// SVG drawing of a solved graph.
pub fn svg(graph: &Graph, plan: &GraphPlan) -> String {
    let drawing = GraphDrawing::new(graph, plan);
    let rows = rows(&drawing);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0).max(2);
    let width = SIDE * 2 + widest * (BOX.0 + GAP.0);
    let height = HEAD + MARGIN + rows.len() * (BOX.1 + GAP.1) - GAP.1;
    let mut placed: Vec<Option<PositionedBox<'_>>> = drawing.boxes.iter().map(|_| None).collect();
    for (row, members) in rows.iter().enumerate() {
        let used = members.len() * (BOX.0 + GAP.0);
        let left = (width - used + BOX.0 + GAP.0) / 2;
        for (column, member) in members.iter().enumerate() {
            let (x, y) = (left + column * (BOX.0 + GAP.0), HEAD + row * (BOX.1 + GAP.1));
            let shown = drawing.boxes.get(*member);
            if let (Some(slot), Some(shown)) = (placed.get_mut(*member), shown) {
                *slot = Some(PositionedBox { shown, x, y });
            }
        }
    }
    let proof = if plan.is_optimal() { "proven least" } else { "not proven least" };
    let title = format!("{}: {} bytes, {proof}", graph.name, plan.cost);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>\n",
        escaped(&title)
    );
    text.push_str(&arrows::svg(&drawing, &placed));
    for placed in placed.iter().flatten() {
        text.push_str(&box_svg(placed));
    }
    text + "</svg>\n"
}

/// Rows of boxes: each is in the row after the lowest of its predecessors, an external tensor right above its first
/// reader.
fn rows(drawing: &GraphDrawing) -> Vec<Vec<usize>> {
    let count = drawing.boxes.len();
    let mut depth = vec![0_usize; count];
    // Boxes follow their predecessors except for conversions, which follow their source, so two passes suffice.
    for _ in 0..2 {
        for arrow in &drawing.arrows {
            let below = depth.get(arrow.from).map_or(0, |row| row + 1);
            if let Some(row) = depth.get_mut(arrow.to) {
                *row = (*row).max(below);
            }
        }
    }
    for k in (0..count).rev() {
        let is_source = drawing
            .boxes
            .get(k)
            .is_some_and(|shown| matches!(shown.kind, BoxKind::Input | BoxKind::Constant));
        let is_moved =
            is_source || drawing.boxes.get(k).is_some_and(|s| s.kind == BoxKind::Conversion);
        let readers = drawing.arrows.iter().filter(|arrow| arrow.from == k);
        let first = readers.filter_map(|arrow| depth.get(arrow.to)).min().copied();
        if let (true, Some(first), Some(row)) = (is_moved, first, depth.get_mut(k)) {
            *row = first.saturating_sub(1).max(*row);
        }
    }
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (k, row) in depth.iter().enumerate() {
        while rows.len() <= *row {
            rows.push(Vec::new());
        }
        rows.get_mut(*row).into_iter().for_each(|members| members.push(k));
    }
    rows
}

fn box_svg(placed: &PositionedBox<'_>) -> String {
    let PositionedBox { shown, x, y } = placed;
    let (width, height) = BOX;
    let left = x - width / 2;
    let (fill, stroke, round, dash) = match shown.kind {
        BoxKind::Operator => ("#e8f0fe", "#3367d6", 3, ""),
        BoxKind::Input | BoxKind::Output => ("#e6f4ea", "#188038", 22, ""),
        BoxKind::Constant => ("#f1f3f4", "#5f6368", 22, " stroke-dasharray=\"4 3\""),
        BoxKind::Conversion => ("#ffe0b2", "#e37400", 12, ""),
    };
    format!(
        "<rect x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\" fill=\"{fill}\" stroke=\"{stroke}\"{dash}/>\n\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444444\">{}</text>\n",
        y + 18,
        escaped(&shown.title),
        y + 34,
        escaped(&shown.below)
    )
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
