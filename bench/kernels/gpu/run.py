"""Times generated CUDA kernels against PyTorch's, on a machine with an NVIDIA GPU.

    python3 run.py --generated FOLDER [--out FOLDER] [--rounds N]

FOLDER has what `layoutc build` wrote for kernels.kdl; layoutc itself is not needed on that machine. Requires nvcc and PyTorch with
CUDA, which calls cuBLAS and cuDNN in f32, without TF32. All kernels alternate. Every result is compared with PyTorch's before it is timed.
"""

import argparse
import ctypes
import datetime
import statistics
import subprocess
import tempfile
from pathlib import Path

import torch

LAUNCHES = 10

PRODUCT = "f32 product, 2048 by 2048 by 2048"
CONV = "f32 convolution of 3 by 3, NHWC, n 32, 56 by 56, c 64, k 64"

# The instances, with their kernel and loops in the table.
INSTANCES = {
    "product_plain": (PRODUCT, "one element per thread"),
    "product_64": (PRODUCT, "tiles of 64 by 64, staged"),
    "product_128": (PRODUCT, "tiles of 128 by 128, staged"),
    "conv_plain": (CONV, "one element per thread"),
    "conv_tiled": (CONV, "tiles of 56 by 64, staged"),
}

SHIM = """\
extern "C" int run_{name}(const float *a, const float *b, float *c, void *stream) {{
    return (int){name}(a, b, c, (cudaStream_t)stream);
}}
"""


def library(generated, folder):
    shim = folder / "shim.cu"
    shim.write_text('#include "kernels.cuh"\n' + "".join(SHIM.format(name=name) for name in INSTANCES))
    made = folder / "kernels.so"
    command = ["nvcc", "-std=c++17", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-I", generated]
    subprocess.run([*command, shim, generated / "kernels.cu", "-o", made], check=True)
    return ctypes.CDLL(str(made))


def generated_run(loaded, name, operands):
    function = getattr(loaded, f"run_{name}")
    arguments = [ctypes.c_void_p(operand.data_ptr()) for operand in operands]

    def run():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if error := function(*arguments, stream):
            raise SystemExit(f"{name}: CUDA's error {error}")

    return run


def cases():
    """Operands of each case, PyTorch's implementation, its result, and the number of operations."""
    a, b = (torch.randn(2048, 2048, device="cuda") for _ in range(2))
    c, own = torch.empty_like(a), torch.empty_like(a)
    yield PRODUCT, (a, b, c), lambda: torch.matmul(a, b, out=own), lambda: own, 2 * 2048**3
    image, filters = torch.randn(32, 56, 56, 64, device="cuda"), torch.randn(3, 3, 64, 64, device="cuda")
    seen = image.permute(0, 3, 1, 2)
    weights = filters.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    conv = lambda: torch.nn.functional.conv2d(seen, weights, padding=1)
    result = torch.empty_like(image)
    yield CONV, (image, filters, result), conv, lambda: conv().permute(0, 2, 3, 1), 2 * 32 * 56 * 56 * 64 * 64 * 9


def sample(run):
    """Seconds per launch."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000 / LAUNCHES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generated", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        loaded = library(arguments.generated.resolve(), Path(folder))
        for case, operands, peer, right, operations in cases():
            runs = {"PyTorch": peer}
            for name in (name for name, (of, _) in INSTANCES.items() if of == case):
                runs[name] = generated_run(loaded, name, operands)
                operands[2].fill_(float("nan"))
                runs[name]()
                peer()
                torch.testing.assert_close(operands[2], right(), rtol=1e-3, atol=1e-3)
            taken = {name: [] for name in runs}
            names = list(runs)
            for turn in range(arguments.rounds):
                for k in range(len(names)):
                    name = names[(turn + k) % len(names)]
                    taken[name].append(sample(runs[name]))
            rate = {name: operations / statistics.median(took) / 1e12 for name, took in taken.items()}
            for name, own in rate.items():
                loops = "PyTorch" if name == "PyTorch" else INSTANCES[name][1]
                rows.append(f"| {case} | {loops} | {own:.1f} | {own / rate['PyTorch']:.2f} |")
    about = [torch.cuda.get_device_name(), f"CUDA {torch.version.cuda}", f"PyTorch {torch.__version__}", str(datetime.date.today())]
    lines = [f"{', '.join(about)}; f32 without TF32; medians of {arguments.rounds} alternating rounds.", ""]
    lines += ["| kernel | loops | TFLOP/s | of PyTorch |", "|---|---|--:|--:|", *rows]
    (arguments.out / "results.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
