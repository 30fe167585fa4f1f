//! Machine model: the figures of processors that decide the speed of generated code and of in-process moves, one value
//! for each kind of target. No other constant of the planners, passes and printers decides speed.

/// CPU core with vectors and three levels of caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Cache line, in bytes.
    pub line_bytes: i128,
    /// Second-level cache, in bytes: a relayout within it neither prefetches nor streams.
    pub l2_bytes: i64,
    /// Last-level cache, in bytes: the largest of the processors that code is written for.
    pub llc_bytes: i64,
    /// Least destination, in bytes, that some processor writes with streaming stores: three eighths of its last-level
    /// cache.
    pub stream_bytes: i64,
    /// Bytes of a destination that stays in a cache by request: more than any second-level cache, less than any last-level
    /// one.
    pub cached_bytes: i64,
    /// Largest move, in bytes, of which a second-level cache holds both sides.
    pub l2_pair_bytes: i128,
    /// Shortest vector, in bytes.
    pub least_vector_bytes: u32,
    /// Longest vector, in bytes.
    pub vector_bytes: u32,
    /// Largest array, in bytes, that compilers keep in registers: 30 of the 32 registers of AVX-512, which leaves two
    /// for the operands of a step.
    pub register_bytes: i64,
    /// Independent sums that keep the multipliers of a core busy: two of them, whose results take four or five cycles.
    pub sums_in_flight: i128,
    /// Multiplications with addition of a core in a cycle.
    pub sums_per_cycle: i128,
    /// Loads of a core in a cycle.
    pub loads_per_cycle: i128,
    /// Cycles from an addition to one that depends on it.
    pub sum_latency: i128,
    /// Least number of values of a reduction for which the cost of its schedule is estimated.
    pub costed_values: i128,
    /// Least number of values for each element of the operands for which the cost of a schedule is estimated: below, memory
    /// bounds the time.
    pub costed_reuse: i128,
    /// Vectors of partial sums of one element at most: enough of them hide the latency of an addition.
    pub partial_sum_vectors: i128,
    /// As `partial_sum_vectors`, where a register tile holds several elements.
    pub partial_sum_vectors_of_rows: i128,
    /// Shortest run of known length, in bytes, that is copied as one.
    pub copy_run_bytes: i128,
    /// As `copy_run_bytes`, of a length that is known at run time alone.
    pub copy_unknown_run_bytes: i128,
    /// Least transposition inside a loop nest, in bytes, for which a call is faster than loops.
    pub call_bytes: i128,
    /// As `call_bytes`, of a copied run.
    pub call_run_bytes: i128,
    /// Edge of a block of the two fastest digits, in elements: 32 x 32 elements of 16 bytes fit a first-level cache.
    pub transpose_edge: i64,
    /// Block that one call transposes, in bytes: a second-level cache holds it on both sides.
    pub transpose_block_bytes: i128,
    /// As `transpose_block_bytes`, with streaming stores: runs are longer on both sides.
    pub streamed_block_bytes: i128,
    /// Largest block, in bytes, for which a call of its own takes too long.
    pub small_block_bytes: i128,
    /// Shortest run, in bytes, that begins and ends inside cache lines without a loss.
    pub unaligned_run_bytes: i128,
    /// Largest move of one call, in bytes: loops around it remain for threads.
    pub call_most_bytes: i128,
    /// Least uses of an element of a packed block: with fewer, packing takes as long as the vectors save.
    pub packing_uses: i128,
    /// Least stride of vectors, in bytes, that costs translations of addresses or conflicts of cache sets.
    pub far_stride_bytes: i128,
    /// Least number of vectors at `far_stride_bytes` that exceeds the translations of a core.
    pub far_vectors: i128,
    /// Packed block of a part of a reduction, in bytes, where that of the whole reduction is too large.
    pub packed_part_bytes: i128,
    /// Iterations assumed of a loop whose trip count is known at run time alone.
    pub unknown_trip_count: i128,
    /// Longest loop that is unrolled without a request, in iterations.
    pub unrolled_iterations: i128,
    /// Longest loop that is unrolled whole on request, in iterations.
    pub requested_unrolling: i64,
    /// Packed blocks of one statement on the stack of a thread, in bytes.
    pub block_stack_bytes: i128,
    /// Largest intermediate tensor on the stack, in bytes; the caller provides larger ones.
    pub local_stack_bytes: i128,
    /// Least move of elements, in bytes, that several threads share: below, waking them takes longer.
    pub parallel_bytes: i128,
    /// As `parallel_bytes`, where runs are copied or blocks transposed, at tens of bytes a nanosecond.
    pub parallel_run_bytes: i128,
    /// Iterations that suffice for all threads.
    pub parallel_iterations: i128,
    /// Calls of a function at most that is compiled again for each of them.
    pub inlined_calls: usize,
    /// Elements of a vector of halves after their conversion to f32: 64 bytes, one register.
    pub half_vector_elements: i64,
    /// Parts of a partitioned loop at most.
    pub loop_parts: usize,
    /// Statements of all parts of a partitioned loop at most.
    pub part_statements: usize,
    /// Statements of an unrolled loop nest at most. A simple statement counts one, a loop its body and `loop_weight`.
    pub unrolled_statements: i64,
    /// Weight of a loop that is not unrolled, in statements, besides its body: compilers analyze each replica anew.
    pub loop_weight: i64,
    /// Least in-process move, in bytes, that several threads share.
    pub shared_move_bytes: usize,
    /// Pieces of an in-process move for each thread, so that none waits long for another.
    pub pieces_per_thread: i64,
    /// Elements that one in-process call converts.
    pub cast_elements: usize,
    /// Rows of a piece of an in-process transposition in the source, in bytes: long enough for the prefetcher.
    pub piece_row_bytes: usize,
    /// Columns of a piece of an in-process transposition in the destination, in bytes.
    pub piece_column_bytes: usize,
    /// Least block, in bytes, that an in-process transposition moves in pieces.
    pub pieced_block_bytes: usize,
    /// Cost of a read or write call, in bytes that are moved in its time.
    pub system_call_bytes: i128,
    /// Largest gap of a file, in bytes, that is moved with its surroundings.
    pub gap_bytes: i64,
}

