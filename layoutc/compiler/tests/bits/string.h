// What the generated sources need of the C library, where there is none for 32 bits.
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
