//! The statements of functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expr, Gathering, Number, Spelling, WorkAxis};
use crate::base::cast::Cast;

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stmt {
    /// A name for a value that does not change.
    Let {
        /// The name.
        name: String,
        /// The value.
        value: Expr,
    },
    /// A name for a value of 64 bits as an index. Where it does not fit one it is not used.
    LetIndex {
        /// The name.
        name: String,
        /// The value, of `i64`.
        value: Number,
    },
    /// A named element constant.
    LetElement {
        /// The name.
        name: String,
        /// Its type, as the manifest calls it.
        element: String,
        /// The bit pattern of one scalar, in hexadecimal; every lane holds it.
        bits: String,
        /// How the language spells it.
        spelling: Spelling,
    },
    /// A counting loop: `name` takes `from`, `from + step`, … below `to`.
    For {
        /// The loop variable.
        name: String,
        /// The first value.
        from: Expr,
        /// One past the last value.
        to: Expr,
        /// What each round adds.
        step: i64,
        /// Whether the rounds may run at once, in any order: no two write to one byte.
        parallel: bool,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// A condition.
    If {
        /// When.
        condition: Expr,
        /// Whether it mostly holds.
        is_usual: bool,
        /// What is done then.
        body: Vec<Stmt>,
        /// What is done else.
        otherwise: Vec<Stmt>,
    },
    /// The numbers of this work item along the axes of the launch range, the fastest first; items beyond an extent do
    /// nothing.
    WorkItem {
        /// Up to three axes.
        axes: Vec<WorkAxis>,
    },
    /// Work groups, or the items of a group, share the rounds of a counting loop from 0: each takes every so manyth.
    Share {
        /// The loop variable.
        name: String,
        /// How many rounds there are.
        to: Expr,
        /// Who shares them.
        among: Among,
        /// A name for how many rounds the item has done, where each item has as many as every other, and few.
        round: Option<String>,
        /// What is done in a round.
        body: Vec<Stmt>,
    },
    /// An array in the memory that the items of a work group share.
    DeclareLocal {
        /// Its name.
        name: String,
        /// The type of its elements, as manifests call it.
        element: String,
        /// How many elements it has.
        elements: i64,
    },
    /// A buffer under another name, seen as elements of another type; the function reads and writes it under that name
    /// alone.
    Alias {
        /// The name.
        name: String,
        /// The buffer.
        buffer: String,
        /// The type that it is seen as, as manifests call it.
        element: String,
        /// Whether it is written.
        written: bool,
    },
    /// What a move of so many bytes has written past the caches is seen by other cores before what is written next.
    Fence {
        /// Bytes of the whole move, which may be larger than the caches.
        whole_bytes: Expr,
    },
    /// The items of a work group wait for each other; what each of them wrote to the memory that they share is there.
    Barrier,
    /// Names of indices that a call is about to set.
    Declare {
        /// The names.
        names: Vec<String>,
    },
    /// A small array of the work item's own.
    DeclareArray {
        /// Its name.
        name: String,
        /// The type of its elements, as manifests call it.
        element: String,
        /// How many elements it has.
        elements: i64,
    },
    /// Words of elements, turned: word `k` of `to` has element `k` of each word of `from`.
    Turn {
        /// The array of words that are read.
        from: String,
        /// The first of them.
        first: Expr,
        /// The array of words that are written, from its beginning.
        to: String,
        /// The type of an element, as manifests call it.
        element: String,
        /// How many words are read, which is the number of elements of one that is written.
        rows: i64,
        /// How many words are written, which is the number of elements of one that is read.
        columns: i64,
    },
    /// An array in which a block of a tensor stands, reached by a pointer that nothing else is reached by: compilers then
    /// keep what is put together from it in registers.
    DeclareBlock {
        /// What the pointer is called.
        name: String,
        /// What the array is called.
        memory: String,
        /// The type of its elements, as manifests call it.
        element: String,
        /// How many elements it has.
        elements: i64,
    },
    /// The threads of a team, each of which runs the whole function, share the rounds of the loop that follows, and wait for
    /// each other behind it.
    ShareRounds {
        /// Whether they do; else the function ends there, and they wait at its end.
        waits: bool,
    },
    /// One thread of the team does this, and the others wait for it.
    Single {
        /// What it does.
        body: Vec<Stmt>,
    },
    /// Arrays that the team has in common: those of one of its threads.
    TeamArrays {
        /// The arrays.
        arrays: Vec<TeamArray>,
    },
    /// A named value that is computed, and may change.
    Accumulator {
        /// Its name.
        name: String,
        /// Its type, as manifests call it.
        element: String,
        /// Its first value.
        value: Number,
    },
    /// A value is put together with what a name, an item of an array or an element of a buffer holds.
    Gather {
        /// Where: a name, an item, or what a load would read.
        into: Number,
        /// How.
        how: Gathering,
        /// The type of both, as manifests call it.
        element: String,
        /// The value.
        value: Number,
    },
    /// The loop that follows is to be written out.
    Unroll {
        /// How many rounds at a time.
        rounds: i64,
    },
    /// A generated function is called; what it gives is not needed.
    Invoke {
        /// The function.
        name: String,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// A texel of an image is written by a generated function.
    Put {
        /// The function.
        function: String,
        /// Its arguments but the last.
        args: Vec<Expr>,
        /// The last.
        value: Operand,
    },
    /// One element is written.
    Store {
        /// The buffer.
        buffer: String,
        /// The element, from 0.
        index: Expr,
        /// What is written.
        value: Operand,
        /// The function that writes it, where elements share bytes.
        through: Option<String>,
    },
    /// One byte of a buffer of packed elements is written.
    StoreByte {
        /// The buffer.
        buffer: String,
        /// The byte, from 0.
        index: Expr,
        /// The byte's value.
        value: u8,
    },
    /// A run of elements is copied from one buffer into another; the two do not overlap.
    Copy {
        /// The buffer that is written.
        to: String,
        /// The first element there.
        to_index: Expr,
        /// The buffer that is read.
        from: String,
        /// The first element there.
        from_index: Expr,
        /// How many bytes.
        bytes: Expr,
    },
    /// A block is transposed: the element of a row and a column, columns being neighbours in the source, goes to where
    /// rows are neighbours.
    Transpose {
        /// Bytes of an element, a power of two: what stays together, which may be several of the buffers' elements.
        element_bytes: u32,
        /// Where it is written, and what lies between columns.
        to: Strided,
        /// Where it is read, and what lies between rows.
        from: Strided,
        /// How many rows; none if negative.
        rows: Expr,
        /// How many columns; none if negative.
        columns: Expr,
        /// Bytes of the whole move, which may be larger than the caches; -1 where they are written past them anyway.
        whole_bytes: Expr,
    },
    /// Equal blocks are transposed, one after another.
    Transposes {
        /// Bytes of an element, as in a single one.
        element_bytes: u32,
        /// Where the first is written, and what lies between columns.
        to: Strided,
        /// Bytes from where one is written to where the next is.
        to_step: Expr,
        /// Where the first is read, and what lies between rows.
        from: Strided,
        /// Bytes from where one is read to where the next is.
        from_step: Expr,
        /// Bytes from where the first is read to where that of the next call is, in the loop around; 0 where there is none.
        from_next: Expr,
        /// How many rows; none if negative.
        rows: Expr,
        /// How many columns; none if negative.
        columns: Expr,
        /// How many blocks; none if negative.
        count: Expr,
        /// Bytes of the whole move, as in a single one.
        whole_bytes: Expr,
    },
    /// Runs of elements are copied from one buffer into another; the two do not overlap.
    CopyRuns {
        /// Where they are written.
        to: Strided,
        /// Where they are read.
        from: Strided,
        /// How many runs; none if negative.
        count: Expr,
        /// Bytes of a run; none if negative.
        bytes: Expr,
        /// Bytes of the whole move, which may be larger than the caches; -1 where they are written past them anyway.
        whole_bytes: Expr,
    },
    /// Runs of elements go from one buffer into another, which holds them in another type; the two do not overlap.
    CastRuns {
        /// The conversion, as in an operand.
        cast: String,
        /// Where they are written.
        to: Strided,
        /// Where they are read.
        from: Strided,
        /// How many runs; none if negative.
        count: Expr,
        /// Elements of a run; none if negative.
        elements: Expr,
    },
    /// A block is transposed into another element type.
    CastTranspose {
        /// The conversion, as in an operand.
        cast: String,
        /// How many elements stay together.
        together: u32,
        /// Where it is written, and what lies between columns.
        to: Strided,
        /// Where it is read, and what lies between rows.
        from: Strided,
        /// How many rows; none if negative.
        rows: Expr,
        /// How many columns, each of so many elements; none if negative.
        columns: Expr,
        /// Bytes of the whole move, which may be larger than the caches.
        whole_bytes: Expr,
    },
    /// Runs of bytes become 0.
    ZeroRuns {
        /// Where they are.
        to: Strided,
        /// How many runs; none if negative.
        count: Expr,
        /// Bytes of a run.
        bytes: Expr,
    },
    /// Bytes of a buffer become 0.
    Zero {
        /// The buffer.
        buffer: String,
        /// The first element.
        index: Expr,
        /// How many.
        bytes: Expr,
    },
    /// An output parameter is set.
    Set {
        /// The parameter.
        name: String,
        /// Its value.
        value: Expr,
    },
    /// The function's value.
    Return {
        /// The value.
        value: Expr,
    },
    /// The caller has promised this.
    Assert {
        /// The condition.
        condition: Expr,
    },
    /// A parameter that the function does not need.
    Unused {
        /// The parameter.
        name: String,
    },
    /// A remark.
    Comment {
        /// One line.
        text: String,
    },
}

/// An array that a team has in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamArray {
    /// What it is called.
    pub name: String,
    /// What the thread's own array is called.
    pub memory: String,
    /// The pointer by which the threads learn which one it is.
    pub common: String,
    /// The type of its elements, as manifests call it.
    pub element: String,
    /// How many elements it has.
    pub elements: i64,
}

/// What a store writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Operand {
    /// The element at `index` of a buffer.
    Load {
        /// The buffer.
        buffer: String,
        /// The element, from 0.
        index: Expr,
        /// The function that reads it, where elements share bytes.
        through: Option<String>,
    },
    /// A named element.
    Element {
        /// Its name.
        name: String,
    },
    /// A value that is computed.
    Number {
        /// The value.
        value: Number,
    },
    /// An element in another type.
    Cast {
        /// The conversion: `f32_to_f16`, `f32_to_f16_saturate`.
        cast: String,
        /// What is converted.
        value: Box<Operand>,
    },
    /// What a generated function gives: an element of an image.
    Call {
        /// The function.
        name: String,
        /// Its arguments.
        args: Vec<Expr>,
    },
}

