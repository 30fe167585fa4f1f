#include "kernels.h"

#ifdef CONV
enum { SIDE = 56, CHANNELS = 64, TAPS = 3 };

void reference(const float *image, const float *filters, float *result) {
    for (int k = 0; k < CHANNELS; ++k) {
        for (int h = 0; h < SIDE; ++h) {
            for (int w = 0; w < SIDE; ++w) {
                double sum = 0;
                for (int c = 0; c < CHANNELS; ++c) {
                    for (int r = 0; r < TAPS; ++r) {
                        for (int s = 0; s < TAPS; ++s) {
                            const int y = h + r - 1, x = w + s - 1;
                            if (y >= 0 && y < SIDE && x >= 0 && x < SIDE) {
                                sum += (double)image[(c * SIDE + y) * SIDE + x] * filters[((k * CHANNELS + c) * TAPS + r) * TAPS + s];
                            }
                        }
                    }
                }
                result[(k * SIDE + h) * SIDE + w] = (float)sum;
            }
        }
    }
}
#else
enum { SIDE = 512 };

void reference(const float *left, const float *right, float *product) {
    for (int i = 0; i < SIDE; ++i) {
        for (int j = 0; j < SIDE; ++j) {
            double sum = 0;
            for (int k = 0; k < SIDE; ++k) {
                sum += (double)left[i * SIDE + k] * right[k * SIDE + j];
            }
            product[i * SIDE + j] = (float)sum;
        }
    }
}
#endif
