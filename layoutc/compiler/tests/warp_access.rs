//! Bank conflicts and sectors of declared accesses: against a simulation of random warps on random layouts, and for
//! published swizzles.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};

use layoutc_compiler::config::Config;
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::query::access::{AccessReport, arrangements};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::campaign;
use layoutc_testing::random::Random;
use serde_json::Value;

fn checked(manifest: &str) -> Manifest {
    let (sources, config) = (MemorySources::of("a.kdl", manifest), Config::default());
    let mut checked = Compiler::new(&sources, &config).check(&["a.kdl".to_owned()]);
    let errors: Vec<&str> = checked.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(checked.is_valid(), "{manifest}\n{errors:?}");
    checked.manifests.remove(0)
}

fn declared(manifest: &Manifest, tensor: &Tensor) -> Vec<Value> {
    let report = AccessReport::of_tensor(manifest, tensor).unwrap().json();
    report["declared"].as_array().unwrap().clone()
}

/// Random access in the form that both sides read: its parameters, its affine index, and its attributes.
struct Access {
    /// Extents of the parameters, the lane first.
    extents: Vec<i128>,
    /// Index along each axis: pairs of a divisor, a modulus and a factor for each parameter.
    index: Vec<Vec<[i128; 3]>>,
    vector: i128,
    is_read: bool,
    is_amd: bool,
}

impl Access {
    fn element(&self, at: &[i128]) -> Vec<i128> {
        let term =
            |([div, modulus, factor], value): (&[i128; 3], &i128)| value / div % modulus * factor;
        self.index.iter().map(|terms| terms.iter().zip(at).map(term).sum()).collect()
    }

    fn text(&self, name: &str) -> String {
        let names = ["lane", "i", "j"];
        let params: Vec<String> = names
            .iter()
            .zip(&self.extents)
            .map(|(name, extent)| format!("{name} : {extent}"))
            .collect();
        let index = self.index.iter().map(|terms| {
            let terms = terms.iter().zip(names);
            let terms: Vec<String> =
                terms.map(|([d, m, f], name)| format!("{name} // {d} % {m} * {f}")).collect();
            terms.join(" + ")
        });
        format!(
            "access {name} from=\"({}) -> ({})\" vector={} direction={} gpu={}",
            params.join(", "),
            index.collect::<Vec<_>>().join(", "),
            self.vector,
            if self.is_read { "read" } else { "write" },
            if self.is_amd { "amd" } else { "nvidia" },
        )
    }

    /// Addresses in bytes of the lanes of each request.
    fn requests(&self, tensor: &Tensor) -> Vec<Vec<i128>> {
        let bytes = i128::from(tensor.dtype.element_bits()) / 8;
        let warp = if self.is_amd { 64 } else { 32 };
        let mut requests = Vec::new();
        let (i, j) = (self.extents.get(1).unwrap_or(&1), self.extents.get(2).unwrap_or(&1));
        for a in 0..*i {
            for b in 0..*j {
                let lanes: Vec<i128> = (0..self.extents[0]).collect();
                for warp in lanes.chunks(warp) {
                    let address = |lane: &i128| {
                        let element = self.element(&[*lane, a, b][..self.extents.len()]);
                        tensor.layout.offset_of(&element).unwrap() * bytes
                    };
                    requests.push(warp.iter().map(address).collect());
                }
            }
        }
        requests
    }
}

/// Wavefronts of one request and the least number, by the definition: lanes are served in groups, and a group takes one
/// pass for each different word of its busiest bank.
fn wavefronts(addresses: &[i128], bytes: i128, access: &Access) -> (i64, i64) {
    let group = |lane: usize| {
        let lanes = 128 / bytes.max(4);
        match (access.is_amd && access.is_read && bytes == 16, lane % 32) {
            // The published groups of `ds_read_b128`.
            (true, 0..=3 | 20..=23) => lane / 32 * 4,
            (true, 4..=7 | 16..=19) => lane / 32 * 4 + 1,
            (true, 8..=11 | 28..=31) => lane / 32 * 4 + 2,
            (true, _) => lane / 32 * 4 + 3,
            (false, _) => lane / usize::try_from(lanes).unwrap(),
        }
    };
    let mut banks: BTreeMap<(usize, i128), BTreeSet<i128>> = BTreeMap::new();
    for (lane, address) in addresses.iter().enumerate() {
        for byte in 0..bytes {
            let word = (address + byte) / 4;
            banks.entry((group(lane), word % 32)).or_default().insert(word);
        }
    }
    let groups: BTreeSet<usize> = (0..addresses.len()).map(group).collect();
    let most = |group: usize| {
        let words =
            banks.iter().filter(|((own, _), _)| *own == group).map(|(_, words)| words.len());
        i64::try_from(words.max().unwrap()).unwrap()
    };
    let all = groups.iter().map(|group| most(*group)).sum();
    (all, i64::try_from(groups.len()).unwrap())
}

