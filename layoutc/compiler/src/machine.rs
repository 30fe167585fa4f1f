//! Machine model: the figures of processors that decide the speed of generated code and of in-process moves, one
//! constant for each kind of target. No other constant of the planners, passes and printers decides speed.

/// CPU core with vectors and three levels of caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Size of a cache line, in bytes. A run of any other length than a multiple of it shares lines with its neighbors.
    pub line_bytes: i128,
    /// Size of an L2 cache, in bytes. A relayout whose destination is known to have at most this many bytes
    /// neither prefetches nor uses streaming stores, a larger or symbolic one may.
    pub l2_bytes: i64,
    /// Size of the largest last-level cache of the processors that code is written for, in bytes. A relayout whose
    /// destination is larger transposes blocks of `streamed_block_bytes`, and one that copies a single run may use
    /// streaming stores.
    pub llc_bytes: i64,
    /// Size of the smallest destination, in bytes, that some supported processor writes with streaming stores: three
    /// eighths of its last-level cache. A destination of at most this many bytes is written with cached stores.
    pub stream_bytes: i64,
    /// Size that a destination with `stores cached` is treated as, in bytes, if it is larger: more than any
    /// L2 cache, less than any last-level one, so that streaming stores never write it.
    pub cached_bytes: i64,
    /// Size of the largest move, in bytes of one side (the source or the destination), whose source and destination
    /// fit an L2 cache together. Up to it, blocks of whole cache lines are moved by one call each, and above
    /// it one call moves several.
    pub l2_pair_bytes: i128,
    /// Shortest vector register of the supported processors, in bytes. Rows and columns of fewer bytes are not moved
    /// by vectors.
    pub least_vector_bytes: u32,
    /// Longest vector register of the supported processors, in bytes. No move uses wider vectors.
    pub vector_bytes: u32,
    /// Size of the largest private array, in bytes, that compilers keep in registers: 30 of the 32 registers of
    /// AVX-512, so that two are left for the operands of a step. Loops that index a larger array are not unrolled.
    pub register_bytes: i64,
    /// Number of independent sums that keep the multipliers of a core busy: two multipliers whose results take four
    /// or five cycles. A register tile has at least this many vectors of sums if an even division of its rows allows
    /// it.
    pub sums_in_flight: i128,
    /// Number of multiplications with addition that a core starts in a cycle, for estimates of a kernel's cost.
    pub sums_per_cycle: i128,
    /// Number of vector loads that a core executes in a cycle, for estimates of a kernel's cost.
    pub loads_per_cycle: i128,
    /// Number of cycles from an addition to one that depends on its result, for estimates of a kernel's cost.
    pub sum_latency: i128,
    /// Least number of values of a reduction for which the cost of its schedule is estimated. A reduction of fewer
    /// values gets no warning about a slow schedule.
    pub costed_values: i128,
    /// Least number of values for each element of the operands for which the cost of a schedule is estimated: below, memory
    /// bounds the time.
    pub costed_reuse: i128,
    /// Maximum number of vectors of partial sums that a reduction keeps for one element of its result. This many hide
    /// the latency of an addition, and a short loop gets fewer.
    pub partial_sum_vectors: i128,
    /// Maximum number of vectors of partial sums for each element of its result that a reduction keeps if a register
    /// tile holds several such elements.
    pub partial_sum_vectors_of_rows: i128,
    /// Length of the shortest run, in bytes, that is copied by one primitive if its length is a constant. A shorter
    /// run is moved element by element.
    pub copy_run_bytes: i128,
    /// Length of the shortest run, in bytes, that is copied by one primitive if its length is known at run time only.
    /// A run whose upper bound is lower is moved element by element.
    pub copy_unknown_run_bytes: i128,
    /// Size of the smallest block, in bytes of one side, for which a transposition inside a loop nest calls a
    /// routine. A smaller block is moved by loops over its elements.
    pub call_bytes: i128,
    /// Size of the smallest set of runs, in bytes of one side, for which a copy of runs inside a loop nest calls a
    /// routine. Fewer bytes are moved by loops over elements.
    pub call_run_bytes: i128,
    /// Edge of a square block of the two fastest digits, in elements, in transpositions by loops: 32 x 32 elements of
    /// 16 bytes fit a first-level cache. Longer digits are split into blocks of this edge.
    pub transpose_edge: i64,
    /// Size of the largest block that one call transposes, in bytes of one side, in a relayout of at most
    /// `llc_bytes`. An L2 cache holds the block in the source and in the destination, and larger blocks are
    /// split.
    pub transpose_block_bytes: i128,
    /// Size of the largest block that one call transposes, in bytes of one side, in a relayout of more than
    /// `llc_bytes`: larger than `transpose_block_bytes`, so that runs are longer in the source and in the
    /// destination.
    pub streamed_block_bytes: i128,
    /// Size of the largest block, in bytes of one side, for which a call of its own takes too long: up to it, one
    /// call moves several blocks if they follow each other. A larger block is moved with others only in moves above
    /// `stream_bytes`.
    pub small_block_bytes: i128,
    /// Length of the shortest run, in bytes, that may begin and end inside cache lines without a loss. In moves above
    /// `stream_bytes`, one call moves several blocks of shorter runs, so that neighbors share lines.
    pub unaligned_run_bytes: i128,
    /// Maximum number of bytes of one side (the source or the destination) that one call moves in several blocks. A
    /// loop whose blocks are larger in all stays outside of the call, where threads can share its iterations.
    pub call_most_bytes: i128,
    /// Least number of uses of each element of a packed block. A block with fewer uses is not packed, because packing
    /// takes as long as the vectors save.
    pub packing_uses: i128,
    /// Least distance between consecutive vectors of a read, in bytes, that costs address translations or conflicts
    /// of cache sets. A read with this stride and `far_vectors` iterations is packed, one with a shorter stride is
    /// not.
    pub far_stride_bytes: i128,
    /// Least number of vectors at `far_stride_bytes` that exceeds the address translations that a core holds. A read
    /// of fewer vectors is not packed.
    pub far_vectors: i128,
    /// Size of a packed block for a part of a reduction, in bytes, used if the block of the whole reduction exceeds
    /// `block_stack_bytes`.
    pub packed_part_bytes: i128,
    /// Trip count that is assumed of a loop whose trip count is known at run time only, in iterations.
    pub unknown_trip_count: i128,
    /// Number of iterations of the longest loop that is unrolled without an `unroll` directive. A longer loop stays a
    /// loop.
    pub unrolled_iterations: i128,
    /// Maximum unroll factor of a loop with an `unroll` directive. A loop of more iterations is unrolled by this
    /// factor.
    pub requested_unrolling: i64,
    /// Maximum size of the packed or cached blocks of one statement on the stack of a thread, in bytes. Larger packed
    /// blocks are split or not used, and larger caches of the manifest are an error.
    pub block_stack_bytes: i128,
    /// Size of the largest intermediate tensor on the stack, in bytes. The caller of the kernel provides the memory
    /// of larger ones.
    pub local_stack_bytes: i128,
    /// Least number of bytes of a loop over elements that several threads share. A loop that moves fewer bytes runs
    /// on one thread, because waking the others takes longer.
    pub parallel_bytes: i128,
    /// Least number of bytes of a loop over copied runs or transposed blocks that several threads share, at tens of
    /// bytes a nanosecond. A loop that moves fewer bytes runs on one thread.
    pub parallel_run_bytes: i128,
    /// Number of iterations that suffices to occupy all threads. The outermost loop with at least this many is run in
    /// parallel, or else the loop with the most iterations.
    pub parallel_iterations: i128,
    /// Maximum number of calls in a function that is compiled for each vector length with all its callees inlined. A
    /// function with more calls is compiled once.
    pub inlined_calls: usize,
    /// Number of elements of a vector of 16-bit floats after their conversion to f32: 64 bytes, one vector register.
    pub half_vector_elements: i64,
    /// Maximum number of parts of a partitioned loop. A loop that needs more parts stays whole.
    pub loop_parts: usize,
    /// Maximum number of statements of all parts of a partitioned loop together. A loop that needs more stays whole.
    pub part_statements: usize,
    /// Maximum number of statements of an unrolled loop nest, where a simple statement counts one, and a loop its
    /// body and `loop_weight`. An outer loop that would exceed it is not unrolled.
    pub unrolled_statements: i64,
    /// Number of statements that a loop that is not unrolled counts besides its body, because compilers analyze each
    /// replica of it anew.
    pub loop_weight: i64,
    /// Size of the smallest destination, in bytes, of an in-process move that several threads share. A smaller one is
    /// moved by one thread.
    pub shared_move_bytes: usize,
    /// Number of pieces of an in-process move for each thread, so that no thread waits long for another.
    pub pieces_per_thread: i64,
    /// Maximum number of elements that one in-process call converts. Longer runs are converted in chunks of this
    /// many.
    pub cast_elements: usize,
    /// Length of the rows of a piece of an in-process transposition, in bytes of the source: long enough for the
    /// prefetcher.
    pub piece_row_bytes: usize,
    /// Length of the columns of a piece of an in-process transposition, in bytes of the destination.
    pub piece_column_bytes: usize,
    /// Size of the smallest block, in bytes of one side, that an in-process transposition moves in pieces. A smaller
    /// block is transposed at once.
    pub pieced_block_bytes: usize,
    /// Cost of a read or write call, in bytes: the number of bytes that are moved in the time of the call.
    pub system_call_bytes: i128,
    /// Size of the largest gap between two ranges of a file, in bytes, that is moved with its surroundings. A larger
    /// gap separates two calls.
    pub gap_bytes: i64,
}

