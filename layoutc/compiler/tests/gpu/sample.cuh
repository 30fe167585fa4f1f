/* By hand, as layoutc emits: what gpu_tools.rs runs to try the tools themselves. */
#ifndef SAMPLE_CUH
#define SAMPLE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

/* [n, h, w] to [n, w, h], n a symbol. */
__host__ __device__ static __forceinline__ int turn_offset(int n, int k, int h, int w) {
    (void)n;
    return (k * 7 + w) * 5 + h;
}

cudaError_t turn_pack(int n, const float *logical, float *physical, cudaStream_t stream);

/* The same without the guard that a grid rounded up needs. */
cudaError_t turn_overrun(int n, const float *logical, float *physical, cudaStream_t stream);

/* 40 by 70 transposed through shared memory. */
cudaError_t tiled_pack(const __half *logical, __half *physical, cudaStream_t stream);

/* [h, w, c] to (c // 4, h), (w, c % 4), 5 by 7 by 6. */
cudaError_t texture_pack(const float *logical, cudaSurfaceObject_t physical, cudaStream_t stream);
cudaError_t texture_unpack(cudaTextureObject_t physical, float *logical, cudaStream_t stream);

/* Writes a row too many. */
cudaError_t texture_overrun(cudaSurfaceObject_t physical, cudaStream_t stream);

/* [n, h, w, c] with c of 4, a layer for each n. */
cudaError_t layers_pack(int n, const float *logical, cudaSurfaceObject_t physical, cudaStream_t stream);
cudaError_t layers_unpack(int n, cudaTextureObject_t physical, float *logical, cudaStream_t stream);

/* Bits of bf16 from f32. */
cudaError_t narrow(const float *logical, __nv_bfloat16 *physical, cudaStream_t stream);

#endif
