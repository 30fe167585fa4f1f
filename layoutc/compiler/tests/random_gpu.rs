//! Random manifests to OpenCL and CUDA: pack, unpack and every conversion run, all bytes compared with where the
//! oracle says that every element lives. OpenCL runs on Oclgrind (bounds, races) and on `PoCL`; CUDA on the CPU
//! stand-in, a part of it is compiled by nvcc too, and on a GPU where there is one. `LAYOUTC_FULL=1` runs 1,000 layouts.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "common/gpu.rs"]
mod gpu;
mod random_manifest;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use gpu::Platform;
use layoutc_compiler::Checked;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, Targets};
use random_manifest::random::{Random, Step, Truth, truth};
use random_manifest::{Fill, Manifest, Tensor, bits, built, dtypes, full, manifest};

fn config() -> Config {
    let (opencl, cuda) = (Some(TargetOpenCl::default()), Some(TargetCuda::default()));
    Config { target: Targets { c: None, opencl, cuda, own: BTreeMap::new() }, ..Config::default() }
}

/// The channels of an image that holds elements of a type: as the runner of OpenCL calls them, and CUDA.
fn channels(dtype: &str) -> Option<(&'static str, &'static str)> {
    let all = [
        ("f32", "f32", "cudaCreateChannelDesc<float4>()"),
        ("f32x4", "f32", "cudaCreateChannelDesc<float4>()"),
        ("f16x4", "f16", "cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat)"),
        ("u8x4", "u8", "cudaCreateChannelDesc<uchar4>()"),
        ("f16", "f16", "cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat)"),
        ("i8", "i8", "cudaCreateChannelDesc<char4>()"),
        ("i16", "i16", "cudaCreateChannelDesc<short4>()"),
        ("i32", "i32", "cudaCreateChannelDesc<int4>()"),
        ("u8", "u8", "cudaCreateChannelDesc<uchar4>()"),
        ("u16", "u16", "cudaCreateChannelDesc<ushort4>()"),
        ("u32", "u32", "cudaCreateChannelDesc<uint4>()"),
    ];
    all.iter().find(|row| row.0 == dtype).map(|row| (row.1, row.2))
}

/// The tensor with a memory that its layout fits: now and then an image, else a buffer without separators.
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
    let (Some(last), true) = (names.last(), names.len() > 1 && !random.once_in(3)) else {
        return tensor;
    };
    let mut image = tensor.clone();
    if !tensor.dtype.ends_with("x4") {
        image.case.steps.push(Step::PadMultiple { axis: last.clone(), multiple: 4 });
    }
    let layered = names.len() > 2 && random.once_in(2);
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

/// Reads and writes elements of so many bits.
#[derive(Clone, Copy)]
struct Elements {
    bits: usize,
    high_first: bool,
}

impl Elements {
    fn of(tensor: &Tensor) -> Self {
        Self { bits: usize::try_from(bits(tensor.dtype)).unwrap(), high_first: tensor.high_first }
    }

    fn bytes(self, elements: usize) -> usize {
        (elements * self.bits).div_ceil(8)
    }

    fn shift(self, at: usize) -> usize {
        let shift = at * self.bits % 8;
        if self.high_first { 8 - self.bits - shift } else { shift }
    }

    fn get(self, buffer: &[u8], at: usize) -> Vec<u8> {
        if self.bits < 8 {
            let mask = (1_u16 << self.bits) - 1;
            let byte = u16::from(buffer[at * self.bits / 8]) >> self.shift(at) & mask;
            return vec![u8::try_from(byte).unwrap()];
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].to_vec()
    }

    fn set(self, buffer: &mut [u8], at: usize, value: &[u8]) {
        if self.bits < 8 {
            let mask = u8::try_from(((1_u16 << self.bits) - 1) << self.shift(at)).unwrap();
            let byte = &mut buffer[at * self.bits / 8];
            *byte = *byte & !mask | value[0] << self.shift(at) & mask;
            return;
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].copy_from_slice(value);
    }
}

/// A tensor at one size of the symbol.
struct Sized<'a> {
    tensor: &'a Tensor,
    truth: Truth,
    elements: Elements,
    /// Whether its layout has no inverse in closed form.
    searched: bool,
}

