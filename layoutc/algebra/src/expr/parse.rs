//! Parser of maps and expressions, from text to trees with byte ranges. Names are resolved in [`crate::map`].
//!
//! Spans are UTF-8 byte ranges. Nesting is limited by [`MAX_NESTING`], chains of operators by [`MAX_TERMS`], and the
//! length of a text by [`MAX_BYTES`], so that no text exhausts the stack.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use thiserror::Error;

use super::token::{MapToken, MapTokenKind, tokenize};
use crate::expr::BinOp;

/// Maximum nesting depth of operands: `a` has depth 1, and parentheses, a sign or a call around it add 1 each. A deeper
/// text is refused with [`ParseErrorKind::TooDeep`].
pub const MAX_NESTING: usize = 256;
/// Maximum depth of the tree of a binary operation, in nodes from the root to a leaf. Operators of one precedence group
/// to the left, so that `a + b + c` has depth 3: a sum of single names has at most this number of terms. A deeper text
/// is refused with [`ParseErrorKind::TooDeep`].
pub const MAX_TERMS: usize = 512;
/// Maximum length of a map or expression, in bytes; a longer text is refused with [`ParseErrorKind::TooDeep`].
pub const MAX_BYTES: usize = 1 << 16;

/// Byte range in a UTF-8 text.
pub type Span = Range<usize>;

/// Parsed expression: a tree whose nodes have byte ranges in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexAst {
    /// Byte range of the expression, parentheses included.
    pub span: Span,
    /// Operation, name or literal at the root of the expression, with its operands.
    pub kind: IndexAstKind,
    /// Number of nodes on the longest path from this node to a leaf. The parser refuses a binary operation of a depth
    /// above [`MAX_TERMS`].
    depth: usize,
}

/// Operation, name or literal at a node of an [`IndexAst`], with its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexAstKind {
    /// Integer literal, at most `2^63 - 1`.
    Int(i128),
    /// Name of an axis, const, parameter or symbol.
    Name(String),
    /// Negation, `-a`.
    Neg(Box<IndexAst>),
    /// Binary operation `a op b`, with the byte range of the operator.
    Bin(BinOp, Span, Box<IndexAst>, Box<IndexAst>),
    /// Call of a function, such as `f(a, b)`: the name of the function, and its arguments in order.
    Call(String, Vec<IndexAst>),
}

/// Parameter of a map: `c`, or `*outer` for any number of axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapParam {
    /// Name of the parameter, without `*`.
    pub name: String,
    /// True for a parameter `*name`, which takes any number of axes.
    pub star: bool,
    /// Byte range of the parameter in the text, with `*` if it has one.
    pub span: Span,
}

/// Item of the right side of a map as parsed, with unresolved names: `c // 4`, `b = c // 4 : 32` or `*outer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapItemText {
    /// Storage axis, written as `name = index : extent`, such as `b = c // 4 : 32`; name and extent are optional.
    Expr {
        /// Name of the storage axis with its byte range; `None` if none is written.
        name: Option<(String, Span)>,
        /// Index along the storage axis.
        expr: IndexAst,
        /// Stated extent of the storage axis; `None` if none is written.
        extent: Option<IndexAst>,
    },
    /// Axes that the `*` parameter of this name takes, written as `*outer`. Contains the name without `*` and the
    /// byte range with it.
    Star(String, Span),
}

/// Parsed text of a map, with unresolved names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapText {
    /// Parameters of the map, in the order of the text; `None` if the text has no `->`, only items.
    pub params: Option<Vec<MapParam>>,
    /// Items of the right side of the map, one per new storage axis or `*` parameter, outermost first.
    pub items: Vec<MapItemText>,
    /// Pairs `(items, span)`, one for each separator `|`: `items` is the number of items before it, and `span` is its
    /// byte range.
    pub separators: Vec<(usize, Span)>,
}

/// Cause of a syntax error in a map or expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseErrorKind {
    /// A token is found where another one is expected.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Description of the expected token.
        expected: &'static str,
        /// Token that is found, in backticks, or `the end` at the end of the text.
        found: String,
    },
    /// A character does not belong to the language of expressions.
    #[error("unexpected character `{0}` in an expression")]
    Character(char),
    /// The sign `/` is used alone, but only `//` is an operator.
    #[error("`/` is not an operator")]
    Slash,
    /// An integer literal does not fit 64 bits.
    #[error("the literal has {digits} digits and does not fit 64 bits")]
    TooBig {
        /// Number of digits of the literal.
        digits: usize,
    },
    /// An integer literal has a leading zero, an underscore or letters.
    #[error("literals are decimal, without leading zeros, `_` or letters")]
    Literal,
    /// The text is nested too deeply, has too many operators in a row, or is too long.
    #[error(
        "the expression is nested deeper than {MAX_NESTING}, has over {MAX_TERMS} terms in a row or is too long"
    )]
    TooDeep,
    /// The map has two `*name` parameters.
    #[error("more than one `*` parameter")]
    TwoStars,
    /// A separator `|` is not between two items of the map.
    #[error("a separator needs an axis on both sides")]
    EmptyGroup,
}

