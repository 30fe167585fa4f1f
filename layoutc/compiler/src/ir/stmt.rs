//! Statements.

use super::{Expr, Update, Value};
use crate::base::cast::Cast;
use crate::base::dtype::Dtype;

/// Iterations of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopKind {
    /// One after another.
    Serial,
    /// Replicated in the code this many times; 1 prevents replication, so that compilers vectorize the loop.
    Unrolled(i64),
    /// In any order and at once on CPU threads: no two write to the same byte.
    Parallel,
    /// Distributed over the thread blocks of a launch with a stride of the grid.
    GridStride,
    /// One for each thread block of a launch.
    Block,
    /// Distributed over the threads of a thread block with a stride of the block. Indices inside fit 32
    /// bits.
    Thread {
        /// Name of the number of iterations that the thread has done, if every thread has the same small number.
        round: Option<String>,
    },
}

impl LoopKind {
    /// True if GPU thread blocks or threads share the iterations.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Self::GridStride | Self::Block | Self::Thread { .. })
    }
}

/// Storage of an array of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Private to the thread.
    Private,
    /// Shared by the threads of a GPU thread block.
    Shared,
    /// Private to the thread, accessed through a pointer without aliases: compilers then keep sums of its elements in
    /// registers.
    Restrict {
        /// Name of the array; the allocation has that of the pointer.
        memory: String,
    },
}

/// Form of an element constant in source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Number of its type.
    Number,
    /// Bit pattern in hexadecimal: of a word of several elements.
    Bits,
}

/// Axis of a launch range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchAxis {
    /// Name of the thread's index.
    pub name: String,
    /// Number of threads.
    pub extent: Expr,
}

/// Positions in a buffer at a constant distance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// Buffer.
    pub buffer: String,
    /// Index of the first position, in elements.
    pub index: Expr,
    /// Distance in bytes.
    pub stride: Expr,
}

/// Operation that the runtime or the target language provides. Source and destination do not overlap; negative counts
/// are 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Primitive {
    /// Copy of one run.
    Copy {
        /// Destination buffer.
        to: String,
        /// First element of the destination.
        to_index: Expr,
        /// Source buffer.
        from: String,
        /// First element of the source.
        from_index: Expr,
        /// Length in bytes.
        bytes: Expr,
    },
    /// Copy of equally spaced runs.
    CopyRuns {
        /// Runs of the destination.
        to: Strided,
        /// Runs of the source.
        from: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of a run in bytes.
        bytes: Expr,
        /// Bytes of the whole relayout, by which stores stream past the cache; -1: they do in any case.
        whole_bytes: Expr,
    },
    /// Transposition of a block: columns are adjacent in the source, rows in the destination.
    Transpose {
        /// Bytes of an element, a power of two; it may hold several elements of the buffers.
        element_bytes: u32,
        /// Columns of the destination.
        to: Strided,
        /// Rows of the source.
        from: Strided,
        /// Number of rows.
        rows: Expr,
        /// Number of columns.
        columns: Expr,
        /// As in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
        /// Repetition for equally spaced blocks.
        blocks: Option<Box<Blocks>>,
    },
    /// Conversion of equally spaced runs.
    CastRuns {
        /// Conversion.
        cast: Cast,
        /// Runs of the destination.
        to: Strided,
        /// Runs of the source.
        from: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of a run in elements.
        elements: Expr,
    },
    /// Transposition of a block with conversion.
    CastTranspose {
        /// Conversion.
        cast: Cast,
        /// Elements that stay adjacent.
        together: u32,
        /// Columns of the destination.
        to: Strided,
        /// Rows of the source.
        from: Strided,
        /// Number of rows.
        rows: Expr,
        /// Number of columns, of `together` elements each.
        columns: Expr,
        /// As in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
    },
    /// Zero fill of a run.
    Zero {
        /// Buffer.
        buffer: String,
        /// First element.
        index: Expr,
        /// Length in bytes.
        bytes: Expr,
    },
    /// Zero fill of equally spaced runs.
    ZeroRuns {
        /// Runs.
        to: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of a run in bytes.
        bytes: Expr,
    },
    /// Transposition of words in registers: word `k` of `to` holds element `k` of each word of `from`.
    TransposeWords {
        /// Array of the words that are read.
        from: String,
        /// First of them.
        first: Expr,
        /// Array of the words that are written, from its start.
        to: String,
        /// Type of an element.
        element: String,
        /// Number of words read, the number of elements of a word written.
        rows: i64,
        /// Number of words written, the number of elements of a word read.
        columns: i64,
    },
    /// Orders the streaming stores of a relayout before later stores.
    Fence {
        /// As in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
    },
    /// Barrier of the threads of a GPU thread block, with their writes to shared memory.
    Barrier,
    /// Generated function; its result is not used.
    Call {
        /// Function.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// Store of a texel by a generated function.
    StoreTexel {
        /// Function.
        function: String,
        /// Image and index.
        args: Vec<Expr>,
        /// Texel.
        value: Value,
    },
}