/// Layout of two axes of the extents `[m, k]` that keeps vectors of 16 elements contiguous.
fn layout(random: &mut Random, [m, k]: [i128; 2], element_bytes: i128) -> String {
    let mut steps = Vec::new();
    if random.one_in(2) && k > 16 {
        let by = *random.pick(&[16, 32]);
        steps.push(format!("split k by={by}; order k_outer m k_inner"));
    } else if random.one_in(3) && m > 4 {
        steps.push("split m by=4; order m_inner m_outer k".to_owned());
    }
    if random.one_in(4) {
        let axis =
            if steps.first().is_some_and(|s| s.contains("k_inner")) { "k_inner" } else { "k" };
        steps.push(format!("pad {axis} after=16"));
    } else if random.one_in(2) {
        let base = 4 + i128::from(element_bytes.trailing_zeros());
        let bits = random.between(1_i128, 3);
        steps.push(format!("swizzle {bits} {base} {} unit=bytes", bits + random.below(3_i128)));
    }
    steps.join("; ")
}

fn access(random: &mut Random, [m, k]: [i128; 2], element_bytes: i128) -> Access {
    let vectors: &[i128] = &[1, 2, 4, 8, 16];
    let vectors: Vec<i128> =
        vectors.iter().copied().filter(|vector| vector * element_bytes <= 16).collect();
    let vector = *random.pick(&vectors);
    let is_amd = random.one_in(3);
    let lanes = if is_amd { 64 } else { 32 };
    let mut extents = vec![*random.pick(&[lanes, lanes, 2 * lanes, lanes / 2, 7])];
    extents.extend((0..random.below(3_usize)).map(|_| random.between(1_i128, 4)));
    let mut term = |extent: i128, unit: i128| {
        // Values below `extent`, in multiples of `unit`.
        let modulus = random.between(1, (extent / unit).max(1));
        let factor = unit * random.between(1, (extent / unit / modulus).max(1));
        let div = *random.pick(&[1_i128, 2, 4, 8, 16]);
        [div, modulus, factor]
    };
    // The parts of the parameters share the extent, so that the index stays in range.
    let parts = i128::try_from(extents.len()).unwrap();
    let rows = extents.iter().map(|_| term(m / parts, 1)).collect();
    let columns = extents.iter().map(|_| term(k / parts / vector * vector, vector)).collect();
    Access { extents, index: vec![rows, columns], vector, is_read: random.one_in(2), is_amd }
}