/// Places of a buffer that lie equally far apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Strided {
    /// The buffer.
    pub buffer: String,
    /// The first element.
    pub index: Expr,
    /// Bytes from one place to the next.
    pub stride: Expr,
}

/// Who shares the rounds of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// All work groups of a launch, however many they are.
    Groups,
    /// The work groups of a launch, of which there are as many as rounds: each does one.
    EachGroup,
    /// The 256 items of a work group. Every number that is named inside has 32 bits.
    Items,
}

impl Stmt {
    /// Calls `visit` on this statement and every one inside it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Stmt)) {
        visit(self);
        match self {
            Self::For { body, .. } | Self::Share { body, .. } | Self::Single { body } => {
                body.iter().for_each(|stmt| stmt.walk(visit));
            }
            Self::If { body, otherwise, .. } => {
                body.iter().chain(otherwise).for_each(|stmt| stmt.walk(visit));
            }
            _ => {}
        }
    }

    /// Whether the rounds of a loop in it may run at once.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.any(|stmt| matches!(stmt, Self::For { parallel: true, .. }))
    }

    /// Whether this statement, or one inside it, is such a one.
    pub fn any(&self, is_it: impl Fn(&Stmt) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |stmt| found |= is_it(stmt));
        found
    }

    /// Calls `visit` on every value that is computed in this statement, those inside others included.
    pub fn numbers(&self, visit: &mut dyn FnMut(&Number)) {
        self.walk(&mut |stmt| match stmt {
            Self::Accumulator { value, .. } | Self::LetIndex { value, .. } => value.walk(visit),
            Self::Gather { into, value, .. } => {
                into.walk(visit);
                value.walk(visit);
            }
            Self::Store { value, .. } | Self::Put { value, .. } => value.numbers(visit),
            _ => {}
        });
    }

    /// Calls `visit` on every expression of the statement, those inside others included, and `name` on every
    /// buffer or output that it mentions.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        match self {
            Self::Let { value, .. } | Self::Return { value } => value.visit(visit),
            Self::Assert { condition: value } | Self::Fence { whole_bytes: value } => {
                value.visit(visit);
            }
            Self::For { from, to, body, .. } => {
                from.visit(visit);
                to.visit(visit);
                for stmt in body {
                    stmt.visit(visit, name);
                }
            }
            Self::Share { to, body, .. } => {
                to.visit(visit);
                for stmt in body {
                    stmt.visit(visit, name);
                }
            }
            Self::Single { body } => body.iter().for_each(|stmt| stmt.visit(visit, name)),
            Self::Alias { buffer, .. } => name(buffer),
            Self::Turn { from, first, to, .. } => {
                name(from);
                name(to);
                first.visit(visit);
            }
            Self::If { condition, is_usual: _, body, otherwise } => {
                condition.visit(visit);
                for stmt in body.iter().chain(otherwise) {
                    stmt.visit(visit, name);
                }
            }
            Self::Store { buffer, index, value, .. } => {
                name(buffer);
                index.visit(visit);
                value.visit(visit, name);
            }
            Self::Put { args, value, .. } => {
                args.iter().for_each(|arg| arg.visit(visit));
                value.visit(visit, name);
            }
            Self::Invoke { args, .. } => args.iter().for_each(|arg| arg.visit(visit)),
            Self::WorkItem { axes } => axes.iter().for_each(|axis| axis.extent.visit(visit)),
            Self::StoreByte { buffer, index, .. } => {
                name(buffer);
                index.visit(visit);
            }
            Self::Copy { to, to_index, from, from_index, bytes } => {
                name(to);
                name(from);
                [to_index, from_index, bytes].iter().for_each(|expr| expr.visit(visit));
            }
            Self::Transpose { element_bytes: _, to, from, rows, columns, whole_bytes } => {
                to.visit(visit, name);
                from.visit(visit, name);
                [rows, columns, whole_bytes].iter().for_each(|expr| expr.visit(visit));
            }
            Self::Transposes {
                element_bytes: _,
                to,
                to_step,
                from,
                from_step,
                from_next,
                rows,
                columns,
                count,
                whole_bytes,
            } => {
                to.visit(visit, name);
                from.visit(visit, name);
                let exprs = [to_step, from_step, from_next, rows, columns, count, whole_bytes];
                exprs.iter().for_each(|expr| expr.visit(visit));
            }
            Self::CopyRuns { to, from, count, bytes, whole_bytes } => {
                to.visit(visit, name);
                from.visit(visit, name);
                [count, bytes, whole_bytes].iter().for_each(|expr| expr.visit(visit));
            }
            Self::CastRuns { cast: _, to, from, count, elements } => {
                to.visit(visit, name);
                from.visit(visit, name);
                [count, elements].iter().for_each(|expr| expr.visit(visit));
            }
            Self::CastTranspose { cast: _, together: _, to, from, rows, columns, whole_bytes } => {
                to.visit(visit, name);
                from.visit(visit, name);
                [rows, columns, whole_bytes].iter().for_each(|expr| expr.visit(visit));
            }
            Self::ZeroRuns { to, count, bytes } => {
                to.visit(visit, name);
                [count, bytes].iter().for_each(|expr| expr.visit(visit));
            }
            Self::Zero { buffer, index, bytes } => {
                name(buffer);
                index.visit(visit);
                bytes.visit(visit);
            }
            Self::Set { name: target, value } => {
                name(target);
                value.visit(visit);
            }
            Self::Accumulator { value, .. } | Self::LetIndex { value, .. } => {
                value.visit(visit, name);
            }
            Self::Gather { into, value, .. } => {
                into.visit(visit, name);
                value.visit(visit, name);
            }
            Self::LetElement { .. }
            | Self::Unroll { .. }
            | Self::DeclareLocal { .. }
            | Self::Barrier
            | Self::Declare { .. }
            | Self::DeclareArray { .. }
            | Self::DeclareBlock { .. }
            | Self::ShareRounds { .. }
            | Self::TeamArrays { .. }
            | Self::Unused { .. }
            | Self::Comment { .. } => {}
        }
    }
}

impl Strided {
    fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        name(&self.buffer);
        self.index.visit(visit);
        self.stride.visit(visit);
    }
}

impl Operand {
    /// The same in another element type, where there is a conversion.
    #[must_use]
    pub fn cast(self, cast: Option<Cast>) -> Self {
        match cast {
            Some(cast) => Self::Cast { cast: cast.name(), value: Box::new(self) },
            None => self,
        }
    }

    fn numbers(&self, visit: &mut dyn FnMut(&Number)) {
        match self {
            Self::Number { value } => value.walk(visit),
            Self::Cast { value, .. } => value.numbers(visit),
            Self::Load { .. } | Self::Element { .. } | Self::Call { .. } => {}
        }
    }

    fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        match self {
            Self::Load { buffer, index, .. } => {
                name(buffer);
                index.visit(visit);
            }
            Self::Cast { cast: _, value } => value.visit(visit, name),
            Self::Call { args, .. } => args.iter().for_each(|arg| arg.visit(visit)),
            Self::Number { value } => value.visit(visit, name),
            Self::Element { .. } => {}
        }
    }
}
