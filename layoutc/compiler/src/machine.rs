//! Machine model: the constants of CPUs and GPUs that decide the speed of generated code and of in-process relayouts,
//! one struct for each kind of processor.

use serde::{Deserialize, Serialize};

/// Constants of the machine model for CPUs: sizes, widths and rates of a core with vector registers and three levels of
/// caches, and the thresholds of planners and passes. One set, [`CPU`], serves all supported processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// Size of a cache line, in bytes. A contiguous run whose length is not a multiple of it shares lines with its
    /// neighbors.
    pub line_bytes: i128,
    /// Size of an L2 cache, in bytes. A relayout whose destination is known to have at most this many bytes uses
    /// neither prefetches nor streaming (non-temporal) stores, unless the manifest has `stores streaming`; a larger or
    /// symbolic one may.
    pub l2_bytes: i64,
    /// Size of the largest last-level cache of the supported processors, in bytes. A relayout whose destination is
    /// larger transposes tiles of up to `streamed_block_bytes`; one that copies a single run may use streaming stores.
    pub llc_bytes: i64,
    /// Destination size, in bytes, above which some supported processor benefits from streaming stores: three eighths
    /// of its last-level cache. A destination of at most this many bytes is written with cached stores, unless the
    /// manifest has `stores streaming`.
    pub stream_bytes: i64,
    /// Size, in bytes, that a larger destination with `stores cached` in its manifest is assumed to have: more than any
    /// L2 cache and less than any last-level cache, so that streaming stores never write it.
    pub cached_bytes: i64,
    /// Size of the largest relayout, in bytes of the destination, whose source and destination fit an L2 cache
    /// together. Up to it, one call transposes one tile of whole cache lines; above it, one call may transpose several.
    pub l2_pair_bytes: i128,
    /// Width of the narrowest vector register of the supported processors, in bytes.
    pub least_vector_bytes: u32,
    /// Width of the widest vector register of the supported processors, in bytes. Generated code uses no wider vectors.
    pub vector_bytes: u32,
    /// Size of the largest private array, in bytes, that compilers keep in registers: 30 of the 32 registers of
    /// AVX-512; the other two hold the operands of an instruction. A loop whose variable indexes a larger array is not
    /// unrolled.
    pub register_bytes: i64,
    /// Number of independent accumulators that keep the multiply-add units of a core busy: two units with a latency of
    /// four or five cycles. A register tile gets fewer rows than fit, for an even division of the loop over rows, only
    /// if it keeps this many vectors of accumulators or the number of tiles stays the same.
    pub sums_in_flight: i128,
    /// Number of vector multiply-adds that a core starts in a cycle, for estimates of a kernel's cost.
    pub sums_per_cycle: i128,
    /// Number of vector loads that a core executes in a cycle, for estimates of a kernel's cost.
    pub loads_per_cycle: i128,
    /// Latency of a vector addition, in cycles, for estimates of a kernel's cost.
    pub sum_latency: i128,
    /// Least number of iterations of a reduction, over all elements of its result, for which the cost of its schedule
    /// is estimated. A reduction with fewer gets no warning about a slow schedule.
    pub costed_values: i128,
    /// Least ratio of a reduction's iterations to the elements of all operands of its kernel for which the cost of its
    /// schedule is estimated. Below it, memory bounds the time.
    pub costed_reuse: i128,
    /// Maximum number of vectors of partial sums (rfactor) for one element of a reduction's result: this many hide the
    /// latency of an addition. A short loop gets fewer.
    pub partial_sum_vectors: i128,
    /// Maximum number of vectors of partial sums for each element of a reduction's result if a register tile holds
    /// several elements.
    pub partial_sum_vectors_of_rows: i128,
    /// Length of the shortest run, in bytes, that one call of a copy primitive copies if the length is a constant. A
    /// shorter run is copied element by element.
    pub copy_run_bytes: i128,
    /// Length of the shortest run, in bytes, that one call of a copy primitive copies if the length is known at run
    /// time only. A run whose upper bound is lower is copied element by element.
    pub copy_unknown_run_bytes: i128,
    /// Least number of bytes, in one tile or several, for which the planner chooses a call of a transpose primitive.
    /// Fewer bytes are copied as runs or single elements.
    pub call_bytes: i128,
    /// Length of the shortest contiguous runs, in bytes, for which the planner chooses a call of a copy primitive that
    /// copies several runs. Shorter runs are copied one by one, or element by element.
    pub call_run_bytes: i128,
    /// Edge of a square transpose tile, in elements, in transpositions by loops: 32 × 32 elements of 16 bytes fit an L1
    /// cache. If both digits (mixed-radix components of an index) of the transposition have greater constant extents,
    /// the planner splits them into tiles of this edge.
    pub transpose_edge: i64,
    /// Size of the largest tile that the planner chooses for one call of a transpose primitive, in bytes, in a relayout
    /// of at most `llc_bytes`: an L2 cache holds it in the source and in the destination.
    pub transpose_block_bytes: i128,
    /// Size of the largest tile that the planner chooses for one call of a transpose primitive, in bytes, in a relayout
    /// of more than `llc_bytes`: larger than `transpose_block_bytes`, so that runs are longer in the source and in the
    /// destination.
    pub streamed_block_bytes: i128,
    /// Size of the largest tile, in bytes, that is too small for a separate call: one call may transpose several
    /// adjacent tiles of at most this size. Larger tiles share a call only in relayouts above `stream_bytes`.
    pub small_block_bytes: i128,
    /// Length of the shortest run, in bytes, for which partial cache lines at its ends cost nothing. In relayouts above
    /// `stream_bytes`, one call may transpose several tiles of shorter runs, so that neighboring tiles share lines.
    pub unaligned_run_bytes: i128,
    /// Maximum total size of several tiles that one call transposes, in bytes. A loop over tiles that exceeds it stays
    /// outside of the call, where threads can share its iterations.
    pub call_most_bytes: i128,
    /// Least number of uses of each element of a packed block (operand packing). A block with fewer uses is not packed,
    /// because packing takes as long as the vectors save.
    pub packing_uses: i128,
    /// Least stride of a read along a reduced loop, in bytes, that costs TLB misses or set conflicts in caches. A read
    /// that is unit-stride along the vector loop is packed only if it has at least this stride in a reduced loop of at
    /// least `far_vectors` iterations.
    pub far_stride_bytes: i128,
    /// Least number of iterations of a reduced loop with a stride of `far_stride_bytes` whose pages exceed the TLB.
    /// Such a loop with fewer iterations is no reason to pack a read, and a chunk of a split-K reduction with a packed
    /// block has no fewer.
    pub far_vectors: i128,
    /// Maximum size of a packed block for one chunk of a reduction (split-K), in bytes. Chunks are used if the block of
    /// the whole reduction exceeds `block_stack_bytes`.
    pub packed_part_bytes: i128,
    /// Trip count that is assumed of a loop whose trip count is known at run time only, in the estimate of how often
    /// each packed block is used.
    pub unknown_trip_count: i128,
    /// Trip count of the longest loop of a register tile that is unrolled without an `unroll` directive. Longer loops
    /// are not unrolled.
    pub unrolled_iterations: i128,
    /// Maximum unroll factor of a loop with an `unroll` directive. A loop with a greater trip count is unrolled by this
    /// factor.
    pub requested_unrolling: i64,
    /// Maximum total size of the packed and cached blocks of one statement on the stack of a thread, in bytes. Larger
    /// packed blocks are split or not used; larger caches that the manifest requests are an error.
    pub block_stack_bytes: i128,
    /// Size of the largest intermediate tensor on the stack, in bytes. The caller of the kernel provides the memory of
    /// one that is larger or has no constant size. For an intermediate that is computed in a loop, the buffer of one
    /// iteration counts, and one that is larger or has no constant size is an error.
    pub local_stack_bytes: i128,
    /// Least number of bytes that a loop over elements, which copies them or writes padding, must write to be run in
    /// parallel. A loop that writes fewer bytes runs on one thread, because waking the others takes longer.
    pub parallel_bytes: i128,
    /// Least number of bytes that a loop over copied runs or transposed tiles copies to be run in parallel, at tens of
    /// bytes a nanosecond. A loop that copies fewer bytes runs on one thread.
    pub parallel_run_bytes: i128,
    /// Trip count that suffices to occupy all threads. Of the loops that write enough bytes to be run in parallel, the
    /// outermost one with at least this many iterations is chosen; if there is none, the one with the most iterations.
    pub parallel_iterations: i128,
    /// Maximum number of calls of primitives in a function that is compiled once for each vector width, with all
    /// callees inlined. A function with more calls is compiled once.
    pub inlined_calls: usize,
    /// Number of elements of a vector of 16-bit floats after their conversion to f32: 64 bytes, one vector register.
    pub half_vector_elements: i64,
    /// Maximum number of parts of a partitioned loop (interior and boundaries). A loop that needs more is not
    /// partitioned.
    pub loop_parts: usize,
    /// Maximum number of statements of all parts of a partitioned loop together. A loop that needs more is not
    /// partitioned.
    pub part_statements: usize,
    /// Maximum number of statements of a loop nest after unrolling. A simple statement counts one, a loop that is not
    /// unrolled its body and `loop_weight`. A loop whose copies would exceed the maximum is not unrolled.
    pub unrolled_statements: i64,
    /// Number of statements that a loop counts besides its body if it is not unrolled, because compilers analyze each
    /// replica anew.
    pub loop_weight: i64,
    /// Size of the smallest destination, in bytes, of an in-process relayout that several threads share. A relayout to
    /// a smaller one runs on one thread.
    pub shared_move_bytes: usize,
    /// Least number of chunks of an in-process relayout for each thread, if its loop has enough iterations, so that no
    /// thread waits long for another.
    pub pieces_per_thread: i64,
    /// Maximum number of elements that one in-process call converts to another element type. Longer runs are converted
    /// in chunks of this many.
    pub cast_elements: usize,
    /// Length of a row of the tiles of an in-process transposition, in bytes of the source: long enough for the
    /// hardware prefetcher.
    pub piece_row_bytes: usize,
    /// Length of a column of the tiles of an in-process transposition, in bytes; a column is contiguous in the
    /// destination.
    pub piece_column_bytes: usize,
    /// Size of the smallest block, in bytes, that an in-process transposition splits into tiles of `piece_row_bytes` by
    /// `piece_column_bytes`. A smaller block is transposed by one call.
    pub pieced_block_bytes: usize,
    /// Side of a tile of an in-process transposition of packed elements, in elements.
    pub packed_tile: usize,
    /// Cost of a read or write system call, as the number of bytes that are transferred in the time of the call.
    pub system_call_bytes: i128,
    /// Size of the largest gap between two needed ranges of a file, in bytes, that one call reads or writes along with
    /// them. A larger gap separates two calls.
    pub gap_bytes: i64,
}

