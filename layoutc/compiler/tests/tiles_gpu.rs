//! Tiled relayout kernels, all bytes against slots evaluated from the maps: partial tiles, padding, halos, symbols,
//! every element size, few work-groups, unaligned buffers. OpenCL runs on Oclgrind (races) and `PoCL`; CUDA runs on the
//! CPU stand-in and is compiled by nvcc.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod launch_range;
mod padding;
mod wide_elements;

use crate::common::cc::folder;
use crate::common::element_slots;
use crate::common::gpu;
use crate::common::moves;
use layoutc_testing::{cases, is_full};
use std::collections::BTreeMap;

use gpu::Platform;
use layoutc_compiler::config::{
    Config, CudaIndex, OpenClIndex, TargetCuda, TargetOpenCl, TargetsConfig,
};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};
use moves::{Convert, Effort, Outputs, Subject};

/// The checked project, and the outputs of both targets by path.
fn built(manifest: &str, wide_index: bool) -> (CheckedProject, BTreeMap<String, String>) {
    let (mut opencl, mut cuda) = (TargetOpenCl::default(), TargetCuda::default());
    (opencl.unaligned_buffers, cuda.unaligned_buffers) = (true, true);
    if wide_index {
        opencl.index_type = OpenClIndex::Long;
        cuda.index_type = CudaIndex::Int64;
    }
    let (opencl, cuda) = (Some(opencl), Some(cuda));
    let target =
        TargetsConfig { c: None, opencl, cuda, hip: None, rust: None, own: BTreeMap::new() };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("m.kdl", manifest);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    assert!(checked.is_valid(), "{:#?}\n{manifest}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default());
    let outputs = outputs.unwrap_or_else(|faults| panic!("{faults:#?}\n{manifest}"));
    (checked, outputs.into_iter().map(|output| (output.path, output.text)).collect())
}

/// Runs every move of a manifest at each of these symbol values. Returns the outputs.
fn run(name: &str, manifest: &str, sizes: &[&[i64]]) -> BTreeMap<String, String> {
    run_with(name, manifest, sizes, name.len() % 2 == 1, &gpu::platforms())
}

pub(crate) fn run_with(
    name: &str,
    manifest: &str,
    sizes: &[&[i64]],
    wide_index: bool,
    platforms: &[Platform],
) -> BTreeMap<String, String> {
    let (checked, outputs) = built(manifest, wide_index);
    let checked = &checked.manifests[0];
    let folder = folder(&format!("tiles_{name}"));
    let mut all = Vec::new();
    for (number, symbols) in sizes.iter().enumerate() {
        let subject = |tensor| element_slots::subject(tensor, "", symbols).unwrap();
        let subjects: Vec<Subject> = checked.tensors.iter().map(subject).collect();
        let picks: Vec<(usize, usize, String, Vec<usize>)> = checked
            .converts
            .iter()
            .map(|convert| {
                let [from, to] = crate::common::positions(convert);
                let [source, target] = [from, to].map(|k| &checked.tensors[k]);
                let name = format!("{}_to_{}", source.name, target.name);
                let picks = element_slots::source_positions(convert, source, target, symbols);
                (from, to, name, picks)
            })
            .collect();
        let elements: Vec<_> = picks.iter().map(|(.., picks)| |k: usize| picks[k]).collect();
        let converts = picks.iter().zip(&elements).map(|((from, to, name, _), element)| Convert {
            from: *from,
            to: *to,
            name: name.clone(),
            element,
        });
        let converts: Vec<Convert<'_>> = converts.collect();
        all.extend(moves::moves(&folder, &subjects, &converts, number));
    }
    let text = Outputs {
        cl: &outputs["opencl/m.cl"],
        header: &outputs["opencl/m.h"],
        cuh: &outputs["cuda/m.cuh"],
        cu: &outputs["cuda/m.cu"],
    };
    // The full run has both C++ compilers, and four numbers of work-groups.
    for round in 0..cases(1, 4) {
        let effort = Effort {
            platforms,
            optimized: round % 2 == 1,
            compiler: round + name.len(),
            nvcc: round == 0,
            stem: "m",
            wide: wide_index,
        };
        let ran = moves::run(&folder, &text, &all, &effort);
        ran.unwrap_or_else(|message| {
            panic!("{name} in {}:\n{message}\n{manifest}", folder.display())
        });
    }
    outputs
}

/// Body of a kernel.
fn kernel<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!(" {name}(")).unwrap_or_else(|| panic!("no {name}:\n{text}"));
    let rest = &text[start..];
    &rest[..rest.find("\n}\n").unwrap()]
}

