#!/usr/bin/env python3
"""Compares the generated code of two builds of layoutc, routine by routine.

    python3 bench/before_after/run.py BEFORE AFTER [MANIFEST…] [--rounds N] [--seconds S] [--only TEXT] [--cflags FLAGS]

BEFORE and AFTER are two binaries. Both build and time each manifest with `layoutc bench`, in turn, round after round, so
that other load affects both. Without manifests: the conversions and kernels of bench. Prints the median seconds of each
routine that both have, and the median of the ratios of the rounds; a ratio above 1 is slower.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[1]
MANIFESTS = [*sorted((BENCH / "conversion" / "layouts").glob("*.kdl")), *sorted((BENCH / "kernels").glob("*.kdl"))]


def times(layoutc, manifest, args):
    """Seconds of each relayout and kernel of a manifest; empty if the build refuses the manifest."""
    command = [layoutc, "bench", "-q", "--format", "json", "--seconds", str(args.seconds), "--cflags", args.cflags]
    for text in args.only:
        command += ["--only", text]
    ran = subprocess.run([*command, str(manifest)], capture_output=True, text=True)
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    return {row.get("routine", row.get("kernel")): row["seconds"] for row in rows if row.get("kind") == "bench"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("manifests", nargs="*", default=MANIFESTS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--cflags", default="-O2")
    args = parser.parse_args()
    print(f"{'routine':<40} {'before s':>11} {'after s':>11} {'after / before':>14}")
    ratios = []
    for manifest in args.manifests:
        rounds = [[times(layoutc, manifest, args) for layoutc in (args.before, args.after)] for _ in range(args.rounds)]
        for routine in rounds[0][1]:
            both = [(before[routine], after[routine]) for before, after in rounds if routine in before and routine in after]
            if not both:
                continue
            before, after = (statistics.median(side) for side in zip(*both))
            ratio = statistics.median(after / before for before, after in both)
            ratios.append((ratio, routine))
            print(f"{routine:<40} {before:11.4g} {after:11.4g} {ratio:14.3f}", flush=True)
    if not ratios:
        sys.exit("the builds have no routine in common")
    ratios.sort()
    slower = [f"{routine} {ratio:.3f}" for ratio, routine in ratios if ratio > 1.03]
    print(f"\n{len(ratios)} routines, median {statistics.median(ratio for ratio, _ in ratios):.3f}")
    print(f"more than 3 % slower: {', '.join(slower) or 'none'}")


if __name__ == "__main__":
    main()