/// Vector registers of a CPU core, and the register tiles that fit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Width of a vector register, in bits.
    pub vector_bits: u32,
    /// Maximum number of vectors of sums in a register tile: the other registers hold the operands of a step.
    pub tile_vectors: i128,
    /// Maximum number of rows of a register tile.
    pub tile_rows: i128,
}

impl Registers {
    /// Number of vectors of sums that stay in registers: those of the largest tile, and two more. With more sums, a
    /// kernel is estimated to load and store them in each step.
    pub fn sums(self) -> i128 {
        self.tile_vectors.saturating_add(2)
    }

    /// Number of lanes of a vector register for elements of this many bits, of which at least 8 are counted.
    pub fn lanes(self, bits: u32) -> i128 {
        i128::from(self.vector_bits.div_euclid(bits.max(8)))
    }
}

/// GPU with thread blocks whose threads share banked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gpu {
    /// Number of threads of a thread block.
    pub threads: i64,
    /// Maximum number of thread blocks of a kernel. If there are more tiles, each thread block strides over several.
    pub kernel_blocks: i64,
    /// Maximum number of thread blocks of a relayout. If there are more tiles, each thread block strides over
    /// several. Measured: one tile a thread block is faster than a stride over tiles, by up to a tenth.
    pub relayout_blocks: i64,
    /// Shared memory of a thread block, in bytes. Caches of a statement that exceed it are an error.
    pub shared_bytes: i128,
    /// Maximum size of a relayout's tile in shared memory, in bytes. Larger tiles are not formed.
    pub staged_tile_bytes: i64,
    /// Number of banks of shared memory.
    pub banks: i64,
    /// Width of a bank of shared memory, in bytes.
    pub bank_bytes: i64,
    /// Width of the widest memory access of a thread, in bytes. Adjacent elements are joined to words of at most this
    /// width.
    pub access_bytes: i64,
    /// Number of threads whose bank conflicts are counted. The pattern of conflicts repeats, so that those of further
    /// threads are ignored.
    pub sampled_threads: i64,
    /// Maximum padding of the rows of a tile in shared memory, in elements. Larger paddings are not tried.
    pub row_padding: i64,
    /// Number of adjacent elements of 4 bytes that fill a sector of global memory. A thread grid with fewer threads
    /// along the contiguous loop of the output is rated as slower.
    pub sector_elements: i64,
    /// Size of a sector of global memory, in bytes. A relayout does not join rows to words if the runs of the source
    /// are shorter.
    pub sector_bytes: i128,
    /// Width of the widest word of a transposition in registers, in bytes. Measured: wider ones are no faster, and
    /// none is formed.
    pub transposed_word_bytes: i64,
    /// Least size of a relayout's tile, in bytes, unless the tensor is too small for `tiles` such tiles.
    pub tile_bytes: i64,
    /// Least number of elements of a relayout's tile in shared memory, unless the tensor is too small for `tiles`
    /// such tiles.
    pub tile_elements: i64,
    /// Least size of the tile of a relayout that transposes words in registers, in bytes, unless the tensor is too
    /// small for `tiles` such tiles.
    pub transposed_tile_bytes: i64,
    /// Number of tiles that occupy a large GPU. A tensor that would have fewer gets smaller tiles, of at least one
    /// element a thread.
    pub tiles: i64,
    /// Least number of adjacent elements that adjacent threads access in a tile in shared memory; the greater of this
    /// and `run_bytes` applies.
    pub run_elements: i64,
    /// Least length of the run that adjacent threads access, in bytes. A relayout whose source and destination share
    /// runs of this length is not staged in shared memory.
    pub run_bytes: i64,
    /// Least number of adjacent words that adjacent threads access if they transpose words in registers.
    pub transposed_run_words: i64,
    /// Length of a run, in bytes, above which unstaged accesses are as fast as staged ones: relayouts of longer runs
    /// do not use shared memory.
    pub large_element_bytes: i64,
    /// Maximum number of elements of a tile that a thread holds in registers. A tile with more elements a thread is
    /// moved without holding them.
    pub thread_elements: i64,
}

/// Figures of CPUs: x86-64 from SSE2 to AVX-512, and `AArch64`.
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

/// Vector registers of AVX-512: 32 of 64 bytes.
pub const AVX512: Registers = Registers { vector_bits: 512, tile_vectors: 28, tile_rows: 14 };

/// Vector registers of AVX2: 16 of 32 bytes.
pub const AVX2: Registers = Registers { vector_bits: 256, tile_vectors: 12, tile_rows: 6 };

/// Figures of GPUs that are programmed in OpenCL and CUDA.
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
