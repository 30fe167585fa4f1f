/* Times each kernel of elementwise.kdl and its loop by hand: driver ROUNDS. Prints one line per kernel: its name, and the medians over the
 * rounds of the kernel's seconds, of the loop's, and of their ratio. Both write the same bytes; they alternate, with the same buffers. */
#define _POSIX_C_SOURCE 200809L
#include "elementwise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 4194304, MOST_ROUNDS = 999 };

typedef void routine(const void *x, const void *z, void *y);

#define ONE(kernel, hand, from, to)                                                        \
    static void our_##kernel(const void *x, const void *z, void *y) { (void)z; kernel((const from *)x, (to *)y); } \
    routine hand_##hand;
#define TWO(kernel, from, to)                                                              \
    static void our_##kernel(const void *x, const void *z, void *y) { kernel((const from *)x, (const from *)z, (to *)y); } \
    routine hand_##kernel;
#define BOTH(size)                                       \
    ONE(relu_max_##size, relu_##size, float, float)      \
    ONE(relu_select_##size, relu_##size, float, float)   \
    ONE(clamp_##size, clamp_##size, float, float)        \
    ONE(quantize_##size, quantize_##size, float, int8_t) \
    ONE(dequantize_##size, dequantize_##size, int8_t, float) \
    ONE(to_i32_##size, to_i32_##size, float, int32_t)    \
    TWO(add_f16_##size, uint16_t, uint16_t)              \
    TWO(add_bf16_##size, uint16_t, uint16_t)
BOTH(small)
BOTH(large)

enum input { FLOATS, BYTES, HALVES, BRAINS };

#define ROWS(size, count)                                                          \
    {"relu_max_" #size, our_relu_max_##size, hand_relu_##size, FLOATS, count, 4},         \
    {"relu_select_" #size, our_relu_select_##size, hand_relu_##size, FLOATS, count, 4},   \
    {"clamp_" #size, our_clamp_##size, hand_clamp_##size, FLOATS, count, 4},              \
    {"quantize_" #size, our_quantize_##size, hand_quantize_##size, FLOATS, count, 1},     \
    {"dequantize_" #size, our_dequantize_##size, hand_dequantize_##size, BYTES, count, 4}, \
    {"to_i32_" #size, our_to_i32_##size, hand_to_i32_##size, FLOATS, count, 4},           \
    {"add_f16_" #size, our_add_f16_##size, hand_add_f16_##size, HALVES, count, 2},        \
    {"add_bf16_" #size, our_add_bf16_##size, hand_add_bf16_##size, BRAINS, count, 2}

static const struct row {
    const char *name;
    routine *ours, *by_hand;
    enum input input;
    long count;
    size_t bytes;
} rows[] = {ROWS(small, 4096), ROWS(large, LARGE)};

static void *buffer(void) {
    void *memory;
    if (posix_memalign(&memory, 64, LARGE * 4) != 0) {
        exit(1);
    }
    return memory;
}

/* Fills with floats between -8 and 8; f16 and bf16 of either sign from 2^-4 to 16, with random fractions; or any bytes. */
static void fill(void *to, enum input input, unsigned state) {
    for (long at = 0; at < LARGE; ++at) {
        state = state * 1664525u + 1013904223u;
        const unsigned random = state >> 8;
        switch (input) {
        case FLOATS: ((float *)to)[at] = (float)random / 1048576.0f - 8.0f; break;
        case BYTES: ((int8_t *)to)[at] = (int8_t)random; break;
        case HALVES: ((uint16_t *)to)[at] = (uint16_t)((random & 0x8000) | (11 + random % 8) << 10 | (random >> 4 & 0x3ff)); break;
        case BRAINS: ((uint16_t *)to)[at] = (uint16_t)((random & 0x8000) | (123 + random % 8) << 7 | (random >> 4 & 0x7f)); break;
        }
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, long count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

int main(int argc, char **argv) {
    const long rounds = argc == 2 ? atol(argv[1]) : 0;
    if (rounds < 1 || rounds > MOST_ROUNDS) {
        return fprintf(stderr, "usage: driver ROUNDS\n"), 2;
    }
    void *x = buffer(), *z = buffer(), *y = buffer(), *expected = buffer();
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        const struct row *at = &rows[row];
        fill(x, at->input, 1);
        fill(z, at->input, 2);
        memset(y, 0x55, LARGE * 4);
        memset(expected, 0xaa, LARGE * 4);
        at->ours(x, z, y);
        at->by_hand(x, z, expected);
        if (memcmp(y, expected, (size_t)at->count * at->bytes) != 0) {
            return fprintf(stderr, "%s does not compute what the loop by hand does\n", at->name), 1;
        }
        const long repeats = 4 * LARGE / at->count;
        static double took[3][MOST_ROUNDS];
        for (long round = 0; round < rounds; ++round) {
            for (int turn = 0; turn < 2; ++turn) {
                const int which = (turn + (int)round) % 2;
                routine *run = which == 0 ? at->ours : at->by_hand;
                const double start = seconds();
                for (long repeat = 0; repeat < repeats; ++repeat) {
                    run(x, z, y);
                }
                took[which][round] = (seconds() - start) / (double)repeats;
            }
            took[2][round] = took[0][round] / took[1][round];
        }
        printf("%s %.6e %.6e %.4f\n", at->name, median(took[0], rounds), median(took[1], rounds), median(took[2], rounds));
        fflush(stdout);
    }
    return 0;
}
