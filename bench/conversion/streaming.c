#include "conversion.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

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

/* A cache line at a time, of several pages in turn; the destination begins at a line. */
void streaming_copy(const void *source, void *destination, size_t bytes) {
    const char *from = source;
    char *to = destination;
    size_t at = 0;
    for (; at + PAGES * PAGE <= bytes; at += PAGES * PAGE) {
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

#else

bool has_streaming_copy(void) { return false; }

void streaming_copy(const void *source, void *destination, size_t bytes) { memcpy(destination, source, bytes); }

#endif
