//! Layout notations of other tools, such as TVM's `NCHW16c` and XLA's `{1,0:T(8,128)}`, with one module per tool.
//!
//! [`apply`] applies a text to a [`LayoutBuilder`] as index maps and strides, and [`write::write`] prints a layout in a
//! notation. A text that the tool accepts is nevertheless a fault if it has no meaning, or a meaning that differs from
//! what is written. Each module documents the behavior of its tool.
//!
//! To add a notation:
//!
//! * This module: a variant of [`Notation`], an entry in [`Notation::ALL`], an arm each in `word`, `example` and
//!   [`apply`], and a module with the parser.
//! * `notation/axes.rs`: an arm in `parse_axes`, for texts without a tensor.
//! * `notation/write/mod.rs`: an arm in [`write::write`], which lists candidate texts for a layout.
//! * The compiler, which takes the keyword from [`Notation::ALL`]: the completion text in `editor/keywords.rs`, and an
//!   arm in `check/graph/transpose.rs`. If texts of the notation are recognized without a keyword, also an entry in
//!   `notation_of` in `manifest/read/step.rs`. If they contain strides, also an arm in `foreign` in `check/strides.rs`.
//!   If reports list the notation, also an entry in `REPORTED` in `query/notations/mod.rs`.
//! * The command line: the list of notations in the help text of `translate` in `cli/src/args/command.rs`.

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

/// Layout notation, named by the tool that defines it: `NCHW16c` is in the notation of `Tvm`.
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
    pub const fn word(self) -> &'static str {
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

    /// Example of a text in the notation, for help messages: `NCHW16c` for TVM.
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

    /// Notation whose keyword is `word`, such as `tvm`; `None` if there is none.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notation| notation.word() == word)
    }

    /// True if a text of the notation comes with named sizes, such as `c16=16`. Only einops has them.
    pub fn takes_sizes(self) -> bool {
        self == Self::Einops
    }
}

impl NotationFault {
    /// Adds an example text of `notation` as help to the fault if it is a syntax fault without help. Returns any other
    /// fault unchanged.
    #[must_use]
    pub fn or_example(self, notation: Notation) -> Self {
        if self.kind != NotationFaultKind::Syntax || self.help.is_some() {
            return self;
        }
        self.help(format!("it is written as in `{}`", notation.example()))
    }
}

/// Error of [`apply`]: a fault of the text, or a step that the builder refuses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotationError {
    /// The text is invalid, or does not fit the axes of the builder: `NCHW` for three axes.
    #[error(transparent)]
    Fault(#[from] NotationFault),
    /// The builder rejected a step of the text, such as an index map after explicit strides, or an expression became
    /// too large.
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

/// Note to the user about a text without a fault, for example where the tool itself computes a different size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Byte range of the text that the note is about.
    pub span: Span,
    /// Description of the problem, as a message for the user.
    pub message: String,
    /// Change of the text or its use that avoids the problem.
    pub help: String,
}

/// Results of [`apply`] other than the layout: the notes for the user, and the memory space of an XLA text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotationExtras {
    /// Notes to the user, mostly on differences between the layout and what the tool computes; may be empty.
    pub remarks: Vec<Remark>,
    /// Memory space of an XLA text that contains `S(n)` with `n` at least 1, as a pair: the byte range of `n`, and the
    /// value of `n`. `None` for the default memory space, 0.
    pub memory_space: Option<(Span, i128)>,
}

/// Applies the layout `text` to the current axes of `builder`, as index maps, strides, swizzles and alignments. `sizes`
/// are the named sizes of an einops pattern, such as `("c16", 16)`; other notations ignore them.
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
/// [`NotationError::Fault`] if the text is invalid or does not fit the axes, [`NotationError::Build`] if the builder
/// rejects a step of the text. The builder may then contain some of the steps of the text.
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

/// Position in `axes` of the axis that each letter of a text stands for, in the order of `letters`. Each letter has its
/// byte range. The letters are distinct, ignoring case. They bind to axes by name, ignoring case, if every letter is an
/// axis name, and by position if none is. A mix of the two, or a number of letters other than that of `axes`, is a
/// fault.
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

/// Fault, at `span`, of a text with `given` entries where the tensor has a different number of axes:
/// `3 letters for 4 axes: n, c, h, w`. The singular noun `what`, such as `letter`, names an entry.
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

/// Extent of an axis as message text: `16`, or `an extent known only at run time` if it is symbolic.
fn shown(axis: &Axis) -> String {
    axis.extent
        .as_const()
        .map_or_else(|| "an extent known only at run time".to_string(), |extent| extent.to_string())
}
