//! Syntax of a statement, `B[n, h, w, k] += A[n, h + r, w + s, c] * W[k, r, s, c]`: [`statement`] parses a text into a
//! [`StatementAst`] with the byte range of every part. Names are not resolved here.
//!
//! Byte ranges are UTF-8 bytes of the text. Trees are at most [`MAX_DEPTH`] deep, so that no text exhausts the stack.
//! An index in brackets is an index expression (integers, names, `+ - * // % & ^`), or a value if it reads an element.

mod parse;
mod token;

use std::ops::Range;

use layoutc_algebra::expr::parse as index;

use crate::model::compute::{Arithmetic, ComparePredicate, Reduction};

pub(in crate::check) use parse::statement;

/// Maximum depth of a statement's syntax tree and of nested parentheses, in levels. A deeper statement is an error.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// Description, for error messages, of the tokens that may follow a value in an index.
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
    /// Assignment operator: `=`, or the reduction that combines the values of one target element, such as `+=`.
    pub(in crate::check) op: Reduction,
    pub(in crate::check) op_span: StatementSpan,
    pub(in crate::check) value: ValueAst,
}

#[derive(Debug, Clone)]
pub(in crate::check) struct NameToken {
    pub(in crate::check) name: String,
    pub(in crate::check) span: StatementSpan,
}

/// Node of a statement's syntax tree: a value.
#[derive(Debug, Clone)]
pub(in crate::check) struct ValueAst {
    /// Byte range of the value in the text, including its parentheses.
    pub(in crate::check) span: StatementSpan,
    pub(in crate::check) kind: ValueAstKind,
    /// Number of nodes on the longest path from this node to a leaf; 1 for a leaf.
    depth: usize,
}

/// Infix operator between two values: arithmetic such as `a + b`, or a comparison such as `a < b`.
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
    /// Read with a value for out-of-bounds elements: `A[i - 1] ?? 0`.
    Guarded(Box<ReadAst>, Box<ValueAst>),
    Negate(Box<ValueAst>),
    Not(Box<ValueAst>),
    /// Infix operator with the byte range of its sign, and its left and right operands: `a + b`.
    Binary(InfixOperator, StatementSpan, Box<ValueAst>, Box<ValueAst>),
    Call(NameToken, Vec<ValueAst>),
}

/// Read of an element: `A[n, h + r]`.
#[derive(Debug, Clone)]
pub(in crate::check) struct ReadAst {
    pub(in crate::check) tensor: NameToken,
    pub(in crate::check) index: Vec<IndexText>,
    pub(in crate::check) span: StatementSpan,
}

/// Index of a read or a target: the text between two commas or brackets. `start` is its byte offset in the statement,
/// directly after the comma or bracket that precedes it.
#[derive(Debug, Clone)]
pub(in crate::check) struct IndexText {
    pub(in crate::check) kind: IndexKind,
    pub(in crate::check) start: usize,
    /// Length of the text between the commas or brackets, in bytes.
    pub(in crate::check) length: usize,
}

#[derive(Debug, Clone)]
pub(in crate::check) enum IndexKind {
    /// Index expression, `h + r`; byte ranges in it are relative to the start of the index.
    Axes(index::IndexAst),
    /// Value that reads elements, `ids[t] + 1`; byte ranges in it are relative to the start of the statement.
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

    /// Name of the axis, const or symbol if the index is a single name; `None` otherwise.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.kind {
            IndexKind::Axes(index::IndexAst { kind: index::IndexAstKind::Name(name), .. }) => {
                Some(name)
            }
            IndexKind::Axes(_) | IndexKind::Data(_) => None,
        }
    }

    /// Value of an index that reads elements; `None` for arithmetic on axes.
    pub(in crate::check) fn data(&self) -> Option<&ValueAst> {
        match &self.kind {
            IndexKind::Axes(_) => None,
            IndexKind::Data(ast) => Some(ast),
        }
    }
}

impl ReadAst {
    /// Values of the indices that read elements (data-dependent indices), in textual order.
    pub(in crate::check) fn data(&self) -> impl Iterator<Item = &ValueAst> {
        self.index.iter().filter_map(IndexText::data)
    }

    /// True if an index of the read reads an element: `table[ids[t], d]`.
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
    /// Token other than the expected one. `found` is its text in backticks, or "the end".
    Unexpected { expected: &'static str, found: String },
    /// Character with which no token starts, such as `$`.
    Character(char),
    /// Literal that does not fit 64 bits or overflows a float, at most 40 bytes of it.
    TooBig(String),
    /// Malformed literal, at most 40 bytes of it: for example with a leading zero, a `_`, letters, or a trailing point.
    Literal(String),
    /// Text `.d` after a name, an access to a record's field, which statements do not support.
    Field(String),
    /// Statement that is nested deeper than [`MAX_DEPTH`], or longer than 65536 bytes.
    TooDeep,
    /// Chained comparison, `a < b < c`, as byte ranges: `first` is `a < b`, `middle` is `b`, `rest` is `< c`.
    Chained { first: StatementSpan, middle: StatementSpan, rest: StatementSpan },
    /// Operator `??` after a value that is not a read: `(a + b) ?? 0`.
    Guard,
    /// Keyword such as `and` in the position of a name.
    Keyword(String),
    /// Statement without an assignment operator: `B[i] A[i]`.
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
    /// Direct child nodes of the value in textual order. Those of a read are its data-dependent indices, then the value
    /// after `??`.
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
