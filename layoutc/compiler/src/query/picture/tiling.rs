//! Tile boundaries along the drawn axes, and the storage axes that determine the colors of tiles.

use layoutc_algebra::expr::Var;
use layoutc_algebra::layout::Layout;

use super::concrete_layout::ConcreteLayout;
use super::frame::SliceFrame;
use super::palette::COLORS;
use crate::machine::NVIDIA;
use crate::warp::bank;

/// Number of indices along an axis that are searched one by one for a change of the storage index. A change farther
/// away is found by binary search.
const NEAR: i128 = 4096;

/// Storage axis whose index changes along a logical axis, with the length of the first run of equal storage indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StorageRun {
    /// Position of the storage axis among the layout's storage axes.
    pub(super) storage: usize,
    /// Number of indices of the logical axis, from 0, that have the same storage index: 4 for `c // 4`.
    pub(super) length: i128,
}

/// Kind of the line between two neighboring cells or slots of a picture, from the lightest to the heaviest. In the
/// logical grid it depends on the storage axes with runs: those whose index stays the same for several neighboring
/// indices of the logical axis that the picture draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GridLine {
    /// No line.
    None,
    /// Line inside a tile: the index along some storage axis with runs changes, but not along the one with the longest
    /// runs. In the memory, a line inside a row at each multiple of a stride.
    Part,
    /// Line between tiles: the index along the storage axis with the longest runs changes.
    Tile,
    /// Line at which the index along some storage axis with runs changes, and with it the index along a physical axis
    /// other than the last one. In a memory with several physical axes, a line between rows whose indices differ along
    /// an axis other than the last two.
    Separator,
}

/// Tile boundaries of the drawn slice, and the storage axes that color the tiles.
#[derive(Debug)]
pub(super) struct SliceTiling {
    /// Storage axes whose index changes down the rows, with their runs.
    pub(super) rows: Vec<StorageRun>,
    /// Storage axes whose index changes across the columns, with their runs.
    pub(super) columns: Vec<StorageRun>,
    /// Positions of the storage axes that determine the color of an element, outermost first.
    pub(super) colors: Vec<usize>,
    /// Text of an element in the logical grid.
    pub(super) text: CellText,
}

/// Text of an element in the logical grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellText {
    /// Offset of the element in the flat buffer, in elements.
    Offset,
    /// Indices along these storage axes, by position, outermost first: an axis of threads and the axes after it.
    Indices(Vec<usize>),
    /// Bank of shared memory of the element's first byte; the member is the size of an element in bits.
    Bank(u32),
}

impl CellText {
    /// Bank of the element at `offset`; `None` if the text is not the bank.
    pub(super) fn bank(&self, offset: i128) -> Option<i64> {
        let Self::Bank(bits) = self else { return None };
        let address = offset.checked_mul(i128::from(*bits))?.div_euclid(8);
        Some(bank(i64::try_from(address).ok()?, &NVIDIA))
    }
}

/// Number of adjacent banks that share a color: 16 bytes, the widest access of a lane.
const BANKS_OF_A_COLOR: i64 = 4;

/// Names of storage axes that number the threads of a warp, wavefront or warpgroup.
const THREADS: [&str; 2] = ["lane", "thread"];

impl SliceTiling {
    pub(super) fn new(figures: &ConcreteLayout<'_>, frame: &SliceFrame) -> Self {
        let (rows, columns) =
            (runs(figures, frame, frame.rows), runs(figures, frame, frame.columns));
        let storage = figures.layout.storage();
        if let Some(threads) = storage.iter().position(|a| THREADS.contains(&a.name.as_str())) {
            let text = CellText::Indices((threads..storage.len()).collect());
            return Self { rows, columns, colors: vec![threads], text };
        }
        let mut colors: Vec<usize> =
            [&rows, &columns].into_iter().filter_map(|runs| coarsest(runs)).collect();
        if colors.is_empty() {
            // No drawn axis is split into tiles: color by the outermost storage axis.
            let mut all: Vec<usize> = rows.iter().chain(&columns).map(|run| run.storage).collect();
            all.sort_unstable();
            all.dedup();
            colors =
                if all.len() > 1 { all.first().copied().into_iter().collect() } else { Vec::new() };
        }
        colors.sort_unstable();
        colors.dedup();
        Self { rows, columns, colors, text: CellText::Offset }
    }