/// Vector registers of a core, as register tiles use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Vector, in bits.
    pub vector_bits: u32,
    /// Vectors of a register tile at most: the others hold its operands.
    pub tile_vectors: i128,
    /// Rows of a register tile at most.
    pub tile_rows: i128,
}

impl Registers {
    /// Vectors of sums that stay in registers: two hold the operands of a step.
    pub fn sums(self) -> i128 {
        self.tile_vectors.saturating_add(2)
    }

    /// Lanes of a vector of elements of this many bits.
    pub fn lanes(self, bits: u32) -> i128 {
        i128::from(self.vector_bits.div_euclid(bits.max(8)))
    }
}

/// GPU with thread blocks that share banked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gpu {
    /// Threads of a thread block.
    pub threads: i64,
    /// Thread blocks of a kernel at most; each of them strides over the tiles.
    pub kernel_blocks: i64,
    /// Thread blocks of a relayout at most. Measured: one tile a thread block is faster than a stride over tiles, by up
    /// to a tenth.
    pub relayout_blocks: i64,
    /// Shared memory of a thread block, in bytes.
    pub shared_bytes: i128,
    /// Tile of a relayout in shared memory, in bytes.
    pub staged_tile_bytes: i64,
    /// Banks of shared memory.
    pub banks: i64,
    /// Word of a bank, in bytes.
    pub bank_bytes: i64,
    /// Widest access of a thread, in bytes.
    pub access_bytes: i64,
    /// Threads whose bank conflicts are counted: the pattern repeats.
    pub sampled_threads: i64,
    /// Padding of the rows of a staged tile at most, in elements.
    pub row_padding: i64,
    /// Adjacent elements of 4 bytes that fill a sector of memory.
    pub sector_elements: i64,
    /// Sector of memory, in bytes.
    pub sector_bytes: i128,
    /// Widest word of a transposition in registers, in bytes. Measured: wider ones are no faster.
    pub transposed_word_bytes: i64,
    /// Tile of a relayout at least, in bytes.
    pub tile_bytes: i64,
    /// Tile of a staged relayout at least, in elements.
    pub tile_elements: i64,
    /// Tile of a relayout that transposes words, at least, in bytes.
    pub transposed_tile_bytes: i64,
    /// Tiles that occupy a large GPU.
    pub tiles: i64,
    /// Shortest run of adjacent threads, in elements.
    pub run_elements: i64,
    /// Shortest run of adjacent threads, in bytes.
    pub run_bytes: i64,
    /// Shortest run of adjacent threads that transpose words, in words.
    pub transposed_run_words: i64,
    /// Element, in bytes, above which single accesses are as fast as runs.
    pub large_element_bytes: i64,
    /// Elements that a thread holds in registers at most.
    pub thread_elements: i64,
}

