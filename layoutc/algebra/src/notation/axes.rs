//! Logical axes that a layout text implies where no tensor is given: [`notation_axes`] returns the names n, c, h,
//! w for `NCHW16c`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{
    Notation, NotationFault, cute, einops, glow, mdspan, mlir, numpy, onednn, triton, tvm, xla,
};

/// Logical axes that a layout text implies, in logical order: the names n, c, h, w for `NCHW16c`, the extents 4
/// and 8 for `(4,8):(8,1)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotationAxes {
    /// Number of axes; `None` if the text fits any number of axes.
    pub rank: Option<usize>,
    /// Names of the axes in order; empty if the text names none.
    pub names: Vec<String>,
    /// Extent of each axis, in logical order. An entry is `None` if the text does not fix the extent of the axis. The
    /// list may be empty if the text fixes no extent.
    pub extents: Vec<Option<i128>>,
    /// True if an axis whose extent the text does not fix may have any extent, including a symbolic one; false if
    /// the extent must be a constant.
    pub any_extents: bool,
    /// Number that must divide the extent of each axis, in logical order; 1 for an axis without such a requirement. The
    /// list may be empty if no axis has one. The pattern `(c c16) h -> c h c16` with `c16=16` gives 16 and 1.
    pub multiples: Vec<i128>,
    /// Element type as manifests name it, such as `bf16`; `None` if the text has none.
    pub dtype: Option<&'static str>,
}

impl NotationAxes {
    /// Axes with the names `names`, in logical order. The text fits any extents, including symbolic ones.
    fn named(names: Vec<String>) -> Self {
        Self { rank: Some(names.len()), names, any_extents: true, ..Self::default() }
    }

    /// `rank` axes without names, for a text that is a list of strides. The text does not contain the extents, and
    /// requires them to be constants.
    fn strides(rank: usize) -> Self {
        Self { rank: Some(rank), ..Self::default() }
    }

    /// Axes of a text that is an axis order and fits every rank, such as `C` of `NumPy`: no names, no fixed number of
    /// axes, and any extents.
    fn order() -> Self {
        Self { any_extents: true, ..Self::default() }
    }
}

/// Logical axes that `text` implies where no tensor is given. `sizes` are the named sizes of an einops pattern, such as
/// `("c16", 16)`; other notations ignore them.
///
/// # Errors
/// [`NotationFault`] if a fault of the text is found without a tensor. Some parts of a text are not checked, for
/// example the results of an affine map and the right side of an einops pattern.
pub fn notation_axes(
    notation: Notation,
    text: &str,
    sizes: &[(String, i128)],
) -> Result<NotationAxes, NotationFault> {
    parse_axes(notation, text, sizes).map_err(|fault| fault.or_example(notation))
}

fn parse_axes(
    notation: Notation,
    text: &str,
    sizes: &[(String, i128)],
) -> Result<NotationAxes, NotationFault> {
    Ok(match notation {
        Notation::Tvm => NotationAxes::named(lower(&tvm::letters(text)?)),
        Notation::Glow => {
            let letters: Vec<char> =
                glow::parse(text)?.dims().iter().map(glow::GlowAxis::letter).collect();
            if letters.contains(&'*') {
                NotationAxes { rank: Some(letters.len()), ..NotationAxes::order() }
            } else {
                NotationAxes::named(lower(&letters))
            }
        }
        Notation::Onednn => NotationAxes::named(lower(&onednn::letters(text)?)),
        Notation::Xla => {
            let shape = xla::parse(text)?;
            match shape.dtype {
                Some(_) => NotationAxes {
                    rank: Some(shape.dims.len()),
                    dtype: shape.dtype,
                    extents: shape.dims.into_iter().map(Some).collect(),
                    ..NotationAxes::default()
                },
                None => NotationAxes { rank: shape.rank(), ..NotationAxes::order() },
            }
        }
        Notation::Cute => {
            let extents = cute::extents(text)?;
            let extents: Vec<Option<i128>> = extents.into_iter().map(Some).collect();
            NotationAxes { rank: Some(extents.len()), extents, ..NotationAxes::default() }
        }
        Notation::Mlir => match mlir::dimensions(text)? {
            (names, true) => NotationAxes::named(names),
            (names, false) => NotationAxes::strides(names.len()),
        },
        Notation::Einops => match einops::axes(text, sizes)? {
            Some(axes) => {
                let multiples = axes.iter().map(|axis| axis.multiple).collect();
                let extents =
                    axes.iter().map(|axis| axis.is_whole.then_some(axis.multiple)).collect();
                let names = axes.into_iter().map(|axis| axis.name).collect();
                NotationAxes { extents, multiples, ..NotationAxes::named(names) }
            }
            None => NotationAxes::order(),
        },
        Notation::Triton => {
            let (names, extents) = triton::inputs(text)?.into_iter().unzip();
            NotationAxes {
                extents,
                ..NotationAxes { any_extents: false, ..NotationAxes::named(names) }
            }
        }
        Notation::Numpy => {
            numpy::rank(text)?.map_or_else(NotationAxes::order, NotationAxes::strides)
        }
        Notation::Mdspan => {
            mdspan::rank(text)?.map_or_else(NotationAxes::order, NotationAxes::strides)
        }
    })
}

fn lower(letters: &[char]) -> Vec<String> {
    letters.iter().map(|letter| letter.to_ascii_lowercase().to_string()).collect()
}
