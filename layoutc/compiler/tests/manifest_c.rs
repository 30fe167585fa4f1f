//! Emitted C of whole manifests, compiled and run with its test program, which evaluates the maps.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common;
use crate::common::check_text::{check_text, check_valid};
use common::cc::run;

fn runs(name: &str, text: &str) {
    let checked = check_valid(text);
    run(name, &checked.manifests[0]);
}

#[test]
fn relayouts_with_leading_padding_round_trip() {
    let halo = "pad h before=1 after=1; pad w before=1 after=1";
    runs(
        "origin_moves",
        &format!(
            "tensor plain dtype=f32 {{ shape {{ h 5; w 7 }} }}\n\
             tensor haloed like=plain {{ layout {{ {halo}; align 64 at=origin }} }}\n\
             tensor filled like=plain {{ layout {{ {halo}; align 64 at=origin; fill 3 }} }}\n\
             tensor rows like=plain {{ layout {{ {halo}; axis-separators h; align 32 at=origin; padding allow }} }}\n\
             tensor strided like=plain {{ layout {{ {halo}; strides 12 1; align 32 at=origin; padding allow }} }}\n\
             tensor tiled like=plain {{ layout {{ {halo}; tile 4 4; align 16 at=origin; padding allow }} }}\n\
             tensor folded dtype=f32 {{ shape {{ h 8; w 8 }}; layout {{ map \"(h, w) -> (h ^ w, w)\"; pad w before=3; align 64 at=origin; padding allow }} }}\n\
             tensor packed dtype=i4 {{ shape {{ h 5; w 7 }}; layout {{ {halo}; align 8 at=origin }} }}\n\
             tensor none dtype=f32 {{ shape {{ h 0; w 7 }}; layout {{ {halo}; align 64 at=origin; padding allow }} }}\n\
             convert plain to=haloed\nconvert haloed to=rows\nconvert rows to=strided\nconvert tiled to=haloed\n"
        ),
    );
}

#[test]
fn symbolic_rows_with_leading_padding_round_trip() {
    runs(
        "origin_symbols",
        "symbol cols max=300\n\
         tensor plain dtype=f32 { shape { h 3; w cols } }\n\
         tensor haloed like=plain { layout { pad h before=1 after=1; pad w before=1 after=1; align 64 at=origin } }\n\
         tensor blocks like=plain { layout { pad h before=1; map \"(h, w) -> (w // 4, h, w % 4)\"; align 64 at=origin } }\n\
         convert plain to=haloed\nconvert haloed to=plain\nconvert blocks to=haloed\n",
    );
}

#[test]
fn symbolic_row_pitches_round_trip() {
    runs(
        "pitches",
        "symbol rows min=1 max=300\nsymbol cols min=1 max=60\nsymbol lda min=60 max=100\n\
         tensor pitched dtype=f32 { shape { r rows; c cols }; layout { strides lda 1 } }\n\
         tensor wider like=pitched { layout { strides \"cols + 8\" 1 } }\n\
         tensor turned like=pitched { layout { strides 1 \"rows + 3\" } }\n\
         tensor tiled like=pitched { layout xla=\"{1,0:T(8,128)}\" }\n\
         convert pitched to=wider\nconvert wider to=pitched\nconvert turned to=tiled\nconvert tiled to=pitched\n",
    );
}

