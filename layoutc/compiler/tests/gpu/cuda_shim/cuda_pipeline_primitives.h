/* Asynchronous copies on the CPU: a copy is done when its thread waits for it, as late as a GPU may do it.
 * Included by generated code beside cuda_runtime.h, which checks that no thread returns without waiting. */
#ifndef LAYOUTC_SHIM_CUDA_PIPELINE_PRIMITIVES_H
#define LAYOUTC_SHIM_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes) {
    if (bytes != 4 && bytes != 8 && bytes != 16) {
        layoutc_shim::fail("an asynchronous copy of another size than 4, 8 or 16 bytes");
    }
    if (reinterpret_cast<uintptr_t>(to) % bytes != 0 || reinterpret_cast<uintptr_t>(from) % bytes != 0) {
        layoutc_shim::fail("an asynchronous copy between unaligned addresses");
    }
    layoutc_shim::copies[layoutc_shim::thread_number()].push_back({to, from, bytes, false});
}

inline void __pipeline_commit() {
    for (layoutc_shim::AsyncCopy &copy : layoutc_shim::copies[layoutc_shim::thread_number()]) {
        copy.committed = true;
    }
}

/* Waits for all committed copies, whatever `most` is: all that generated code asks for. */
inline void __pipeline_wait_prior(size_t most) {
    if (most != 0) {
        layoutc_shim::fail("a wait for a part of the asynchronous copies");
    }
    std::vector<layoutc_shim::AsyncCopy> left;
    std::vector<layoutc_shim::AsyncCopy> &copies = layoutc_shim::copies[layoutc_shim::thread_number()];
    for (const layoutc_shim::AsyncCopy &copy : copies) {
        if (copy.committed) {
            memcpy(copy.to, copy.from, copy.bytes);
        } else {
            left.push_back(copy);
        }
    }
    copies = left;
}

#endif
