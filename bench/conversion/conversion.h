/* One conversion: a dense row-major source to a blocked destination. */
#ifndef CONVERSION_H
#define CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_AXES = 12 };

enum element { I8, BF16, F32 };

/* `strides`: between consecutive blocks of each axis, in elements of the destination. The blocks are innermost in the
 * destination, outermost block first; `block_axes` names the axis of each. */
struct conversion {
    enum element element;
    size_t element_bytes;
    int rank;
    int64_t extents[MOST_AXES];
    int64_t padded_extents[MOST_AXES];
    int64_t strides[MOST_AXES];
    int blocks;
    int64_t block_extents[MOST_AXES];
    int64_t block_axes[MOST_AXES];
};

/* Defined for each case by run.py. */
extern const struct conversion conversion;
void layoutc(const void *source, void *destination);

/* Bytes of the source, and of the destination with its padding. */
size_t source_bytes(const struct conversion *it);
size_t destination_bytes(const struct conversion *it);

/* Reference implementation: one loop over the elements; padding is zero. */
void convert_by_index(const struct conversion *it, const void *source, void *destination);

/* Copy with streaming stores. `has_streaming_copy` is false if the processor has no known ones. */
bool has_streaming_copy(void);
void streaming_copy(const void *source, void *destination, size_t bytes);

/* Copy by a loop of ordinary loads and stores, with vectors of 32 bytes if the processor has them: with 64 it takes longer
 * within the L2. `has_vector_copy` is false if the processor has no known vectors. */
bool has_vector_copy(void);
void vector_copy(const void *source, void *destination, size_t bytes);

/* oneDNN's reorder between two buffers. Returns false without oneDNN 2, or if it refuses the pair of layouts. */
extern const char onednn_name[];
bool onednn_prepare(const struct conversion *it, void *source, void *destination);
void onednn_run(void);

#endif
