// Test of the primitives of the runtime alone, against plain loops: sizes around every vector length, strides and pointers of
// any alignment, and no write outside the block.
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { room = 1 << 19, edge = 64 };

static uint32_t state = 7;

// Pseudo-random number below `bound`.
static int64_t below(int64_t bound) {
    state = state * 1664525u + 1013904223u;
    return (int64_t)(state >> 8) % bound;
}

static unsigned char source[room];
static unsigned char found[room];
static unsigned char wanted[room];

static void scatter(void) {
    for (int k = 0; k < room; ++k) {
        source[k] = (unsigned char)below(256);
    }
}

// Exact copy of the first `bytes` bytes of the source, so that sanitizers detect reads beyond them.
static unsigned char *exactly(int64_t bytes) {
    unsigned char *const copy = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (copy == NULL) {
        exit(2);
    }
    memcpy(copy, source, (size_t)bytes);
    return copy;
}

static void clear(void) {
    memset(found, 0x5A, room);
    memset(wanted, 0x5A, room);
}

static int failed(const char *what, int64_t bytes, int64_t rows, int64_t columns, int64_t to_stride, int64_t from_stride) {
    if (memcmp(found, wanted, room) == 0) {
        return 0;
    }
    printf("%s: %d bytes, %d x %d, strides %d and %d\n", what, (int)bytes, (int)rows, (int)columns, (int)to_stride, (int)from_stride);
    return 1;
}

typedef void (*transpose)(void *, int64_t, const void *, int64_t, int64_t, int64_t, int64_t);

static int transposes(transpose run, int64_t bytes) {
    // Small sizes, sizes around vector lengths, and whole vectors to combine with small sizes.
    static const int64_t few[] = { -3, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48 };
    static const int64_t many[] = { 1, 2, 3, 4, 8, 12, 16, 19, 63, 64, 65, 70, 100, 128, 131 };
    int64_t rows = below(2) ? few[below(17)] : many[below(15)];
    int64_t columns = below(2) ? few[below(17)] : many[below(15)];
    int64_t from_stride = ((columns > 0 ? columns : 0) + (below(2) ? 0 : below(9))) * bytes;
    int64_t to_stride = ((rows > 0 ? rows : 0) + (below(2) ? 0 : below(9))) * bytes;
    int64_t from_at = below(edge);
    int64_t to_at = below(edge);
    int64_t whole_bytes = below(2) ? rows * columns * bytes : INT32_MAX;
    // Columns with set conflicts in the cache, in a small block.
    const bool crowded = below(6) == 0;
    if (crowded) {
        rows = 40 + below(100);
        columns = 64 / bytes + below(60);
        from_stride = (columns + below(5)) * bytes;
        to_stride = (rows * bytes + 2047) / 2048 * 2048 * (1 + below(2));
        whole_bytes = below(2) ? 0 : whole_bytes;
    }
    // Column strides that are multiples of a cache line, possibly many columns; or rows with set conflicts.
    if (!crowded && below(3) == 0) {
        if (below(2) == 0) {
            rows = 64 / bytes * (1 + below(5)) + below(20);
            columns = (below(2) ? 1000 + below(1500) : 200 + below(400)) / bytes;
            from_stride = columns * bytes + below(9);
        }
        // Deinterleaving: each field starts at a cache line.
        const bool fields = below(4) == 0;
        if (fields) {
            rows = 32 * below(70);
            columns = 2 + below(3);
            from_stride = columns * bytes;
        }
        to_stride = ((rows > 0 ? rows : 0) * bytes + 63) / 64 * 64 + 64 * below(2);
        to_at = below(edge) / bytes * bytes;
        if (fields) {
            to_at += (int64_t)(-(uintptr_t)(found + to_at) & 63) + (below(2) ? below(16) * bytes : 0);
        } else if (below(2)) {
            const int64_t apart = below(2) ? 512 * bytes : 2048;
            from_stride = (from_stride + apart) / apart * apart;
        }
    }
    if (rows * from_stride + edge > room || columns * to_stride + 8 * edge > room) {
        return 0;
    }
    // Reversed rows.
    if (below(8) == 0 && rows > 0) {
        from_at += (rows - 1) * from_stride;
        from_stride = -from_stride;
    }
    clear();
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column) {
            memcpy(wanted + to_at + column * to_stride + row * bytes, source + from_at + row * from_stride + column * bytes, (size_t)bytes);
        }
    }
    int64_t end = from_at;
    if (rows > 0 && columns > 0) {
        end += columns * bytes + (from_stride > 0 ? (rows - 1) * from_stride : 0);
    }
    unsigned char *const from = exactly(end);
    run(found + to_at, to_stride, from + from_at, from_stride, rows, columns, whole_bytes);
    free(from);
    return failed("transpose", bytes, rows, columns, to_stride, from_stride);
}

