/* Contenders that compute the same product of tensors, each in its own layouts. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/* Converts a tensor between row-major order and a layout. */
typedef void move(const float *from, float *to);

/* `pack` converts the two operands from row-major order to the layouts of a contender, `unpack` the result back. */
struct contender {
    const char *name;
    void (*run)(const float *first, const float *second, float *result);
    move *pack_first, *pack_second, *unpack;
};

/* Defined for each program by run.py: elements of the three tensors, which no layout here pads, and the contenders. */
extern const size_t elements[3];
extern const struct contender contenders[];
extern const int contender_count;

/* Reference implementation: plain loops over row-major tensors, accumulated in double. */
void reference(const float *first, const float *second, float *result);

/* Hand-written nests: a convolution on NCHW16c and on NHWC, and a matrix product in panels and tiles, as in the manifests. */
void hand_conv(const float *image, const float *filters, float *result);
void hand_nhwc(const float *image, const float *filters, float *result);
void hand_matmul(const float *left, const float *right, float *product);

/* Runs `rounds` rounds of independent multiply-adds in vectors of 64 or 32 bytes; returns the number of operations, two for
 * each multiply-add, or 0 if the processor lacks the vectors. */
double peak(bool longest, long rounds);

/* oneDNN's convolution on the layout in its name, with filters in oneDNN's preferred layout, packed from row-major order.
 * `onednn_prepare` returns false without oneDNN 2. */
bool onednn_prepare(void);
void onednn_nchw_filters(const float *from, float *to);
void onednn_nhwc_filters(const float *from, float *to);
void onednn_nchw16c_filters(const float *from, float *to);
void onednn_nchw(const float *image, const float *filters, float *result);
void onednn_nhwc(const float *image, const float *filters, float *result);
void onednn_nchw16c(const float *image, const float *filters, float *result);
/* oneDNN's product of row-major matrices, and of a row-major by a column-major one. */
void onednn_rows(const float *left, const float *right, float *product);
void onednn_columns(const float *left, const float *right, float *product);

#endif
