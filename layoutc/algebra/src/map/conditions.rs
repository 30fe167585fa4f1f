//! Conditions of a domain, such as `j <= i and i - 2 <= j`: comparisons of affine expressions over the axes.
//!
//! Comparisons may be chained, as in `i - 2 <= j <= i + 1`, and joined by `and`. Each side is a sum of axes
//! times integer constants, plus terms without axes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::parse::{self, IndexAst, ParseError, Span};
use crate::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError, ExprNode, Predicate, Var};
use crate::map::{MapError, MapScope, resolve_index};

/// Reason why a text is not a condition of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConditionError {
    /// A side of a comparison has a syntax error, such as `i +` in `i + < 4`.
    #[error("{0}")]
    Parse(ParseError),
    /// A side of a comparison contains an unknown name, or violates another rule of index expressions.
    #[error("{0}")]
    Map(MapError),
    /// A condition has no comparison operator, such as `i + j`. Contains its byte range.
    #[error("condition without a comparison")]
    Lone(Span),
    /// An operator or connective of another language is used, such as `!=`, `&&` or `or`.
    #[error("`{sign}` is not an operator of conditions")]
    Sign {
        /// Operator or connective in the text, such as `&&`.
        sign: String,
        /// Byte range of the operator or connective in the text.
        span: Span,
    },
    /// A comparison is inside parentheses, such as `(i < j)`. Contains the byte range of its operator.
    #[error("comparison inside parentheses")]
    Enclosed(Span),
    /// A side of a comparison is not affine: it has an index in a quotient, a remainder, a bitwise operation or a
    /// function, or a product of an index with another index or with a symbol, such as `i * j < 4`. Contains the byte
    /// range of the side.
    #[error("condition is not affine in the indices")]
    NotAffine(Span),
    /// Neither side of a comparison contains an index, such as `3 < 4`.
    #[error("neither side of the comparison has an index")]
    NoAxis {
        /// Byte range from the start of the left side to the end of the right side.
        span: Span,
        /// True if at least one side contains a symbol.
        has_symbols: bool,
    },
    /// An expression of the condition exceeds the size limits, or a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Comparison operator as it is written in a condition: `<`, `<=`, `==`, `>=` or `>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

/// Texts of the comparison operators, in the order in which they are matched: `<=` before `<`.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("<", Relation::Less),
    (">", Relation::More),
];

/// Operators of other languages that are reported as errors, in the order in which they are matched.
const FOREIGN: [&str; 8] = ["!=", "<<", ">>", "&&", "||", "=>", "=<", "="];

/// Parses conditions such as `i - 2 <= j <= i and j < 8`, and resolves their names in `scope`. The result is a
/// predicate over `Var::Axis` and `Var::Symbol` with one entry per comparison: three for this example.
///
/// # Errors
/// [`ConditionError`]s of all conditions that `and` joins, in the order of the conditions. A condition with
/// [`ConditionError::Sign`], [`ConditionError::Enclosed`] or [`ConditionError::Lone`] has this error only.
pub fn conditions(text: &str, scope: MapScope<'_>) -> Result<Predicate, Vec<ConditionError>> {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for span in conjuncts(text) {
        match comparisons(text, &span, scope) {
            Ok(found) => all.extend(found),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(Predicate { all }) } else { Err(errors) }
}

/// Byte ranges of the conditions that the word `and` joins, in order: `0..6` and `9..15` for `i < j and j < 8`.
fn conjuncts(text: &str) -> Vec<Span> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for at in words(text, "and") {
        parts.push(start..at);
        start = at + "and".len();
    }
    parts.push(start..text.len());
    parts
}

/// Byte positions at which `word` occurs in the text as a whole word.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + word.len()))
    })
}

/// Returns [`ConditionError::Sign`] if the condition in the byte range `whole` contains the word `or` or `not`.
fn no_connective(text: &str, whole: &Span) -> Result<(), ConditionError> {
    let own = text.get(whole.clone()).unwrap_or_default();
    for word in ["or", "not"] {
        if let Some(at) = words(own, word).next() {
            let at = whole.start + at;
            return Err(ConditionError::Sign { sign: word.to_string(), span: at..at + word.len() });
        }
    }
    Ok(())
}

