/* Contenders that compute the same product of tensors, each on layouts of its own. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdbool.h>
#include <stddef.h>

/* Moves a tensor between row-major order and a layout. */
typedef void move(const float *from, float *to);

/* `pack` brings the two that are read from row-major order into the layouts of a contender, `unpack` the result back. */
struct contender {
    const char *name;
    void (*run)(const float *first, const float *second, float *result);
    move *pack_first, *pack_second, *unpack;
};

/* Of each program, written by run.py: elements of the three tensors, which no layout here pads, and what to time. */
extern const size_t elements[3];
extern const struct contender contenders[];
extern const int contender_count;

/* The same in plain loops over row-major tensors, summed up in double. */
void reference(const float *first, const float *second, float *result);

/* Nests written by hand: a convolution on NCHW16c and on NHWC, and a product of matrices in bands and tiles, as in the manifests. */
void hand_conv(const float *image, const float *filters, float *result);
void hand_nhwc(const float *image, const float *filters, float *result);
void hand_matmul(const float *left, const float *right, float *product);

/* Independent multiply-adds in vectors of 64 or 32 bytes, as often as `rounds` says; gives how many operations that is,
 * two for each, or 0 where the processor lacks them. */
double peak(bool longest, long rounds);

/* oneDNN's convolution on the layouts that its name says, with filters in the layout that it chooses: they are packed from
 * row-major order. False without oneDNN 2. */
bool onednn_prepare(void);
void onednn_nchw_filters(const float *from, float *to);
void onednn_nhwc_filters(const float *from, float *to);
void onednn_nchw16c_filters(const float *from, float *to);
void onednn_nchw(const float *image, const float *filters, float *result);
void onednn_nhwc(const float *image, const float *filters, float *result);
void onednn_nchw16c(const float *image, const float *filters, float *result);
/* Its product of row-major matrices, and of one by a column-major one. */
void onednn_rows(const float *left, const float *right, float *product);
void onednn_columns(const float *left, const float *right, float *product);

#endif
