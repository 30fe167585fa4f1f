/* Runs what sample.cu has and looks at every element. An argument chooses a fault instead, which must end the program. */
#include "sample.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

static void must(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

template <class T> static T *to_device(const std::vector<T> &values) {
    T *made = nullptr;
    must(cudaMalloc(&made, values.size() * sizeof(T)), "cudaMalloc");
    must(cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return made;
}

template <class T> static void expect(const char *what, const T *device, const std::vector<T> &wanted) {
    std::vector<T> got(wanted.size());
    must(cudaMemcpy(got.data(), device, got.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (memcmp(static_cast<const void *>(got.data()), wanted.data(), got.size() * sizeof(T)) != 0) {
        fprintf(stderr, "%s: other elements than expected\n", what);
        exit(1);
    }
}

static std::vector<float> counted(int count) {
    std::vector<float> values;
    for (int k = 0; k < count; k++) {
        values.push_back((float)k);
    }
    return values;
}

struct Image {
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
};

static Image image(int width, int height, int layers) {
    Image made;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    const cudaExtent extent = make_cudaExtent((size_t)width, (size_t)height, (size_t)layers);
    const unsigned flags = (layers > 0 ? cudaArrayLayered : 0u) | cudaArraySurfaceLoadStore;
    must(cudaMalloc3DArray(&made.array, &format, extent, flags), "cudaMalloc3DArray");
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = made.array;
    cudaTextureDesc about;
    memset(&about, 0, sizeof about);
    must(cudaCreateTextureObject(&made.texture, &resource, &about, nullptr), "cudaCreateTextureObject");
    must(cudaCreateSurfaceObject(&made.surface, &resource), "cudaCreateSurfaceObject");
    return made;
}

static void expect(const char *what, const Image &image, int width, int height, const std::vector<float> &wanted) {
    std::vector<float> got(wanted.size());
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    const size_t pitch = (size_t)width * 16;
    copy.srcArray = image.array;
    copy.dstPtr = make_cudaPitchedPtr(got.data(), pitch, (size_t)width, (size_t)height);
    copy.extent = make_cudaExtent((size_t)width, (size_t)height, got.size() * 4 / pitch / (size_t)height);
    copy.kind = cudaMemcpyDeviceToHost;
    must(cudaMemcpy3D(&copy), "cudaMemcpy3D");
    if (got != wanted) {
        fprintf(stderr, "%s: other texels than expected\n", what);
        exit(1);
    }
}

int main(int count, char **words) {
    const int n = 3;
    const std::vector<float> logical = counted(n * 35);
    const float *in = to_device(logical);
    float *out = to_device(std::vector<float>(n * 35));
    const Image flat = image(7, 10, 0);
    const Image layered = image(7, 5, n);
    if (count > 1 && strcmp(words[1], "overrun") == 0) {
        must(turn_overrun(n, in, out, nullptr), "turn_overrun");
        must(cudaDeviceSynchronize(), "turn_overrun");
        return 0;
    }
    if (count > 1 && strcmp(words[1], "texture_overrun") == 0) {
        must(texture_overrun(flat.surface, nullptr), "texture_overrun");
        must(cudaDeviceSynchronize(), "texture_overrun");
        return 0;
    }

    if (turn_pack(0, in, out, nullptr) != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "an empty grid is no error\n");
        return 1;
    }
    must(turn_pack(n, in, out, nullptr), "turn_pack");
    std::vector<float> turned;
    for (int k = 0; k < n; k++) {
        for (int w = 0; w < 7; w++) {
            for (int h = 0; h < 5; h++) {
                turned.push_back((float)((k * 5 + h) * 7 + w));
            }
        }
    }
    expect("turn_pack", out, turned);

    std::vector<__half> halves, transposed;
    for (int k = 0; k < 2800; k++) {
        halves.push_back(__float2half((float)(k % 2000) * 0.25f));
    }
    for (int k = 0; k < 2800; k++) {
        transposed.push_back(halves[(size_t)(k % 40 * 70 + k / 40)]);
    }
    __half *tiled = to_device(std::vector<__half>(2800));
    must(tiled_pack(to_device(halves), tiled, nullptr), "tiled_pack");
    expect("tiled_pack", tiled, transposed);

    const std::vector<float> pixels = counted(210);
    std::vector<float> texels;
    for (int row = 0; row < 10; row++) {
        for (int w = 0; w < 7; w++) {
            for (int lane = 0; lane < 4; lane++) {
                const int c = row / 5 * 4 + lane;
                texels.push_back(c < 6 ? (float)((row % 5 * 7 + w) * 6 + c) : -1.0f);
            }
        }
    }
    float *back = to_device(std::vector<float>(210));
    must(texture_pack(to_device(pixels), flat.surface, nullptr), "texture_pack");
    expect("texture_pack", flat, 7, 10, texels);
    must(texture_unpack(flat.texture, back, nullptr), "texture_unpack");
    expect("texture_unpack", back, pixels);

    const std::vector<float> layers = counted(n * 140);
    float *again = to_device(std::vector<float>(n * 140));
    must(layers_pack(n, to_device(layers), layered.surface, nullptr), "layers_pack");
    expect("layers_pack", layered, 7, 5, layers);
    must(layers_unpack(n, layered.texture, again, nullptr), "layers_unpack");
    expect("layers_unpack", again, layers);

    std::vector<__nv_bfloat16> narrowed;
    for (int k = 0; k < 16; k++) {
        narrowed.push_back(__ushort_as_bfloat16((unsigned short)(0x3F80 + k)));
    }
    std::vector<float> wide;
    for (int k = 0; k < 16; k++) {
        /* A tie that goes to the even below, or a little less than the odd. */
        wide.push_back(1.0f + (float)k / 128.0f + (k % 2 == 0 ? 1.0f / 256.0f : -1.0f / 512.0f));
    }
    __nv_bfloat16 *narrow_out = to_device(std::vector<__nv_bfloat16>(16));
    must(narrow(to_device(wide), narrow_out, nullptr), "narrow");
    expect("narrow", narrow_out, narrowed);
    printf("ok\n");
    return 0;
}