impl Sized<'_> {
    fn padded(&self) -> bool {
        self.truth.physical_elements > self.truth.logical_elements
    }

    fn slots(&self) -> usize {
        usize::try_from(self.truth.physical_elements).unwrap()
    }

    /// The offset of an element; in an image rows have no pitch of their own.
    fn slot(&self, physical: &[i64], offset: i64) -> usize {
        let place = match self.tensor.memory {
            None => offset,
            Some(_) => {
                physical.iter().zip(&self.truth.physical_shape).fold(0, |sum, (p, e)| sum * e + p)
            }
        };
        usize::try_from(place).unwrap()
    }

    /// What its memory holds when the elements of a dense tensor were put there, over bytes of 0xAA.
    fn packed(&self, dense: &[u8], source: Elements) -> Vec<u8> {
        let mut memory = vec![0xAA; self.elements.bytes(self.slots())];
        let fill = match (self.tensor.fill, self.tensor.memory) {
            (Fill::Nothing, None) => None,
            (Fill::Zero | Fill::Nothing, _) => Some(0),
            (Fill::One, _) => Some(1),
        };
        match fill {
            Some(value) if self.padded() => {
                let mut element = vec![0; self.elements.bits.div_ceil(8)];
                element[0] = value;
                let whole = memory.len() * 8 / self.elements.bits;
                for slot in 0..whole {
                    self.elements.set(&mut memory, slot, &element);
                }
            }
            // The bits of a last byte that is not full.
            _ if !self.padded() && self.elements.bits < 8 => memory.fill(0),
            _ => {}
        }
        for (k, element) in self.truth.elements.iter().enumerate() {
            let slot = self.slot(&element.physical, element.offset);
            self.elements.set(&mut memory, slot, &source.get(dense, k));
        }
        memory
    }

    /// Bytes that no element type takes for NaN, and which differ from what memory starts with.
    fn dense(&self, random: &mut Random) -> Vec<u8> {
        let count = self.truth.elements.len();
        let mut dense = vec![0; self.elements.bytes(count)];
        for k in 0..count {
            let most = if self.elements.bits < 8 { (1 << self.elements.bits) - 1 } else { 0x3F };
            let value: Vec<u8> = (0..self.elements.bits.div_ceil(8))
                .map(|_| u8::try_from(random.between(0, most)).unwrap())
                .collect();
            self.elements.set(&mut dense, k, &value);
        }
        dense
    }

    /// Texels along a row, rows, and the images where there is an array of them.
    fn image(&self) -> Option<Extents> {
        self.tensor.memory?;
        let extent = |k: usize| usize::try_from(self.truth.physical_shape[k]).unwrap();
        let per_texel = if self.tensor.dtype.ends_with("x4") { 1 } else { 4 };
        Some(match self.truth.physical_shape.len() {
            2 => Extents { width: extent(1) / per_texel, height: extent(0), images: None },
            _ => {
                let images = Some(extent(0));
                Extents { width: extent(2) / per_texel, height: extent(1), images }
            }
        })
    }
}

/// How large an image is.
#[derive(Clone, Copy)]
struct Extents {
    width: usize,
    height: usize,
    images: Option<usize>,
}

impl Extents {
    fn is_empty(self) -> bool {
        self.width * self.height * self.images.unwrap_or(1) == 0
    }
}

