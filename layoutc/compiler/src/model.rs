//! The checked model: what a manifest means. Only [`crate::check`] makes one; later stages take it on trust.

use layoutc_algebra::layout::Layout;

use crate::dtype::Dtype;

/// What a tensor's memory is, as the manifest says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// An ordinary buffer.
    Global,
    /// A buffer that is only read.
    Constant,
    /// A two-dimensional image (`texture`).
    Image2d,
    /// An array of two-dimensional images.
    Image2dArray,
    /// Memory shared by a group of threads.
    Shared,
    /// Memory private to a group on OpenCL.
    Local,
    /// No memory: constants and index functions only.
    None,
}

/// What pack writes to padding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// This value, in the tensor's element type.
    Value(FillValue),
    /// Nothing: padding keeps what it holds.
    Nothing,
}

/// A fill value, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillValue {
    /// An integer.
    Integer(i128),
    /// A number with a fraction or an exponent.
    Float(f64),
}

/// A checked tensor.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// The manifest it stands in, as the path was given.
    pub file: String,
    /// Its name in the manifest.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// Where the elements live, proven.
    pub layout: Layout,
    /// What pack writes to padding.
    pub fill: Fill,
    /// The memory it lives in.
    pub memory: Memory,
    /// The targets it is restricted to; `None`: all.
    pub targets: Option<Vec<String>>,
    /// Labels of axes that have them: `labels[axis]` is empty otherwise.
    pub labels: Vec<Vec<String>>,
    /// Whether the high nibble (or the high bits) of a packed byte comes first.
    pub high_first: bool,
    /// The steps' source text, one line each, for comments and reports.
    pub steps: Vec<String>,
}

/// A checked relayout: the same logical tensor, from one layout to another. Axes are matched by name: `axes[k]` is
/// the position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
pub struct Convert {
    /// Position of the source in [`Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`Manifest::tensors`].
    pub to: usize,
    /// For each axis of `from`, its position in `to`.
    pub axes: Vec<usize>,
}

/// A checked manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The path as given.
    pub path: String,
    /// The good tensors, in the order of the manifest.
    pub tensors: Vec<Tensor>,
    /// The good conversions.
    pub converts: Vec<Convert>,
}
