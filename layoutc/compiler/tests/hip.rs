//! HIP: the text is that of CUDA under other names, which runs on the stand-in of the CUDA tests, and hipcc compiles it.
#![allow(clippy::disallowed_methods, reason = "writes the files that hipcc reads")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::process::Command;

use layoutc_compiler::config::{Config, CudaIndex, TargetCuda, TargetHip, TargetsConfig};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::process::{needed_program, output};

use crate::common::cc;

/// Relayouts and kernels of all kinds: transpositions through shared memory, wide accesses, packed elements, halves,
/// vectors, images, casts, a staged product, a padded layout, symbols.
const MANIFEST: &str = r#"
symbol n max=4096
tensor turned dtype=f32 { shape { h 1000; w 2500 }; layout { order w h; pad h multiple=16; fill 1 } }
tensor halves dtype=f16 { shape { m 64; k 64 }; layout { split k by=8; order k_outer m k_inner } }
tensor brains dtype=bf16 { shape { m n; k 64 }; layout { order k m } }
tensor vectors dtype=f32x4 { shape { m 30; k 50 }; layout { order k m } }
tensor nibbles dtype=i4 { shape { m 32; k 64 }; layout { tile 4 8 } }
tensor bytes dtype=u8 { shape { m 64; k 64 }; layout { order k m } }
tensor texture dtype=f16 { shape { h 8; w 16; c 4 }; layout { axis-separators h }; memory image2d }
tensor layers dtype=f32 { shape { a 2; h 8; w 16 }; layout { axis-separators a h }; memory image2d-array }
tensor singles dtype=f32 { shape { m 64; k 64 } }
convert halves to=singles
convert singles to=bytes cast=saturate
tensor A dtype=f32 { shape { i 256; k 256 } }
tensor B dtype=f32 { shape { k 256; j 256 } }
tensor C dtype=f32 { shape { i 256; j 256 } }
kernel mm { operands A B C; compute "C[i, j] += A[i, k] * B[k, j]" }
instance staged of=mm A=A B=B C=C {
    tile i j by="64 64"
    split k by=16
    cache A at=k_outer { memory shared }
    cache B at=k_outer { memory shared }
}
kernel act { operands X Y; compute "Y[m, k] = max(exp(X[m, k]), 0.5)" }
instance act1 of=act X=singles Y=singles2
tensor singles2 like=singles
"#;

/// Generated files of the target by path.
fn files(target: TargetsConfig) -> BTreeMap<String, String> {
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("a.kdl", MANIFEST);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    outputs.into_iter().map(|output| (output.path, output.text)).collect()
}

fn hip(index_type: CudaIndex) -> BTreeMap<String, String> {
    let hip = Some(TargetHip { index_type, ..TargetHip::default() });
    files(TargetsConfig {
        c: None,
        opencl: None,
        cuda: None,
        hip,
        rust: None,
        own: BTreeMap::new(),
    })
}

/// Lines of a file without what its language names otherwise; wrapped lines are joined.
fn neutral(text: &str, renames: &[(&str, &str)]) -> Vec<String> {
    let mut text = text.to_owned();
    for (from, to) in renames {
        text = text.replace(from, to);
    }
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let pieces = joined.split_inclusive([';', '{', '}']).map(|piece| piece.trim().to_owned());
    let is_other = |piece: &String| {
        ["#include", "layoutc-hash", "_STAMP", "bfloat16", "uint16_t"]
            .iter()
            .any(|word| piece.contains(word))
    };
    pieces.filter(|piece| !is_other(piece)).collect()
}

#[test]
fn hip_is_cuda_under_other_names() {
    for index_type in [CudaIndex::Int, CudaIndex::Int64] {
        let cuda = Some(TargetCuda { index_type, ..TargetCuda::default() });
        let cuda = files(TargetsConfig {
            c: None,
            opencl: None,
            cuda,
            hip: None,
            rust: None,
            own: BTreeMap::new(),
        });
        let hip = hip(index_type);
        for (ending, own) in [("a.cuh", "hip/a.hip.h"), ("a.cu", "hip/a.hip")] {
            let renames = [
                ("__CUDACC__", "COMPILER"),
                ("layoutc_cuda_", "layoutc_gpu_"),
                ("_CUDA", "_GPU"),
                ("cuda", "gpu"),
                ("CUDA C++ for sm_80", "C++"),
                ("a.cuh", "header"),
            ];
            let expected = neutral(&cuda[&format!("cuda/{ending}")], &renames);
            let renames = [
                ("__HIPCC__", "COMPILER"),
                ("a.hip.h", "header"),
                ("layoutc_hip_", "layoutc_gpu_"),
                ("_HIP", "_GPU"),
                ("hip", "gpu"),
                ("HIP C++ for gfx90a", "C++"),
            ];
            let found = neutral(&hip[own], &renames);
            assert!(expected.len() > 100);
            let different = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert_eq!(different, None, "{own}");
            assert_eq!(found.len(), expected.len(), "{own}");
        }
    }
}

#[test]
fn hipcc_compiles_kernels_of_all_kinds() {
    let Some(hipcc) = needed_program("hipcc") else { return };
    for (name, index_type) in [("hip_int", CudaIndex::Int), ("hip_int64", CudaIndex::Int64)] {
        let folder = cc::folder(name);
        for (path, text) in hip(index_type) {
            layoutc_testing::files::write(folder.join(path.rsplit('/').next().unwrap()), text);
        }
        let mut command = Command::new(&hipcc);
        command.args([
            "--offload-arch=gfx90a",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-c",
            "a.hip",
        ]);
        output(command.args(["-o", "a.o"]).current_dir(&folder)).unwrap();
    }
}
