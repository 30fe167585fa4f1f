// Declarations that the generated sources need, for systems without a 32-bit C library.
#include <stddef.h>
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
