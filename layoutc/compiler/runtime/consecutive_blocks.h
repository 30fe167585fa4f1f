#ifdef LAYOUTC_16
// Offsets of `count` columns (or rows) from number `first` on, `each` in a block. `next` holds the number of the next
// column in its block and its offset; with `restart`, both are computed from `first`.
static inline __attribute__((always_inline)) void layoutc_block_offsets(ptrdiff_t *offsets, const int count,
        ptrdiff_t first, bool restart, ptrdiff_t each, ptrdiff_t stride, ptrdiff_t step, ptrdiff_t *next) {
    if (restart) {
        next[0] = first % each;
        next[1] = first / each * step + next[0] * stride;
    }
    LAYOUTC_UNROLLED(k, count) {
        offsets[k] = next[1];
        next[1] += stride;
        if (++next[0] == each) {
            next[0] = 0;
            next[1] += step - each * stride;
        }
    }
}
#endif

#ifdef LAYOUTC_X86
// Stores a run of `bytes` bytes with streaming stores of its full cache lines.
__attribute__((target("avx2")))
static inline void layoutc_stream_buffer_run(char *to, const char *run, ptrdiff_t bytes) {
    const ptrdiff_t before = (ptrdiff_t)(-(uintptr_t)to & 63);
    const ptrdiff_t after = bytes > before ? before + (bytes - before) / 64 * 64 : bytes;
    memcpy(to, run, (size_t)(before < bytes ? before : bytes));
    for (ptrdiff_t at = before; at < after; at += 32) {
        LAYOUTC_STORE_32(to + at, layoutc_load_row_v32(run + at), true);
    }
    memcpy(to + after, run + after, (size_t)(bytes - after));
}
#endif