#[test]
fn bit_folding_layouts_round_trip() {
    runs(
        "folded",
        "symbol rows min=1 max=40\n\
         tensor plain dtype=f16 { shape { m 64; k 60 } }\n\
         tensor banked like=plain { layout { swizzle mode=\"128B\" } }\n\
         tensor apart like=plain { layout { axis-separators m; swizzle 1 2 1 unit=elements; padding allow } }\n\
         tensor xored like=plain { layout { map \"(m, k) -> (m, k ^ (m % 8) * 8)\"; padding allow } }\n\
         tensor skewed like=plain { layout { map \"(m, k) -> (m, (m + k) % 60)\" } }\n\
         tensor z like=plain { layout { map \"(m, k) -> (morton(m, k))\" } }\n\
         tensor many dtype=i8 { shape { r rows; c 48 }; layout { tile 4 16; swizzle 1 4 2 unit=bytes } }\n\
         tensor linear dtype=f32 { shape { row 8; col 8 }\n    layout triton=\"{row: [[9], [18], [36]], col: [[1], [2], [4]]} -> {offset: 64}\" }\n\
         tensor cute dtype=f32 { shape { i 8; j 64 }; layout cute=\"S<3,2,3> o 0 o (8,64):(64,1)\" }\n\
         convert plain to=banked\nconvert banked to=apart\nconvert xored to=banked\nconvert skewed to=z\nconvert z to=plain\n",
    );
}

#[test]
fn hilbert_curve_layouts_round_trip() {
    runs(
        "curves",
        "symbol rows min=1 max=16\n\
         tensor plain dtype=f32 { shape { h 6; w 10 } }\n\
         tensor wide like=plain { layout { map \"(h, w) -> (hilbert(h, w))\" } }\n\
         tensor odd dtype=u8 { shape { h 7; w 5 }; layout { map \"(h, w) -> (hilbert(h, w))\" } }\n\
         tensor square dtype=f16 { shape { n 2; h 16; w 16 }; layout { map \"(n, h, w) -> (n, hilbert(h, w))\" } }\n\
         tensor tiled dtype=f32 { shape { h 22; w 31 }; layout { map \"(h, w) -> (hilbert(h // 4, w // 4), h % 4, w % 4)\" } }\n\
         tensor one dtype=i4 { shape { h 4; w 4 }; layout { map \"(h, w) -> (hilbert(h // 4, w // 4), h % 4, w % 4)\" } }\n\
         tensor line dtype=f32 { shape { h 1; w 9 }; layout { map \"(h, w) -> (hilbert(h, w))\"; pad axis0 after=3 } }\n\
         tensor beside like=plain { layout { map \"(h, w) -> (hilbert(h, 9 - w) // 4, hilbert(h, 9 - w) % 4)\" } }\n\
         tensor banked dtype=f32 { shape { h 16; w 16 }; layout { map \"(h, w) -> (hilbert(h, w))\"; swizzle 2 0 2 unit=elements } }\n\
         tensor below dtype=f32 { shape { h rows; w 5 }; layout { map \"(h, w) -> (hilbert(h, w, 16, 5))\"; padding allow } }\n\
         view window of=tiled { shape { h 5; w 8 }; map \"(h, w) -> (h * 4 + 1, w * 3 + 2)\" }\n\
         convert plain to=wide\nconvert wide to=beside\nconvert beside to=plain\n",
    );
}

#[test]
fn views_of_swizzled_and_padded_tensors_work() {
    runs(
        "seen",
        "tensor folded dtype=f32 { shape { h 8; c 16 }; layout { swizzle 1 2 4 unit=elements } }\n\
         view column of=folded { shape { p 4 }; map \"(p) -> (p, 3)\" }\n\
         view wide of=folded dtype=f32x4\n\
         view rows of=folded { shape { p 4; c 16 }; map \"(p, c) -> (2 * p, c)\" }\n\
         tensor haloed dtype=f32 { shape { n 8 }; layout { pad n before=1; align 64 at=origin; padding allow } }\n\
         view half of=haloed { shape { p 4 }; map \"(p) -> (p + 2)\" }\n\
         tensor plain dtype=f32 { shape { n 8 } }\n\
         view lanes of=plain dtype=f32x4\n\
         view last of=lanes { shape { p 1 }; map \"(p) -> (p + 1)\" }\n\
         tensor fours dtype=f32x4 { shape { n 8 } }\n\
         view ones of=fours dtype=f32\n\
         view some of=ones { shape { p 3 }; map \"(p) -> (p + 1)\" }\n",
    );
}

