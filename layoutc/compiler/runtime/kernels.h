// Kernels: each is also compiled for longer vectors, with its sizes known.
#ifdef __GNUC__
#define LAYOUTC_RESTRICT __restrict__
#elif defined(__cplusplus)
#define LAYOUTC_RESTRICT
#else
#define LAYOUTC_RESTRICT restrict
#endif

#if defined(__GNUC__) && !defined(__TINYC__)
#define LAYOUTC_PRAGMA(text) _Pragma(#text)
#define LAYOUTC_UNROLL(count) LAYOUTC_PRAGMA(GCC unroll count)
// Marks a likely condition: the other branch is optimized for size.
#define LAYOUTC_USUALLY(condition) (__builtin_expect((condition), 1))
// Stores adjacent elements as one vector; gcc would extract the elements of a vector register one by one.
#define LAYOUTC_STORE(elements, to, from) \
    do { \
        typedef __typeof__(*(from)) layoutc_vector \
            __attribute__((vector_size((elements) * sizeof *(from)), aligned(sizeof *(from)), may_alias)); \
        *(layoutc_vector *)(void *)(to) = *(const layoutc_vector *)(const void *)(from); \
    } while (0)
#else
#define LAYOUTC_UNROLL(count)
#define LAYOUTC_USUALLY(condition) (condition)
#define LAYOUTC_STORE(elements, to, from) \
    for (int layoutc_k = 0; layoutc_k < (elements); ++layoutc_k) { \
        (to)[layoutc_k] = (from)[layoutc_k]; \
    }
#endif

#if defined(__GNUC__) && defined(__x86_64__) && !defined(LAYOUTC_PLAIN)
#ifdef __clang__
#define LAYOUTC_VECTORS_OF_64 target("avx512f,avx512bw,avx512dq,avx512vl,fma"), min_vector_width(512)
#else
#define LAYOUTC_VECTORS_OF_64 target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")
#endif
// Compiles a kernel also for longer vectors, and calls the version for the processor that runs it. `suffix` names
// the version with loops for fewer registers, if there is one.
#define LAYOUTC_COMPUTE_FOR(kernel, suffix, parameters, arguments) \
    __attribute__((LAYOUTC_VECTORS_OF_64, flatten)) static void kernel##_64 parameters { \
        LAYOUTC_ALIGNED(64); \
        kernel arguments; \
    } \
    __attribute__((target("avx2,fma"), flatten)) static void kernel##_32 parameters { \
        LAYOUTC_ALIGNED(32); \
        kernel##suffix arguments; \
    }
#define LAYOUTC_COMPUTE_BY(kernel, suffix) \
    (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") \
    ? kernel##_64 \
    : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? kernel##_32 : kernel##suffix)
#else
#define LAYOUTC_COMPUTE_FOR(kernel, suffix, parameters, arguments)
#define LAYOUTC_COMPUTE_BY(kernel, suffix) kernel##suffix
#endif
