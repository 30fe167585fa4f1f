//! Views on OpenCL and CUDA: loads and stores of whole vectors and texels on `PoCL`, Oclgrind and the CPU stand-in,
//! against slots computed by hand.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common;
use crate::common::gpu;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use common::cc::folder;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};

const VIEWS: &str = r#"
symbol batch max=64
tensor input dtype=f32 {
    shape { h 3; c 16 }
    layout {
        map "(h, c) -> (c // 8, h, c % 8)"
    }
}
view input_x4 of=input dtype=f32x4
view input_x3 of=vectors dtype=f32
tensor vectors dtype=f32x4 {
    shape { n 6 }
}
view row of=input {
    shape { c 8 }
    map "(c) -> (1, 2 * c + 1)"
}
view wide of=input {
    shape { n batch; c 16 }
    map "(n, c) -> (2, c)"
}
tensor texture dtype=f32 {
    shape { h 3; c 8 }
    layout {
        map "(h, c) -> (c // 4, h | c % 4)"
    }
    memory texture
}
view texels of=texture dtype=f32x4
view half_row of=texture {
    shape { c 4 }
    map "(c) -> (1, c + 4)"
}
tensor nibbles dtype=u4 {
    shape { n 8 }
}
view last of=nibbles {
    shape { n 4 }
    map "(n) -> (n + 4)"
}
view all of=nibbles {
    shape { k 3; n 8 }
    map "(k, n) -> (n)"
}
tensor halves dtype=f16 {
    shape { n 16 }
}
view halves_x4 of=halves dtype=f16x4
view halves_x8 of=halves dtype=f16x8
tensor points dtype=i32 {
    shape { n 4; xyz 3 }
}
view points_x3 of=points dtype=i32x3
tensor local_block dtype=f32 {
    shape { n 8 }
    memory shared
}
view block_x4 of=local_block dtype=f32x4
"#;

