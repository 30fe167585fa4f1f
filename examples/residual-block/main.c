/* Runs the schedule of the block with unoptimized operators, and compares its result with the same block on dense
   arrays. With a file as argument, also writes the result there.

   layoutc build && cc -O2 -Igenerated/c main.c generated/c/block.c -o block && ./block */
#include "block.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 14, CHANNELS = 64 };

/* The context of the operators: counts their calls. */
typedef struct calls {
    int count;
} calls;

/* Independent of the layout. */
static void relu(const float *from, float *to, int count) {
    for (int k = 0; k < count; ++k) to[k] = from[k] > 0 ? from[k] : 0;
}

static void conv1(void *context, const float *x, const float *w, float *t) {
    ++((calls *)context)->count;
    for (int h = 0; h < SIZE; ++h)
        for (int c = 0; c < SIZE; ++c)
            for (int o = 0; o < CHANNELS; ++o) {
                float sum = 0;
                for (int i = 0; i < CHANNELS; ++i)
                    sum += x[block_x_nchw16c_offset(0, h, c, i)] * w[block_w1_oihw16i16o_offset(o, 0, 0, i)];
                t[block_t1_offset(0, h, c, o)] = sum;
            }
}

static void relu1(void *context, const float *t, float *result) {
    ++((calls *)context)->count;
    relu(t, result, BLOCK_T1_PHYSICAL_ELEMENTS);
}

static void conv2(void *context, const float *t, const float *w, float *result) {
    ++((calls *)context)->count;
    for (int h = 0; h < SIZE; ++h)
        for (int c = 0; c < SIZE; ++c)
            for (int o = 0; o < CHANNELS; ++o) {
                float sum = 0;
                for (int r = 0; r < 3; ++r)
                    for (int s = 0; s < 3; ++s) {
                        const int y = h + r - 1, x = c + s - 1;
                        if (y < 0 || y >= SIZE || x < 0 || x >= SIZE) continue;
                        for (int i = 0; i < CHANNELS; ++i)
                            sum += t[block_t2_offset(0, y, x, i)] * w[block_w2_oihw16i16o_offset(o, r, s, i)];
                    }
                result[block_t3_offset(0, h, c, o)] = sum;
            }
}

static void add1(void *context, const float *t, const float *x, float *result) {
    ++((calls *)context)->count;
    for (int k = 0; k < BLOCK_X_PHYSICAL_ELEMENTS; ++k) result[k] = t[k] + x[k];
}

static void relu2(void *context, const float *t, float *y) {
    ++((calls *)context)->count;
    relu(t, y, BLOCK_Y_PHYSICAL_ELEMENTS);
}

/* The block on dense NHWC and OHWI arrays. */
static void plain(const float *x, const float *w1, const float *w2, float *t, float *y) {
    for (int at = 0; at < SIZE * SIZE; ++at)
        for (int o = 0; o < CHANNELS; ++o) {
            float sum = 0;
            for (int i = 0; i < CHANNELS; ++i) sum += x[at * CHANNELS + i] * w1[o * CHANNELS + i];
            t[at * CHANNELS + o] = sum > 0 ? sum : 0;
        }
    for (int h = 0; h < SIZE; ++h)
        for (int c = 0; c < SIZE; ++c)
            for (int o = 0; o < CHANNELS; ++o) {
                float sum = 0;
                for (int r = 0; r < 3; ++r)
                    for (int s = 0; s < 3; ++s) {
                        const int row = h + r - 1, column = c + s - 1;
                        if (row < 0 || row >= SIZE || column < 0 || column >= SIZE) continue;
                        for (int i = 0; i < CHANNELS; ++i)
                            sum += t[(row * SIZE + column) * CHANNELS + i] * w2[((o * 3 + r) * 3 + s) * CHANNELS + i];
                    }
                const int at = (h * SIZE + c) * CHANNELS + o;
                y[at] = sum + x[at] > 0 ? sum + x[at] : 0;
            }
}

static float *buffer(int bytes) {
    float *data = calloc((size_t)bytes, 1);
    if (!data) exit(3);
    return data;
}

/* Small integers: every sum is exact. */
static float *filled(int bytes, int factor, int modulus) {
    float *data = buffer(bytes);
    for (int k = 0; k < bytes / (int)sizeof(float); ++k) data[k] = (float)(k * factor % modulus - modulus / 2);
    return data;
}

int main(int count, char **arguments) {
    const block_buffers buffers = {
        .x = filled(BLOCK_X_BUFFER_BYTES, 7, 11),
        .x_nchw16c = buffer(BLOCK_X_NCHW16C_BUFFER_BYTES),
        .w1 = filled(BLOCK_W1_BUFFER_BYTES, 5, 7),
        .w1_oihw16i16o = buffer(BLOCK_W1_OIHW16I16O_BUFFER_BYTES),
        .w2 = filled(BLOCK_W2_BUFFER_BYTES, 3, 5),
        .w2_oihw16i16o = buffer(BLOCK_W2_OIHW16I16O_BUFFER_BYTES),
        .t1 = buffer(BLOCK_T1_BUFFER_BYTES),
        .t2 = buffer(BLOCK_T2_BUFFER_BYTES),
        .t3 = buffer(BLOCK_T3_BUFFER_BYTES),
        .t3_nhwc = buffer(BLOCK_T3_NHWC_BUFFER_BYTES),
        .t4 = buffer(BLOCK_T4_BUFFER_BYTES),
        .y = buffer(BLOCK_Y_BUFFER_BYTES),
    };
    const block_operators operators = {conv1, relu1, conv2, add1, relu2};
    calls done = {0};
    block_load(&buffers);
    block_run(&buffers, &operators, &done);

    float *t = buffer(BLOCK_T2_BUFFER_BYTES), *expected = buffer(BLOCK_Y_BUFFER_BYTES);
    plain(buffers.x, buffers.w1, buffers.w2, t, expected);
    for (int k = 0; k < BLOCK_Y_LOGICAL_ELEMENTS; ++k)
        if (buffers.y[k] != expected[k]) {
            printf("y[%d] is %g and should be %g\n", k, (double)buffers.y[k], (double)expected[k]);
            return 1;
        }
    if (count > 1) {
        FILE *file = fopen(arguments[1], "wb");
        if (!file || fwrite(buffers.y, BLOCK_Y_BUFFER_BYTES, 1, file) != 1 || fclose(file)) return 3;
    }
    printf("%d operators ran, %d elements agree\n", done.count, BLOCK_Y_LOGICAL_ELEMENTS);
    return 0;
}
