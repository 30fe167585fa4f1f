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

/// Limit on the depth of a tree and of nested parentheses.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// Description of the tokens that may follow a value in an index.
pub(in crate::check) const IN_AN_INDEX: &str = "an operator, `,` or `]`";

/// Byte range in the text.
pub(in crate::check) type StatementSpan = Range<usize>;

/// A parsed statement.
#[derive(Debug, Clone)]
pub(in crate::check) struct StatementAst {
    /// The tensor that is written.
    pub(in crate::check) target: NameToken,
    /// The axes of the target; empty for a target with data-dependent indices.
    pub(in crate::check) axes: Vec<NameToken>,
    /// The indices of the target where one of them reads an element: `cache[slot[t], h]`.
    pub(in crate::check) scatter: Option<Vec<IndexText>>,
    /// The target with its axes.
    pub(in crate::check) left: StatementSpan,
    /// Reduction of the values of one element.
    pub(in crate::check) op: Reduction,
    pub(in crate::check) op_span: StatementSpan,
    pub(in crate::check) value: ValueAst,
}

#[derive(Debug, Clone)]
pub(in crate::check) struct NameToken {
    pub(in crate::check) name: String,
    pub(in crate::check) span: StatementSpan,
}

/// A value with the span of every part.
#[derive(Debug, Clone)]
pub(in crate::check) struct ValueAst {
    /// The bytes of the value, including its parentheses.
    pub(in crate::check) span: StatementSpan,
    pub(in crate::check) kind: ValueAstKind,
    /// Number of nodes on the longest path to a leaf.
    depth: usize,
}

/// An infix operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum InfixOperator {
    Arithmetic(Arithmetic),
    Compare(ComparePredicate),
}

#[derive(Debug, Clone)]
pub(in crate::check) enum ValueAstKind {
    /// At most `2^63 - 1`.
    Integer(i128),
    /// Finite, or `inf` and `nan`.
    Float(f64),
    Bool(bool),
    /// An axis, const or symbol.
    Name(String),
    Read(ReadAst),
    /// `read ?? value`
    Guarded(Box<ReadAst>, Box<ValueAst>),
    Negate(Box<ValueAst>),
    Not(Box<ValueAst>),
    /// The span is the operator's own.
    Binary(InfixOperator, StatementSpan, Box<ValueAst>, Box<ValueAst>),
    Call(NameToken, Vec<ValueAst>),
}

/// `A[n, h + r]`
#[derive(Debug, Clone)]
pub(in crate::check) struct ReadAst {
    pub(in crate::check) tensor: NameToken,
    pub(in crate::check) index: Vec<IndexText>,
    pub(in crate::check) span: StatementSpan,
}

/// One index, which begins at byte `start` of the text.
#[derive(Debug, Clone)]
pub(in crate::check) struct IndexText {
    pub(in crate::check) kind: IndexKind,
    pub(in crate::check) start: usize,
    /// Length of the text between the commas, in bytes.
    pub(in crate::check) length: usize,
}

#[derive(Debug, Clone)]
pub(in crate::check) enum IndexKind {
    /// Arithmetic on axes; spans are relative to the start of the index.
    Axes(index::IndexAst),
    /// A value that reads elements; spans are relative to the start of the text.
    Data(Box<ValueAst>),
}

impl IndexText {
    /// The bytes of the index, without surrounding whitespace.
    pub(in crate::check) fn span(&self) -> StatementSpan {
        match &self.kind {
            IndexKind::Axes(ast) => self.start + ast.span.start..self.start + ast.span.end,
            IndexKind::Data(ast) => ast.span.clone(),
        }
    }

    /// The name, if the index is a single axis, const or symbol.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.kind {
            IndexKind::Axes(index::IndexAst { kind: index::IndexAstKind::Name(name), .. }) => {
                Some(name)
            }
            IndexKind::Axes(_) | IndexKind::Data(_) => None,
        }
    }

    /// The value, if the index reads elements.
    pub(in crate::check) fn data(&self) -> Option<&ValueAst> {
        match &self.kind {
            IndexKind::Axes(_) => None,
            IndexKind::Data(ast) => Some(ast),
        }
    }
}

impl ReadAst {
    /// The indices that read elements.
    pub(in crate::check) fn data(&self) -> impl Iterator<Item = &ValueAst> {
        self.index.iter().filter_map(IndexText::data)
    }

    /// True if an index reads elements.
    pub(in crate::check) fn is_gather(&self) -> bool {
        self.data().next().is_some()
    }
}

impl StatementAst {
    /// All nodes of the statement: those of the indices on the left, then those of the value.
    pub(in crate::check) fn nodes(&self) -> Vec<&ValueAst> {
        let left = self.scatter.iter().flatten().filter_map(IndexText::data);
        left.chain([&self.value]).flat_map(ValueAst::nodes).collect()
    }

    /// All reads of the statement, in the order of [`StatementAst::nodes`].
    pub(in crate::check) fn reads(&self) -> impl Iterator<Item = &ReadAst> {
        self.nodes().into_iter().filter_map(ValueAst::read)
    }
}

/// Kind of a syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) enum StatementErrorKind {
    /// A token other than the expected one.
    Unexpected { expected: &'static str, found: String },
    /// A character that no token contains.
    Character(char),
    /// A literal that does not fit 64 bits, or overflows a float.
    TooBig(String),
    /// A literal with a leading zero, a `_`, letters, or a trailing point.
    Literal(String),
    /// `.d` after a name: a field of a record.
    Field(String),
    /// Nested too deeply, or too long.
    TooDeep,
    /// Two comparisons in a row: the first, its right operand, and the rest from the second operator on.
    Chained { first: StatementSpan, middle: StatementSpan, rest: StatementSpan },
    /// `??` after a value that is not a read.
    Guard,
    /// A keyword in the position of a name.
    Keyword(String),
    /// No assignment operator.
    NoOperator,
    /// A syntax error of an index, with the bytes of the index.
    Index(index::ParseError, StatementSpan),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct StatementError {
    pub(in crate::check) kind: StatementErrorKind,
    pub(in crate::check) span: StatementSpan,
}

impl ValueAst {
    /// The direct child nodes; for a read its data-dependent indices, then the value outside.
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

    /// The read at the root, if there is one.
    pub(in crate::check) fn read(&self) -> Option<&ReadAst> {
        match &self.kind {
            ValueAstKind::Read(read) => Some(read),
            ValueAstKind::Guarded(read, _) => Some(read),
            _ => None,
        }
    }

    /// All nodes in text order, each before its children.
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
