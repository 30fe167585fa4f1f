/* A hand-written matrix product of 512 by 512 for panels of 8 rows on the left and of 32 columns on the right, both contiguous
 * along k, and tiles of 8 by 32. The accumulators of a whole tile stay in registers along k with 32 registers of 64 bytes;
 * otherwise those of a part of it. */
#include "kernels.h"

#ifdef __AVX512F__
enum { ROWS = 8, COLUMNS = 32 };
#else
enum { ROWS = 8, COLUMNS = 8 };
#endif

enum { SIDE = 512, BAND_ROWS = 8, BAND_COLUMNS = 32 };

static inline __attribute__((always_inline)) void part(const float *restrict left, const float *restrict right, float *restrict product) {
    float sum[ROWS][COLUMNS] = {{0}};
    for (int k = 0; k < SIDE; ++k, left += BAND_ROWS, right += BAND_COLUMNS) {
#pragma GCC unroll 8
        for (int row = 0; row < ROWS; ++row) {
#ifndef __AVX512F__
            /* Left to the vectorizer: gcc would unroll so short a loop first. */
#pragma GCC unroll 1
#endif
            for (int column = 0; column < COLUMNS; ++column) {
                sum[row][column] += left[row] * right[column];
            }
        }
    }
    for (int row = 0; row < ROWS; ++row) {
        for (int column = 0; column < COLUMNS; ++column) {
            product[row * BAND_COLUMNS + column] = sum[row][column];
        }
    }
}

void hand_matmul(const float *restrict left, const float *restrict right, float *restrict product) {
    for (int i = 0; i < SIDE; i += BAND_ROWS) {
        for (int j = 0; j < SIDE; j += BAND_COLUMNS) {
            for (int row = 0; row < BAND_ROWS; row += ROWS) {
                for (int column = 0; column < BAND_COLUMNS; column += COLUMNS) {
                    part(left + i * SIDE + row, right + j * SIDE + column, product + i * SIDE + j * BAND_ROWS + row * BAND_COLUMNS + column);
                }
            }
        }
    }
}
