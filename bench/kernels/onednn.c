#include "kernels.h"

#ifdef WITH_ONEDNN
#include <oneapi/dnnl/dnnl.h>

#include <stdio.h>
#include <stdlib.h>

enum layout { NCHW, NHWC, NCHW16C, LAYOUTS };

/* A convolution, and the reorder of its filters. */
static struct convolution {
    dnnl_primitive_t run, pack;
    dnnl_memory_t image, filters, result, plain;
} convolutions[LAYOUTS];
static dnnl_engine_t engine;
static dnnl_stream_t stream;

static void ask(dnnl_status_t status) {
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN refuses: %d\n", status);
        exit(1);
    }
}

static void prepare(struct convolution *it, dnnl_format_tag_t tag) {
    const dnnl_dims_t image = {1, 64, 56, 56}, filters = {64, 64, 3, 3}, ones = {1, 1}, none = {0, 0};
    dnnl_memory_desc_t data, any, plain;
    ask(dnnl_memory_desc_init_by_tag(&data, 4, image, dnnl_f32, tag));
    ask(dnnl_memory_desc_init_by_tag(&any, 4, filters, dnnl_f32, dnnl_format_tag_any));
    ask(dnnl_memory_desc_init_by_tag(&plain, 4, filters, dnnl_f32, dnnl_oihw));
    dnnl_convolution_desc_t wanted;
    ask(dnnl_dilated_convolution_forward_desc_init(&wanted, dnnl_forward_inference, dnnl_convolution_direct, &data, &any, NULL, &data, ones, none, ones, ones));
    dnnl_primitive_desc_t found, reorder;
    ask(dnnl_primitive_desc_create(&found, &wanted, NULL, engine, NULL));
    const dnnl_memory_desc_t *chosen = dnnl_primitive_desc_query_md(found, dnnl_query_weights_md, 0);
    ask(dnnl_primitive_create(&it->run, found));
    ask(dnnl_reorder_primitive_desc_create(&reorder, &plain, engine, chosen, engine, NULL));
    ask(dnnl_primitive_create(&it->pack, reorder));
    ask(dnnl_memory_create(&it->image, &data, engine, DNNL_MEMORY_NONE));
    ask(dnnl_memory_create(&it->result, &data, engine, DNNL_MEMORY_NONE));
    ask(dnnl_memory_create(&it->filters, chosen, engine, DNNL_MEMORY_NONE));
    ask(dnnl_memory_create(&it->plain, &plain, engine, DNNL_MEMORY_NONE));
    if (dnnl_memory_desc_get_size(chosen) != dnnl_memory_desc_get_size(&plain)) {
        fprintf(stderr, "oneDNN pads the filters\n");
        exit(1);
    }
}

bool onednn_prepare(void) {
    ask(dnnl_engine_create(&engine, dnnl_cpu, 0));
    ask(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    prepare(&convolutions[NCHW], dnnl_nchw);
    prepare(&convolutions[NHWC], dnnl_nhwc);
    prepare(&convolutions[NCHW16C], dnnl_nChw16c);
    return true;
}

static void pack(const struct convolution *it, const float *from, float *to) {
    ask(dnnl_memory_set_data_handle(it->plain, (void *)from));
    ask(dnnl_memory_set_data_handle(it->filters, to));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, it->plain}, {DNNL_ARG_TO, it->filters}};
    ask(dnnl_primitive_execute(it->pack, stream, 2, arguments));
    ask(dnnl_stream_wait(stream));
}

static void run(const struct convolution *it, const float *image, const float *filters, float *result) {
    ask(dnnl_memory_set_data_handle(it->image, (void *)image));
    ask(dnnl_memory_set_data_handle(it->filters, (void *)filters));
    ask(dnnl_memory_set_data_handle(it->result, result));
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, it->image}, {DNNL_ARG_WEIGHTS, it->filters}, {DNNL_ARG_DST, it->result}};
    ask(dnnl_primitive_execute(it->run, stream, 3, arguments));
    ask(dnnl_stream_wait(stream));
}

void onednn_nchw_filters(const float *from, float *to) { pack(&convolutions[NCHW], from, to); }
void onednn_nhwc_filters(const float *from, float *to) { pack(&convolutions[NHWC], from, to); }
void onednn_nchw16c_filters(const float *from, float *to) { pack(&convolutions[NCHW16C], from, to); }
void onednn_nchw(const float *a, const float *w, float *b) { run(&convolutions[NCHW], a, w, b); }
void onednn_nhwc(const float *a, const float *w, float *b) { run(&convolutions[NHWC], a, w, b); }
void onednn_nchw16c(const float *a, const float *w, float *b) { run(&convolutions[NCHW16C], a, w, b); }
void onednn_rows(const float *a, const float *b, float *c) { ask(dnnl_sgemm('N', 'N', 512, 512, 512, 1, a, 512, b, 512, 0, c, 512)); }
void onednn_columns(const float *a, const float *b, float *c) { ask(dnnl_sgemm('N', 'T', 512, 512, 512, 1, a, 512, b, 512, 0, c, 512)); }

#else

bool onednn_prepare(void) { return false; }

#endif
