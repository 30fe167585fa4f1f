#!/usr/bin/env python3
"""Times products of square matrices of several sizes, and row reductions, with the planner's loops.

    python3 bench/kernels/sizes.py [LAYOUTC ...]

One row per case, one column per given layoutc: the best of several runs on one thread, in GFLOP/s or GB/s.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

PRODUCT = """kernel product {{
    operands A B C
    compute "C[i, j] += A[i, k] * B[k, j]"
}}
tensor left dtype=f32 {{
    shape {{ i {n}; k {k} }}
}}
tensor right dtype=f32 {{
    shape {{ k {k}; j {n} }}
    layout {{ order {order} }}
}}
tensor result dtype=f32 {{
    shape {{ i {n}; j {n} }}
}}
instance run of=product A=left B=right C=result
"""

ROWS = """kernel rows {{
    operands {operands}
    compute "{text}"
}}
tensor left dtype=f32 {{
    shape {{ i 1000; k 1003 }}
}}
tensor right dtype=f32 {{
    shape {{ k 1003 }}
}}
tensor result dtype=f32 {{
    shape {{ i 1000 }}
}}
instance run of=rows {bound}
"""

DRIVER = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "m.h"
static double now(void) {{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}}
int main(void) {{
    float *a = malloc(LEFT_BYTES), *b = malloc(RIGHT_BYTES), *c = malloc(RESULT_BYTES);
    for (size_t k = 0; k < LEFT_BYTES / 4; ++k) a[k] = (float)(rand() % 7 - 3);
    for (size_t k = 0; k < RIGHT_BYTES / 4; ++k) b[k] = (float)(rand() % 5);
    double best = 1e9;
    for (int round = 0; round < {rounds}; ++round) {{
        const double start = now();
        run({arguments});
        const double took = now() - start;
        best = took < best ? took : best;
    }}
    printf("%.1f", {work} / best / 1e9);
    return 0;
}}
"""

BOUND = {"A": "left", "B": "right", "C": "result"}


def product(n, order, k=None):
    k, what = k or n, f"{n} by {k} by {n}" if k else f"edge {n}"
    text = PRODUCT.format(n=n, k=k, order=order)
    return f"product, {what}, `B` by `{order}`, GFLOP/s", text, "a, b, c", f"2.0 * {n} * {k} * {n}", 7


def rows(text, operands):
    bound = " ".join(f"{name}={BOUND[name]}" for name in operands)
    text_of = ROWS.format(text=text, operands=" ".join(operands), bound=bound)
    return f"`{text}`, GB/s", text_of, ", ".join(operands).lower(), "(double)LEFT_BYTES", 30


CASES = [product(n, order) for n in (200, 500, 512, 1024, 2048) for order in ("k j", "j k")] + [
    product(512, "k j", 16384),
    product(512, "j k", 16384),
    rows("C[i] += A[i, k] * B[k]", "ABC"),
    rows("C[i] += A[i, k]", "AC"),
    rows("C[i] max= A[i, k]", "AC"),
]


def measure(layoutc, text, arguments, work, rounds):
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "m.kdl").write_text(text)
        subprocess.run([layoutc, "build", "-q", "m.kdl", "--target", "c", "--out", "out"], cwd=here, check=True)
        (here / "driver.c").write_text(DRIVER.format(arguments=arguments, work=work, rounds=rounds))
        sources = ["driver.c", "out/c/m.c"]
        subprocess.run(["cc", "-O2", "-Iout/c", *sources, "-o", "driver", "-lm"], cwd=here, check=True)
        return subprocess.run(["./driver"], cwd=here, check=True, capture_output=True, text=True).stdout


def main():
    programs = [str(Path(name).resolve()) for name in sys.argv[1:]] or [str(ROOT / "target" / "release" / "layoutc")]
    for name, *case in CASES:
        print(f"| {name} | {' | '.join(measure(program, *case) for program in programs)} |", flush=True)


if __name__ == "__main__":
    main()