/// Writes the outputs of both targets to a folder.
fn built(name: &str) -> (PathBuf, BTreeMap<String, String>) {
    let target = TargetsConfig {
        c: None,
        opencl: Some(TargetOpenCl::default()),
        cuda: Some(TargetCuda::default()),
        hip: None,
        rust: None,
        own: BTreeMap::new(),
    };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("m.kdl", VIEWS);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let folder = folder(name);
    for output in &outputs {
        let path = folder.join(&output.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        layoutc_testing::files::write(path, &output.text);
    }
    let outputs = outputs.into_iter().map(|output| (output.path, output.text)).collect();
    (folder, outputs)
}

/// Slot of element (h, c) of `input`.
fn input_at(h: u16, c: u16) -> u16 {
    (c / 8 * 3 + h) * 8 + c % 8
}

fn write(folder: &Path, name: &str, values: impl IntoIterator<Item = u16>) {
    let bytes: Vec<u8> = values.into_iter().flat_map(|v| f32::from(v).to_le_bytes()).collect();
    std::fs::write(folder.join(name), bytes).unwrap();
}

const KERNELS: &str = "
__kernel void gather(__global const float *input, __global float4 *out) {
    const int h = get_global_id(0), c = get_global_id(1);
    out[h * 4 + c] = input_x4_load(input, input_x4_offset(h, c));
}

__kernel void scatter(__global const float4 *in, __global float *input) {
    const int h = get_global_id(0), c = get_global_id(1);
    input_x4_store(input, input_x4_offset(h, c), in[h * 4 + c]);
}

__kernel void take(__global const float *input, __global float *out) {
    const int c = get_global_id(0);
    out[c] = row_load(input, row_offset(c)) + wide_load(input, wide_offset(5, 4, c));
}

__kernel void cut(__global const float4 *vectors, __global float *out) {
    const int n = get_global_id(0);
    out[n] = input_x3_load(vectors, input_x3_offset(n));
}

__kernel void read(__read_only image2d_t texture, __global float4 *out) {
    const int h = get_global_id(0), c = get_global_id(1);
    out[h * 2 + c] = texels_fetch(texture, texels_index_0(h, c), texels_index_1(h, c));
}

__kernel void put(__global const float4 *in, __write_only image2d_t texture) {
    const int h = get_global_id(0), c = get_global_id(1);
    texels_put(texture, texels_index_0(h, c), texels_index_1(h, c), in[h * 2 + c]);
}
";

const JOB: &str = "
program probe.cl
buffer input 192 file counted.in
buffer out 192 fill 170
run gather 3 4 args mem input mem out
compare out gathered.out
buffer back 192 fill 170
run scatter 3 4 args mem out mem back
compare back counted.in
buffer taken 32 fill 170
run take 8 args mem input mem taken
compare taken taken.out
buffer vectors 96 file half.in
buffer scalars 96 fill 170
run cut 24 args mem vectors mem scalars
compare scalars half.in
image texture f32 1 6 0 file half.in
buffer texels 96 fill 170
run read 3 2 args mem texture mem texels
compare texels texels.out
image again f32 1 6 0 fill 170
run put 3 2 args mem texels mem again
compare again half.in
";

#[test]
fn opencl_loads_and_stores_whole_vectors_and_texels() {
    let (folder, outputs) = built("views_opencl");
    let program = &outputs["opencl/m.cl"];
    std::fs::write(folder.join("probe.cl"), format!("{program}{KERNELS}")).unwrap();
    let indices = || (0..3_u16).flat_map(|h| (0..16).map(move |c| (h, c)));
    write(&folder, "counted.in", 0..48);
    write(&folder, "half.in", 0..24);
    write(&folder, "gathered.out", indices().map(|(h, c)| input_at(h, c)));
    write(&folder, "taken.out", (0..8).map(|c| input_at(1, 2 * c + 1) + input_at(2, c)));
    let texel = |(h, c): (u16, u16)| (c / 4 * 3 + h) * 4 + c % 4;
    let texels = (0..3_u16).flat_map(|h| (0..8).map(move |c| (h, c)));
    write(&folder, "texels.out", texels.map(texel));
    std::fs::write(folder.join("exact.job"), JOB).unwrap();
    std::fs::write(folder.join("guarded.job"), format!("options -cl-opt-disable\nguard 64\n{JOB}"))
        .unwrap();
    for platform in gpu::platforms() {
        gpu::run_cl(platform, &folder, &["exact.job", "guarded.job"])
            .unwrap_or_else(|message| panic!("{platform:?}: {message}"));
    }
}

#[test]
fn opencl_view_functions_match_the_memory_kind() {
    let (_, outputs) = built("views_opencl_text");
    let program = &outputs["opencl/m.cl"];
    for there in [
        "vload4((size_t)index, (__global const float *)buffer)",
        "return ((__global const layoutc_i32x3 *)buffer)[index];",
        "static inline float4 texels_fetch(__read_only image2d_t image",
        "static inline uchar last_load(",
        "static inline void last_store(",
        "static inline uchar all_load(",
        "static inline int block_x4_offset(",
        "static inline int half_row_index_1(",
    ] {
        assert!(program.contains(there), "{there}");
    }
    for gone in
        ["wide_store", "all_store", "block_x4_load", "half_row_load", "texels_load", "row_pack"]
    {
        assert!(!program.contains(gone), "{gone}");
    }
    let host = &outputs["opencl/m.h"];
    assert!(
        host.contains("#define HALF_ROW_ORIGIN           16\n")
            && host.contains("wide_extent_n(int64_t batch)")
    );
}

/// CPU program that compares the view functions with the slots of the elements.
fn main_program() -> String {
    let mut text = String::from(
        "#include \"m.cuh\"\n#include <cstdio>\n#include <cstring>\n\nint main() {\n    \
         alignas(64) float input[48], copy[48] = {};\n    for (int k = 0; k < 48; ++k) {\n        \
         input[k] = (float)k;\n    }\n    int wrong = 0;\n",
    );
    for h in 0..3_u16 {
        for c in 0..4_u16 {
            let first = input_at(h, 4 * c);
            let at = format!("input_x4_offset({h}, {c})");
            let _infallible = writeln!(
                text,
                "    {{\n        const float4 value = input_x4_load(input, {at});\n        \
                 wrong += value.x != {first} || value.w != {first} + 3;\n        \
                 input_x4_store(copy, {at}, value);\n    }}"
            );
        }
    }
    text.push_str(
        "    wrong += memcmp(input, copy, sizeof input) != 0;
    wrong += row_load(input, row_offset(3)) != input[row_offset(3)] || row_offset(3) != 15;
    wrong += wide_load(input, wide_offset(7, 6, 9)) != 41;
    int32_t points[12];
    for (int k = 0; k < 12; ++k) {
        points[k] = k;
    }
    const auto point = points_x3_load(points, points_x3_offset(2, 0));
    memcpy(copy, &point, sizeof point);
    wrong += memcmp(copy, points + 6, 12) != 0;
    printf(\"%d wrong\\n\", wrong);
    return wrong != 0;
}
",
    );
    text
}

#[test]
fn cuda_loads_and_stores_whole_vectors() {
    let (folder, outputs) = built("views_cuda");
    let cuda = folder.join("cuda");
    std::fs::write(cuda.join("main.cpp"), main_program()).unwrap();
    for compiler in gpu::cuda_compilers() {
        let compiled = gpu::compile_for_cpu(&compiler, &cuda, &["m.cu", "main.cpp"], "cpu");
        let program = compiled.unwrap_or_else(|message| panic!("{message}"));
        assert_eq!(gpu::run_program(&program, &[]).unwrap(), "0 wrong\n");
    }
    if let Some(nvcc) = gpu::nvcc() {
        gpu::compile_with_nvcc(&nvcc, &cuda, "m.cu", &[80, 90])
            .unwrap_or_else(|message| panic!("{message}"));
    }
    let header = &outputs["cuda/m.cuh"];
    assert!(header.contains("return reinterpret_cast<const float4 *>(buffer)[index];"));
    assert!(
        header.contains("static inline __device__ float4 texels_fetch(cudaTextureObject_t image")
    );
}
