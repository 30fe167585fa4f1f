//! Generated test and benchmark programs of kernels: correct kernels pass, modified ones fail with the expected
//! message, and every kernel is timed.
#![allow(clippy::disallowed_methods, reason = "compiles and runs what is written")]
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common;
use crate::common::check_text::check_valid;
use layoutc_testing::process::is_installed;
use std::path::Path;
use std::process::Command;

use common::cc::{folder, run};
use layoutc_compiler::emit::{Part, Settings, Templates, emit};
use layoutc_compiler::model::Manifest;

fn manifest(text: &'static str) -> Manifest {
    let checked = check_valid(text);
    checked.manifests[0].clone()
}

/// Kernels with symbols, f16, padding with and without a fill value, packed elements, intermediates on the stack and
/// from the caller, accumulation into an output, functions undefined below 0, integer products, and names that the
/// programs use themselves.
const MANY: &str = r#"
symbol rows max=3000
symbol cols max=3000
symbol depth max=3000
tensor a dtype=f16 { shape { i rows; k depth } }
tensor b dtype=bf16 { shape { k depth; j cols }; layout { tile 8 16 } }
tensor c dtype=f32 { shape { i rows; j cols }; layout { tile 8 16; fill 1 } }
kernel copy {
    operands A B C
    compute "C[i, j] += A[i, k] * B[k, j]"
}
instance product of=copy A=a B=b C=c
tensor s dtype=f32 { shape { i rows; j 70 }; layout { order j i } }
tensor t dtype=f16 { shape { i rows; j 70 } }
kernel softmax {
    compute "top[i] max= s[i, j]"
    compute "total[i] += exp(s[i, j] - top[i])"
    compute "t[i, j] = exp(s[i, j] - top[i]) / total[i]"
    local top dtype=f32
    local total dtype=f32
}
tensor q dtype=i4 { shape { i 33; j 5 }; layout { order j i; pad i multiple=16; fill 3 } }
tensor p dtype=i8 { shape { i 33; j 5 }; layout { order j i; pad i multiple=16; fill none } }
tensor z dtype=i32 { shape {} }
tensor u dtype=u2 { shape { i 33; j 5 } }
tensor v dtype=i32 { shape { j 5 } }
kernel scatter { compute "q[i, j] = p[i, j] * 2" }
kernel limit { compute "z[] += p[i, j]"; accumulate #true }
kernel every { compute "z[] *= v[j]" }
kernel allocate { compute "p[i, j] = i8(sqrt(f32(u[i, j]))) // v[j]" }
kernel layers {
    compute "d[i] += f32(p[i, j]) * rsqrt(f32(u[i, j]))"
    compute "e[i] = d[i] > (d[i - 1] ?? 0.5)"
    local d dtype=f64 { layout { split i by=8; order i_inner i_outer } }
}
tensor e dtype=bool { shape { i 33 } }
"#;

#[test]
fn kernels_agree_with_the_reference_in_the_test_program() {
    let printed = run("kernel_programs", &manifest(MANY));
    let count =
        |kernel: &str| printed.lines().filter(|line| *line == format!("{kernel}: ok")).count();
    let kernels = ["scatter", "limit", "every", "allocate", "layers"];
    assert_eq!(kernels.map(count), [1; 5], "{printed}");
    assert_eq!(["product", "softmax"].map(count), [10; 2], "{printed}");
}

const CONVOLUTION: &str = r#"
kernel conv {
    operands A W B
    compute "B[n, h, w, k] += (A[n, h + r - 1, w + s - 1, c] ?? 0) * W[k, r, s, c]"
}
tensor image dtype=f32 { shape { n 1; h 6; w 7; c 5 } }
tensor filters dtype=f32 { shape { k 6; r 3; s 3; c 5 } }
tensor result dtype=f32 {
    shape { n 1; h 6; w 7; k 6 }
    layout { split k by=4; order n k_outer h w k_inner; fill 2 }
}
instance conv4 of=conv A=image W=filters B=result
"#;

/// Output of the convolution's test program with `from` replaced by `to` in the kernel.
fn broken(name: &str, from: &str, to: &str) -> String {
    let folder = folder(name);
    let manifest = manifest(CONVOLUTION);
    let outputs = emit(&manifest, &Settings::c(), "conv", &Templates::default()).unwrap();
    common::cc::write(&folder, &outputs);
    let source = std::fs::read_to_string(folder.join("conv.c")).unwrap();
    let (before, kernel) = source.split_once("void layoutc_conv4_compute(").unwrap();
    assert!(kernel.contains(from), "{kernel}");
    let kernel = kernel.replace(from, to);
    let source = format!("{before}void layoutc_conv4_compute({kernel}");
    std::fs::write(folder.join("conv.c"), source).unwrap();
    let mut gcc = Command::new("gcc");
    let compiled = gcc.args(["-O1", "-o", "program", "tests/conv_test.c", "conv.c", "-lm"]);
    assert!(compiled.current_dir(&folder).status().unwrap().success());
    let ran = Command::new(folder.join("program")).output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn the_test_program_detects_a_wrong_kernel() {
    let last = |printed: String| printed.lines().last().unwrap_or_default().to_owned();
    let elements = broken("kernel_wrong_sum", "sum = 0.0f", "sum = 0.5f");
    assert!(elements.contains("conv4: "), "{elements}");
    assert_eq!(last(elements), "result: wrong at (0, 0, 0, 0)");
    let padding = broken("kernel_wrong_padding", "fill = 2.0f", "fill = 3.0f");
    assert_eq!(last(padding), "conv4: result: wrong padding, at offset at (170)");
}

#[test]
fn every_kernel_is_timed() {
    let folder = folder("kernel_bench");
    let mut settings = Settings::c();
    settings.emit = [Part::Bench].into();
    for (stem, text) in [("conv", CONVOLUTION), ("many", MANY)] {
        let outputs = emit(&manifest(text), &settings, stem, &Templates::default()).unwrap();
        common::cc::write(&folder, &outputs);
        compile(&folder, stem);
    }
    let figures = timed(&folder, "conv", "conv4");
    // 252 elements of 45 multiplications and additions each; the bytes of three tensors.
    let wanted = "\"bytes\":2928,\"elements\":252,\"operations\":22680,";
    assert!(figures.contains(wanted), "{figures}");
    for kernel in
        ["product at rows = ", "softmax at rows = ", "scatter", "limit", "every", "layers"]
    {
        let figures = timed(&folder, "many", kernel);
        assert!(figures.starts_with("{\"kind\":\"bench\",\"kernel\":\""), "{figures}");
    }
}

fn compile(folder: &Path, stem: &str) {
    for compiler in ["clang", "gcc"].into_iter().filter(|name| is_installed(name)) {
        let mut command = Command::new(compiler);
        let sources = [format!("bench/{stem}_bench.c"), format!("{stem}.c")];
        let strict = ["-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror"];
        command.args(["-std=c11", "-O0"]).args(strict).args(sources);
        let program = format!("{stem}_program");
        let compiled = command.args(["-lm", "-o", &program]).current_dir(folder).status();
        assert!(compiled.unwrap().success(), "{compiler} in {}", folder.display());
    }
}

/// Output of the benchmark program for one kernel.
fn timed(folder: &Path, stem: &str, kernel: &str) -> String {
    let program = format!("{stem}_program");
    let ran = Command::new(folder.join(program)).args(["0.001", "json", kernel]).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

const EXAMPLE: &str = include_str!("../../../examples/convolution/layouts/conv.kdl");

/// Program that compares the example's five convolutions with one on dense arrays; small integers make results exact.
const AGAINST_DENSE: &str = r#"#include "conv.h"
#include <stdio.h>
#include <stdlib.h>
enum { H = 14, W = 14, C = 24 };
static float image[H * W * C], filters[C * 9 * C], result[H * W * C], back[H * W * C];
static int wrong = 0;
static void convolve(void) {
    for (int h = 0; h < H; ++h) for (int w = 0; w < W; ++w) for (int k = 0; k < C; ++k) {
        float sum = 0;
        for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) {
            const int y = h + r - 1, x = w + s - 1;
            if (y < 0 || y >= H || x < 0 || x >= W) continue;
            for (int c = 0; c < C; ++c) sum += image[(y * W + x) * C + c] * filters[((k * 3 + r) * 3 + s) * C + c];
        }
        result[(h * W + w) * C + k] = sum;
    }
}
#define RUN(layout, in, weights, out) { \
    float *a = (float *)malloc(in##_BYTES), *b = (float *)malloc(weights##_BYTES), *c = (float *)malloc(out##_BYTES); \
    PACK_##layout(a, b); conv_##layout(a, b, c); UNPACK_##layout(c); \
    for (int k = 0; k < H * W * C; ++k) wrong += back[k] != result[k]; \
    printf("conv_%s: %d wrong\n", #layout, wrong); free(a); free(b); free(c); }
#define PACK_nhwc(a, b) image_nhwc_pack(image, a), filters_hwio_pack(filters, b)
#define PACK_nchw(a, b) image_nchw_pack(image, a), filters_oihw_pack(filters, b)
#define PACK_nchw4c(a, b) image_nchw4c_pack(image, a), filters_oihw4i4o_pack(filters, b)
#define PACK_nchw16c(a, b) image_nchw16c_pack(image, a), filters_oihw16i16o_pack(filters, b)
#define PACK_texture(a, b) image_texture_pack(image, a), filters_oihw4i4o_pack(filters, b)
#define UNPACK_nhwc(c) result_nhwc_unpack(c, back)
#define UNPACK_nchw(c) result_nchw_unpack(c, back)
#define UNPACK_nchw4c(c) result_nchw4c_unpack(c, back)
#define UNPACK_nchw16c(c) result_nchw16c_unpack(c, back)
#define UNPACK_texture(c) result_texture_unpack(c, back)
int main(void) {
    for (int k = 0; k < H * W * C; ++k) image[k] = (float)(k * 7 % 17 - 8);
    for (int k = 0; k < C * 9 * C; ++k) filters[k] = (float)(k * 5 % 11 - 5);
    convolve();
    RUN(nhwc, IMAGE_NHWC, FILTERS_HWIO, RESULT_NHWC)
    RUN(nchw, IMAGE_NCHW, FILTERS_OIHW, RESULT_NCHW)
    RUN(nchw4c, IMAGE_NCHW4C, FILTERS_OIHW4I4O, RESULT_NCHW4C)
    RUN(nchw16c, IMAGE_NCHW16C, FILTERS_OIHW16I16O, RESULT_NCHW16C)
    RUN(texture, IMAGE_TEXTURE, FILTERS_OIHW4I4O, RESULT_TEXTURE)
    return wrong != 0;
}
"#;

#[test]
fn convolution_example_runs_in_five_layouts() {
    let manifest = manifest(EXAMPLE);
    let printed = run("conv", &manifest);
    let folder = folder("conv");
    std::fs::write(folder.join("main.c"), AGAINST_DENSE).unwrap();
    for (k, flags) in ["-O0", "-O2"].into_iter().enumerate() {
        let gcc = ("gcc", vec!["-std=c99", "-Wall", "-Wextra", "-Werror", flags], true);
        let sources = ["main.c", "conv.c"];
        common::cc::compile_and_run(&folder, &format!("main_{k}"), &sources, gcc);
    }
    for layout in ["nhwc", "nchw", "nchw4c", "nchw16c", "texture"] {
        assert!(printed.contains(&format!("conv_{layout}: ok")), "{printed}");
    }
}
