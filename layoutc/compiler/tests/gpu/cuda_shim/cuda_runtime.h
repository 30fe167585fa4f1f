/* CUDA runtime on the CPU, as far as generated code and its tests need it. Blocks run in sequence, and so do the threads
 * of a block: as plain calls, or as fibers if the kernel has __syncthreads(). It is for finding faults, not for speed.
 * A source first goes through launches.awk, which rewrites `kernel<<<…>>>(…)`.
 *
 * Stricter than a GPU: it ends the program with a message if
 * - some threads of a block wait at __syncthreads() and others have returned;
 * - a thread returns without waiting for its asynchronous copies (cuda_pipeline_primitives.h);
 * - a texture or surface is accessed out of bounds, off a texel's center or start, or as a type of another size or kind;
 * - a destroyed texture, surface or array is used.
 * Shared memory (for every block) and memory from cudaMalloc and cudaMallocArray is filled with 0xA5, every second block
 * runs its threads in reverse, and allocations are exact, so that AddressSanitizer detects overruns.
 *
 * Written for this purpose; nothing in it comes from CUDA's own headers. */
#ifndef LAYOUTC_SHIM_CUDA_RUNTIME_H
#define LAYOUTC_SHIM_CUDA_RUNTIME_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define LAYOUTC_SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LAYOUTC_SHIM_ASAN 1
#endif
#endif
#ifdef LAYOUTC_SHIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define LAYOUTC_CUDA_SHIM 1

#define __CUDACC__ 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

/* ---- Vector types ------------------------------------------------------------------------------------------------ */

#define LAYOUTC_SHIM_VECTORS(T, name, align2, align4)                                                                  \
    struct name##1 {                                                                                                   \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct alignas(align2) name##2 {                                                                                   \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct name##3 {                                                                                                   \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    struct alignas(align4) name##4 {                                                                                   \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    inline name##1 make_##name##1(T x) {                                                                               \
        return {x};                                                                                                    \
    }                                                                                                                  \
    inline name##2 make_##name##2(T x, T y) {                                                                          \
        return {x, y};                                                                                                 \
    }                                                                                                                  \
    inline name##3 make_##name##3(T x, T y, T z) {                                                                     \
        return {x, y, z};                                                                                              \
    }                                                                                                                  \
    inline name##4 make_##name##4(T x, T y, T z, T w) {                                                                \
        return {x, y, z, w};                                                                                           \
    }

LAYOUTC_SHIM_VECTORS(signed char, char, 2, 4)
LAYOUTC_SHIM_VECTORS(unsigned char, uchar, 2, 4)
LAYOUTC_SHIM_VECTORS(short, short, 4, 8)
LAYOUTC_SHIM_VECTORS(unsigned short, ushort, 4, 8)
LAYOUTC_SHIM_VECTORS(int, int, 8, 16)
LAYOUTC_SHIM_VECTORS(unsigned int, uint, 8, 16)
LAYOUTC_SHIM_VECTORS(long, long, 16, 16)
LAYOUTC_SHIM_VECTORS(unsigned long, ulong, 16, 16)
LAYOUTC_SHIM_VECTORS(long long, longlong, 16, 16)
LAYOUTC_SHIM_VECTORS(unsigned long long, ulonglong, 16, 16)
LAYOUTC_SHIM_VECTORS(float, float, 8, 16)
LAYOUTC_SHIM_VECTORS(double, double, 16, 16)

#undef LAYOUTC_SHIM_VECTORS

/* CUDA 13 deprecates the plain vectors of four 64-bit elements in favor of names with their alignment. */
#define LAYOUTC_SHIM_FOUR(T, name)                                                                                     \
    typedef name##4 name##4_16a;                                                                                       \
    struct alignas(32) name##4_32a {                                                                                   \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    inline name##4_16a make_##name##4_16a(T x, T y, T z, T w) {                                                        \
        return {x, y, z, w};                                                                                           \
    }                                                                                                                  \
    inline name##4_32a make_##name##4_32a(T x, T y, T z, T w) {                                                        \
        return {x, y, z, w};                                                                                           \
    }

