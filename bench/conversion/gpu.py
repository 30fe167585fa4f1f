"""Times the generated CUDA of each case against the device's own copy and PyTorch, on a machine with an NVIDIA GPU.

    python3 gpu.py --generated FOLDER [--out FOLDER] [--rounds N] [--cases NAME...]

FOLDER has what `layoutc build` wrote for the manifests of `layouts/` with a `[target.cuda]`; layoutc itself is not
needed on that machine. Requires nvcc and PyTorch with CUDA. Every result is compared with PyTorch's, byte by byte, before it is
timed.
"""

import argparse
import concurrent.futures
import ctypes
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path

import torch

from arrays import moves
from cases import CASES, ELEMENT_BYTES

INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32}

# C wrappers of the generated C++ launchers, for Python.
SHIM = """\
#include "{case}.cuh"

template <class From, class To> static int called(cudaError_t (*launcher)(From, To, cudaStream_t), const void *from, void *to, void *stream) {{
    return (int)launcher((From)from, (To)to, (cudaStream_t)stream);
}}

extern "C" int move(const void *from, void *to, void *stream) {{
    return called({case}_pack, from, to, stream);
}}

extern "C" int back(const void *from, void *to, void *stream) {{
    return called({case}_unpack, from, to, stream);
}}

extern "C" int copy(const void *from, void *to, size_t bytes, void *stream) {{
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
}}
"""


def compiled(case, generated, folder):
    """Compiles the generated source of one case to a shared library."""
    (folder / f"{case.name}_shim.cu").write_text(SHIM.format(case=case.name))
    library = folder / f"{case.name}.so"
    command = ["nvcc", "-std=c++17", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-I", generated]
    command += [folder / f"{case.name}_shim.cu", generated / f"{case.name}.cu", "-o", library]
    subprocess.run(command, check=True)
    return library


def must(error):
    if error:
        sys.exit(f"CUDA's error {error}")


class Contender:
    """Launches of one implementation. Small cases are recorded as a CUDA graph and replayed, to exclude launch overhead."""

    def __init__(self, name, run, sets, is_recorded):
        self.name = name
        self.launches = 100 if is_recorded else 12
        if not is_recorded:
            self.play = lambda: [run(*sets[k % len(sets)]) for k in range(self.launches)]
            return
        graph = torch.cuda.CUDAGraph()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for pair in sets:
                run(*pair)
        side.synchronize()
        with torch.cuda.graph(graph, stream=side):
            for k in range(self.launches):
                run(*sets[k % len(sets)])
        self.play = graph.replay

    def sample(self):
        """Seconds per launch."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self.play()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000 / self.launches


def with_torch(case, source, destination):
    pairs, edges = moves(case, source, destination, lambda tensor, order: tensor.permute(order))
    for edge in edges:
        edge.zero_()
    for to, of in pairs:
        to.copy_(of)


def contenders(case, library):
    element = INTEGERS[ELEMENT_BYTES[case.element]]
    span = torch.iinfo(element)

    def made():
        source = torch.randint(span.min, span.max, case.extents, dtype=element, device="cuda")
        return source, torch.empty(case.physical_elements, dtype=element, device="cuda")

    # Beyond the cache, consecutive launches use different memory.
    sets = [made() for _ in range(3 if case.is_large else 1)]
    loaded = ctypes.CDLL(str(library))
    pointer = ctypes.c_void_p

    def stream():
        return pointer(torch.cuda.current_stream().cuda_stream)

    def generated(source, destination):
        must(loaded.move(pointer(source.data_ptr()), pointer(destination.data_ptr()), stream()))

    def back(source, destination):
        must(loaded.back(pointer(destination.data_ptr()), pointer(source.data_ptr()), stream()))

    def copied(source, destination):
        count = ctypes.c_size_t(source.nbytes)
        must(loaded.copy(pointer(source.data_ptr()), pointer(destination.data_ptr()), count, stream()))

    for source, destination in sets:
        expected = torch.empty_like(destination)
        with_torch(case, source, expected)
        destination.fill_(-86)
        generated(source, destination)
        torch.cuda.synchronize()
        if not torch.equal(destination, expected):
            sys.exit(f"{case.name}: the generated code writes something else")
        dense = source.clone()
        source.fill_(-86)
        back(source, destination)
        torch.cuda.synchronize()
        if not torch.equal(source, dense):
            sys.exit(f"{case.name}: unpack gives other elements")
    runs = {"copy": copied, "layoutc": generated, "back": back, "PyTorch": lambda source, to: with_torch(case, source, to)}
    return [Contender(name, run, sets, not case.is_large) for name, run in runs.items()]


def measured(case, library, rounds):
    """Median seconds per launch, and the relative interquartile range."""
    entered = contenders(case, library)
    samples = {contender.name: [] for contender in entered}
    for turn in range(rounds):
        for k in range(len(entered)):
            contender = entered[(turn + k) % len(entered)]
            samples[contender.name].append(contender.sample())
    row = {"case": case.name, "moved_bytes": case.moved_bytes, "seconds": {}, "spread": {}}
    for name, took in samples.items():
        quarters = statistics.quantiles(took, n=4)
        row["seconds"][name] = quarters[1]
        row["spread"][name] = (quarters[2] - quarters[0]) / quarters[1]
    return row


def rate(case, row, name):
    """GB/s, counting bytes read and bytes written."""
    # The copy and unpack move no padding.
    dense_bytes = 2 * prod(case.extents) * ELEMENT_BYTES[case.element]
    return (dense_bytes if name in ["copy", "back"] else case.moved_bytes) / row["seconds"][name] / 1e9


def table(result):
    about = result["machine"]
    lines = [
        f"{about['gpu']}, CUDA {about['cuda']}, PyTorch {about['torch']}, {result['date']}; medians of {result['rounds']} rounds.",
        "*copy* is `cudaMemcpyAsync` from device to device, in GB/s, reads plus writes; the other columns are relative to it.",
        "*back* is `unpack`, from the layout to the dense tensor.",
        "",
        "| case | what | dims | copy, GB/s | PyTorch | layoutc | spread | back |",
        "|---|---|---|--:|--:|--:|--:|--:|",
    ]
    by_name = {case.name: case for case in CASES}
    for row in result["rows"]:
        case = by_name[row["case"]]
        copy = rate(case, row, "copy")
        torch_, own, back = (f"{rate(case, row, name) / copy:.2f}" for name in ["PyTorch", "layoutc", "back"])
        what = f"{case.element} {case.what}"
        lines.append(f"| {case.name} | {what} | {case.dims} | {copy:.0f} | {torch_} | {own} | {row['spread']['layoutc']:.1%} | {back} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generated", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--cases", nargs="*", default=[])
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.cases or case.name in arguments.cases]
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "torch": torch.__version__.split("+")[0]},
        "rounds": arguments.rounds,
        "rows": [],
    }
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        libraries = list(pool.map(lambda case: compiled(case, arguments.generated, Path(folder)), cases))
        for case, library in zip(cases, libraries):
            result["rows"].append(measured(case, library, arguments.rounds))
            torch.cuda.empty_cache()
    (arguments.out / "results_gpu.json").write_text(json.dumps(result, indent=1) + "\n")
    (arguments.out / "results_gpu.md").write_text(table(result))
    print(table(result))


if __name__ == "__main__":
    main()
