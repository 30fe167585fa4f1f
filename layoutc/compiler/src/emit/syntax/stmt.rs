//! Statements of functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expr, ReduceOp, Spelling, Value, WorkAxis};

/// Statement of a function. Element types are named in manifest notation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stmt {
    /// Declaration of an index constant.
    Let {
        /// Identifier of the constant.
        name: String,
        /// Value of the constant.
        value: Expr,
    },
    /// Declaration of an index constant from a value of type `i64`, which is converted to the index type.
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
        element: String,
        /// Bit pattern of one lane in hexadecimal, without `0x`; all lanes are equal. For a record, the bits of the
        /// whole record.
        bits: String,
        /// Form of the constant in source code.
        spelling: Spelling,
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
        /// True if the iterations may be distributed over new threads (`parallel for`), in any order: no two of them
        /// write to the same byte. False for a loop after `share_rounds`, which uses the threads of the region.
        parallel: bool,
        /// Statements of one iteration, in order.
        body: Vec<Stmt>,
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
    /// Declaration of the indices of the current work item along the axes of the launch range, fastest first. Work
    /// items with an index at or beyond an extent return immediately.
    WorkItem {
        /// Axes of the launch range, one to three.
        axes: Vec<WorkAxis>,
    },
    /// Counting loop from 0 whose iterations are distributed over the work groups of a launch or the work items of a
    /// work group.
    Share {
        /// Identifier of the loop variable.
        name: String,
        /// Trip count.
        to: Expr,
        /// Work groups or work items that execute the iterations.
        among: LoopKind,
        /// Identifier of the variable that counts the iterations completed by the work item: 0, 1, …. Only in an
        /// unrolled loop of work items whose trip count is a multiple of their number; `null` in any other loop.
        round: Option<String>,
        /// Statements of one iteration, in order.
        body: Vec<Stmt>,
    },
    /// Declaration of an array in memory that the work items of a work group share.
    DeclareLocal {
        /// Identifier of the array.
        name: String,
        /// Type of the array's elements.
        element: String,
        /// Number of elements.
        elements: i64,
    },
    /// Declaration of a second name of a buffer, with another element type. The function accesses the buffer by the
    /// second name only.
    Alias {
        /// Identifier of the second name.
        name: String,
        /// Identifier of the buffer.
        buffer: String,
        /// Element type under the second name.
        element: String,
        /// True if the function writes the buffer, false if it only reads the buffer.
        written: bool,
    },
    /// Fence that orders the streaming stores of a relayout before later stores.
    Fence {
        /// Bytes that the whole relayout writes, as in `copy_runs`.
        whole_bytes: Expr,
    },
    /// Barrier of the work items of a work group, after which all see each other's writes to shared memory.
    Barrier,
    /// Asynchronous copy of one element to shared memory.
    CopyAsync {
        /// Identifier of the array in shared memory.
        to: String,
        /// Index of the element in the array.
        to_index: Expr,
        /// Identifier of the buffer that is read.
        from: String,
        /// Index of the element in the buffer, in elements.
        from_index: Expr,
        /// Type of the element.
        element: String,
    },
    /// Wait of a work item for all of its asynchronous copies.
    AwaitCopies,
    /// Declaration of index variables without a value, which later calls set through their addresses.
    Declare {
        /// Identifiers of the variables.
        names: Vec<String>,
    },
    /// Declaration of an array that is private to the work item or thread.
    DeclareArray {
        /// Identifier of the array.
        name: String,
        /// Type of the array's elements.
        element: String,
        /// Number of elements.
        elements: i64,
    },
    /// Transpose of words of elements in registers: word `k` of `to` has element `k` of each word of `from`.
    RegisterTranspose {
        /// Identifier of the array of words that is read.
        from: String,
        /// Index in `from` of the first word that is read, in words.
        first: Expr,
        /// Identifier of the array of words that is written, from its start.
        to: String,
        /// Type of an element of the words.
        element: String,
        /// Number of words read, which is the number of elements of each word written.
        rows: i64,
        /// Number of words written, which is the number of elements of each word read.
        columns: i64,
    },
    /// Declaration of an array that is accessed through a pointer without aliases (`restrict`), so that compilers keep
    /// the accumulators of a reduction over its elements in registers.
    DeclareBlock {
        /// Identifier of the pointer.
        name: String,
        /// Identifier of the array.
        memory: String,
        /// Type of the array's elements.
        element: String,
        /// Number of elements.
        elements: i64,
    },
    /// OpenMP worksharing directive for the next statement, a loop: its iterations are distributed over the threads of
    /// the parallel region, which all execute the function.
    OmpFor {
        /// True if the threads wait at the end of the loop; false (`nowait`) if the barrier at the end of the region
        /// suffices.
        waits: bool,
    },
    /// OpenMP `single` construct: one thread executes the body, and the other threads wait for it.
    OmpSingle {
        /// Statements that the thread executes, in order.
        body: Vec<Stmt>,
    },
    /// Declaration of arrays that the threads of a parallel region share. Each thread declares the arrays, and all
    /// threads use the arrays of one thread.
    OmpShared {
        /// Shared arrays.
        arrays: Vec<TeamArray>,
    },
    /// Declaration of a variable of an element type.
    Accumulator {
        /// Identifier of the variable.
        name: String,
        /// Element type of the variable.
        element: String,
        /// Initial value of the variable.
        value: Value,
    },
    /// Update of a variable, an array element or a buffer element by a reduce op, which combines the stored value with
    /// a new value to the value that is stored next.
    Update {
        /// Destination: a name, an item or a load.
        into: Value,
        /// Reduce op.
        how: ReduceOp,
        /// Type of the stored and of the new value.
        element: String,
        /// New value.
        value: Value,
    },
    /// Directive that unrolls the next statement, a loop.
    Unroll {
        /// Unroll factor: number of copies of the body; 1 prevents unrolling.
        rounds: i64,
    },
    /// Call of a generated function whose result is not used.
    Call {
        /// Identifier of the function.
        name: String,
        /// Arguments, in order.
        args: Vec<Expr>,
    },
    /// Store of a texel in an image by a generated function.
    ImageStore {
        /// Identifier of the function.
        function: String,
        /// Arguments without the last: the image, then the layer in an array of images, the row, and the index of the
        /// texel in the row.
        args: Vec<Expr>,
        /// Last argument: value of the texel.
        value: Operand,
    },
    /// Store of one element in a buffer.
    Store {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the element, in elements.
        index: Expr,
        /// Value of the element.
        value: Operand,
        /// Function that stores an element which shares bytes with others; `null` for a plain store.
        through: Option<String>,
    },
    /// Copy of adjacent elements of a private array to adjacent elements of a buffer, by one vector store.
    StoreVector {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the first element in the buffer, in elements.
        index: Expr,
        /// Identifier of the array.
        array: String,
        /// Index of the first element in the array, in elements.
        item: Expr,
        /// Number of elements: 2, 4, 8 or 16.
        elements: i64,
    },
    /// Store of one byte of a buffer whose elements share bytes.
    StoreByte {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the byte, in bytes.
        index: Expr,
        /// Value of the byte.
        value: u8,
    },
    /// Copy of one contiguous run between two buffers that do not overlap.
    Copy {
        /// Identifier of the destination buffer.
        to: String,
        /// Index of the run's first element in the destination, in elements.
        to_index: Expr,
        /// Identifier of the source buffer.
        from: String,
        /// Index of the run's first element in the source, in elements.
        from_index: Expr,
        /// Bytes of the run.
        bytes: Expr,
    },
    /// Transpose of a block: elements of a row are adjacent in the source, elements of a column are adjacent in the
    /// destination.
    Transpose {
        /// Bytes of a transposed element, a power of two; it may hold several adjacent elements of the buffers.
        element_bytes: u32,
        /// Starts of the block's columns in the destination.
        to: Strided,
        /// Starts of the block's rows in the source.
        from: Strided,
        /// Number of rows; 0 or less transposes nothing.
        rows: Expr,
        /// Number of columns; 0 or less transposes nothing.
        columns: Expr,
        /// Numbers of rows and columns in most calls; `null` if unknown.
        typical: [Option<u32>; 2],
        /// Bytes that the whole relayout writes, as in `copy_runs`.
        whole_bytes: Expr,
    },
    /// Transpose of several equal blocks, equally spaced in the source and in the destination.
    Transposes {
        /// Bytes of a transposed element, as in `transpose`.
        element_bytes: u32,
        /// Starts of the first block's columns in the destination.
        to: Strided,
        /// Bytes between the starts of consecutive blocks in the destination.
        to_step: Expr,
        /// Starts of the first block's rows in the source.
        from: Strided,
        /// Bytes between the starts of consecutive blocks in the source.
        from_step: Expr,
        /// Bytes in the source from the first block of this call to the first block of the next call, for prefetching;
        /// 0 if there is no next call.
        from_next: Expr,
        /// Number of rows of a block; 0 or less transposes nothing.
        rows: Expr,
        /// Number of columns of a block; 0 or less transposes nothing.
        columns: Expr,
        /// Numbers of rows and columns of a block in most calls; `null` if unknown.
        typical: [Option<u32>; 2],
        /// Number of blocks; 0 or less transposes nothing.
        count: Expr,
        /// Bytes that the whole relayout writes, as in `copy_runs`.
        whole_bytes: Expr,
    },
    /// Copy of several contiguous runs, equally spaced in two buffers that do not overlap.
    CopyRuns {
        /// Starts of the runs in the destination.
        to: Strided,
        /// Starts of the runs in the source.
        from: Strided,
        /// Number of runs; 0 or less copies nothing.
        count: Expr,
        /// Bytes of one run; 0 or less copies nothing.
        bytes: Expr,
        /// Bytes that the whole relayout writes, or -1. On x86 processors, -1 selects streaming (non-temporal) stores;
        /// for any other value, they depend on the processor and on the size of its last-level cache.
        whole_bytes: Expr,
    },
    /// Conversion of the elements of several contiguous runs to another type, between two buffers that do not overlap.
    CastRuns {
        /// Conversion name: `f32_to_f16`.
        cast: String,
        /// Starts of the runs in the destination.
        to: Strided,
        /// Starts of the runs in the source.
        from: Strided,
        /// Number of runs; 0 or less converts nothing.
        count: Expr,
        /// Elements of one run; 0 or less converts nothing.
        elements: Expr,
    },
    /// Transpose of a block as in `transpose`, with a conversion of each element.
    CastTranspose {
        /// Conversion name: `f32_to_f16`.
        cast: String,
        /// Number of adjacent elements that are transposed as a unit.
        together: u32,
        /// Starts of the block's columns in the destination.
        to: Strided,
        /// Starts of the block's rows in the source.
        from: Strided,
        /// Number of rows; 0 or less converts nothing.
        rows: Expr,
        /// Number of columns, each `together` elements wide; 0 or less converts nothing.
        columns: Expr,
        /// Bytes that the whole relayout writes, as in `copy_runs`.
        whole_bytes: Expr,
    },
    /// Fill of several equally spaced runs with zero bytes.
    ZeroRuns {
        /// Starts of the runs.
        to: Strided,
        /// Number of runs; 0 or less writes nothing.
        count: Expr,
        /// Bytes of one run.
        bytes: Expr,
    },
    /// Fill of one contiguous run with zero bytes.
    Zero {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the run's first element, in elements.
        index: Expr,
        /// Bytes of the run.
        bytes: Expr,
    },
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
    /// Precondition that the caller guarantees. The dialect decides whether generated code checks it.
    Assert {
        /// Condition that is true whenever the statement is reached.
        condition: Expr,
    },
    /// Mark of a parameter or work item index that the function does not use, against compiler warnings.
    Unused {
        /// Identifier of the parameter or index.
        name: String,
    },
    /// Comment of one line.
    Comment {
        /// Text of the comment, without comment marks.
        text: String,
    },
}

