//! Layout notations of other tools, with one module each. A text is parsed into steps of a [`LayoutBuilder`].
//!
//! A text that its tool accepts is still an error here if it has no meaning, or a meaning that differs from
//! what is written. The module of the notation documents the behavior of the tool.

mod axes;
mod blocks;
mod cute;
mod einops;
pub mod glow;
mod mdspan;
mod mlir;
mod numpy;
mod onednn;
mod triton;
mod tvm;
pub mod write;
pub mod xla;

pub use crate::text::{NotationFault, NotationFaultKind};
pub use axes::{NotationAxes, notation_axes};

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use crate::builder::{BuildError, LayoutBuilder};
use crate::expr::parse::Span;
use crate::symbol::Axis;

/// Layout notation of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the tools")]
pub enum Notation {
    Tvm,
    Xla,
    Glow,
    Onednn,
    Cute,
    Mlir,
    Einops,
    Numpy,
    Mdspan,
    Triton,
}

impl Notation {
    /// All notations, in the order in which they are listed to users.
    pub const ALL: [Self; 10] = [
        Self::Tvm,
        Self::Xla,
        Self::Glow,
        Self::Onednn,
        Self::Cute,
        Self::Mlir,
        Self::Einops,
        Self::Numpy,
        Self::Mdspan,
        Self::Triton,
    ];

    /// Keyword that selects the notation in manifests and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tvm => "tvm",
            Self::Xla => "xla",
            Self::Glow => "glow",
            Self::Onednn => "onednn",
            Self::Cute => "cute",
            Self::Mlir => "mlir",
            Self::Einops => "einops",
            Self::Numpy => "numpy",
            Self::Mdspan => "mdspan",
            Self::Triton => "triton",
        }
    }

    /// Example of a text in the notation.
    pub fn example(self) -> &'static str {
        match self {
            Self::Tvm => "NCHW16c",
            Self::Xla => "{1,0:T(8,128)}",
            Self::Glow => "N[a=32]HWC",
            Self::Onednn => "aBcd16b",
            Self::Cute => "(4,8):(8,1)",
            Self::Mlir => "affine_map<(i, j) -> (j, i)>",
            Self::Einops => "b (h p) -> h b p",
            Self::Numpy => "(48, 4)",
            Self::Mdspan => "layout_stride<12, 1>",
            Self::Triton => "{row: [[9], [18]], col: [[1], [2]]} -> {offset: 32}",
        }
    }

    /// Notation with this keyword; `None` if there is none.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notation| notation.word() == word)
    }

    /// True if texts of the notation are accompanied by named sizes, as those of einops are.
    pub fn takes_sizes(self) -> bool {
        self == Self::Einops
    }
}

impl NotationFault {
    /// Adds an example of the notation as help, if this is a syntax fault without help.
    #[must_use]
    pub fn or_example(self, notation: Notation) -> Self {
        if self.kind != NotationFaultKind::Syntax || self.help.is_some() {
            return self;
        }
        self.help(format!("it is written as in `{}`", notation.example()))
    }
}

/// Reason why a text cannot be applied to a layout under construction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotationError {
    /// The text is invalid, or does not fit the axes.
    #[error(transparent)]
    Fault(#[from] NotationFault),
    /// The steps of the text cannot follow those that were applied before.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl From<crate::expr::ExprError> for NotationError {
    fn from(error: crate::expr::ExprError) -> Self {
        Self::Build(error.into())
    }
}

impl From<crate::step::StepError> for NotationError {
    fn from(error: crate::step::StepError) -> Self {
        Self::Build(error.into())
    }
}

/// Note to the user about a valid text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Byte range of the text that the note is about.
    pub span: Span,
    /// Message of the note.
    pub message: String,
    /// Change of the text or its use that avoids the problem.
    pub help: String,
}

/// Information in a text that is not part of the layout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotationExtras {
    /// Notes on differences between the layout and what the tool of the notation does.
    pub remarks: Vec<Remark>,
    /// Memory space that the text declares, from 1, with its byte range: `S(n)` of XLA. `None` for the default
    /// one.
    pub memory_space: Option<(Span, i128)>,
}

