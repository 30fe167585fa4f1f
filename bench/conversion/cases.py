"""The measured conversions, with reference results from another machine."""

import re
from dataclasses import dataclass
from math import prod

ELEMENT_BYTES = {"f32": 4, "bf16": 2, "i8": 1}


@dataclass(frozen=True)
class Case:
    """A dense row-major source and the layout of the destination as a oneDNN tag: a letter for each axis, outermost first,
    upper case if the axis has blocks, then the blocks, outermost first."""

    name: str
    what: str
    element: str
    extents: tuple[int, ...]
    layout: str
    # Relative to memcpy: the best of oneDNN 2.6.3, HPTT, NumPy, PyTorch and JAX, its name, and hand-written C.
    reference_peer: float
    reference_peer_name: str
    reference_hand: float

    @property
    def dims(self):
        return "x".join(map(str, self.extents))

    @property
    def is_large(self):
        return self.name.endswith("_L")

    @property
    def is_small(self):
        return self.name.endswith("_S")

    @property
    def moved_bytes(self):
        """Bytes read plus bytes written, padding included."""
        return (prod(self.extents) + self.physical_elements) * ELEMENT_BYTES[self.element]

    @property
    def order(self):
        """Axes of the block grid, outermost first."""
        letters = re.match("[a-zA-Z]*?(?=[0-9]|$)", self.layout)[0]
        return ["abcdef".index(letter.lower()) for letter in letters]

    @property
    def blocks(self):
        """Pairs of an axis and a block extent, outermost first."""
        return [("abcdef".index(letter), int(extent)) for extent, letter in re.findall("([0-9]+)([a-z])", self.layout)]

    def block_extents(self, axis):
        return [extent for other, extent in self.blocks if other == axis]

    def grid(self, axis):
        """Number of blocks that cover an axis."""
        return -(-self.extents[axis] // prod(self.block_extents(axis)))

    @property
    def padded_extents(self):
        return [self.grid(axis) * prod(self.block_extents(axis)) for axis in range(len(self.extents))]

    @property
    def strides(self):
        """Stride between consecutive blocks of each axis, in elements of the destination."""
        strides = [0] * len(self.extents)
        stride = prod(extent for _, extent in self.blocks)
        for axis in reversed(self.order):
            strides[axis] = stride
            stride *= self.grid(axis)
        return strides

    @property
    def physical_elements(self):
        return prod(self.padded_extents)


# Source of the last three columns: a measurement of 2026-11 on a 2-core x86-64 machine with AVX-512 and 32 MiB of L3,
# gcc 12, one thread, CPU time, medians. Sizes: S fits the L2, M the L3, L is beyond the caches.
CASES = [
    Case("copy_S", "identity", "f32", (65536,), "a", 0.93, "oneDNN", 1.02),
    Case("copy_L", "identity", "f32", (33554432,), "a", 1.18, "oneDNN", 1.57),
    Case("nchw_nhwc_S", "NCHW→NHWC", "f32", (1, 64, 32, 32), "acdb", 0.13, "HPTT", 0.75),
    Case("nchw_nhwc_L", "NCHW→NHWC", "f32", (32, 64, 128, 128), "acdb", 0.63, "HPTT", 1.37),
    Case("nhwc_nchw_S", "NHWC→NCHW", "f32", (1, 32, 32, 64), "adbc", 0.37, "oneDNN", 0.48),
    Case("nhwc_nchw_L", "NHWC→NCHW", "f32", (32, 128, 128, 64), "adbc", 0.86, "HPTT", 1.26),
    Case("nchw_nchw16c_S", "NCHW→NCHW16c", "f32", (1, 64, 32, 32), "aBcd16b", 0.49, "oneDNN", 0.75),
    Case("nchw_nchw16c_L", "NCHW→NCHW16c", "f32", (32, 64, 128, 128), "aBcd16b", 0.91, "oneDNN", 1.61),
    Case("nhwc_nchw4c_S", "NHWC→NCHW4c", "f32", (1, 32, 32, 64), "aDbc4d", 0.34, "oneDNN", 0.74),
    Case("nhwc_nchw4c_L", "NHWC→NCHW4c", "f32", (32, 128, 128, 64), "aDbc4d", 0.33, "oneDNN", 0.63),
    Case("oihw_OIhw16i16o_S", "OIHW→OIhw16i16o", "f32", (128, 64, 3, 3), "ABcd16b16a", 0.54, "oneDNN", 0.94),
    Case("oihw_OIhw16i16o_L", "OIHW→OIhw16i16o", "f32", (2048, 2048, 3, 3), "ABcd16b16a", 0.50, "oneDNN", 1.13),
    Case("t2d_S", "2-D transpose", "f32", (240, 272), "ba", 0.40, "oneDNN", 1.06),
    Case("t2d_L", "2-D transpose", "f32", (6000, 6000), "ba", 0.56, "HPTT", 1.05),
    Case("t2d_pow2_S", "2-D transpose, powers of two", "f32", (256, 256), "ba", 0.31, "oneDNN", 0.94),
    Case("t2d_pow2_L", "2-D transpose, powers of two", "f32", (4096, 8192), "ba", 0.43, "HPTT", 1.01),
    Case("xla_T8_128_S", "row-major→T(8,128), padded", "f32", (250, 300), "AB8a128b", 0.94, "oneDNN", 1.13),
    Case("xla_T8_128_M", "row-major→T(8,128), padded", "f32", (1000, 1000), "AB8a128b", 0.80, "oneDNN", 0.90),
    Case("xla_T8_128_L", "row-major→T(8,128), padded", "f32", (6001, 5999), "AB8a128b", 1.08, "oneDNN", 1.37),
    Case("xla_T8_128_2_1_S", "row-major→T(8,128)(2,1), padded", "bf16", (250, 700), "AB4a128b2a", 0.14, "oneDNN", 0.82),
    Case("xla_T8_128_2_1_M", "row-major→T(8,128)(2,1), padded", "bf16", (1000, 1000), "AB4a128b2a", 0.14, "oneDNN", 0.87),
    Case("xla_T8_128_2_1_L", "row-major→T(8,128)(2,1), padded", "bf16", (8001, 8999), "AB4a128b2a", 0.47, "oneDNN", 1.55),
    Case("perm5d_S", "permute [4,2,0,3,1]", "f32", (8, 16, 8, 4, 16), "ecadb", 0.23, "HPTT", 0.46),
    Case("perm5d_L", "permute [4,2,0,3,1]", "f32", (40, 24, 32, 23, 48), "ecadb", 0.37, "oneDNN", 0.62),
    Case("aos3_soa_S", "3-field AoS→SoA", "f32", (21824, 3), "ba", 0.46, "oneDNN", 1.01),
    Case("aos3_soa_L", "3-field AoS→SoA", "f32", (11184640, 3), "ba", 0.95, "oneDNN", 1.68),
    Case("aos4_soa_S", "4-field AoS→SoA", "f32", (16384, 4), "ba", 0.46, "oneDNN", 1.01),
    Case("aos4_soa_L", "4-field AoS→SoA", "f32", (8388608, 4), "ba", 0.77, "oneDNN", 1.74),
    Case("i8_nchw_nchw4c_S", "NCHW→NCHW4c", "i8", (1, 64, 64, 64), "aBcd4b", 0.14, "JAX", 1.05),
    Case("i8_nchw_nchw4c_L", "NCHW→NCHW4c", "i8", (32, 256, 128, 128), "aBcd4b", 0.36, "oneDNN", 1.60),
    Case("i8_nchw_nhwc_S", "NCHW→NHWC", "i8", (1, 64, 64, 64), "acdb", 0.02, "oneDNN", 0.32),
    Case("i8_nchw_nhwc_L", "NCHW→NHWC", "i8", (32, 256, 128, 128), "acdb", 0.11, "oneDNN", 0.97),
    Case("bf16_nchw_nhwc_S", "NCHW→NHWC", "bf16", (1, 128, 32, 32), "acdb", 0.10, "oneDNN", 0.70),
    Case("bf16_nchw_nhwc_L", "NCHW→NHWC", "bf16", (32, 128, 128, 128), "acdb", 0.21, "oneDNN", 0.80),
    Case("bf16_t2d_S", "2-D transpose", "bf16", (352, 384), "ba", 0.21, "oneDNN", 0.77),
    Case("bf16_t2d_L", "2-D transpose", "bf16", (8512, 8000), "ba", 0.32, "oneDNN", 0.64),
]
