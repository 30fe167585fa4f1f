//! CuTe's layout algebra on texts: layouts in, a layout or a diagnostic out. Spans of diagnostics refer to pseudo-files
//! `<a>` and `<b>`, the operands.

use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::cute::{self, CuteError, CuteLayout, CuteOutcome, SwizzledLayout};
pub use layoutc_algebra::cute::{DivisionGrouping, IntTuple, ProductGrouping, RemainderPolicy};
use layoutc_algebra::notation::{Notation, NotationFault};

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Operation of CuTe's layout algebra on a layout A. The text in a variant is the operand B; its other members are
/// options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CuteOperation<'a> {
    /// Composition A ∘ B, the layout that maps i to A(B(i)); B is a layout or a tiler.
    Compose(&'a str),
    /// Complement of A; B is the cotarget (size of the codomain to cover), an integer or a shape. `None` if it is not
    /// given.
    Complement(Option<&'a str>),
    /// Coalescing of the modes of A. B is a profile, a shape with one integer for each mode that is coalesced by
    /// itself. `None`: all modes are coalesced together.
    Coalesce(Option<&'a str>),
    /// Division of A by the tiler B. The options are the grouping of the resulting modes, and the policy for a tile
    /// that does not divide an extent.
    Divide(&'a str, DivisionGrouping, RemainderPolicy),
    /// Product of A by B, a layout or a tiler: copies of A, arranged as B says. The option is the grouping of the
    /// resulting modes.
    Product(&'a str, ProductGrouping),
    /// Right inverse of A: the layout R with A(R(i)) = i.
    RightInverse,
    /// Left inverse of A: the layout R with R(A(i)) = i.
    LeftInverse,
}

impl<'a> CuteOperation<'a> {
    /// Text of the operand B; `None` for a unary operation.
    fn operand(self) -> Option<&'a str> {
        match self {
            Self::Compose(b) | Self::Divide(b, ..) | Self::Product(b, _) => Some(b),
            Self::Complement(b) | Self::Coalesce(b) => b,
            Self::RightInverse | Self::LeftInverse => None,
        }
    }

    /// Pseudo-file of the operand that `error` is about: `<a>` for A, `<b>` for B.
    fn at_fault(self, error: &CuteError) -> &'static str {
        match (self, error) {
            (Self::Complement(_) | Self::RightInverse | Self::LeftInverse, _) => A,
            (_, CuteError::Size) => A,
            // In a product the copied layout A is at fault, in a division the tiler B.
            (Self::Product(..), CuteError::Overlap { .. }) => A,
            _ => B,
        }
    }
}

/// Result of an operation of CuTe's layout algebra: a layout, and notes on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteAnswer {
    /// Resulting layout in CuTe's syntax, with its swizzle if A has one.
    pub text: String,
    /// Resulting layout without the swizzle.
    pub layout: CuteLayout,
    /// Notes on properties of the result that may be unexpected.
    pub notes: Vec<String>,
}

const A: &str = "<a>";
const B: &str = "<b>";

/// Applies `operation` to the layout A, whose text is `a`, such as `(4,2):(2,1)`.
///
/// # Errors
/// A diagnostic for a text that does not parse, or for operands to which the operation does not apply.
pub fn run(operation: CuteOperation<'_>, a: &str) -> Result<CuteAnswer, Diagnostic> {
    let left = || text(A, cute::parse_layout(a));
    let mut pads = false;
    let (swizzled, answer) = match operation {
        CuteOperation::Compose(b) => {
            let (a, b) = (text(A, swizzled(a))?, text(B, cute::parse_tiler(b))?);
            let answer = cute::compose_by(&a.layout, &b);
            (Some(a), answer)
        }
        CuteOperation::Coalesce(b) => {
            let a = text(A, swizzled(a))?;
            let answer = match b {
                Some(b) => cute::coalesce_by(&a.layout, &text(B, cute::parse_shape(b))?.tuple()),
                None => cute::coalesce(&a.layout),
            };
            (Some(a), answer)
        }
        CuteOperation::Divide(b, kind, rounding) => {
            let (a, b) = (text(A, swizzled(a))?, text(B, cute::parse_tiler(b))?);
            let answer = cute::divide(&a.layout, &b, kind, rounding);
            pads =
                answer.is_err() && cute::divide(&a.layout, &b, kind, RemainderPolicy::Pad).is_ok();
            (Some(a), answer)
        }
        CuteOperation::Complement(b) => {
            let a = left()?;
            let cotarget = b.map(cotarget).transpose()?;
            (None, cute::complement(&a, cotarget))
        }
        CuteOperation::Product(b, kind) => {
            let (a, b) = (left()?, text(B, cute::parse_tiler(b))?);
            (None, cute::product(&a, &b, kind))
        }
        CuteOperation::RightInverse => (None, cute::right_inverse(&left()?)),
        CuteOperation::LeftInverse => (None, cute::left_inverse(&left()?)),
    };
    match answer {
        Ok(answer) => Ok(cute_answer(answer, swizzled.as_ref())),
        Err(error) => {
            let mut fault = operation_fault(operation, a, &error);
            if let (CuteError::Rounds { size_out, .. }, true) = (&error, pads) {
                fault.help.push(format!("`--pad` takes the {size_out}, as CuTe does"));
            }
            Err(fault)
        }
    }
}

fn swizzled(text: &str) -> Result<SwizzledLayout, NotationFault> {
    cute::parse(text)?.swizzled()
}

/// Number of elements of a cotarget, which is an integer or a shape: `(4,2)` gives 8. The error is a diagnostic
/// `notation::value` for a number above 63 bits, or one for a text that does not parse.
fn cotarget(text: &str) -> Result<i128, Diagnostic> {
    let shape = self::text(B, cute::parse_shape(text))?;
    let size = shape.tuple().product().filter(|size| *size <= i128::from(i64::MAX));
    size.ok_or_else(|| {
        let place = place(B, shape.span());
        Diagnostic::error(Code::NotationValue, "the cotarget does not fit 64 bits", place, "")
            .help("write a smaller one")
    })
}

fn place(file: &str, span: Range<usize>) -> FileSpan {
    FileSpan::new(&Arc::from(file), span)
}

/// Converts a parse error into a diagnostic with its span in the pseudo-file `file`.
fn text<T>(file: &str, parsed: Result<T, NotationFault>) -> Result<T, Diagnostic> {
    parsed.map_err(|fault| {
        // B may also be a shape or a tiler, for which an example of a layout does not help.
        let fault = if file == A { fault.or_example(Notation::Cute) } else { fault };
        let place = place(file, fault.span.clone());
        Diagnostic::in_notation(fault, place)
    })
}

fn cute_answer(answer: CuteOutcome, swizzled: Option<&SwizzledLayout>) -> CuteAnswer {
    let CuteOutcome { layout, notes } = answer;
    let mut notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let text = match swizzled {
        Some(SwizzledLayout { swizzle: swizzle @ Some(_), offset, .. }) => {
            notes.push("size and cosize are those of the layout before the swizzle".to_owned());
            SwizzledLayout { swizzle: *swizzle, offset: *offset, layout: layout.clone() }
                .to_string()
        }
        Some(_) | None => layout.to_string(),
    };
    CuteAnswer { text, layout, notes }
}

fn operation_fault(operation: CuteOperation<'_>, a: &str, error: &CuteError) -> Diagnostic {
    let file = operation.at_fault(error);
    let length = if file == A { a.len() } else { operation.operand().map_or(0, str::len) };
    let mut diagnostic =
        Diagnostic::error(code(error), error.to_string(), place(file, 0..length), "");
    diagnostic.notes.extend(error.reference_message());
    diagnostic.help.extend(error.help());
    match error {
        CuteError::NotInjective { first, second, .. } => {
            diagnostic.witness = vec![vec![*first], vec![*second]];
        }
        CuteError::Dependent { index, .. } => diagnostic.witness = vec![vec![*index]],
        _ => {}
    }
    diagnostic
}

fn code(error: &CuteError) -> Code {
    match error {
        CuteError::InnerComposition { error, .. } => code(error),
        CuteError::Uneven { .. } | CuteError::Dependent { .. } => Code::NotationComposition,
        CuteError::Overlap { .. } | CuteError::Uncovered { .. } => Code::NotationComplement,
        CuteError::NotInjective { .. } | CuteError::Strides { .. } => Code::NotationInverse,
        CuteError::Rounds { .. } => Code::NotationRounds,
        CuteError::Unverified { .. } => Code::NotationUnverified,
        CuteError::Rank { .. } => Code::NotationAxes,
        CuteError::Tiler
        | CuteError::Repeats { .. }
        | CuteError::Size
        | CuteError::Cotarget { .. }
        | CuteError::Congruence
        | CuteError::Extent { .. }
        | CuteError::Depth
        | CuteError::Coordinate { .. }
        | CuteError::Swizzle(_) => Code::NotationValue,
    }
}
