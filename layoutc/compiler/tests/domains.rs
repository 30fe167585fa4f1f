//! Tensors with a domain (`where`): their slots, and relayouts of packed triangles, bands and others in C, OpenCL and
//! CUDA, against slots from the maps. `LAYOUTC_FULL=1` runs all on every platform, and 60 random manifests.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write;

use crate::common::cc::run;
use crate::common::check_text::{check_text, check_valid};
use crate::common::gpu::{self, Platform};
use crate::tiles_gpu;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::model::Manifest;
use layoutc_compiler::query::{abi, notations};
use layoutc_testing::{Random, cases, is_full};

/// One tensor of each kind.
const FEW: &str = r#"
tensor square dtype=f32 { shape { i 5; j 5 } }
tensor lower dtype=f32 {
    shape { i 5; j 5; where "j <= i" }
    layout { map "(i, j) -> (i * (i + 1) // 2 + j)"; fill 2.5 }
}
tensor kept dtype=f32 {
    shape { i 5; j 5; where "j - 1 <= i <= j + 2" }
    layout { map "(i, j) -> (1 + i - j, j)"; fill none; padding allow }
}
tensor nibbles dtype=u4 {
    shape { i 5; j 5; where "j < i" }
    layout { map "(i, j) -> (i * (i - 1) // 2 + j)"; fill 3 }
}
convert square to=lower
convert lower to=square
convert lower to=kept
"#;

/// Triangles packed as in BLAS and LAPACK, a band, tiles of a triangle, and others.
const TENSORS: &str = r#"
const n 9
tensor square dtype=f32 { shape { i n; j n } }
tensor turned dtype=f32 { shape { i n; j n }; layout { map "(i, j) -> (j, i // 4, i % 4)"; fill 2.5 } }
tensor lower dtype=f32 {
    shape { i n; j n; where "j <= i" }
    layout { map "(i, j) -> (i * (i + 1) // 2 + j)" }
}
tensor lapack dtype=f32 {
    shape { j n; i n; where "j <= i" }
    layout { map "(j, i) -> (i + j * (2 * n - j - 1) // 2)"; fill -1.0 }
}
tensor strict dtype=f32 {
    shape { i n; j n; where "i < j" }
    layout { map "(i, j) -> (i + j * (j - 1) // 2)"; fill none }
}
tensor band dtype=f32 {
    shape { i n; j n; where "j - 1 <= i <= j + 2" }
    layout { map "(i, j) -> (1 + i - j, j)"; fill 7.0; padding allow }
}
tensor tiles dtype=f32 {
    shape { i n; j n; where "j <= i" }
    layout { map "(i, j) -> (i // 4 * (i // 4 + 1) // 2 + j // 4, i % 4, j % 4)"; padding allow }
}
tensor whole dtype=f32 {
    shape { i n; j n; where "j <= i" }
    layout { padding allow }
}
tensor kept dtype=f32 {
    shape { i n; j n; where "i + j < n" }
    layout { order j i; fill none; padding allow }
}
convert square to=lower
convert lower to=lapack
convert lower to=strict
convert lower to=square
convert lapack to=turned
convert strict to=whole
convert whole to=lower
convert band to=tiles
convert kept to=band
convert turned to=kept
"#;

/// Packed elements, other types, and more axes.
const OTHERS: &str = r#"
tensor nibbles dtype=u4 {
    shape { i 7; j 7; where "j < i" }
    layout { map "(i, j) -> (i * (i - 1) // 2 + j)"; fill 3 }
}
tensor bits dtype=u1 {
    shape { i 7; j 7; where "j <= i" }
    layout { map "(i, j) -> (i * (i + 1) // 2 + j)"; fill none }
}
tensor dense dtype=u4 { shape { i 7; j 7 } }
tensor batch dtype=f64 {
    shape { b 3; i 4; j 4; where "j <= i" }
    layout { map "(b, i, j) -> (i * (i + 1) // 2 + j, b)" }
}
tensor corner dtype=i16 {
    shape { i 5; j 5; k 5; where "i + j + k < 5" }
    layout { fill -2; padding allow }
}
tensor one dtype=i32 {
    shape { i 5; j 5; where "i == j" }
    layout { map "(i, j) -> (i)" }
}
convert nibbles to=dense
convert dense to=nibbles
"#;

fn checked(text: &str) -> Manifest {
    let checked = check_valid(text);
    checked.manifests.into_iter().next().unwrap()
}

fn faults(text: &str) -> Vec<Diagnostic> {
    check_text(text).diagnostics
}

