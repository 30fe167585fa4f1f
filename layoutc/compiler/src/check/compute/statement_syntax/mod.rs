//! The text of a statement, `B[n, h, w, k] += A[n, h + r, w + s, c] * W[k, r, s, c]`: tokens, and trees with the place
//! of every part. No name is looked up here.
//!
//! Spans are UTF-8 bytes of the text. Trees are at most [`MAX_DEPTH`] deep, so that no text exhausts the stack. What
//! stands in brackets behind a tensor is the algebra's: integers, axes, `+ - * // % & ^`; or, where an element is read there,
//! a value.

mod parse;
mod token;

use std::ops::Range;

use layoutc_algebra::parse as index;

use crate::model::compute::{Arithmetic, ComparePredicate, Reduction};

pub(in crate::check) use parse::statement;

/// How deep a tree may be, and its parentheses nested.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// The tokens that may follow a value in an index.
pub(in crate::check) const IN_AN_INDEX: &str = "an operator, `,` or `]`";

/// Bytes of the text.
pub(in crate::check) type StatementSpan = Range<usize>;

/// A statement as written.
#[derive(Debug, Clone)]
pub(in crate::check) struct StatementAst {
    /// What is written.
    pub(in crate::check) target: NameToken,
    /// The axes of the target; none where it is written through an index tensor.
    pub(in crate::check) axes: Vec<NameToken>,
    /// The indices of the target where one of them reads an element: `cache[slot[t], h]`.
    pub(in crate::check) scatter: Option<Vec<IndexText>>,
    /// The target with its axes.
    pub(in crate::check) left: StatementSpan,
    /// How the values of one element are put together.
    pub(in crate::check) op: Reduction,
    /// The operator's own bytes.
    pub(in crate::check) op_span: StatementSpan,
    /// The value.
    pub(in crate::check) value: ValueAst,
}

/// A name.
#[derive(Debug, Clone)]
pub(in crate::check) struct NameToken {
    pub(in crate::check) name: String,
    pub(in crate::check) span: StatementSpan,
}

/// A value with the place of every part.
#[derive(Debug, Clone)]
pub(in crate::check) struct ValueAst {
    /// The bytes it was written in, its parentheses included.
    pub(in crate::check) span: StatementSpan,
    pub(in crate::check) kind: ValueAstKind,
    /// Nodes from here to the farthest leaf.
    depth: usize,
}

/// An operator between two values.
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
    /// With the operator's own bytes.
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
    /// How long the text between the commas is.
    pub(in crate::check) length: usize,
}

/// The two kinds of an index.
#[derive(Debug, Clone)]
pub(in crate::check) enum IndexKind {
    /// Arithmetic on axes; its places count from the beginning of the index.
    Axes(index::IndexAst),
    /// A value that reads elements; its places count from the beginning of the text.
    Data(Box<ValueAst>),
}

impl IndexText {
    /// The bytes of the index, without the blanks around.
    pub(in crate::check) fn span(&self) -> StatementSpan {
        match &self.kind {
            IndexKind::Axes(ast) => self.start + ast.span.start..self.start + ast.span.end,
            IndexKind::Data(ast) => ast.span.clone(),
        }
    }

    /// The axis or symbol that it is alone.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.kind {
            IndexKind::Axes(index::IndexAst { kind: index::IndexAstKind::Name(name), .. }) => {
                Some(name)
            }
            IndexKind::Axes(_) | IndexKind::Data(_) => None,
        }
    }

    /// The value that it is, where it reads elements.
    pub(in crate::check) fn data(&self) -> Option<&ValueAst> {
        match &self.kind {
            IndexKind::Axes(_) => None,
            IndexKind::Data(ast) => Some(ast),
        }
    }
}

impl ReadAst {
    /// Whether an index of it reads elements.
    pub(in crate::check) fn is_gather(&self) -> bool {
        self.index.iter().any(|index| index.data().is_some())
    }
}

impl StatementAst {
    /// All nodes of the statement: those of the indices on the left, then those of the value.
    pub(in crate::check) fn nodes(&self) -> Vec<&ValueAst> {
        let left = self.scatter.iter().flatten().filter_map(IndexText::data);
        left.chain([&self.value]).flat_map(ValueAst::nodes).collect()
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) enum StatementErrorKind {
    /// Something else should stand here.
    Unexpected { expected: &'static str, found: String },
    /// A character that no statement holds.
    Character(char),
    /// A literal beyond 64 bits, or beyond all floats.
    TooBig(String),
    /// A literal with a leading zero, a `_`, letters, or a point at its end.
    Literal(String),
    /// `.d` behind a name: a field of a record.
    Field(String),
    /// Nested too deep, or too long.
    TooDeep,
    /// Two comparisons in a row.
    Chained,
    /// `??` behind what is no read.
    Guard,
    /// A word of the language where a name is to stand.
    Keyword(String),
    /// The text has no operator that writes.
    NoOperator,
    /// What the algebra says of an index; the index' bytes.
    Index(index::ParseError, StatementSpan),
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct StatementError {
    pub(in crate::check) kind: StatementErrorKind,
    pub(in crate::check) span: StatementSpan,
}

impl ValueAst {
    /// The nodes directly inside: of a read the indices that read elements, then the value outside.
    pub(in crate::check) fn children(&self) -> Vec<&ValueAst> {
        fn data(read: &ReadAst) -> Vec<&ValueAst> {
            read.index.iter().filter_map(IndexText::data).collect()
        }
        match &self.kind {
            ValueAstKind::Integer(_)
            | ValueAstKind::Float(_)
            | ValueAstKind::Bool(_)
            | ValueAstKind::Name(_) => Vec::new(),
            ValueAstKind::Read(read) => data(read),
            ValueAstKind::Guarded(read, a) => {
                let mut children: Vec<&ValueAst> = data(read);
                children.push(a);
                children
            }
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

    /// All nodes, each before what stands in it, as they stand in the text.
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
