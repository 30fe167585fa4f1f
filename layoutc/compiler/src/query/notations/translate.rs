//! Translation between layout notations. A text is parsed, and its layout proven to be injective. The layout is printed
//! in another notation, and the printed text is proven to denote the same map.

use std::sync::Arc;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::notation::write::{ElementFormat, write};
use layoutc_algebra::notation::{self, Notation, NotationAxes, NotationError, NotationFault};
use layoutc_algebra::symbol::{Axis, Symbol};

use serde_json::Value;

use super::inexpressible::{help_text, lack};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::dtype::Dtype;
use crate::check::{bare_fault, build_fault};
use crate::env::NoCache;
use crate::env::executor::RayonExecutor;
use crate::model::layout_names;

/// Pseudo-file that diagnostics name for the parsed text.
const FILE: &str = "<text>";
/// Name of the tensor in diagnostics, as the parsed text has none.
const TENSOR: &str = "tensor";
/// Base-2 logarithm of the greatest number of elements for which the layout of a text without extents is proven. The
/// proof holds for extents up to about 2^(54 / rank) each, at most about 2^32, where `rank` is the number of axes.
const SIZE_BITS: usize = 54;

/// Request to translate a layout text: the text with its notation, and the properties of the tensor that the text
/// lacks.
#[derive(Debug, Clone, Copy)]
pub struct TranslateRequest<'a> {
    /// Notation of the text.
    pub from: Notation,
    /// Text of the layout.
    pub text: &'a str,
    /// Extents of the logical axes, outermost first. `None`: the extents in the text; a symbol for each axis without
    /// one, or an error if the notation needs constants.
    pub shape: Option<&'a [i64]>,
    /// Names of the logical axes, in order. `None`: the names in the text, else `a`, `b`, ….
    pub names: Option<&'a [String]>,
    /// Element type of the tensor; `None`: the element type in the text, if there is one.
    pub dtype: Option<Dtype>,
    /// Named sizes of an einops pattern, as pairs of name and value: `("c16", 16)`. Other notations ignore them.
    pub sizes: &'a [(String, i128)],
}

/// Layout that was parsed from a text and proven.
#[derive(Debug, Clone)]
pub struct ParsedLayout {
    /// Parsed layout, proven to be injective.
    pub layout: Layout,
    /// Element type of the tensor; `None` if neither the request nor the text gives one.
    pub dtype: Option<Dtype>,
    /// Notes on the parsed text: differences from the tool that defines the notation, and limits of the proof.
    pub notes: Vec<String>,
    /// Length of the parsed text in bytes.
    length: usize,
}

impl ParsedLayout {
    /// Extents of the logical axes, outermost first, as JSON numbers; a symbolic extent is the text of its expression.
    pub fn shape(&self) -> Value {
        let extent = |axis: &Axis| match axis.extent.as_const().and_then(|n| i64::try_from(n).ok())
        {
            Some(extent) => Value::from(extent),
            None => Value::from(layout_names::layout_expr(&axis.extent, &self.layout)),
        };
        self.layout.logical().iter().map(extent).collect()
    }
}

/// Reason why a layout cannot be parsed or printed in a notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranslateError {
    /// An option of the request is missing or invalid; the member is a message that names the option.
    InvalidOption(String),
    /// The text or its layout has an error, or the notation cannot express the layout; the member is the diagnostic.
    Faulty(Box<Diagnostic>),
}

impl From<Diagnostic> for TranslateError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Faulty(Box::new(diagnostic))
    }
}

/// Layout printed in a notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLayout {
    /// Text of the layout in the notation.
    pub text: String,
    /// Named sizes of an einops pattern, as pairs of name and value: `("c16", 16)`; empty for other notations.
    pub sizes: Vec<(String, i128)>,
    /// Notes on information of the layout that the text omits, such as slots after the last element.
    pub notes: Vec<String>,
}

/// Parses the layout that a text denotes, and proves it injective.
///
/// # Errors
/// [`TranslateError::InvalidOption`] for a missing or invalid option. [`TranslateError::Faulty`] for an invalid text,
/// for a layout that is not injective or whose proof fails, and for extents that are too large.
pub fn read(request: TranslateRequest<'_>) -> Result<ParsedLayout, TranslateError> {
    let place = FileSpan::new(&Arc::from(FILE), 0..request.text.len());
    let stated =
        notation::notation_axes(request.from, request.text, request.sizes).map_err(in_text)?;
    let own = stated.dtype.and_then(Dtype::parse);
    let dtype = request.dtype.or(own);
    counts_bytes(request.from, request.text, dtype)?;
    let (symbols, axes) = axes(request, &stated)?;
    let bits = dtype.map_or(8, Dtype::element_bits);
    let start = LayoutBuilder::new(&symbols, &axes, bits);
    let mut builder = start.map_err(|error| {
        Diagnostic::error(Code::LimitSize, error.to_string(), place.clone(), "")
            .help("give smaller extents")
    })?;
    let extras = notation::apply(request.from, request.text, request.sizes, &mut builder);
    let extras = extras.map_err(|error| match error {
        NotationError::Fault(fault) => in_text(fault),
        NotationError::Build(error) => build_fault(&error, TENSOR, &builder, &place),
    })?;
    let layout = builder.finish(1, &RayonExecutor(&NoCache));
    let layout =
        layout.map_err(|error| bare_fault(&error, TENSOR, &axes, &symbols, place.clone()))?;
    let mut notes: Vec<String> = extras.remarks.into_iter().map(|remark| remark.message).collect();
    if let Some(symbol) = symbols.first() {
        notes.push(format!("proven for extents up to {}", symbol.max));
    }
    Ok(ParsedLayout { layout, dtype, notes, length: request.text.len() })
}

