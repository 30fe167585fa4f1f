#ifdef LAYOUTC_X86
// True if the processor has vectors of a full cache line.
#define LAYOUTC_HAS_LINES (LAYOUTC_VECTOR >= 64 && __builtin_cpu_supports("avx512bw"))
// Compiles a relayout also for longer vectors, with all its calls inlined, so that sizes are known.
#define LAYOUTC_FOR_VECTORS(function, parameters, arguments) \
    __attribute__((target("avx512f,avx512bw"), flatten)) static void function##_64 parameters { \
        LAYOUTC_ALIGNED(64); \
        function arguments; \
    } \
    __attribute__((target("avx2"), flatten)) static void function##_32 parameters { \
        LAYOUTC_ALIGNED(32); \
        function arguments; \
    }
// Version of a relayout for the processor that runs it.
#define LAYOUTC_BY_VECTORS(function) \
    (LAYOUTC_HAS_LINES ? function##_64 \
    : LAYOUTC_VECTOR >= 32 && __builtin_cpu_supports("avx2") ? function##_32 : function)
#else
#define LAYOUTC_HAS_LINES false
#define LAYOUTC_FOR_VECTORS(function, parameters, arguments)
#define LAYOUTC_BY_VECTORS(function) function
#endif
// Defines the relayout `name` as the version of `layoutc_name` for the processor.
#define LAYOUTC_DISPATCH(name, parameters, arguments) \
    LAYOUTC_FOR_VECTORS(layoutc_##name, parameters, arguments) \
    void name parameters { \
        LAYOUTC_BY_VECTORS(layoutc_##name) arguments; \
    }