LAYOUTC_SHIM_FOUR(long, long)
LAYOUTC_SHIM_FOUR(unsigned long, ulong)
LAYOUTC_SHIM_FOUR(long long, longlong)
LAYOUTC_SHIM_FOUR(unsigned long long, ulonglong)
LAYOUTC_SHIM_FOUR(double, double)

#undef LAYOUTC_SHIM_FOUR

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

inline uint3 threadIdx = {0, 0, 0};
inline uint3 blockIdx = {0, 0, 0};
inline dim3 blockDim;
inline dim3 gridDim;
constexpr int warpSize = 32;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorUnknown = 999
};
typedef cudaError_t cudaError;

inline const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorUnknown: break;
    }
    return "cudaErrorUnknown";
}

inline const char *cudaGetErrorString(cudaError_t error) {
    return cudaGetErrorName(error);
}

typedef struct LayoutcShimStream *cudaStream_t;

namespace layoutc_shim {

inline cudaError_t last_error = cudaSuccess;
inline const char *kernel_name = "";

[[noreturn]] inline void fail(const char *what) {
    fprintf(stderr, "cuda shim: %s\n", what);
    if (*kernel_name != 0) {
        fprintf(stderr, "    in %s, block (%u, %u, %u), thread (%u, %u, %u)\n", kernel_name, blockIdx.x, blockIdx.y,
                blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    }
    fflush(stderr);
    abort();
}

inline cudaError_t error(cudaError_t code) {
    if (code != cudaSuccess) {
        last_error = code;
    }
    return code;
}

} // namespace layoutc_shim

inline cudaError_t cudaGetLastError() {
    const cudaError_t error = layoutc_shim::last_error;
    layoutc_shim::last_error = cudaSuccess;
    return error;
}

inline cudaError_t cudaPeekAtLastError() {
    return layoutc_shim::last_error;
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

namespace layoutc_shim {

constexpr size_t STACK = 256 * 1024;
constexpr size_t SHARED_MOST = 48 * 1024;

/* One thread of a block, with its stack. */
struct Fiber {
    ucontext_t context;
    char *stack = nullptr;
    void *fake_stack = nullptr;
    bool done = false;
};

inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline void *scheduler_fake_stack = nullptr;
inline const void *scheduler_bottom = nullptr;
inline size_t scheduler_size = 0;
inline size_t current = 0;
inline bool in_fiber = false;
inline bool in_kernel = false;
inline void (*body)(void *) = nullptr;
inline void *body_data = nullptr;
inline std::vector<const void *> shared_seen;
inline std::vector<char> dynamic_shared;
inline uint64_t blocks_run = 0;

/* A copy that its thread has not yet waited for. */
struct AsyncCopy {
    void *to;
    const void *from;
    size_t bytes;
    bool committed;
};

/* Copies of each thread of the block. */
inline std::map<unsigned int, std::vector<AsyncCopy>> copies;

inline unsigned int thread_number() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/* Fills a variable in shared memory with garbage, once per block; called after its declaration. */
inline void shared(void *address, size_t size) {
    for (const void *seen : shared_seen) {
        if (seen == address) {
            return;
        }
    }
    shared_seen.push_back(address);
    memset(address, 0xA5, size);
}

/* Memory of `extern __shared__ T name[]`. */
template <class T> T *dynamic() {
    return reinterpret_cast<T *>(dynamic_shared.data());
}

inline void to_scheduler(bool for_good) {
    Fiber &fiber = fibers[current];
#ifdef LAYOUTC_SHIM_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fiber.fake_stack, scheduler_bottom, scheduler_size);
#else
    (void)for_good;
#endif
    swapcontext(&fiber.context, &scheduler);
#ifdef LAYOUTC_SHIM_ASAN
    __sanitizer_finish_switch_fiber(fiber.fake_stack, &scheduler_bottom, &scheduler_size);
#endif
}

inline void to_fiber(size_t index) {
    current = index;
    in_fiber = true;
#ifdef LAYOUTC_SHIM_ASAN
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, fibers[index].stack, STACK);
#endif
    swapcontext(&scheduler, &fibers[index].context);
#ifdef LAYOUTC_SHIM_ASAN
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
    in_fiber = false;
}

inline void fiber_main() {
#ifdef LAYOUTC_SHIM_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_bottom, &scheduler_size);
#endif
    body(body_data);
    if (!copies[thread_number()].empty()) {
        fail("asynchronous copies without a wait");
    }
    fibers[current].done = true;
    to_scheduler(true);
}

inline void set_thread(size_t index) {
    const unsigned int k = static_cast<unsigned int>(index);
    threadIdx = {k % blockDim.x, k / blockDim.x % blockDim.y, k / blockDim.x / blockDim.y};
}

inline void run_block_of_fibers(size_t threads, bool backwards) {
    if (fibers.size() < threads) {
        fibers.resize(threads);
    }
    for (size_t k = 0; k < threads; k++) {
        Fiber &fiber = fibers[k];
        if (fiber.stack == nullptr) {
            void *made = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (made == MAP_FAILED) {
                fail("no memory for the stacks of a block");
            }
            fiber.stack = static_cast<char *>(made);
        }
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack;
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = nullptr;
        fiber.done = false;
        makecontext(&fiber.context, fiber_main, 0);
    }
    for (;;) {
        size_t done = 0;
        for (size_t k = 0; k < threads; k++) {
            const size_t index = backwards ? threads - 1 - k : k;
            set_thread(index);
            to_fiber(index);
            done += fibers[index].done ? 1u : 0u;
        }
        if (done == threads) {
            return;
        }
        if (done != 0) {
            fail("some threads of a block wait at __syncthreads(), others have returned");
        }
    }
}

struct Config {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
    Config(dim3 grid_, dim3 block_, size_t shared_bytes_ = 0, cudaStream_t stream_ = nullptr)
        : grid(grid_), block(block_), shared_bytes(shared_bytes_), stream(stream_) {}
};

inline bool possible(const Config &config) {
    const dim3 &g = config.grid;
    const dim3 &b = config.block;
    const uint64_t threads = uint64_t(b.x) * b.y * b.z;
    return g.x > 0 && g.y > 0 && g.z > 0 && g.x <= 2147483647u && g.y <= 65535u && g.z <= 65535u && b.x <= 1024u &&
           b.y <= 1024u && b.z <= 64u && threads > 0 && threads <= 1024u;
}

/* Runs `kernel<<<config>>>(given)`; `syncs` is true if the kernel's text has __syncthreads(). */
template <class... P, class... A>
void launch(bool syncs, const char *name, const Config &config, void (*kernel)(P...), A &&...given) {
    static_assert(sizeof...(P) == sizeof...(A), "as many arguments as the kernel takes");
    if (!possible(config)) {
        error(cudaErrorInvalidConfiguration);
        return;
    }
    if (config.shared_bytes > SHARED_MOST) {
        error(cudaErrorInvalidValue);
        return;
    }
    if (in_kernel) {
        fail("a launch within a kernel");
    }
    in_kernel = true;
    kernel_name = name;
    typedef std::tuple<void (*)(P...), std::tuple<P...>> Call;
    Call call(kernel, std::tuple<P...>(static_cast<P>(given)...));
    body = [](void *data) {
        Call &it = *static_cast<Call *>(data);
        std::apply(std::get<0>(it), std::get<1>(it));
    };
    body_data = &call;
    blockDim = config.block;
    gridDim = config.grid;
    const size_t threads = size_t(config.block.x) * config.block.y * config.block.z;
    for (unsigned int z = 0; z < config.grid.z; z++) {
        for (unsigned int y = 0; y < config.grid.y; y++) {
            for (unsigned int x = 0; x < config.grid.x; x++) {
                const bool backwards = blocks_run++ % 2 == 1;
                blockIdx = {x, y, z};
                shared_seen.clear();
                dynamic_shared = std::vector<char>(config.shared_bytes, char(0xA5));
                if (syncs) {
                    run_block_of_fibers(threads, backwards);
                    continue;
                }
                for (size_t k = 0; k < threads; k++) {
                    set_thread(backwards ? threads - 1 - k : k);
                    body(body_data);
                }
            }
        }
    }
    in_kernel = false;
    kernel_name = "";
    body_data = nullptr;
}

} // namespace layoutc_shim

inline void __syncthreads() {
    if (!layoutc_shim::in_fiber) {
        layoutc_shim::fail("__syncthreads() outside the text of a kernel");
    }
    layoutc_shim::to_scheduler(false);
}

/* ---- Arithmetic that C++ lacks ----------------------------------------------------------------------------------- */

namespace layoutc_shim {

template <class To, class From> To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace layoutc_shim

inline int __float_as_int(float v) {
    return layoutc_shim::bits_as<int>(v);
}
inline unsigned int __float_as_uint(float v) {
    return layoutc_shim::bits_as<unsigned int>(v);
}
inline float __int_as_float(int v) {
    return layoutc_shim::bits_as<float>(v);
}
inline float __uint_as_float(unsigned int v) {
    return layoutc_shim::bits_as<float>(v);
}
inline long long __double_as_longlong(double v) {
    return layoutc_shim::bits_as<long long>(v);
}
inline double __longlong_as_double(long long v) {
    return layoutc_shim::bits_as<double>(v);
}

template <class T> T __ldg(const T *address) {
    return *address;
}

#define LAYOUTC_SHIM_MIN_MAX(T)                                                                                        \
    inline T min(T a, T b) {                                                                                           \
        return b < a ? b : a;                                                                                          \
    }                                                                                                                  \
    inline T max(T a, T b) {                                                                                           \
        return a < b ? b : a;                                                                                          \
    }

LAYOUTC_SHIM_MIN_MAX(int)
LAYOUTC_SHIM_MIN_MAX(unsigned int)
LAYOUTC_SHIM_MIN_MAX(long)
LAYOUTC_SHIM_MIN_MAX(unsigned long)
LAYOUTC_SHIM_MIN_MAX(long long)
LAYOUTC_SHIM_MIN_MAX(unsigned long long)

#undef LAYOUTC_SHIM_MIN_MAX

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

namespace layoutc_shim {

/* An allocation of cudaMalloc. */
struct Allocation {
    const char *start;
    size_t size;
};
inline std::vector<Allocation> allocations;

inline bool on_device(const void *address, size_t size) {
    const char *at = static_cast<const char *>(address);
    for (const Allocation &one : allocations) {
        if (at >= one.start && at <= one.start + one.size) {
            return size <= one.size - static_cast<size_t>(at - one.start);
        }
    }
    return false;
}

/* Removes an allocation from the list. Returns false if it is not there. */
inline bool forget(const void *address) {
    for (Allocation &one : allocations) {
        if (one.start == address) {
            one = allocations.back();
            allocations.pop_back();
            return true;
        }
    }
    return false;
}

inline bool sound(const void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    const bool into = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool out = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return (!into || on_device(to, size)) && (!out || on_device(from, size));
}

} // namespace layoutc_shim

inline cudaError_t cudaMalloc(void **address, size_t size) {
    *address = nullptr;
    if (size == 0) {
        return cudaSuccess;
    }
    if (posix_memalign(address, 256, size) != 0) {
        return layoutc_shim::error(cudaErrorMemoryAllocation);
    }
    memset(*address, 0xA5, size);
    layoutc_shim::allocations.push_back({static_cast<char *>(*address), size});
    return cudaSuccess;
}

template <class T> cudaError_t cudaMalloc(T **address, size_t size) {
    void *made = nullptr;
    const cudaError_t error = cudaMalloc(&made, size);
    *address = static_cast<T *>(made);
    return error;
}

inline cudaError_t cudaFree(void *address) {
    if (address != nullptr && !layoutc_shim::forget(address)) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    free(address);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    if (size == 0) {
        return cudaSuccess;
    }
    if (!layoutc_shim::sound(to, from, size, kind)) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    memcpy(to, from, size);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, size, kind);
}

inline cudaError_t cudaMemset(void *address, int value, size_t size) {
    if (size == 0) {
        return cudaSuccess;
    }
    if (!layoutc_shim::on_device(address, size)) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    memset(address, value, size);
    return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void *address, int value, size_t size, cudaStream_t = nullptr) {
    return cudaMemset(address, value, size);
}

/* ---- Devices, streams, events ------------------------------------------------------------------------------------ */

struct cudaDeviceProp {
    char name[256];
    int major;
    int minor;
    int multiProcessorCount;
};

inline cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess : layoutc_shim::error(cudaErrorInvalidValue);
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    memset(properties, 0, sizeof *properties);
    memcpy(properties->name, "CPU shim", 9);
    properties->major = 8;
    properties->multiProcessorCount = 1;
    return cudaSuccess;
}

