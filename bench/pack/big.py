"""Times `layoutc pack` and `unpack` of a tensor of some GiB against `cp`.

    python3 bench/pack/big.py LAYOUTC [--gib 4] [--rounds 5] [--memory "256 MiB"] [--limit MIB] [--folder DIR]

The tensor is f32, NHWC to NCHW4c. Each round copies the input by `cp --reflink=never`, packs it, copies the packed file and
unpacks it, each followed by `sync` of the output; they alternate, so that other load affects all of them. Times are wall
time, peak memory is the largest resident set of the process. With `--limit` a round, including `cp`, runs in a memory
control group of MIB MiB (version 1 or 2, whichever is available). Needs disk space for four files.
"""

import argparse
import hashlib
import os
import random
import statistics
import subprocess
import sys
import time

MANIFEST = """tensor big dtype=f32 {{
    shape {{ n {n}; h 256; w 256; c 256 }}
    layout {{
        map "(n, h, w, c) -> (n, c // 4, h, w, c % 4)"
    }}
}}
"""


class Group:
    """A memory control group, if a limit is given."""

    def __init__(self, mib):
        self.path = None
        if not mib:
            return
        own = {}
        for line in open("/proc/self/cgroup"):
            _, controllers, path = line.strip().split(":", 2)
            own[controllers] = path.strip("/")
        places = [
            (os.path.join("/sys/fs/cgroup/memory", own.get("memory", "")), "memory.limit_in_bytes"),
            (os.path.join("/sys/fs/cgroup", own.get("", "")), "memory.max"),
        ]
        for folder, limit in places:
            path = os.path.join(folder, f"layoutc-big-{os.getpid()}")
            try:
                os.mkdir(path)
                with open(os.path.join(path, limit), "w") as file:
                    file.write(str(mib << 20))
                self.path, self.limit = path, limit
                return
            except OSError:
                if os.path.isdir(path):
                    os.rmdir(path)
        sys.exit("no memory control group can be made here")

    def enter(self):
        if self.path:
            with open(os.path.join(self.path, "cgroup.procs"), "w") as file:
                file.write(str(os.getpid()))

    def peak(self):
        """Peak memory in bytes, including file caches."""
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            path = os.path.join(self.path or "", name)
            if self.path and os.path.exists(path):
                return int(open(path).read())
        return 0

    def remove(self):
        if self.path:
            for _ in range(50):
                try:
                    os.rmdir(self.path)
                    return
                except OSError:
                    time.sleep(0.1)


def drop(path):
    """Drops a file from the page cache."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(command, output, group):
    """Seconds of a command and of the sync of its output, and its largest resident set in MiB."""
    if os.path.exists(output):
        os.remove(output)
    os.sync()
    start = time.monotonic()
    process = subprocess.Popen(command, preexec_fn=group.enter, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: {process.returncode}")
    with open(output, "rb") as file:
        os.fsync(file.fileno())
    return time.monotonic() - start, usage.ru_maxrss / 1024


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def make(path, bytes_):
    """Writes incompressible bytes without equal blocks."""
    block = random.Random(1).randbytes(1 << 22)
    with open(path, "wb") as file:
        for number in range(bytes_ >> 22):
            file.write(number.to_bytes(8, "little") + block[8:])
        os.fsync(file.fileno())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("layoutc")
    parser.add_argument("--gib", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="256 MiB")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--cold", action="store_true", help="the input is not in the caches")
    args = parser.parse_args()
    os.chdir(args.folder)
    layoutc = os.path.abspath(args.layoutc)
    with open("big.kdl", "w") as file:
        file.write(MANIFEST.format(n=args.gib * 16))
    if not os.path.exists("big.f32") or os.path.getsize("big.f32") != args.gib << 30:
        make("big.f32", args.gib << 30)
    how = ["--memory", args.memory, "-q"]
    pack = [layoutc, "pack", "big.kdl", "big", "big.f32", "-o", "big.bin", *how]
    unpack = [layoutc, "unpack", "big.kdl", "big", "big.bin", "-o", "big.back", *how]
    moves = {
        "cp of the dense file": (["cp", "--reflink=never", "big.f32", "big.copy"], "big.f32", "big.copy"),
        "pack": (pack, "big.f32", "big.bin"),
        "cp of the packed file": (["cp", "--reflink=never", "big.bin", "big.copy"], "big.bin", "big.copy"),
        "unpack": (unpack, "big.bin", "big.back"),
    }
    times = {name: [] for name in moves}
    peaks = dict.fromkeys(moves, 0.0)
    group_peaks = dict.fromkeys(moves, 0)
    for _ in range(args.rounds):
        for name, (command, source, output) in moves.items():
            if args.cold:
                drop(source)
            group = Group(args.limit)
            seconds, peak = timed(command, output, group)
            group_peaks[name] = max(group_peaks[name], group.peak() >> 20)
            group.remove()
            times[name].append(seconds)
            peaks[name] = max(peaks[name], peak)
            if output == "big.copy":
                os.remove(output)
    if args.rounds:
        if digest("big.back") != digest("big.f32"):
            sys.exit("what was unpacked is not what was packed")
        os.remove("big.back")
    medians = {name: statistics.median(values) for name, values in times.items() if values}
    for name, values in times.items():
        if values:
            speed = (args.gib << 30) / medians[name] / 1e9
            print(
                f"{name:24} median {medians[name]:6.2f} s  {speed:5.2f} GB/s  peak {peaks[name]:6.1f} MiB"
                f"  group {group_peaks[name]} MiB  {[round(value, 2) for value in values]}"
            )
    if args.rounds:
        for move, copy in (("pack", "cp of the dense file"), ("unpack", "cp of the packed file")):
            ratios = [c / m for c, m in zip(times[copy], times[move])]
            print(f"{move}: {statistics.median(ratios):.2f} of cp, by rounds {[round(r, 2) for r in ratios]}")
    for name in ("big.f32", "big.bin", "big.back", "big.copy", "big.kdl"):
        if os.path.exists(name):
            os.remove(name)


main()
