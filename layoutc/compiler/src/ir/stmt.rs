//! Statements of the loop IR: loops, stores, declarations and primitives.

use super::{Expr, ReduceOp, Value};
use crate::base::cast::Cast;
use crate::base::dtype::Dtype;

/// Execution of the iterations of a loop: their order, and the threads that run them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopKind {
    /// Iterations one after another on one thread.
    Serial,
    /// Iterations one after another, in a loop with an unroll directive for the compiler of the generated code. The
    /// number is the unroll factor, the number of copies of the body; 1 prevents unrolling, so that the compiler can
    /// vectorize the loop.
    Unrolled(i64),
    /// Iterations distributed over CPU threads, in any order. No two iterations write to the same byte.
    Parallel,
    /// Iterations distributed, as in [`Parallel`](Self::Parallel), over the threads of a parallel region that encloses
    /// the call of the function: every thread executes the statements around the loop.
    Worksharing {
        /// True if the threads wait for each other at the end of the loop.
        waits: bool,
    },
    /// Iterations distributed over the thread blocks of a launch, in a loop that each block executes: with `n` blocks,
    /// block `b` executes the iterations `b`, `b + n`, `b + 2n`, …. The loop variable starts at 0, and its step is 1.
    GridStride,
    /// One iteration per thread block of a launch; the loop variable is the number of the block, from 0.
    Block,
    /// Iterations distributed over the threads of a thread block: with `n` threads, thread `t` executes the iterations
    /// `t`, `t + n`, `t + 2n`, …. The loop variable starts at 0, and its step is 1. Index constants that the body
    /// declares have 32 bits.
    Thread {
        /// Name of the variable that counts the completed iterations of the thread: 0, 1, …. The loop is then unrolled,
        /// and its trip count must be a multiple of the number of threads. `None`: no such variable.
        round: Option<String>,
    },
}

impl LoopKind {
    /// True if the loop's iterations are distributed over CPU threads.
    pub fn is_parallel(&self) -> bool {
        matches!(self, Self::Parallel | Self::Worksharing { .. })
    }

    /// True if the loop's iterations are distributed over GPU thread blocks or threads.
    pub fn is_gpu(&self) -> bool {
        matches!(self, Self::GridStride | Self::Block | Self::Thread { .. })
    }
}

/// Memory space of an array that a function declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// Memory private to the thread that executes the declaration.
    Private,
    /// Memory shared by the threads of a GPU thread block.
    Shared,
    /// Memory private to the thread, accessed through a pointer that is declared free of aliases (`restrict`), so that
    /// the compiler of the generated code keeps the elements in registers.
    Restrict {
        /// Identifier of the array; `name` of the allocation is the identifier of the pointer to the array.
        memory: String,
    },
    /// Memory of one thread of a parallel region, which all threads of the region access. `name` of the allocation is
    /// the identifier of each thread's pointer to the array.
    Team {
        /// Identifier of the array that each thread declares; one of these arrays is used.
        memory: String,
        /// Identifier of the variable by which the thread that owns the array passes its address to the others.
        common: String,
    },
}

/// Form in which a constant of an element type is printed in source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Number in the notation of the constant's type, such as `1.5f`.
    Number,
    /// Bit pattern in hexadecimal, such as `0x3C003C00`, for an integer word that holds several elements.
    Bits,
}

/// Axis of a GPU launch range (OpenCL: `NDRange`), with one thread per index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchAxis {
    /// Identifier of the variable that holds the thread's index along the axis.
    pub name: String,
    /// Number of threads along the axis.
    pub extent: Expr,
}

/// Equally spaced positions in a buffer, such as the starts of runs, rows or columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strided {
    /// Identifier of the buffer.
    pub buffer: String,
    /// Index of the first position in the buffer, in elements.
    pub index: Expr,
    /// Distance between consecutive positions, in bytes.
    pub stride: Expr,
}

