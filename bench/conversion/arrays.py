"""Times NumPy and PyTorch case by case: python3 arrays.py cpu|wall SECONDS THREADS.

Reads two kinds of lines. `CASE FOLDER` reads the source and the expected destination from the files of the folder and
prints the contenders' names, as driver.c does; `round` prints the seconds per run of each, memmove in this process
first. A contender with a wrong destination ends the process.
"""

import ctypes
import itertools
import sys
import time
from math import prod
from pathlib import Path

import numpy

from cases import CASES

try:
    import torch
except ImportError:
    torch = None

DTYPES = {"f32": numpy.float32, "bf16": numpy.int16, "i8": numpy.int8}


def pieces(extent, blocks):
    """Divides an axis into full blocks, then the remainder into full blocks of the next level, and so on.
    Yields for each part its first element, its number of elements on each level, and its indices in the destination."""
    whole, rest = divmod(extent, prod(blocks))
    if whole:
        yield 0, (whole, *blocks), (slice(whole), *(slice(None) for _ in blocks))
    if rest:
        for begin, shape, place in pieces(rest, blocks[1:]):
            yield whole * prod(blocks) + begin, (1, *shape), (slice(whole, whole + 1), *place)


def moves(case, source, destination, permuted):
    """Pairs of views of destination and source with the same elements and rank, and views that cover the padding of the
    destination. The views have the destination's order of axes."""
    split = [(axis, level) for axis in range(len(case.extents)) for level in range(1 + len(case.block_extents(axis)))]
    physical = [(axis, 0) for axis in case.order]
    for axis, _ in case.blocks:
        physical.append((axis, 1 + sum(other == axis and level > 0 for other, level in physical)))
    order = [split.index(part) for part in physical]
    whole = destination.reshape([case.grid(axis) for axis in case.order] + [extent for _, extent in case.blocks])

    pairs = []
    for parts in itertools.product(*(list(pieces(extent, case.block_extents(axis))) for axis, extent in enumerate(case.extents))):
        part = source[tuple(slice(begin, begin + prod(shape)) for begin, shape, _ in parts)]
        part = part.reshape([count for _, shape, _ in parts for count in shape])
        place = [index for _, _, indices in parts for index in indices]
        pairs.append((whole[tuple(place[at] for at in order)], permuted(part, order)))
    edges = [
        whole[(slice(None),) * case.order.index(axis) + (slice(-1, None),)]
        for axis, (extent, padded) in enumerate(zip(case.extents, case.padded_extents))
        if extent < padded
    ]
    return pairs, edges


def with_numpy(case, source, destination):
    pairs, edges = moves(case, source, destination, lambda array, order: array.transpose(order))

    def run():
        for edge in edges:
            edge.fill(0)
        for to, of in pairs:
            numpy.copyto(to, of)

    return run


def with_torch(case, source, destination):
    def tensor(array):
        shared = torch.from_numpy(array)
        return shared.view(torch.bfloat16) if case.element == "bf16" else shared

    pairs, edges = moves(case, tensor(source), tensor(destination), lambda array, order: array.permute(order))

    def run():
        for edge in edges:
            edge.zero_()
        for to, of in pairs:
            to.copy_(of)

    return run


def with_memmove(source, destination):
    """memmove with as many bytes read and written as in the conversion."""
    to, of, count = destination.ctypes.data, source.ctypes.data, (source.nbytes + destination.nbytes) // 2
    return lambda: ctypes.memmove(to, of, count)


class Contender:
    def __init__(self, name, run, settle, clock, least):
        self.name, self.run, self.settle, self.clock, self.repeats = name, run, settle, clock, 1
        while self.timed() * self.repeats < least:
            self.repeats *= 2

    def timed(self):
        run, start = self.run, self.clock()
        for _ in range(self.repeats):
            run()
        return (self.clock() - start) / self.repeats

    def sample(self):
        """Seconds per run."""
        if self.repeats > 1:
            self.settle()
            self.run()
        return self.timed()


def at_a_line(array, more=0):
    """A copy that begins at a cache line, like the buffers of driver.c, followed by `more` bytes."""
    room = numpy.zeros(array.nbytes + more + 64, numpy.uint8)
    begin = -room.ctypes.data % 64
    copy = room[begin : begin + array.nbytes].view(array.dtype)
    copy[...] = array
    return copy


def contenders(case, folder, clock, least):
    dense = numpy.fromfile(folder / "source", DTYPES[case.element])
    expected = numpy.fromfile(folder / "destination", DTYPES[case.element])
    source = at_a_line(dense, expected.nbytes - dense.nbytes).reshape(case.extents)
    destination = at_a_line(expected)
    runs = {f"NumPy/{numpy.__version__}": with_numpy(case, source, destination)}
    if torch:
        runs[f"PyTorch/{torch.__version__.split('+')[0]}"] = with_torch(case, source, destination)
    for name, run in runs.items():
        destination.fill(-1)
        run()
        if not numpy.array_equal(destination.view(numpy.uint8), expected.view(numpy.uint8)):
            sys.exit(f"the result of {name} is wrong")
    runs = {"memcpy": with_memmove(source, destination), **runs}

    def settle():
        """As in driver.c."""
        source.max()
        destination.fill(1)

    return [Contender(name, run, settle, clock, least) for name, run in runs.items()]


def main():
    kind, least, threads = sys.argv[1:]
    clock = time.thread_time if kind == "cpu" else time.perf_counter
    if torch:
        torch.set_num_threads(int(threads))
    by_name = {case.name: case for case in CASES}
    entered, first = [], 0
    for line in sys.stdin:
        if line != "round\n":
            name, folder = line.split()
            entered = []  # frees the buffers before the next are allocated
            entered = contenders(by_name[name], Path(folder), clock, float(least))
            print(*(contender.name for contender in entered), flush=True)
            continue
        took = {}
        for turn in range(len(entered)):
            contender = entered[(first + turn) % len(entered)]
            took[contender.name] = contender.sample()
        first += 1
        print(*(took[contender.name] for contender in entered), flush=True)


if __name__ == "__main__":
    main()
