/* Multiply-add peak of one core: 12 independent chains, more than the latency of two units requires. */
#include "kernels.h"

enum { CHAINS = 12 };

#if defined(__GNUC__) && defined(__x86_64__)
#define PEAK(bytes, features) \
    typedef float vector_##bytes __attribute__((vector_size(bytes))); \
    __attribute__((target(features))) static double peak_##bytes(long rounds) { \
        vector_##bytes sums[CHAINS], factor = {0}; \
        for (int chain = 0; chain < CHAINS; ++chain) { \
            sums[chain] = factor; \
        } \
        __asm__ volatile("" : "+v"(factor)); \
        for (long round = 0; round < rounds; ++round) { \
            _Pragma("GCC unroll 12") for (int chain = 0; chain < CHAINS; ++chain) { \
                sums[chain] = sums[chain] * factor + factor; \
            } \
        } \
        for (int chain = 0; chain < CHAINS; ++chain) { \
            __asm__ volatile("" : : "v"(sums[chain])); \
        } \
        return 2.0 * CHAINS * (bytes / sizeof(float)) * (double)rounds; \
    }
PEAK(64, "avx512f,prefer-vector-width=512")
PEAK(32, "avx2,fma")

double peak(bool longest, long rounds) {
    if (longest && __builtin_cpu_supports("avx512f")) {
        return peak_64(rounds);
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? peak_32(rounds) : 0;
}
#else
double peak(bool longest, long rounds) {
    (void)longest, (void)rounds;
    return 0;
}
#endif
