#!/usr/bin/env python3
"""Times `layoutc build` on projects of many tensors against ninja's no-op for the same number of targets.

    python3 bench/build/run.py LAYOUTC [--sizes 100 1000 10000 100000] [--runs 11] [--out bench/build]

For each size: a cold build (no outputs, no state), a no-op, and one edit of one manifest; ninja's no-op for the same
number of targets and inputs; a stat of every input and output; the largest resident memory. Runs of all kinds
alternate, so that other load affects all of them; the medians are reported. Writes results.md, results.json, and the
plot in the book.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from project import make

COLD_RUNS = 3
PLOT = Path(__file__).parents[2] / "book" / "src" / "build_growth.svg"
# Time for which a watch waits after a change for further ones, in seconds.
PAUSE = 0.040


def timed(command, cwd):
    """Wall and CPU seconds, and the largest resident memory in MiB, of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command} failed")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "mib": used.ru_maxrss / 1024}


def stages(layoutc, folder):
    """Wall time of each stage of a cold build, in milliseconds."""
    clear(folder)
    ran = subprocess.run([layoutc, "build", "--timings", "--format", "json"], cwd=folder, capture_output=True, check=True)
    return json.loads(ran.stdout.splitlines()[0])["timings_ms"]


def clear(folder):
    """Moves the outputs and the state away. They are deleted at the end: ext4 without a journal creates files slowly
    right after deletions."""
    aside = Path(tempfile.mkdtemp(prefix="old", dir=folder.parent))
    for name in ["generated", ".layoutc"]:
        if (folder / name).exists():
            (folder / name).rename(aside / name)


