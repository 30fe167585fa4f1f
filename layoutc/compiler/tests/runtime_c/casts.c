// Test of the conversions of the runtime alone, against conversions of one element by their definition: counts around every
// vector length, strides, transposed units, and every kind of number.
#include "runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t state = 11;

// Pseudo-random number below `bound`.
static int64_t below(int64_t bound) {
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % bound;
}

enum { room = 1 << 15 };

#define TEXT_OF(token) #token
#define TEXT(token) TEXT_OF(token)

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// Nearest f16, ties to even. NaN keeps the upper bits of its payload and becomes quiet.
static uint16_t layoutc_cast_f32_to_f16(float x) {
    const uint16_t sign = (uint16_t)(bits_of(x) >> 16 & 0x8000);
    const double magnitude = fabs((double)x);
    int exponent;
    if (x != x) {
        return (uint16_t)(sign | 0x7E00 | (bits_of(x) >> 13 & 0x3FF));
    }
    if (magnitude >= 65520) {
        return sign | 0x7C00;
    }
    if (magnitude < ldexp(1, -14)) {
        return (uint16_t)(sign + rint(ldexp(magnitude, 24)));
    }
    (void)frexp(magnitude, &exponent);
    return (uint16_t)(sign + ((exponent + 14) << 10) + (int)rint(ldexp(magnitude, 11 - exponent)) - 1024);
}

static uint16_t layoutc_cast_f32_to_f16_saturate(float x) {
    return layoutc_cast_f32_to_f16(x > 65504 ? 65504 : x < -65504 ? -65504 : x);
}

static float layoutc_cast_f16_to_f32(uint16_t half) {
    const int exponent = half >> 10 & 31;
    const double mantissa = half & 0x3FF;
    const double magnitude = exponent > 0 ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    if (exponent == 31) {
        const uint32_t quiet = mantissa > 0 ? 0x400000 : 0;
        return float_of((uint32_t)(half & 0x8000) << 16 | 0x7F800000 | quiet | (uint32_t)(half & 0x3FF) << 13);
    }
    return (float)((half & 0x8000) != 0 ? -magnitude : magnitude);
}

// Nearest bf16, ties to even: the bits of a number with 16 bits less.
static uint16_t layoutc_cast_f32_to_bf16(float x) {
    const double whole = bits_of(x) / 65536.0;
    return (uint16_t)(x != x ? bits_of(x) >> 16 | 0x40 : (uint32_t)rint(whole));
}

static uint16_t layoutc_cast_f32_to_bf16_saturate(float x) {
    const uint16_t nearest = layoutc_cast_f32_to_bf16(x);
    return x == x && (nearest & 0x7FFF) > 0x7F7F ? (uint16_t)((nearest & 0x8000) | 0x7F7F) : nearest;
}

static float layoutc_cast_bf16_to_f32(uint16_t word) {
    const float x = float_of((uint32_t)word << 16);
    return x == x ? x : float_of((uint32_t)word << 16 | 0x400000);
}

static int8_t layoutc_cast_f32_to_i8(float x) {
    return (int8_t)(x != x ? 0 : x < -128 ? -128 : x > 127 ? 127 : rint(x));
}

static uint8_t layoutc_cast_f32_to_u8(float x) {
    return (uint8_t)(x != x ? 0 : x < 0 ? 0 : x > 255 ? 255 : rint(x));
}

static float layoutc_cast_i8_to_f32(int8_t x) {
    return x;
}

static float layoutc_cast_u8_to_f32(uint8_t x) {
    return x;
}

// A conversion without a version by vectors.
static int32_t layoutc_cast_i16_to_i32(int16_t x) {
    return x;
}

// Number of any kind: any bits, numbers that round to small integers or to f16, limits of the narrow types.
static float any_float(void) {
    static const float limits[] = {
        0.0f, 65504.0f, 65519.0f, 65520.0f, 65536.0f, 6.1035156e-5f, 5.9604645e-8f, 2.9802322e-8f, 3.3895314e38f, 127.5f,
        128.0f, 254.5f, 255.5f, INFINITY, NAN,
    };
    const float sign = below(2) ? 1.0f : -1.0f;
    switch (below(4)) {
    case 0:
        return float_of((uint32_t)below(1 << 16) << 16 | (uint32_t)below(1 << 16));
    case 1:
        return sign * (float)below(600) / 2;
    case 2:
        return sign * (float)ldexp((double)below(1 << 24), (int)below(48) - 54);
    default:
        return sign * limits[below(15)];
    }
}

static uint16_t any_uint16_t(void) {
    return (uint16_t)below(1 << 16);
}

static int16_t any_int16_t(void) {
    return (int16_t)any_uint16_t();
}

static int8_t any_int8_t(void) {
    return (int8_t)(below(256) - 128);
}

static uint8_t any_uint8_t(void) {
    return (uint8_t)below(256);
}

#define CAST f32_to_f16
#define FROM float
#define TO uint16_t
#define FROM_BYTES 4
#define TO_BYTES 2
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST f32_to_f16_saturate
#define FROM float
#define TO uint16_t
#define FROM_BYTES 4
#define TO_BYTES 2
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST f16_to_f32
#define FROM uint16_t
#define TO float
#define FROM_BYTES 2
#define TO_BYTES 4
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST f32_to_bf16
#define FROM float
#define TO uint16_t
#define FROM_BYTES 4
#define TO_BYTES 2
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST f32_to_bf16_saturate
#define FROM float
#define TO uint16_t
#define FROM_BYTES 4
#define TO_BYTES 2
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST bf16_to_f32
#define FROM uint16_t
#define TO float
#define FROM_BYTES 2
#define TO_BYTES 4
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

#define CAST f32_to_i8
#define FROM float
#define TO int8_t
#define FROM_BYTES 4
#define TO_BYTES 1
#define VECTOR_BYTES 32
#define BYTES_OF_ONE 1
#define BYTES_OF_TWO 2
#include "cast_test.inc"

#define CAST f32_to_u8
#define FROM float
#define TO uint8_t
#define FROM_BYTES 4
#define TO_BYTES 1
#define VECTOR_BYTES 32
#define BYTES_OF_ONE 1
#define BYTES_OF_TWO 2
#include "cast_test.inc"

#define CAST i8_to_f32
#define FROM int8_t
#define TO float
#define FROM_BYTES 1
#define TO_BYTES 4
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 1
#define BYTES_OF_TWO 2
#include "cast_test.inc"

#define CAST u8_to_f32
#define FROM uint8_t
#define TO float
#define FROM_BYTES 1
#define TO_BYTES 4
#define VECTOR_BYTES 64
#define BYTES_OF_ONE 1
#define BYTES_OF_TWO 2
#include "cast_test.inc"

#define CAST i16_to_i32
#define FROM int16_t
#define TO int32_t
#define FROM_BYTES 2
#define TO_BYTES 4
#define VECTOR_BYTES 0
#define BYTES_OF_ONE 2
#define BYTES_OF_TWO 4
#include "cast_test.inc"

typedef int (*cast_test)(void);

int main(void) {
    static const cast_test all[] = {
        test_f32_to_f16,
        test_f32_to_f16_saturate,
        test_f16_to_f32,
        test_f32_to_bf16,
        test_f32_to_bf16_saturate,
        test_bf16_to_f32,
        test_f32_to_i8,
        test_f32_to_u8,
        test_i8_to_f32,
        test_u8_to_f32,
        test_i16_to_i32,
    };
    int faults = 0;
    for (int round = 0; round < ROUNDS && faults < 5; ++round) {
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
            faults += all[k]();
        }
    }
    printf("%d faults\n", faults);
    return faults > 0;
}