/// Repetition of a block transposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Number of blocks.
    pub count: Expr,
    /// Bytes between blocks in the destination.
    pub to_step: Expr,
    /// Bytes between blocks in the source.
    pub from_step: Expr,
    /// Bytes between this call and the next in the source, for prefetching; 0 if there is none.
    pub from_next: Expr,
}

/// Statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "bodies are short, and matched by reference")]
pub enum Stmt {
    /// Index constant.
    Let {
        /// Identifier.
        name: String,
        /// Value.
        value: Expr,
    },
    /// Index constant from an `i64` value. It is not used if the value does not fit an index.
    LetIndex {
        /// Identifier.
        name: String,
        /// Value.
        value: Value,
    },
    /// Element constant.
    LetElement {
        /// Identifier.
        name: String,
        /// Type as manifests name it.
        element: String,
        /// Bit pattern of one lane in hexadecimal; all lanes are equal.
        bits: String,
        /// Form in source code.
        spelling: Spelling,
    },
    /// Variable of an element type.
    Variable {
        /// Identifier.
        name: String,
        /// Type.
        dtype: Dtype,
        /// Initial value.
        value: Value,
    },
    /// Index variables, set by calls.
    Declare {
        /// Identifiers.
        names: Vec<String>,
    },
    /// Array of the function.
    Allocate {
        /// Identifier.
        name: String,
        /// Type of an element as manifests name it.
        element: String,
        /// Number of elements.
        elements: i64,
        /// Storage.
        storage: Storage,
    },
    /// Second name of a buffer, with elements of another type. The function accesses the buffer by this name alone.
    Alias {
        /// Identifier.
        name: String,
        /// Buffer.
        buffer: String,
        /// Type of an element as manifests name it.
        element: String,
        /// True if it is written.
        written: bool,
    },
    /// Counting loop: `name` takes `from`, `from + step`, … below `to`.
    For {
        /// Loop variable.
        name: String,
        /// First value.
        from: Expr,
        /// Upper bound, exclusive.
        to: Expr,
        /// Increment, positive.
        step: i64,
        /// Iterations.
        kind: LoopKind,
        /// Statements.
        body: Vec<Stmt>,
    },
    /// Indices of this GPU thread along the axes of the launch range, fastest first, up to three. Threads beyond an
    /// extent do nothing.
    Launch {
        /// Axes.
        axes: Vec<LaunchAxis>,
    },
    /// Condition.
    If {
        /// Condition.
        condition: Expr,
        /// True if it mostly holds.
        likely: bool,
        /// Statements if it holds.
        body: Vec<Stmt>,
        /// Statements if it does not.
        otherwise: Vec<Stmt>,
    },
    /// Store of one element.
    Store {
        /// Buffer.
        buffer: String,
        /// Index in elements.
        index: Expr,
        /// Element.
        value: Value,
        /// Function that writes an element which shares its byte with others.
        through: Option<String>,
    },
    /// Store of one byte of packed elements.
    StoreByte {
        /// Buffer.
        buffer: String,
        /// Index in bytes.
        index: Expr,
        /// Byte.
        value: u8,
    },
    /// Combination of a variable, an array element or a buffer element with a value.
    Update {
        /// Destination: a name, an item or a load.
        into: Value,
        /// Combination.
        how: Update,
        /// Type of both.
        dtype: Dtype,
        /// Value.
        value: Value,
    },
    /// Primitive operation.
    Primitive(Primitive),
    /// Output parameter.
    Set {
        /// Parameter.
        name: String,
        /// Value.
        value: Expr,
    },
    /// Result of the function.
    Return {
        /// Value.
        value: Expr,
    },
    /// Precondition that the caller guarantees.
    Assert {
        /// Condition.
        condition: Expr,
    },
    /// Comment of one line.
    Comment {
        /// Text.
        text: String,
    },
}

impl From<Primitive> for Stmt {
    fn from(primitive: Primitive) -> Self {
        Self::Primitive(primitive)
    }
}
