#ifdef LAYOUTC_X86
// Copies 64 bytes with streaming stores to an aligned cache line.
static inline void layoutc_stream_line(char *to, const char *from) {
    const __m128i *const source = (const __m128i *)(const void *)from;
    __m128i *const line = (__m128i *)(void *)to;
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, a);
    _mm_stream_si128(line + 1, b);
    _mm_stream_si128(line + 2, c);
    _mm_stream_si128(line + 3, d);
}

// Copies with streaming stores, four pages at a time, which memory serves faster than one. Not if loads have the page
// offset of recent stores (4 KiB aliasing): such loads wait for the stores.
static void layoutc_stream(char *to, const char *from, ptrdiff_t bytes) {
    const ptrdiff_t before = (ptrdiff_t)(-(uintptr_t)to & 63);
    const bool by_pages = ((uintptr_t)to - (uintptr_t)from) % 4096 >= 512;
    if (bytes >= 128 + before) {
        ptrdiff_t at = before;
        memcpy(to, from, (size_t)before);
        for (; by_pages && at + 16384 <= bytes; at += 16384) {
            for (ptrdiff_t line = at; line < at + 4096; line += 64) {
                layoutc_stream_line(to + line, from + line);
                layoutc_stream_line(to + line + 4096, from + line + 4096);
                layoutc_stream_line(to + line + 8192, from + line + 8192);
                layoutc_stream_line(to + line + 12288, from + line + 12288);
            }
        }
        for (; at + 64 <= bytes; at += 64) {
            layoutc_stream_line(to + at, from + at);
        }
        to += at;
        from += at;
        bytes -= at;
    }
    memcpy(to, from, (size_t)bytes);
}

// Copies runs with streaming stores.
static void layoutc_stream_runs(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, ptrdiff_t count,
        ptrdiff_t bytes) {
    for (ptrdiff_t k = 0; k < count; ++k, to += to_stride, from += from_stride) {
        // Prefetches the source after a short run, which is likely to be read next.
        for (ptrdiff_t at = 0; bytes <= 2048 && at < bytes; at += 64) {
            __builtin_prefetch(from + bytes + at);
        }
        layoutc_stream(to, from, bytes);
    }
}

// Copies runs of at least 32 bytes that fit the caches: vectors of 64 bytes and prefetching are slower there. The last
// vector of a run overlaps the one before it.
__attribute__((target("avx2")))
static void layoutc_copy_runs_v32(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
        ptrdiff_t count, ptrdiff_t bytes) {
    const ptrdiff_t last = bytes - 32;
    for (ptrdiff_t k = 0; k < count; ++k, to += to_stride, from += from_stride) {
        for (ptrdiff_t at = 0; at < last; at += 32) {
            const __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)(from + at));
            _mm256_storeu_si256((__m256i *)(void *)(to + at), part);
        }
        const __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)(from + last));
        _mm256_storeu_si256((__m256i *)(void *)(to + last), part);
    }
}

// Copies runs by the fastest method of this processor; false if plain loops are as fast.
static bool layoutc_copy_runs_wide(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
        ptrdiff_t count, ptrdiff_t bytes, INDEX whole_bytes) {
    if (layoutc_streams(whole_bytes)) {
        layoutc_stream_runs(to, to_stride, from, from_stride, count, bytes);
        return true;
    }
    if (LAYOUTC_VECTOR >= 32 && bytes >= 32 && bytes < 2048 && whole_bytes <= LAYOUTC_LLC_BYTES &&
            __builtin_cpu_supports("avx2")) {
        layoutc_copy_runs_v32(to, to_stride, from, from_stride, count, bytes);
        return true;
    }
    return false;
}
#endif

// Copies `count` runs of `bytes` bytes.
static void layoutc_copy_runs(void *to, INDEX to_stride, const void *from, INDEX from_stride, INDEX count, INDEX bytes,
        INDEX whole_bytes) {
    // Prefetch distance of 1 KiB for a relayout that exceeds the L2 cache, so that no load or store waits: within a
    // long run, and into a later run after a short one.
    const bool large = whole_bytes > LAYOUTC_L2_BYTES;
    const ptrdiff_t runs_ahead = bytes > 0 && bytes < 2048 ? 1024 / (ptrdiff_t)bytes + 1 : 0;
    const ptrdiff_t to_ahead = runs_ahead > 0 ? runs_ahead * (ptrdiff_t)to_stride : 1024;
    const ptrdiff_t from_ahead = runs_ahead > 0 ? runs_ahead * (ptrdiff_t)from_stride : 1024;
    char *target = (char *)to;
    const char *origin = (const char *)from;
    if (bytes <= 0) {
        return;
    }
#ifdef LAYOUTC_X86
    if (layoutc_copy_runs_wide(target, to_stride, origin, from_stride, count, bytes, whole_bytes)) {
        return;
    }
#endif
    for (INDEX k = 0; k < count; ++k, target += to_stride, origin += from_stride) {
        INDEX at = 0;
        if (bytes >= 2048 && whole_bytes <= LAYOUTC_LLC_BYTES) {
            memcpy(target, origin, (size_t)bytes);
            continue;
        }
        for (; at + 64 <= bytes; at += 64) {
#ifdef LAYOUTC_16
            if (large) {
                __builtin_prefetch(target + at + to_ahead, 1);
                __builtin_prefetch(origin + at + from_ahead);
            }
#endif
            memcpy(target + at, origin + at, 64);
        }
        if (at < bytes) {
            memcpy(target + at, origin + at, (size_t)(bytes - at));
        }
    }
#ifndef LAYOUTC_16
    (void)large;
    (void)to_ahead;
    (void)from_ahead;
#endif
}