inline cudaError_t cudaDeviceSynchronize() {
    return cudaSuccess;
}

inline cudaError_t cudaDeviceReset() {
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = nullptr;
    return cudaSuccess;
}

inline cudaError_t cudaStreamDestroy(cudaStream_t) {
    return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}

struct LayoutcShimEvent {
    timespec at;
};
typedef LayoutcShimEvent *cudaEvent_t;

inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = new LayoutcShimEvent();
    return cudaSuccess;
}

inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return cudaSuccess;
}

inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}

inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    const double seconds = double(to->at.tv_sec - from->at.tv_sec);
    *milliseconds = float(seconds * 1e3 + double(to->at.tv_nsec - from->at.tv_nsec) * 1e-6);
    return cudaSuccess;
}

inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3
};

struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};

namespace layoutc_shim {

/* Texel types of textures and surfaces. */
template <class T> struct Texel {
    static constexpr bool known = false;
};

template <class T, int N> struct Lanes {
    static constexpr bool known = true;
    static constexpr int lanes = N;
    static constexpr int bits = int(sizeof(T)) * 8;
    static constexpr cudaChannelFormatKind kind = std::is_floating_point<T>::value ? cudaChannelFormatKindFloat
                                                  : std::is_signed<T>::value       ? cudaChannelFormatKindSigned
                                                                                   : cudaChannelFormatKindUnsigned;
};

#define LAYOUTC_SHIM_TEXELS(T, name)                                                                                   \
    template <> struct Texel<T> : Lanes<T, 1> {};                                                                      \
    template <> struct Texel<name##1> : Lanes<T, 1> {};                                                                \
    template <> struct Texel<name##2> : Lanes<T, 2> {};                                                                \
    template <> struct Texel<name##4> : Lanes<T, 4> {};

LAYOUTC_SHIM_TEXELS(signed char, char)
LAYOUTC_SHIM_TEXELS(unsigned char, uchar)
LAYOUTC_SHIM_TEXELS(short, short)
LAYOUTC_SHIM_TEXELS(unsigned short, ushort)
LAYOUTC_SHIM_TEXELS(int, int)
LAYOUTC_SHIM_TEXELS(unsigned int, uint)
LAYOUTC_SHIM_TEXELS(float, float)
template <> struct Texel<char> : Lanes<char, 1> {};

#undef LAYOUTC_SHIM_TEXELS

/* Exact conversion from the bits of a half. */
inline float half_bits_to_float(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 31u;
    const uint32_t fraction = h & 1023u;
    if (exponent == 31) {
        return bits_as<float>(sign | 0x7F800000u | fraction << 13);
    }
    if (exponent == 0) {
        const float small = ldexpf(float(fraction), -24);
        return sign != 0 ? -small : small;
    }
    return bits_as<float>(sign | (exponent + 112u) << 23 | fraction << 13);
}

/* Rounds to the nearest half, ties to even. */
inline uint16_t float_to_half_bits(float f) {
    const uint32_t bits = bits_as<uint32_t>(f);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return 0x7FFFu;
    }
    if (magnitude >= 0x477FF000u) {
        return uint16_t(sign | 0x7C00u);
    }
    if (magnitude < 0x38800000u) {
        /* Subnormal: a multiple of 2^-24, which lrintf rounds to. */
        return uint16_t(sign | uint32_t(lrintf(ldexpf(bits_as<float>(magnitude), 24))));
    }
    const uint32_t odd = magnitude >> 13 & 1u;
    return uint16_t(sign | (((magnitude + 0xFFFu + odd) >> 13) - (112u << 10)));
}

} // namespace layoutc_shim

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    return {x, y, z, w, f};
}

