// Unrolled loop with a small constant trip count.
#define LAYOUTC_UNROLLED(k, count) _Pragma("GCC unroll 32") for (int k = 0; k < (count); ++k)

// Stores a vector, with `streaming` by a streaming store.
#ifdef LAYOUTC_X86
#define LAYOUTC_STORE_16(to, vector, streaming) \
    ((streaming) ? _mm_stream_si128((__m128i *)(void *)(to), vector) \
    : _mm_storeu_si128((__m128i *)(void *)(to), vector))
#else
#define LAYOUTC_STORE_16(to, vector, streaming) ((void)(streaming), memcpy(to, &(vector), 16))
#endif
#define LAYOUTC_STORE_32(to, vector, streaming) \
    ((streaming) ? _mm256_stream_si256((__m256i *)(void *)(to), vector) \
    : _mm256_storeu_si256((__m256i *)(void *)(to), vector))
#define LAYOUTC_STORE_64(to, vector, streaming) \
    ((streaming) ? _mm512_stream_si512((__m512i *)(void *)(to), vector) \
    : _mm512_storeu_si512((__m512i *)(void *)(to), vector))

// One step of a register transpose of `count` vectors, which are `step` elements apart in `a`: of each pair, one
// becomes `low` of both and the other one `high` of both.
#define LAYOUTC_EXCHANGE(a, step, count, half, vector, low, high) \
    LAYOUTC_UNROLLED(pair, (count) / 2) { \
        const int k = (pair + pair / (half) * (half)) * (step); \
        const int other = k + (half) * (step); \
        const vector lower = low((a)[k], (a)[other]); \
        (a)[other] = high((a)[k], (a)[other]); \
        (a)[k] = lower; \
    }

// Register transpose of `count` vectors: `low` and `high` interleave the elements of each 16 bytes. Vector k holds
// row k before, and column k after.
#define LAYOUTC_TRANSPOSE_1(a, vector, low, high)
#define LAYOUTC_TRANSPOSE_2(a, vector, low, high) LAYOUTC_EXCHANGE(a, 1, 2, 1, vector, low, high)
#define LAYOUTC_TRANSPOSE_4(a, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 4, 2, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 4, 1, vector, low, high)
#define LAYOUTC_TRANSPOSE_8(a, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 8, 4, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 8, 2, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 8, 1, vector, low, high)
#define LAYOUTC_TRANSPOSE_16(a, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 16, 8, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 16, 4, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 16, 2, vector, low, high) \
    LAYOUTC_EXCHANGE(a, 1, 16, 1, vector, low, high)

// Interleaves the vectors k and k + `count` / 2, log2(`steps`) times.
#define LAYOUTC_INTERLEAVE(a, count, steps, vector, low, high) \
    _Pragma("GCC unroll 4") for (int step = 1; step < (steps); step *= 2) { \
        vector b[16]; \
        LAYOUTC_UNROLLED(k, (count) / 2) { \
            b[2 * k] = low((a)[k], (a)[k + (count) / 2]); \
            b[2 * k + 1] = high((a)[k], (a)[k + (count) / 2]); \
        } \
        LAYOUTC_UNROLLED(k, count) { \
            (a)[k] = b[k]; \
        } \
    }

// Prefetches the cache lines that are written next in a large relayout, so that no store waits for them.
#define LAYOUTC_PREFETCH_STORES(to, to_stride, count, large) \
    if (large) { \
        LAYOUTC_UNROLLED(k, count) { \
            __builtin_prefetch((to) + k * (to_stride) + 64, 1); \
        } \
    }

#ifdef LAYOUTC_16
// Loads 16 bytes.
static inline layoutc_16 layoutc_load_v16(const char *from) {
    layoutc_16 vector;
    memcpy(&vector, from, 16);
    return vector;
}
#endif

#ifdef LAYOUTC_X86
// Loads 16 bytes of each of two rows, which are `stride` bytes apart.
__attribute__((target("avx2")))
static inline __m256i layoutc_load_v32(const char *from, ptrdiff_t stride) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(layoutc_load_v16(from)), layoutc_load_v16(from + stride), 1);
}

// Blocks of 16 bytes of `a` and then of `b`: those with even numbers, and those with odd numbers.
#define LAYOUTC_EVEN(a, b) _mm512_maskz_shuffle_i32x4((__mmask16)-1, a, b, 0x88)
#define LAYOUTC_ODD(a, b) _mm512_maskz_shuffle_i32x4((__mmask16)-1, a, b, 0xDD)
#endif
