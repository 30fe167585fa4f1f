"""Generates a project of TENSORS tensors: python3 project.py FOLDER TENSORS [TENSORS_PER_MANIFEST]."""

import random
import sys
from pathlib import Path

DTYPES = ["f32", "f16", "bf16", "i8", "i32", "u8", "f64"]
EXTENTS = [1, 2, 3, 5, 7, 8, 16, 28, 33, 56, 64, 100, 128, 224]

# Shapes of real networks in layouts of real libraries; channels and features are multiples of the blocks, so that there
# are no warnings.
LAYOUTS = [
    ("n h w c", "layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\" }"),
    ("n c h w", "layout nchw16c"),
    ("o i h w", "layout { split o by=8; split i by=8; order o_outer i_outer h w i_inner o_inner }"),
    ("n h w c", ""),
    ("n c h w", "layout { order n h w c }"),
    ("m k", "layout { tile 8 128 }"),
    ("k n", "layout { order n k }"),
    ("b s h d", "layout { order b h s d }"),
    ("n h w c", "layout { map \"(n, h, w, c) -> (n, h | w, c)\" }"),
    ("r c", "layout { split r by=16; order r_outer c r_inner }"),
]


def extent(axis, rng):
    if axis in "ci" or axis == "o":
        return 16 * rng.randint(1, 32)
    if axis in "mknr":
        return 128 * rng.randint(1, 16) if axis != "n" else rng.choice([1, 2, 4, 8])
    return rng.choice(EXTENTS)


def tensor(number, rng):
    axes, layout = LAYOUTS[number % len(LAYOUTS)]
    extents = "; ".join(f"{axis} {extent(axis, rng)}" for axis in axes.split())
    dtype = rng.choice(DTYPES)
    lines = [f"tensor t{number} dtype={dtype} {{", f"    shape {{ {extents} }}"]
    if layout:
        lines.append(f"    {layout}")
    return "\n".join(lines + ["}", ""])


def manifest(first, count, rng):
    head = 'use "../common.kdl"\n'
    return "\n".join([head] + [tensor(number, rng) for number in range(first, first + count)])


def make(folder, tensors, each):
    rng = random.Random(7)
    folder = Path(folder)
    (folder / "layouts").mkdir(parents=True)
    (folder / "layoutc.toml").write_text('[project]\nname = "big"\nsources = ["layouts/*/*.kdl"]\n')
    common = 'transform nchw16c {\n    map "(n, c, h, w) -> (n, c // 16, h, w, c % 16)"\n}\n'
    (folder / "layouts" / "common.kdl").write_text(common)
    for number in range(tensors // each):
        group = folder / "layouts" / f"g{number // 100:03}"
        group.mkdir(exist_ok=True)
        (group / f"m{number:05}.kdl").write_text(manifest(number * each, each, rng))


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 10)
