/* Times one case: driver cpu|wall SECONDS [FOLDER].
 *
 * Compares every contender's result with the plain index loop's; writes the source and the expected destination to
 * FOLDER. Then prints the contenders' names, with a version (`name/1.2.3`) if they have one, and for each line of standard
 * input a line of seconds per run, in that order: every contender is run once, or as often as fills SECONDS, and each
 * round begins with the next one. */
#define _POSIX_C_SOURCE 200809L
#include "conversion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CONTENDERS = 5 };

struct contender {
    const char *name;
    void (*run)(void);
    long repeats;
};

static struct contender contenders[MOST_CONTENDERS];
static int contender_count;
static clockid_t the_clock;
static char *source, *destination, *streamed;
static size_t copied; /* Size of a copy that reads and writes as many bytes as the conversion. */

static void run_memcpy(void) { memcpy(destination, source, copied); }
static void run_streaming(void) { streaming_copy(source, streamed, copied); }
static void run_vectors(void) { vector_copy(source, destination, copied); }
static void run_layoutc(void) { layoutc(source, destination); }

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Allocates a buffer that begins at a cache line. */
static char *buffer(size_t bytes) {
    void *memory;
    if (posix_memalign(&memory, 64, bytes) != 0) {
        fail("out of memory");
    }
    return memory;
}

/* Fills with finite numbers, because some peers calculate with them. */
static void fill(char *bytes, size_t count, enum element element) {
    uint32_t state = 1;
    for (size_t at = 0; at < count; ++at) {
        state = state * 1664525u + 1013904223u;
        bytes[at] = (char)(state >> 24);
        const bool highest = element == F32 ? at % 4 == 3 : element == BF16 && at % 2 == 1;
        if (highest) {
            bytes[at] = (char)((bytes[at] & 0x1f) + 0x30);
        }
    }
}

static void save(const char *folder, const char *name, const char *bytes, size_t count) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        fail("the folder's name is too long");
    }
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        fail("a file cannot be written");
    }
}

/* Adds a contender after checking its result. All share one destination except the streaming copy: its stores evict the
 * lines of the destination from the caches, at the expense of the next contender. */
static void enter(const char *name, void (*run)(void), char *result, const char *expected, size_t count) {
    memset(result, 0xa5, count);
    run();
    if (memcmp(result, expected, count) != 0) {
        fprintf(stderr, "the result of %s is wrong\n", name);
        exit(1);
    }
    contenders[contender_count++] = (struct contender){name, run, 1};
}

static void enter_all(const char *folder) {
    const size_t dense = source_bytes(&conversion), padded = destination_bytes(&conversion);
    copied = (dense + padded) / 2;
    source = buffer(copied);
    destination = buffer(padded);
    streamed = buffer(copied);
    fill(source, copied, conversion.element);
    char *expected = buffer(padded);
    convert_by_index(&conversion, source, expected);
    if (folder != NULL) {
        save(folder, "source", source, dense);
        save(folder, "destination", expected, padded);
    }
    enter("memcpy", run_memcpy, destination, source, copied);
    if (has_streaming_copy()) {
        enter("streaming", run_streaming, streamed, source, copied);
    }
    if (has_vector_copy()) {
        enter("vectors", run_vectors, destination, source, copied);
    }
    enter("layoutc", run_layoutc, destination, expected, padded);
    if (onednn_prepare(&conversion, source, destination)) {
        enter(onednn_name, onednn_run, destination, expected, padded);
    }
    free(expected);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(the_clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double timed(const struct contender *it) {
    const double start = seconds();
    for (long repeat = 0; repeat < it->repeats; ++repeat) {
        it->run();
    }
    return (seconds() - start) / (double)it->repeats;
}

static void calibrate(struct contender *it, double least) {
    while ((double)it->repeats * timed(it) < least) {
        it->repeats *= 2;
    }
}

/* Reads the source and writes the destination by ordinary loads and stores, so that buffers that fit a cache are in it
 * for every contender: `rep movsb`, a possible memcpy, never brings an uncached destination into the caches. */
static void settle(void) {
    const volatile char *from = source;
    volatile char *to = destination;
    for (size_t at = 0; at < copied; at += 64) {
        to[at] = from[at];
    }
}

/* Seconds per run. */
static double sample(const struct contender *it) {
    if (it->repeats > 1) {
        settle();
        it->run();
    }
    return timed(it);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fail("usage: driver cpu|wall SECONDS [FOLDER]");
    }
    the_clock = strcmp(argv[1], "cpu") == 0 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    enter_all(argc > 3 ? argv[3] : NULL);
    for (int at = 0; at < contender_count; ++at) {
        calibrate(&contenders[at], atof(argv[2]));
        printf("%s ", contenders[at].name);
    }
    printf("\n");
    fflush(stdout);
    char line[16];
    for (int first = 0; fgets(line, sizeof line, stdin) != NULL; ++first) {
        double took[MOST_CONTENDERS];
        for (int turn = 0; turn < contender_count; ++turn) {
            const int at = (first + turn) % contender_count;
            took[at] = sample(&contenders[at]);
        }
        for (int at = 0; at < contender_count; ++at) {
            printf("%.9e ", took[at]);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
