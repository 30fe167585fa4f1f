//! CuTe layouts of nested modes, [`CuteLayout`], with conversion between coordinates, indices and offsets.

use alloc::vec::Vec;
use core::fmt;

use super::error::CuteError;
use super::flat::{self, CuteMode};
use super::tuple::IntTuple;

/// Maximum nesting depth of modes in an input; results may nest twice as deep. A deeper layout is refused with
/// [`CuteError::Depth`], a deeper text with a fault.
pub(super) const MAX_DEPTH: usize = 64;

/// Tree of nested modes: a single mode, or a list of trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModeTree {
    Mode(CuteMode),
    List(Vec<ModeTree>),
}

impl ModeTree {
    /// Tree of a flat list of modes: a list, the mode itself if there is only one, and `1:0` if there are none.
    pub(super) fn of(modes: &[CuteMode]) -> Self {
        match modes {
            [] => Self::Mode(CuteMode::UNIT),
            [mode] => Self::Mode(*mode),
            _ => Self::List(modes.iter().copied().map(Self::Mode).collect()),
        }
    }

    /// Modes of the tree in order, the first one fastest.
    pub(super) fn flat(&self) -> Vec<CuteMode> {
        let mut modes = Vec::new();
        self.flatten(&mut modes);
        modes
    }

    fn flatten(&self, into: &mut Vec<CuteMode>) {
        match self {
            Self::Mode(mode) => into.push(*mode),
            Self::List(list) => list.iter().for_each(|node| node.flatten(into)),
        }
    }

    /// Top-level modes of the tree, each as a tree; for a tree of a single mode, that tree alone.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Mode(_) => core::slice::from_ref(self),
            Self::List(list) => list,
        }
    }

    fn tuple(&self, of: fn(&CuteMode) -> i128) -> IntTuple {
        match self {
            Self::Mode(mode) => IntTuple::Integer(of(mode)),
            Self::List(list) => IntTuple::List(list.iter().map(|node| node.tuple(of)).collect()),
        }
    }

    fn size(&self) -> i128 {
        self.flat().iter().fold(1, |size, mode| size.saturating_mul(mode.extent))
    }

    fn fits(&self, depth: usize) -> bool {
        match self {
            Self::Mode(_) => true,
            Self::List(list) => {
                depth > 0 && !list.is_empty() && list.iter().all(|node| node.fits(depth - 1))
            }
        }
    }
}

/// CuTe layout: a shape with congruent strides such as `(4,(2,2)):(1,(4,8))`, the first mode fastest.
///
/// ```
/// use layoutc_algebra::Error;
/// use layoutc_algebra::cute::{IntTuple, parse_layout};
///
/// let layout = parse_layout("(4,8):(8,1)")?;
/// assert_eq!((layout.size(), layout.cosize()), (32, 32));
/// let coordinate = IntTuple::List(vec![IntTuple::Integer(3), IntTuple::Integer(5)]);
/// assert_eq!(layout.index(&coordinate)?, 3 * 8 + 5);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteLayout {
    root: ModeTree,
}

impl CuteLayout {
    /// Creates a layout from a shape and strides in elements.
    ///
    /// # Errors
    /// [`CuteError::Congruence`] if shape and strides have different nesting, [`CuteError::Extent`] for an extent below
    /// 1 or a stride below 0, [`CuteError::Size`] if size or cosize does not fit 64 bits, [`CuteError::Depth`] if the
    /// modes nest deeper than 64 levels, or a list of them is empty.
    pub fn new(shape: &IntTuple, stride: &IntTuple) -> Result<Self, CuteError> {
        Self::from_node(pair(shape, stride, MAX_DEPTH)?)
    }

    /// Creates a layout from a flat list of modes, the first one fastest: `(4,2):(2,1)` for two modes, `4:2` for
    /// one, `1:0` for none.
    ///
    /// # Errors
    /// [`CuteError::Extent`] for an extent below 1 or a stride below 0, [`CuteError::Size`] if size or cosize does not
    /// fit 64 bits.
    pub fn of_modes(modes: &[CuteMode]) -> Result<Self, CuteError> {
        Self::from_node(ModeTree::of(modes))
    }

    pub(super) fn from_node(root: ModeTree) -> Result<Self, CuteError> {
        if !root.fits(2 * MAX_DEPTH) {
            return Err(CuteError::Depth);
        }
        if let Some(mode) = root.flat().iter().find(|mode| mode.extent < 1 || mode.stride < 0) {
            return Err(CuteError::Extent { mode: *mode });
        }
        let layout = Self { root };
        if layout.size().max(layout.cosize()) > i128::from(i64::MAX) {
            return Err(CuteError::Size);
        }
        Ok(layout)
    }

