//! Syntax of a statement, `B[n, h, w, k] += A[n, h + r, w + s, c] * W[k, r, s, c]`: tokens, and trees with the span of
//! every part. Names are not resolved here.
//!
//! Spans are UTF-8 bytes of the text. Trees are at most [`MAX_DEPTH`] deep, so that no text exhausts the stack. An
//! index in brackets is an expression of the algebra's parser (integers, axes, `+ - * // % & ^`), or a value if it
//! reads an element.

mod parse;
mod token;

use std::ops::Range;

use layoutc_algebra::expr::parse as index;

use crate::model::compute::{Arithmetic, ComparePredicate, Reduction};

pub(in crate::check) use parse::statement;

/// Maximum depth of a statement's tree, and of nested parentheses. A deeper statement is an error.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// Description of the tokens that may follow a value in an index.
pub(in crate::check) const IN_AN_INDEX: &str = "an operator, `,` or `]`";

/// Byte range in the text of a statement.
pub(in crate::check) type StatementSpan = Range<usize>;

/// Parsed statement of a kernel.
#[derive(Debug, Clone)]
pub(in crate::check) struct StatementAst {
    /// Name of the tensor that the statement writes.
    pub(in crate::check) target: NameToken,
    /// Axes of the target on the left; empty for a target with data-dependent indices.
    pub(in crate::check) axes: Vec<NameToken>,
    /// Indices of the target if one of them reads an element, as in `cache[slot[t], h]`; `None` otherwise.
    pub(in crate::check) scatter: Option<Vec<IndexText>>,
    /// Byte range of the target with its axes.
    pub(in crate::check) left: StatementSpan,
    /// Reduction that combines the values of one written element.
    pub(in crate::check) op: Reduction,
    pub(in crate::check) op_span: StatementSpan,
    pub(in crate::check) value: ValueAst,
}

#[derive(Debug, Clone)]
pub(in crate::check) struct NameToken {
    pub(in crate::check) name: String,
    pub(in crate::check) span: StatementSpan,
}

/// Value in a statement's tree, with the byte range of every part.
#[derive(Debug, Clone)]
pub(in crate::check) struct ValueAst {
    /// Byte range of the value in the text, including its parentheses.
    pub(in crate::check) span: StatementSpan,
    pub(in crate::check) kind: ValueAstKind,
    /// Number of nodes on the longest path from the value to a leaf.
    depth: usize,
}

/// Infix operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum InfixOperator {
    Arithmetic(Arithmetic),
    Compare(ComparePredicate),
}

#[derive(Debug, Clone)]
pub(in crate::check) enum ValueAstKind {
    /// Integer literal, at most `2^63 - 1`.
    Integer(i128),
    /// Float literal: a finite number, or `inf` or `nan`.
    Float(f64),
    Bool(bool),
    /// Name of an axis, const or symbol.
    Name(String),
    Read(ReadAst),
    /// Read with a value for out-of-bounds elements: `read ?? value`
    Guarded(Box<ReadAst>, Box<ValueAst>),
    Negate(Box<ValueAst>),
    Not(Box<ValueAst>),
    /// Infix operator with its own byte range, and its left and right operands.
    Binary(InfixOperator, StatementSpan, Box<ValueAst>, Box<ValueAst>),
    Call(NameToken, Vec<ValueAst>),
}

/// Read of an element: `A[n, h + r]`
#[derive(Debug, Clone)]
pub(in crate::check) struct ReadAst {
    pub(in crate::check) tensor: NameToken,
    pub(in crate::check) index: Vec<IndexText>,
    pub(in crate::check) span: StatementSpan,
}

/// Index of a read or a target, which begins at byte `start` of the text.
#[derive(Debug, Clone)]
pub(in crate::check) struct IndexText {
    pub(in crate::check) kind: IndexKind,
    pub(in crate::check) start: usize,
    /// Length of the index's text between the commas, in bytes.
    pub(in crate::check) length: usize,
}

#[derive(Debug, Clone)]
pub(in crate::check) enum IndexKind {
    /// Arithmetic on axes; byte ranges in it are relative to the start of the index.
    Axes(index::IndexAst),
    /// Value that reads elements; byte ranges in it are relative to the start of the text.
    Data(Box<ValueAst>),
}

