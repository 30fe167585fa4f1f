"""Description of the machine of a measurement."""

import os
import re
import subprocess
from pathlib import Path


def processor():
    found = re.search("^model name\\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else os.uname().machine


def caches():
    """Sizes of the first core's data caches, smallest first: `L1 32K, L2 1024K`."""
    sizes = []
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((cache / name).read_text().strip() for name in ["level", "type", "size"])
        if kind != "Instruction":
            sizes.append(f"L{level} {size}")
    return ", ".join(sizes)


def describe(cc):
    compiler = subprocess.run([cc, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return {"processor": processor(), "cores": os.cpu_count(), "caches": caches(), "compiler": compiler}