/// Prints a layout in the notation `to`. The printed text is proven to denote the same map.
///
/// # Errors
/// [`TranslateError::Faulty`] for a feature that the notation cannot express. [`TranslateError::InvalidOption`] if the
/// notation counts bytes and the element type is unknown.
pub fn written(read: &ParsedLayout, to: Notation) -> Result<WrittenLayout, TranslateError> {
    let layout = &read.layout;
    let dtype = read.dtype.map(|dtype| dtype.to_string());
    let bits = read.dtype.map_or(8, Dtype::element_bits);
    let elements = ElementFormat { bits, dtype: dtype.as_deref() };
    let written = write(to, layout, elements, &RayonExecutor(&NoCache)).map_err(|error| {
        let message = format!("`{}` cannot express {}", to.word(), lack(&error, layout));
        let place = FileSpan::new(&Arc::from(FILE), 0..read.length);
        let mut diagnostic = Diagnostic::error(Code::NotationInexpressible, message, place, "");
        diagnostic.add_help(help_text(&error, layout));
        diagnostic
    })?;
    counts_bytes(to, &written.text, read.dtype)?;
    let mut notes = Vec::new();
    if !written.equal_sizes {
        notes.push("slots after the last element are not expressed".to_owned());
    }
    Ok(WrittenLayout { text: written.text, sizes: written.sizes, notes })
}

/// Diagnostic for a fault of the text in another tool's notation, at its byte range in the text: a syntax error, a
/// mismatch with the axes, an invalid value, or a feature that layoutc does not support.
fn in_text(fault: NotationFault) -> Diagnostic {
    let place = FileSpan::new(&Arc::from(FILE), fault.span.clone());
    Diagnostic::in_notation(fault, place)
}

/// Checks that the element type is known if the text contains numbers of bytes, as strides of `NumPy` do. An error
/// [`TranslateError::InvalidOption`] if it is not.
fn counts_bytes(
    notation: Notation,
    text: &str,
    dtype: Option<Dtype>,
) -> Result<(), TranslateError> {
    let counts = match notation {
        Notation::Numpy => text.contains('('),
        Notation::Glow => text.contains("[a="),
        _ => false,
    };
    if !counts || dtype.is_some() {
        return Ok(());
    }
    let message = format!("{} counts bytes: add the element type, `--dtype f32`", notation.word());
    Err(TranslateError::InvalidOption(message))
}

/// Pair (symbols, axes) of a parsed text. The axes are the logical axes of the request, or else those of the text
/// (`stated`). The symbols stand for the extents that neither gives.
///
/// # Errors
/// [`TranslateError::InvalidOption`] if the rank or a required extent is missing, or if the names of the request are
/// not as many as the axes or not distinct.
fn axes(
    request: TranslateRequest<'_>,
    stated: &NotationAxes,
) -> Result<(Vec<Symbol>, Vec<Axis>), TranslateError> {
    let rank =
        request.shape.map(<[i64]>::len).or(stated.rank).or(request.names.map(<[String]>::len));
    let Some(rank) = rank else {
        let message = "the text has no fixed rank: add extents, `--shape 2,64,56,56`, or names, `--axis-names n,c,h,w`";
        return Err(TranslateError::InvalidOption(message.to_owned()));
    };
    let names = names(request.names, &stated.names, rank)?;
    let max = i128::from(1_u64 << (SIZE_BITS / rank.max(1)).clamp(1, 32));
    let (mut symbols, mut axes) = (Vec::new(), Vec::new());
    for (k, name) in names.into_iter().enumerate() {
        let given = request.shape.and_then(|shape| shape.get(k)).map(|extent| i128::from(*extent));
        let known = given.or(stated.extents.get(k).copied().flatten());
        let extent = match known {
            Some(extent) => Expr::constant(extent),
            None if stated.any_extents => {
                let multiple = stated.multiples.get(k).copied().unwrap_or(1).max(1);
                let position = u32::try_from(symbols.len()).unwrap_or(u32::MAX);
                let max = max.max(multiple) / multiple * multiple;
                let name = name.to_uppercase();
                symbols.push(Symbol { name, min: 1, max, multiple });
                Expr::var(Var::Symbol(position))
            }
            None => {
                let message = "the text needs the extents of its axes: add `--shape 2,64,56,56`";
                return Err(TranslateError::InvalidOption(message.to_owned()));
            }
        };
        axes.push(Axis { name, extent });
    }
    Ok((symbols, axes))
}

fn names(
    given: Option<&[String]>,
    stated: &[String],
    rank: usize,
) -> Result<Vec<String>, TranslateError> {
    if let Some(given) = given {
        if given.len() != rank {
            let message = format!("`--axis-names` has {} names for {rank} axes", given.len());
            return Err(TranslateError::InvalidOption(message));
        }
        if let Some(twice) =
            given.iter().enumerate().find(|(k, name)| given.iter().take(*k).any(|n| n == *name))
        {
            return Err(TranslateError::InvalidOption(format!(
                "`--axis-names` has `{}` twice",
                twice.1
            )));
        }
        return Ok(given.to_vec());
    }
    if stated.len() == rank {
        return Ok(stated.to_vec());
    }
    let letter = |k: usize| ('a'..='z').nth(k).map_or_else(|| format!("axis{k}"), String::from);
    Ok((0..rank).map(letter).collect())
}
