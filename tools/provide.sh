# Sourced by ./test: makes sure of the tools that the checks need, and says which back-ends and build tools they make.
#
# What is missing is installed where that is allowed (as root, or with CI=true); elsewhere the line that installs it is
# printed and the rest runs without it. With CI=true a missing tool is a failure.
#
# Sets `compilers` (of C). Exports to the tests, where there: LAYOUTC_NVCC (nvcc), LAYOUTC_MDBOOK (mdbook 0.5),
# LAYOUTC_ONNX and LAYOUTC_NUMPY (the folders that these Python packages are installed in).

provide_tools() {
    provide_packages
    provide_nvcc
    provide_mdbook
    provide_pre_commit
    # The models to import are written by it.
    provide_wheel onnx LAYOUTC_ONNX
    # Kernels are held against it in the long campaigns.
    [ -z "${LAYOUTC_FULL:-}" ] || provide_wheel numpy LAYOUTC_NUMPY

    compilers=()
    local cc
    for cc in gcc clang tcc; do
        if command -v "$cc" >/dev/null; then compilers+=("$cc"); fi
    done
    echo "build tools: $(build_tools)"
    echo "processors besides this one: $(processor_names)"
    echo "back-ends: C ($(list ${compilers[@]+"${compilers[@]}"})), OpenCL ($(opencl_names)), CUDA ($(cuda_names)), HIP ($(command -v hipcc >/dev/null && echo compiled by hipcc || echo none))"
}

