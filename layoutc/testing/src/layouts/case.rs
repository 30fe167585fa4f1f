//! Random layouts as data: axes and steps, with their text in manifests.

use std::fmt::Write;

use super::tree::{Open, Tree};

/// Item of a map, which defines one axis after the map: its name, its index expression over the axes before the map,
/// and its declared extent. The extent is `None` if it follows from the interval of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapItem {
    pub name: String,
    pub index: Tree,
    pub extent: Option<i64>,
}

/// Step of a layout, with the meaning of the step of the same name in manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Map. `separators` has the positions of the items that an axis separator follows. `all_parentheses` is true if
    /// the text of the map has a pair of parentheses around every operation, instead of only the necessary ones.
    Map {
        items: Vec<MapItem>,
        separators: Vec<usize>,
        all_parentheses: bool,
    },
    Order(Vec<String>),
    Split {
        axis: String,
        by: Vec<i64>,
        into: Vec<String>,
    },
    Fuse {
        axes: Vec<String>,
        into: String,
    },
    /// Tiles of the last axes, one entry per axis; an entry `None` is written `*` and merges its axis with the next
    /// one. More entries than axes stand for leading axes of extent 1. `names` are those of the new axes: first the
    /// grid of tiles, then the axes within a tile.
    Tile {
        entries: Vec<Option<i64>>,
        names: Vec<String>,
    },
    PadMultiple {
        axis: String,
        multiple: i64,
    },
    PadAround {
        axis: String,
        before: i64,
        after: i64,
    },
    Strides(Vec<i64>),
    Align {
        axis: String,
        bytes: i64,
    },
    Separators(Vec<String>),
}

/// Random layout to be tested: the pairs `axes` of name and extent of the logical axes, outermost first, the size of an
/// element in bits, and the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub axes: Vec<(String, i64)>,
    /// Declared facts of the symbol `batch`, if it is the extent of the first axis. The extent in `axes` is then one
    /// value of the symbol. `None` for a layout without symbols.
    pub symbol: Option<Facts>,
    pub element_bits: i64,
    pub steps: Vec<Step>,
}

/// Declared facts about the values of a symbol: each is in `min..=max` and a multiple of `multiple`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub min: i64,
    pub max: i64,
    pub multiple: i64,
}

impl Case {
    /// `Open::Some` if the extent of the first axis is a symbol.
    pub fn open(&self) -> Open {
        if self.symbol.is_some() { Open::Some } else { Open::None }
    }

    /// Text of the layout in the syntax of manifests, one line per step.
    pub fn lines(&self) -> Vec<String> {
        let mut names: Vec<String> = self.axes.iter().map(|(name, _)| name.clone()).collect();
        let mut lines = Vec::new();
        for step in &self.steps {
            lines.push(step.text(&names));
            names = step.names(&names);
        }
        lines
    }

    /// Text of the layout on one line, for messages: the axes, the size of elements, the symbol, and the steps.
    pub fn describe(&self) -> String {
        let axes: Vec<String> =
            self.axes.iter().map(|(name, extent)| format!("{name} {extent}")).collect();
        format!(
            "{{ {} }} ({} bits, {:?}): {}",
            axes.join("; "),
            self.element_bits,
            self.symbol,
            self.lines().join("; ")
        )
    }

    /// Copy of the layout in which the extent of the first axis is `batch`, which stands for another value of the
    /// symbol.
    #[must_use]
    pub fn at(&self, batch: i64) -> Self {
        let mut case = self.clone();
        case.axes[0].1 = batch;
        case
    }
}

impl Step {
    pub fn text(&self, names: &[String]) -> String {
        match self {
            Self::Map { .. } => format!("map \"{}\"", self.map_text(names)),
            Self::Order(axes) => format!("order {}", axes.join(" ")),
            Self::Split { axis, by, into } => {
                format!("split {axis} into=\"{}\" by=\"{}\"", into.join(" "), spaced(by))
            }
            Self::Fuse { axes, into } => format!("fuse {} as={into}", axes.join(" ")),
            Self::Tile { entries, names } => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|e| e.map_or_else(|| "*".to_owned(), |extent| extent.to_string()))
                    .collect();
                format!("tile {} as=\"{}\"", entries.join(" "), names.join(" "))
            }
            Self::PadMultiple { axis, multiple } => format!("pad {axis} multiple={multiple}"),
            Self::PadAround { axis, before, after } => {
                format!("pad {axis} before={before} after={after}")
            }
            Self::Strides(strides) => format!("strides {}", spaced(strides)),
            Self::Align { axis, bytes } => format!("align {axis} {bytes}"),
            Self::Separators(names) => format!("axis-separators {}", names.join(" ")),
        }
    }

    /// Text of the step as the argument of `map` in a manifest, without quotes; empty if the step is no map. `names`
    /// are those of the axes before the step.
    pub fn map_text(&self, names: &[String]) -> String {
        let Self::Map { items, separators, all_parentheses } = self else { return String::new() };
        let mut text = format!("({}) -> (", names.join(", "));
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                text.push_str(if separators.contains(&(k - 1)) { " | " } else { ", " });
            }
            write!(text, "{} = {}", item.name, item.index.text(names, *all_parentheses)).unwrap();
            if let Some(extent) = item.extent {
                write!(text, " : {extent}").unwrap();
            }
        }
        text.push(')');
        text
    }

    /// Names of the axes after the step, from `names`, the names of the axes before the step.
    pub fn names(&self, names: &[String]) -> Vec<String> {
        match self {
            Self::Map { items, .. } => items.iter().map(|item| item.name.clone()).collect(),
            Self::Order(axes) => axes.clone(),
            Self::Split { axis, into, .. } => {
                let at = position(names, axis);
                [&names[..at], into, &names[at + 1..]].concat()
            }
            Self::Fuse { axes, into } => {
                let at = position(names, &axes[0]);
                [&names[..at], std::slice::from_ref(into), &names[at + axes.len()..]].concat()
            }
            Self::Tile { entries, names: own } => {
                [&names[..names.len().saturating_sub(entries.len())], own].concat()
            }
            _ => names.to_vec(),
        }
    }
}

fn spaced(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

pub fn position(names: &[String], name: &str) -> usize {
    names.iter().position(|n| n == name).unwrap()
}