/// Operation that the runtime library or the target language provides. Source and destination do not overlap. A
/// negative number of runs, blocks, rows or columns counts as 0, and so does a negative length of the runs of
/// `CopyRuns` and `CastRuns`. The lengths of `Copy`, `Zero` and `ZeroRuns` are never negative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Primitive {
    /// Copy of one contiguous run of elements.
    Copy {
        /// Identifier of the destination buffer.
        to: String,
        /// Index of the first element that is written in the destination, in elements.
        to_index: Expr,
        /// Identifier of the source buffer.
        from: String,
        /// Index of the first element that is read from the source, in elements.
        from_index: Expr,
        /// Length of the run in bytes.
        bytes: Expr,
    },
    /// Copy of several contiguous runs, equally spaced in the source and in the destination.
    CopyRuns {
        /// Starts of the runs in the destination.
        to: Strided,
        /// Starts of the runs in the source.
        from: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of each run in bytes.
        bytes: Expr,
        /// Number of bytes that the whole relayout writes, of which this call is a part. On x86 processors that benefit
        /// from streaming (non-temporal) stores, the routine uses them if the number exceeds a fraction of the
        /// last-level cache. -1 selects streaming stores on every x86 processor.
        whole_bytes: Expr,
    },
    /// Transposition of a block of elements. The elements of a row are adjacent in the source, the elements of a column
    /// are adjacent in the destination.
    Transpose {
        /// Size in bytes, a power of two, of the unit that is transposed: one element of the buffers or several
        /// adjacent ones.
        element_bytes: u32,
        /// Starts of the block's columns in the destination.
        to: Strided,
        /// Starts of the block's rows in the source.
        from: Strided,
        /// Number of rows of the block.
        rows: Expr,
        /// Number of columns of the block.
        columns: Expr,
        /// Numbers of rows and columns in most calls, for the choice of specialized routines; `None` if unknown.
        typical: [Option<u32>; 2],
        /// Number of bytes that the whole relayout writes, as in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
        /// Number and distances of the blocks that the call transposes; `None` for a single block.
        blocks: Option<Box<Blocks>>,
    },
    /// Copy of several contiguous runs with a conversion of each element to another type. The runs are equally spaced
    /// in the source and in the destination.
    CastRuns {
        /// Conversion of each element.
        cast: Cast,
        /// Starts of the runs in the destination.
        to: Strided,
        /// Starts of the runs in the source.
        from: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of each run in elements.
        elements: Expr,
    },
    /// Transposition of a block of elements as in [`Transpose`](Self::Transpose), with a conversion of each element.
    CastTranspose {
        /// Conversion of each element.
        cast: Cast,
        /// Number of adjacent elements that are transposed as a unit.
        together: u32,
        /// Starts of the block's columns in the destination.
        to: Strided,
        /// Starts of the block's rows in the source.
        from: Strided,
        /// Number of rows of the block.
        rows: Expr,
        /// Number of columns of the block, each `together` elements wide.
        columns: Expr,
        /// Number of bytes that the whole relayout writes, as in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
    },
    /// Fill of one contiguous run with zero bytes.
    Zero {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the run's first element in the buffer, in elements.
        index: Expr,
        /// Length of the run in bytes.
        bytes: Expr,
    },
    /// Fill of several equally spaced runs with zero bytes.
    ZeroRuns {
        /// Starts of the runs.
        to: Strided,
        /// Number of runs.
        count: Expr,
        /// Length of each run in bytes.
        bytes: Expr,
    },
    /// Transposition in registers of words that hold several elements each: word `k` of `to` holds element `k` of each
    /// of the `rows` words of `from`.
    TransposeWords {
        /// Identifier of the array of words that is read.
        from: String,
        /// Index in `from` of the first word that is read, in words.
        first: Expr,
        /// Identifier of the array of words that is written, from its start.
        to: String,
        /// Type of an element of the words.
        dtype: Dtype,
        /// Number of words read, which is the number of elements of each word written.
        rows: i64,
        /// Number of words written, which is the number of elements of each word read.
        columns: i64,
    },
    /// Copy of adjacent elements of a private array to adjacent elements of a buffer, by one vector store.
    StoreVector {
        /// Identifier of the buffer.
        to: String,
        /// Index of the first element that is written in the buffer, in elements.
        to_index: Expr,
        /// Identifier of the array.
        from: String,
        /// Index of the first element that is read from the array, in elements.
        from_index: Expr,
        /// Number of elements: 2, 4, 8 or 16.
        elements: i64,
    },
    /// Fence that orders the streaming stores of a relayout before later stores.
    Fence {
        /// Number of bytes that the whole relayout writes, as in [`CopyRuns`](Self::CopyRuns).
        whole_bytes: Expr,
    },
    /// Barrier of the threads of a GPU thread block, after which all see each other's writes to shared memory.
    Barrier,
    /// Asynchronous copy of one element to the shared memory of a GPU thread block. The thread sees the element after
    /// [`AwaitCopies`](Self::AwaitCopies), its thread block after the next barrier.
    CopyAsync {
        /// Type of the element, of 4, 8 or 16 bytes.
        dtype: Dtype,
        /// Identifier of the array in shared memory.
        to: String,
        /// Index of the element in the array.
        to_index: Expr,
        /// Identifier of the buffer that is read.
        from: String,
        /// Index of the element in the buffer, in elements.
        from_index: Expr,
    },
    /// Wait of a thread for all of its asynchronous copies.
    AwaitCopies,
    /// Call of a generated function whose result is not used.
    Call {
        /// Identifier of the function.
        name: String,
        /// Arguments of the call, in order.
        args: Vec<Expr>,
    },
    /// Store of one texel in an image by a call of a generated function.
    StoreTexel {
        /// Identifier of the function.
        function: String,
        /// Arguments of the call before the value: the image, then the index along each physical axis, outermost first.
        /// The last index counts texels of the row, not elements: a row of 12 elements with 4 elements to a texel has
        /// the texels 0, 1 and 2.
        args: Vec<Expr>,
        /// Value of the texel: an element, or the name of an array of four elements if a texel has four.
        value: Value,
    },
}

