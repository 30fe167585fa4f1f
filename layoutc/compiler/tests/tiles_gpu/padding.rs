//! Padding and gaps that tiled relayouts fill.

use super::{kernel, run};

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