/// Number of elements of the local array that a kernel declares.
fn local_elements(body: &str) -> usize {
    let line = body.lines().find(|line| line.trim().starts_with("__local ")).unwrap();
    line.split(['[', ']']).nth(1).unwrap().parse().unwrap()
}

#[test]
fn elements_of_every_size_are_transposed_by_tiles() {
    let types = [
        ("u8", 1),
        ("f16", 2),
        ("i8x3", 3),
        ("f32", 4),
        ("c64", 8),
        ("f32x3", 12),
        ("f32x4", 16),
        ("c128", 16),
        ("f64x8", 64),
    ];
    let mut manifest = String::new();
    for (dtype, _) in types {
        manifest += &format!(
            "tensor a_{dtype} dtype={dtype} {{ shape {{ a 70; b 150 }}; layout {{ order b a }} }}\n"
        );
    }
    let outputs = run("transposed", &manifest, &[&[]]);
    let cl = &outputs["opencl/m.cl"];
    for (dtype, bytes) in types {
        for name in ["pack", "unpack"] {
            let body = kernel(cl, &format!("a_{dtype}_{name}"));
            let barriers = body.matches("barrier(CLK_LOCAL_MEM_FENCE);").count();
            if bytes > 16 {
                assert_eq!(barriers, 0, "{body}");
                continue;
            }
            assert_eq!(barriers, 1, "{body}");
            let plain = format!("a_{dtype}_{name}_unaligned");
            let body = if cl.contains(&plain) { kernel(cl, &plain) } else { body };
            let elements = local_elements(body);
            assert!(elements * bytes <= 18 * 1024, "{dtype}: {elements} elements");
            let least = if bytes > 8 { 480 } else { 1024 };
            assert!(elements >= least, "{dtype}: {elements} elements\n{body}");
        }
    }
}

#[test]
fn tile_rows_are_padded_against_bank_conflicts() {
    let manifest = "tensor a dtype=f32 { shape { a 64; b 64 }; layout { order b a } }
tensor b dtype=u8 { shape { a 128; b 128 }; layout { order b a } }
";
    let (_, outputs) = built(manifest, false);
    let cl = &outputs["opencl/m.cl"];
    // Padding against bank conflicts: 32 rows of 32 floats with 1 after each but the last; 64 rows of 64 bytes with 4.
    assert_eq!(local_elements(kernel(cl, "a_pack_unaligned")), 31 * 33 + 32);
    assert_eq!(local_elements(kernel(cl, "b_pack_unaligned")), 63 * 68 + 64);
}

#[test]
fn threads_load_all_their_elements_before_storing() {
    let manifest = "tensor turned dtype=f32 { shape { a 100; b 250 }; layout { order b a } }
tensor bytes dtype=u8 { shape { a 200; b 300 }; layout { order b a; pad a multiple=64; fill 3 } }
tensor straight dtype=f16 {
    shape { h 70; w 100 }
    layout {
        pad w multiple=128
        fill 1
    }
}
tensor odd dtype=f32 { shape { a 33; b 33 }; layout { order b a } }
tensor small dtype=f32 { shape { a 5; b 7 }; layout { order b a } }
";
    let outputs = run("rounds", manifest, &[&[]]);
    for (text, array) in [
        (&outputs["opencl/m.cl"], "    float held[4];\n"),
        (&outputs["cuda/m.cu"], "float held[4];\n"),
    ] {
        let name =
            if text.contains("__kernel") { "turned_pack_unaligned" } else { "turned_pack_kernel" };
        let body = kernel(text, name);
        assert!(body.contains(array), "{body}");
        // Global load, store to the tile, load from the tile, global store.
        let unrolled = "#pragma unroll\n    for (int round = 0; round < 4; ++round) {\n";
        assert_eq!(body.matches(unrolled).count(), 4, "{body}");
        assert_eq!(body.matches(" += 256").count(), 0, "{body}");
    }
    let cl = &outputs["opencl/m.cl"];
    assert!(kernel(cl, "bytes_pack_unaligned").contains("round < 16;"), "{cl}");
    assert!(kernel(cl, "straight_pack").contains("held[round] = fill;"), "{cl}");
    // 33×33 is not a multiple of 256; 5×7 is less.
    assert!(kernel(cl, "odd_pack").contains("if (item < 1089) {"), "{cl}");
    assert!(!kernel(cl, "small_pack").contains("round"), "{cl}");
    // A tile is no larger than the tensor.
    assert_eq!(local_elements(kernel(cl, "small_pack")), 35);
}