/// Array that the threads of a parallel region share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamArray {
    /// Identifier of the pointer by which the function accesses the shared array.
    pub name: String,
    /// Identifier of the array that each thread declares.
    pub memory: String,
    /// Identifier of the pointer that `copyprivate` sets to the array of one thread.
    pub common: String,
    /// Type of the array's elements, in manifest notation.
    pub element: String,
    /// Number of elements.
    pub elements: i64,
}

/// Value of a store: an element that is copied or converted, or a computed value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Operand {
    /// Element read from a buffer.
    Load {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the element, in elements.
        index: Expr,
        /// Function that reads an element which shares bytes with others; `null` for a plain read.
        through: Option<String>,
    },
    /// Value of a declared constant or variable of an element type. In a `put`, also the array that holds the four
    /// elements of the texel.
    Element {
        /// Identifier of the constant, variable or array.
        name: String,
    },
    /// Computed value.
    Number {
        /// Value of the element.
        value: Value,
    },
    /// Conversion of an operand to another element type.
    Cast {
        /// Conversion name: `f32_to_f16`, `f32_to_f16_saturate`.
        cast: String,
        /// Operand that is converted.
        value: Box<Operand>,
    },
    /// Element of an image, read by a generated function.
    Call {
        /// Identifier of the function.
        name: String,
        /// Arguments: the image, then the index of the element along each physical axis, outermost first.
        args: Vec<Expr>,
    },
}

/// Equally spaced positions in a buffer, such as the starts of runs, rows or columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Strided {
    /// Identifier of the buffer.
    pub buffer: String,
    /// Index of the first position, in elements.
    pub index: Expr,
    /// Bytes between consecutive positions.
    pub stride: Expr,
}

/// Work groups or work items over which the iterations of a loop are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopKind {
    /// Work groups of a launch (grid-stride): each group executes every n-th iteration, n being the number of groups.
    GridStride,
    /// Work groups of a launch, one iteration per group; the loop variable is the number of the group.
    Block,
    /// Work items of a work group, 256 in number: each executes every 256th iteration. Index values in the body fit 32
    /// bits.
    Thread,
}
