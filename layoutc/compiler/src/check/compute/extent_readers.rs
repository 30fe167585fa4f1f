//! Inference of the extents of an intermediate's axes from the later statements that read the intermediate.

use layoutc_algebra::expr::Expr;

use super::statement_syntax::{ReadAst, StatementAst};
use super::tensor_table::TensorTable;
use crate::base::diagnostic::FileSpan;

/// Sources from which the extents of an intermediate's axes are inferred: the later statements `lines`, the tensor
/// table `names`, and the declared `ranges`. A range is a tuple (name of the axis, exclusive upper bound, location).
#[derive(Clone, Copy)]
pub(super) struct ExtentInference<'a> {
    /// Statements after the one that writes the intermediate, in textual order.
    pub(super) lines: &'a [StatementAst],
    pub(super) names: &'a TensorTable,
    pub(super) ranges: &'a [(String, Expr, FileSpan)],
}

/// Extent of an axis, and the name of the tensor or range that determines it.
pub(super) struct ReaderExtent {
    pub(super) extent: Expr,
    pub(super) label: String,
}

impl ExtentInference<'_> {
    /// Extents that later statements give to the axis at position `place` of the intermediate `tensor`. A read of
    /// `tensor` gives extents if its index at `place` is an axis alone, such as `i` in `T[i, j + 1]` for `place` 0:
    /// those that the reading statement gives to the axis. Empty if there are none.
    pub(super) fn extents(self, tensor: &str, place: usize) -> Vec<ReaderExtent> {
        let mut found = Vec::new();
        let mut rest = self;
        while let Some((line, after)) = rest.lines.split_first() {
            rest.lines = after;
            let own = line.reads().filter(|read| read.tensor.name == tensor);
            for axis in own.filter_map(|read| read.index.get(place)?.lone_name()) {
                found.extend(rest.in_line(line, axis, tensor));
            }
        }
        found
    }

    /// Extents of the axis `axis` in the statement `line`, from the first of these that exists: the range of the axis;
    /// the position of the axis in the target; the reads in which it is an index alone, except reads of `without`, the
    /// intermediate whose extent is inferred. `self.lines` are the statements after `line`. Empty if none of them
    /// determines the extent.
    fn in_line(self, line: &StatementAst, axis: &str, without: &str) -> Vec<ReaderExtent> {
        if let Some((_, extent, _)) = self.ranges.iter().find(|(name, ..)| name == axis) {
            return vec![ReaderExtent { extent: extent.clone(), label: format!("range {axis}") }];
        }
        let written = line.axes.iter().position(|word| word.name == axis);
        if let Some(place) = written {
            return match self.shape(&line.target.name, line.axes.len(), place) {
                Some(found) => vec![found],
                None => self.extents(&line.target.name, place),
            };
        }
        if let Some(index) = &line.scatter
            && let Some(place) = index.iter().position(|text| text.lone_name() == Some(axis))
        {
            return self.shape(&line.target.name, index.len(), place).into_iter().collect();
        }
        let others = line.reads().filter(|read| read.tensor.name != without);
        let extent = |read: &ReadAst| {
            let place = read.index.iter().position(|index| index.lone_name() == Some(axis))?;
            self.shape(&read.tensor.name, read.index.len(), place)
        };
        others.filter_map(extent).collect()
    }

    fn shape(self, tensor: &str, axes: usize, place: usize) -> Option<ReaderExtent> {
        let known = self.names.get(tensor).filter(|known| known.shape.len() == axes)?;
        let extent = known.shape.get(place)?.extent.clone();
        Some(ReaderExtent { extent, label: known.label.clone() })
    }
}
