// Some versions of gcc do not align a stack frame whose arrays are only accessed through computed addresses (bug
// 109093), unless the frame has an array that seems to be written.
#define LAYOUTC_ALIGNED(bytes) \
    __attribute__((aligned(bytes))) char layoutc_frame[bytes]; \
    __asm__ volatile("" : "=m"(layoutc_frame))
