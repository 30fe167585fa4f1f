//! Parser of the text of a statement into a [`StatementAst`], by recursive descent.

use layoutc_algebra::expr::parse as index;

use super::token::{StatementToken, StatementTokenKind, tokenize};
use super::{
    IN_AN_INDEX, IndexKind, IndexText, InfixOperator, MAX_DEPTH, NameToken, ReadAst, StatementAst,
    StatementError, StatementErrorKind, StatementSpan, ValueAst, ValueAstKind,
};
use crate::model::compute::{Arithmetic, ComparePredicate, Reduction};

/// Precedence of `or`, the lowest. An operator with a greater precedence binds tighter.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;

/// Parses the text of one statement.
///
/// # Errors
/// An invalid token if there is one, otherwise the first syntax error.
pub(in crate::check) fn statement(text: &str) -> Result<StatementAst, StatementError> {
    let tokens = tokenize(text)?;
    let mut parser = StatementParser { text, tokens: &tokens, at: 0, nesting: 0 };
    let target = parser.name("the tensor that is written")?;
    let (axes, scatter) = parser.left()?;
    let left = target.span.start..parser.end_before();
    let (op, op_span) = parser.reduction()?;
    let value = parser.value()?;
    match parser.peek() {
        None => Ok(StatementAst { target, axes, scatter, left, op, op_span, value }),
        Some(_) => Err(parser.unexpected("an operator or the end")),
    }
}

struct StatementParser<'a> {
    text: &'a str,
    tokens: &'a [StatementToken],
    at: usize,
    nesting: usize,
}