def ninja_project(folder, targets):
    """One target per tensor: each copies an input of its own."""
    (folder / "in").mkdir(parents=True)
    lines = ["rule copy", "  command = cp $in $out", ""]
    for number in range(targets):
        (folder / "in" / str(number)).write_text(f"{number}\n")
        lines.append(f"build out/{number}: copy in/{number}")
    (folder / "build.ninja").write_text("\n".join(lines) + "\n")
    subprocess.run(["ninja", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def edit(manifest, round_):
    """Changes an extent of the last tensor of a manifest."""
    text = manifest.read_text()
    at = text.rindex("shape {")
    changed = re.sub(r"(\w+) (\d+)", lambda m: f"{m[1]} {int(m[2]) + 128 * (1 if round_ % 2 == 0 else -1)}", text[at:], count=1)
    manifest.write_text(text[:at] + changed)


def stat_all(folder):
    """Seconds for a stat of every input and output."""
    files = [os.path.join(at, name) for top in ["layouts", "generated"] for at, _, names in os.walk(folder / top) for name in names]
    start = time.perf_counter()
    for file in files:
        os.stat(file)
    return time.perf_counter() - start


def watch(layoutc, folder, manifest, runs):
    """Seconds from an edit to the line that reports its outputs, less the pause of the watch."""
    took = []
    process = subprocess.Popen([layoutc, "watch"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdout.readline()
    time.sleep(0.5)
    for round_ in range(runs):
        start = time.perf_counter()
        edit(manifest, round_)
        line = process.stdout.readline()
        took.append({"wall": time.perf_counter() - start - PAUSE})
        if "rebuilt" not in line:
            sys.exit(f"a watch failed: {line}")
        time.sleep(0.3)
    process.terminate()
    process.wait()
    return took


def measure(layoutc, tensors, runs, has_ninja, work):
    folder, ninja = work / f"p{tensors}", work / f"n{tensors}"
    make(folder, tensors, 10)
    if has_ninja:
        ninja_project(ninja, tensors)
    build = [layoutc, "build", "-q"]
    result = {"tensors": tensors, "manifests": tensors // 10, "cold": [], "noop": [], "edit": [], "ninja": [], "stat": []}
    for _ in range(COLD_RUNS):
        clear(folder)
        result["cold"].append(timed(build, folder))
    result["stages_ms"] = stages(layoutc, folder)
    manifest = sorted(folder.glob("layouts/g000/*.kdl"))[0]
    timed(build, folder)
    for round_ in range(runs):
        result["noop"].append(timed(build, folder))
        if has_ninja:
            result["ninja"].append(timed(["ninja", "--quiet"], ninja))
        result["stat"].append({"wall": stat_all(folder)})
        time.sleep(0.05)  # an edit within one tick of the clock must be read twice
        edit(manifest, round_)
        time.sleep(0.05)
        result["edit"].append(timed(build, folder))
        time.sleep(0.05)  # and so must folders that were written to
        timed(build, folder)
    result["watch"] = watch(layoutc, folder, manifest, runs)
    shutil.rmtree(folder)
    shutil.rmtree(ninja, ignore_errors=True)
    return result


def median(results, key):
    return statistics.median(result[key] for result in results) if results else None


def ms(seconds):
    return "-" if seconds is None else f"{seconds * 1000:,.1f}"


def table(results):
    lines = [
        "| tensors | manifests | cold, ms (CPU) | no-op, ms (CPU) | one edit, ms | the same in a watch, ms | ninja's no-op, ms | no-op / ninja | MiB |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for r in results:
        cold, noop, ninja = (median(r[kind], "wall") for kind in ["cold", "noop", "ninja"])
        ratio = "-" if ninja is None else f"{noop / ninja:.2f}"
        lines.append(
            f"| {r['tensors']:,} | {r['manifests']:,} | {ms(cold)} ({ms(median(r['cold'], 'cpu'))}) "
            f"| {ms(noop)} ({ms(median(r['noop'], 'cpu'))}) | {ms(median(r['edit'], 'wall'))} | {ms(median(r['watch'], 'wall'))} | {ms(ninja)} | {ratio} "
            f"| {max(run['mib'] for run in r['cold']):,.0f} |"
        )
    return "\n".join(lines) + "\n"


def stage_table(results):
    lines = ["| tensors | " + " | ".join(results[-1]["stages_ms"]) + " |", "|--:" * (1 + len(results[-1]["stages_ms"])) + "|"]
    for r in results:
        lines.append(f"| {r['tensors']:,} | " + " | ".join(f"{took:,.1f} ms" for took in r["stages_ms"].values()) + " |")
    return "\n".join(lines) + "\n"


def plot(results):
    """SVG plot of wall time over tensors, both logarithmic."""
    from math import log10

    width, height, left, bottom = 660, 400, 90, 50
    kinds = [("cold", "cold build", "#cc6677"), ("edit", "one edit", "#ddaa33"), ("watch", "the same in a watch", "#aa4499"), ("ninja", "ninja's no-op", "#999999"), ("noop", "no-op", "#228833"), ("stat", "a stat of every file", "#4477aa")]
    curves = [(label, colour, [(r["tensors"], median(r[kind], "wall") * 1000) for r in results if r[kind]]) for kind, label, colour in kinds]
    points = [point for _, _, curve in curves for point in curve]
    x0, x1 = log10(min(p[0] for p in points)), log10(max(p[0] for p in points))
    y0, y1 = (int(log10(min(p[1] for p in points)) - 1), int(log10(max(p[1] for p in points)) + 1))
    x = lambda v: left + (log10(v) - x0) / max(x1 - x0, 1e-9) * (width - left - 150)
    y = lambda v: height - bottom - (log10(v) - y0) / (y1 - y0) * (height - bottom - 20)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(y0, y1 + 1):
        at = y(10**power)
        svg.append(f'<path d="M{left} {at:.1f}H{width - 150}" stroke="#dddddd"/><text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:,g} ms</text>')
    for r in results:
        at = x(r["tensors"])
        svg.append(f'<path d="M{at:.1f} 20V{height - bottom}" stroke="#eeeeee"/><text x="{at:.1f}" y="{height - bottom + 18}" text-anchor="middle">{r["tensors"]:,}</text>')
    svg.append(f'<text x="{(left + width - 150) / 2}" y="{height - 10}" text-anchor="middle">tensors</text>')
    ends = []
    for label, colour, curve in curves:
        if not curve:
            continue
        way = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
        at = y(curve[-1][1])
        while any(abs(at - other) < 14 for other in ends):
            at += 2
        ends.append(at)
        svg.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        svg.extend(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in curve)
        svg.append(f'<text x="{width - 142}" y="{at + 4:.1f}" fill="{colour}">{label}</text>')
    return "\n".join(svg + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("layoutc")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000, 100000])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    args = parser.parse_args()
    has_ninja = shutil.which("ninja") is not None
    layoutc = str(Path(args.layoutc).resolve())
    kind = subprocess.run(["stat", "-f", "-c", "%T", tempfile.gettempdir()], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as work:
        results = [measure(layoutc, size, args.runs, has_ninja, Path(work)) for size in args.sizes]
    text = (
        "# Builds of many tensors\n\n"
        f"{os.cpu_count()} cores; medians of {args.runs} runs (cold: {COLD_RUNS}), all kinds alternating in one run; ten tensors per manifest, three\n"
        f"files per manifest, on {kind}, files in the page cache. In a watch the time is that from the edit to the line that reports its\n"
        "outputs, less the 40 ms for which a watch waits for further changes. `python3 bench/build/run.py LAYOUTC` writes this.\n\n"
        + table(results)
        + "\nThe stages of a cold build, wall time:\n\n"
        + stage_table(results)
    )
    (args.out / "results.md").write_text(text)
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    PLOT.write_text(plot(results))
    print(text)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
