#!/usr/bin/env python3
"""Times layoutc's conversions between devices against MPI_Alltoallw of whole parts.

    python3 bench/mpi/run.py [--layoutc PATH] [--rounds N] [--edge N]

The plain method sends each rank's whole part to every rank that needs any of it, by one MPI_Alltoallw, and extracts the
needed elements with a loop over the index functions. If each rank gets all parts concatenated, MPI_Allgather directly into
the result is timed too. All of them alternate, round after round; the time of a round is that of its slowest rank. All
results are compared. Writes results.md.
"""

import argparse
import datetime
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench" / "conversion"))
import machine  # noqa: E402

# Name, then sharding and layout of the source and of the destination.
MOVES = [
    ("data to tensor parallel", "n=all", "", "c=all", ""),
    ("row to column, blocked", "n=all", "", "c=all", "split c by=4; order c_outer n c_inner"),
    ("replicate", "n=all", "", "", ""),
    ("transpose of the mesh", "n=x c=y", "", "n=y c=x", ""),
    ("transposed layout", "n=all", "", "c=all", "order c n"),
]
MESHES = {2: ("two", ["d"]), 4: ("four", ["x", "y"]), 8: ("eight", ["x", "y"])}
SIZES = {"two": "d 2", "four": "x 2; y 2", "eight": "x 2; y 4"}


def tensor(name, cut, layout, ranks, edge):
    mesh, axes = MESHES[ranks]
    cut = cut.replace("all", '"' + " ".join(axes) + '"')
    steps = f"    layout {{ {layout} }}\n" if layout else ""
    return f"tensor {name} dtype=f32 {{\n    shape {{ n {edge}; c {edge} }}\n    shard {mesh} {cut}\n{steps}}}\n"


def driver(ranks, gathers):
    """C program that times `from_to_to`, the plain method, and MPI_Allgather if it applies."""
    gather = """
        memset(c, 0, TO_BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
        times[2] = MPI_Wtime();
        MPI_Allgather(a, FROM_PHYSICAL_ELEMENTS, MPI_FLOAT, c, FROM_PHYSICAL_ELEMENTS, MPI_FLOAT, MPI_COMM_WORLD);
        times[2] = MPI_Wtime() - times[2];
        if (memcmp(b, c, TO_BYTES) != 0) {
            printf("rank %d: MPI_Allgather has another result\\n", rank);
            return 1;
        }
"""
    return f"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/m_mpi.h"
