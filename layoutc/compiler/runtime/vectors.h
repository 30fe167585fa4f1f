// Primitives use the vectors of the processor that runs them: 64, 32 or 16 bytes on x86-64, 16 on AArch64. Other
// processors and compilers use plain loops. LAYOUTC_VECTOR limits the vector bytes (0: plain loops). Strides: bytes.
#ifndef LAYOUTC_VECTOR
#define LAYOUTC_VECTOR 64
#endif
#if LAYOUTC_VECTOR >= 16 && defined(__GNUC__) && defined(__x86_64__)
#define LAYOUTC_X86
#define LAYOUTC_16
#include <cpuid.h>
#include <immintrin.h>
typedef __m128i layoutc_16;
#elif LAYOUTC_VECTOR >= 16 && defined(__GNUC__) && defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LAYOUTC_16
#include <arm_neon.h>
typedef uint8x16_t layoutc_16;
#endif

// Assumed sizes of the L2 cache and of the last-level cache, and the least size of a streaming call, in bytes.
#ifndef LAYOUTC_L2_BYTES
#define LAYOUTC_L2_BYTES (1 << 20)
#endif
#ifndef LAYOUTC_LLC_BYTES
#define LAYOUTC_LLC_BYTES (1 << 25)
#endif
#ifndef LAYOUTC_MIN_STREAM_BYTES
#define LAYOUTC_MIN_STREAM_BYTES (1 << 14)
#endif
