#include "sample.cuh"

__global__ static void turn_pack_kernel(int n, const float *__restrict__ logical, float *__restrict__ physical) {
    const int h = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int w = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int k = (int)blockIdx.z;
    if (h < 5 && w < 7 && k < n) {
        physical[turn_offset(n, k, h, w)] = logical[(k * 5 + h) * 7 + w];
    }
}

cudaError_t turn_pack(int n, const float *logical, float *physical, cudaStream_t stream) {
    const dim3 block(8, 8, 1);
    const dim3 grid(1, 1, (unsigned)n);
    turn_pack_kernel<<<grid, block, 0, stream>>>(n, logical, physical);
    return cudaGetLastError();
}

__global__ static void turn_overrun_kernel(int n, const float *__restrict__ logical, float *__restrict__ physical) {
    const int h = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int w = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int k = (int)blockIdx.z;
    if (k < n) {
        physical[turn_offset(n, k, h, w)] = logical[h < 5 && w < 7 ? (k * 5 + h) * 7 + w : 0];
    }
}

cudaError_t turn_overrun(int n, const float *logical, float *physical, cudaStream_t stream) {
    turn_overrun_kernel<<<dim3(1, 1, (unsigned)n), dim3(8, 8, 1), 0, stream>>>(n, logical, physical);
    return cudaGetLastError();
}

__global__ static void tiled_pack_kernel(const __half *__restrict__ logical, __half *__restrict__ physical) {
    __shared__ __half tile[16][17];
    int row = (int)(blockIdx.y * 16u + threadIdx.y);
    int column = (int)(blockIdx.x * 16u + threadIdx.x);
    if (row < 40 && column < 70) {
        tile[threadIdx.y][threadIdx.x] = logical[row * 70 + column];
    }
    __syncthreads();
    row = (int)(blockIdx.x * 16u + threadIdx.y);
    column = (int)(blockIdx.y * 16u + threadIdx.x);
    if (row < 70 && column < 40) {
        physical[row * 40 + column] = tile[threadIdx.x][threadIdx.y];
    }
}

cudaError_t tiled_pack(const __half *logical, __half *physical, cudaStream_t stream) {
    tiled_pack_kernel<<<dim3(5, 3), dim3(16, 16), 0, stream>>>(logical, physical);
    return cudaGetLastError();
}

__global__ static void texture_pack_kernel(const float *__restrict__ logical, cudaSurfaceObject_t physical) {
    const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (w < 7 && row < 10) {
        const int outer = row / 5;
        const int at = ((row % 5) * 7 + w) * 6 + outer * 4;
        float4 texel = make_float4(logical[at], logical[at + 1], -1.0f, -1.0f);
        if (outer == 0) {
            texel.z = logical[at + 2];
            texel.w = logical[at + 3];
        }
        surf2Dwrite(texel, physical, w * (int)sizeof(float4), row);
    }
}

cudaError_t texture_pack(const float *logical, cudaSurfaceObject_t physical, cudaStream_t stream) {
    const dim3 block(8, 8), grid(1, 2);
    texture_pack_kernel<<<grid, block, 0, stream>>>(logical, physical);
    return cudaGetLastError();
}

__global__ static void texture_unpack_kernel(cudaTextureObject_t physical, float *__restrict__ logical) {
    const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (w < 7 && row < 10) {
        const int outer = row / 5;
        const int at = ((row % 5) * 7 + w) * 6 + outer * 4;
        const float4 texel = tex2D<float4>(physical, (float)w + 0.5f, (float)row + 0.5f);
        logical[at] = texel.x;
        logical[at + 1] = texel.y;
        if (outer == 0) {
            logical[at + 2] = texel.z;
            logical[at + 3] = texel.w;
        }
    }
}

cudaError_t texture_unpack(cudaTextureObject_t physical, float *logical, cudaStream_t stream) {
    texture_unpack_kernel<<<dim3(1, 2), dim3(8, 8), 0, stream>>>(physical, logical);
    return cudaGetLastError();
}

__global__ static void texture_overrun_kernel(cudaSurfaceObject_t physical) {
    surf2Dwrite(make_float4(0.0f, 0.0f, 0.0f, 0.0f), physical, 0, (int)threadIdx.x);
}

cudaError_t texture_overrun(cudaSurfaceObject_t physical, cudaStream_t stream) {
    texture_overrun_kernel<<<1, 11, 0, stream>>>(physical);
    return cudaGetLastError();
}

__global__ static void layers_pack_kernel(int n, const float *__restrict__ logical, cudaSurfaceObject_t physical) {
    const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int h = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int k = (int)blockIdx.z;
    if (w < 7 && h < 5 && k < n) {
        const float4 texel = reinterpret_cast<const float4 *>(logical)[(k * 5 + h) * 7 + w];
        surf2DLayeredwrite(texel, physical, w * (int)sizeof(float4), h, k);
    }
}

cudaError_t layers_pack(int n, const float *logical, cudaSurfaceObject_t physical, cudaStream_t stream) {
    layers_pack_kernel<<<dim3(1, 1, (unsigned)n), dim3(8, 8), 0, stream>>>(n, logical, physical);
    return cudaGetLastError();
}

__global__ static void layers_unpack_kernel(int n, cudaTextureObject_t physical, float *__restrict__ logical) {
    const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int h = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int k = (int)blockIdx.z;
    if (w < 7 && h < 5 && k < n) {
        const float4 texel = tex2DLayered<float4>(physical, (float)w + 0.5f, (float)h + 0.5f, k);
        reinterpret_cast<float4 *>(logical)[(k * 5 + h) * 7 + w] = texel;
    }
}

cudaError_t layers_unpack(int n, cudaTextureObject_t physical, float *logical, cudaStream_t stream) {
    layers_unpack_kernel<<<dim3(1, 1, (unsigned)n), dim3(8, 8), 0, stream>>>(n, physical, logical);
    return cudaGetLastError();
}

__global__ static void narrow_kernel(const float *__restrict__ logical, __nv_bfloat16 *__restrict__ physical) {
    const unsigned k = threadIdx.x;
    physical[k] = __float2bfloat16(logical[k]);
}

cudaError_t narrow(const float *logical, __nv_bfloat16 *physical, cudaStream_t stream) {
    narrow_kernel<<<1, 16, 0, stream>>>(logical, physical);
    return cudaGetLastError();
}