impl StatementParser<'_> {
    fn peek(&self) -> Option<&StatementTokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> StatementSpan {
        let end = self.text.len();
        self.tokens.get(self.at).map_or(end..end, |token| token.span.clone())
    }

    /// Byte offset of the end of the token before the current one; 0 at the first token.
    fn end_before(&self) -> usize {
        let before = self.at.checked_sub(1).and_then(|k| self.tokens.get(k));
        before.map_or(0, |token| token.span.end)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(StatementTokenKind::Sign(found)) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn error<T>(&self, kind: StatementErrorKind) -> Result<T, StatementError> {
        Err(StatementError { kind, span: self.span() })
    }

    fn unexpected(&self, expected: &'static str) -> StatementError {
        let found = match self.tokens.get(self.at) {
            None => "the end".to_owned(),
            Some(token) => {
                format!("`{}`", self.text.get(token.span.clone()).unwrap_or_default())
            }
        };
        StatementError {
            kind: StatementErrorKind::Unexpected { expected, found },
            span: self.span(),
        }
    }

    fn name(&mut self, expected: &'static str) -> Result<NameToken, StatementError> {
        let span = self.span();
        match self.peek() {
            Some(StatementTokenKind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(NameToken { name, span })
            }
            Some(StatementTokenKind::Keyword(word)) => {
                self.error(StatementErrorKind::Keyword((*word).to_owned()))
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Parses the brackets after the name of the target. Returns the pair `(axes, indices)`: (axes, `None`) if every
    /// index is the name of an axis, (empty list, `Some`) if an index reads an element.
    fn left(&mut self) -> Result<(Vec<NameToken>, Option<Vec<IndexText>>), StatementError> {
        let is_open = self.is_sign("[");
        let behind = self.tokens.get(self.at + usize::from(is_open)..).unwrap_or_default();
        let end =
            behind.iter().position(|token| matches!(token.kind, StatementTokenKind::Sign("]")));
        let inside = behind.get(..end.unwrap_or(0)).unwrap_or_default();
        let reads = inside.iter().any(|token| matches!(token.kind, StatementTokenKind::Sign("[")));
        if !(is_open && reads) {
            return Ok((self.axes()?, None));
        }
        self.at += 1;
        Ok((Vec::new(), Some(self.index()?)))
    }

    fn axes(&mut self) -> Result<Vec<NameToken>, StatementError> {
        if !self.take("[") {
            return Err(self.unexpected("`[` and the axes"));
        }
        let mut axes = Vec::new();
        if self.take("]") {
            return Ok(axes);
        }
        loop {
            axes.push(self.name("an axis: the target is indexed by axes alone")?);
            if self.take("]") {
                return Ok(axes);
            }
            if !self.take(",") {
                return Err(self.unexpected("`,` or `]`: the target is indexed by axes alone"));
            }
        }
    }

    fn reduction(&mut self) -> Result<(Reduction, StatementSpan), StatementError> {
        let start = self.span();
        let op = match self.peek() {
            Some(StatementTokenKind::Sign("=")) => Reduction::Assign,
            Some(StatementTokenKind::Sign("+=")) => Reduction::Sum,
            Some(StatementTokenKind::Sign("*=")) => Reduction::Product,
            Some(StatementTokenKind::Name(name)) if name == "min" || name == "max" => {
                let op = if name == "min" { Reduction::Min } else { Reduction::Max };
                self.at += 1;
                if !self.is_sign("=") {
                    return Err(self.unexpected("`=` after `min` or `max`"));
                }
                op
            }
            _ => return self.error(StatementErrorKind::NoOperator),
        };
        let end = self.span().end;
        self.at += 1;
        Ok((op, start.start..end))
    }

    /// Calls `inner` with the nesting depth increased by 1; an error beyond [`MAX_DEPTH`](super::MAX_DEPTH).
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, StatementError>,
    ) -> Result<T, StatementError> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return self.error(StatementErrorKind::TooDeep);
        }
        let found = inner(self)?;
        self.nesting -= 1;
        Ok(found)
    }

    fn node(&self, span: StatementSpan, kind: ValueAstKind) -> Result<ValueAst, StatementError> {
        let node = ValueAst { span, kind, depth: 0 };
        let depth = node.children().iter().map(|child| child.depth).max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return self.error(StatementErrorKind::TooDeep);
        }
        Ok(ValueAst { depth, ..node })
    }

    /// Parses a value, with an optional `?? value` after a read.
    fn value(&mut self) -> Result<ValueAst, StatementError> {
        self.deeper(|parser| {
            let left = parser.operators(OR)?;
            if !parser.is_sign("??") {
                return Ok(left);
            }
            let ValueAstKind::Read(read) = left.kind else {
                return parser.error(StatementErrorKind::Guard);
            };
            parser.at += 1;
            let other = parser.value()?;
            let span = left.span.start..other.span.end;
            parser.node(span, ValueAstKind::Guarded(Box::new(read), Box::new(other)))
        })
    }

    fn operator(&self) -> Option<(InfixOperator, u8)> {
        use InfixOperator::{Arithmetic as A, Compare as C};
        Some(match self.peek()? {
            StatementTokenKind::Keyword("or") => (A(Arithmetic::Or), OR),
            StatementTokenKind::Keyword("and") => (A(Arithmetic::And), AND),
            StatementTokenKind::Sign("==") => (C(ComparePredicate::Equal), COMPARE),
            StatementTokenKind::Sign("!=") => (C(ComparePredicate::NotEqual), COMPARE),
            StatementTokenKind::Sign("<") => (C(ComparePredicate::Less), COMPARE),
            StatementTokenKind::Sign("<=") => (C(ComparePredicate::LessOrEqual), COMPARE),
            StatementTokenKind::Sign(">") => (C(ComparePredicate::Greater), COMPARE),
            StatementTokenKind::Sign(">=") => (C(ComparePredicate::GreaterOrEqual), COMPARE),
            StatementTokenKind::Sign("+") => (A(Arithmetic::Add), SUM),
            StatementTokenKind::Sign("-") => (A(Arithmetic::Subtract), SUM),
            StatementTokenKind::Sign("*") => (A(Arithmetic::Multiply), PRODUCT),
            StatementTokenKind::Sign("/") => (A(Arithmetic::Divide), PRODUCT),
            StatementTokenKind::Sign("//") => (A(Arithmetic::FloorDivide), PRODUCT),
            StatementTokenKind::Sign("%") => (A(Arithmetic::Modulo), PRODUCT),
            _ => return None,
        })
    }

    /// Parses a chain of infix operators of at least precedence `least`, by precedence climbing.
    fn operators(&mut self, least: u8) -> Result<ValueAst, StatementError> {
        let mut left = self.prefixed(least)?;
        let mut compared = false;
        while let Some((operator, level)) = self.operator() {
            if level < least {
                break;
            }
            if level == COMPARE && std::mem::replace(&mut compared, true) {
                return Err(self.chained(&left));
            }
            compared &= level == COMPARE;
            let sign = self.span();
            self.at += 1;
            let right = self.operators(level + 1)?;
            let span = left.span.start..right.span.end;
            let kind = ValueAstKind::Binary(operator, sign, Box::new(left), Box::new(right));
            left = self.node(span, kind)?;
        }
        Ok(left)
    }

    /// Error for a second comparison after the comparison `left`. The current token is the second operator.
    fn chained(&mut self, left: &ValueAst) -> StatementError {
        let span = self.span();
        self.at += 1;
        let right = self.operators(SUM).map_or(span.end..span.end, |right| right.span);
        let middle = match &left.kind {
            ValueAstKind::Binary(_, _, _, middle) => middle.span.clone(),
            _ => left.span.clone(),
        };
        let (first, rest) = (left.span.clone(), span.start..right.end);
        StatementError { kind: StatementErrorKind::Chained { first, middle, rest }, span }
    }

    fn prefixed(&mut self, least: u8) -> Result<ValueAst, StatementError> {
        let start = self.span().start;
        if matches!(self.peek(), Some(StatementTokenKind::Keyword("not"))) {
            if least > NOT {
                return Err(self.unexpected("a value: `not` here needs parentheses"));
            }
            self.at += 1;
            let inner = self.deeper(|parser| parser.operators(NOT))?;
            return self.node(start..inner.span.end, ValueAstKind::Not(Box::new(inner)));
        }
        if self.take("-") {
            let inner = self.deeper(|parser| parser.prefixed(PRODUCT + 1))?;
            return self.node(start..inner.span.end, ValueAstKind::Negate(Box::new(inner)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<ValueAst, StatementError> {
        let span = self.span();
        let kind = match self.peek() {
            Some(StatementTokenKind::Integer(value)) => ValueAstKind::Integer(*value),
            Some(StatementTokenKind::Float(value)) => ValueAstKind::Float(*value),
            Some(StatementTokenKind::Keyword("true")) => ValueAstKind::Bool(true),
            Some(StatementTokenKind::Keyword("false")) => ValueAstKind::Bool(false),
            Some(StatementTokenKind::Keyword("inf")) => ValueAstKind::Float(f64::INFINITY),
            Some(StatementTokenKind::Keyword("nan")) => ValueAstKind::Float(f64::NAN),
            Some(StatementTokenKind::Name(name)) => {
                let word = NameToken { name: name.clone(), span };
                self.at += 1;
                return self.named(word);
            }
            Some(StatementTokenKind::Sign("(")) => {
                self.at += 1;
                let inner = self.value()?;
                let end = self.span().end;
                if !self.take(")") {
                    return Err(self.unexpected("an operator or `)`"));
                }
                return Ok(ValueAst { span: span.start..end, ..inner });
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        self.node(span, kind)
    }

    /// Parses a read `word[…]`, a call `word(…)` or the name `word` alone. The current token is the one after the name.
    fn named(&mut self, word: NameToken) -> Result<ValueAst, StatementError> {
        let start = word.span.start;
        if self.take("[") {
            let index = self.index()?;
            let span = start..self.end_before();
            let read = ReadAst { tensor: word, index, span: span.clone() };
            return self.node(span, ValueAstKind::Read(read));
        }
        if !self.take("(") {
            return self.node(word.span, ValueAstKind::Name(word.name));
        }
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() && !self.take(",") {
                return Err(self.unexpected("an operator, `,` or `)`"));
            }
            arguments.push(self.value()?);
        }
        self.node(start..self.end_before(), ValueAstKind::Call(word, arguments))
    }

    /// Parses indices up to and including the closing bracket: each is an index expression, or a value if it reads an
    /// element.
    fn index(&mut self) -> Result<Vec<IndexText>, StatementError> {
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

    /// True if the index that starts at the current token contains a `[`, and thus reads an element.
    fn is_data(&self) -> bool {
        let mut open = 0_usize;
        for token in self.tokens.get(self.at..).unwrap_or_default() {
            match token.kind {
                StatementTokenKind::Sign("[") => return true,
                StatementTokenKind::Sign("]") => return false,
                StatementTokenKind::Sign(",") if open == 0 => return false,
                StatementTokenKind::Sign("(") => open += 1,
                StatementTokenKind::Sign(")") => open = open.saturating_sub(1),
                _ => {}
            }
        }
        false
    }

    /// Advances to the end of the current index: a `]`, or a `,` outside of parentheses; an error if there is none.
    fn skip_index(&mut self) -> Result<(), StatementError> {
        let mut open = 0_usize;
        loop {
            match self.peek() {
                Some(StatementTokenKind::Sign("(")) => open += 1,
                Some(StatementTokenKind::Sign(")")) if open > 0 => open -= 1,
                Some(StatementTokenKind::Sign("]")) => return Ok(()),
                Some(StatementTokenKind::Sign(",")) if open == 0 => return Ok(()),
                Some(_) => {}
                None => return Err(self.unexpected("`,` or `]`")),
            }
            self.at += 1;
        }
    }

    fn one_index(&self, span: StatementSpan) -> Result<IndexText, StatementError> {
        let text = self.text.get(span.clone()).unwrap_or_default();
        match index::expression(text) {
            Ok(ast) => {
                let (start, length) = (span.start, span.len());
                Ok(IndexText { kind: IndexKind::Axes(ast), start, length })
            }
            Err(error) => {
                let place = span.start + error.span.start..span.start + error.span.end;
                Err(StatementError { kind: StatementErrorKind::Index(error, span), span: place })
            }
        }
    }
}
