/* Faults that the CPU stand-in for CUDA must find; an argument names the one to commit. */
#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <string.h>

__global__ static void divergent(int n) {
    if ((int)threadIdx.x >= n) {
        return;
    }
    __syncthreads();
}

/* With `fill`, right. Else reads in shared memory what only the first block wrote. */
__global__ static void shared(int *out, bool fill) {
    __shared__ int tile[8];
    if (fill || blockIdx.x == 0) {
        tile[threadIdx.x] = 7;
    }
    __syncthreads();
    out[blockIdx.x * 8 + threadIdx.x] = tile[7 - threadIdx.x];
}

/* Lacks the wait between its two loops, of 2 by 8: threads overwrite what others still read. */
__global__ static void unsynced(int *out) {
    extern __shared__ int tile[];
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        tile[threadIdx.x] = k;
        __syncthreads();
        out[k * 8 + (int)threadIdx.x] = tile[7 - threadIdx.x] + 7 - k;
    }
}

/* With `wait`, right. Else reads, or returns, before the copies are done. */
__global__ static void copied(int *out, const int *from, bool early, bool wait) {
    __shared__ int tile[8];
    __pipeline_memcpy_async(&tile[threadIdx.x], &from[threadIdx.x], sizeof(int));
    __pipeline_commit();
    if (wait && !early) {
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    out[8 + threadIdx.x] = tile[7 - threadIdx.x];
    if (early) {
        __pipeline_wait_prior(0);
    }
}

template <class T> __global__ static void read_texel(cudaTextureObject_t texture, T *out, float x) {
    *out = tex2D<T>(texture, x, 0.5f);
}

template <class T> __global__ static void write_texel(cudaSurfaceObject_t surface, T texel, int x) {
    surf2Dwrite(texel, surface, x, 0);
}

__global__ static void set(int *out) { /* not a launch: <<<1>>> */
    *out = 1;
}

static void expect_sevens(const int *device, int count) {
    for (int k = 0; k < count; k++) {
        int value = 0;
        cudaMemcpy(&value, device + k, sizeof value, cudaMemcpyDeviceToHost);
        if (value != 7) {
            fprintf(stderr, "element %d is %d: not what was written\n", k, value);
            exit(1);
        }
    }
}

int main(int count, char **words) {
    const char *fault = count > 1 ? words[1] : "none";
    const auto is = [&](const char *name) { return strcmp(fault, name) == 0; };
    int *numbers = nullptr;
    float4 *texel = nullptr;
    cudaMalloc(&numbers, 64 * sizeof(int));
    cudaMalloc(&texel, sizeof(float4));
    cudaArray_t array, layered;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
    cudaMallocArray(&array, &format, 4, 3, cudaArraySurfaceLoadStore);
    cudaMalloc3DArray(&layered, &format, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore | cudaArrayLayered);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc about;
    memset(&about, 0, sizeof about);
    cudaTextureObject_t texture = 0;
    cudaSurfaceObject_t surface = 0, layers = 0;
    cudaCreateTextureObject(&texture, &resource, &about, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    resource.res.array.array = layered;
    cudaCreateSurfaceObject(&layers, &resource);
    const ushort4 bits = make_ushort4(0x3C00, 0x4000, 0xC000, 1);

    divergent<<<3, 8>>>(is("divergent") ? 5 : 8);
    shared<<<4, 8>>>(numbers, !is("stale"));
    expect_sevens(numbers, 32);
    copied<<<1, 8>>>(numbers, numbers, is("early"), !is("unawaited"));
    expect_sevens(numbers, 16);
    if (is("unsynced")) {
        unsynced<<<1, 8, 8 * sizeof(int)>>>(numbers);
        expect_sevens(numbers, 16);
    }
    write_texel<ushort4><<<1, 1>>>(surface, bits, is("bytes") ? 17 : 16);
    read_texel<float4><<<dim3(1), dim3(1)>>>(texture, texel, is("texture") ? 4.5f : is("corner") ? 2.0f : 2.5f);
    float4 value;
    cudaMemcpy(&value, texel, sizeof value, cudaMemcpyDeviceToHost);
    if (is("none") && (value.x != 1.0f || value.y != 2.0f || value.z != -2.0f || value.w != ldexpf(1.0f, -24))) {
        fprintf(stderr, "halves are read as other floats\n");
        return 1;
    }
    if (is("kind")) {
        read_texel<uint4><<<1, 1>>>(texture, (uint4 *)texel, 2.5f);
    } else if (is("size")) {
        write_texel<float4><<<1, 1>>>(surface, value, 16);
    } else if (is("layers")) {
        write_texel<ushort4><<<1, 1>>>(layers, bits, 8);
    } else if (is("destroyed")) {
        cudaDestroySurfaceObject(surface);
        write_texel<ushort4><<<1, 1>>>(surface, bits, 8);
    } else if (is("freed")) {
        cudaFree(numbers);
        set<<<1, 1>>>(numbers);
    } else if (is("block")) {
        set<<<1, 1025>>>(numbers);
    }
    if (cudaGetLastError() == cudaErrorInvalidConfiguration) {
        fprintf(stderr, "invalid configuration\n");
        return 1;
    }
    return 0;
}
