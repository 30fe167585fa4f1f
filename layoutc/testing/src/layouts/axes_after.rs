//! Axes after a step: their extents, and the indices of an element along them.

use super::case::{Step, position};
use super::tree::{Open, ceil_div};

/// Extents of the axes after `step`, from the names and extents of the axes before the step, outermost first. `open` is
/// `Open::Some` if the extent of the first axis of the layout is symbolic. The extent of an item of a map is the
/// declared one, else the end of the interval of its index plus 1. `None` if an index has no interval, even if the
/// extent is declared.
pub fn extents_after(
    step: &Step,
    names: &[String],
    extents: &[i64],
    open: Open,
) -> Option<Vec<i64>> {
    Some(match step {
        Step::Map { items, .. } => {
            let mut after = Vec::new();
            for item in items {
                let own = item.index.index_interval(extents, open)?.1 + 1;
                after.push(item.extent.unwrap_or(own.max(0)));
            }
            after
        }
        Step::Order(order) => order.iter().map(|name| extents[position(names, name)]).collect(),
        Step::Split { axis, by, .. } => {
            let at = position(names, axis);
            let mut after = extents[..at].to_vec();
            after.push(ceil_div(extents[at], by.iter().product()));
            after.extend(by);
            after.extend(&extents[at + 1..]);
            after
        }
        Step::Fuse { axes, .. } => {
            let at = position(names, &axes[0]);
            let end = at + axes.len();
            let mut after = extents[..at].to_vec();
            after.push(extents[at..end].iter().product());
            after.extend(&extents[end..]);
            after
        }
        Step::Tile { entries, .. } => {
            let units = entries.len().saturating_sub(extents.len());
            let prefix = extents.len().saturating_sub(entries.len());
            let mut body = vec![1; units];
            body.extend(&extents[prefix..]);
            let (mut grid, mut inner, mut merged) = (Vec::new(), Vec::new(), 1);
            for (extent, entry) in body.iter().zip(entries) {
                merged *= extent;
                if let Some(tile) = entry {
                    grid.push(ceil_div(merged, *tile));
                    inner.push(*tile);
                    merged = 1;
                }
            }
            [&extents[..prefix], &grid, &inner].concat()
        }
        Step::PadMultiple { axis, multiple } => {
            let mut after = extents.to_vec();
            let at = position(names, axis);
            after[at] = ceil_div(after[at], *multiple) * multiple;
            after
        }
        Step::PadAround { axis, before, after: behind } => {
            let mut after = extents.to_vec();
            after[position(names, axis)] += before + behind;
            after
        }
        Step::Strides(_) | Step::Align { .. } | Step::Separators(_) => extents.to_vec(),
    })
}

/// Index of an element after `step`, from `index`, its index before the step, outermost axis first. `names` and
/// `extents` are those of the axes before the step.
pub fn index_after(step: &Step, names: &[String], extents: &[i64], index: &[i64]) -> Vec<i64> {
    match step {
        Step::Map { items, .. } => items.iter().map(|item| item.index.value(index)).collect(),
        Step::Order(order) => order.iter().map(|name| index[position(names, name)]).collect(),
        Step::Split { axis, by, .. } => {
            let at = position(names, axis);
            let mut parts = Vec::new();
            let mut rest = index[at];
            for factor in by.iter().rev() {
                parts.insert(0, rest % factor);
                rest /= factor;
            }
            parts.insert(0, rest);
            [&index[..at], &parts, &index[at + 1..]].concat()
        }
        Step::Fuse { axes, .. } => {
            let at = position(names, &axes[0]);
            let end = at + axes.len();
            let fused = index[at..end].iter().zip(&extents[at..end]).fold(0, |n, (i, e)| n * e + i);
            [&index[..at], &[fused], &index[end..]].concat()
        }
        Step::Tile { entries, .. } => {
            let units = entries.len().saturating_sub(extents.len());
            let prefix = extents.len().saturating_sub(entries.len());
            let (mut body, mut sizes) = (vec![0; units], vec![1; units]);
            body.extend(&index[prefix..]);
            sizes.extend(&extents[prefix..]);
            let (mut grid, mut inner, mut merged) = (Vec::new(), Vec::new(), 0);
            for ((value, extent), entry) in body.iter().zip(&sizes).zip(entries) {
                merged = merged * extent + value;
                if let Some(tile) = entry {
                    grid.push(merged / tile);
                    inner.push(merged % tile);
                    merged = 0;
                }
            }
            [&index[..prefix], &grid, &inner].concat()
        }
        Step::PadAround { axis, before, .. } => {
            let mut after = index.to_vec();
            after[position(names, axis)] += before;
            after
        }
        Step::PadMultiple { .. } | Step::Strides(_) | Step::Align { .. } | Step::Separators(_) => {
            index.to_vec()
        }
    }
}