/// Applies `text` as steps to the current axes. `sizes` are the named sizes that accompany the text.
///
/// ```
/// use layoutc_algebra::notation::{Notation, apply};
/// use layoutc_algebra::{Axis, Error, Expr, LayoutBuilder, SequentialExecutor};
///
/// let axes = [("i", 16), ("j", 256)].map(|(name, extent)| Axis { name: name.into(), extent: Expr::constant(extent) });
/// let mut builder = LayoutBuilder::new(&[], &axes, 32)?;
/// apply(Notation::Xla, "{1,0:T(8,128)}", &[], &mut builder)?;
/// let layout = builder.finish(64, &SequentialExecutor)?;
/// // The second tile of the first row of tiles.
/// assert_eq!(layout.offset_of(&[1, 130])?, 1024 + 128 + 2);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`NotationError`]; the builder may then contain some of the steps of the text.
pub fn apply(
    notation: Notation,
    text: &str,
    sizes: &[(String, i128)],
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let applied = match notation {
        Notation::Tvm => tvm::apply(text, builder),
        Notation::Xla => xla::apply(text, builder),
        Notation::Glow => glow::apply(text, builder),
        Notation::Onednn => onednn::apply(text, builder),
        Notation::Cute => cute::apply(text, builder),
        Notation::Mlir => mlir::apply(text, builder),
        Notation::Einops => einops::apply(text, sizes, builder),
        Notation::Numpy => numpy::apply(text, builder),
        Notation::Mdspan => mdspan::apply(text, builder),
        Notation::Triton => triton::apply(text, builder),
    };
    applied.map_err(|error| match error {
        NotationError::Fault(fault) => fault.or_example(notation).into(),
        error @ NotationError::Build(_) => error,
    })
}

/// Position of the axis that each letter of a text stands for. Letters bind to axes by name, ignoring case,
/// if every letter names an axis, and by position if none does. `letters` are distinct, ignoring case.
fn bind_letters(letters: &[(char, Span)], axes: &[Axis]) -> Result<Vec<usize>, NotationFault> {
    let named = |letter: char| {
        axes.iter().position(|axis| {
            let mut chars = axis.name.chars();
            chars.next().is_some_and(|c| c.eq_ignore_ascii_case(&letter)) && chars.next().is_none()
        })
    };
    let found: Vec<Option<usize>> = letters.iter().map(|(letter, _)| named(*letter)).collect();
    let names = axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ");
    if found.iter().any(Option::is_some)
        && let Some(((letter, span), _)) = letters.iter().zip(&found).find(|row| row.1.is_none())
    {
        let message = format!("`{letter}` is not an axis; the axes are {names}");
        let help = "letters mean axes by name, or all of them by position when none is a name";
        return Err(NotationFault::axes(span.clone(), message).help(help));
    }
    let span = match (letters.first(), letters.last()) {
        (Some((_, first)), Some((_, last))) => first.start..last.end,
        _ => 0..0,
    };
    if letters.len() != axes.len() {
        return Err(count_fault(letters.len(), "letter", axes, span));
    }
    Ok(found.into_iter().enumerate().map(|(k, axis)| axis.unwrap_or(k)).collect())
}

/// Fault of a text that is written for another number of axes. The text has `given` of the noun `what`, such
/// as `letter`.
fn count_fault(given: usize, what: &str, axes: &[Axis], span: Span) -> NotationFault {
    let names = axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ");
    let counted = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let (given, of) =
        (counted(given, what, &format!("{what}s")), counted(axes.len(), "axis", "axes"));
    let gap = if names.is_empty() { "" } else { ": " };
    let fault = NotationFault::axes(span, format!("{given} for {of}{gap}{names}"));
    let wanted = counted(axes.len(), what, &format!("{what}s"));
    fault.help(format!("write {wanted}, one for each axis"))
}

/// Extent of an axis, worded for a message.
fn shown(axis: &Axis) -> String {
    axis.extent
        .as_const()
        .map_or_else(|| "an extent known only at run time".to_string(), |extent| extent.to_string())
}
