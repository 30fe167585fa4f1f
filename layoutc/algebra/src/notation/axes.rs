//! The axes that a text says by itself: for a text without a tensor.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{
    Notation, NotationFault, cute, einops, glow, mdspan, mlir, numpy, onednn, triton, tvm, xla,
};

/// What a text says of its axes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotationAxes {
    /// How many there are; `None`: as many as the tensor has.
    pub rank: Option<usize>,
    /// What they are called; empty where the text has no names.
    pub names: Vec<String>,
    /// Their extents, by axis, where the text has them; empty where it has none.
    pub extents: Vec<Option<i128>>,
    /// Whether the text is good for other extents that are known only at run time.
    pub any_extents: bool,
    /// What every extent is a multiple of, by axis; empty: of 1.
    pub multiples: Vec<i128>,
    /// The element type in a manifest's words, where the text has one.
    pub dtype: Option<&'static str>,
}

impl NotationAxes {
    /// These names, and any extents.
    fn named(names: Vec<String>) -> Self {
        Self { rank: Some(names.len()), names, any_extents: true, ..Self::default() }
    }

    /// So many axes, whose extents are to be known.
    fn strides(rank: usize) -> Self {
        Self { rank: Some(rank), ..Self::default() }
    }

    /// As many axes as there are, of any extents.
    fn order() -> Self {
        Self { any_extents: true, ..Self::default() }
    }
}

/// What a text says of its axes. `sizes` are the sizes that stand beside it, by name.
///
/// # Errors
/// [`NotationFault`] where the text is at fault, tensor or not.
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
