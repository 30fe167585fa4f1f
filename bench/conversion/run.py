#!/usr/bin/env python3
"""Times layoutc's conversions against memcpy, a streaming copy, oneDNN, NumPy and PyTorch.

    python3 bench/conversion/run.py [--cases GLOB] [--rounds N] [--quick] [--threads N] [--layoutc PATH] [--cc CC]

All contenders of a case alternate, round after round, so that other load affects all of them. Measures CPU time on one
thread, or with `--threads` wall time. Every result is first compared with that of a plain index loop. Writes results.md,
results.json and the plot in the book (with `--threads` files of another name, and no plot); `--quick` only prints,
after few rounds.
"""

import argparse
import datetime
import fnmatch
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import machine
import report
import roofline
from cases import CASES
from programs import Compiler, build, check

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLOT = ROOT / "book" / "src" / "conversion_roofline.svg"
VENV = ROOT / "target" / "peers"


class Contenders:
    """A process that times some of the contenders: one line of output per line of input."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("a contender failed")
        return line.split()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def environment(threads):
    """Disables NumPy's huge pages, so that all use the same memory, and spinning threads."""
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", "NUMPY_MADVISE_HUGEPAGE": "0"}


def start_arrays(args):
    """Starts the process of NumPy and PyTorch; None without NumPy. Reports missing packages."""
    python = VENV / "bin" / "python"
    python = str(python) if python.exists() else sys.executable
    lacks = [name for name in ["numpy", "torch"] if subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode != 0]
    if lacks:
        print(f"without {' and '.join(lacks)}: python3 -m venv target/peers && target/peers/bin/pip install {' '.join(lacks)}", file=sys.stderr)
    if "numpy" in lacks:
        return None
    return Contenders([python, str(HERE / "arrays.py"), args.clock, str(args.least), str(args.threads)], environment(args.threads))


def measure(case, program, arrays, args):
    """Seconds of each round, by process and contender."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Contenders([program, args.clock, str(args.least), *([folder] if arrays else [])], environment(args.threads))
        names = {"c": driver.answer()}
        if arrays:
            names["python"] = arrays.ask(f"{case.name} {folder}")
    rounds = {process: [] for process in names}
    for _ in range(args.rounds):
        rounds["c"].append(driver.ask("round"))
        if arrays:
            rounds["python"].append(arrays.ask("round"))
    driver.close()
    return {
        process: {name: [float(took[at]) for took in rounds[process]] for at, name in enumerate(names[process])}
        for process in names
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="*", metavar="GLOB")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="3 rounds of short samples; writes no file")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--layoutc", default=str(ROOT / "target" / "release" / "layoutc"))
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the tables; the plot is only written for the default")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 9)
    args.least = 0.001 if args.quick else 0.005
    args.clock = "cpu" if args.threads == 1 else "wall"
    return args


def main():
    args = arguments()
    cases = [case for case in CASES if fnmatch.fnmatch(case.name, args.cases)]
    if not cases:
        sys.exit(f"no case is called {args.cases}")
    if not Path(args.layoutc).exists():
        sys.exit(f"no {args.layoutc}: cargo build --release")
    out = ROOT / "target" / "conversion"
    args.out.mkdir(parents=True, exist_ok=True)
    build(args.layoutc, HERE, out)
    check(args.layoutc, HERE, cases)
    compiler = Compiler(args.cc, HERE, out, args.threads)
    arrays = start_arrays(args)
    results = []
    for case in cases:
        print(case.name, file=sys.stderr, flush=True)
        results.append(report.Result(case, measure(case, compiler.program(case), arrays, args)))
    if arrays:
        arrays.close()
    there = machine.describe(args.cc)
    text = report.page(results, there, args)
    print(text)
    if args.quick:
        return
    stem = "results" if args.threads == 1 else f"results_{args.threads}_threads"
    (args.out / f"{stem}.md").write_text(text)
    (args.out / f"{stem}.json").write_text(report.as_json(results, there, args))
    if args.threads == 1 and args.out == HERE:
        PLOT.write_text(roofline.plot(results))


if __name__ == "__main__":
    main()
