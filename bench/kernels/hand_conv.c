/* A convolution of 3 by 3 on NCHW16c, written by hand: the sums of some pixels of a row by 32 channels, or 16, stay in registers
 * while 16 channels are read; 28 registers of 64 bytes, or 8 of 32. Pixels of a tile that look past the border are left out,
 * and how many is known to the compiler. */
#include "kernels.h"

#ifdef __AVX512F__
enum { PIXELS = 14, PAIR = 2 };
#else
enum { PIXELS = 4, PAIR = 1 };
#endif

enum { SIDE = 56, BLOCK = 16, BLOCKS = 4, TAPS = 3, FILTERS = BLOCKS * TAPS * TAPS * BLOCK * BLOCK };

#define PRAGMA(text) _Pragma(#text)
#define UNROLL(rounds) PRAGMA(GCC unroll rounds)

static inline __attribute__((always_inline)) void tap(float sum[PIXELS][PAIR][BLOCK], const float *image, const float *filters, const int first, const int last) {
    for (int c = 0; c < BLOCK; ++c) {
        UNROLL(14)
        for (int pixel = first; pixel < last; ++pixel) {
            UNROLL(2)
            for (int pair = 0; pair < PAIR; ++pair) {
                /* Left to the vectoriser: gcc would write these rounds out before it comes. */
                UNROLL(1)
                for (int k = 0; k < BLOCK; ++k) {
                    sum[pixel][pair][k] += image[pixel * BLOCK + c] * filters[pair * FILTERS + c * BLOCK + k];
                }
            }
        }
    }
}

static inline __attribute__((always_inline)) void tile(const float *image, const float *filters, float *result, int h, int w) {
    float sum[PIXELS][PAIR][BLOCK] = {0};
    for (int outer = 0; outer < BLOCKS; ++outer) {
        for (int r = h == 0 ? 1 : 0; r < (h == SIDE - 1 ? 2 : 3); ++r) {
            const float *row = image + ((outer * SIDE + h + r - 1) * SIDE + w) * BLOCK;
            const float *taps = filters + (outer * TAPS + r) * TAPS * BLOCK * BLOCK;
            if (w == 0) {
                tap(sum, row - BLOCK, taps, 1, PIXELS);
            } else {
                tap(sum, row - BLOCK, taps, 0, PIXELS);
            }
            tap(sum, row, taps + BLOCK * BLOCK, 0, PIXELS);
            if (w == SIDE - PIXELS) {
                tap(sum, row + BLOCK, taps + 2 * BLOCK * BLOCK, 0, PIXELS - 1);
            } else {
                tap(sum, row + BLOCK, taps + 2 * BLOCK * BLOCK, 0, PIXELS);
            }
        }
    }
    for (int pixel = 0; pixel < PIXELS; ++pixel) {
        for (int pair = 0; pair < PAIR; ++pair) {
            for (int k = 0; k < BLOCK; ++k) {
                result[((pair * SIDE + h) * SIDE + w + pixel) * BLOCK + k] = sum[pixel][pair][k];
            }
        }
    }
}

void hand_conv(const float *restrict image, const float *restrict filters, float *restrict result) {
    for (int outer = 0; outer < BLOCKS; outer += PAIR) {
        for (int h = 0; h < SIDE; ++h) {
            for (int w = 0; w < SIDE; w += PIXELS) {
                tile(image, filters + outer * FILTERS, result + outer * SIDE * SIDE * BLOCK, h, w);
            }
        }
    }
}