static long long sent;
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) {{
    MPI_Count bytes;
    MPI_Type_size_x(t, &bytes);
    sent += (long long)bytes * n;
    return PMPI_Isend(b, n, t, to, tag, c, r);
}}
static int shares(int64_t a, int64_t al, int64_t b, int64_t bl) {{ return a < b + bl && b < a + al; }}
static int needs(int from, int to) {{
    return shares(from_begin_n(from), from_length_n(from), to_begin_n(to), to_length_n(to))
        && shares(from_begin_c(from), from_length_c(from), to_begin_c(to), to_length_c(to));
}}
int main(int argc, char **argv) {{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    float *a = malloc(FROM_BYTES), *b = malloc(TO_BYTES), *c = malloc(TO_BYTES), *all = malloc((size_t)FROM_BYTES * {ranks});
    for (int64_t k = 0; k < FROM_PHYSICAL_ELEMENTS; ++k) {{
        int64_t n, i;
        a[k] = from_global(rank, k, &n, &i) ? (float)(n * 7 + i % 1000) : 0;
    }}
    memset(b, 0, TO_BYTES);
    memset(c, 0, TO_BYTES);
    int counts[2][{ranks}], places[2][{ranks}];
    MPI_Datatype types[{ranks}];
    long long plain = 0;
    for (int k = 0; k < {ranks}; ++k) {{
        types[k] = MPI_FLOAT;
        counts[0][k] = needs(rank, k) ? (int)FROM_PHYSICAL_ELEMENTS : 0;
        counts[1][k] = needs(k, rank) ? (int)FROM_PHYSICAL_ELEMENTS : 0;
        places[0][k] = 0;
        places[1][k] = (int)(k * FROM_BYTES);
        plain += k != rank ? (long long)counts[0][k] * 4 : 0;
    }}
    for (int round = 0; round <= atoi(argv[1]); ++round) {{
        double times[3] = {{0, 0, 0}};
        sent = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        times[0] = MPI_Wtime();
        if (from_to_to(a, b, MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
        times[0] = MPI_Wtime() - times[0];
        MPI_Barrier(MPI_COMM_WORLD);
        times[1] = MPI_Wtime();
        MPI_Alltoallw(a, counts[0], places[0], types, all, counts[1], places[1], types, MPI_COMM_WORLD);
        for (int k = 0; k < {ranks}; ++k) {{
            const int64_t n0 = from_begin_n(k) > to_begin_n(rank) ? from_begin_n(k) : to_begin_n(rank);
            const int64_t c0 = from_begin_c(k) > to_begin_c(rank) ? from_begin_c(k) : to_begin_c(rank);
            const int64_t n1 = from_begin_n(k) + from_length_n(k), n2 = to_begin_n(rank) + to_length_n(rank);
            const int64_t c1 = from_begin_c(k) + from_length_c(k), c2 = to_begin_c(rank) + to_length_c(rank);
            for (int64_t n = n0; n < (n1 < n2 ? n1 : n2); ++n) {{
                for (int64_t i = c0; i < (c1 < c2 ? c1 : c2); ++i) {{
                    c[to_local(n, i)] = all[k * FROM_PHYSICAL_ELEMENTS + from_local(n, i)];
                }}
            }}
        }}
        times[1] = MPI_Wtime() - times[1];
        if (memcmp(b, c, TO_BYTES) != 0) {{
            printf("rank %d: another result\\n", rank);
            return 1;
        }}{gather if gathers else ""}
        double slowest[3];
        long long bytes[2], own[2] = {{sent, plain}};
        MPI_Reduce(times, slowest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(own, bytes, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0 && round > 0) printf("%.9f %.9f %lld %lld %.9f\\n", slowest[0], slowest[1], bytes[0], bytes[1], slowest[2]);
    }}
    MPI_Finalize();
    return 0;
}}
"""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def measure(args, ranks, source, target, folder):
    mesh = MESHES[ranks][0]
    text = f"mesh {mesh} {{ {SIZES[mesh]} }}\n" + tensor("from", *source, ranks, args.edge) + tensor("to", *target, ranks, args.edge)
    (folder / "m.kdl").write_text(text + "convert from to=to\n")
    run([args.layoutc, "build", "-q", "m.kdl", "--target", "c", "--out", "out", "--force"], cwd=folder)
    out = next(folder.glob("out/**/m.h")).parent
    gathers = source == ["n=all", ""] and target == ["", ""]
    (out / "driver.c").write_text(driver(ranks, gathers))
    flags = ["-std=gnu99", "-O2", "-o", "driver", "driver.c", "mpi/m_mpi.c", "m.c", "-lm"]
    run(["mpicc", *flags], cwd=out)
    told = run([args.layoutc, "inspect", "m.kdl", "--tensor", "from", "--plan", "--format", "json"], cwd=folder)
    import json

    least = json.loads(told)["tensors"][0]["exchanges"][0]["least_bytes"]
    options = ["--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader"]
    lines = run(["mpirun", *options, "-n", str(ranks), "./driver", str(args.rounds)], cwd=out).split("\n")
    rows = [line.split() for line in lines if line]
    ours, plain = (statistics.median(float(row[k]) for row in rows) for k in range(2))
    ratios = sorted(float(row[1]) / float(row[0]) for row in rows)
    gathered = statistics.median(float(row[4]) / float(row[0]) for row in rows) if gathers else None
    return ours, plain, int(rows[0][2]), int(rows[0][3]), least, statistics.median(ratios), ratios, gathered


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layoutc", default=str(ROOT / "target" / "release" / "layoutc"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--edge", type=int, default=4096)
    args = parser.parse_args()
    args.layoutc = str(Path(args.layoutc).resolve())
    version = run(["mpirun", "--version"]).split("\n")[0]
    size = args.edge * args.edge * 4 / 2**20
    head = [
        "# Exchanging parts",
        "",
        "<!-- ANCHOR: table -->",
        f"{datetime.date.today()}; {machine.processor()}; {version}; `mpicc -O2`; {size:.0f} MiB of f32 in all, medians of {args.rounds} rounds;",
        "ranks beyond the number of cores share cores. *plain*: MPI_Alltoallw of whole parts, then a loop; *as MPI_Allgather*: speed",
        "relative to MPI_Allgather directly into the result, if it applies.",
        "",
        "| move | ranks | least, MB | layoutc, MB | over the least | plain, MB | layoutc, ms | plain, ms | times as fast | quartiles | as MPI_Allgather |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|",
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, *both in MOVES:
            for ranks in MESHES:
                if "x" in both[0] and ranks == 2:
                    continue
                ours, plain, sent, whole, least, ratio, ratios, gathered = measure(args, ranks, both[:2], both[2:], Path(folder))
                over = "0 %" if sent == least else f"{(sent / max(least, 1) - 1) * 100:.1f} %"
                quartiles = f"{ratios[len(ratios) // 4]:.2f}–{ratios[-1 - len(ratios) // 4]:.2f}"
                row = f"| {name} | {ranks} | {least / 1e6:.1f} | {sent / 1e6:.1f} | {over} | {whole / 1e6:.1f} | {ours * 1e3:.1f} | {plain * 1e3:.1f} | {ratio:.2f} | {quartiles} | {f'{gathered:.2f}' if gathered else ''} |"
                print(row, flush=True)
                rows.append(row)
    (HERE / "results.md").write_text("\n".join([*head, *rows, "<!-- ANCHOR_END: table -->", ""]))


if __name__ == "__main__":
    main()
