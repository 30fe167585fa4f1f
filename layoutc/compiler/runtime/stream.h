#ifdef LAYOUTC_X86
// Least size of a relayout with streaming stores, in eighths of the last-level cache; 0 if they never pay. AMD: 3, so
// that source and destination take three quarters; Intel with AVX512-FP16: 8; other processors: 0. LAYOUTC_STREAM, 1
// or 0, overrides the processor.
static int layoutc_least_eighths(void) {
#ifdef LAYOUTC_STREAM
    return LAYOUTC_STREAM ? 8 : 0;
#else
    static int known = -1; // -1: not determined yet.
    if (__atomic_load_n(&known, __ATOMIC_RELAXED) < 0) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        const bool has_fp16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 23 & 1) != 0;
        __atomic_store_n(&known, __builtin_cpu_is("amd") ? 3 : has_fp16 ? 8 : 0, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&known, __ATOMIC_RELAXED);
#endif
}

// True if a relayout of `whole_bytes` bytes uses streaming stores; always for a negative number.
static bool layoutc_streams(INDEX whole_bytes) {
    const int eighths = whole_bytes > LAYOUTC_LLC_BYTES / 4 ? layoutc_least_eighths() : 0;
    return whole_bytes < 0 || (eighths > 0 && whole_bytes > LAYOUTC_LLC_BYTES / 8 * eighths);
}

// Fence that orders the streaming stores of a relayout of `whole_bytes` bytes before later stores.
static inline void layoutc_fence(INDEX whole_bytes) {
    if (layoutc_streams(whole_bytes)) {
        _mm_sfence();
    }
}
#else
#define layoutc_streams(whole_bytes) ((void)(whole_bytes), false)
#define layoutc_fence(whole_bytes) (void)(whole_bytes)
#endif
