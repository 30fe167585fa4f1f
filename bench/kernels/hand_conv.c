/* A hand-written convolution of 3 by 3 on NCHW16c, or with -DNHWC on NHWC. A register tile of several pixels of a row by 32 or 16
 * channels accumulates over contiguous input channels: 28 registers of 64 bytes, or 12 of 32. Pixels of a tile whose reads are
 * outside the image are skipped, with constant bounds. The last tile of a row ends at its end. */
#include "kernels.h"

#ifdef __AVX512F__
enum { PIXELS = 14, PAIR = 2 };
#else
enum { PIXELS = 6, PAIR = 1 };
#endif

enum { SIDE = 56, CHANNELS = 64, BLOCK = 16, BLOCKS = CHANNELS / BLOCK, TAPS = 3 };

/* Contiguous channels; strides in floats of pixels, of filters per input channel, per block of output channels and per tap, and of
 * the blocks of the result. */
#ifdef NHWC
enum { TOGETHER = CHANNELS, FILTER = CHANNELS, FILTER_BLOCK = BLOCK, RESULT_BLOCK = BLOCK };
#else
enum { TOGETHER = BLOCK, FILTER = BLOCK, FILTER_BLOCK = TAPS * TAPS * CHANNELS * BLOCK, RESULT_BLOCK = SIDE * SIDE * BLOCK };
#endif
enum { PIXEL = TOGETHER, TAP = TOGETHER * FILTER };

#define PRAGMA(text) _Pragma(#text)
#define UNROLL(rounds) PRAGMA(GCC unroll rounds)

static inline __attribute__((always_inline)) void tap(float sum[PIXELS][PAIR][BLOCK], const float *image, const float *filters, const int first, const int last) {
    for (int c = 0; c < TOGETHER; ++c) {
        UNROLL(14)
        for (int pixel = first; pixel < last; ++pixel) {
            UNROLL(2)
            for (int pair = 0; pair < PAIR; ++pair) {
                /* Left to the vectorizer: gcc would unroll the loop first. */
                UNROLL(1)
                for (int k = 0; k < BLOCK; ++k) {
                    sum[pixel][pair][k] += image[pixel * PIXEL + c] * filters[c * FILTER + pair * FILTER_BLOCK + k];
                }
            }
        }
    }
}

static inline __attribute__((always_inline)) void tile(const float *image, const float *filters, float *result, int h, int w) {
    float sum[PIXELS][PAIR][BLOCK] = {0};
    for (int outer = 0; outer < CHANNELS / TOGETHER; ++outer) {
        for (int r = h == 0 ? 1 : 0; r < (h == SIDE - 1 ? 2 : 3); ++r) {
            const float *row = image + ((outer * SIDE + h + r - 1) * SIDE + w) * PIXEL;
            const float *taps = filters + (outer * TAPS + r) * TAPS * TAP;
            if (w == 0) {
                tap(sum, row - PIXEL, taps, 1, PIXELS);
            } else {
                tap(sum, row - PIXEL, taps, 0, PIXELS);
            }
            tap(sum, row, taps + TAP, 0, PIXELS);
            if (w == SIDE - PIXELS) {
                tap(sum, row + PIXEL, taps + 2 * TAP, 0, PIXELS - 1);
            } else {
                tap(sum, row + PIXEL, taps + 2 * TAP, 0, PIXELS);
            }
        }
    }
    for (int pixel = 0; pixel < PIXELS; ++pixel) {
        for (int pair = 0; pair < PAIR; ++pair) {
            for (int k = 0; k < BLOCK; ++k) {
                result[(h * SIDE + w + pixel) * PIXEL + pair * RESULT_BLOCK + k] = sum[pixel][pair][k];
            }
        }
    }
}

void hand_conv(const float *restrict image, const float *restrict filters, float *restrict result) {
    for (int outer = 0; outer < BLOCKS; outer += PAIR) {
        for (int h = 0; h < SIDE; ++h) {
            for (int w = 0; w < SIDE; w += PIXELS) {
                const int first = w < SIDE - PIXELS ? w : SIDE - PIXELS;
                tile(image, filters + outer * FILTER_BLOCK, result + outer * RESULT_BLOCK, h, first);
            }
        }
    }
}