    /// Layout `1:0`, which has a single index.
    pub(super) fn unit() -> Self {
        Self { root: ModeTree::Mode(CuteMode::UNIT) }
    }

    pub(super) fn node(&self) -> &ModeTree {
        &self.root
    }

    /// Modes of the layout without nesting, the first one fastest.
    pub fn flat(&self) -> Vec<CuteMode> {
        self.root.flat()
    }

    /// Top-level modes of the layout, each as a layout. A layout of a single mode is its own only mode.
    pub fn modes(&self) -> Vec<Self> {
        self.root.parts().iter().map(|node| Self { root: node.clone() }).collect()
    }

    /// Extents of the modes, in the nesting of the modes.
    pub fn shape(&self) -> IntTuple {
        self.root.tuple(|mode| mode.extent)
    }

    /// Strides of the modes in elements, in the nesting of the modes.
    pub fn stride(&self) -> IntTuple {
        self.root.tuple(|mode| mode.stride)
    }

    /// Number of indices of the layout: the product of the extents.
    pub fn size(&self) -> i128 {
        self.root.size()
    }

    /// Largest offset plus 1: 28 for `(2,3):(3,12)`.
    pub fn cosize(&self) -> i128 {
        self.flat().iter().fold(1_i128, |sum, mode| {
            sum.saturating_add((mode.extent - 1).saturating_mul(mode.stride))
        })
    }

    /// Offset in elements of a coordinate. The coordinate is an integer below the size, which is the index of an
    /// element, or a tuple with an integer or tuple per mode.
    ///
    /// # Errors
    /// [`CuteError::Coordinate`] if the coordinate is outside the shape, or not nested like the shape.
    pub fn index(&self, coordinate: &IntTuple) -> Result<i128, CuteError> {
        index(&self.root, coordinate).ok_or_else(|| CuteError::Coordinate {
            coordinate: coordinate.clone(),
            shape: self.shape(),
        })
    }

    /// Coordinate of an index, nested like the shape: `(1,2)` for index 9 of the shape `(4,3)`.
    ///
    /// # Errors
    /// [`CuteError::Coordinate`] if the index is negative or not below the size.
    pub fn coordinate(&self, index: i128) -> Result<IntTuple, CuteError> {
        if index < 0 || index >= self.size() {
            let coordinate = IntTuple::Integer(index);
            return Err(CuteError::Coordinate { coordinate, shape: self.shape() });
        }
        Ok(coordinate(&self.root, index))
    }
}

impl fmt::Display for CuteLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.shape(), self.stride())
    }
}

fn pair(shape: &IntTuple, stride: &IntTuple, depth: usize) -> Result<ModeTree, CuteError> {
    match (shape, stride) {
        (IntTuple::Integer(extent), IntTuple::Integer(stride)) => {
            Ok(ModeTree::Mode(CuteMode::new(*extent, *stride)))
        }
        (IntTuple::List(shapes), IntTuple::List(strides)) if shapes.len() == strides.len() => {
            let depth = depth.checked_sub(1).ok_or(CuteError::Depth)?;
            let parts = shapes.iter().zip(strides);
            let parts = parts.map(|(shape, stride)| pair(shape, stride, depth));
            Ok(ModeTree::List(parts.collect::<Result<_, _>>()?))
        }
        _ => Err(CuteError::Congruence),
    }
}

fn index(node: &ModeTree, coordinate: &IntTuple) -> Option<i128> {
    match (node, coordinate) {
        (node, IntTuple::Integer(value)) => {
            let is_inside = *value >= 0 && *value < node.size();
            is_inside.then(|| flat::value(&node.flat(), *value))?
        }
        (ModeTree::List(nodes), IntTuple::List(values)) if nodes.len() == values.len() => {
            let mut parts = nodes.iter().zip(values);
            parts.try_fold(0_i128, |sum, (node, value)| sum.checked_add(index(node, value)?))
        }
        (ModeTree::Mode(_) | ModeTree::List(_), IntTuple::List(_)) => None,
    }
}

fn coordinate(node: &ModeTree, index: i128) -> IntTuple {
    match node {
        ModeTree::Mode(_) => IntTuple::Integer(index),
        ModeTree::List(list) => {
            let mut rest = index;
            let parts = list.iter().map(|node| {
                let size = node.size();
                let part = coordinate(node, rest % size);
                rest /= size;
                part
            });
            IntTuple::List(parts.collect())
        }
    }
}