fn slots(text: &str) -> Option<i128> {
    checked(text).tensors[0].layout.physical_elements().as_const()
}

#[test]
fn large_packed_triangle_is_proven() {
    let text = "tensor l dtype=f64 { shape { i 800; j 800; where \"j <= i\" }\n    layout { map \"(i, j) -> (i * (i + 1) // 2 + j)\" } }\n";
    assert_eq!(slots(text), Some(320_400));
    let wrong = text.replace("+ j)\"", "+ j - i // 799)\"");
    assert_eq!(faults(&wrong)[0].code.id(), "map::not_injective");
}

#[test]
fn a_condition_on_other_axes_changes_no_extent() {
    let text = |condition: &str| {
        format!(
            "tensor a dtype=f32 {{ shape {{ k 2; i 15; j 8{condition} }}\n    layout {{ map \"(k, i, j) -> (k, (i * 8 + j) % 60 + (i * 8 + j) // 60 * 60)\"; padding allow }} }}\n"
        )
    };
    assert_eq!(slots(&text("")), slots(&text("; where \"k <= 0\"")));
}

#[test]
fn an_empty_shape_satisfies_all_conditions() {
    let text = "tensor a dtype=f32 { shape { i 0; j 4; where \"j <= i\" } }\n";
    assert_eq!(slots(text), Some(0));
}

#[test]
fn domain_is_in_the_abi_but_in_no_notation() {
    let manifest = checked(
        "tensor whole dtype=f32 { shape { i 4; j 4; where \"j <= i\" }; layout { padding allow } }\n",
    );
    let tensor = &manifest.tensors[0];
    assert!(abi::abi(tensor).text.starts_with("f32 i=4 j=4 where \"i >= j\" -> [16]"));
    assert!(notations::texts(tensor).iter().all(|(_, text)| text.is_none()));
}

/// Manifests that run: all in the full run, otherwise the one of few tensors.
fn manifests() -> Vec<&'static str> {
    if is_full() { vec![FEW, TENSORS, OTHERS] } else { vec![FEW] }
}

#[test]
fn c_packs_elements_of_domains() {
    for (k, text) in manifests().into_iter().enumerate() {
        let printed = run(&format!("domains_of_{k}"), &checked(text));
        assert!(text != FEW || printed.contains("lower: ok, 15 elements in 15 slots"), "{printed}");
    }
}

#[test]
fn opencl_and_cuda_pack_elements_of_domains() {
    let is_quick = |platform: &Platform| is_full() || *platform == Platform::Oclgrind;
    let platforms: Vec<Platform> = gpu::platforms().into_iter().filter(is_quick).collect();
    for (k, text) in manifests().into_iter().enumerate() {
        tiles_gpu::run_with(&format!("domains_of_{k}"), text, &[&[]], k == 1, &platforms);
    }
}

/// A random manifest: conditions with small constants and a non-empty domain, and maps that are injective on any box.
fn random(random: &mut Random) -> String {
    let (rows, columns) = (random.between(1, 9), random.between(1, 9));
    let mut text = String::new();
    for k in 0..6 {
        let (low, high) = (random.between(-3, 0), random.between(0, 4));
        let condition = match random.below(4) {
            0 => format!("i + j <= {}", high + 3),
            1 => format!("2 * j <= i + {high}"),
            2 => "i >= 0".to_owned(),
            _ => format!("{low} <= i - j <= {high}"),
        };
        let map = match random.below(5) {
            0 => "i, j".to_owned(),
            1 => "j, i // 2, i % 2".to_owned(),
            2 => "(i + j) % 16, j".to_owned(),
            3 => "i ^ j : 16, j".to_owned(),
            _ => "i * (i + 9) + j".to_owned(),
        };
        let fill = ["fill 1", "fill none", "fill 0"][random.below(3)];
        let dtype = ["f32", "u8", "u4"][k % 3];
        writeln!(
            text,
            "tensor t{k} dtype={dtype} {{ shape {{ i {rows}; j {columns}; where \"{condition}\" }}\n    layout {{ map \"(i, j) -> ({map})\"; {fill}; padding allow }} }}"
        )
        .unwrap();
    }
    writeln!(text, "convert t0 to=t3\nconvert t1 to=t4\nconvert t5 to=t2").unwrap();
    text
}

#[test]
fn c_packs_random_domains() {
    for seed in 0..cases(1, 8) {
        let text = random(&mut Random::new(8_100_000 + seed));
        run(&format!("domains_{seed}"), &checked(&text));
    }
}
