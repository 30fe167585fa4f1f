//! Arrows of a drawing: straight down to the next row, or around the boxes of the rows between. Arrows to one box end
//! side by side, with their labels stacked.

use super::drawing::{GraphArrow, GraphDrawing};
use super::svg::{BOX, GAP, PositionedBox, escaped};

/// Distances between arrows at one box, and between lanes next to the boxes, in pixels.
const APART: usize = 46;
const LANE: usize = 14;

/// Draws all arrows.
pub(super) fn svg(drawing: &GraphDrawing, placed: &[Option<PositionedBox<'_>>]) -> String {
    let place = |k: usize| placed.get(k).and_then(Option::as_ref);
    let mut text = String::new();
    let mut lanes = ArrowLanes { placed, left: 0, right: 0 };
    for target in 0..placed.len() {
        let mut arrows: Vec<&GraphArrow> =
            drawing.arrows.iter().filter(|arrow| arrow.to == target).collect();
        arrows.sort_by_key(|arrow| place(arrow.from).map(|from| from.x));
        let spread = arrows.len().saturating_sub(1) * APART;
        for (k, arrow) in arrows.iter().enumerate() {
            let (Some(from), Some(to)) = (place(arrow.from), place(target)) else { continue };
            let x = (to.x + k * APART).saturating_sub(spread / 2);
            let is_long = to.y > from.y + BOX.1 + GAP.1;
            text.push_str(&if is_long {
                lanes.arrow(from, (x, to.y), &arrow.label)
            } else {
                short(from, (x, to.y), &arrow.label, k)
            });
        }
    }
    text
}

/// Arrow to the next row.
fn short(from: &PositionedBox<'_>, (x, y): (usize, usize), label: &str, k: usize) -> String {
    let start = from.y + BOX.1;
    let bend = GAP.1 / 2;
    let path = format!(
        "M {} {start} C {} {} {x} {} {x} {}",
        from.x,
        from.x,
        start + bend,
        y.saturating_sub(bend),
        y.saturating_sub(5)
    );
    let below = y.saturating_sub(GAP.1 / 3) - (k % 3) * 12;
    drawn(&path, (x, y)) + &label_svg((x.midpoint(from.x), below), "middle", label)
}

/// Lanes next to the boxes.
struct ArrowLanes<'p, 'd> {
    placed: &'p [Option<PositionedBox<'d>>],
    /// Number of arrows that pass on each side.
    left: usize,
    right: usize,
}

impl ArrowLanes<'_, '_> {
    /// Arrow around the boxes of the rows between.
    fn arrow(&mut self, from: &PositionedBox<'_>, (x, y): (usize, usize), label: &str) -> String {
        let start = from.y + BOX.1;
        let between: Vec<usize> = self
            .placed
            .iter()
            .flatten()
            .filter(|other| other.y > from.y && other.y < y)
            .map(|other| other.x)
            .collect();
        let half = BOX.0 / 2 + LANE;
        let left = between.iter().min().map_or(x, |x| x.saturating_sub(half));
        let right = between.iter().max().map_or(x, |x| x + half);
        let is_left =
            from.x.abs_diff(left) + x.abs_diff(left) <= from.x.abs_diff(right) + x.abs_diff(right);
        let used = if is_left { &mut self.left } else { &mut self.right };
        let offset = *used % 6 * LANE;
        *used += 1;
        let lane = if is_left { left.saturating_sub(offset) } else { right + offset };
        let bend = GAP.1 / 2;
        let path = format!(
            "M {} {start} C {} {} {lane} {} {lane} {} L {lane} {} C {lane} {} {x} {} {x} {}",
            from.x,
            from.x,
            start + bend,
            start + bend / 2,
            start + GAP.1,
            y.saturating_sub(GAP.1),
            y.saturating_sub(bend / 2),
            y.saturating_sub(bend),
            y.saturating_sub(5)
        );
        let (side, anchor) =
            if is_left { (lane.saturating_sub(4), "end") } else { (lane + 4, "start") };
        drawn(&path, (x, y)) + &label_svg((side, start + GAP.1 + 4 + offset), anchor, label)
    }
}

/// Line with an arrow head.
fn drawn(path: &str, (x, y): (usize, usize)) -> String {
    format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"#80868b\"/>\n\
         <path d=\"M {x} {y} l 4 -7 l -8 0 z\" fill=\"#80868b\"/>\n"
    )
}

fn label_svg((x, y): (usize, usize), anchor: &str, label: &str) -> String {
    format!(
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"10\" fill=\"#5f6368\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
        escaped(label)
    )
}
