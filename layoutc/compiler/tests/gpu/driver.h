/* Helpers for drivers of emitted CUDA: copy files to the device and back, and compare bytes. Uses only the runtime API,
 * and therefore runs on a GPU and on the stand-in. */
#pragma once
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

typedef std::vector<unsigned char> Bytes;

static inline void must(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static inline Bytes read_file(const char *name, size_t size) {
    Bytes bytes(size);
    FILE *file = fopen(name, "rb");
    if (file == nullptr || fread(bytes.data(), 1, size, file) != size) {
        fprintf(stderr, "%s cannot be read\n", name);
        exit(1);
    }
    fclose(file);
    return bytes;
}

/* Bytes of a file; with an empty name, 0xAA, which no test writes. */
static inline Bytes content(const char *name, size_t size) {
    return *name == 0 ? Bytes(size, 0xAA) : read_file(name, size);
}

static inline void compare(const char *what, const Bytes &got, const char *name) {
    const Bytes wanted = read_file(name, got.size());
    for (size_t k = 0; k < got.size(); ++k) {
        if (got[k] != wanted[k]) {
            fprintf(stderr, "%s: byte %zu is %02X, not %02X as in %s\n", what, k, got[k], wanted[k], name);
            exit(1);
        }
    }
}

struct Buffer {
    void *at = nullptr;
    size_t size;

    /* `off`: offset of the buffer in its allocation, in bytes. */
    Buffer(const char *name, size_t size_, size_t off = 0) : size(size_) {
        const Bytes bytes = content(name, size);
        must(cudaMalloc(&at, size + off), "cudaMalloc");
        at = static_cast<char *>(at) + off;
        must(cudaMemcpy(at, bytes.data(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    Buffer(const void *from, size_t size_) : size(size_) {
        must(cudaMalloc(&at, size), "cudaMalloc");
        must(cudaMemcpy(at, from, size, cudaMemcpyHostToDevice), "cudaMemcpy");
    }

    void read(void *to) const {
        must(cudaMemcpy(to, at, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
    }

    void expect(const char *what, const char *name) const {
        Bytes got(size);
        read(got.data());
        compare(what, got, name);
    }

    template <class T> operator T *() const {
        return static_cast<T *>(at);
    }
};

struct Image {
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    size_t width, height, images, texel;

    Image(const char *name, cudaChannelFormatDesc format, size_t width_, size_t height_, size_t layers)
        : width(width_), height(height_), images(layers > 0 ? layers : 1), texel((size_t)(format.x + format.y + format.z + format.w) / 8) {
        const unsigned flags = (layers > 0 ? cudaArrayLayered : 0u) | cudaArraySurfaceLoadStore;
        must(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, layers), flags), "cudaMalloc3DArray");
        Bytes bytes = content(name, size());
        cudaMemcpy3DParms copy;
        memset(&copy, 0, sizeof copy);
        copy.srcPtr = make_cudaPitchedPtr(bytes.data(), width * texel, width, height);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(width, height, images);
        copy.kind = cudaMemcpyHostToDevice;
        must(cudaMemcpy3D(&copy), "cudaMemcpy3D");
        cudaResourceDesc resource;
        memset(&resource, 0, sizeof resource);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc about;
        memset(&about, 0, sizeof about);
        must(cudaCreateTextureObject(&texture, &resource, &about, nullptr), "cudaCreateTextureObject");
        must(cudaCreateSurfaceObject(&surface, &resource), "cudaCreateSurfaceObject");
    }

    size_t size() const {
        return width * height * images * texel;
    }

    void expect(const char *what, const char *name) const {
        Bytes got(size());
        cudaMemcpy3DParms copy;
        memset(&copy, 0, sizeof copy);
        copy.srcArray = array;
        copy.dstPtr = make_cudaPitchedPtr(got.data(), width * texel, width, height);
        copy.extent = make_cudaExtent(width, height, images);
        copy.kind = cudaMemcpyDeviceToHost;
        must(cudaMemcpy3D(&copy), "cudaMemcpy3D");
        compare(what, got, name);
    }
};

/* Checks the launch and the execution of a kernel. */
static inline void done(cudaError_t error, const char *what) {
    must(error, what);
    must(cudaDeviceSynchronize(), what);
}