/// Syntax error in a map or expression, with its byte range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct ParseError {
    /// Cause of the syntax error, such as an unexpected token.
    pub kind: ParseErrorKind,
    /// Byte range of the syntax error in the text.
    pub span: Span,
}

/// Parses a map such as `(n, c) -> (n, c // 4 | c % 4)`, or its items alone, such as `n, c // 4 | c % 4`.
///
/// # Errors
/// [`ParseError`] for a syntax error, or if the text exceeds [`MAX_NESTING`], [`MAX_TERMS`] or [`MAX_BYTES`].
pub fn map(text: &str) -> Result<MapText, ParseError> {
    let tokens = tokenize(text)?;
    let mut parser = MapParser { tokens: &tokens, at: 0, end: text.len(), nesting: 0 };
    let arrow = parser.top_level_arrow();
    let params = if arrow.is_some() { Some(parser.params()?) } else { None };
    let wrapped = parser.wrapped_to_the_end();
    if wrapped {
        parser.at += 1;
        parser.tokens = tokens.get(..tokens.len() - 1).unwrap_or_default();
        parser.end = tokens.last().map_or(text.len(), |t| t.span.start);
    }
    let (items, separators) = parser.items()?;
    Ok(MapText { params, items, separators })
}

/// Parses an index expression such as `(n * 32 + c) // 4`.
///
/// # Errors
/// [`ParseError`] for a syntax error, or if the text exceeds [`MAX_NESTING`], [`MAX_TERMS`] or [`MAX_BYTES`].
pub fn expression(text: &str) -> Result<IndexAst, ParseError> {
    let tokens = tokenize(text)?;
    let mut parser = MapParser { tokens: &tokens, at: 0, end: text.len(), nesting: 0 };
    let ast = parser.expr(0)?;
    match parser.peek() {
        None => Ok(ast),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

/// Pair `(items, separators)` of the right side of a map, as in [`MapText`].
type MapItemList = (Vec<MapItemText>, Vec<(usize, Span)>);

struct MapParser<'a> {
    tokens: &'a [MapToken],
    at: usize,
    end: usize,
    nesting: usize,
}

impl MapParser<'_> {
    fn peek(&self) -> Option<&MapTokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end..self.end, |token| token.span.clone())
    }

    fn take(&mut self, wanted: &MapTokenKind) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(
        &mut self,
        wanted: &MapTokenKind,
        expected: &'static str,
    ) -> Result<Span, ParseError> {
        let span = self.span();
        if self.take(wanted) { Ok(span) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &'static str) -> ParseError {
        let found = match self.peek() {
            None => "the end".to_string(),
            Some(MapTokenKind::Int(value)) => alloc::format!("`{value}`"),
            Some(MapTokenKind::Name(name)) => alloc::format!("`{name}`"),
            Some(MapTokenKind::Op(op)) => alloc::format!("`{}`", op.sign()),
            Some(MapTokenKind::Open) => "`(`".to_string(),
            Some(MapTokenKind::Close) => "`)`".to_string(),
            Some(MapTokenKind::Comma) => "`,`".to_string(),
            Some(MapTokenKind::Bar) => "`|`".to_string(),
            Some(MapTokenKind::Arrow) => "`->`".to_string(),
            Some(MapTokenKind::Equals) => "`=`".to_string(),
            Some(MapTokenKind::Colon) => "`:`".to_string(),
        };
        ParseError { kind: ParseErrorKind::Unexpected { expected, found }, span: self.span() }
    }

    fn too_deep(&self) -> ParseError {
        ParseError { kind: ParseErrorKind::TooDeep, span: self.span() }
    }

    fn top_level_arrow(&self) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate() {
            match token.kind {
                MapTokenKind::Open => depth += 1,
                MapTokenKind::Close => depth = depth.saturating_sub(1),
                MapTokenKind::Arrow if depth == 0 => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// True if the next token is an opening parenthesis, and the last token closes it. The two then enclose the whole
    /// right side of a map, and the parser drops both.
    fn wrapped_to_the_end(&self) -> bool {
        if self.peek() != Some(&MapTokenKind::Open) {
            return false;
        }
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                MapTokenKind::Open => depth += 1,
                MapTokenKind::Close => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1 == self.tokens.len();
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn params(&mut self) -> Result<Vec<MapParam>, ParseError> {
        self.expect(&MapTokenKind::Open, "`(` before the parameters")?;
        let mut params: Vec<MapParam> = Vec::new();
        if !self.take(&MapTokenKind::Close) {
            loop {
                let start = self.span();
                let star = self.take(&MapTokenKind::Op(BinOp::Mul));
                if star && params.iter().any(|p| p.star) {
                    return Err(ParseError { kind: ParseErrorKind::TwoStars, span: start });
                }
                let (name, span) = self.name("a parameter's name")?;
                params.push(MapParam { name, star, span: start.start..span.end });
                if self.take(&MapTokenKind::Close) {
                    break;
                }
                self.expect(&MapTokenKind::Comma, "`,` or `)`")?;
            }
        }
        self.expect(&MapTokenKind::Arrow, "`->`")?;
        Ok(params)
    }

    fn name(&mut self, expected: &'static str) -> Result<(String, Span), ParseError> {
        let span = self.span();
        let Some(MapTokenKind::Name(name)) = self.peek() else {
            return Err(self.unexpected(expected));
        };
        let name = name.clone();
        self.at += 1;
        Ok((name, span))
    }

    fn items(&mut self) -> Result<MapItemList, ParseError> {
        let (mut items, mut separators) = (Vec::new(), Vec::new());
        if self.peek().is_none() {
            return Ok((items, separators));
        }
        loop {
            if self.peek() == Some(&MapTokenKind::Bar) {
                return Err(ParseError { kind: ParseErrorKind::EmptyGroup, span: self.span() });
            }
            items.push(self.item()?);
            let span = self.span();
            if self.peek().is_none() {
                return Ok((items, separators));
            }
            if self.take(&MapTokenKind::Bar) {
                if self.peek().is_none() {
                    return Err(ParseError { kind: ParseErrorKind::EmptyGroup, span });
                }
                separators.push((items.len(), span));
            } else {
                self.expect(&MapTokenKind::Comma, "an operator, `,`, `|` or the end")?;
            }
        }
    }

    fn item(&mut self) -> Result<MapItemText, ParseError> {
        let start = self.span();
        if self.take(&MapTokenKind::Op(BinOp::Mul)) {
            let (name, span) = self.name("the name of a `*` parameter")?;
            return Ok(MapItemText::Star(name, start.start..span.end));
        }
        let mut name = None;
        if self.tokens.get(self.at + 1).is_some_and(|token| token.kind == MapTokenKind::Equals) {
            name = Some(self.name("the name of a storage axis")?);
            self.at += 1;
        }
        let expr = self.expr(0)?;
        let extent = if self.take(&MapTokenKind::Colon) { Some(self.expr(0)?) } else { None };
        Ok(MapItemText::Expr { name, expr, extent })
    }

    /// Parses an expression whose operators outside of parentheses have precedence `least` or higher: 1 for `^`, 2
    /// for `&`, 3 for `+ -`, 4 for `* // %`. With `least` 0, parses any expression.
    fn expr(&mut self, least: u8) -> Result<IndexAst, ParseError> {
        let mut left = self.unary()?;
        while let Some(MapTokenKind::Op(op)) = self.peek() {
            let (op, span) = (*op, self.span());
            let level = match op {
                BinOp::Xor => 1,
                BinOp::And => 2,
                BinOp::Add | BinOp::Sub => 3,
                _ => 4,
            };
            if level < least {
                break;
            }
            self.at += 1;
            let right = self.expr(level + 1)?;
            let depth = left.depth.max(right.depth) + 1;
            if depth > MAX_TERMS {
                return Err(self.too_deep());
            }
            left = IndexAst {
                span: left.span.start..right.span.end,
                kind: IndexAstKind::Bin(op, span, Box::new(left), Box::new(right)),
                depth,
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<IndexAst, ParseError> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.too_deep());
        }
        let start = self.span();
        let ast = if self.take(&MapTokenKind::Op(BinOp::Sub)) {
            let inner = self.unary()?;
            let (span, depth) = (start.start..inner.span.end, inner.depth + 1);
            IndexAst { span, kind: IndexAstKind::Neg(Box::new(inner)), depth }
        } else {
            self.primary()?
        };
        self.nesting -= 1;
        Ok(ast)
    }

    fn primary(&mut self) -> Result<IndexAst, ParseError> {
        let span = self.span();
        match self.peek() {
            Some(MapTokenKind::Int(value)) => {
                let kind = IndexAstKind::Int(*value);
                self.at += 1;
                Ok(IndexAst { span, kind, depth: 1 })
            }
            Some(MapTokenKind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                if self.take(&MapTokenKind::Open) {
                    self.call(name, span.start)
                } else {
                    Ok(IndexAst { span, kind: IndexAstKind::Name(name), depth: 1 })
                }
            }
            Some(MapTokenKind::Open) => {
                self.at += 1;
                let inner = self.expr(0)?;
                let close = self.expect(&MapTokenKind::Close, "an operator or `)`")?;
                // The span includes the parentheses: a caret below `(a + b) // 4` covers them.
                Ok(IndexAst { span: span.start..close.end, ..inner })
            }
            _ => Err(self.unexpected("an axis, a number or `(`")),
        }
    }

    fn call(&mut self, name: String, start: usize) -> Result<IndexAst, ParseError> {
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expr(0)?);
            if self.peek() == Some(&MapTokenKind::Close) {
                let end = self.span().end;
                self.at += 1;
                let depth = arguments.iter().map(|a| a.depth).max().unwrap_or(0) + 1;
                return Ok(IndexAst {
                    span: start..end,
                    kind: IndexAstKind::Call(name, arguments),
                    depth,
                });
            }
            self.expect(&MapTokenKind::Comma, "`,` or `)`")?;
        }
    }
}