impl IndexText {
    /// Byte range of the index, without surrounding white space.
    pub(in crate::check) fn span(&self) -> StatementSpan {
        match &self.kind {
            IndexKind::Axes(ast) => self.start + ast.span.start..self.start + ast.span.end,
            IndexKind::Data(ast) => ast.span.clone(),
        }
    }

    /// Name that the index is, if it is a single axis, const or symbol; `None` otherwise.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.kind {
            IndexKind::Axes(index::IndexAst { kind: index::IndexAstKind::Name(name), .. }) => {
                Some(name)
            }
            IndexKind::Axes(_) | IndexKind::Data(_) => None,
        }
    }

    /// Value that the index is, if it reads elements; `None` otherwise.
    pub(in crate::check) fn data(&self) -> Option<&ValueAst> {
        match &self.kind {
            IndexKind::Axes(_) => None,
            IndexKind::Data(ast) => Some(ast),
        }
    }
}

impl ReadAst {
    /// Values of the indices that read elements, in order.
    pub(in crate::check) fn data(&self) -> impl Iterator<Item = &ValueAst> {
        self.index.iter().filter_map(IndexText::data)
    }

    /// True if an index of the read reads elements itself.
    pub(in crate::check) fn is_gather(&self) -> bool {
        self.data().next().is_some()
    }
}

impl StatementAst {
    /// All nodes of the statement's values: those of the indices on the left, then those of the value on the right.
    pub(in crate::check) fn nodes(&self) -> Vec<&ValueAst> {
        let left = self.scatter.iter().flatten().filter_map(IndexText::data);
        left.chain([&self.value]).flat_map(ValueAst::nodes).collect()
    }

    /// All reads of the statement, in the order of [`StatementAst::nodes`].
    pub(in crate::check) fn reads(&self) -> impl Iterator<Item = &ReadAst> {
        self.nodes().into_iter().filter_map(ValueAst::read)
    }
}

/// Kind of a syntax error in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) enum StatementErrorKind {
    /// Token other than the expected one.
    Unexpected { expected: &'static str, found: String },
    /// Character that no token contains.
    Character(char),
    /// Literal that does not fit 64 bits, or overflows a float.
    TooBig(String),
    /// Literal with a leading zero, a `_`, letters, or a trailing point.
    Literal(String),
    /// Access `.d` to a field of a record, after a name.
    Field(String),
    /// Statement that is nested too deeply or too long.
    TooDeep,
    /// Two comparisons in a row: the byte ranges of the first one, of its right operand, and of the rest from the
    /// second operator on.
    Chained { first: StatementSpan, middle: StatementSpan, rest: StatementSpan },
    /// Operator `??` after a value that is not a read.
    Guard,
    /// Keyword in the position of a name.
    Keyword(String),
    /// Statement without an assignment operator.
    NoOperator,
    /// Syntax error of an index, with the byte range of the index.
    Index(index::ParseError, StatementSpan),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct StatementError {
    pub(in crate::check) kind: StatementErrorKind,
    pub(in crate::check) span: StatementSpan,
}

impl ValueAst {
    /// Direct child nodes of the value; for a read its data-dependent indices, then the value for out-of-bounds
    /// elements.
    pub(in crate::check) fn children(&self) -> Vec<&ValueAst> {
        match &self.kind {
            ValueAstKind::Integer(_)
            | ValueAstKind::Float(_)
            | ValueAstKind::Bool(_)
            | ValueAstKind::Name(_) => Vec::new(),
            ValueAstKind::Read(read) => read.data().collect(),
            ValueAstKind::Guarded(read, a) => read.data().chain([&**a]).collect(),
            ValueAstKind::Negate(a) | ValueAstKind::Not(a) => vec![a],
            ValueAstKind::Binary(_, _, a, b) => vec![a, b],
            ValueAstKind::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Read at the root of the value, with or without `??`; `None` for other values.
    pub(in crate::check) fn read(&self) -> Option<&ReadAst> {
        match &self.kind {
            ValueAstKind::Read(read) => Some(read),
            ValueAstKind::Guarded(read, _) => Some(read),
            _ => None,
        }
    }

    /// All nodes of the value in the order of the text, each before its children.
    pub(in crate::check) fn nodes(&self) -> Vec<&ValueAst> {
        let mut nodes = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            nodes.push(node);
            open.extend(node.children().into_iter().rev());
        }
        nodes
    }
}
