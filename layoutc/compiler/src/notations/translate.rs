//! From one notation to another: a text is read on axes of its own and proven, written, and proven the same map.

use std::sync::Arc;

use layoutc_algebra::build::LayoutBuilder;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::{Axis, Layout, Symbol};
use layoutc_algebra::notation::write::{ElementFormat, write};
use layoutc_algebra::notation::{self, Notation, NotationAxes, NotationError, NotationFault};

use serde_json::Value;

use super::inexpressible::{help_text, lack};
use crate::check::{RayonExecutor, bare_fault, build_fault};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::dtype::Dtype;
use crate::env::NoCache;
use crate::layout_names;

/// What the text is called in diagnostics.
const FILE: &str = "<text>";
/// What the tensor is called in diagnostics.
const TENSOR: &str = "tensor";
/// The bits of the largest number of elements of a tensor without extents.
const SIZE_BITS: usize = 54;

/// A text, and what is said of it beside.
#[derive(Debug, Clone, Copy)]
pub struct TranslateRequest<'a> {
    /// The notation of the text.
    pub from: Notation,
    /// The text.
    pub text: &'a str,
    /// The extents; `None`: those of the text, or any.
    pub shape: Option<&'a [i64]>,
    /// The names of the axes; `None`: the letters of the text, or `a`, `b`, ….
    pub names: Option<&'a [String]>,
    /// The element type.
    pub dtype: Option<Dtype>,
    /// Sizes that stand beside the text, by name.
    pub sizes: &'a [(String, i128)],
}

/// A text that was read.
#[derive(Debug, Clone)]
pub struct ParsedLayout {
    /// Its layout, proven.
    pub layout: Layout,
    /// The element type, if it is known.
    pub dtype: Option<Dtype>,
    /// What is worth knowing of the text.
    pub notes: Vec<String>,
    /// How long the text is, in bytes.
    length: usize,
}

impl ParsedLayout {
    /// The extents, as JSON; those of any size as the names of their symbols.
    pub fn shape(&self) -> Value {
        let extent = |axis: &Axis| match axis.extent.as_const().and_then(|n| i64::try_from(n).ok())
        {
            Some(extent) => Value::from(extent),
            None => Value::from(layout_names::layout_expr(&axis.extent, &self.layout)),
        };
        self.layout.logical.iter().map(extent).collect()
    }
}

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranslateError {
    /// Something must be said beside it.
    Asked(String),
    /// It is at fault.
    Faulty(Box<Diagnostic>),
}

impl From<Diagnostic> for TranslateError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Faulty(Box::new(diagnostic))
    }
}

/// A layout as another tool writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLayout {
    /// The text.
    pub text: String,
    /// Sizes that stand beside it, by name.
    pub sizes: Vec<(String, i128)>,
    /// What is worth knowing of it.
    pub notes: Vec<String>,
}

/// The layout that a text means.
///
/// # Errors
/// [`TranslateError`].
pub fn read(asked: TranslateRequest<'_>) -> Result<ParsedLayout, TranslateError> {
    let place = FileSpan::new(&Arc::from(FILE), 0..asked.text.len());
    let stated = notation::notation_axes(asked.from, asked.text, asked.sizes).map_err(in_text)?;
    let own = stated.dtype.and_then(Dtype::parse);
    let dtype = asked.dtype.or(own);
    counts_bytes(asked.from, asked.text, dtype)?;
    let (symbols, axes) = axes(asked, &stated)?;
    let bits = dtype.map_or(8, Dtype::element_bits);
    let start = LayoutBuilder::new(&symbols, &axes, bits);
    let mut builder = start.map_err(|error| {
        Diagnostic::error(Code::LimitSize, error.to_string(), place.clone(), "")
            .help("give smaller extents")
    })?;
    let said = notation::apply(asked.from, asked.text, asked.sizes, &mut builder);
    let said = said.map_err(|error| match error {
        NotationError::Fault(fault) => in_text(fault),
        NotationError::Build(error) => build_fault(&error, TENSOR, &builder, &place),
    })?;
    let layout = builder.finish(1, &RayonExecutor(&NoCache));
    let layout =
        layout.map_err(|error| bare_fault(&error, TENSOR, &axes, &symbols, place.clone()))?;
    let mut notes: Vec<String> = said.remarks.into_iter().map(|remark| remark.message).collect();
    if let Some(symbol) = symbols.first() {
        notes.push(format!("proven for extents up to {}", symbol.max));
    }
    Ok(ParsedLayout { layout, dtype, notes, length: asked.text.len() })
}

/// The layout of a text in another notation.
///
/// # Errors
/// [`TranslateError`]: what the notation lacks, or what must be said beside the text.
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
        notes.push("the slots behind the last element are not said".to_owned());
    }
    Ok(WrittenLayout { text: written.text, sizes: written.sizes, notes })
}

/// A fault of the text, at its bytes.
fn in_text(fault: NotationFault) -> Diagnostic {
    let place = FileSpan::new(&Arc::from(FILE), fault.span);
    let mut diagnostic = Diagnostic::error(fault.kind.into(), fault.message, place, "");
    diagnostic.help.extend(fault.help);
    diagnostic
}

/// A text that counts bytes needs an element type.
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
    Err(TranslateError::Asked(message))
}

/// The axes that the text is read on, and the symbols of their extents.
fn axes(
    asked: TranslateRequest<'_>,
    stated: &NotationAxes,
) -> Result<(Vec<Symbol>, Vec<Axis>), TranslateError> {
    let rank = asked.shape.map(<[i64]>::len).or(stated.rank).or(asked.names.map(<[String]>::len));
    let Some(rank) = rank else {
        let message = "the text is for any number of axes: add their extents, `--shape 2,64,56,56`, or names, `--axis-names n,c,h,w`";
        return Err(TranslateError::Asked(message.to_owned()));
    };
    let names = names(asked.names, &stated.names, rank)?;
    let max = i128::from(1_u64 << (SIZE_BITS / rank.max(1)).clamp(1, 32));
    let (mut symbols, mut axes) = (Vec::new(), Vec::new());
    for (k, name) in names.into_iter().enumerate() {
        let given = asked.shape.and_then(|shape| shape.get(k)).map(|extent| i128::from(*extent));
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
                return Err(TranslateError::Asked(message.to_owned()));
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
            let message =
                format!("`--axis-names` has {} names, and the axes are {rank}", given.len());
            return Err(TranslateError::Asked(message));
        }
        if let Some(twice) =
            given.iter().enumerate().find(|(k, name)| given.iter().take(*k).any(|n| n == *name))
        {
            return Err(TranslateError::Asked(format!("`--axis-names` has `{}` twice", twice.1)));
        }
        return Ok(given.to_vec());
    }
    if stated.len() == rank {
        return Ok(stated.to_vec());
    }
    let letter = |k: usize| ('a'..='z').nth(k).map_or_else(|| format!("axis{k}"), String::from);
    Ok((0..rank).map(letter).collect())
}
