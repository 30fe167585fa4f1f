//! Pack, unpack and conversion kernels of random manifests on OpenCL and CUDA: all bytes against the slots of the
//! enumerated oracle. OpenCL runs on Oclgrind (bounds, races) and `PoCL`; CUDA runs on the CPU stand-in and on a GPU if
//! there is one, and nvcc compiles a part. `LAYOUTC_FULL=1` runs 360 layouts.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::cc::folder;
use crate::common::gpu;
use crate::common::moves;
use crate::random_manifest;
use layoutc_testing::{Random, cases};
use std::collections::BTreeMap;
use std::panic::catch_unwind;

use gpu::Platform;
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_compiler::config::{
    Config, CudaIndex, OpenClIndex, TargetCuda, TargetOpenCl, TargetsConfig,
};
use layoutc_testing::layouts::{Case, Step, truth};
use moves::{Convert, Effort, Elements, Extents, Outputs, Subject, channels};
use random_manifest::{Fill, Manifest, Tensor, bits, built, dtypes, manifest, records};

/// Configuration with OpenCL and CUDA; with 64-bit indices, and kernels for unaligned buffers, if `wide`.
fn config(wide: bool) -> Config {
    let (mut opencl, mut cuda) = (TargetOpenCl::default(), TargetCuda::default());
    if wide {
        (opencl.unaligned_buffers, cuda.unaligned_buffers) = (true, true);
        opencl.index_type = OpenClIndex::Long;
        cuda.index_type = CudaIndex::Int64;
    }
    let (opencl, cuda) = (Some(opencl), Some(cuda));
    Config {
        target: TargetsConfig {
            c: None,
            opencl,
            cuda,
            hip: None,
            rust: None,
            own: BTreeMap::new(),
        },
        ..Config::default()
    }
}

/// The tensor, often as an image with separators if its layout allows one, otherwise as a buffer without.
fn suited(random: &mut Random, mut tensor: Tensor) -> Tensor {
    let has_end = |step: &Step| matches!(step, Step::Strides(_) | Step::Align { .. });
    tensor.case.steps.retain(|step| !matches!(step, Step::Separators(_)));
    for step in &mut tensor.case.steps {
        if let Step::Map { separators, .. } = step {
            separators.clear();
        }
    }
    if channels(tensor.dtype).is_none() || tensor.case.steps.iter().any(has_end) {
        return tensor;
    }
    let names = truth(&tensor.case).map(|truth| truth.names).unwrap_or_default();
    let (Some(last), true) = (names.last(), names.len() > 1 && !random.one_in(3)) else {
        return tensor;
    };
    let mut image = tensor.clone();
    if !tensor.dtype.ends_with("x4") {
        image.case.steps.push(Step::PadMultiple { axis: last.clone(), multiple: 4 });
    }
    let layered = names.len() > 2 && random.one_in(2);
    let cut = 1 + random.below(names.len() - 1);
    let mut cuts = vec![cut];
    if layered {
        cuts.push(1 + random.below(names.len() - 1));
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() < 2 {
            return tensor;
        }
    }
    let after = cuts.iter().map(|cut| names[cut - 1].clone()).collect();
    image.case.steps.push(Step::Separators(after));
    image.memory = Some(if layered { "image2d-array" } else { "texture" });
    if truth(&image.case).is_ok() { image } else { tensor }
}

/// A tensor at one size of the symbol, from the oracle.
fn subject(tensor: &Tensor, symbol: Option<i64>, layout: &Layout) -> Subject {
    let case = symbol.map_or(tensor.case.clone(), |size| tensor.case.at(size));
    let truth = truth(&case).unwrap();
    let shape = &truth.physical_shape;
    // Rows of an image have no pitch.
    let slot = |physical: &[i64], offset: i64| match tensor.memory {
        None => offset,
        Some(_) => physical.iter().zip(shape).fold(0, |sum, (p, extent)| sum * extent + p),
    };
    let number = |n: i64| usize::try_from(n).unwrap();
    let per_texel = if tensor.dtype.ends_with("x4") { 1 } else { 4 };
    let image = tensor.memory.map(|_| match shape.as_slice() {
        [height, along] => {
            Extents { width: number(*along) / per_texel, height: number(*height), images: None }
        }
        shape => {
            let images = Some(number(shape[0]));
            Extents { width: number(shape[2]) / per_texel, height: number(shape[1]), images }
        }
    });
    let bits = number(bits(tensor.dtype));
    let mut one = vec![0; bits.div_ceil(8)];
    one[0] = u8::from(tensor.fill == Fill::One);
    Subject {
        name: tensor.name.clone(),
        dtype: tensor.dtype.to_owned(),
        elements: Elements { bits, high_first: tensor.high_first },
        fill: (tensor.fill != Fill::Nothing).then_some(one),
        image,
        slot_of: truth.elements.iter().map(|e| number(slot(&e.physical, e.offset))).collect(),
        left_out: Vec::new(),
        slots: number(truth.physical_elements),
        padded: layout.verdict() == Verdict::Padded,
        searched: layout.inverse().is_none(),
        symbols: symbol.into_iter().collect(),
    }
}

fn is_wide(seed: usize) -> bool {
    seed % 4 == 1
}

