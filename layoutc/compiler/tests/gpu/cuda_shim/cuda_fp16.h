/* CUDA's __half on the CPU: storage and conversions. */
#ifndef LAYOUTC_SHIM_CUDA_FP16_H
#define LAYOUTC_SHIM_CUDA_FP16_H

#include <cuda_runtime.h>

struct __half_raw {
    unsigned short x;
};

struct __half {
    __half() = default;
    __half(__half_raw raw) : bits(raw.x) {}
    __half(float value) : bits(layoutc_shim::float_to_half_bits(value)) {}
    operator float() const {
        return layoutc_shim::half_bits_to_float(bits);
    }
    operator __half_raw() const {
        return {bits};
    }

  private:
    unsigned short bits;
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
};
typedef __half2 half2;

inline __half __ushort_as_half(unsigned short bits) {
    return __half(__half_raw{bits});
}
inline unsigned short __half_as_ushort(__half value) {
    return static_cast<__half_raw>(value).x;
}
inline __half __short_as_half(short bits) {
    return __ushort_as_half(static_cast<unsigned short>(bits));
}
inline short __half_as_short(__half value) {
    return static_cast<short>(__half_as_ushort(value));
}
inline __half __float2half(float value) {
    return __half(value);
}
inline __half __float2half_rn(float value) {
    return __half(value);
}
inline float __half2float(__half value) {
    return value;
}
inline __half2 make_half2(__half x, __half y) {
    return {x, y};
}
inline __half2 __halves2half2(__half x, __half y) {
    return {x, y};
}
inline __half __low2half(__half2 pair) {
    return pair.x;
}
inline __half __high2half(__half2 pair) {
    return pair.y;
}

#endif
