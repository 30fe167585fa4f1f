/* The kernels of elementwise.kdl as loops by hand. Conversions of f16 use F16C if the processor has it. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { SMALL = 4096, LARGE = 4194304 };

#define LOOP(name, count, from, to, value)                                                \
    void name(const void *first, const void *z, void *result) {                        \
        const from *restrict x = first;                                                       \
        to *restrict y = result;                                                              \
        (void)z;                                                                              \
        for (int i = 0; i < count; ++i) {                                                     \
            y[i] = value;                                                                     \
        }                                                                                     \
    }
#define LOOPS(name, from, to, value)                        \
    LOOP(hand_##name##_small, SMALL, from, to, value)       \
    LOOP(hand_##name##_large, LARGE, from, to, value)

static inline float clamped(float x, float low, float high) {
    x = x > low ? x : low;
    return x < high ? x : high;
}

/* Rounds to nearest, ties to even, for values in the range of i8: the unit in the last place of the sum is 1. */
static inline int8_t nearest(float value) {
    const float sum = value + 12582912.0f;
    int32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int8_t)(bits - 0x4b400000);
}

LOOPS(relu, float, float, x[i] > 0.0f ? x[i] : 0.0f)
LOOPS(clamp, float, float, clamped(x[i], -1.0f, 1.0f))
LOOPS(quantize, float, int8_t, nearest(clamped(x[i] * 20.0f, -128.0f, 127.0f)))
LOOPS(dequantize, int8_t, float, (float)x[i] * 0.05f)

/* Rounds to the nearest i32, ties to even; saturates, and maps NaN to 0. */
static inline void to_i32(const float *x, int32_t *y, long count) {
    const __m128 limit = _mm_set1_ps(2147483648.0f);
    for (long i = 0; i < count; i += 4) {
        const __m128 value = _mm_loadu_ps(x + i);
        __m128i near = _mm_cvtps_epi32(value);
        near = _mm_xor_si128(near, _mm_castps_si128(_mm_cmpge_ps(value, limit)));
        near = _mm_and_si128(near, _mm_castps_si128(_mm_cmpord_ps(value, value)));
        _mm_storeu_si128((__m128i *)(y + i), near);
    }
}

void hand_to_i32_small(const void *x, const void *z, void *y) {
    (void)z;
    to_i32(x, y, SMALL);
}

void hand_to_i32_large(const void *x, const void *z, void *y) {
    (void)z;
    to_i32(x, y, LARGE);
}

__attribute__((target("avx2,f16c"))) static inline void add_f16(const uint16_t *x, const uint16_t *z, uint16_t *y, long count) {
    for (long i = 0; i < count; i += 8) {
        const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i)));
        const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(z + i)));
        _mm_storeu_si128((__m128i *)(y + i), _mm256_cvtps_ph(_mm256_add_ps(a, b), _MM_FROUND_TO_NEAREST_INT));
    }
}

static inline float widened(uint16_t bits) {
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static inline uint16_t rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline void add_bf16(const uint16_t *restrict x, const uint16_t *restrict z, uint16_t *restrict y, long count) {
    for (long i = 0; i < count; ++i) {
        y[i] = rounded(widened(x[i]) + widened(z[i]));
    }
}

#define SUM(name, attribute)                                                           \
    attribute void hand_##name##_small(const void *x, const void *z, void *y) { name(x, z, y, SMALL); } \
    attribute void hand_##name##_large(const void *x, const void *z, void *y) { name(x, z, y, LARGE); }

SUM(add_f16, __attribute__((target("avx2,f16c"))))
SUM(add_bf16, )