#[test]
fn searched_inverses_are_tested_to_the_last_slot() {
    runs(
        "searched",
        "tensor mixed dtype=u8 { shape { i 4097 }; layout { map \"(i + 2 * (i ^ 21)) % 8192\"; padding allow } }\n",
    );
}

#[test]
fn windows_after_leading_padding_are_proven() {
    runs(
        "behind",
        "symbol cols min=8 max=300\n\
         tensor wide dtype=f32 { shape { h 40; w cols }; layout { pad h before=1; pad w before=1 after=1; align 64 at=origin } }\n\
         view rows of=wide { shape { h 8; w cols }; map \"(h, w) -> (h * 4 + 3, w)\" }\n\
         view corner of=wide { shape { h 3; w 5 }; map \"(h, w) -> (h + 1, w + 2)\" }\n\
         tensor large dtype=u8 { shape { h 2000; w 1000 }; layout { pad w before=1 after=1; align 64 at=origin } }\n\
         view most of=large { shape { h 1900; w 900 }; map \"(h, w) -> (h + 7, w + 3)\" }\n",
    );
}

#[test]
fn products_of_symbols_are_weights_and_strides() {
    runs(
        "open_extents",
        "symbol nc max=20\nsymbol nh max=20\nsymbol nw max=20\n\
         tensor flat dtype=f32 { shape { c nc; h nh; w nw }; layout { fuse c h w as=f } }\n\
         tensor strided dtype=f32 { shape { c nc; h nh; w nw }; layout { strides \"nh * nw\" nw 1 } }\n\
         tensor turned dtype=f32 { shape { c nc; h nh; w nw }; layout { order h c w; strides \"nc * nw\" nw 1 } }\n\
         convert flat to=turned\nconvert turned to=strided\n",
    );
}

#[test]
fn fused_rows_are_tiled_at_every_size() {
    runs(
        "fused_rows",
        "symbol nb max=8\nsymbol ns max=96 multiple=16\nsymbol n max=40 multiple=16\n\
         tensor tokens dtype=f16 { shape { b nb; s ns; d 40 }; layout { fuse b s as=r; tile 16 32 } }\n\
         tensor pixels dtype=f16 { shape { h nb; w ns; c 64 }; layout { map \"(h, w, c) -> (c // 16, (h * ns + w) // 4, c % 16, (h * ns + w) % 4)\" } }\n\
         tensor starred dtype=f16 { shape { h 4; w ns; c 7 }; layout { tile \"*\" 4 8 } }\n\
         tensor odd dtype=f32 { shape { k n; d \"n + 3\" }; layout { fuse k d as=q; tile 2; padding allow } }\n\
         tensor seven dtype=f32 { shape { g 7; d \"n + 3\" }; layout { fuse g d as=q; tile 2; padding allow } }\n\
         tensor stacked dtype=f32 { shape { x 2; h n }; layout { tile * 4; tile * 4; padding allow } }\n",
    );
}

#[test]
fn symbolic_divisors_round_trip() {
    runs(
        "vectors",
        "symbol vscale min=1 max=16\n\
         tensor a dtype=f32 { shape { m 60; k 32 }; layout { split m by=\"8*vscale\"; order m_outer k m_inner } }\n\
         tensor b dtype=f32 { shape { m 60; k 32 }; layout { map \"(m, k) -> (m // (8 * vscale), k, m % (8 * vscale))\"; padding allow } }\n\
         tensor c dtype=f32 { shape { m \"60 * vscale\"; k 32 }; layout { split m by=vscale; order m_outer k m_inner } }\n\
         convert a to=b\n",
    );
}

