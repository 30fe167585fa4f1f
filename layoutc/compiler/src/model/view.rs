//! Views: the memory of a tensor with other axes or another element type.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::affine::AffineOffset;

use super::Tensor;

/// Base of a view: a tensor or another view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewTarget {
    /// Tensor: its position in [`super::Manifest::tensors`].
    Tensor(usize),
    /// Earlier view: its position in [`super::Manifest::views`].
    View(usize),
}

/// Relation between the indices of a view and those of its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewKind {
    /// Another element type, such as `f32x4` for `f32`: `joined` neighbors along a logical axis of the base form one
    /// element of the view, or one element of the base is split into `cut` elements of the view. One of the two numbers
    /// is 1.
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
    /// Window, such as `map "(h, w) -> (0, h, w)"`: one index per axis of the base, as written, over `Var::Axis` of the
    /// view.
    Window(Vec<Expr>),
}

/// Checked view: the memory of a tensor with other axes or another element type. It has no memory of its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct View {
    /// The view in the form of a tensor: its element type, axes and layout in the base's memory.
    pub tensor: Tensor,
    /// Base of the view: a tensor or an earlier view.
    pub of: ViewTarget,
    /// Name of the base in the manifest.
    pub of_name: String,
    /// Position in [`super::Manifest::tensors`] of the tensor that owns the memory, at the end of the chain of views.
    pub buffer: usize,
    /// Relation between the indices of the view and those of its base.
    pub seeing: ViewKind,
    /// True if several elements of the view share a memory location, so that the view is read-only and its layout has
    /// no inverse.
    pub is_shared: bool,
    /// Offset of the first element and stride along each axis of the view, in elements; `None` if the offset is not
    /// affine in the axes.
    pub affine: Option<AffineOffset>,
}

impl View {
    /// True if the view is a window, which selects elements of its base unchanged.
    pub fn is_window(&self) -> bool {
        matches!(self.seeing, ViewKind::Window(_))
    }
}
