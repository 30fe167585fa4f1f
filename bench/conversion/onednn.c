#include "conversion.h"

#ifdef WITH_ONEDNN
#include <oneapi/dnnl/dnnl.h>

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

const char onednn_name[] = "oneDNN/" TEXT(DNNL_VERSION_MAJOR) "." TEXT(DNNL_VERSION_MINOR) "." TEXT(DNNL_VERSION_PATCH);

static dnnl_primitive_t primitive;
static dnnl_stream_t stream;
static dnnl_exec_arg_t arguments[2];

static dnnl_data_type_t data_type(enum element element) {
    switch (element) {
    case I8: return dnnl_s8;
    case BF16: return dnnl_bf16;
    case F32: return dnnl_f32;
    }
    return dnnl_data_type_undef;
}

/* Creates a descriptor with arbitrary blocks and padding, beyond the format tags. */
static dnnl_memory_desc_t blocked(const struct conversion *it) {
    dnnl_memory_desc_t layout = {
        .ndims = it->rank,
        .data_type = data_type(it->element),
        .format_kind = dnnl_blocked,
        .format_desc.blocking.inner_nblks = it->blocks,
    };
    for (int axis = 0; axis < it->rank; ++axis) {
        layout.dims[axis] = it->extents[axis];
        layout.padded_dims[axis] = it->padded_extents[axis];
        layout.format_desc.blocking.strides[axis] = it->strides[axis];
    }
    for (int block = 0; block < it->blocks; ++block) {
        layout.format_desc.blocking.inner_blks[block] = it->block_extents[block];
        layout.format_desc.blocking.inner_idxs[block] = it->block_axes[block];
    }
    return layout;
}

bool onednn_prepare(const struct conversion *it, void *source, void *destination) {
    dnnl_engine_t engine;
    dnnl_memory_desc_t dense, layout = blocked(it);
    dnnl_memory_t memories[2];
    dnnl_primitive_desc_t description;
    const bool ready = dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
                       dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success &&
                       dnnl_memory_desc_init_by_strides(&dense, it->rank, it->extents, data_type(it->element), NULL) == dnnl_success &&
                       dnnl_memory_create(&memories[0], &dense, engine, source) == dnnl_success &&
                       dnnl_memory_create(&memories[1], &layout, engine, destination) == dnnl_success &&
                       dnnl_reorder_primitive_desc_create(&description, &dense, engine, &layout, engine, NULL) == dnnl_success &&
                       dnnl_primitive_create(&primitive, description) == dnnl_success;
    if (ready) {
        arguments[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, memories[0]};
        arguments[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, memories[1]};
    }
    return ready;
}

void onednn_run(void) {
    dnnl_primitive_execute(primitive, stream, 2, arguments);
    dnnl_stream_wait(stream);
}

#else

const char onednn_name[] = "oneDNN";

bool onednn_prepare(const struct conversion *it, void *source, void *destination) {
    (void)it, (void)source, (void)destination;
    return false;
}

void onednn_run(void) {}

#endif
