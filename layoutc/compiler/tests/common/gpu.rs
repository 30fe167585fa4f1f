//! Helper: runs OpenCL and CUDA without a GPU. OpenCL runs on `PoCL` and Oclgrind; CUDA runs on a CPU stand-in for its
//! runtime and is compiled by nvcc. A missing tool is skipped; with `CI=true` it panics.
#![allow(
    unreachable_pub,
    missing_docs,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests, runs compilers"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::compile_cache;
use layoutc_testing::campaign::is_available;
use layoutc_testing::process::{is_installed, output};

const GPU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gpu");
const TMP: &str = env!("CARGO_TARGET_TMPDIR");

/// Flags under which emitted CUDA compiles without warnings, with g++ and clang++.
/// (g++ does not know `#pragma unroll`.)
pub const CUDA_WARNINGS: &[&str] =
    &["-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Werror"];

/// Compute capabilities (`sm_…`) that emitted CUDA is compiled for.
pub const ARCHS: &[u32] = &[75, 80, 86, 89, 90];

/// An OpenCL platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Compiles to machine code: 0.4 s per program, and per kernel 35 ms with a local size and `-cl-opt-disable`,
    /// 90 ms with a local size alone, 250 ms with neither; cached between runs.
    Pocl,
    /// Interprets kernels and finds out-of-bounds accesses and races: 5 ms per program, 10 ms per small kernel.
    Oclgrind,
    /// An NVIDIA GPU, if there is one.
    Nvidia,
}

/// Installed platforms.
pub fn platforms() -> Vec<Platform> {
    let demanded = [Platform::Pocl, Platform::Oclgrind];
    let there = |platform: &Platform| runner().is_some() && run_cl(*platform, TMP, &[]).is_ok();
    let mut found: Vec<Platform> = demanded.into_iter().filter(there).collect();
    is_available(found.len() == demanded.len(), "PoCL and Oclgrind");
    found.extend(Some(Platform::Nvidia).filter(there));
    found
}

/// Width, height and number of layers of the largest image of a platform.
pub fn largest_image(platform: Platform) -> [usize; 3] {
    let message = run_cl(platform, TMP, &[]).unwrap_or_default();
    let last = message.lines().last().unwrap_or_default();
    let mut numbers = last.split(' ').map(|number| number.parse().unwrap());
    [(); 3].map(|()| numbers.next().unwrap())
}

/// Runs job files of `tests/gpu/run_cl.c` (its first comment has the format) in a folder, in order. Returns the
/// output, or the error, including what Oclgrind found.
pub fn run_cl(
    platform: Platform,
    folder: impl AsRef<Path>,
    jobs: &[&str],
) -> Result<String, String> {
    let runner = runner().ok_or("the runner does not compile")?;
    let named = match platform {
        Platform::Pocl => Some("Portable Computing Language"),
        Platform::Nvidia => Some("NVIDIA CUDA"),
        Platform::Oclgrind => None,
    };
    if let Some(name) = named {
        let mut command = Command::new(runner);
        command.env("POCL_CACHE_DIR", Path::new(TMP).join("pocl"));
        return output(command.arg(name).args(jobs).current_dir(folder));
    }
    let optimized = oclgrind(&runner, folder.as_ref(), jobs, "");
    match &optimized {
        // Oclgrind does not interpret every intrinsic that its clang emits: `llvm.abs` for `x < 0 ? -x : x`.
        Err(message) if message.contains("Undefined external function: llvm.") => {
            oclgrind(&runner, folder.as_ref(), jobs, "-cl-opt-disable")
        }
        _ => optimized,
    }
}

/// Runs jobs on Oclgrind, which builds programs with `options`. Returns the output or the error.
fn oclgrind(runner: &Path, folder: &Path, jobs: &[&str], options: &str) -> Result<String, String> {
    let log = unique("oclgrind");
    let mut command = Command::new("oclgrind");
    command.args(["--build-options", options, "--data-races", "--log"]).arg(&log);
    command.arg(runner).arg("Oclgrind").args(jobs);
    let mut result = output(command.current_dir(folder));
    let found = std::fs::read_to_string(&log).unwrap_or_default();
    let _gone = std::fs::remove_file(&log);
    if !found.trim().is_empty() {
        let (Ok(message) | Err(message)) = result;
        result = Err(format!("{message}{found}"));
    }
    result
}

/// Installed C++ compilers for [`compile_for_cpu`], with their flags.
pub fn cuda_compilers() -> Vec<(&'static str, Vec<&'static str>)> {
    let sanitized = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let all = [
        ("clang++", [CUDA_WARNINGS, &sanitized].concat()),
        ("g++", [CUDA_WARNINGS, &["-O0"]].concat()),
    ];
    let count = all.len();
    let found: Vec<_> = all.into_iter().filter(|(name, _)| is_installed(name)).collect();
    is_available(found.len() == count, "clang++ and g++");
    found
}

