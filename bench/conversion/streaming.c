#include "conversion.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>

bool has_streaming_copy(void) { return true; }

enum { LINE = 64, PAGE = 4096, PAGES = 4 };

static void stream_line(const char *source, char *destination) {
    const __m128i *from = (const void *)source;
    __m128i *to = (void *)destination;
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

/* Copies one cache line at a time; the destination begins at a line. Cycles through several pages, unless reads of one page
   would alias recent stores to another at the same page offset (4K aliasing): such reads wait for the stores. */
void streaming_copy(const void *source, void *destination, size_t bytes) {
    const char *from = source;
    char *to = destination;
    const int in_turn = ((uintptr_t)to - (uintptr_t)from) % PAGE >= 512;
    size_t at = 0;
    for (; in_turn && at + PAGES * PAGE <= bytes; at += PAGES * PAGE) {
        for (size_t line = at; line < at + PAGE; line += LINE) {
            for (size_t place = line; place < line + PAGES * PAGE; place += PAGE) {
                stream_line(from + place, to + place);
            }
        }
    }
    for (; at + LINE <= bytes; at += LINE) {
        stream_line(from + at, to + at);
    }
    memcpy(to + at, from + at, bytes - at);
    _mm_sfence();
}

bool has_vector_copy(void) { return true; }

__attribute__((target("avx2"))) static size_t copy_32(const char *from, char *to, size_t bytes) {
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32) {
        _mm256_storeu_si256((void *)(to + at), _mm256_loadu_si256((const void *)(from + at)));
    }
    return at;
}

static size_t copy_16(const char *from, char *to, size_t bytes) {
    size_t at = 0;
    for (; at + 16 <= bytes; at += 16) {
        _mm_storeu_si128((void *)(to + at), _mm_loadu_si128((const void *)(from + at)));
    }
    return at;
}

void vector_copy(const void *source, void *destination, size_t bytes) {
    const char *from = source;
    char *to = destination;
    const size_t done = __builtin_cpu_supports("avx2") ? copy_32(from, to, bytes) : copy_16(from, to, bytes);
    memcpy(to + done, from + done, bytes - done);
}

#else

bool has_vector_copy(void) { return false; }

void vector_copy(const void *source, void *destination, size_t bytes) { memcpy(destination, source, bytes); }

bool has_streaming_copy(void) { return false; }

void streaming_copy(const void *source, void *destination, size_t bytes) { memcpy(destination, source, bytes); }

#endif