/// Equally spaced blocks that one call of [`Primitive::Transpose`] transposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// Number of blocks, including the first.
    pub count: Expr,
    /// Distance between the starts of consecutive blocks in the destination, in bytes.
    pub to_step: Expr,
    /// Distance between the starts of consecutive blocks in the source, in bytes.
    pub from_step: Expr,
    /// Distance in bytes, in the source, from the first block of this call to the first block of the next call. The
    /// routine prefetches with it; 0 if the call is in no loop.
    pub from_next: Expr,
}

/// Statement of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "bodies are short, and matched by reference")]
pub enum Stmt {
    /// Declaration of an index constant.
    Let {
        /// Identifier of the constant.
        name: String,
        /// Value of the constant.
        value: Expr,
    },
    /// Declaration of an index constant from an element value of type `i64`, such as `idx[i]` in `x[idx[i]]`. The
    /// constant is not used if the value does not fit the index type.
    LetIndex {
        /// Identifier of the constant.
        name: String,
        /// Value of the constant, of type `i64`.
        value: Value,
    },
    /// Declaration of a constant of an element type.
    LetElement {
        /// Identifier of the constant.
        name: String,
        /// Element type of the constant.
        dtype: Dtype,
        /// Bytes of one lane, the least significant first (little-endian); all lanes are equal. For a record, all of
        /// its bytes; for `c128`, only those of the real part.
        bytes: Vec<u8>,
        /// Form of the constant in source code.
        spelling: Spelling,
    },
    /// Declaration of a variable of an element type.
    Variable {
        /// Identifier of the variable.
        name: String,
        /// Element type of the variable.
        dtype: Dtype,
        /// Initial value of the variable.
        value: Value,
    },
    /// Declaration of index variables without a value, which later calls set through their addresses.
    Declare {
        /// Identifiers of the variables.
        names: Vec<String>,
    },
    /// Declaration of an array of elements.
    Allocate {
        /// Identifier of the array.
        name: String,
        /// Element type of the array.
        dtype: Dtype,
        /// Number of elements of the array.
        elements: i64,
        /// Memory space of the array.
        storage: Storage,
    },
    /// Declaration of a second name of a buffer, with another element type. Later statements access the buffer by the
    /// second name only.
    Alias {
        /// Identifier of the second name.
        name: String,
        /// Identifier of the buffer.
        buffer: String,
        /// Element type under the second name.
        dtype: Dtype,
        /// True if the function writes the buffer, false if it only reads the buffer.
        written: bool,
    },
    /// Counting loop, whose variable `name` takes the values `from`, `from + step`, … below `to`.
    For {
        /// Identifier of the loop variable.
        name: String,
        /// First value of the loop variable.
        from: Expr,
        /// Exclusive upper bound of the loop variable.
        to: Expr,
        /// Increment of the loop variable, positive.
        step: i64,
        /// Order of the iterations, and the threads that run them.
        kind: LoopKind,
        /// Statements of one iteration, in order.
        body: Vec<Stmt>,
    },
    /// Declaration of the indices of the current GPU thread along the axes of the launch range. A thread with an index
    /// at or beyond an extent returns from the function.
    Launch {
        /// Axes of the launch range, fastest first, one to three.
        axes: Vec<LaunchAxis>,
    },
    /// Branch on a condition.
    If {
        /// Condition of the branch.
        condition: Expr,
        /// True if the condition mostly holds, as a hint for compilers.
        likely: bool,
        /// Statements executed if the condition holds.
        body: Vec<Stmt>,
        /// Statements executed if the condition does not hold; may be empty.
        otherwise: Vec<Stmt>,
    },
    /// Statements that one thread of the parallel region around the call executes, while the others wait.
    Single {
        /// Statements, in order.
        body: Vec<Stmt>,
    },
    /// Store of one element in a buffer, or in an array that the function declares.
    Store {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the element in the buffer, in elements.
        index: Expr,
        /// Value of the element.
        value: Value,
        /// Identifier of the generated function that stores the element, for an element that shares its byte with
        /// others, such as `i4`. `None`: an ordinary assignment stores it.
        through: Option<String>,
    },
    /// Store of one byte of a buffer whose elements share bytes, such as `i4`.
    StoreByte {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the byte in the buffer, in bytes.
        index: Expr,
        /// Value of the byte.
        value: u8,
    },
    /// Update of a variable, an array element or a buffer element: the operator `how` combines its current value with
    /// the new value, and the result is stored.
    Update {
        /// Destination that is read and written: a name, an array element or a buffer element.
        into: Value,
        /// Operator that combines the current value with the new one.
        how: ReduceOp,
        /// Type of the current and of the new value.
        dtype: Dtype,
        /// New value.
        value: Value,
    },
    /// Call of a routine of the runtime library or an operation of the target language.
    Primitive(Primitive),
    /// Store of an index through an output parameter: `*name = value`.
    Set {
        /// Identifier of the output parameter.
        name: String,
        /// Stored index.
        value: Expr,
    },
    /// Return of the function's result.
    Return {
        /// Value of the result.
        value: Expr,
    },
    /// Condition that the caller of the function guarantees. A dialect may print a check of it, or nothing.
    Assert {
        /// Condition that is true whenever the statement is reached.
        condition: Expr,
    },
    /// Comment of one line.
    Comment {
        /// Text of the comment, without comment marks.
        text: String,
    },
}

impl From<Primitive> for Stmt {
    fn from(primitive: Primitive) -> Self {
        Self::Primitive(primitive)
    }
}
