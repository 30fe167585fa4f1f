// Startup code for 32-bit x86 without a C library: calls `run`, whose value is the exit status.
#include <stdint.h>
#include <string.h>

int run(void);

void *memcpy(void *to, const void *from, size_t bytes) {
    for (size_t k = 0; k < bytes; ++k) {
        ((volatile char *)to)[k] = ((const char *)from)[k];
    }
    return to;
}

void *memset(void *to, int byte, size_t bytes) {
    for (size_t k = 0; k < bytes; ++k) {
        ((volatile char *)to)[k] = (char)byte;
    }
    return to;
}

// Bitwise division: the compiler's runtime library is missing too.
static uint64_t divided(uint64_t a, uint64_t b, uint64_t *rest) {
    uint64_t q = 0, r = 0;
    for (int k = 63; k >= 0; --k) {
        r = r << 1 | (a >> k & 1);
        q = q << 1;
        if (r >= b) {
            r -= b;
            q |= 1;
        }
    }
    *rest = r;
    return q;
}

static uint64_t magnitude(int64_t a) {
    return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

uint64_t __udivdi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    return divided(a, b, &rest);
}

uint64_t __umoddi3(uint64_t a, uint64_t b) {
    uint64_t rest;
    (void)divided(a, b, &rest);
    return rest;
}

uint64_t __udivmoddi4(uint64_t a, uint64_t b, uint64_t *rest) {
    return divided(a, b, rest);
}

int64_t __divdi3(int64_t a, int64_t b) {
    uint64_t rest;
    const uint64_t q = divided(magnitude(a), magnitude(b), &rest);
    return (int64_t)((a < 0) != (b < 0) ? 0 - q : q);
}

int64_t __moddi3(int64_t a, int64_t b) {
    uint64_t rest;
    (void)divided(magnitude(a), magnitude(b), &rest);
    return (int64_t)(a < 0 ? 0 - rest : rest);
}

int64_t __divmoddi4(int64_t a, int64_t b, int64_t *rest) {
    *rest = __moddi3(a, b);
    return __divdi3(a, b);
}

void _start(void) {
    const int status = run();
    __asm__ volatile("int $0x80" : : "a"(1), "b"(status));
    for (;;) {
    }
}
