//! The OpenCL runner and the CUDA stand-in of the tests: correct handwritten kernels pass, faulty ones are reported.
#![allow(clippy::disallowed_methods, reason = "writes the files that kernels read")]
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::cc;
use crate::common::gpu;
use std::path::{Path, PathBuf};

use gpu::Platform;

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gpu");

/// Creates a folder with copies of the samples.
fn folder(name: &str, samples: &[&str]) -> PathBuf {
    let path = cc::folder(name);
    for sample in samples {
        std::fs::copy(format!("{SAMPLES}/{sample}"), path.join(sample)).unwrap();
    }
    path
}

fn write(folder: &Path, name: &str, values: impl IntoIterator<Item = u16>) {
    let bytes: Vec<u8> = values.into_iter().flat_map(|v| f32::from(v).to_le_bytes()).collect();
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// Creates a folder with inputs that count up from 1, and the expected outputs.
fn opencl_folder(name: &str) -> PathBuf {
    let folder = folder(name, &["sample.cl"]);
    write(&folder, "turn.in", 1..=105);
    let turned = (0..3).flat_map(|n| (0..7).map(move |w| (n, w)));
    let turned = turned.flat_map(|(n, w)| (0..5).map(move |h| (n * 5 + h) * 7 + w + 1));
    write(&folder, "turn.out", turned);
    write(&folder, "texture.in", 1..=210);
    let texels = (0..10).flat_map(|row| (0..7).map(move |w| (row, w)));
    let texels = texels.flat_map(|(row, w)| {
        (0..4).map(move |lane| {
            let c = row / 5 * 4 + lane;
            if c < 6 { (row % 5 * 7 + w) * 6 + c + 1 } else { 0 }
        })
    });
    write(&folder, "texture.out", texels);
    write(&folder, "layers.in", 1..=420);
    folder
}

const JOB: &str = "
# Every output starts as other bytes than the ones to come.
program sample.cl
buffer turn_in 420 file turn.in
buffer turn_out 420 fill 170
run turn_pack 8 8 4 local 8 8 1 args i32 3 mem turn_in mem turn_out
compare turn_out turn.out

buffer texture_in 840 file texture.in
buffer texture_back 840 fill 170
image texture f32 7 10 0 fill 170
run texture_pack 8 16 local 8 8 args mem texture_in mem texture
compare texture texture.out
run texture_unpack 8 16 local 8 8 args mem texture mem texture_back
compare texture_back texture.in

buffer layers_in 1680 file layers.in
buffer layers_back 1680 fill 170
image layers f32 7 5 3 fill 170
run layers_pack 8 8 4 local 8 8 1 args i32 3 mem layers_in mem layers
compare layers layers.in
run layers_unpack 8 8 4 local 8 8 1 args i32 3 mem layers mem layers_back
compare layers_back layers.in
save layers layers.out
";

fn job(folder: &Path, name: &str, text: &str) {
    layoutc_testing::files::write(folder.join(name), text);
}

#[test]
fn opencl_kernels_run_on_every_platform() {
    let folder = opencl_folder("gpu_tools_cl");
    job(&folder, "exact.job", JOB);
    job(&folder, "guarded.job", &format!("options -cl-opt-disable\nguard 64\n{JOB}"));
    for platform in gpu::platforms() {
        gpu::run_cl(platform, &folder, &["exact.job", "guarded.job"]).unwrap();
        let saved = std::fs::read(folder.join("layers.out")).unwrap();
        assert_eq!(saved, std::fs::read(folder.join("layers.in")).unwrap());
    }
}

#[test]
fn opencl_kernel_faults_are_detected() {
    let folder = opencl_folder("gpu_tools_cl_faults");
    let start = "program sample.cl\nbuffer a 420 file turn.in\nbuffer b 420 fill 170\n";
    let overrun = "run turn_overrun 8 8 4 args i32 3 mem a mem b\n";
    let image = "image i f32 7 9 0 fill 170\nbuffer t 840 file texture.in\n";
    let pack = "run texture_pack 8 16 args mem t mem i\n";
    let jobs = [
        ("guards.job", format!("guard 64\n{start}{overrun}"), "wrote outside `b`"),
        ("texels.job", format!("guard 64\n{start}{image}{pack}"), "wrote outside `i`"),
        ("elements.job", format!("{start}compare b turn.out\n"), "byte 0 of `b` is 0xaa"),
        ("program.job", "program program.job\n".to_owned(), "does not build"),
        ("kernel.job", format!("{start}run none 1 args mem a\n"), "none"),
        (
            "arguments.job",
            format!("{start}run turn_pack 1 args i32 3 mem a\n"),
            "takes 3 arguments",
        ),
        ("word.job", "sing\n".to_owned(), "word.job:1: not understood"),
    ];
    for platform in gpu::platforms() {
        for (name, text, found) in &jobs {
            job(&folder, name, text);
            let message = gpu::run_cl(platform, &folder, &[name]).unwrap_err();
            assert!(message.contains(found), "{platform:?}, {name}: {message}");
        }
        job(&folder, "exact.job", &format!("{start}{overrun}"));
        job(&folder, "texture.job", &format!("{start}{image}{pack}"));
        if platform == Platform::Oclgrind {
            for name in ["exact.job", "texture.job"] {
                let message = gpu::run_cl(platform, &folder, &[name]).unwrap_err();
                assert!(message.contains("Invalid write"), "{name}: {message}");
            }
        }
    }
}

#[test]
fn cuda_on_the_cpu_detects_texture_overruns() {
    let samples = ["sample.cu", "sample.cuh", "sample_main.cpp"];
    let folder = folder("gpu_tools_cuda", &samples);
    for compiler in gpu::cuda_compilers() {
        let sources = ["sample.cu", "sample_main.cpp"];
        let program =
            gpu::compile_for_cpu(&compiler, &folder, &sources, &format!("run_{}", compiler.0));
        let program = program.unwrap();
        assert_eq!(gpu::run_program(&program, &[]).unwrap(), "ok\n");
        let message = gpu::run_program(&program, &["texture_overrun"]).unwrap_err();
        assert!(message.contains("texel (0, 10), layer 0, of 7 by 10"), "{message}");
        if compiler.0 == "clang++" {
            let message = gpu::run_program(&program, &["overrun"]).unwrap_err();
            assert!(message.contains("heap-buffer-overflow"), "{message}");
            assert!(message.contains("sample.cu:"), "{message}");
        }
    }
}

#[test]
fn cuda_faults_abort_the_program() {
    let compilers = gpu::cuda_compilers();
    let Some(compiler) = compilers.first() else { return };
    let folder = folder("gpu_tools_cuda_faults", &["faults.cu"]);
    let program = gpu::compile_for_cpu(compiler, &folder, &["faults.cu"], "faults").unwrap();
    let faults = [
        ("divergent", "some threads of a block wait"),
        ("stale", "not what was written"),
        ("unsynced", "not what was written"),
        ("early", "not what was written"),
        ("unawaited", "asynchronous copies without a wait"),
        ("texture", "texel (4, 0)"),
        ("corner", "off the centre"),
        ("bytes", "off the start"),
        ("kind", "another type of texel"),
        ("size", "another size"),
        ("layers", "a flat access of a layered array"),
        ("destroyed", "not a surface object"),
        ("freed", "heap-use-after-free"),
        ("block", "invalid configuration"),
    ];
    for (fault, found) in faults {
        let message = gpu::run_program(&program, &[fault]).unwrap_err();
        assert!(message.contains(found), "{fault}: {message}");
    }
    assert_eq!(gpu::run_program(&program, &["none"]).unwrap(), "");
}

#[test]
fn nvcc_compiles_for_every_arch() {
    let Some(nvcc) = gpu::nvcc() else { return };
    let folder = folder("gpu_tools_nvcc", &["sample.cu", "sample.cuh", "sample_main.cpp"]);
    gpu::compile_with_nvcc(&nvcc, &folder, "sample.cu", gpu::ARCHS).unwrap();
    let sources = ["sample.cu", "sample_main.cpp"];
    let program = gpu::compile_for_gpu(&nvcc, &folder, &sources, "program").unwrap();
    if gpu::gpu() {
        assert_eq!(gpu::run_program(&program, &[]).unwrap(), "ok\n");
    }
    let text = "__global__ void k(float *a) { int b = 3; a[0] = 1.0f; }\n";
    layoutc_testing::files::write(folder.join("warns.cu"), text);
    let message = gpu::compile_with_nvcc(&nvcc, &folder, "warns.cu", &[80]).unwrap_err();
    assert!(message.contains("never referenced"), "{message}");
}