#[test]
fn counts_equal_a_simulation_of_random_warps() {
    let mut random = Random::new(campaign::seed());
    let (mut shared, mut global) = (0, 0);
    for _ in 0..campaign::cases(300, 1000) {
        let (dtype, bytes) = *random.pick(&[("u8", 1), ("f16", 2), ("f32", 4), ("f64", 8)]);
        let shape = [*random.pick(&[16, 24, 64]), *random.pick(&[64, 96, 128])];
        let layout = layout(&mut random, shape, bytes);
        let access = access(&mut random, shape, bytes);
        let is_shared = random.one_in(2);
        let memory = if is_shared { "memory shared" } else { "" };
        let [m, k] = shape;
        let text = format!(
            "tensor t dtype={dtype} {{\n shape {{ m {m}; k {k} }}\n layout {{ padding allow; {layout} }}\n {memory}\n {}\n}}\n",
            access.text("a")
        );
        let manifest = checked(&text);
        let tensor = &manifest.tensors[0];
        let own = &declared(&manifest, tensor)[0];
        let requests = access.requests(tensor);
        assert_eq!(own["requests"], requests.len(), "{text}");
        let width = access.vector * bytes;
        if is_shared {
            let costs = requests.iter().map(|request| wavefronts(request, width, &access));
            let (all, least) = costs.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
            assert_eq!(own["wavefronts"], all, "{text}");
            assert_eq!(own["bank_conflicts"], all - least, "{text}");
            shared += usize::from(all > least);
        } else {
            let size = if access.is_amd { 64 } else { 32 };
            // The base is a multiple of 64 bytes.
            let sectors = |request: &Vec<i128>| {
                let bytes =
                    request.iter().flat_map(|address| (0..width).map(move |byte| address + byte));
                let touched: BTreeSet<i128> = bytes.map(|byte| byte / size).collect();
                touched.len()
            };
            assert_eq!(own["sectors"], requests.iter().map(sectors).sum::<usize>(), "{text}");
            global += usize::from(own["sectors"] != own["least_sectors"]);
        }
    }
    // Both kinds of inefficiency occur.
    assert!(shared > 20 && global > 20, "{shared} {global}");
}

/// Published swizzles: (source, element type, columns of a row, swizzle in elements, access, wavefronts without the
/// swizzle, wavefronts with it). The access is `ldmatrix` of 16×16 tiles of 2-byte elements, or rows and columns.
const PUBLISHED: &[(&str, &str, i128, &str, &str, i64, i64)] = &[
    // CUTLASS, shared memory atoms of `SM80` and `SM90` for K-major operands: 128, 64 and 32 bytes a row.
    ("CUTLASS Sw<3,4,3>", "f16", 64, "3 3 3", LDMATRIX, 32, 4),
    ("CUTLASS Sw<2,4,3>", "f16", 32, "2 3 3", LDMATRIX, 16, 4),
    ("CUTLASS Sw<1,4,3>", "f16", 16, "1 3 3", LDMATRIX, 8, 4),
    ("CUTLASS tf32 Sw<3,2,3>", "f32", 32, "3 2 3", LDMATRIX_32, 32, 4),
    ("CUTLASS int8 Sw<3,4,3>", "i8", 128, "3 4 3", LDMATRIX_8, 32, 4),
    // Triton, `swizzled_shared` with (vec, perPhase, maxPhase): the row phase is (row / perPhase) % maxPhase.
    ("Triton (8, 1, 8)", "f16", 64, "3 3 3", LDMATRIX, 32, 4),
    ("Triton (8, 2, 4)", "f16", 32, "2 3 3", LDMATRIX, 16, 4),
    ("Triton (8, 4, 2)", "f16", 16, "1 3 3", LDMATRIX, 8, 4),
    ("Triton (4, 1, 8)", "f32", 32, "3 2 3", LDMATRIX_32, 32, 4),
    // Transposition of 32×32 elements of 4 bytes through shared memory: columns of a tile.
    ("transposition Sw<5,0,5>", "f32", 32, "5 0 5", COLUMN, 32, 1),
];

/// Rows of 16 bytes that the lanes address in `ldmatrix.x4` of elements of 2, 4 and 1 bytes.
const LDMATRIX: &str = "from=\"(lane) -> (lane % 16, lane // 16 * 8)\" vector=8";
const LDMATRIX_32: &str = "from=\"(lane) -> (lane % 16, lane // 16 * 4)\" vector=4";
const LDMATRIX_8: &str = "from=\"(lane) -> (lane % 16, lane // 16 * 16)\" vector=16";
const COLUMN: &str = "from=\"(lane) -> (lane, 0)\"";

#[test]
fn published_swizzles_have_the_claimed_conflicts_and_the_search_is_no_worse() {
    for (source, dtype, columns, swizzle, access, without, with) in PUBLISHED {
        let tensor = |name: &str, step: &str| {
            format!(
                "tensor {name} dtype={dtype} {{ shape {{ m 64; k {columns} }}; layout {{ {step} }}; memory shared; access a {access} }}\n"
            )
        };
        let text = tensor("plain", "")
            + &tensor("published", &format!("swizzle {swizzle} unit=elements"))
            + &tensor("found", "swizzle auto");
        let manifest = checked(&text);
        let wavefronts =
            |k: usize| declared(&manifest, &manifest.tensors[k])[0]["wavefronts"].as_i64().unwrap();
        assert_eq!([wavefronts(0), wavefronts(1)], [*without, *with], "{source}");
        assert!(wavefronts(2) <= *with, "{source}");
    }
}

