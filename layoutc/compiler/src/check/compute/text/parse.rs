//! A statement's tokens into a tree.

use layoutc_algebra::parse as index;

use super::token::{Token, TokenKind, tokenize};
use super::{
    Ast, AstKind, IN_AN_INDEX, IndexKind, IndexText, Line, MAX_DEPTH, Operator, ReadText, Span,
    TextError, TextErrorKind, Word,
};
use crate::model::compute::{Arithmetic, Comparison, Reduction};

/// How tightly operators bind, the loosest first.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;

/// Parses one statement.
///
/// # Errors
/// The first fault, with its place.
pub(in crate::check) fn statement(text: &str) -> Result<Line, TextError> {
    let tokens = tokenize(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, nesting: 0 };
    let target = parser.name("the tensor that is written")?;
    let (axes, scatter) = parser.left()?;
    let left = target.span.start..parser.end_before();
    let (op, op_span) = parser.reduction()?;
    let value = parser.value()?;
    match parser.peek() {
        None => Ok(Line { target, axes, scatter, left, op, op_span, value }),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    nesting: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        let end = self.text.len();
        self.tokens.get(self.at).map_or(end..end, |token| token.span.clone())
    }

    /// Where the token before ends.
    fn end_before(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|k| self.tokens.get(k));
        before.map_or(0, |token| token.span.end)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Sign(found)) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn error<T>(&self, kind: TextErrorKind) -> Result<T, TextError> {
        Err(TextError { kind, span: self.span() })
    }

    fn unexpected(&self, expected: &'static str) -> TextError {
        let found = match self.tokens.get(self.at) {
            None => "the end".to_owned(),
            Some(token) => {
                format!("`{}`", self.text.get(token.span.clone()).unwrap_or_default())
            }
        };
        TextError { kind: TextErrorKind::Unexpected { expected, found }, span: self.span() }
    }

    fn name(&mut self, expected: &'static str) -> Result<Word, TextError> {
        let span = self.span();
        match self.peek() {
            Some(TokenKind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(Word { name, span })
            }
            Some(TokenKind::Keyword(word)) => {
                self.error(TextErrorKind::Keyword((*word).to_owned()))
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// The axes on the left, or the indices where one of them reads an element.
    fn left(&mut self) -> Result<(Vec<Word>, Option<Vec<IndexText>>), TextError> {
        let is_open = self.is_sign("[");
        let behind = self.tokens.get(self.at + usize::from(is_open)..).unwrap_or_default();
        let end = behind.iter().position(|token| matches!(token.kind, TokenKind::Sign("]")));
        let inside = behind.get(..end.unwrap_or(0)).unwrap_or_default();
        let reads = inside.iter().any(|token| matches!(token.kind, TokenKind::Sign("[")));
        if !(is_open && reads) {
            return Ok((self.axes()?, None));
        }
        self.at += 1;
        Ok((Vec::new(), Some(self.index()?)))
    }

    fn axes(&mut self) -> Result<Vec<Word>, TextError> {
        if !self.take("[") {
            return Err(self.unexpected("`[` and the axes"));
        }
        let mut axes = Vec::new();
        if self.take("]") {
            return Ok(axes);
        }
        loop {
            axes.push(self.name("an axis: what is written is indexed by axes alone")?);
            if self.take("]") {
                return Ok(axes);
            }
            if !self.take(",") {
                return Err(self.unexpected("`,` or `]`: what is written is indexed by axes alone"));
            }
        }
    }

    fn reduction(&mut self) -> Result<(Reduction, Span), TextError> {
        let start = self.span();
        let op = match self.peek() {
            Some(TokenKind::Sign("=")) => Reduction::Assign,
            Some(TokenKind::Sign("+=")) => Reduction::Sum,
            Some(TokenKind::Sign("*=")) => Reduction::Product,
            Some(TokenKind::Name(name)) if name == "min" || name == "max" => {
                let op = if name == "min" { Reduction::Min } else { Reduction::Max };
                self.at += 1;
                if !self.is_sign("=") {
                    return Err(self.unexpected("`=` behind `min` or `max`"));
                }
                op
            }
            _ => return self.error(TextErrorKind::NoOperator),
        };
        let end = self.span().end;
        self.at += 1;
        Ok((op, start.start..end))
    }

    /// One more level of nesting.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, TextError>,
    ) -> Result<T, TextError> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return self.error(TextErrorKind::TooDeep);
        }
        let found = inner(self)?;
        self.nesting -= 1;
        Ok(found)
    }

    fn node(&self, span: Span, kind: AstKind) -> Result<Ast, TextError> {
        let node = Ast { span, kind, depth: 0 };
        let depth = node.children().iter().map(|child| child.depth).max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return self.error(TextErrorKind::TooDeep);
        }
        Ok(Ast { depth, ..node })
    }

    /// A value, and what may stand behind it: `?? value`.
    fn value(&mut self) -> Result<Ast, TextError> {
        self.deeper(|parser| {
            let left = parser.operators(OR)?;
            if !parser.is_sign("??") {
                return Ok(left);
            }
            let AstKind::Read(read) = left.kind else {
                return parser.error(TextErrorKind::Guard);
            };
            parser.at += 1;
            let other = parser.value()?;
            let span = left.span.start..other.span.end;
            parser.node(span, AstKind::Guarded(Box::new(read), Box::new(other)))
        })
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        use Operator::{Arithmetic as A, Compare as C};
        Some(match self.peek()? {
            TokenKind::Keyword("or") => (A(Arithmetic::Or), OR),
            TokenKind::Keyword("and") => (A(Arithmetic::And), AND),
            TokenKind::Sign("==") => (C(Comparison::Equal), COMPARE),
            TokenKind::Sign("!=") => (C(Comparison::NotEqual), COMPARE),
            TokenKind::Sign("<") => (C(Comparison::Less), COMPARE),
            TokenKind::Sign("<=") => (C(Comparison::LessOrEqual), COMPARE),
            TokenKind::Sign(">") => (C(Comparison::Greater), COMPARE),
            TokenKind::Sign(">=") => (C(Comparison::GreaterOrEqual), COMPARE),
            TokenKind::Sign("+") => (A(Arithmetic::Add), SUM),
            TokenKind::Sign("-") => (A(Arithmetic::Subtract), SUM),
            TokenKind::Sign("*") => (A(Arithmetic::Multiply), PRODUCT),
            TokenKind::Sign("/") => (A(Arithmetic::Divide), PRODUCT),
            TokenKind::Sign("//") => (A(Arithmetic::FloorDivide), PRODUCT),
            TokenKind::Sign("%") => (A(Arithmetic::Modulo), PRODUCT),
            _ => return None,
        })
    }

    /// Operators that bind at least as tightly as `least`, by precedence climbing.
    fn operators(&mut self, least: u8) -> Result<Ast, TextError> {
        let mut left = self.prefixed(least)?;
        let mut compared = false;
        while let Some((operator, level)) = self.operator() {
            if level < least {
                break;
            }
            if level == COMPARE && std::mem::replace(&mut compared, true) {
                return self.error(TextErrorKind::Chained);
            }
            compared &= level == COMPARE;
            let sign = self.span();
            self.at += 1;
            let right = self.operators(level + 1)?;
            let span = left.span.start..right.span.end;
            let kind = AstKind::Binary(operator, sign, Box::new(left), Box::new(right));
            left = self.node(span, kind)?;
        }
        Ok(left)
    }

    fn prefixed(&mut self, least: u8) -> Result<Ast, TextError> {
        let start = self.span().start;
        if matches!(self.peek(), Some(TokenKind::Keyword("not"))) {
            if least > NOT {
                return Err(self.unexpected("a value: `not` here needs parentheses"));
            }
            self.at += 1;
            let inner = self.deeper(|parser| parser.operators(NOT))?;
            return self.node(start..inner.span.end, AstKind::Not(Box::new(inner)));
        }
        if self.take("-") {
            let inner = self.deeper(|parser| parser.prefixed(PRODUCT + 1))?;
            return self.node(start..inner.span.end, AstKind::Negate(Box::new(inner)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Ast, TextError> {
        let span = self.span();
        let kind = match self.peek() {
            Some(TokenKind::Integer(value)) => AstKind::Integer(*value),
            Some(TokenKind::Float(value)) => AstKind::Float(*value),
            Some(TokenKind::Keyword("true")) => AstKind::Bool(true),
            Some(TokenKind::Keyword("false")) => AstKind::Bool(false),
            Some(TokenKind::Keyword("inf")) => AstKind::Float(f64::INFINITY),
            Some(TokenKind::Keyword("nan")) => AstKind::Float(f64::NAN),
            Some(TokenKind::Name(name)) => {
                let word = Word { name: name.clone(), span };
                self.at += 1;
                return self.named(word);
            }
            Some(TokenKind::Sign("(")) => {
                self.at += 1;
                let inner = self.value()?;
                let end = self.span().end;
                if !self.take(")") {
                    return Err(self.unexpected("an operator or `)`"));
                }
                return Ok(Ast { span: span.start..end, ..inner });
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        self.node(span, kind)
    }

    /// What begins with a name: a read, a call, or the name alone.
    fn named(&mut self, word: Word) -> Result<Ast, TextError> {
        let start = word.span.start;
        if self.take("[") {
            let index = self.index()?;
            let span = start..self.end_before();
            let read = ReadText { tensor: word, index, span: span.clone() };
            return self.node(span, AstKind::Read(read));
        }
        if !self.take("(") {
            return self.node(word.span, AstKind::Name(word.name));
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() && !self.take(",") {
                return Err(self.unexpected("an operator, `,` or `)`"));
            }
            arguments.push(self.value()?);
        }
        self.node(start..self.end_before(), AstKind::Call(word, arguments))
    }

    /// The indices up to the bracket that closes: each read by the algebra, or a value where it reads an element.
    fn index(&mut self) -> Result<Vec<IndexText>, TextError> {
        let mut index = Vec::new();
        if self.take("]") {
            return Ok(index);
        }
        loop {
            let start = self.end_before();
            if self.is_data() {
                let value = Box::new(self.value()?);
                let length = self.span().start - start;
                index.push(IndexText { kind: IndexKind::Data(value), start, length });
            } else {
                self.skip_index()?;
                index.push(self.one_index(start..self.span().start)?);
            }
            if self.take("]") {
                return Ok(index);
            }
            if !self.take(",") {
                return Err(self.unexpected(IN_AN_INDEX));
            }
        }
    }

    /// Whether the index that begins here reads an element.
    fn is_data(&self) -> bool {
        let mut open = 0_usize;
        for token in self.tokens.get(self.at..).unwrap_or_default() {
            match token.kind {
                TokenKind::Sign("[") => return true,
                TokenKind::Sign("]") => return false,
                TokenKind::Sign(",") if open == 0 => return false,
                TokenKind::Sign("(") => open += 1,
                TokenKind::Sign(")") => open = open.saturating_sub(1),
                _ => {}
            }
        }
        false
    }

    /// Goes to the `,` or `]` behind an index.
    fn skip_index(&mut self) -> Result<(), TextError> {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(TokenKind::Sign("(")) => open += 1,
                Some(TokenKind::Sign(")")) if open > 0 => open -= 1,
                Some(TokenKind::Sign("]")) => return Ok(()),
                Some(TokenKind::Sign(",")) if open == 0 => return Ok(()),
                Some(_) => {}
                None => return Err(self.unexpected("`,` or `]`")),
            }
            self.at += 1;
        }
    }

    fn one_index(&self, span: Span) -> Result<IndexText, TextError> {
        let text = self.text.get(span.clone()).unwrap_or_default();
        match index::expression(text) {
            Ok(ast) => {
                let (start, length) = (span.start, span.len());
                Ok(IndexText { kind: IndexKind::Axes(ast), start, length })
            }
            Err(error) => {
                let place = span.start + error.span.start..span.start + error.span.end;
                Err(TextError { kind: TextErrorKind::Index(error, span), span: place })
            }
        }
    }
}