/// CPUs: x86-64 from SSE2 to AVX-512, and AArch64.
pub const CPU: Cpu = Cpu {
    line_bytes: 64,
    l2_bytes: 1 << 20,
    llc_bytes: 1 << 25,
    stream_bytes: (1 << 25) / 8 * 3,
    cached_bytes: 1 << 22,
    l2_pair_bytes: 1 << 19,
    least_vector_bytes: 16,
    vector_bytes: 64,
    register_bytes: 30 * 64,
    sums_in_flight: 10,
    sums_per_cycle: 2,
    loads_per_cycle: 2,
    sum_latency: 4,
    costed_values: 1 << 22,
    costed_reuse: 16,
    partial_sum_vectors: 4,
    partial_sum_vectors_of_rows: 2,
    copy_run_bytes: 16,
    copy_unknown_run_bytes: 64,
    call_bytes: 256,
    call_run_bytes: 64,
    transpose_edge: 32,
    transpose_block_bytes: 1 << 16,
    streamed_block_bytes: 1 << 18,
    small_block_bytes: 1 << 12,
    unaligned_run_bytes: 1 << 10,
    call_most_bytes: 1 << 20,
    packing_uses: 16,
    far_stride_bytes: 1 << 10,
    far_vectors: 64,
    packed_part_bytes: 1 << 16,
    unknown_trip_count: 64,
    unrolled_iterations: 32,
    requested_unrolling: 1024,
    block_stack_bytes: 1 << 18,
    local_stack_bytes: 1 << 16,
    parallel_bytes: 1 << 18,
    parallel_run_bytes: 1 << 22,
    parallel_iterations: 16,
    inlined_calls: 4,
    half_vector_elements: 16,
    loop_parts: 3,
    part_statements: 64,
    unrolled_statements: 1024,
    loop_weight: 8,
    shared_move_bytes: 1 << 20,
    pieces_per_thread: 4,
    cast_elements: 1 << 14,
    piece_row_bytes: 1024,
    piece_column_bytes: 256,
    pieced_block_bytes: 1 << 18,
    system_call_bytes: 8 << 10,
    gap_bytes: 4 << 10,
};

/// 32 registers of 64 bytes.
pub const AVX512: Registers = Registers { vector_bits: 512, tile_vectors: 28, tile_rows: 14 };

/// 16 registers of 32 bytes.
pub const AVX2: Registers = Registers { vector_bits: 256, tile_vectors: 12, tile_rows: 6 };

/// GPUs of OpenCL and CUDA.
pub const GPU: Gpu = Gpu {
    threads: 256,
    kernel_blocks: 4096,
    relayout_blocks: 1 << 20,
    shared_bytes: 48 << 10,
    staged_tile_bytes: 18 * 1024,
    banks: 32,
    bank_bytes: 4,
    access_bytes: 16,
    sampled_threads: 512,
    row_padding: 32,
    sector_elements: 8,
    sector_bytes: 32,
    transposed_word_bytes: 8,
    tile_bytes: 4096,
    tile_elements: 1024,
    transposed_tile_bytes: 16 * 1024,
    tiles: 256,
    run_elements: 32,
    run_bytes: 64,
    transposed_run_words: 16,
    large_element_bytes: 16,
    thread_elements: 16,
};