#[test]
fn gates_hold_exactly_without_conflicts() {
    let gated = |swizzle: &str, gate: &str, memory: &str| {
        let text = format!(
            "tensor t dtype=f16 {{\n shape {{ m 64; k 64 }}\n layout {{ {swizzle} }}\n memory {memory}\n access a {LDMATRIX}\n require {gate}\n}}\n"
        );
        let (sources, config) = (MemorySources::of("a.kdl", &text), Config::default());
        let checked = Compiler::new(&sources, &config).check(&["a.kdl".to_owned()]);
        checked.diagnostics.first().map(|d| d.code.id())
    };
    assert_eq!(gated("swizzle 3 3 3 unit=elements", "conflict-free", "shared"), None);
    assert_eq!(gated("swizzle auto", "conflict-free access=a", "shared"), None);
    assert_eq!(gated("", "conflict-free", "shared"), Some("gate::conflict_free"));
    assert_eq!(gated("", "conflict-free", "global"), Some("gate::conflict_free"));
    assert_eq!(gated("swizzle auto", "conflict-free", "global"), Some("step::form"));
    assert_eq!(gated("swizzle auto; order k m", "conflict-free", "shared"), Some("step::form"));
    assert_eq!(gated("", "coalesced", "global"), None);
    assert_eq!(gated("order k m", "coalesced", "global"), Some("access::vector"));
    assert_eq!(gated("", "coalesced", "shared"), Some("gate::coalesced"));
}

#[test]
fn the_search_takes_the_better_of_swizzle_and_row_padding() {
    let mut padded = 0;
    for columns in 8..=48 {
        let text = format!(
            "tensor t dtype=f32 {{\n shape {{ m 32; k {columns} }}\n layout {{ padding allow; swizzle auto }}\n memory shared\n access row from=\"(lane) -> (lane // 8, lane % 8)\"\n access column from=\"(lane) -> (lane, 0)\"\n}}\n"
        );
        let manifest = checked(&text);
        let tensor = &manifest.tensors[0];
        let own: i64 = declared(&manifest, tensor)
            .iter()
            .map(|access| access["wavefronts"].as_i64().unwrap())
            .sum();
        let plain = checked(&text.replace("; swizzle auto", ""));
        let report = arrangements(&plain.tensors[0], &[]).unwrap().json();
        let found = report["found"].as_array().unwrap().iter();
        let least = found.map(|found| found["wavefronts"].as_i64().unwrap()).min().unwrap();
        assert_eq!(own, least, "{text}{report}");
        padded += usize::from(tensor.steps.iter().any(|step| step.starts_with("pad k after=")));
    }
    assert!(padded > 0);
    let manifest = checked(&format!(
        "tensor t dtype=f16 {{ shape {{ m 64; k 64 }}; memory shared; access a {LDMATRIX} }}"
    ));
    let unknown = arrangements(&manifest.tensors[0], &["b".to_owned()]).unwrap_err();
    assert_eq!(unknown, "`t` has no access `b`; its accesses: a");
}

#[test]
fn generated_transpositions_are_coalesced_and_free_of_conflicts() {
    for dtype in ["u8", "f16", "f32", "f64"] {
        let manifest = checked(&format!(
            "tensor t dtype={dtype} {{ shape {{ h 512; w 1024 }}; layout {{ order w h }} }}\n"
        ));
        let report = AccessReport::of_tensor(&manifest, &manifest.tensors[0]).unwrap().json();
        let kernels = report["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), 2);
        for site in kernels.iter().flat_map(|kernel| kernel["accesses"].as_array().unwrap()) {
            assert_ne!(site["requests"], 0, "{site}");
            match site["memory"].as_str().unwrap() {
                "shared" => assert_eq!(site["bank_conflicts"], 0, "{dtype}: {site}"),
                _ => assert_eq!(site["sectors"], site["least_sectors"], "{dtype}: {site}"),
            }
        }
    }
}