static int runs(void) {
    const bool one = below(8) == 0;
    const int64_t count = one ? 1 : below(10) - 1;
    const int64_t bytes = one ? below(100000) : below(4) == 0 ? below(5000) : below(300) - 5;
    const int64_t from_stride = (bytes > 0 ? bytes : 0) + below(70);
    const int64_t to_stride = (bytes > 0 ? bytes : 0) + below(70);
    const bool none = count <= 0 || bytes <= 0;
    const int64_t from_at = below(edge);
    const int64_t to_at = below(edge);
    const int64_t whole_bytes = below(2) ? count * bytes : INT32_MAX;
    clear();
    for (int64_t k = 0; k < count && !none; ++k) {
        memcpy(wanted + to_at + k * to_stride, source + from_at + k * from_stride, (size_t)bytes);
    }
    unsigned char *const from = exactly(none ? from_at : from_at + (count - 1) * from_stride + bytes);
    layoutc_copy_runs(found + to_at, to_stride, from + from_at, from_stride, count, bytes, whole_bytes);
    free(from);
    return failed("runs", bytes, count, 0, to_stride, from_stride);
}

static int zeros(void) {
    const int64_t count = below(10) - 1;
    const int64_t bytes = below(4) == 0 ? 3900 + below(400) : below(300);
    const int64_t stride = bytes + below(70);
    const int64_t at = below(edge);
    clear();
    for (int64_t k = 0; k < count; ++k) {
        memset(wanted + at + k * stride, 0, (size_t)bytes);
    }
    layoutc_zero_runs(found + at, stride, count, bytes);
    return failed("zeros", bytes, count, 0, stride, 0);
}

typedef void (*several)(void *, int64_t, int64_t, const void *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

// Several blocks: adjacent or not in source and destination, with the block index innermost or outermost.
static int blocks(several run, int64_t bytes) {
    static const int64_t sizes[] = { 1, 2, 2, 3, 4, 4, 7, 8, 9, 15, 16, 16, 17, 31, 32, 33, 64, 70, 128 };
    // Few blocks of any size, or many small ones.
    const bool many = below(4) == 0;
    int64_t rows = sizes[below(many ? 9 : 19)];
    int64_t columns = sizes[below(many ? 14 : 19)];
    int64_t count = many ? 32 * (1 + below(6)) + below(4) : below(20) - 1;
    // About as many blocks as a buffer of 128 KiB holds.
    const bool full = below(6) == 0;
    if (full) {
        rows = 1 + below(20);
        columns = 8 + below(60);
        count = (((1 << 17) / columns) - below(200)) / (rows * bytes) + below(2);
    }
    const bool at_lines = below(3) == 0;
    const int64_t pad = at_lines ? 64 * below(2) : below(3) == 0 ? below(40) : 0;
    const int64_t gap = at_lines ? 64 * below(2) : below(3) == 0 ? below(40) : 0;
    int64_t to_step = rows * bytes + pad, to_stride = count * to_step + gap;
    if (below(3) == 0) {
        to_stride += 63 - (to_stride + 63) % 64; // All columns have the same alignment.
    }
    if (below(3) == 0) {
        to_stride = rows * bytes + pad;
        to_step = columns * to_stride + gap;
    }
    if (full || (many && below(2))) { // Adjacent blocks in columns of equal alignment.
        to_step = rows * bytes;
        to_stride = (count * to_step + 63) / 64 * 64;
    }
    int64_t from_step = columns * bytes + (below(3) == 0 ? below(40) : 0), from_stride = count * from_step + below(40);
    if (below(3) == 0) {
        from_stride = columns * bytes + (below(3) == 0 ? below(40) : 0);
        from_step = rows * from_stride + below(40);
    }
    int64_t to_at = below(edge);
    if (at_lines) {
        to_at += (int64_t)(-(uintptr_t)(found + to_at) & 63);
    }
    const int64_t from_at = below(edge);
    if (2 * edge + (count + 1) * (to_step + from_step) + (columns + 1) * to_stride + (rows + 1) * from_stride > room) {
        return 0;
    }
    clear();
    for (int64_t k = 0; k < count; ++k) {
        for (int64_t row = 0; row < rows; ++row) {
            for (int64_t column = 0; column < columns; ++column) {
                memcpy(wanted + to_at + k * to_step + column * to_stride + row * bytes, source + from_at + k * from_step + row * from_stride + column * bytes, (size_t)bytes);
            }
        }
    }
    const int64_t used = count > 0 ? (count - 1) * from_step + (rows - 1) * from_stride + columns * bytes : 0;
    unsigned char *const from = exactly(from_at + used);
    run(found + to_at, to_stride, to_step, from + from_at, from_stride, from_step, rows, columns, count, below(room), below(2) ? 0 : INT32_MAX);
    free(from);
    if (failed("blocks", bytes, rows, columns, to_stride, from_stride)) {
        printf("%d of them, %d and %d bytes apart\n", (int)count, (int)to_step, (int)from_step);
        return 1;
    }
    return 0;
}

int main(void) {
    static const transpose all[] = {
        layoutc_transpose_1, layoutc_transpose_2, layoutc_transpose_4, layoutc_transpose_8, layoutc_transpose_16,
    };
    static const several some[] = {
        layoutc_transpose_blocks_1, layoutc_transpose_blocks_2, layoutc_transpose_blocks_4,
        layoutc_transpose_blocks_8, layoutc_transpose_blocks_16,
    };
    int faults = 0;
    scatter();
    for (int round = 0; round < ROUNDS && faults < 5; ++round) {
        for (int k = 0; k < 5; ++k) {
            faults += transposes(all[k], 1 << k);
            faults += blocks(some[k], 1 << k);
        }
        faults += runs();
        faults += zeros();
    }
    printf("%d faults\n", faults);
    return faults > 0;
}
