//! Views: the memory of a tensor with other axes or another element type.

use layoutc_algebra::digits::{Chain, Digits};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::affine::AffineOffset;
use layoutc_algebra::layout::{Layout, Verdict};

use super::Tensor;

/// Tensor or view of a manifest, as the base of a view, an operand of a kernel, or an end of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TensorRef {
    /// Tensor: its position in [`super::Manifest::tensors`].
    Tensor(usize),
    /// View: its position in [`super::Manifest::views`].
    View(usize),
}

/// Relation between the indices of a view and those of its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewKind {
    /// View with another number of lanes, such as `f32x4` for `f32`, along one logical axis. Either `joined`
    /// consecutive elements of the base form one element of the view and `cut` is 1, or one element of the base is
    /// split into `cut` elements of the view and `joined` is 1.
    Lanes {
        /// Position of the logical axis along which elements are joined or split.
        axis: usize,
        /// Number of base elements that form one element of the view.
        joined: i128,
        /// Number of elements of the view that one base element forms.
        cut: i128,
    },
    /// Reinterpretation of the base's memory with the shape and layout that the view declares.
    Reinterpret,
    /// Window, such as `map "(h, w) -> (0, h, w)"`: the indices in the base of the view's element, one for each axis of
    /// the base, as expressions over the axes (`Var::Axis`) and symbols of the view.
    Window(Vec<Expr>),
}

/// Checked view: the memory of a tensor with other axes or another element type. It has no memory of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View {
    /// The view in the form of a tensor: its element type, axes and layout in the base's memory.
    pub tensor: Tensor,
    /// Base of the view: a tensor or an earlier view.
    pub of: TensorRef,
    /// Name of the base in the manifest.
    pub of_name: String,
    /// Position in [`super::Manifest::tensors`] of the tensor that owns the memory, at the end of the chain of views.
    pub buffer: usize,
    /// Relation between the indices of the view and those of its base.
    pub seeing: ViewKind,
    /// Offset of the view's first element, and stride along each of its axes, in elements; `None` if the offset is not
    /// known to be affine in the view's indices.
    pub affine: Option<AffineOffset>,
}

/// True if `chain`, a mixed-radix number of which `digits` has the digits, encodes a single axis, and its value at
/// index 0 of the axis, plus 1 if the axis is counted backwards, is a multiple of the weights of all its digits. A
/// split of the axis at a weight then separates digits. True for an axis of 32 columns that begins at column 16 of
/// tiles of 16 columns, but not at column 3.
pub(crate) fn splits_at_digits(chain: &Chain, digits: &Digits) -> bool {
    let first = if chain.sign < 0 { chain.constant.saturating_add(1) } else { chain.constant };
    let mut weights = chain.digits.iter().filter_map(|k| digits.digits.get(*k)).map(|d| d.weight);
    let is_multiple = |weight: i128| first.checked_rem(weight) == Some(0);
    chain.axes.len() == 1 && weights.all(is_multiple)
}

/// Tensor that owns the memory of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryOwner {
    /// Name of the tensor.
    pub name: String,
    /// Names of the symbols that are parameters of the view's functions: the symbols of the view's layout.
    pub symbols: Vec<String>,
}

impl MemoryOwner {
    /// Owner of the memory of a view of `base`; `layout` is the layout of the view.
    pub(crate) fn of(base: &Tensor, layout: &Layout) -> Self {
        let name = base.owner.as_ref().map_or(&base.name, |owner| &owner.name).clone();
        Self { name, symbols: layout.symbols().iter().map(|symbol| symbol.name.clone()).collect() }
    }
}

impl View {
    /// True if several elements of the view may share a memory location, so that the view is read-only and its layout
    /// has no inverse.
    pub fn is_broadcast(&self) -> bool {
        self.tensor.layout.verdict() == Verdict::Broadcast
    }

    /// True if the view is a window, which selects elements of its base unchanged.
    pub fn is_window(&self) -> bool {
        matches!(self.seeing, ViewKind::Window(_))
    }
}
