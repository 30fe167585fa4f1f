//! How far the axes of an intermediate count, as those say that read it.

use layoutc_algebra::expr::Expr;

use super::statement_syntax::{ReadAst, StatementAst, ValueAst};
use super::tensor_table::TensorTable;
use crate::diagnostic::FileSpan;

/// What says how far an axis counts.
#[derive(Clone, Copy)]
pub(super) struct ExtentInference<'a> {
    /// The statements behind the one that writes the intermediate.
    pub(super) lines: &'a [StatementAst],
    /// The tensors that are known.
    pub(super) names: &'a TensorTable,
    /// The ranges that the kernel states.
    pub(super) ranges: &'a [(String, Expr, FileSpan)],
}

/// An extent, and what it is one of.
pub(super) struct ReaderExtent {
    pub(super) extent: Expr,
    pub(super) label: String,
}

impl ExtentInference<'_> {
    /// The extents of the axes that index a tensor alone at this place.
    pub(super) fn extents(self, tensor: &str, place: usize) -> Vec<ReaderExtent> {
        let mut found = Vec::new();
        let mut rest = self;
        while let Some((line, after)) = rest.lines.split_first() {
            rest.lines = after;
            let nodes = line.nodes();
            let reads = nodes.iter().filter_map(|node| node.read());
            let own = reads.filter(|read| read.tensor.name == tensor);
            for axis in own.filter_map(|read| read.index.get(place)?.lone_name()) {
                found.extend(rest.in_line(line, axis, tensor));
            }
        }
        found
    }

    /// How far an axis counts in a statement that reads `without`; those behind it are left.
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
        let nodes = line.nodes();
        let others = nodes.iter().filter_map(|node| ValueAst::read(node));
        let others = others.filter(|read| read.tensor.name != without);
        others
            .filter_map(|read: &ReadAst| {
                let place = read.index.iter().position(|index| index.lone_name() == Some(axis))?;
                self.shape(&read.tensor.name, read.index.len(), place)
            })
            .collect()
    }

    fn shape(self, tensor: &str, axes: usize, place: usize) -> Option<ReaderExtent> {
        let known = self.names.get(tensor).filter(|known| known.shape.len() == axes)?;
        let extent = known.shape.get(place)?.extent.clone();
        Some(ReaderExtent { extent, label: known.label.clone() })
    }
}