template <class T> cudaChannelFormatDesc cudaCreateChannelDesc() {
    typedef layoutc_shim::Texel<T> Texel;
    static_assert(Texel::known, "no such texel");
    return {Texel::bits, Texel::lanes > 1 ? Texel::bits : 0, Texel::lanes > 2 ? Texel::bits : 0,
            Texel::lanes > 3 ? Texel::bits : 0, Texel::kind};
}

struct cudaExtent {
    size_t width, height, depth;
};

inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return {width, height, depth};
}

constexpr unsigned int cudaArrayDefault = 0;
constexpr unsigned int cudaArrayLayered = 1;
constexpr unsigned int cudaArraySurfaceLoadStore = 2;

struct cudaArray {
    cudaChannelFormatDesc format;
    size_t texel;
    size_t width;
    size_t height;
    size_t layers;
    unsigned int flags;
    char *bytes;
};
typedef cudaArray *cudaArray_t;

inline cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent,
                                     unsigned int flags = 0) {
    const int bits = format->x + format->y + format->z + format->w;
    const bool layered = (flags & cudaArrayLayered) != 0;
    *array = nullptr;
    if (bits <= 0 || bits % 8 != 0 || extent.width == 0 || extent.height == 0 || layered != (extent.depth > 0)) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    const size_t layers = layered ? extent.depth : 1;
    const size_t texel = size_t(bits) / 8;
    const size_t size = texel * extent.width * extent.height * layers;
    char *bytes = static_cast<char *>(malloc(size));
    if (bytes == nullptr) {
        return layoutc_shim::error(cudaErrorMemoryAllocation);
    }
    memset(bytes, 0xA5, size);
    *array = new cudaArray{*format, texel, extent.width, extent.height, layers, flags, bytes};
    return cudaSuccess;
}

inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                                   size_t height = 0, unsigned int flags = 0) {
    return cudaMalloc3DArray(array, format, make_cudaExtent(width, height, 0), flags);
}

struct cudaPos {
    size_t x, y, z;
};

inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
    return {x, y, z};
}

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};

inline cudaPitchedPtr make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize, size_t ysize) {
    return {ptr, pitch, xsize, ysize};
}

struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};

namespace layoutc_shim {

/* Row of the source or destination of a 3D copy; `at.x` counts texels if an array is involved, else bytes. */
inline char *row(cudaArray_t array, const cudaPos &at, const cudaPitchedPtr &plain, size_t y, size_t z, size_t unit) {
    if (array != nullptr) {
        return array->bytes + (((at.z + z) * array->height + at.y + y) * array->width + at.x) * array->texel;
    }
    return static_cast<char *>(plain.ptr) + ((at.z + z) * plain.ysize + at.y + y) * plain.pitch + at.x * unit;
}

inline bool holds(cudaArray_t array, const cudaPos &at, const cudaExtent &extent) {
    return array == nullptr || (at.x + extent.width <= array->width && at.y + extent.height <= array->height &&
                                at.z + extent.depth <= array->layers);
}

} // namespace layoutc_shim

inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    using namespace layoutc_shim;
    const cudaArray_t any = p->srcArray != nullptr ? p->srcArray : p->dstArray;
    const size_t unit = any != nullptr ? any->texel : 1;
    if (!holds(p->srcArray, p->srcPos, p->extent) || !holds(p->dstArray, p->dstPos, p->extent) ||
        (p->srcArray != nullptr && p->dstArray != nullptr && p->srcArray->texel != p->dstArray->texel)) {
        return error(cudaErrorInvalidValue);
    }
    for (size_t z = 0; z < p->extent.depth; z++) {
        for (size_t y = 0; y < p->extent.height; y++) {
            memcpy(row(p->dstArray, p->dstPos, p->dstPtr, y, z, unit), row(p->srcArray, p->srcPos, p->srcPtr, y, z, unit),
                   p->extent.width * unit);
        }
    }
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                       size_t width, size_t height, cudaMemcpyKind) {
    if (x + width > to->width * to->texel || y + height > to->height || width > pitch) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    for (size_t k = 0; k < height; k++) {
        memcpy(to->bytes + (y + k) * to->width * to->texel + x, static_cast<const char *>(from) + k * pitch, width);
    }
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                         size_t height, cudaMemcpyKind) {
    if (x + width > from->width * from->texel || y + height > from->height || width > pitch) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    for (size_t k = 0; k < height; k++) {
        memcpy(static_cast<char *>(to) + k * pitch, from->bytes + (y + k) * from->width * from->texel + x, width);
    }
    return cudaSuccess;
}

