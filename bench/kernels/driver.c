/* Times the kernels of one group: driver SECONDS 64|32.
 *
 * Compares every contender's result with the plain nest's. Then prints the contenders' names, and for each line of standard input
 * the peak of one core in operations per second, with vectors of 64 or 32 bytes, and the seconds per run of each contender, in that
 * order: every contender is run as often as fills SECONDS, and each round begins with the next one. */
#define _POSIX_C_SOURCE 200809L
#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CONTENDERS = 32 };

static float *buffers[MOST_CONTENDERS][3];
static long repeats[MOST_CONTENDERS];
static double least;
static bool longest;

static void fail(const char *what, const char *name) {
    fprintf(stderr, "%s%s\n", what, name);
    exit(1);
}

/* Allocates a buffer that begins at a cache line. */
static float *buffer(size_t count) {
    void *memory;
    if (posix_memalign(&memory, 64, count * sizeof(float)) != 0) {
        fail("out of memory", "");
    }
    return memory;
}

/* Fills with numbers between -1/2 and 1/2. */
static void fill(float *to, size_t count, unsigned state) {
    for (size_t at = 0; at < count; ++at) {
        state = state * 1664525u + 1013904223u;
        to[at] = (float)(state >> 8) / 16777216.0f - 0.5f;
    }
}

static void run(int number) {
    contenders[number].run(buffers[number][0], buffers[number][1], buffers[number][2]);
}

/* Compares with a tolerance: sums of several hundred products, added in another order, differ in the last bits. */
static void check(int number, const float *expected, float *found) {
    for (size_t at = 0; at < elements[2]; ++at) {
        buffers[number][2][at] = NAN;
    }
    run(number);
    contenders[number].unpack(buffers[number][2], found);
    for (size_t at = 0; at < elements[2]; ++at) {
        if (!(fabsf(found[at] - expected[at]) <= 1e-4f)) {
            fail("the result is wrong of ", contenders[number].name);
        }
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double timed(int number) {
    const double start = seconds();
    for (long repeat = 0; repeat < repeats[number]; ++repeat) {
        run(number);
    }
    return (seconds() - start) / (double)repeats[number];
}

static double peak_rate(void) {
    const double start = seconds();
    const double operations = peak(longest, (long)(least * 1e8));
    return operations / (seconds() - start);
}

static void enter_all(void) {
    float *logical[3], *found = buffer(elements[2]);
    for (int tensor = 0; tensor < 3; ++tensor) {
        logical[tensor] = buffer(elements[tensor]);
    }
    fill(logical[0], elements[0], 1);
    fill(logical[1], elements[1], 2);
    reference(logical[0], logical[1], logical[2]);
    for (int number = 0; number < contender_count; ++number) {
        for (int tensor = 0; tensor < 3; ++tensor) {
            buffers[number][tensor] = buffer(elements[tensor]);
        }
        contenders[number].pack_first(logical[0], buffers[number][0]);
        contenders[number].pack_second(logical[1], buffers[number][1]);
        check(number, logical[2], found);
        repeats[number] = 1;
        while ((double)repeats[number] * timed(number) < least) {
            repeats[number] *= 2;
        }
        printf("%s ", contenders[number].name);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 3 || contender_count > MOST_CONTENDERS) {
        fail("usage: driver SECONDS 64|32", "");
    }
    least = atof(argv[1]);
    longest = atoi(argv[2]) == 64;
    onednn_prepare();
    enter_all();
    char line[16];
    for (int first = 0; fgets(line, sizeof line, stdin) != NULL; ++first) {
        double took[MOST_CONTENDERS];
        const double rate = peak_rate();
        for (int turn = 0; turn < contender_count; ++turn) {
            const int number = (first + turn) % contender_count;
            /* Brings its buffers into the caches. */
            run(number);
            took[number] = timed(number);
        }
        printf("%.9e ", rate);
        for (int number = 0; number < contender_count; ++number) {
            printf("%.9e ", took[number]);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
