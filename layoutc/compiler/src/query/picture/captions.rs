//! Captions and legend of a picture, as text.

use super::memory::MemorySlot;
use super::{CellText, GridCell, GridElement, Picture};

/// Names of axes with their extents, outermost first: `h 3, w 5`.
pub(super) fn extents(axes: &[(String, i128)]) -> String {
    let all: Vec<String> = axes.iter().map(|(name, extent)| format!("{name} {extent}")).collect();
    all.join(", ")
}

impl Picture {
    /// Title of the picture: name, element type, logical axes and values of symbols: `t: f32 [h 3, w 5] where n = 2`.
    pub(super) fn title(&self) -> String {
        let mut text = format!("{}: {} [{}]", self.tensor, self.dtype, extents(&self.logical));
        for (k, (name, value)) in self.symbols.iter().enumerate() {
            let word = if k == 0 { " where " } else { ", " };
            text.push_str(&format!("{word}{name} = {value}"));
        }
        text
    }

    /// Storage axes with their extents, outermost first; `|` stands for an axis separator:
    /// `n 16, h 64 | w 64, c_inner 4`.
    pub(super) fn storage_text(&self) -> String {
        if self.storage.is_empty() {
            return "one slot".to_owned();
        }
        let mut text = String::new();
        for (k, (name, extent)) in self.storage.iter().enumerate() {
            text.push_str(&format!("{name} {extent}"));
            if k + 1 < self.storage.len() {
                text.push_str(if self.separators.contains(&k) { " | " } else { ", " });
            }
        }
        text
    }

    fn name(&self, axis: Option<usize>) -> Option<&str> {
        Some(self.logical.get(axis?)?.0.as_str())
    }

    /// Text on the drawn slice: the drawn logical axes, and the fixed indices of the other axes:
    /// `h down, w across, n = 0`.
    pub(super) fn frame_text(&self) -> String {
        let drawn =
            [(self.name(self.frame.rows), "down"), (self.name(self.frame.columns), "across")];
        let mut parts: Vec<String> = drawn
            .into_iter()
            .filter_map(|(name, direction)| Some(format!("{} {direction}", name?)))
            .collect();
        for axis in self.frame.fixed_axes() {
            let index = self.frame.at.get(axis).copied().unwrap_or(0);
            parts.push(format!("{} = {index}", self.name(Some(axis)).unwrap_or_default()));
        }
        if parts.is_empty() { "one element".to_owned() } else { parts.join(", ") }
    }

    /// Text of an element in the logical grid, as [`Picture::text`] says: `5:3` for lane 5 and register 3.
    pub(super) fn label(&self, element: &GridElement) -> String {
        match &self.text {
            CellText::Offset => element.offset.to_string(),
            CellText::Indices(axes) => {
                let indices = axes.iter().filter_map(|axis| element.storage.get(*axis));
                indices.map(ToString::to_string).collect::<Vec<_>>().join(":")
            }
            CellText::Bank(_) => {
                self.text.bank(element.offset).map_or(String::new(), |bank| bank.to_string())
            }
        }
    }

    /// Meaning of the text of an element in the logical grid: `lane:register`, or `bank`. `None` if it is the offset.
    pub(super) fn label_axes(&self) -> Option<String> {
        let axes = match &self.text {
            CellText::Offset => return None,
            CellText::Bank(_) => return Some("bank".to_owned()),
            CellText::Indices(axes) => axes,
        };
        let names = axes.iter().filter_map(|axis| self.storage.get(*axis));
        let names: Vec<&str> = names.map(|axis| axis.0.as_str()).collect();
        (!names.is_empty()).then(|| names.join(":"))
    }

    /// Names of the logical axes whose indices are printed in the slots of the drawn memory: `h, w`.
    pub(super) fn indexed_by(&self) -> String {
        let names: Vec<&str> = [self.name(self.frame.rows), self.name(self.frame.columns)]
            .into_iter()
            .flatten()
            .collect();
        names.join(", ")
    }

    /// Texts, one for each physical axis: the names of its storage axes, outermost first. Storage axes `n, h | w, c`
    /// give `["n, h", "w, c"]`.
    pub(super) fn groups(&self) -> Vec<String> {
        let groups =
            layoutc_algebra::layout::physical::groups(self.storage.len(), &self.separators);
        let names = |range: std::ops::Range<usize>| {
            let axes = self.storage.get(range).unwrap_or_default();
            axes.iter().map(|axis| axis.0.as_str()).collect::<Vec<_>>().join(", ")
        };
        groups.into_iter().map(names).collect()
    }

    /// Text on the shape of the drawn memory. For the flat buffer: `24 slots, 6 rows of 4`. For several physical axes,
    /// the storage axes of the rows and of the columns: `n, h down, w across`.
    pub(super) fn memory_text(&self) -> String {
        let memory = &self.memory;
        if memory.is_matrix {
            let mut groups = self.groups();
            let across = groups.pop().unwrap_or_default();
            return format!("{} down, {across} across", groups.join(" | "));
        }
        let slots = counted(self.slots, "slot");
        if memory.row_count > 1 {
            format!("{slots}, {} of {}", counted(memory.row_count, "row"), memory.width)
        } else {
            slots
        }
    }

    /// Index of an element along the drawn axes, row before column: `2,5`; `[]` if no axis is drawn.
    pub(super) fn short(&self, logical: &[i128]) -> String {
        let drawn = [self.frame.rows, self.frame.columns].into_iter().flatten();
        let indices: Vec<String> =
            drawn.filter_map(|axis| logical.get(axis)).map(ToString::to_string).collect();
        if indices.is_empty() { "[]".to_owned() } else { indices.join(",") }
    }

    /// Kinds of cells in the picture that the legend has to explain.
    pub(super) fn shown(&self) -> LegendEntries {
        let slots = || self.memory.rows.iter().flat_map(|row| &row.slots);
        let has = |wanted: fn(&MemorySlot) -> bool| slots().any(wanted);
        let is_padding = |cell: &GridCell| matches!(cell, GridCell::Padding { .. });
        LegendEntries {
            padding: self.grid.cells.iter().flatten().any(is_padding)
                || has(|slot| *slot == MemorySlot::Padding),
            other: has(|slot| matches!(slot, MemorySlot::Other { logical: Some(_) })),
            outside: has(|slot| matches!(slot, MemorySlot::Other { logical: None })),
            unknown: has(|slot| *slot == MemorySlot::Unknown),
        }
    }
}

/// Kinds of cells in a picture that the legend explains, each a field that is true if the kind occurs: padding,
/// elements of another slice (`other`), slots outside of a view (`outside`), and slots of unknown content. Elements of
/// the drawn slice need no explanation.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(super) struct LegendEntries {
    pub(super) padding: bool,
    pub(super) other: bool,
    pub(super) outside: bool,
    pub(super) unknown: bool,
}

/// Count with its noun in singular or plural: `1 slot`, `2 slots`.
fn counted(count: i128, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