/* ---- Textures and surfaces --------------------------------------------------------------------------------------- */

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3
};

/* Supports arrays only. */
struct cudaResourceDesc {
    cudaResourceType resType;
    struct {
        struct {
            cudaArray_t array;
        } array;
    } res;
};

enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };

struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
};

struct cudaResourceViewDesc {
    int format;
};

namespace layoutc_shim {

/* Array of handle 4 k + 5 (a texture) or 4 k + 6 (a surface); null once destroyed. */
inline std::vector<cudaArray_t> views;
constexpr unsigned long long TEXTURE = 5;
constexpr unsigned long long SURFACE = 6;

inline unsigned long long new_view(cudaArray_t array, unsigned long long kind) {
    views.push_back(array);
    return 4 * (views.size() - 1) + kind;
}

/* Entry in `views`, or null. */
inline cudaArray_t *view_of(unsigned long long handle, unsigned long long kind) {
    const unsigned long long k = (handle - kind) / 4;
    const bool there = handle >= kind && (handle - kind) % 4 == 0 && k < views.size() && views[k] != nullptr;
    return there ? &views[k] : nullptr;
}

inline cudaError_t destroy_view(unsigned long long handle, unsigned long long kind) {
    cudaArray_t *view = view_of(handle, kind);
    if (view == nullptr) {
        return error(cudaErrorInvalidValue);
    }
    *view = nullptr;
    return cudaSuccess;
}

inline const cudaArray &viewed(unsigned long long handle, unsigned long long kind, bool layered) {
    cudaArray_t *view = view_of(handle, kind);
    if (view == nullptr) {
        fail(kind == TEXTURE ? "not a texture object" : "not a surface object");
    }
    if ((((*view)->flags & cudaArrayLayered) != 0) != layered) {
        fail(layered ? "a layered access of an array without layers" : "a flat access of a layered array");
    }
    return **view;
}

inline const char *address(const cudaArray &array, long long x, long long y, long long layer) {
    if (x < 0 || y < 0 || layer < 0 || size_t(x) >= array.width || size_t(y) >= array.height ||
        size_t(layer) >= array.layers) {
        char text[200];
        snprintf(text, sizeof text, "texel (%lld, %lld), layer %lld, of %zu by %zu, %zu layers", x, y, layer,
                 array.width, array.height, array.layers);
        fail(text);
    }
    return array.bytes + ((size_t(layer) * array.height + size_t(y)) * array.width + size_t(x)) * array.texel;
}

/* Texel whose center the coordinate is; fails if it is off center. */
inline long long centre(float coordinate) {
    const float whole = floorf(coordinate);
    if (!(coordinate - whole >= 0.25f && coordinate - whole <= 0.75f)) {
        fail("a texture coordinate off the centre of its texel");
    }
    return static_cast<long long>(whole);
}

template <class T> T fetch(unsigned long long handle, float x, float y, int layer, bool layered) {
    typedef Texel<T> Kind;
    static_assert(Kind::known, "textures have no such texel");
    const cudaArray &array = viewed(handle, TEXTURE, layered);
    const cudaChannelFormatDesc &f = array.format;
    const int lanes = f.w != 0 ? 4 : f.z != 0 ? 3 : f.y != 0 ? 2 : 1;
    const bool halves = f.f == cudaChannelFormatKindFloat && f.x == 16;
    if (lanes != Kind::lanes || f.f != Kind::kind || (halves ? 32 : f.x) != Kind::bits) {
        fail("a texture read as another type of texel");
    }
    const char *at = address(array, centre(x), centre(y), layer);
    T texel;
    if (halves) {
        float values[Kind::lanes];
        for (int k = 0; k < Kind::lanes; k++) {
            uint16_t bits;
            memcpy(&bits, at + 2 * k, 2);
            values[k] = half_bits_to_float(bits);
        }
        memcpy(&texel, values, sizeof texel);
    } else {
        memcpy(&texel, at, sizeof texel);
    }
    return texel;
}

/* Address of a surface's texel; a surface is untyped bytes, so that only the size of `T` must match. */
template <class T> char *store(unsigned long long handle, int x, int y, int layer, bool layered) {
    static_assert(Texel<T>::known, "surfaces have no such texel");
    const cudaArray &array = viewed(handle, SURFACE, layered);
    if (array.texel != sizeof(T)) {
        fail("a surface accessed as a texel of another size");
    }
    if (x % int(sizeof(T)) != 0) {
        fail("a surface coordinate, in bytes, off the start of a texel");
    }
    return const_cast<char *>(address(array, x / int(sizeof(T)), y, layer));
}

} // namespace layoutc_shim

