/* One conversion: a dense row-major source to a blocked destination. */
#ifndef CONVERSION_H
#define CONVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_AXES = 12 };

enum element { I8, BF16, F32 };

/* Strides count elements of the destination, from one block of an axis to the next; blocks stand inside all of them,
 * outermost first, each of the axis that `block_axes` names. */
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

/* Of each case, written by run.py. */
extern const struct conversion conversion;
void layoutc(const void *source, void *destination);

/* Bytes of the source, and of the destination with its padding. */
size_t source_bytes(const struct conversion *it);
size_t destination_bytes(const struct conversion *it);

/* What the conversion means: one loop over the elements, each put at its place; zero in the padding. */
void convert_by_index(const struct conversion *it, const void *source, void *destination);

/* Copies with stores that pass the caches by. False where the processor has none that we know. */
bool has_streaming_copy(void);
void streaming_copy(const void *source, void *destination, size_t bytes);

/* Copies by a loop of ordinary loads and stores, of 32 bytes where the processor has such vectors: of 64 it takes longer
 * within the second-level cache. False where the processor has none that we know. */
bool has_vector_copy(void);
void vector_copy(const void *source, void *destination, size_t bytes);

/* oneDNN's reorder between two buffers. False without oneDNN 2, or where it refuses the pair of layouts. */
extern const char onednn_name[];
bool onednn_prepare(const struct conversion *it, void *source, void *destination);
void onednn_run(void);

#endif
