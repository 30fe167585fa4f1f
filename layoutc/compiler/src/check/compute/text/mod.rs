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

use crate::model::compute::{Arithmetic, Comparison, Reduction};

pub(in crate::check) use parse::statement;

/// How deep a tree may be, and its parentheses nested.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// The tokens that may follow a value in an index.
pub(in crate::check) const IN_AN_INDEX: &str = "an operator, `,` or `]`";

/// Bytes of the text.
pub(in crate::check) type Span = Range<usize>;

/// A statement as written.
#[derive(Debug, Clone)]
pub(in crate::check) struct Line {
    /// What is written.
    pub(in crate::check) target: Word,
    /// The axes of the target; none where it is written through an index tensor.
    pub(in crate::check) axes: Vec<Word>,
    /// The indices of the target where one of them reads an element: `cache[slot[t], h]`.
    pub(in crate::check) scatter: Option<Vec<IndexText>>,
    /// The target with its axes.
    pub(in crate::check) left: Span,
    /// How the values of one element are put together.
    pub(in crate::check) op: Reduction,
    /// The operator's own bytes.
    pub(in crate::check) op_span: Span,
    /// The value.
    pub(in crate::check) value: Ast,
}

/// A name.
#[derive(Debug, Clone)]
pub(in crate::check) struct Word {
    pub(in crate::check) name: String,
    pub(in crate::check) span: Span,
}

/// A value with the place of every part.
#[derive(Debug, Clone)]
pub(in crate::check) struct Ast {
    /// The bytes it was written in, its parentheses included.
    pub(in crate::check) span: Span,
    pub(in crate::check) kind: AstKind,
    /// Nodes from here to the farthest leaf.
    depth: usize,
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Operator {
    Arithmetic(Arithmetic),
    Compare(Comparison),
}

#[derive(Debug, Clone)]
pub(in crate::check) enum AstKind {
    /// At most `2^63 - 1`.
    Integer(i128),
    /// Finite, or `inf` and `nan`.
    Float(f64),
    Bool(bool),
    /// An axis, const or symbol.
    Name(String),
    Read(ReadText),
    /// `read ?? value`
    Guarded(Box<ReadText>, Box<Ast>),
    Negate(Box<Ast>),
    Not(Box<Ast>),
    /// With the operator's own bytes.
    Binary(Operator, Span, Box<Ast>, Box<Ast>),
    Call(Word, Vec<Ast>),
}

/// `A[n, h + r]`
#[derive(Debug, Clone)]
pub(in crate::check) struct ReadText {
    pub(in crate::check) tensor: Word,
    pub(in crate::check) index: Vec<IndexText>,
    pub(in crate::check) span: Span,
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
    Axes(index::Ast),
    /// A value that reads elements; its places count from the beginning of the text.
    Data(Box<Ast>),
}

impl IndexText {
    /// The bytes of the index, without the blanks around.
    pub(in crate::check) fn span(&self) -> Span {
        match &self.kind {
            IndexKind::Axes(ast) => self.start + ast.span.start..self.start + ast.span.end,
            IndexKind::Data(ast) => ast.span.clone(),
        }
    }

    /// The axis or symbol that it is alone.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.kind {
            IndexKind::Axes(index::Ast { kind: index::AstKind::Name(name), .. }) => Some(name),
            IndexKind::Axes(_) | IndexKind::Data(_) => None,
        }
    }

    /// The value that it is, where it reads elements.
    pub(in crate::check) fn data(&self) -> Option<&Ast> {
        match &self.kind {
            IndexKind::Axes(_) => None,
            IndexKind::Data(ast) => Some(ast),
        }
    }
}

impl ReadText {
    /// Whether an index of it reads elements.
    pub(in crate::check) fn is_gather(&self) -> bool {
        self.index.iter().any(|index| index.data().is_some())
    }
}

impl Line {
    /// All nodes of the statement: those of the indices on the left, then those of the value.
    pub(in crate::check) fn nodes(&self) -> Vec<&Ast> {
        let left = self.scatter.iter().flatten().filter_map(IndexText::data);
        left.chain([&self.value]).flat_map(Ast::nodes).collect()
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) enum TextErrorKind {
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
    Index(index::ParseError, Span),
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::check) struct TextError {
    pub(in crate::check) kind: TextErrorKind,
    pub(in crate::check) span: Span,
}

impl Ast {
    /// The nodes directly inside: of a read the indices that read elements, then the value outside.
    pub(in crate::check) fn children(&self) -> Vec<&Ast> {
        fn data(read: &ReadText) -> Vec<&Ast> {
            read.index.iter().filter_map(IndexText::data).collect()
        }
        match &self.kind {
            AstKind::Integer(_) | AstKind::Float(_) | AstKind::Bool(_) | AstKind::Name(_) => {
                Vec::new()
            }
            AstKind::Read(read) => data(read),
            AstKind::Guarded(read, a) => {
                let mut children: Vec<&Ast> = data(read);
                children.push(a);
                children
            }
            AstKind::Negate(a) | AstKind::Not(a) => vec![a],
            AstKind::Binary(_, _, a, b) => vec![a, b],
            AstKind::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// The read at the root, if there is one.
    pub(in crate::check) fn read(&self) -> Option<&ReadText> {
        match &self.kind {
            AstKind::Read(read) => Some(read),
            AstKind::Guarded(read, _) => Some(read),
            _ => None,
        }
    }

    /// All nodes, each before what stands in it, as they stand in the text.
    pub(in crate::check) fn nodes(&self) -> Vec<&Ast> {
        let mut nodes = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            nodes.push(node);
            open.extend(node.children().into_iter().rev());
        }
        nodes
    }
}
