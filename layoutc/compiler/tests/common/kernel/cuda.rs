//! Helper: runs kernels as CUDA on the CPU stand-in, and on a GPU if there is one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use layoutc_compiler::config::{Config, TargetCuda, TargetsConfig};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};

use super::{For, Kernel, begun, compared, instances, manifest};
use crate::common::cc::folder;
use crate::common::gpu;
use crate::common::moves::channels;
use layoutc_testing::is_full;

/// Runs every instance and compares it with the reference.
pub(super) fn computes(kernel: &Kernel) {
    let text = manifest(kernel, For::Gpu);
    let cuda = Some(TargetCuda::default());
    let target =
        TargetsConfig { c: None, opencl: None, cuda, hip: None, rust: None, own: BTreeMap::new() };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("a.kdl", &text);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{text}");
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let folder = folder(&format!("kernel_{}_gpu", kernel.name));
    for output in outputs {
        let name = output.path.rsplit('/').next().unwrap();
        layoutc_testing::files::write(folder.join(name), &output.text);
    }
    std::fs::write(folder.join("driver.h"), include_str!("../../gpu/driver.h")).unwrap();
    std::fs::write(folder.join("main.cpp"), main_program(kernel)).unwrap();
    let sources = ["a.cu", "main.cpp"];
    for compiler in gpu::cuda_compilers() {
        let program = gpu::compile_for_cpu(&compiler, &folder, &sources, "program");
        let program = program.unwrap_or_else(|message| panic!("{message}"));
        let ran = gpu::run_program(&program, &[]);
        assert!(ran.is_ok(), "{} in {}:\n{ran:?}", compiler.0, folder.display());
    }
    let on_gpu = gpu::gpu();
    if !(is_full() || on_gpu) {
        return;
    }
    let Some(nvcc) = gpu::nvcc() else { return };
    let failed = |message| panic!("{}: {message}", folder.display());
    gpu::compile_with_nvcc(&nvcc, &folder, "a.cu", &[80]).unwrap_or_else(failed);
    if on_gpu {
        let program = gpu::compile_for_gpu(&nvcc, &folder, &sources, "gpu");
        gpu::run_program(&program.unwrap_or_else(|message| panic!("{message}")), &[])
            .unwrap_or_else(|message| panic!("{}: {message}", folder.display()));
    }
}

/// C++ program that runs every instance in device memory and compares the results with the reference.
fn main_program(kernel: &Kernel) -> String {
    let begun = begun(kernel, "a.cuh", "int main(void)");
    let mut text = format!("#include \"driver.h\"\n{begun}");
    // The caller allocates intermediates.
    let locals = kernel.text.matches("local ").count();
    for local in 0..locals {
        writeln!(text, "    const Buffer local_{local}(\"\", 4096);").unwrap();
    }
    for k in 0..instances(kernel) {
        text.push_str("    {\n");
        let [mut before, mut after, mut read, mut written] = [(); 4].map(|()| String::new());
        for operand in &kernel.operands {
            let (name, tensor) = (operand.name, operand.tensor(k));
            let upper = tensor.to_uppercase();
            let (as_read, as_written) = if operand.is_image(k) {
                let format = channels(operand.dtype).unwrap().1;
                let size = format!("(size_t){upper}_IMAGE_WIDTH, (size_t){upper}_IMAGE_HEIGHT, 0");
                writeln!(text, "        const Image {name}_there(\"\", {format}, {size});")
                    .unwrap();
                (format!("{name}_there.texture"), format!("{name}_there.surface"))
            } else {
                let bytes = format!("(size_t){upper}_BYTES");
                writeln!(text, "        const Buffer {name}_there(\"\", {bytes});").unwrap();
                (format!("{name}_there"), format!("{name}_there"))
            };
            if kernel.written.contains(&name) {
                writeln!(text, "        const Buffer {name}_dense(\"\", sizeof {name}_got);")
                    .unwrap();
                writeln!(
                    after,
                    "        done({tensor}_unpack({as_read}, {name}_dense, nullptr), \"{tensor}_unpack\");\n        {name}_dense.read({name}_got);"
                )
                .unwrap();
                after.push_str(&compared(kernel, operand, k));
                write!(written, "{as_written}, ").unwrap();
            } else {
                writeln!(text, "        const Buffer {name}_dense({name}, sizeof {name});")
                    .unwrap();
                writeln!(
                    before,
                    "        done({tensor}_pack({name}_dense, {as_written}, nullptr), \"{tensor}_pack\");"
                )
                .unwrap();
                write!(read, "{as_read}, ").unwrap();
            }
        }
        for local in 0..locals {
            write!(written, "local_{local}, ").unwrap();
        }
        let name = kernel.name;
        writeln!(
            text,
            "{before}        done({name}_{k}({read}{written}nullptr), \"{name}_{k}\");\n{after}    }}"
        )
        .unwrap();
    }
    text.push_str("    return wrong != 0;\n}\n");
    text
}