/// Vector instruction set for which the loops of CPU kernels are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VectorIsa {
    /// AVX-512: 32 vector registers of 64 bytes.
    Avx512,
    /// AVX2: 16 vector registers of 32 bytes.
    Avx2,
}

impl VectorIsa {
    /// All instruction sets, as pairs (name in manifests, instruction set).
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("avx512", Self::Avx512), ("avx2", Self::Avx2)];

    /// Name of the instruction set in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
        }
    }
}

/// Vector registers of a CPU core, and the register tiles that fit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Instruction set of the registers.
    pub isa: VectorIsa,
    /// Width of a vector register, in bits.
    pub vector_bits: u32,
    /// Maximum number of vectors of accumulators in a register tile; the remaining registers hold operands.
    pub tile_vectors: i128,
    /// Maximum number of rows of a register tile (outputs along a loop that is not vectorized).
    pub tile_rows: i128,
}

impl Registers {
    /// Number of vectors of accumulators that stay in registers: `tile_vectors`, and two more. A kernel with more is
    /// estimated to load and store them in each iteration.
    pub fn sums(self) -> i128 {
        self.tile_vectors.saturating_add(2)
    }

    /// Number of lanes of a vector register for elements of `bits` bits; elements of fewer than 8 bits count as 8.
    pub fn lanes(self, bits: u32) -> i128 {
        i128::from(self.vector_bits.div_euclid(bits.max(8)))
    }
}

