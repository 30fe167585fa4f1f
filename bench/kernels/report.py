"""The tables of a measurement, and its numbers as JSON."""

import json
import statistics
from dataclasses import dataclass

VECTORS = {64: "AVX-512", 32: "AVX2"}
TITLES = {
    "conv": "Convolution of 3 by 3, f32: n 1, c 64, h 56, w 56, k 64, padding 1 by guarded reads",
    "matmul": "Matrix product, f32: 512 by 512 by 512",
}


@dataclass
class Measured:
    """One value per round: the peak in operations per second, and seconds per run of each contender."""

    peak: list[float]
    seconds: dict[str, list[float]]

    def rate(self, group, name):
        return group.operations / statistics.median(self.seconds[name]) / 1e9

    def of_peak(self, group, name):
        return statistics.median(group.operations / took / peak for took, peak in zip(self.seconds[name], self.peak))

    def fastest(self, names):
        """Fastest of these contenders; None if all are missing."""
        there = [name for name in names if name in self.seconds]
        return min(there, key=lambda name: statistics.median(self.seconds[name]), default=None)

    def speed(self, name, other):
        """Speed of one contender relative to another."""
        return statistics.median(theirs / ours for ours, theirs in zip(self.seconds[name], self.seconds[other]))


def table(group, measured):
    head = "".join(f" {VECTORS[vector]}, GFLOP/s | of peak |" for vector in measured)
    lines = [f"| layout | loops |{head}", "|---|---|" + "--:|--:|" * len(measured)]
    for case in group.cases:
        if not any(case.name in it.seconds for it in measured.values()):
            continue
        numbers = "".join(
            f" {it.rate(group, case.name):.1f} | {it.of_peak(group, case.name):.2f} |" if case.name in it.seconds else " - | - |"
            for it in measured.values()
        )
        lines.append(f"| {case.what} | {case.loops} |{numbers}")
    numbers = "".join(f" {statistics.median(it.peak) / 1e9:.1f} | 1 |" for it in measured.values())
    lines.append(f"| | *peak of one core* |{numbers}")
    return "\n".join(lines) + "\n"


def comparisons(group):
    """Compared pairs: label, contenders of layoutc, other contenders. The fastest of each counts."""

    def of(layout):
        yield "planner's", [layout]
        yield "scheduled", [f"{layout}_scheduled", f"{layout}_avx2"]

    if group.name == "conv":
        by_hand = [("nhwc", "NHWC", "hand_nhwc"), ("nchw16c", "NCHW16c", "hand_conv")]
        compared = [("nchw", "NCHW"), ("nhwc", "NHWC"), ("nchw16c", "NCHW16c")]
    else:
        by_hand, compared = [("tiled", "tiled", "hand_matmul")], [("rows", "row-major"), ("columns", "B column-major")]
    for layout, what, hand in by_hand:
        for kind, names in of(layout):
            yield f"{what}, {kind} / by hand", names, [hand, f"{hand}_long"]
    for layout, what in compared:
        for kind, names in of(layout):
            yield f"{what}, {kind} / oneDNN", names, [f"onednn_{layout}"]
    if group.name == "conv":
        logical = ["logical_order"]
        yield "NCHW16c, planner's / one element at a time in logical order", ["nchw16c"], logical
        yield "NCHW16c, one element at a time: physical order / logical order", ["physical_order"], logical


def ratios(group, measured):
    """Table of relative speeds."""
    lines = ["| speed of | " + " | ".join(VECTORS[vector] for vector in measured) + " |", "|---|" + "--:|" * len(measured)]
    for words, names, others in comparisons(group):
        cells = []
        for it in measured.values():
            ours, theirs = it.fastest(names), it.fastest(others)
            cells.append(f"{it.speed(ours, theirs):.2f}" if ours and theirs else "-")
        lines.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def conditions(machine, args, version):
    onednn = f"oneDNN {version}" if version else "without oneDNN"
    return (
        f"{args.date}; {machine['processor']}, {machine['cores']} cores, {machine['caches']}; {machine['compiler']}; {onednn};\n"
        f"one thread, CPU time, medians of {args.rounds} alternating rounds. The generated C is compiled with `-O2` alone."
    )


def page(results, machine, args):
    """The page; the book includes the anchored parts."""
    text = "# Kernel speed\n\n<!-- ANCHOR: conditions -->\n" + conditions(machine, args, args.onednn) + "\n<!-- ANCHOR_END: conditions -->\n"
    for group, measured in results:
        text += f"\n## {TITLES[group.name]}\n\n"
        for name, part in [(group.name, table(group, measured)), (f"{group.name}_ratios", ratios(group, measured))]:
            text += f"<!-- ANCHOR: {name} -->\n{part}<!-- ANCHOR_END: {name} -->\n\n"
        text = text.rstrip("\n") + "\n"
    return text


def as_json(results, machine, args):
    """One line per group and vector length."""
    head = {"date": args.date, **machine, "onednn": args.onednn, "rounds": args.rounds}
    rows = [
        json.dumps({"group": group.name, "operations": group.operations, "vector_bytes": vector, "peak": it.peak, "seconds": it.seconds})
        for group, measured in results
        for vector, it in measured.items()
    ]
    body = ",\n".join(rows)
    return f'{{"measured": {json.dumps(head)},\n"groups": [\n{body}\n]}}\n'