#[test]
fn tile_local_indices_have_32_bits() {
    let manifest = "tensor turned dtype=f32 { shape { a 100; b 250 }; layout { order b a } }
tensor far dtype=u8 { shape { a 3; b 3000000000 }; layout { order b a } }
tensor apart dtype=u8 { shape { a 40; b 150000000 }; layout { order b a } }
";
    let (_, outputs) = built(manifest, true);
    let cl = &outputs["opencl/m.cl"];
    let body = kernel(cl, "turned_pack_unaligned");
    for line in [
        "const long tile = (long)get_group_id(0);\n",
        "const int item = (int)get_local_id(0) + round * 256;",
        "const int b = item & 31;",
        "const int a = item >> 5;",
    ] {
        assert!(body.contains(line), "{line}\n{body}");
    }
    let far = kernel(cl, "far_pack_unaligned");
    assert!(far.contains("a * 3000000000L"), "{far}");
    let apart = kernel(cl, "apart_pack_unaligned");
    assert!(apart.contains("const long a_step = 150000000;"), "{apart}");
    assert!(apart.contains("a * a_step"), "{apart}");
    let cuda = kernel(&outputs["cuda/m.cu"], "apart_pack_kernel");
    assert!(cuda.contains("const int64_t a_step = 150000000;"), "{cuda}");
}

#[test]
fn unused_symbol_parameters_cause_no_warning() {
    let manifest = "symbol rows min=1 max=128
tensor columns dtype=f32 {
    shape { a rows; c 6 }
    layout { map \"(a, c) -> (c, a)\"; pad a before=1; pad a multiple=256; fill 0; padding allow }
}
";
    let outputs = run("no_slot", manifest, &[&[1], &[70]]);
    let body = kernel(&outputs["cuda/m.cu"], "columns_fill_kernel");
    assert!(body.contains("    (void)rows;\n"), "{body}");
}

#[test]
fn symbolic_extents_round_trip_at_every_size() {
    let manifest = "symbol batch min=0 max=300
symbol count min=0 max=300
tensor dense dtype=f32 { shape { n batch; c 10 } }
tensor turned dtype=f32 like=dense { layout { order c n } }
tensor padded dtype=f32 like=dense {
    layout {
        map \"(n, c) -> (c // 4, n, c % 4)\"
        fill 1
    }
}
tensor rounded dtype=f16 {
    shape { n batch; c 7 }
    layout {
        order c n
        pad n multiple=8
        fill 1
    }
}
tensor both dtype=u8 { shape { n batch; m count }; layout { order m n } }
convert dense to=padded
convert padded to=turned
";
    let sizes: &[&[i64]] = if is_full() {
        &[&[0, 0], &[0, 5], &[1, 1], &[31, 33], &[32, 32], &[65, 130], &[300, 3]]
    } else {
        &[&[0, 5], &[1, 1], &[33, 65], &[70, 0]]
    };
    // A function only takes the symbols of its tensors; `count` is the second.
    let outputs = run("symbols", manifest, sizes);
    assert!(kernel(&outputs["opencl/m.cl"], "both_pack").contains("barrier"));
    assert!(!outputs["opencl/m.cl"].contains("void padded_fill("));
}

#[test]
fn reversed_indices_and_strided_digits_round_trip() {
    let manifest = "tensor turned dtype=f32 {
    shape { a 40; b 50 }
    layout {
        map \"(a, b) -> (49 - b, a)\"
    }
}
tensor skipped dtype=u16 {
    shape { a 40; b 50 }
    layout {
        order b a
        strides 96 2
        fill none
    }
}
tensor deep dtype=f32 {
    shape { a 6; b 10; c 12; d 9 }
    layout {
        map \"(a, b, c, d) -> (c // 3, b, d, a, c % 3)\"
    }
}
";
    run("backwards", manifest, &[&[]]);
}