fn comparisons(
    text: &str,
    whole: &Span,
    scope: MapScope<'_>,
) -> Result<Vec<ExprComparison>, Vec<ConditionError>> {
    let parted = no_connective(text, whole).and_then(|()| sides(text, whole));
    let (spans, relations) = parted.map_err(|error| alloc::vec![error])?;
    if relations.is_empty() {
        let lone = trimmed(text, whole);
        return Err(alloc::vec![ConditionError::Lone(lone)]);
    }
    let (mut sides, mut errors) = (Vec::new(), Vec::new());
    for span in &spans {
        match side(text, span, scope) {
            Ok(side) => sides.push(side),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut all = Vec::new();
    for ((pair, relation), spans) in sides.windows(2).zip(&relations).zip(spans.windows(2)) {
        let [a, b] = pair else { continue };
        if !has_axes(a) && !has_axes(b) {
            let start = spans.first().map_or(0, |span| span.start);
            let both = start..spans.last().map_or(0, |span| span.end);
            let has_symbols = !is_number(a) || !is_number(b);
            errors.push(ConditionError::NoAxis { span: trimmed(text, &both), has_symbols });
            continue;
        }
        let (left, op, right) = match relation {
            Relation::Less => (a, CompareOp::Lt, b),
            Relation::AtMost => (b, CompareOp::Ge, a),
            Relation::Equal => (a, CompareOp::Eq, b),
            Relation::AtLeast => (a, CompareOp::Ge, b),
            Relation::More => (b, CompareOp::Lt, a),
        };
        all.push(ExprComparison { left: left.clone(), op, right: right.clone() });
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// Pair `(operands, operators)` of the comparison chain in the byte range `whole`: the byte ranges of its operands, and
/// the operators between them. For `i - 2 <= j < 8`, there are three operands and two operators.
/// [`ConditionError::Sign`] for an operator of another language, [`ConditionError::Enclosed`] for a comparison inside
/// parentheses.
fn sides(text: &str, whole: &Span) -> Result<(Vec<Span>, Vec<Relation>), ConditionError> {
    let (mut spans, mut relations) = (Vec::new(), Vec::new());
    let (mut start, mut at) = (whole.start, whole.start);
    let mut depth = 0_usize;
    let rest = |at: usize| text.get(at..whole.end).unwrap_or_default();
    while at < whole.end {
        let here = rest(at);
        if let Some(sign) =
            FOREIGN.into_iter().find(|sign| here.starts_with(sign) && !here.starts_with("=="))
        {
            let span = at..at + sign.len();
            return Err(ConditionError::Sign { sign: sign.to_string(), span });
        }
        match RELATIONS.into_iter().find(|(sign, _)| here.starts_with(sign)) {
            Some((sign, _)) if depth > 0 => {
                return Err(ConditionError::Enclosed(at..at + sign.len()));
            }
            Some((sign, relation)) => {
                spans.push(start..at);
                relations.push(relation);
                at += sign.len();
                start = at;
            }
            None => {
                let next = here.chars().next();
                match next {
                    Some('(') => depth += 1,
                    Some(')') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at += next.map_or(1, char::len_utf8);
            }
        }
    }
    spans.push(start..whole.end);
    Ok((spans, relations))
}

/// Byte range `span` without the leading and trailing whitespace of its text.
fn trimmed(text: &str, span: &Span) -> Span {
    let own = text.get(span.clone()).unwrap_or_default();
    let start = span.start + (own.len() - own.trim_start().len());
    start..start.max(span.start + own.trim_end().len())
}

/// Parses the operand of a comparison in the byte range `span`, and resolves it to an expression over `Var::Axis` and
/// `Var::Symbol`. [`ConditionError::NotAffine`] if it is not affine in the axes; other errors if it cannot be parsed or
/// resolved.
fn side(text: &str, span: &Span, scope: MapScope<'_>) -> Result<Expr, Vec<ConditionError>> {
    // Leading blanks keep the spans relative to the whole text.
    let mut own = " ".repeat(span.start);
    own.push_str(text.get(span.clone()).unwrap_or_default());
    let ast: IndexAst =
        parse::expression(&own).map_err(|error| alloc::vec![ConditionError::Parse(error)])?;
    let expr = resolve_index(&ast, scope)
        .map_err(|errors| errors.into_iter().map(ConditionError::Map).collect::<Vec<_>>())?;
    if !is_affine(&expr) {
        return Err(alloc::vec![ConditionError::NotAffine(ast.span)]);
    }
    let axis = |var| match var {
        Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
        _ => None,
    };
    expr.substitute(&axis).map_err(|error| alloc::vec![error.into()])
}

fn has_axes(expr: &Expr) -> bool {
    expr.mentions(&|var| !matches!(var, Var::Symbol(_)))
}

/// True if the expression contains neither axes nor symbols.
fn is_number(expr: &Expr) -> bool {
    !expr.mentions(&|_| true)
}

/// True if the expression is written as an affine one: a sum of axes times numbers, and of terms without axes.
fn is_affine(expr: &Expr) -> bool {
    if !has_axes(expr) {
        return true;
    }
    match expr.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => true,
        ExprNode::Neg(a) => is_affine(a),
        ExprNode::Bin(BinOp::Add | BinOp::Sub, a, b) => is_affine(a) && is_affine(b),
        ExprNode::Bin(BinOp::Mul, a, b) => {
            (is_number(a) && is_affine(b)) || (is_number(b) && is_affine(a))
        }
        ExprNode::Bin(..) => false,
    }
}
