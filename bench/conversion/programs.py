"""Builds the benchmark programs: manifests to C, C to one program per case."""

import json
import subprocess
import sys

from cases import ELEMENT_BYTES


def build(layoutc, project, out):
    subprocess.run([layoutc, "build", "-q", str(project), "--out", str(out)], check=True)


def check(layoutc, project, cases):
    """Checks the manifests against the table of cases, so that no layout is compared with the time of another."""
    ran = subprocess.run([layoutc, "inspect", str(project), "--format", "json"], capture_output=True, text=True, check=True)
    tensors = {tensor["name"]: tensor for tensor in json.loads(ran.stdout.splitlines()[0])["tensors"]}
    for case in cases:
        tensor = tensors[case.name]
        said = (
            tensor["dtype"],
            tuple(axis["extent"] for axis in tensor["axes"]),
            tensor["notations"]["onednn"],
            tensor["physical_elements"],
        )
        meant = (case.element, case.extents, case.layout, case.physical_elements)
        if said != meant:
            sys.exit(f"the manifest of {case.name} says {said}, the table of cases {meant}")


def glue(case):
    """C source that describes a case to driver.c and calls its routine."""
    numbers = lambda values: "{" + ", ".join(map(str, values)) + "}" if values else "{0}"
    return f"""#include "c/{case.name}.h"
#include "conversion.h"

const struct conversion conversion = {{
    .element = {case.element.upper()},
    .element_bytes = {ELEMENT_BYTES[case.element]},
    .rank = {len(case.extents)},
    .extents = {numbers(case.extents)},
    .padded_extents = {numbers(case.padded_extents)},
    .strides = {numbers(case.strides)},
    .blocks = {len(case.blocks)},
    .block_extents = {numbers([extent for _, extent in case.blocks])},
    .block_axes = {numbers([axis for axis, _ in case.blocks])},
}};

void layoutc(const void *source, void *destination) {{
    {case.name}_pack(source, destination);
}}
"""


class Compiler:
    """Compiles with -O2 and no other optimization flag; with -fopenmp if there are several threads."""

    def __init__(self, cc, sources, out, threads):
        self.cc, self.sources, self.out = cc, sources, out
        self.openmp = ["-fopenmp"] if threads > 1 else []
        self.libraries = []
        self.common = [self.object(sources / f"{name}.c") for name in ["driver", "reference", "streaming"]]
        self.common.append(self.peer())

    def peer(self):
        """oneDNN 2, whose API creates blocked descriptors, if its header is installed."""
        source = self.sources / "onednn.c"
        try:
            made = self.object(source, "-DWITH_ONEDNN", stderr=subprocess.DEVNULL)
            self.libraries = ["-ldnnl"]
            return made
        except subprocess.CalledProcessError:
            print("without oneDNN 2: apt-get install libdnnl-dev", file=sys.stderr)
            return self.object(source)

    def object(self, source, *flags, stderr=None):
        made = self.out / f"{source.stem}.o"
        include = [f"-I{self.sources}", f"-I{self.out}"]
        subprocess.run([self.cc, "-O2", *self.openmp, *flags, *include, "-c", str(source), "-o", str(made)], check=True, stderr=stderr)
        return made

    def program(self, case):
        source = self.out / f"{case.name}_case.c"
        source.write_text(glue(case))
        objects = [*self.common, self.object(source), self.object(self.out / "c" / f"{case.name}.c")]
        made = self.out / case.name
        subprocess.run([self.cc, *self.openmp, *map(str, objects), "-o", str(made), *self.libraries], check=True)
        return str(made)
