// Checks the float conversions of the generated header: every code survives a round trip through f32, and values near
// rounding points convert to the expected codes.
#include "floats.h"

#include <stdio.h>

#define CHECK(name, type, count, nan)                                                                 \
    for (uint32_t bits = 0; bits < (count); ++bits) {                                                 \
        const float value = layoutc_##name##_to_f32((type)bits);                                      \
        const type back = layoutc_##name##_from_f32(value);                                           \
        if (value != value ? !(nan) : back != bits) {                                                 \
            printf(#name " %u becomes %g becomes %u\n", (unsigned)bits, (double)value, (unsigned)back); \
            return 1;                                                                                 \
        }                                                                                             \
    }

#define IS(name, value, expected)                                                          \
    if (layoutc_##name##_from_f32(value) != (expected)) {                                  \
        printf(#name " of " #value " is %u\n", (unsigned)layoutc_##name##_from_f32(value)); \
        return 1;                                                                          \
    }

int main(void) {
    CHECK(f16, uint16_t, 65536u, true)
    CHECK(bf16, uint16_t, 65536u, true)
    CHECK(f8e4m3fn, uint8_t, 256u, bits == 0x7F || bits == 0xFF)
    CHECK(f8e5m2, uint8_t, 256u, true)
    CHECK(f8e8m0fnu, uint8_t, 256u, bits == 0xFF)
    CHECK(f8e4m3fnuz, uint8_t, 256u, bits == 0x80)
    CHECK(f8e5m2fnuz, uint8_t, 256u, bits == 0x80)
    CHECK(f6e2m3fn, uint8_t, 64u, false)
    CHECK(f6e3m2fn, uint8_t, 64u, false)
    CHECK(f4e2m1fn, uint8_t, 16u, false)
    IS(f16, 65519.0f, 0x7BFF)
    IS(f16, 65520.0f, 0x7C00)
    IS(f16, -1e30f, 0xFC00)
    IS(f16, 2.98023224e-8f, 0)
    IS(f16, 2.98023260e-8f, 1)
    IS(f16, 1e-40f, 0)
    IS(f16, 1.00048828125f, 0x3C00)
    IS(f16, 1.00146484375f, 0x3C02)
    IS(bf16, 1.00390625f, 0x3F80)
    IS(bf16, 1.01171875f, 0x3F82)
    IS(f8e4m3fn, 464.0f, 0x7E)
    IS(f8e4m3fn, 465.0f, 0x7F)
    IS(f8e5m2, 61440.0f, 0x7C)
    IS(f8e5m2, 61439.0f, 0x7B)
    IS(f8e8m0fnu, 3.0f, 128)
    IS(f8e8m0fnu, 6.0f, 130)
    IS(f8e8m0fnu, 2.9f, 128)
    IS(f8e8m0fnu, 0.0f, 255)
    IS(f8e4m3fnuz, 240.0f, 0x7F)
    IS(f8e4m3fnuz, 248.0f, 0x80)
    IS(f8e4m3fnuz, -1e30f, 0x80)
    IS(f8e4m3fnuz, -0.0f, 0)
    IS(f8e4m3fnuz, -1e-9f, 0)
    IS(f8e4m3fnuz, -0.0001f, 0)
    IS(f8e5m2fnuz, -57344.0f, 0xFF)
    IS(f8e5m2fnuz, 61440.0f, 0x80)
    IS(f6e2m3fn, 100.0f, 0x1F)
    IS(f6e2m3fn, -0.0625f, 0x20)
    IS(f6e3m2fn, -28.0f, 0x3F)
    IS(f4e2m1fn, 100.0f, 7)
    IS(f4e2m1fn, -2.5f, 12)
    IS(f4e2m1fn, 0.25f, 0)
    IS(f4e2m1fn, 0.26f, 1)
    puts("ok");
    return 0;
}
