#!/usr/bin/env python3
"""Times layoutc's kernels against hand-written nests, oneDNN, and the multiply-add peak of one core.

    python3 bench/kernels/run.py [--group NAME] [--rounds N] [--quick] [--layoutc PATH] [--cc CC] [--out DIR]

All contenders of a group alternate, round after round, so that other load affects all of them; on a processor with AVX-512 so do
two programs, one of them without it. One thread, CPU time. Every result is first compared with that of a plain nest.
Writes results.md and results.json; `--quick` only prints, after few rounds.
"""

import argparse
import datetime
import os
import subprocess
import sys
from pathlib import Path

import report
from cases import GROUPS
from programs import Compiler, build

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "conversion"))
import machine  # noqa: E402


class Contenders:
    """A program that times the contenders of a group with one vector length."""

    def __init__(self, program, cases, vector, least):
        # Environment variable of oneDNN 2.
        isa = {"DNNL_MAX_CPU_ISA": "AVX2"} if vector == 32 else {}
        environment = {**os.environ, **isa, "OMP_NUM_THREADS": "1"}
        self.cases = cases
        command = [program, str(least), str(vector)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if self.answer() != [case.name for case in cases]:
            sys.exit("the program names other contenders")

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("a contender failed")
        return line.split()

    def round(self):
        """Peak, then seconds of each contender."""
        self.process.stdin.write("round\n")
        self.process.stdin.flush()
        return [float(word) for word in self.answer()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(group, compiler, vectors, args):
    """Peak and seconds of each contender, one value per round, by vector length."""
    running = {vector: Contenders(*compiler.program(group, vector), vector, args.least) for vector in vectors}
    rounds = {vector: [] for vector in vectors}
    for _ in range(args.rounds):
        for vector, contenders in running.items():
            rounds[vector].append(contenders.round())
    for contenders in running.values():
        contenders.close()
    return {
        vector: report.Measured(
            peak=[took[0] for took in rounds[vector]],
            seconds={case.name: [took[at] for took in rounds[vector]] for at, case in enumerate(contenders.cases, 1)},
        )
        for vector, contenders in running.items()
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", choices=[group.name for group in GROUPS])
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="3 rounds; writes no file")
    parser.add_argument("--layoutc", default=str(ROOT / "target" / "release" / "layoutc"))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the tables")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 15)
    args.least = 0.01
    return args


def main():
    args = arguments()
    if not Path(args.layoutc).exists():
        sys.exit(f"no {args.layoutc}: cargo build --release")
    out = ROOT / "target" / "kernels"
    out.mkdir(parents=True, exist_ok=True)
    build(args.layoutc, HERE, out)
    compiler = Compiler(args.cc, HERE, out)
    args.onednn = compiler.version
    flags = Path("/proc/cpuinfo").read_text().split()
    if "avx2" not in flags:
        sys.exit("the peak is measured with AVX2 or AVX-512 alone")
    vectors = [64, 32] if "avx512f" in flags else [32]
    groups = [group for group in GROUPS if args.group in (None, group.name)]
    results = []
    for group in groups:
        print(group.name, file=sys.stderr, flush=True)
        results.append((group, measure(group, compiler, vectors, args)))
    there = machine.describe(args.cc)
    text = report.page(results, there, args)
    print(text)
    if not args.quick and args.group is None:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "results.md").write_text(text)
        (args.out / "results.json").write_text(report.as_json(results, there, args))


if __name__ == "__main__":
    main()