    /// Position in the palette of the color of an element. `storage` is the index of the element along each storage
    /// axis, `offset` its offset. With banks as text, the color is that of the bank. Else it depends on the last four of
    /// `colors`: two tiles whose indices differ by 1 along one of these axes have different colors.
    pub(super) fn color(&self, storage: &[i128], offset: i128) -> usize {
        if let Some(bank) = self.text.bank(offset) {
            return usize::try_from(bank / BANKS_OF_A_COLOR).unwrap_or(0) % COLORS;
        }
        let count = i128::try_from(COLORS).unwrap_or(1);
        let mut sum = 0;
        for (axis, factor) in self.colors.iter().rev().zip([1, 3, 2, 5]) {
            let index = storage.get(*axis).copied().unwrap_or(0);
            sum = (sum + index.rem_euclid(count) * factor) % count;
        }
        usize::try_from(sum).unwrap_or(0)
    }

    /// Names of the storage axes that determine the color of an element, outermost first; `bank` for banks.
    pub(super) fn colored_by(&self, layout: &Layout) -> Vec<String> {
        if let CellText::Bank(_) = self.text {
            return vec!["bank".to_owned()];
        }
        let name = |axis: &usize| layout.storage().get(*axis).map(|axis| axis.name.clone());
        self.colors.iter().filter_map(name).collect()
    }

    /// Length of a tile along a logical axis, in indices: the greatest length of `runs`, the runs along the axis.
    /// `None` if that is 1: the axis has no tiles.
    pub(super) fn block(runs: &[StorageRun]) -> Option<i128> {
        let longest = runs.iter().map(|run| run.length).max().unwrap_or(1);
        (longest > 1).then_some(longest)
    }

    /// Kind of the line between two neighboring cells along a logical axis with the runs `runs`. `storage` has the
    /// indices of both cells along the storage axes, `physical` those along the physical axes.
    pub(super) fn rule(
        runs: &[StorageRun],
        storage: [&[i128]; 2],
        physical: [&[i128]; 2],
    ) -> GridLine {
        let changes = |axis: usize| storage[0].get(axis) != storage[1].get(axis);
        let leading = physical.map(|index| index.split_last().map(|(_, leading)| leading));
        let longest = Self::block(runs);
        let parts = runs.iter().filter(|run| run.length > 1 && changes(run.storage));
        match (parts.map(|run| run.length).max(), leading[0] != leading[1]) {
            (Some(_), true) => GridLine::Separator,
            (Some(length), false) if Some(length) == longest => GridLine::Tile,
            (Some(_), false) => GridLine::Part,
            (None, _) => GridLine::None,
        }
    }
}

/// Position of the storage axis with the longest of `runs`, the runs along a logical axis. `None` if that run has
/// length 1, or if there are no runs.
fn coarsest(runs: &[StorageRun]) -> Option<usize> {
    let longest = SliceTiling::block(runs)?;
    runs.iter().find(|run| run.length == longest).map(|run| run.storage)
}

fn runs(figures: &ConcreteLayout<'_>, frame: &SliceFrame, axis: Option<usize>) -> Vec<StorageRun> {
    let Some(axis) = axis else { return Vec::new() };
    let extent = figures.logical.get(axis).copied().unwrap_or(0);
    let is_it = |var: Var| matches!(var, Var::Axis(k) if usize::try_from(k) == Ok(axis));
    let maps = figures.layout.storage_map().iter().enumerate();
    let along = maps.filter(|(_, index)| index.mentions(&is_it));
    let run = |(storage, _)| {
        let length = run_length(figures, frame, axis, extent, storage)?;
        Some(StorageRun { storage, length })
    };
    along.filter_map(run).collect()
}

/// Length of the first run of equal indices along the storage axis at position `storage`, as the index along the
/// logical axis `axis` increases from 0 to `extent`; other logical indices are those of `frame`. `None` if no change is
/// found.
fn run_length(
    figures: &ConcreteLayout<'_>,
    frame: &SliceFrame,
    axis: usize,
    extent: i128,
    storage: usize,
) -> Option<i128> {
    let mut index = frame.at.clone();
    let mut at = |value: i128| {
        index.get_mut(axis).into_iter().for_each(|slot| *slot = value);
        figures.storage_at(storage, &index)
    };
    let first = at(0);
    if let Some(length) = (1..extent.min(NEAR)).find(|value| at(*value) != first) {
        return Some(length);
    }
    // Beyond `NEAR` a binary search finds the end of the first run if the index is monotone, otherwise some change.
    let (mut same, mut other) = (extent.min(NEAR) - 1, extent - 1);
    if other <= same || at(other) == first {
        return None;
    }
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if at(middle) == first { same = middle } else { other = middle }
    }
    Some(other)
}
