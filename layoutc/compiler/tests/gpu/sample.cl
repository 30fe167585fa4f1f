/* By hand, as layoutc emits: what gpu_tools.rs runs to try the tools themselves. */

/* [n, h, w] to [n, w, h], n a symbol. */
__kernel void turn_pack(int n, __global const float *restrict logical, __global float *restrict physical) {
    const int h = (int)get_global_id(0);
    const int w = (int)get_global_id(1);
    const int k = (int)get_global_id(2);
    if (h < 5 && w < 7 && k < n) {
        physical[(k * 7 + w) * 5 + h] = logical[(k * 5 + h) * 7 + w];
    }
}

/* The same without the guard that a global size rounded up needs. */
__kernel void turn_overrun(int n, __global const float *restrict logical, __global float *restrict physical) {
    const int h = (int)get_global_id(0);
    const int w = (int)get_global_id(1);
    const int k = (int)get_global_id(2);
    if (k < n) {
        physical[(k * 7 + w) * 5 + h] = logical[h < 5 && w < 7 ? (k * 5 + h) * 7 + w : 0];
    }
}

/* [h, w, c] to (c // 4, h), (w, c % 4), 5 by 7 by 6. */
__kernel void texture_pack(__global const float *restrict logical, __write_only image2d_t physical) {
    const int w = (int)get_global_id(0);
    const int row = (int)get_global_id(1);
    if (w < 7 && row < 10) {
        const int outer = row / 5;
        const int at = ((row % 5) * 7 + w) * 6 + outer * 4;
        float4 texel = (float4)(logical[at], logical[at + 1], 0.0f, 0.0f);
        if (outer == 0) {
            texel.s2 = logical[at + 2];
            texel.s3 = logical[at + 3];
        }
        write_imagef(physical, (int2)(w, row), texel);
    }
}

__kernel void texture_unpack(__read_only image2d_t physical, __global float *restrict logical) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    const int w = (int)get_global_id(0);
    const int row = (int)get_global_id(1);
    if (w < 7 && row < 10) {
        const int outer = row / 5;
        const int at = ((row % 5) * 7 + w) * 6 + outer * 4;
        const float4 texel = read_imagef(physical, nearest, (int2)(w, row));
        logical[at] = texel.s0;
        logical[at + 1] = texel.s1;
        if (outer == 0) {
            logical[at + 2] = texel.s2;
            logical[at + 3] = texel.s3;
        }
    }
}

/* [n, h, w, c] with c of 4, a layer for each n. */
__kernel void layers_pack(int n, __global const float *restrict logical, __write_only image2d_array_t physical) {
    const int w = (int)get_global_id(0);
    const int h = (int)get_global_id(1);
    const int k = (int)get_global_id(2);
    if (w < 7 && h < 5 && k < n) {
        write_imagef(physical, (int4)(w, h, k, 0), vload4((k * 5 + h) * 7 + w, logical));
    }
}

__kernel void layers_unpack(int n, __read_only image2d_array_t physical, __global float *restrict logical) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
    const int w = (int)get_global_id(0);
    const int h = (int)get_global_id(1);
    const int k = (int)get_global_id(2);
    if (w < 7 && h < 5 && k < n) {
        vstore4(read_imagef(physical, nearest, (int4)(w, h, k, 0)), (k * 5 + h) * 7 + w, logical);
    }
}
