//! The text of a statement, `B[n, h, w, k] += A[n, h + r, w + s, c] * W[k, r, s, c]`: tokens, and trees with the place
//! of every part. No name is looked up here.
//!
//! Spans are UTF-8 bytes of the text. Trees are at most [`MAX_DEPTH`] deep, so that no text exhausts the stack. What
//! stands in brackets behind a tensor is the algebra's: integers, axes, `+ - * // % & ^`.

mod parse;
mod token;

use std::ops::Range;

use layoutc_algebra::parse as index;

use crate::model::compute::{Arithmetic, Comparison, Reduction};

pub(in crate::check) use parse::statement;

/// How deep a tree may be, and its parentheses nested.
pub(in crate::check) const MAX_DEPTH: usize = 256;

/// Bytes of the text.
pub(in crate::check) type Span = Range<usize>;

/// A statement as written.
#[derive(Debug, Clone)]
pub(in crate::check) struct Line {
    /// What is written.
    pub(in crate::check) target: Word,
    /// The axes of the target.
    pub(in crate::check) axes: Vec<Word>,
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

/// One index; its places count from byte `start` of the text.
#[derive(Debug, Clone)]
pub(in crate::check) struct IndexText {
    pub(in crate::check) ast: index::Ast,
    pub(in crate::check) start: usize,
    /// How long the text between the commas is.
    pub(in crate::check) length: usize,
}

impl IndexText {
    /// The bytes of the index, without the blanks around.
    pub(in crate::check) fn span(&self) -> Span {
        self.start + self.ast.span.start..self.start + self.ast.span.end
    }

    /// The axis or symbol that it is alone.
    pub(in crate::check) fn lone_name(&self) -> Option<&str> {
        match &self.ast.kind {
            index::AstKind::Name(name) => Some(name),
            index::AstKind::Int(_)
            | index::AstKind::Neg(_)
            | index::AstKind::Bin(..)
            | index::AstKind::Call(..) => None,
        }
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
    /// Nested too deep, or too long.
    TooDeep,
    /// Two comparisons in a row.
    Chained,
    /// `??` behind what is no read.
    Guard,
    /// A read where an index stands.
    Gather,
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
    /// The read that it is, with what stands for it outside.
    pub(in crate::check) fn children(&self) -> Vec<&Ast> {
        match &self.kind {
            AstKind::Integer(_)
            | AstKind::Float(_)
            | AstKind::Bool(_)
            | AstKind::Name(_)
            | AstKind::Read(_) => Vec::new(),
            AstKind::Guarded(_, a) | AstKind::Negate(a) | AstKind::Not(a) => vec![a],
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
