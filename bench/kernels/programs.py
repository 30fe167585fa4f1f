"""Builds the benchmark programs of a group: manifests to C, C to one program per vector length."""

import subprocess
import sys

# Replaces gcc's test for processor features; reports no AVX-512.
AVX2_ALONE = "-D__builtin_cpu_supports(feature)=((feature)[3] != '5')"
HAND = ["-O3", "-march=native"]


def build(layoutc, project, out):
    subprocess.run([layoutc, "build", "-q", str(project), "--out", str(out)], check=True)


def glue(group, cases):
    """C source that lists the contenders for driver.c."""
    declared = sorted({f"void {name}(const float *from, float *to);" for case in cases for name in case.moves})
    declared += [f"void {case.name}(const float *first, const float *second, float *result);" for case in cases]
    rows = [f'    {{"{case.name}", {case.name}, {", ".join(case.moves)}}},' for case in cases]
    return "\n".join(
        [
            '#include "kernels.h"',
            *declared,
            f"const size_t elements[3] = {{{', '.join(map(str, group.elements))}}};",
            "const struct contender contenders[] = {",
            *rows,
            "};",
            f"const int contender_count = {len(cases)};",
            "",
        ]
    )


class Compiler:
    """Compiles the generated C with -O2 and no other flag, hand-written C for this processor."""

    def __init__(self, cc, sources, out):
        self.cc, self.sources, self.out = cc, sources, out
        try:
            self.onednn = self.object("onednn.c", "onednn", "-O2", "-DWITH_ONEDNN", stderr=subprocess.DEVNULL)
            self.libraries = ["-ldnnl"]
            self.version = self.onednn_version()
        except subprocess.CalledProcessError:
            print("without oneDNN 2: apt-get install libdnnl-dev", file=sys.stderr)
            self.onednn, self.libraries = self.object("onednn.c", "onednn", "-O2"), []
            self.version = ""

    def onednn_version(self):
        names = "DNNL_VERSION_MAJOR.DNNL_VERSION_MINOR.DNNL_VERSION_PATCH"
        text = f"#include <oneapi/dnnl/dnnl_version.h>\n{names}\n"
        ran = subprocess.run([self.cc, "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
        return ran.stdout.split("\n")[-2].replace(" ", "")

    def object(self, source, name, *flags, stderr=None):
        made = self.out / f"{name}.o"
        found = self.sources / source if not str(source).startswith("/") else source
        include = [f"-I{self.sources}", f"-I{self.out}"]
        subprocess.run([self.cc, *flags, *include, "-c", str(found), "-o", str(made)], check=True, stderr=stderr)
        return str(made)

    def program(self, group, vector):
        cases = [case for case in group.cases if case.asks_for <= vector and (self.libraries or not case.is_onednn)]
        stem = f"{group.name}_{vector}"
        contenders = self.out / f"{stem}_contenders.c"
        contenders.write_text(glue(group, cases))
        shorter = [AVX2_ALONE] if vector == 32 else []
        by_hand = HAND + (["-mno-avx512f"] if vector == 32 else [])
        long = "-mprefer-vector-width=512"
        objects = [
            self.object("driver.c", "driver", "-O2"),
            self.object("peak.c", "peak", "-O2"),
            self.object("reference.c", f"{group.name}_reference", "-O2", f"-D{group.name.upper()}"),
            self.object(contenders, f"{stem}_contenders", "-O2"),
            self.object(self.out / "c" / f"{group.name}.c", stem, "-O2", *shorter),
            *[
                self.object(f"hand_{group.name}.c", f"{name}_{vector}", *by_hand, *flags, f"-Dhand_{group.name}={name}")
                for hand, choice in group.by_hand.items()
                for name, flags in [(hand, choice), (f"{hand}_long", [*choice, long])]
            ],
            self.onednn,
        ]
        made = self.out / stem
        subprocess.run([self.cc, *objects, "-o", str(made), *self.libraries, "-lm"], check=True)
        return str(made), cases