/// Compiles CUDA sources (`.cu`, with launches rewritten) and C++ (`.cpp`) of a folder to a CPU program.
pub fn compile_for_cpu(
    (compiler, flags): &(&str, Vec<&str>),
    folder: &Path,
    sources: &[&str],
    program: &str,
) -> Result<PathBuf, String> {
    let shim = format!("{GPU}/cuda_shim");
    let mut command = Command::new(compiler);
    command.args(flags).args(["-isystem", &shim, "-o", program]).current_dir(folder);
    for source in sources {
        if Path::new(source).extension().is_some_and(|extension| extension == "cu") {
            let mut awk = Command::new("awk");
            awk.arg("-f").arg(format!("{shim}/launches.awk")).arg(source).current_dir(folder);
            let plain = format!("{source}.{compiler}.cpp");
            std::fs::write(folder.join(&plain), output(&mut awk)?).unwrap();
            command.arg(plain);
        } else {
            command.arg(source);
        }
    }
    compile_cache::compile(&mut command, folder, Some(program), &[Path::new(&shim)])?;
    Ok(folder.join(program))
}

/// Runs a program compiled from CUDA. Returns its output or the error.
pub fn run_program(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    // Tests need not free what they allocate.
    command.env("ASAN_OPTIONS", "detect_leaks=0").args(arguments);
    output(command.current_dir(program.parent().unwrap()))
}

/// Path of nvcc: `LAYOUTC_NVCC`, or where `tools/cuda.sh` installs it.
pub fn nvcc() -> Option<PathBuf> {
    let named = std::env::var_os("LAYOUTC_NVCC").map(PathBuf::from);
    let put = Path::new(TMP).parent().unwrap().join("cuda/nvidia/cu13/bin/nvcc");
    let found = named.or(Some(put)).filter(|path| path.exists());
    is_available(found.is_some(), "nvcc");
    found
}

/// Compiles a CUDA source with nvcc, warnings as errors: device code for each arch, host code for the last.
pub fn compile_with_nvcc(
    nvcc: &Path,
    folder: &Path,
    source: &str,
    archs: &[u32],
) -> Result<(), String> {
    let strict = ["-std=c++17", "-Werror", "all-warnings"];
    let binary = format!("{source}.fatbin");
    let mut device = Command::new(nvcc);
    device.args(strict).args(["-fatbin", "--threads", "2", source, "-o", &binary]);
    for arch in archs {
        device.arg(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    }
    compile_cache::compile(&mut device, folder, Some(&binary), &[])?;
    let Some(arch) = archs.last() else { return Ok(()) };
    let object = format!("{source}.o");
    let mut host = Command::new(nvcc);
    host.args(strict).args(["-Xcompiler", "-Wall,-Wextra,-Werror"]);
    host.arg(format!("-arch=sm_{arch}")).args(["-c", source, "-o", &object]);
    compile_cache::compile(&mut host, folder, Some(&object), &[])
}

/// True if there is an NVIDIA GPU.
pub fn gpu() -> bool {
    Command::new("nvidia-smi").output().is_ok_and(|output| output.status.success())
}

/// Compiles CUDA sources and C++ of a folder to a GPU program, for `run_program` if there is a `gpu()`.
pub fn compile_for_gpu(
    nvcc: &Path,
    folder: &Path,
    sources: &[&str],
    program: &str,
) -> Result<PathBuf, String> {
    let mut command = Command::new(nvcc);
    command.args(["-std=c++17", "-Werror", "all-warnings", "-o", program]).args(sources);
    command.arg(if gpu() { "-arch=native" } else { "-arch=sm_80" });
    compile_cache::compile(&mut command, folder, Some(program), &[])?;
    Ok(folder.join(program))
}

/// Path of the OpenCL runner, compiled once per version of its source.
fn runner() -> Option<PathBuf> {
    let source = format!("{GPU}/run_cl.c");
    let hash = blake3::hash(&std::fs::read(&source).unwrap()).to_hex();
    let path = Path::new(TMP).join(format!("run_cl_{}", &hash[..16]));
    if !path.exists() {
        let strict =
            ["-std=c99", "-O1", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"];
        let new = unique("run_cl");
        let mut cc = Command::new("cc");
        cc.args(strict).arg(&source).arg("-o").arg(&new).arg("-lOpenCL");
        if let Err(message) = output(&mut cc) {
            is_available(false, &format!("OpenCL's headers and loader ({message})"));
            return None;
        }
        std::fs::rename(&new, &path).unwrap();
    }
    Some(path)
}

/// Path in the temporary folder that no other test uses.
fn unique(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(TMP).join(format!("{name}.{}.{count}", std::process::id()))
}
