#include "conversion.h"

#include <string.h>

static size_t elements(int rank, const int64_t *extents) {
    size_t product = 1;
    for (int axis = 0; axis < rank; ++axis) {
        product *= (size_t)extents[axis];
    }
    return product;
}

size_t source_bytes(const struct conversion *it) {
    return elements(it->rank, it->extents) * it->element_bytes;
}

size_t destination_bytes(const struct conversion *it) {
    return elements(it->rank, it->padded_extents) * it->element_bytes;
}

/* Offset of an element in elements of the destination. */
static size_t offset(const struct conversion *it, const int64_t *index) {
    int64_t rest[MOST_AXES];
    memcpy(rest, index, sizeof rest);
    int64_t place = 0, inside = 1;
    for (int block = it->blocks - 1; block >= 0; --block) {
        const int64_t axis = it->block_axes[block], extent = it->block_extents[block];
        place += rest[axis] % extent * inside;
        rest[axis] /= extent;
        inside *= extent;
    }
    for (int axis = 0; axis < it->rank; ++axis) {
        place += rest[axis] * it->strides[axis];
    }
    return (size_t)place;
}

void convert_by_index(const struct conversion *it, const void *source, void *destination) {
    const char *from = source;
    char *to = destination;
    int64_t index[MOST_AXES] = {0};
    const size_t count = elements(it->rank, it->extents);
    memset(to, 0, destination_bytes(it));
    for (size_t element = 0; element < count; ++element) {
        memcpy(to + offset(it, index) * it->element_bytes, from + element * it->element_bytes, it->element_bytes);
        for (int axis = it->rank - 1; axis >= 0 && ++index[axis] == it->extents[axis]; --axis) {
            index[axis] = 0;
        }
    }
}