/// GPU with thread blocks whose threads share banked memory. In OpenCL, a thread block is a work-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gpu {
    /// Number of threads of a thread block.
    pub threads: i64,
    /// Maximum number of thread blocks of a kernel. If there are more tiles, each thread block strides over several.
    pub kernel_blocks: i64,
    /// Maximum number of thread blocks of a relayout. If there are more tiles, each thread block strides over several.
    /// One tile for each thread block is up to a tenth faster than a stride over tiles.
    pub relayout_blocks: i64,
    /// Shared memory of a thread block, in bytes. Caches of a statement that exceed it are an error.
    pub shared_bytes: i128,
    /// Maximum size of a relayout's tile in shared memory, in bytes. Larger tiles are not formed.
    pub staged_tile_bytes: i64,
    /// Width of the widest memory access of a thread, in bytes. Adjacent elements are joined to words of at most this
    /// width.
    pub access_bytes: i64,
    /// Number of threads whose accesses are checked for bank conflicts. The pattern of conflicts repeats, so that
    /// further threads are not checked.
    pub sampled_threads: i64,
    /// Maximum padding of a row of a tile in shared memory, in elements, that is tried to avoid bank conflicts.
    pub row_padding: i64,
    /// Number of adjacent 4-byte elements that fill a sector of global memory (the unit of a memory transaction). A
    /// launch configuration with fewer threads along the contiguous loop of the output is estimated as slower.
    pub sector_elements: i64,
    /// Size of a sector of global memory, in bytes. A relayout that transposes words in registers writes single
    /// elements, not words, if the contiguous runs of the source are shorter.
    pub sector_bytes: i128,
    /// Width of the widest word of a transposition in registers, in bytes. Wider words are no faster, and are not
    /// formed.
    pub transposed_word_bytes: i64,
    /// Size in bytes to which the tile of a relayout that does not transpose words in registers is enlarged, if the
    /// tensor allows it. A tile in shared memory is smaller if the tensor is too small for `tiles` such tiles.
    pub tile_bytes: i64,
    /// Least number of elements to which a tile in shared memory is enlarged, under the conditions of `tile_bytes`. The
    /// greater of the two sizes applies.
    pub tile_elements: i64,
    /// Least size of the tile of a relayout that transposes words in registers, in bytes, unless the tensor is too
    /// small for `tiles` such tiles.
    pub transposed_tile_bytes: i64,
    /// Number of tiles that occupy a large GPU. A tensor that would have fewer tiles in shared memory gets smaller
    /// ones, of at least one element for each thread.
    pub tiles: i64,
    /// Least number of adjacent elements that adjacent threads access in a tile in shared memory. The greater of
    /// `run_elements` and `run_bytes` applies.
    pub run_elements: i64,
    /// Least length of the run that adjacent threads access, in bytes. A relayout whose source and destination share
    /// runs of this length is not staged in shared memory.
    pub run_bytes: i64,
    /// Least number of adjacent words that adjacent threads access if they transpose words in registers.
    pub transposed_run_words: i64,
    /// Size of an element, or of a word of joined elements, in bytes, above which direct accesses are as fast as
    /// accesses staged in shared memory: relayouts of larger ones are not staged.
    pub large_element_bytes: i64,
    /// Maximum number of elements of a tile that a thread holds in registers. A tile with more elements for each thread
    /// is copied without holding them.
    pub thread_elements: i64,
}

