#ifdef LAYOUTC_X86
// Stores `count` runs of full cache lines, which are `buffer_stride` bytes apart in a buffer, with streaming stores.
// For each line, a line that is read later is prefetched: of 256 bytes of each row of `next`, from byte `at_next` on.
__attribute__((target("avx2")))
static inline void layoutc_stream_buffer(char *to, ptrdiff_t to_stride, const char *buffer, ptrdiff_t buffer_stride,
        ptrdiff_t count, ptrdiff_t bytes, const char *next, ptrdiff_t next_stride, ptrdiff_t at_next) {
    for (ptrdiff_t k = 0; k < count; ++k) {
        for (ptrdiff_t at = 0; at < bytes; at += 64, at_next += 64) {
            const __m256i *const line = (const __m256i *)(const void *)(buffer + k * buffer_stride + at);
            const __m256i a = _mm256_loadu_si256(line);
            const __m256i b = _mm256_loadu_si256(line + 1);
            __builtin_prefetch(next + at_next / 256 * next_stride + at_next % 256, 0, 2);
            _mm256_stream_si256((__m256i *)(void *)(to + k * to_stride + at), a);
            _mm256_stream_si256((__m256i *)(void *)(to + k * to_stride + at + 32), b);
        }
    }
}
#endif