# The C compilers with clang's sanitizers, those for other processors with QEMU, SIMDe's vectors, the OpenCL platforms,
# strace, Open MPI, pip, a browser for pages, the build tools that layoutc fits into: as Debian and Ubuntu package them.
provide_packages() {
    local packages=()
    command -v gcc >/dev/null || packages+=(gcc libc6-dev)
    command -v g++ >/dev/null || packages+=(g++)
    command -v tcc >/dev/null || packages+=(tcc)
    # The sanitizers come along with clang, recommended; one that stands alone needs those of its own version.
    if ! command -v clang >/dev/null; then
        packages+=(clang)
    elif ! sanitizes clang; then
        packages+=("libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev")
    fi
    command -v oclgrind >/dev/null || packages+=(oclgrind)
    command -v qemu-aarch64 >/dev/null || packages+=(qemu-user)
    command -v s390x-linux-gnu-gcc >/dev/null || packages+=(gcc-s390x-linux-gnu libc6-dev-s390x-cross)
    command -v arm-linux-gnueabihf-gcc >/dev/null || packages+=(gcc-arm-linux-gnueabihf libc6-dev-armhf-cross)
    command -v aarch64-linux-gnu-gcc >/dev/null || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    [ -e "$SIMDE" ] || packages+=(libsimde-dev)
    command -v hipcc >/dev/null || packages+=(hipcc)
    command -v strace >/dev/null || packages+=(strace)
    command -v mpirun >/dev/null || packages+=(openmpi-bin)
    command -v mpicc >/dev/null || packages+=(libopenmpi-dev)
    command -v chromium >/dev/null || packages+=(chromium)
    opencl_runs "$POCL" || packages+=(pocl-opencl-icd ocl-icd-opencl-dev opencl-headers)
    python3 -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
    local tool
    for tool in make cmake meson ninja bazel-4 git; do
        command -v "$tool" >/dev/null || packages+=("$(package_of "$tool")")
    done
    [ ${#packages[@]} -gt 0 ] || return 0

    local install=(apt-get -o APT::Install-Recommends=true install -y "${packages[@]}")
    if command -v apt-get >/dev/null && allowed; then
        echo "installing: ${packages[*]}"
        as_root "${install[@]}" >/dev/null ||
            { as_root apt-get update >/dev/null && as_root "${install[@]}" >/dev/null; } || true
    fi

    local missing=()
    for tool in gcc g++ clang tcc oclgrind qemu-aarch64 s390x-linux-gnu-gcc arm-linux-gnueabihf-gcc \
        aarch64-linux-gnu-gcc hipcc strace mpirun mpicc chromium make cmake meson ninja bazel-4 git; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [ -e "$SIMDE" ] || missing+=(SIMDe)
    ! command -v clang >/dev/null || sanitizes clang || missing+=("clang's sanitizers")
    opencl_runs "$POCL" || missing+=(PoCL)
    python3 -m pip --version >/dev/null 2>&1 || missing+=(pip)
    [ ${#missing[@]} -eq 0 ] || do_without "$(list "${missing[@]}")" "sudo ${install[*]}"
}

package_of() {
    case $1 in
    ninja) echo ninja-build ;;
    # The Bazel that compiles without a network.
    bazel-4) echo bazel-bootstrap ;;
    *) echo "$1" ;;
    esac
}

# NVIDIA's compiler, into the target folder.
provide_nvcc() {
    if allowed; then
        LAYOUTC_NVCC=$(tools/cuda.sh) || LAYOUTC_NVCC=
    else
        LAYOUTC_NVCC=$(find "$(target_folder)/cuda" -path '*/bin/nvcc' 2>/dev/null | head -n 1)
        [ -z "$LAYOUTC_NVCC" ] || LAYOUTC_NVCC=$(realpath "$LAYOUTC_NVCC")
    fi
    if [ -n "$LAYOUTC_NVCC" ]; then
        export LAYOUTC_NVCC
    else
        do_without nvcc tools/cuda.sh
    fi
}

# mdbook 0.5, for the book; built once, without what watches and serves.
provide_mdbook() {
    local install=(cargo install mdbook --version 0.5.4 --locked --debug --no-default-features --features search
        --root "$(target_folder)/tools")
    local mdbook
    mdbook=$(find_mdbook)
    if [ -z "$mdbook" ] && allowed; then
        echo "installing: mdbook (minutes, once)"
        CARGO_PROFILE_DEV_DEBUG=0 "${install[@]}" --quiet || true
        mdbook=$(find_mdbook)
    fi
    if [ -n "$mdbook" ]; then
        export LAYOUTC_MDBOOK=$mdbook
    else
        do_without mdbook "${install[*]}"
    fi
}

# pre-commit, which runs our hooks in the tests; a wheel below the target folder.
provide_pre_commit() {
    command -v pre-commit >/dev/null && return
    local folder tools
    tools=$(target_folder)/tools
    folder=$tools/pre-commit
    local install=(python3 -m pip install --quiet --root-user-action=ignore --target "$folder" pre-commit)
    if [ ! -d "$folder" ] && allowed; then
        "${install[@]}" || true
    fi
    if [ -d "$folder" ]; then
        mkdir -p "$tools/bin"
        folder=$(realpath "$folder")
        printf '#!/bin/sh\nPYTHONPATH=%s exec python3 -m pre_commit "$@"\n' "$folder" >"$tools/bin/pre-commit"
        chmod +x "$tools/bin/pre-commit"
        PATH=$(realpath "$tools/bin"):$PATH
        export PATH
    else
        do_without pre-commit "${install[*]}"
    fi
}

# provide_wheel NAME VARIABLE: a Python package in a folder of its own below the target folder, which the variable then names.
provide_wheel() {
    python3 -c "import $1" 2>/dev/null && return
    local folder
    folder=$(target_folder)/tools/$1
    local install=(python3 -m pip install --quiet --root-user-action=ignore --target "$folder" "$1")
    if [ ! -d "$folder" ] && allowed; then
        "${install[@]}" || true
    fi
    if [ -d "$folder" ]; then
        folder=$(realpath "$folder")
        export "$2=$folder"
    else
        do_without "$1" "${install[*]}"
    fi
}

find_mdbook() {
    local mdbook
    for mdbook in "$(command -v mdbook)" "$(target_folder)/tools/bin/mdbook"; do
        if [ -x "$mdbook" ] && "$mdbook" --version | grep -q '^mdbook v\?0\.5\.'; then
            realpath "$mdbook"
            return
        fi
    done
}

allowed() {
    [ "$(id -u)" = 0 ] || [ "${CI:-}" = true ]
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# What is still missing, and the line that installs it.
do_without() {
    if [ "${CI:-}" = true ]; then
        check "tools: $1 missing" false
    else
        echo "running without: $1; to have it: $2"
    fi
}

# Whether a compiler links its sanitizers.
sanitizes() {
    local folder status=0
    folder=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$folder/a.c"
    "$1" -fsanitize=address,undefined "$folder/a.c" -o "$folder/a" 2>/dev/null || status=1
    rm -r "$folder"
    return $status
}

POCL="Portable Computing Language"
SIMDE=/usr/include/simde/x86/avx512.h

# Whether there is an OpenCL platform of that name and all that a program needs to use it.
opencl_runs() {
    local folder status=0
    folder=$(mktemp -d)
    { gcc layoutc/compiler/tests/gpu/run_cl.c -o "$folder/run_cl" -lOpenCL && "$folder/run_cl" "$1"; } \
        >"$folder/log" 2>&1 || status=1
    rm -r "$folder"
    return $status
}

# The tools that layoutc is tested in; a test of one that is missing says so and passes, with CI=true it fails.
build_tools() {
    local tool names=()
    for tool in make cmake meson ninja git; do
        if command -v "$tool" >/dev/null; then
            names+=("$tool $("$tool" --version | grep -o -m 1 '[0-9][0-9.]*' | head -n 1)")
        fi
    done
    # It does not know its version.
    if command -v bazel-4 >/dev/null; then names+=(bazel-4); fi
    list ${names[@]+"${names[@]}"}
}

# The processors that the tests run C on under QEMU.
processor_names() {
    local name names=()
    for name in s390x-linux-gnu arm-linux-gnueabihf aarch64-linux-gnu; do
        if command -v "$name-gcc" >/dev/null && command -v "qemu-${name%%-*}" >/dev/null; then
            names+=("${name%%-*}")
        fi
    done
    if [ -e "$SIMDE" ] && grep -qs avx2 /proc/cpuinfo; then names+=("AVX-512 by SIMDe"); fi
    list ${names[@]+"${names[@]}"}
}

opencl_names() {
    local names=()
    if opencl_runs "$POCL"; then names+=(PoCL); fi
    if command -v oclgrind >/dev/null; then names+=("$(oclgrind --version | grep -o -m 1 'Oclgrind [0-9.]*')"); fi
    list ${names[@]+"${names[@]}"}
}

cuda_names() {
    local names=()
    if command -v g++ >/dev/null && command -v awk >/dev/null; then names+=("on the CPU"); fi
    if [ -n "${LAYOUTC_NVCC:-}" ]; then
        names+=("compiled by nvcc $("$LAYOUTC_NVCC" --version | grep -o 'release [0-9.]*' | cut -d' ' -f2)")
    fi
    if nvidia-smi >/dev/null 2>&1; then
        names+=("on $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)")
    else
        names+=("no GPU")
    fi
    list ${names[@]+"${names[@]}"}
}

# Its arguments with commas between them.
list() {
    [ $# -gt 0 ] || set -- none
    printf '%s' "$1"
    shift
    [ $# -eq 0 ] || printf ', %s' "$@"
}
