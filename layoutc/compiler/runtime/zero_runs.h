// Sets `count` runs of `bytes` bytes to 0: full cache lines, and one overlapping store at each end. The length of other
// runs is hidden from the compiler, which would inline what memset does faster.
static inline void layoutc_zero_runs(void *to, INDEX to_stride, INDEX count, INDEX bytes) {
    volatile const size_t length = (size_t)bytes;
    char *run = (char *)to;
    for (INDEX k = 0; k < count; ++k, run += to_stride) {
        if (bytes < 64 || bytes >= 4096) {
            memset(run, 0, length);
            continue;
        }
        memset(run, 0, 64);
        for (INDEX at = 64 - (int)((uintptr_t)run & 63); at + 64 <= bytes; at += 64) {
            memset(run + at, 0, 64);
        }
        memset(run + bytes - 64, 0, 64);
    }
}
