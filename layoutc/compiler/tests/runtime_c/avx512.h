// AVX-512 emulated by SIMDe on a processor with AVX2. Included before the source.
#include <immintrin.h>
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Aborts where the processor would fault.
static inline void layoutc_emulated_stream(void *to, __m512i value) {
    if ((uintptr_t)to % 64 != 0) {
        abort();
    }
    simde_mm512_storeu_si512(to, value);
}

// Conversion that SIMDe lacks.
static inline simde__m512 layoutc_emulated_from_f16(simde__m256i halves) {
    float all[16];
    _mm256_storeu_ps(all, _mm256_cvtph_ps(_mm256_castsi256_si128(halves)));
    _mm256_storeu_ps(all + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)));
    return simde_mm512_loadu_ps(all);
}

static inline simde__m256i layoutc_emulated_to_f16(simde__m512 values) {
    float all[16];
    simde_mm512_storeu_ps(all, values);
    const __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(all), _MM_FROUND_TO_NEAREST_INT);
    return _mm256_set_m128i(_mm256_cvtps_ph(_mm256_loadu_ps(all + 8), _MM_FROUND_TO_NEAREST_INT), low);
}

// Conversion of 16 elements that SIMDe lacks.
#define LAYOUTC_EMULATED_CONVERSION(name, from_vector, from_element, to_vector, to_element) \
    static inline to_vector layoutc_emulated_##name(from_vector values) { \
        from_element from[16]; \
        to_element to[16]; \
        to_vector result; \
        memcpy(from, &values, sizeof from); \
        for (int k = 0; k < 16; ++k) { \
            to[k] = (to_element)from[k]; \
        } \
        memcpy(&result, to, sizeof to); \
        return result; \
    }

LAYOUTC_EMULATED_CONVERSION(epi8_epi32, __m128i, int8_t, simde__m512i, int32_t)
LAYOUTC_EMULATED_CONVERSION(epu8_epi32, __m128i, uint8_t, simde__m512i, uint32_t)
LAYOUTC_EMULATED_CONVERSION(epu16_epi32, simde__m256i, uint16_t, simde__m512i, uint32_t)
LAYOUTC_EMULATED_CONVERSION(epi32_epi16, simde__m512i, uint32_t, simde__m256i, uint16_t)
LAYOUTC_EMULATED_CONVERSION(epi32_ps, simde__m512i, int32_t, simde__m512, float)

// Masked load: does not read masked-out elements.
static inline simde__m512i layoutc_emulated_load(uint32_t inside, const void *from, size_t bytes) {
    unsigned char all[64] = { 0 };
    for (size_t k = 0; k < 64 / bytes; ++k) {
        if ((inside >> k & 1) != 0) {
            memcpy(all + k * bytes, (const char *)from + k * bytes, bytes);
        }
    }
    return simde_mm512_loadu_si512(all);
}

// Shuffle of 16-byte chunks: two of `low`, then two of `high`, each selected by two bits.
static inline simde__m512i layoutc_emulated_pieces(simde__m512i low, simde__m512i high, int picked) {
    unsigned char from[2][64];
    unsigned char all[64];
    simde_mm512_storeu_si512(from[0], low);
    simde_mm512_storeu_si512(from[1], high);
    for (int k = 0; k < 4; ++k) {
        memcpy(all + 16 * k, from[k / 2] + 16 * (picked >> 2 * k & 3), 16);
    }
    return simde_mm512_loadu_si512(all);
}

#define _mm512_maskz_loadu_epi16(inside, from) layoutc_emulated_load(inside, from, 2)
#define _mm512_maskz_loadu_epi32(inside, from) layoutc_emulated_load(inside, from, 4)
#define _mm512_maskz_shuffle_i32x4(all, low, high, picked) layoutc_emulated_pieces(low, high, picked)
#define _mm512_maskz_cvtph_ps(all, halves) layoutc_emulated_from_f16(halves)
#define _mm512_maskz_cvtps_ph(all, values, rounding) layoutc_emulated_to_f16(values)
#undef _mm512_maskz_cvtepi8_epi32
#define _mm512_maskz_cvtepi8_epi32(all, values) layoutc_emulated_epi8_epi32(values)
#undef _mm512_maskz_cvtepu8_epi32
#define _mm512_maskz_cvtepu8_epi32(all, values) layoutc_emulated_epu8_epi32(values)
#undef _mm512_maskz_cvtepu16_epi32
#define _mm512_maskz_cvtepu16_epi32(all, values) layoutc_emulated_epu16_epi32(values)
#undef _mm512_maskz_cvtepi32_epi16
#define _mm512_maskz_cvtepi32_epi16(all, values) layoutc_emulated_epi32_epi16(values)
#undef _mm512_maskz_cvtepi32_ps
#define _mm512_maskz_cvtepi32_ps(all, values) layoutc_emulated_epi32_ps(values)
#undef _mm512_maskz_slli_epi32
#define _mm512_maskz_slli_epi32(all, values, bits) simde_mm512_slli_epi32(values, bits)
#undef _mm512_maskz_srli_epi32
#define _mm512_maskz_srli_epi32(all, values, bits) simde_mm512_srli_epi32(values, bits)
#undef _mm512_stream_si512
#define _mm512_stream_si512(to, value) layoutc_emulated_stream(to, value)
#define __builtin_cpu_supports(feature) 1
#define target(features) target("avx2,f16c")
