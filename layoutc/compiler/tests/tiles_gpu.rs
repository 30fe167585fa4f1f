//! Tiled relayout kernels, all bytes against slots evaluated from the maps: partial tiles, padding, halos, symbols,
//! every element size, few work-groups, unaligned buffers. OpenCL runs on Oclgrind (races) and `PoCL`; CUDA runs on the
//! CPU stand-in and is compiled by nvcc.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::cc::folder;
use crate::common::element_slots;
use crate::common::gpu;
use crate::common::moves;
use layoutc_testing::{cases, is_full};
use std::collections::BTreeMap;
use std::process::Command;

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
    if wide_index {
        opencl.index_type = OpenClIndex::Long;
        cuda.index_type = CudaIndex::Int64;
    }
    let (opencl, cuda) = (Some(opencl), Some(cuda));
    let target = TargetsConfig { c: None, opencl, cuda, own: BTreeMap::new() };
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
                let (from, to) = (&checked.tensors[convert.from], &checked.tensors[convert.to]);
                let name = format!("{}_to_{}", from.name, to.name);
                (
                    convert.from,
                    convert.to,
                    name,
                    element_slots::source_positions(convert, from, to, symbols),
                )
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
fn word_accesses_use_register_transposes() {
    let manifest = "tensor floats dtype=f32 { shape { a 100; b 250 }; layout { order b a } }
tensor halves dtype=bf16 { shape { a 128; b 64 }; layout { order b a } }
tensor bytes dtype=u8 { shape { a 256; b 136 }; layout { order b a } }
tensor pairs dtype=u8x2 { shape { a 70; b 12 }; layout { order b a } }
tensor odd dtype=f32 { shape { a 33; b 64 }; layout { order b a } }
tensor tiled dtype=bf16 {
    shape { r 21; c 301 }
    layout { map \"(r, c) -> (r // 8, c // 128, r // 2 % 4, c % 128, r % 2)\"; fill 1 }
}
tensor halo dtype=u8 {
    shape { h 30; w 50 }
    layout { order w h; pad h before=1 after=3; pad w before=2 after=4; fill 5 }
}
tensor holes dtype=f16 { shape { h 30; w 52 }; layout { order w h; pad h multiple=32; fill none } }
tensor planes dtype=i8 { shape { c 12; i 640 }; layout { map \"(c, i) -> (c // 4, i, c % 4)\" } }
tensor far dtype=f32 { shape { a 40; b 24; c 18 }; layout { order c b a } }
tensor pairs_apart dtype=f32 {
    shape { b 3; c 16 }
    layout { map \"(b, c) -> (c, bo = b // 2, bi = b % 2)\"; pad bi multiple=4; fill 1; padding allow }
}
tensor fours_apart dtype=f16 {
    shape { b 10; c 20 }
    layout { map \"(b, c) -> (c, bo = b // 4, bi = b % 4)\"; pad bi before=4 after=4; fill 1; padding allow }
}
convert tiled to=tiled_back
tensor tiled_back dtype=bf16 {
    shape { r 21; c 301 }
    layout { order c r; pad r multiple=8; fill 2 }
}
";
    let outputs = run("turned", manifest, &[&[]]);
    let turns = |name: &str| {
        let body = kernel(&outputs["opencl/m.cl"], name);
        let call = body.lines().find(|line| line.contains("turn_u")).unwrap_or("none").trim();
        call.split('(').next().unwrap_or_default().trim_start_matches("layoutc_").to_owned()
    };
    let found = [
        "floats_pack",
        "halves_pack",
        "bytes_unpack",
        "pairs_pack",
        "odd_pack",
        "odd_unpack",
        "tiled_pack",
        "tiled_unpack",
        "halo_pack",
        "halo_unpack",
        "holes_pack",
        "holes_unpack",
        "planes_pack",
        "planes_unpack",
        "far_pack",
        "pairs_apart_pack",
        "fours_apart_pack",
        "tiled_to_tiled_back",
    ]
    .map(|name| format!("{name} {}", turns(name)));
    let wanted = [
        "floats_pack turn_u32_2x2",
        "halves_pack turn_u16_4x4",
        "bytes_unpack turn_u8_8x8",
        "pairs_pack turn_u16_1x4",
        // Rows of 33 elements are not aligned to vectors.
        "odd_pack turn_u32_1x2",
        "odd_unpack turn_u32_2x1",
        // The last of 21 rows shares its word with padding, which is read and filled.
        "tiled_pack turn_u16_2x1",
        "tiled_unpack turn_u16_1x2",
        "halo_pack turn_u8_1x2",
        "halo_unpack none",
        "holes_pack turn_u16_2x4",
        "holes_unpack turn_u16_4x2",
        // Only blocks of 4 planes are contiguous.
        "planes_pack turn_u8_4x8",
        "planes_unpack turn_u8_1x4",
        "far_pack turn_u32_2x2",
        // The extent of `b` does not bound its digits.
        "pairs_apart_pack turn_u32_2x2",
        "fours_apart_pack turn_u16_4x4",
        "tiled_to_tiled_back none",
    ];
    assert_eq!(found, wanted);
}

#[test]
fn vector_fill_values_are_printed_as_bits() {
    let manifest =
        "tensor halves dtype=f16 { shape { n 10; c 16 }; layout { pad n multiple=8; fill 1 } }
tensor minus dtype=i8 { shape { n 10; c 16 }; layout { pad n multiple=8; fill -1 } }
tensor ones dtype=u16 { shape { n 10; c 16 }; layout { pad n multiple=8; fill 1 } }
";
    let outputs = run("spelled", manifest, &[&[]]);
    let (cl, cu) = (&outputs["opencl/m.cl"], &outputs["cuda/m.cu"]);
    for (name, bits) in [("halves", "0x3C003C00"), ("minus", "0xFFFFFFFFU"), ("ones", "0x00010001")]
    {
        let fill = format!("const uint4 fill = (uint4)({bits});");
        let body = kernel(cl, &format!("{name}_pack"));
        assert!(body.contains(&fill), "{fill}\n{body}");
    }
    assert!(kernel(cu, "minus_pack_wide_kernel").contains("UINT32_C(0xFFFFFFFF)"), "{cu}");
    assert!(kernel(cl, "ones_pack_unaligned").contains("const ushort fill = 1;"), "{cl}");
}

#[test]
fn conversions_fill_the_padding() {
    let manifest = "tensor nhwc dtype=f32 { shape { n 2; h 9; w 11; c 10 } }
tensor blocked dtype=f32 like=nhwc {
    layout {
        map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\"
        fill 1
    }
}
tensor columns dtype=f16 {
    shape { h 37; w 45 }
    layout {
        order w h
        pad h multiple=16
        fill 1
    }
}
tensor rows dtype=u8 {
    shape { h 21; w 50 }
    layout {
        pad w multiple=64
        fill 7
    }
}
tensor halo dtype=f32 {
    shape { c 12; h 17; w 19 }
    layout {
        order h w c
        pad h before=1 after=2
        pad w before=3 after=1
        fill 1
    }
}
tensor behind dtype=f32 {
    shape { h 13; w 9 }
    layout {
        order w h
        pad h before=1 after=1
        pad w before=1 after=1
        align 64 at=origin
        fill 1
    }
}
tensor sparse dtype=u16 {
    shape { h 14; w 40 }
    layout {
        order w h
        strides 45 3
        fill 1
    }
}
tensor framed dtype=f32 {
    shape { h 10; w 24 }
    layout {
        pad h before=1 after=1
        pad w before=4 after=8
        fill 1
    }
}
tensor one dtype=f32 {
    shape { h 40; c 1 }
    layout {
        pad c multiple=4
        fill 1
    }
}
tensor pairs dtype=c64 {
    shape { h 33; c 6 }
    layout {
        order c h
        pad h multiple=2
        fill 1
    }
}
tensor kept dtype=f32 {
    shape { h 33; c 40 }
    layout {
        order c h
        pad h multiple=8
        fill none
    }
}
convert nhwc to=blocked
convert blocked to=nhwc
";
    let outputs = run("padded", manifest, &[&[]]);
    for name in
        ["blocked", "columns", "rows", "halo", "behind", "sparse", "framed", "one", "pairs", "kept"]
    {
        let fill = format!("{name}_fill(");
        assert!(!outputs["opencl/m.cl"].contains(&fill), "{name} is filled by a kernel of its own");
        let body = kernel(&outputs["opencl/m.cl"], &format!("{name}_pack"));
        let filled = body.contains("= fill;");
        assert_eq!(body.contains("4 elements are moved as one"), name == "framed", "{body}");
        assert_eq!(filled, name != "kept", "{name}");
    }
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
fn stride_gaps_are_filled_by_a_separate_kernel() {
    let manifest = "tensor pitched dtype=u16 {
    shape { h 14; w 40 }
    layout {
        order w h
        strides 47 3
        fill 1
    }
}
";
    let outputs = run("before", manifest, &[&[]]);
    assert!(outputs["opencl/m.cl"].contains("void pitched_fill("));
    assert!(outputs["cuda/m.cu"].contains("pitched_fill_kernel<<<"));
}

#[test]
fn aligned_runs_use_wide_elements_with_a_fallback() {
    let manifest = "tensor nhwc dtype=f32 { shape { n 3; h 7; w 9; c 24 } }
tensor blocked dtype=f32 like=nhwc { layout { map \"(n, h, w, c) -> (n, c // 4, h, w, c % 4)\" } }
tensor halves dtype=f16 { shape { n 50; c 12 }; layout { map \"(n, c) -> (c // 4, n, c % 4)\" } }
tensor bytes dtype=u8 { shape { n 50; c 64 }; layout { map \"(n, c) -> (c // 16, n, c % 16)\" } }
tensor odd dtype=u8 { shape { n 50; c 6 }; layout { map \"(n, c) -> (c // 3, n, c % 3)\" } }
tensor two dtype=u8 {
    shape { n 40; c 10 }
    layout {
        map \"(n, c) -> (c // 4, n, c % 4)\"
        fill 9
    }
}
tensor whole dtype=f32 { shape { n 1001; c 4 } }
tensor doubles dtype=f64 {
    shape { n 31; c 5 }
    layout {
        map \"(n, c) -> (c // 2, n, c % 2)\"
        fill 1
    }
}
tensor phases dtype=c64 {
    shape { n 31; c 6 }
    layout {
        map \"(n, c) -> (c // 4, n, c % 4)\"
        fill 1
    }
}
convert nhwc to=blocked
";
    let outputs = run("wide", manifest, &[&[]]);
    let cl = &outputs["opencl/m.cl"];
    for (name, wide) in [
        ("nhwc_to_blocked", Some("uint4")),
        ("halves_pack", Some("uint2")),
        ("bytes_unpack", Some("uint4")),
        ("odd_pack", None),
        // 10 elements in runs of 4: each pair is inside or outside.
        ("two_pack", Some("ushort")),
        ("whole_pack", Some("uint4")),
        // 5 elements in runs of 2: the last is alone.
        ("doubles_pack", None),
        ("phases_pack", Some("ulong2")),
    ] {
        let body = kernel(cl, name);
        match wide {
            Some(wide) => {
                assert!(body.contains(&format!("__global const {wide} *const ")), "{body}");
            }
            None => assert!(!body.contains("moved as one"), "{body}"),
        }
        let launched = outputs["cuda/m.cu"].contains(&format!("{name}_wide_kernel<<<"));
        assert_eq!(launched, wide.is_some(), "{name}");
        assert_eq!(cl.contains(&format!("void {name}_unaligned(")), wide.is_some(), "{name}");
    }
    let header = &outputs["opencl/m.h"];
    for (name, bytes) in [("NHWC_TO_BLOCKED", 16), ("HALVES_PACK", 8), ("TWO_PACK", 2)] {
        let aligned = format!("#define {name}_BUFFER_ALIGNMENT {bytes}\n");
        assert!(header.contains(&aligned), "{aligned}{header}");
        assert!(header.contains(&format!("#define {name}_UNALIGNED_LOCAL_SIZE_0  256\n")));
    }
}

#[test]
fn only_wide_kernels_require_alignment() {
    let manifest = "symbol batch min=1 max=100
tensor bytes dtype=u8 { shape { n batch; c 64 }; layout { map \"(n, c) -> (c // 16, n, c % 16)\" } }
";
    let outputs = run("aligned", manifest, &[&[50]]);
    let plain = kernel(&outputs["opencl/m.cl"], "bytes_pack_unaligned");
    assert!(!plain.contains("moved as one"), "{plain}");
    let header = &outputs["opencl/m.h"];
    assert!(header.contains("int64_t bytes_pack_unaligned_global_size_0(int64_t batch)"));
    for message in [
        "CL_DEVICE_MAX_WORK_GROUP_SIZE",
        "CL_MEM_USE_HOST_PTR",
        "//   For buffers that begin at a multiple of 16 bytes.\n",
        "//   The same for all other buffers.\n",
    ] {
        assert!(header.contains(message), "{message}:\n{header}");
    }
    let comment = header.replace("\n// ", " ");
    assert!(comment.contains("A global size of 0 is not launched"), "{header}");
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

#[test]
fn grid_stride_launch_covers_every_tile() {
    // `run` chooses the number of work-groups; each moves several tiles.
    let manifest = "symbol count min=1
tensor ribbon dtype=i8x3 { shape { n count } }
";
    let outputs = run("ribbon", manifest, &[&[43_000]]);
    let body = kernel(&outputs["opencl/m.cl"], "ribbon_pack");
    assert!(body.contains("tile += (int)get_num_groups(0)"), "{body}");
    // The number of work-groups is limited.
    let (_, outputs) = built("tensor ribbon dtype=f64 { shape { n 600000001 } }\n", true);
    assert!(outputs["opencl/m.h"].contains("RIBBON_PACK_GLOBAL_SIZE_0 268435456\n"));
    assert!(outputs["cuda/m.cu"].contains("ribbon_pack_kernel<<<1048576, 256, 0, stream>>>"));
}

#[test]
fn host_gets_the_launch_range_of_every_size() {
    let manifest = "symbol batch min=0
tensor a dtype=u8 { shape { n batch; c 48 }; layout { order c n } }
tensor b dtype=u8 {
    shape { n batch }
    layout {
        pad n multiple=100
    }
}
";
    let (_, outputs) = built(manifest, true);
    let folder = folder("tiles_ranges");
    std::fs::write(folder.join("m.h"), &outputs["opencl/m.h"]).unwrap();
    let program = "#include \"m.h\"
#include <stdio.h>
int main(void) {
    const int64_t sizes[] = {0, 1, 64, 65, 1000, 1000000, 1000000000};
    for (int k = 0; k < 7; ++k) {
        printf(\"%lld %lld\\n\", (long long)a_pack_global_size_0(sizes[k]), (long long)b_pack_global_size_0(sizes[k]));
    }
    return 0;
}
";
    std::fs::write(folder.join("main.c"), program).unwrap();
    let strict =
        ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "main.c", "-o", "ranges"];
    let compiled = Command::new("cc").args(strict).current_dir(&folder).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("ranges")).output().unwrap();
    let message = String::from_utf8(ran.stdout).unwrap();
    let all = (1 << 20) * 256;
    let wanted = [
        (0, 0),
        (256, 256),
        (256, 256),
        (256, 256),
        (4 * 256, 256),
        (3907 * 256, 245 * 256),
        (all, 244_141 * 256),
    ];
    let wanted = wanted.map(|(a, b)| format!("{a} {b}\n")).concat();
    assert_eq!(message, wanted);
}