/// Memory system of a GPU as the threads of a warp use it: banked shared memory, and sectors of global memory. In AMD's
/// terms, a warp is a wavefront of 64 lanes, and shared memory is the local data share (LDS).
#[derive(Debug, PartialEq, Eq)]
pub struct GpuMemory {
    /// Name of the vendor in manifests: `nvidia` or `amd`.
    pub name: &'static str,
    /// Number of threads (lanes) of a warp.
    pub warp: i64,
    /// Number of banks of shared memory.
    pub banks: i64,
    /// Width of a bank of shared memory, in bytes.
    pub bank_bytes: i64,
    /// Size of a sector of global memory, the unit of a memory transaction, in bytes.
    pub sector_bytes: i64,
    /// Size of a cache line, in bytes.
    pub line_bytes: i64,
    /// Width of the widest memory access of a lane, in bytes.
    pub access_bytes: i64,
    /// Order in which lanes are served by a read of `access_bytes` bytes a lane, for the first 32 lanes; the lanes from
    /// 32 follow in the same order. Empty: ascending.
    pub wide_read_order: &'static [i64],
}

/// Vendor of a GPU, which determines its memory system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuVendor {
    /// NVIDIA: [`NVIDIA`].
    Nvidia,
    /// AMD: [`AMD`].
    Amd,
}

