/* CUDA's __nv_bfloat16 on the CPU: storage and conversions. */
#ifndef LAYOUTC_SHIM_CUDA_BF16_H
#define LAYOUTC_SHIM_CUDA_BF16_H

#include <cuda_runtime.h>

struct __nv_bfloat16_raw {
    unsigned short x;
};

struct __nv_bfloat16 {
    __nv_bfloat16() = default;
    __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    /* Rounds to nearest, ties to even. */
    __nv_bfloat16(float value) {
        const uint32_t all = layoutc_shim::bits_as<uint32_t>(value);
        const bool nan = (all & 0x7FFFFFFFu) > 0x7F800000u;
        bits = static_cast<unsigned short>(nan ? 0x7FFFu : (all + 0x7FFFu + (all >> 16 & 1u)) >> 16);
    }
    operator float() const {
        return layoutc_shim::bits_as<float>(static_cast<uint32_t>(bits) << 16);
    }
    operator __nv_bfloat16_raw() const {
        return {bits};
    }

  private:
    unsigned short bits;
};
typedef __nv_bfloat16 nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
    return static_cast<__nv_bfloat16_raw>(value).x;
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
inline short __bfloat16_as_short(__nv_bfloat16 value) {
    return static_cast<short>(__bfloat16_as_ushort(value));
}
inline __nv_bfloat16 __float2bfloat16(float value) {
    return __nv_bfloat16(value);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
    return __nv_bfloat16(value);
}
inline float __bfloat162float(__nv_bfloat16 value) {
    return value;
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return {x, y};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return {x, y};
}

#endif
