//! Relayouts that move several elements as one word.

use super::{kernel, run};

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
        let call = body.lines().find(|line| line.contains("transpose_u")).unwrap_or("none").trim();
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
        "floats_pack transpose_u32_2x2",
        "halves_pack transpose_u16_4x4",
        "bytes_unpack transpose_u8_8x8",
        "pairs_pack transpose_u16_1x4",
        // Rows of 33 elements are not aligned to vectors.
        "odd_pack transpose_u32_1x2",
        "odd_unpack transpose_u32_2x1",
        // The last of 21 rows shares its word with padding, which is read and filled.
        "tiled_pack transpose_u16_2x1",
        "tiled_unpack transpose_u16_1x2",
        "halo_pack transpose_u8_1x2",
        "halo_unpack none",
        "holes_pack transpose_u16_2x4",
        "holes_unpack transpose_u16_4x2",
        // Only blocks of 4 planes are contiguous.
        "planes_pack transpose_u8_4x8",
        "planes_unpack transpose_u8_1x4",
        "far_pack transpose_u32_2x2",
        // The extent of `b` does not bound its digits.
        "pairs_apart_pack transpose_u32_2x2",
        "fours_apart_pack transpose_u16_4x4",
        "tiled_to_tiled_back none",
    ];
    assert_eq!(found, wanted);
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
        "//   For buffers of any alignment.\n",
    ] {
        assert!(header.contains(message), "{message}:\n{header}");
    }
    let comment = header.replace("\n// ", " ");
    assert!(comment.contains("A global size of 0 is not launched"), "{header}");
}