/// A memory at the start of a move.
#[derive(Clone)]
enum Memory {
    Buffer { bytes: usize },
    Image { dtype: &'static str, size: Extents },
}

/// One move: its kernels with their ranges, what is read, and what has to come out.
struct Move {
    name: String,
    /// Kernels that run one after another: name, work items along each axis, and whether they take the source too.
    kernels: Vec<(String, Vec<usize>, bool)>,
    symbol: Option<i64>,
    from: (Memory, String),
    to: (Memory, String),
}

impl Memory {
    fn is_empty(&self) -> bool {
        match self {
            Self::Buffer { bytes } => *bytes == 0,
            Self::Image { size, .. } => size.is_empty(),
        }
    }
}

impl Move {
    /// Whether OpenCL has no memory for it: none of its objects is empty.
    fn is_empty(&self) -> bool {
        self.from.0.is_empty() || self.to.0.is_empty()
    }
}

/// What is moved at one size, with the files of what is read and expected written to `folder`.
fn moves(folder: &Path, manifest: &Manifest, checked: &Checked, number: usize) -> Vec<Move> {
    let symbol = manifest.tensors[0].case.symbol.map(|_| manifest.sizes[number]);
    let sized: Vec<Sized<'_>> = manifest
        .tensors
        .iter()
        .zip(&checked.manifests[0].tensors)
        .map(|(tensor, found)| Sized {
            tensor,
            truth: truth(&symbol.map_or(tensor.case.clone(), |size| tensor.case.at(size))).unwrap(),
            elements: Elements::of(tensor),
            searched: found.layout.inverse.is_none(),
        })
        .collect();
    let file = |name: String, bytes: &[u8]| {
        std::fs::write(folder.join(&name), bytes).unwrap();
        name
    };
    let mut random = Random::new(77);
    let mut all = Vec::new();
    let mut sources = Vec::new();
    for tensor in &sized {
        let name = &tensor.tensor.name;
        let dense = tensor.dense(&mut random);
        let logical = file(format!("{name}.{number}.logical"), &dense);
        let packed = tensor.packed(&dense, tensor.elements);
        let physical = file(format!("{name}.{number}.physical"), &packed);
        let dense_memory = Memory::Buffer { bytes: dense.len() };
        all.push(Move {
            name: format!("{name}_pack"),
            kernels: into_layout(tensor, &format!("{name}_fill"), &format!("{name}_pack")),
            symbol,
            from: (dense_memory.clone(), logical.clone()),
            to: (home(tensor), physical.clone()),
        });
        let items =
            if tensor.elements.bits < 8 { dense.len() } else { tensor.truth.elements.len() };
        all.push(Move {
            name: format!("{name}_unpack"),
            kernels: vec![(format!("{name}_unpack"), vec![items], true)],
            symbol,
            from: (home(tensor), physical.clone()),
            to: (dense_memory, logical),
        });
        sources.push((dense, physical));
    }
    for (a, b) in &manifest.converts {
        let (from, to) = (&sized[*a], &sized[*b]);
        let name = format!("{}_to_{}", from.tensor.name, to.tensor.name);
        let (dense, physical) = &sources[*a];
        let expected = file(format!("{name}.{number}"), &to.packed(dense, from.elements));
        all.push(Move {
            kernels: into_layout(to, &format!("{name}_fill"), &name),
            name,
            symbol,
            from: (home(from), physical.clone()),
            to: (home(to), expected),
        });
    }
    all
}

fn home(tensor: &Sized<'_>) -> Memory {
    match tensor.image() {
        Some(size) => Memory::Image { dtype: tensor.tensor.dtype, size },
        None => Memory::Buffer { bytes: tensor.elements.bytes(tensor.slots()) },
    }
}

/// The kernels that write a layout, with the work items that each needs.
fn into_layout(to: &Sized<'_>, fill: &str, name: &str) -> Vec<(String, Vec<usize>, bool)> {
    let slots = to.slots();
    let one = |items: usize| vec![(name.to_owned(), vec![items], true)];
    if let Some(Extents { width, height, images }) = to.image() {
        let range = [Some(width), Some(height), images].into_iter().flatten().collect();
        return vec![(name.to_owned(), range, true)];
    }
    match (to.searched, to.elements.bits < 8) {
        (true, true) => one(1),
        (true, false) => {
            let fills = to.padded() && to.tensor.fill != Fill::Nothing;
            let before = fills.then(|| (fill.to_owned(), vec![slots], false));
            before.into_iter().chain(one(to.truth.elements.len())).collect()
        }
        (false, true) => one(to.elements.bytes(slots)),
        (false, false) => one(slots),
    }
}

/// The job that runs the moves on OpenCL. Ranges are rounded up to whole groups.
fn job(moves: &[Move], seed: usize) -> String {
    let mut text = String::new();
    if !seed.is_multiple_of(8) {
        text.push_str("options -cl-opt-disable\n");
    }
    text.push_str("program opencl/m.cl\nguard 64\n");
    for a_move in moves.iter().filter(|a_move| !a_move.is_empty()) {
        let memory = |name: &str, memory: &Memory, content: String| match memory {
            Memory::Buffer { bytes } => format!("buffer {name} {bytes} {content}"),
            Memory::Image { dtype, size: Extents { width, height, images } } => {
                let channels = channels(dtype).unwrap().0;
                let images = images.unwrap_or(0);
                format!("image {name} {channels} {width} {height} {images} {content}")
            }
        };
        let (from, to) = (&a_move.from, &a_move.to);
        writeln!(text, "{}", memory("from", &from.0, format!("file {}", from.1))).unwrap();
        writeln!(text, "{}", memory("to", &to.0, "fill 170".to_owned())).unwrap();
        for (kernel, range, takes_source) in &a_move.kernels {
            let group: &[usize] = match range.len() {
                1 => &[16],
                2 => &[4, 4],
                _ => &[4, 4, 1],
            };
            let global = range.iter().zip(group).map(|(n, g)| (n.div_ceil(*g) * g).to_string());
            let global = global.collect::<Vec<_>>().join(" ");
            let local = group.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
            let symbol = a_move.symbol.map_or(String::new(), |size| format!("i32 {size} "));
            let source = if *takes_source { "mem from " } else { "" };
            writeln!(text, "run {kernel} {global} local {local} args {symbol}{source}mem to")
                .unwrap();
        }
        writeln!(text, "compare to {}\nfree from\nfree to", to.1).unwrap();
    }
    text
}

/// The driver that runs the moves with CUDA.
fn driver(moves: &[Move]) -> String {
    let mut text = "#include \"m.cuh\"\n#include \"driver.h\"\n\nint main(void) {\n".to_owned();
    for a_move in moves {
        // CUDA has no array without texels.
        let no_array =
            |memory: &Memory| matches!(memory, Memory::Image { .. }) && memory.is_empty();
        if no_array(&a_move.from.0) || no_array(&a_move.to.0) {
            continue;
        }
        let memory = |name: &str, memory: &Memory, content: &str| match memory {
            Memory::Buffer { bytes } => format!("const Buffer {name}(\"{content}\", {bytes});"),
            Memory::Image { dtype, size: Extents { width, height, images } } => {
                let channels = channels(dtype).unwrap().1;
                let images = images.unwrap_or(0);
                format!(
                    "const Image {name}(\"{content}\", {channels}, {width}, {height}, {images});"
                )
            }
        };
        let argument = |name: &str, memory: &Memory, part: &str| match memory {
            Memory::Buffer { .. } => name.to_owned(),
            Memory::Image { .. } => format!("{name}.{part}"),
        };
        let Move { name, from, to, symbol, .. } = a_move;
        let symbol = symbol.map_or(String::new(), |size| format!("{size}, "));
        let (source, target) =
            (argument("from", &from.0, "texture"), argument("to", &to.0, "surface"));
        writeln!(
            text,
            "    {{\n        {}\n        {}\n        done({name}({symbol}{source}, {target}, nullptr), \"{name}\");\n        to.expect(\"{name}\", \"{}\");\n    }}",
            memory("from", &from.0, &from.1),
            memory("to", &to.0, ""),
            to.1
        )
        .unwrap();
    }
    text.push_str("    return 0;\n}\n");
    text
}

/// The launch ranges that the host's header states, where they are known.
fn ranges_agree(header: &str, moves: &[Move]) {
    for (kernel, range, _) in moves.iter().flat_map(|a_move| &a_move.kernels) {
        for (axis, items) in range.iter().enumerate() {
            let name = format!("{}_GLOBAL_SIZE_{axis}", kernel.to_uppercase());
            let line = header.lines().find(|line| line.split(' ').nth(1) == Some(&name));
            let stated = line.map(|line| line.rsplit(' ').next().unwrap().to_owned());
            let function = format!("{kernel}_global_size_{axis}(");
            match stated {
                Some(stated) => assert_eq!(stated, items.to_string(), "{name}"),
                None => assert!(header.contains(&function), "neither {name} nor {function}"),
            }
        }
    }
}

fn run(seed: usize, manifest: &Manifest) {
    let text = manifest.text();
    let (checked, outputs) = built(&text, &config()).unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random_gpu_{seed}"));
    for inside in ["opencl", "cuda"] {
        std::fs::create_dir_all(folder.join(inside)).unwrap();
    }
    std::fs::write(folder.join("m.kdl"), &text).unwrap();
    for (name, text) in &outputs {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let told =
        |said: String| -> ! { panic!("seed {seed} in {}:\n{said}\n{text}", folder.display()) };
    let all: Vec<Move> = (0..manifest.sizes.len())
        .flat_map(|number| moves(&folder, manifest, &checked, number))
        .collect();
    ranges_agree(&outputs["opencl/m.h"], &all);
    std::fs::write(folder.join("m.job"), job(&all, seed)).unwrap();
    for platform in gpu::platforms() {
        // The compiler of PoCL takes a while for each kernel.
        if platform == Platform::Oclgrind || full() || seed.is_multiple_of(3) {
            gpu::run_cl(platform, &folder, &["m.job"]).unwrap_or_else(|said| told(said));
        }
    }
    std::fs::copy(folder.join("cuda/m.cuh"), folder.join("m.cuh")).unwrap();
    std::fs::copy(folder.join("cuda/m.cu"), folder.join("m.cu")).unwrap();
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gpu/driver.h");
    std::fs::copy(header, folder.join("driver.h")).unwrap();
    std::fs::write(folder.join("main.cpp"), driver(&all)).unwrap();
    let compilers = gpu::cuda_compilers();
    if let Some(compiler) = compilers.get(seed % compilers.len().max(1)) {
        let program = gpu::compile_for_cpu(compiler, &folder, &["m.cu", "main.cpp"], "cpu");
        let program = program.unwrap_or_else(|said| told(said));
        gpu::run_program(&program, &[]).unwrap_or_else(|said| told(said));
    }
    let Some(nvcc) = gpu::nvcc() else { return };
    if seed.is_multiple_of(if full() { 25 } else { 6 }) {
        gpu::compile_with_nvcc(&nvcc, &folder, "m.cu", gpu::ARCHS)
            .unwrap_or_else(|said| told(said));
    }
    if gpu::gpu() {
        let program = gpu::compile_for_gpu(&nvcc, &folder, &["m.cu", "main.cpp"], "gpu");
        let program = program.unwrap_or_else(|said| told(said));
        gpu::run_program(&program, &[]).unwrap_or_else(|said| told(said));
    }
}

/// Runs the manifests of these seeds and tells what failed, the shortest first.
fn campaign(seeds: impl Iterator<Item = usize>) {
    let tensors = if full() { 10 } else { 7 };
    // Those that images hold as often as all the others.
    let images = dtypes().into_iter().filter(|dtype| channels(dtype).is_some());
    let types: Vec<&str> = dtypes().into_iter().chain(images.cycle().take(32)).collect();
    let (mut count, mut failures) = (0, Vec::new());
    for seed in seeds {
        count += 1;
        let ran = catch_unwind(|| {
            let mut random = Random::new(u64::try_from(seed).unwrap() + 5_000_000);
            run(seed, &manifest(&mut random, tensors, &config(), &types, suited));
        });
        if let Err(panic) = ran {
            let told = panic.downcast_ref::<String>().cloned();
            failures.push(told.unwrap_or_else(|| format!("seed {seed}")));
        }
    }
    failures.sort_by_key(String::len);
    let shown = failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {count} failed:\n{shown}", failures.len());
}

/// How many manifests there are: two tests share them, so that two run at a time.
fn manifests() -> usize {
    if full() { 100 } else { 8 }
}

#[test]
fn random_manifests_give_opencl_and_cuda_that_agree_with_the_oracle() {
    campaign((0..manifests()).step_by(2));
}

#[test]
fn more_random_manifests_give_opencl_and_cuda_that_agree_with_the_oracle() {
    campaign((1..manifests()).step_by(2));
}