impl GpuVendor {
    /// Vendors by their words in manifests.
    pub const ALL: &'static [(&'static str, Self)] =
        &[(NVIDIA.name, Self::Nvidia), (AMD.name, Self::Amd)];

    /// Memory system of the vendor's GPUs.
    pub fn memory(self) -> &'static GpuMemory {
        match self {
            Self::Nvidia => &NVIDIA,
            Self::Amd => &AMD,
        }
    }
}

/// NVIDIA GPUs from compute capability 5.0. Source: CUDA C++ Programming Guide, shared memory: 32 banks of successive
/// 32-bit words; 8-byte accesses are served by halves of a warp, 16-byte accesses by quarters. Global memory is accessed
/// in sectors of 32 bytes, four a cache line.
pub const NVIDIA: GpuMemory = GpuMemory {
    name: "nvidia",
    warp: 32,
    banks: 32,
    bank_bytes: 4,
    sector_bytes: 32,
    line_bytes: 128,
    access_bytes: 16,
    wide_read_order: &[],
};

/// AMD GPUs of the CDNA 2 and 3 architectures (gfx90a, gfx942). Source: the documentation of Composable Kernel on bank
/// conflicts: 32 banks of 32-bit words; `ds_write_b128` serves 8 consecutive lanes at a time, `ds_read_b128` the lanes 0
/// to 3 with 20 to 23, 4 to 7 with 16 to 19, 8 to 11 with 28 to 31, and 12 to 15 with 24 to 27. Global memory is accessed
/// in units of 64 bytes.
pub const AMD: GpuMemory = GpuMemory {
    name: "amd",
    warp: 64,
    banks: 32,
    bank_bytes: 4,
    sector_bytes: 64,
    line_bytes: 128,
    access_bytes: 16,
    wide_read_order: &[
        0, 1, 2, 3, 20, 21, 22, 23, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 28, 29, 30, 31, 12,
        13, 14, 15, 24, 25, 26, 27,
    ],
};

/// Constants of CPUs: x86-64 from SSE2 to AVX-512, and `AArch64`.
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
    copy_run_bytes: 2,
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
    packed_tile: 64,
    system_call_bytes: 8 << 10,
    gap_bytes: 4 << 10,
};

/// Vector registers of AVX-512: 32 of 64 bytes.
pub const AVX512: Registers =
    Registers { isa: VectorIsa::Avx512, vector_bits: 512, tile_vectors: 28, tile_rows: 14 };

/// Vector registers of AVX2: 16 of 32 bytes.
pub const AVX2: Registers =
    Registers { isa: VectorIsa::Avx2, vector_bits: 256, tile_vectors: 12, tile_rows: 6 };

/// Constants of GPUs that are programmed in OpenCL and CUDA.
pub const GPU: Gpu = Gpu {
    threads: 256,
    kernel_blocks: 4096,
    relayout_blocks: 1 << 20,
    shared_bytes: 48 << 10,
    staged_tile_bytes: 18 * 1024,
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
