//! Layouts as other tools write them, one file each: a text is parsed, and becomes steps of a [`LayoutBuilder`].
//!
//! A text that its own tool would take and that means nothing, or something else than it says, is refused; what the
//! tool itself does with it says the file of the notation.

mod axes;
mod blocks;
pub(crate) mod cursor;
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

pub use axes::{NotationAxes, notation_axes};

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use crate::build::{BuildError, LayoutBuilder};
use crate::layout::Axis;
use crate::parse::Span;

/// The notations.
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
    /// All, in the order in which they are listed.
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

    /// The word for it in manifests and on the command line.
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

    /// A text of the notation.
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

    /// The notation that a word means.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notation| notation.word() == word)
    }

    /// Whether the text of the notation takes sizes by name beside it, as einops does.
    pub fn takes_sizes(self) -> bool {
        self == Self::Einops
    }
}

/// What kind of fault a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotationFaultKind {
    /// It is not of the notation's grammar.
    Syntax,
    /// It does not fit the tensor's axes.
    Axes,
    /// It is of the grammar and means nothing.
    Value,
    /// It means something that layoutc does not lay out.
    Unsupported,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NotationFault {
    /// Its kind.
    pub kind: NotationFaultKind,
    /// In words.
    pub message: String,
    /// The bytes of the text at fault.
    pub span: Span,
    /// A way out.
    pub help: Option<String>,
}

impl NotationFault {
    pub(crate) fn new(kind: NotationFaultKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), span, help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with a text of the notation, where it is one of grammar and has no other way out.
    #[must_use]
    pub fn or_example(self, notation: Notation) -> Self {
        if self.kind != NotationFaultKind::Syntax || self.help.is_some() {
            return self;
        }
        self.help(format!("it is written as in `{}`", notation.example()))
    }
}

/// Why a text cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotationError {
    /// The text is at fault.
    #[error(transparent)]
    Fault(#[from] NotationFault),
    /// What it says cannot follow the steps before it.
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

/// What is worth knowing of a text, and no fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Where, in bytes of the text.
    pub span: Span,
    /// What.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// What a text says beside the map.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotationExtras {
    /// Where the notation's own tool goes another way.
    pub remarks: Vec<Remark>,
    /// The memory space, from 1: XLA's `S(n)`.
    pub memory_space: Option<(Span, i128)>,
}

/// Applies `text` to the current axes. `sizes` are the sizes that stand beside the text, by name.
///
/// # Errors
/// [`NotationError`]; after one the builder may hold a part of what the text says.
pub fn apply(
    notation: Notation,
    text: &str,
    sizes: &[(String, i128)],
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let said = match notation {
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
    said.map_err(|error| match error {
        NotationError::Fault(fault) => fault.or_example(notation).into(),
        error @ NotationError::Build(_) => error,
    })
}

/// For each letter of a text, the axis that it means: by name, case ignored, if every letter names an axis; by position
/// if none does. `letters` are distinct, case ignored.
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
        let message = format!("`{letter}` is no axis here; the axes are {names}");
        let help = "letters mean axes by name, or all of them by position when none is a name";
        return Err(NotationFault::new(NotationFaultKind::Axes, span.clone(), message).help(help));
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

/// A text for another number of axes; `what` it has, one of them: `letter`.
fn count_fault(given: usize, what: &str, axes: &[Axis], span: Span) -> NotationFault {
    let names = axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ");
    let counted = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    };
    let (given, of) =
        (counted(given, what, &format!("{what}s")), counted(axes.len(), "axis", "axes"));
    let gap = if names.is_empty() { "" } else { ": " };
    let fault =
        NotationFault::new(NotationFaultKind::Axes, span, format!("{given} for {of}{gap}{names}"));
    let wanted = counted(axes.len(), what, &format!("{what}s"));
    fault.help(format!("write {wanted}, one for each axis"))
}

/// How an extent is shown in a message.
fn shown(axis: &Axis) -> String {
    axis.extent
        .as_const()
        .map_or_else(|| "an extent known only at run time".to_string(), |extent| extent.to_string())
}