#[test]
fn gaps_of_symbolic_extents_are_proven() {
    runs(
        "gaps",
        "symbol n min=1 max=256\nsymbol e min=2 max=16 multiple=2\nsymbol z min=0 max=256\nsymbol q min=1 max=40 multiple=4\n\
         tensor a dtype=f32 { shape { p \"n // 2 + 1\" }; layout { pad p multiple=8; padding allow } }\n\
         tensor a2 dtype=f32 { shape { p n }; layout { pad p multiple=8; padding allow } }\n\
         tensor a3 dtype=f32 { shape { p \"n // 2 + 1\" }; layout { map \"(p) -> (p // 8, p % 8)\"; padding allow } }\n\
         tensor b dtype=i64 { shape { x e }; layout { map \"(x) -> (x // 2, (x % 2) ^ (x // 2) % 2)\"; padding allow } }\n\
         tensor b2 dtype=i64 { shape { r e }; layout { map \"(r) -> (r // 4, (r % 4) ^ (r // 4) % 4)\"; padding allow } }\n\
         tensor b3 dtype=i64 { shape { r n; c 64 }; layout { map \"(r, c) -> (r, (c // 8) ^ r % 8, c % 8)\"; padding allow } }\n\
         tensor b4 dtype=i64 { shape { r n }; layout { map \"(r) -> (r // 64, (r // 8 % 8) ^ (r // 64) % 8, r % 8)\"; padding allow } }\n\
         tensor c dtype=f32 { shape { v \"z + 3\"; p \"z * 2\" }; layout { fuse v p as=s1; padding allow } }\n\
         tensor c2 dtype=f32 { shape { v z; p z }; layout { fuse v p as=s1; padding allow } }\n\
         tensor d dtype=f32 { shape { u \"q * 2\" }; layout { map \"(u) -> (u % 8, u // 8)\"; fuse u_inner u_outer as=s3; padding allow } }\n\
         tensor d2 dtype=f32 { shape { u n }; layout { map \"(u) -> (u % 8, u // 8)\"; fuse u_inner u_outer as=s3; padding allow } }\n",
    );
    runs(
        "stacked_tiles",
        "symbol n min=1 max=40\n\
         tensor f dtype=f32 { shape { a n; b n; c n }; layout { order c a b; tile * 8; padding allow } }\n",
    );
}

#[test]
fn excluded_symbol_values_are_not_tried() {
    runs(
        "excluded",
        "symbol p min=4 max=4\nsymbol q min=1 max=4 multiple=3\n\
         tensor x dtype=f32 { shape { a q }; layout { map \"(a) -> (a * p % 3)\" } }\n",
    );
}

/// Diagnostics of a manifest as text.
fn diagnostics_text(text: &str) -> String {
    let checked = check_text(text);
    let lines: Vec<String> = checked.diagnostics.iter().map(|found| format!("{found:?}")).collect();
    lines.join("\n")
}

#[test]
fn witnesses_include_extreme_symbol_values() {
    let leading = diagnostics_text(
        "symbol m max=50\nsymbol ld min=24 max=64\n\
         tensor x dtype=f32 { shape { i m; j 24 }; layout { order j i; strides ld 1; fill none; padding allow } }",
    );
    assert!(
        leading.contains("x[24, 0] and x[0, 1]") || leading.contains("x[0, 1] and x[24, 0]"),
        "{leading}"
    );
    assert!(leading.contains("m = 50, ld = 24"), "{leading}");
    let dropped = diagnostics_text(
        "symbol p max=6\nsymbol q max=6\n\
         tensor x dtype=f32 { shape { a p; b 4 }; layout { map \"(a, b) -> (a * (p * q) + p)\"; padding allow } }",
    );
    assert!(dropped.contains("x[0, 0] and x[0, 1]"), "{dropped}");
}

#[test]
fn independent_axis_is_not_enumerated() {
    // 10^12 elements are too many to enumerate.
    let message = diagnostics_text(
        "tensor t dtype=u8 { shape { a0 27; a1 1000000000000 }\n\
         layout { map \"(a0, a1) -> (a1, 1 - a0 % 3 % 2, a0 // 9, a0 // 3 % 3 + 1, 1 - a0 % 3 // 2)\"; padding allow } }",
    );
    assert_eq!(message, "");
}
