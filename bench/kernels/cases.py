"""Timed contenders, by group: those of a group alternate in one process and compute the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A C function, the layouts of its operands and result, and its description in the table."""

    name: str
    layouts: tuple[str, str, str]
    what: str
    loops: str
    is_onednn: bool = False
    # Vector length in bytes below which it has no fast routine.
    asks_for: int = 0
    # Function that packs the second operand; by default that of its layout.
    packs_second: str = ""

    @property
    def moves(self):
        first, second, result = self.layouts
        return f"{first}_pack", self.packs_second or f"{second}_pack", f"{result}_unpack"


@dataclass(frozen=True)
class Group:
    """Contenders; elements of the three tensors; multiplications and additions, including taps outside the image;
    hand-written nests, each with the flags that select it."""

    name: str
    elements: tuple[int, int, int]
    operations: int
    by_hand: dict[str, list[str]]
    cases: tuple[Case, ...]


def ours(name, layouts, what):
    """The planner's own loops, and scheduled ones."""
    return (
        Case(name, layouts, what, "planner's"),
        Case(f"{name}_scheduled", layouts, what, "scheduled for AVX-512"),
        Case(f"{name}_avx2", layouts, what, "scheduled for AVX2"),
    )


NCHW = ("image_nchw", "filters_rsck", "result_nchw")
NCHW_KCRS = ("image_nchw", "filters_kcrs", "result_nchw")
NHWC = ("image_nhwc", "filters_rsck", "result_nhwc")
NCHW16C = ("image_nchw16c", "filters_16c16k", "result_nchw16c")
ROWS = ("left", "right", "product")
COLUMNS = ("left", "right_columns", "product")
TILED = ("left_tiled", "right_tiled", "product_tiled")

HAND = "by hand, `-O3 -march=native`"
HAND_LONG = "the same, `-mprefer-vector-width=512`"


def onednn(name, layouts, what, asks_for=0):
    packs = f"onednn_{name}_filters" if layouts[0].startswith("image") else ""
    return Case(f"onednn_{name}", layouts, what, "oneDNN", is_onednn=True, asks_for=asks_for, packs_second=packs)


GROUPS = [
    Group(
        "conv",
        (64 * 56 * 56, 64 * 64 * 9, 64 * 56 * 56),
        2 * 64 * 56 * 56 * 64 * 9,
        {"hand_conv": [], "hand_nhwc": ["-DNHWC"]},
        (
            *ours("nchw", NCHW, "NCHW"),
            Case("nchw_kcrs", NCHW_KCRS, "NCHW, filters k c r s", "planner's"),
            Case("nchw_staged", NCHW_KCRS, "NCHW, filters k c r s", "scheduled, a block of the image"),
            onednn("nchw", NCHW, "NCHW"),
            *ours("nhwc", NHWC, "NHWC"),
            Case("hand_nhwc", NHWC, "NHWC", HAND),
            Case("hand_nhwc_long", NHWC, "NHWC", HAND_LONG),
            onednn("nhwc", NHWC, "NHWC"),
            *ours("nchw4c", ("image_nchw4c", "filters_rsck", "result_nchw4c"), "NCHW4c"),
            *ours("nchw16c", NCHW16C, "NCHW16c"),
            Case("hand_conv", NCHW16C, "NCHW16c", HAND),
            Case("hand_conv_long", NCHW16C, "NCHW16c", HAND_LONG),
            onednn("nchw16c", NCHW16C, "NCHW16c", asks_for=64),
            *ours("squares", ("image_squares", "filters_rsck", "result_squares"), "NHWC in 8×8 squares"),
            Case("logical_order", NCHW16C, "NCHW16c", "one element at a time, n k h w"),
            Case("physical_order", NCHW16C, "NCHW16c", "one element at a time, n k_outer h w k_inner"),
        ),
    ),
    Group(
        "matmul",
        (512 * 512, 512 * 512, 512 * 512),
        2 * 512**3,
        {"hand_matmul": []},
        (
            *ours("rows", ROWS, "row-major"),
            onednn("rows", ROWS, "row-major"),
            Case("columns", COLUMNS, "B column-major", "planner's"),
            Case("columns_scheduled", COLUMNS, "B column-major", "scheduled"),
            onednn("columns", COLUMNS, "B column-major"),
            *ours("tiled", TILED, "panels and tiles of 8×32"),
            Case("hand_matmul", TILED, "panels and tiles of 8×32", HAND),
            Case("hand_matmul_long", TILED, "panels and tiles of 8×32", HAND_LONG),
        ),
    ),
]
