"""Times elementwise kernels against hand-written loops, and writes results.md next to this file.

    python3 bench/elementwise/run.py --layoutc target/release/layoutc [--rounds 21]

A kernel and its loop alternate in one process, with the same buffers, compiler and flags; a row is the median over the rounds of the
ratio of their times.
"""

import argparse
import datetime
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conversion"))
import machine  # noqa: E402

COMPILERS = (("gcc", "-O2"), ("gcc", "-O3", "-march=native"), ("clang", "-O2"))
KERNELS = {
    "relu_max": ("f32", "`max(x, 0.0)`"),
    "relu_select": ("f32", "`select(x > 0.0, x, 0.0)`"),
    "clamp": ("f32", "`min(max(x, -1.0), 1.0)`"),
    "quantize": ("f32 to i8", "`i8(min(max(x * 20.0, -128.0), 127.0))`"),
    "dequantize": ("i8 to f32", "`f32(q) * 0.05`"),
    "to_i32": ("f32 to i32", "`i32(x)`"),
    "add_f16": ("f16", "`f + g`"),
    "add_bf16": ("bf16", "`b + c`"),
}


def measure(layoutc, compiler, rounds, out):
    subprocess.run([layoutc, "build", "-q", str(HERE), "--out", str(out)], check=True)
    sources = [str(HERE / "driver.c"), str(HERE / "hand.c"), str(out / "c/elementwise.c")]
    program = str(out / "driver")
    subprocess.run([*compiler, "-std=gnu11", f"-I{out / 'c'}", "-o", program, *sources], check=True)
    ran = subprocess.run([program, str(rounds)], check=True, capture_output=True, text=True)
    rows = (line.split() for line in ran.stdout.splitlines())
    return {name: [float(number) for number in numbers] for name, *numbers in rows}


def table(measured):
    header = ["kernel", "elements", "4,096: ns", *(f"`{' '.join(compiler)}`" for compiler in measured), "4,194,304: µs"]
    header += [f"`{' '.join(compiler)}`" for compiler in measured]
    lines = ["| " + " | ".join(header) + " |", "|---|---|" + "---:|" * (len(header) - 2)]
    first = next(iter(measured.values()))
    for kernel, (elements, text) in KERNELS.items():
        row = [text, elements]
        for size, unit in (("small", 1e9), ("large", 1e6)):
            name = f"{kernel}_{size}"
            row += [f"{first[name][0] * unit:.0f}"] + [f"{rows[name][2]:.2f}" for rows in measured.values()]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--layoutc", default="layoutc")
    arguments.add_argument("--rounds", type=int, default=21)
    args = arguments.parse_args()
    layoutc = str(Path(args.layoutc).resolve()) if "/" in args.layoutc else args.layoutc
    with tempfile.TemporaryDirectory() as folder:
        measured = {compiler: measure(layoutc, compiler, args.rounds, Path(folder)) for compiler in COMPILERS}
    here = machine.describe("gcc")
    text = f"""{datetime.date.today()}; {here['processor']}, {here['caches']}; {here['compiler']}; medians of {args.rounds} rounds, one thread.
The times are those of the kernel with `{' '.join(COMPILERS[0])}`; the ratios are its time divided by that of the loop by hand, each with the compiler of the
column. Below 1 the kernel is faster: the loop by hand has no vectors with `-O2` alone, and the kernel selects its vectors at run time.

{table(measured)}
"""
    (HERE / "results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