fn run(seed: usize, manifest: &Manifest) {
    let text = manifest.text();
    let (checked, outputs) = built(&text, &config(is_wide(seed))).unwrap();
    let folder = folder(&format!("random_gpu_{seed}"));
    std::fs::write(folder.join("m.kdl"), &text).unwrap();
    let converts: Vec<Convert<'_>> = manifest
        .converts
        .iter()
        .map(|(from, to)| {
            let name =
                format!("{}_to_{}", manifest.tensors[*from].name, manifest.tensors[*to].name);
            Convert { from: *from, to: *to, name, element: &|k| k }
        })
        .collect();
    let mut all = Vec::new();
    for (number, size) in manifest.sizes.iter().enumerate() {
        let symbol = manifest.tensors[0].case.symbol.map(|_| *size);
        let found = manifest.tensors.iter().zip(&checked.manifests[0].tensors);
        let subjects: Vec<Subject> =
            found.map(|(tensor, found)| subject(tensor, symbol, &found.layout)).collect();
        all.extend(moves::moves(&folder, &subjects, &converts, number));
    }
    // PoCL's compiler is slow.
    let here = |platform: &Platform| *platform == Platform::Oclgrind || seed.is_multiple_of(3);
    let platforms: Vec<Platform> = gpu::platforms().into_iter().filter(here).collect();
    let outputs = Outputs {
        cl: &outputs["opencl/m.cl"],
        header: &outputs["opencl/m.h"],
        cuh: &outputs["cuda/m.cuh"],
        cu: &outputs["cuda/m.cu"],
    };
    let effort = Effort {
        platforms: &platforms,
        optimized: seed.is_multiple_of(8),
        compiler: seed,
        nvcc: seed.is_multiple_of(cases(6, 25)),
        stem: "m",
        wide: is_wide(seed),
    };
    let ran = moves::run(&folder, &outputs, &all, &effort);
    ran.unwrap_or_else(|message| panic!("seed {seed} in {}:\n{message}\n{text}", folder.display()));
}

/// All element types, with those of images repeated.
fn types() -> Vec<&'static str> {
    let images = dtypes().into_iter().filter(|dtype| channels(dtype).is_some());
    dtypes().into_iter().chain(images.cycle().take(32)).collect()
}

/// Runs the manifests of these seeds with tensors of these types. Panics with all failures, the shortest first.
fn campaign(seeds: impl Iterator<Item = usize>, types: &[&'static str]) {
    let tensors = cases(7, 8);
    let (mut count, mut failures) = (0, Vec::new());
    for seed in seeds {
        count += 1;
        let ran = catch_unwind(|| {
            let mut random = Random::new(u64::try_from(seed).unwrap() + 5_000_000);
            run(seed, &manifest(&mut random, tensors, &config(is_wide(seed)), types, suited));
        });
        if let Err(panic) = ran {
            let report = panic.downcast_ref::<String>().cloned();
            failures.push(report.unwrap_or_else(|| format!("seed {seed}")));
        }
    }
    failures.sort_by_key(String::len);
    let shown = failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {count} failed:\n{shown}", failures.len());
}

/// Number of manifests; two tests share them, so that two run in parallel.
fn manifests() -> usize {
    cases(8, 12)
}

#[test]
fn curve_boxes_on_gpus_agree_with_the_oracle() {
    // Seeds that all platforms run, the second with 64-bit indices.
    for seed in [1_000_008, 1_000_017] {
        let mut random = Random::new(u64::try_from(seed).unwrap());
        let axes = [("a", 2), ("b", 9), ("c", 14)].map(|(name, n)| (name.to_owned(), n));
        let types = ["f32", "u8", "i4", "f16", "f32x4", "u1"];
        let tensor = |(k, dtype): (usize, &&'static str)| {
            let items = layoutc_testing::layouts::generate::curve_of(&mut random, &axes);
            let map = Step::Map { items, separators: Vec::new(), all_parentheses: false };
            let (element_bits, steps) = (bits(dtype), vec![map]);
            let case = Case { axes: axes.to_vec(), symbol: None, element_bits, steps };
            let name = format!("t{k}");
            Tensor { name, dtype, fill: Fill::Zero, high_first: false, memory: None, case }
        };
        let mut tensors: Vec<Tensor> = types.iter().enumerate().map(tensor).collect();
        let plain = Case { steps: Vec::new(), ..tensors[0].case.clone() };
        tensors.push(Tensor { name: "plain".to_owned(), case: plain, ..tensors[0].clone() });
        run(seed, &Manifest { tensors, converts: vec![(6, 0), (0, 6)], sizes: vec![1] });
    }
}

#[test]
fn random_manifests_give_gpu_code_agreeing_with_oracle() {
    campaign((0..manifests()).step_by(2), &types());
}

#[test]
fn more_random_manifests_give_gpu_code_agreeing_with_oracle() {
    campaign((1..manifests()).step_by(2), &types());
}

#[test]
fn sub_byte_elements_on_gpus_agree_with_the_oracle() {
    let packed: Vec<&str> = dtypes().into_iter().filter(|dtype| bits(dtype) < 8).collect();
    campaign((0..manifests() / 2).map(|seed| 1000 + seed), &packed);
}

#[test]
fn random_records_on_gpus_agree_with_the_oracle() {
    let count = cases(1, 2);
    campaign((0..count).map(|seed| 2000 + seed), &records(5_700_000, count));
}
