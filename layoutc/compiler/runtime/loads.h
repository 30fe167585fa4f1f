#ifdef LAYOUTC_X86
// Loads 16 bytes of each of four rows. Masked intrinsics, with all ones: gcc 12 warns about its own header for others.
__attribute__((target("avx512f,avx512bw")))
static inline __m512i layoutc_load_v64(const char *from, ptrdiff_t stride) {
    __m512i rows = _mm512_castsi128_si512(layoutc_load_v16(from));
    rows = _mm512_maskz_inserti32x4((__mmask16)-1, rows, layoutc_load_v16(from + stride), 1);
    rows = _mm512_maskz_inserti32x4((__mmask16)-1, rows, layoutc_load_v16(from + 2 * stride), 2);
    return _mm512_maskz_inserti32x4((__mmask16)-1, rows, layoutc_load_v16(from + 3 * stride), 3);
}

// Loads 32 bytes.
__attribute__((target("avx2")))
static inline __m256i layoutc_load_row_v32(const char *from) {
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}
#endif
