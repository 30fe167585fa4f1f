//! Edge cases of OpenCL and CUDA: empty tensors, reserved names, sizes at the limit of the index type. All targets must
//! compile without warnings.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::cc::folder;
use crate::common::gpu;
use std::collections::BTreeMap;
use std::process::Command;

use crate::common::check_text::all_targets;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};

/// Outputs of all three targets by path.
fn built(manifest: &str) -> Result<BTreeMap<String, String>, Vec<Diagnostic>> {
    let config = all_targets();
    let sources = MemorySources::of("m.kdl", manifest);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default())?;
    Ok(outputs.into_iter().map(|output| (output.path, output.text)).collect())
}

/// Compiles all outputs with warnings as errors: C and its test program, OpenCL C, the host's header, CUDA by the CPU
/// stand-in and by nvcc.
fn compiles(name: &str, manifest: &str) {
    let outputs = built(manifest).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let folder = folder(&format!("edges_{name}"));
    for (path, text) in &outputs {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        layoutc_testing::files::write(file, text);
    }
    let run = |program: &str, args: &[&str]| {
        let Ok(ran) = Command::new(program).args(args).current_dir(&folder).output() else {
            return;
        };
        let printed = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{program} {args:?}:\n{printed}\n{manifest}");
    };
    let strict = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror"];
    let c = [&["-std=c99", "-pedantic"], strict.as_slice()].concat();
    run("gcc", &[c.as_slice(), &["c/m.c", "c/tests/m_test.c", "-o", "c_test"]].concat());
    run("./c_test", &[]);
    std::fs::write(folder.join("host.c"), "#include \"c/m.h\"\n#include \"opencl/m.h\"\n").unwrap();
    run("gcc", &[c.as_slice(), &["-fsyntax-only", "host.c"]].concat());
    let shim = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gpu/cuda_shim");
    for (k, order) in [["c/m.h", "opencl/m.h", "cuda/m.cuh"], ["cuda/m.cuh", "opencl/m.h", "c/m.h"]]
        .into_iter()
        .enumerate()
    {
        let text = order.map(|header| format!("#include \"{header}\"\n")).concat();
        let name = format!("all{k}.cpp");
        layoutc_testing::files::write(folder.join(&name), text);
        run(
            "g++",
            &["-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", shim, "-fsyntax-only", &name],
        );
    }
    let cl = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target"];
    let cl = [&cl, &["spir64-unknown-unknown", "-Wall", "-Wextra", "-Werror"][..]].concat();
    let cl = [cl.as_slice(), &["-Wno-unused-function", "-fsyntax-only", "opencl/m.cl"]].concat();
    run("clang", &cl);
    let cuda = folder.join("cuda");
    std::fs::write(cuda.join("main.cpp"), "#include \"m.cuh\"\nint main() { return 0; }\n")
        .unwrap();
    for compiler in gpu::cuda_compilers() {
        let compiled = gpu::compile_for_cpu(&compiler, &cuda, &["m.cu", "main.cpp"], "cpu");
        compiled.unwrap_or_else(|printed| panic!("{printed}\n{manifest}"));
    }
    if let Some(nvcc) = gpu::nvcc() {
        let compiled = gpu::compile_with_nvcc(&nvcc, &cuda, "m.cu", &[90]);
        compiled.unwrap_or_else(|printed| panic!("{printed}\n{manifest}"));
    }
}

#[test]
fn tensors_without_elements_compile_without_a_warning() {
    compiles(
        "empty",
        "symbol s max=9
tensor d dtype=f32 { shape { a 2; b 0; c s } }
tensor e dtype=f32 like=d {
    layout {
        map \"(a, b, c) -> (c, b, a)\"
    }
}
tensor i dtype=f16 {
    shape { h 0; w 8 }
    layout {
        axis-separators h
    }
    memory texture
}
tensor n dtype=i4 { shape { h 3; w 0 } }
convert d to=e
",
    );
}

#[test]
fn curve_helpers_of_all_targets_compile_without_warnings() {
    compiles(
        "curves",
        "tensor d dtype=f32 { shape { a 6; b 10 }; layout { map \"(a, b) -> (hilbert(a, b))\" } }
tensor e dtype=f32 { shape { a 4; b 4 }; layout { map \"(a, b) -> (hilbert(a // 4, b // 4), a % 4, b % 4)\" } }
tensor f dtype=f32 like=d { layout { map \"(a, b) -> (hilbert(a // 4, b // 4), a % 4, b % 4)\" } }
view g of=d { shape { a 3; b 10 }; map \"(a, b) -> (2 * a, b)\" }
convert d to=f
",
    );
}

#[test]
fn names_that_templates_use_themselves_are_free() {
    let symbols = "slots elements fill limit back seen from to at used physical logical slot from_slot to_slot \
         logical_bytes scatter allocate mismatch from_bytes to_bytes b_plain_offset items stream texel \
         lane column x y element byte end item tile staged held round plain_items n_start n_end";
    let names: Vec<&str> = symbols.split_whitespace().collect();
    let mut manifest = String::new();
    for name in &names {
        manifest += &format!("symbol {name} max=6\n");
    }
    for (k, name) in names.iter().enumerate() {
        manifest += &format!(
            "tensor a{k} dtype=f32 {{ shape {{ n {name}; k 4 }} }}
tensor b{k} dtype=f32 like=a{k} {{
    layout {{
        order k n
    }}
}}
convert a{k} to=b{k}
"
        );
    }
    compiles("symbols", &manifest);
    let mut manifest = String::new();
    for (k, name) in names.iter().enumerate() {
        manifest += &format!(
            "tensor a{k} dtype=i4 {{ shape {{ {name} 5; n 3 }} }}
tensor b{k} dtype=i4 like=a{k} {{
    layout {{
        map \"(a, b) -> (b, a // 2, a % 2)\"
    }}
}}
convert a{k} to=b{k}
"
        );
    }
    compiles("axes", &manifest);
}