inline cudaError_t cudaFreeArray(cudaArray_t array) {
    if (array == nullptr) {
        return cudaSuccess;
    }
    for (cudaArray_t &view : layoutc_shim::views) {
        view = view == array ? nullptr : view;
    }
    free(array->bytes);
    delete array;
    return cudaSuccess;
}

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture, const cudaResourceDesc *resource,
                                           const cudaTextureDesc *about, const cudaResourceViewDesc *view) {
    if (resource->resType != cudaResourceTypeArray || resource->res.array.array == nullptr || view != nullptr ||
        about->filterMode != cudaFilterModePoint || about->readMode != cudaReadModeElementType ||
        about->normalizedCoords != 0) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    *texture = layoutc_shim::new_view(resource->res.array.array, layoutc_shim::TEXTURE);
    return cudaSuccess;
}

inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface, const cudaResourceDesc *resource) {
    const cudaArray_t array = resource->res.array.array;
    if (resource->resType != cudaResourceTypeArray || array == nullptr ||
        (array->flags & cudaArraySurfaceLoadStore) == 0) {
        return layoutc_shim::error(cudaErrorInvalidValue);
    }
    *surface = layoutc_shim::new_view(array, layoutc_shim::SURFACE);
    return cudaSuccess;
}

inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    return layoutc_shim::destroy_view(texture, layoutc_shim::TEXTURE);
}

inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    return layoutc_shim::destroy_view(surface, layoutc_shim::SURFACE);
}

template <class T> T tex2D(cudaTextureObject_t texture, float x, float y) {
    return layoutc_shim::fetch<T>(texture, x, y, 0, false);
}

template <class T> T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
    return layoutc_shim::fetch<T>(texture, x, y, layer, true);
}

template <class T>
void surf2Dwrite(T texel, cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    memcpy(layoutc_shim::store<T>(surface, x, y, 0, false), &texel, sizeof texel);
}

template <class T>
void surf2DLayeredwrite(T texel, cudaSurfaceObject_t surface, int x, int y, int layer,
                        cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    memcpy(layoutc_shim::store<T>(surface, x, y, layer, true), &texel, sizeof texel);
}

template <class T>
T surf2Dread(cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    T texel;
    memcpy(&texel, layoutc_shim::store<T>(surface, x, y, 0, false), sizeof texel);
    return texel;
}

template <class T>
void surf2Dread(T *texel, cudaSurfaceObject_t surface, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    *texel = surf2Dread<T>(surface, x, y);
}

template <class T>
T surf2DLayeredread(cudaSurfaceObject_t surface, int x, int y, int layer,
                    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    T texel;
    memcpy(&texel, layoutc_shim::store<T>(surface, x, y, layer, true), sizeof texel);
    return texel;
}

template <class T>
void surf2DLayeredread(T *texel, cudaSurfaceObject_t surface, int x, int y, int layer,
                       cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
    *texel = surf2DLayeredread<T>(surface, x, y, layer);
}

#endif
