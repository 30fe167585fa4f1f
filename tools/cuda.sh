#!/usr/bin/env bash
# NVIDIA's compiler for tests: downloads its wheels from PyPI and prints the path of nvcc.
#
#     tools/cuda.sh [FOLDER]      FOLDER: where to, target/cuda unless told
#
# Does nothing where they are there already. Needs pip for python3, 125 MB of download, 350 MB of room. Their licence is
# not ours: nothing of them is committed or shipped.
set -eu
cd "$(dirname "$0")/.."

folder=${1:-${CARGO_TARGET_DIR:-target}/cuda}
wheels=(
    nvidia-cuda-nvcc==13.5.37
    nvidia-nvvm==13.5.37
    nvidia-cuda-crt==13.5.37
    nvidia-cuda-runtime==13.5.37
    nvidia-cuda-cccl==13.3.5.0.6 # cuda_fp16.h needs it
)

main() {
    local list="$folder/wheels" new
    if [ ! -x "$(nvcc "$folder")" ] || [ "$(cat "$list" 2>/dev/null)" != "${wheels[*]}" ]; then
        mkdir -p "$(dirname "$folder")"
        new=$(mktemp -d "$folder.XXXXXX")
        # shellcheck disable=SC2064
        trap "rm -rf '$new'" EXIT
        PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip install --quiet --no-deps \
            --no-compile --only-binary=:all: --target "$new" "${wheels[@]}" >&2
        # Wheels keep no modes that every installer honours.
        chmod -R u+x "$new"/nvidia/cu*/bin "$new"/nvidia/cu*/nvvm/bin
        chmod 755 "$new"
        "$(nvcc "$new")" --version >/dev/null
        echo "${wheels[*]}" >"$new/wheels"
        rm -rf "$folder"
        mv "$new" "$folder"
    fi
    nvcc "$(cd "$folder" && pwd)"
}

nvcc() {
    echo "$1"/nvidia/cu*/bin/nvcc
}

main
