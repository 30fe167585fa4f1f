//! Helper: runs pack, unpack and convert kernels on OpenCL and CUDA and compares every byte with the expected memory,
//! computed from a table of slots.
#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests, writes files"
)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::gpu::{self, Platform};
use layoutc_testing::Random;

/// Channel type of an image of elements of a type: its name in the OpenCL runner, and in CUDA.
pub fn channels(dtype: &str) -> Option<(&'static str, &'static str)> {
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

/// Reads and writes elements of `bits` bits.
#[derive(Clone, Copy)]
pub struct Elements {
    pub bits: usize,
    pub high_first: bool,
}

impl Elements {
    fn bytes(self, elements: usize) -> usize {
        (elements * self.bits).div_ceil(8)
    }

    /// Number of work-items that write packed elements: each writes the fewest that fill whole bytes.
    fn items(self, elements: usize) -> usize {
        let several =
            [1, 2, 4, 8].into_iter().find(|several| (several * self.bits).is_multiple_of(8));
        elements.div_ceil(several.unwrap())
    }

    /// Position of a bit of the stream within its byte.
    fn shift(self, bit: usize) -> usize {
        if self.high_first { 7 - bit % 8 } else { bit % 8 }
    }

    /// Bits of an element in stream order.
    fn order(self) -> Vec<usize> {
        if self.high_first { (0..self.bits).rev().collect() } else { (0..self.bits).collect() }
    }

    /// Fills the buffer with copies of an element, to the last bit.
    fn fill(self, buffer: &mut [u8], value: &[u8]) {
        if self.bits >= 8 {
            buffer
                .chunks_exact_mut(self.bits / 8)
                .for_each(|element| element.copy_from_slice(value));
            return;
        }
        let order = self.order();
        for bit in 0..buffer.len() * 8 {
            let one = value[0] >> order[bit % self.bits] & 1;
            let byte = &mut buffer[bit / 8];
            *byte = *byte & !(1 << self.shift(bit)) | one << self.shift(bit);
        }
    }

    fn get(self, buffer: &[u8], at: usize) -> Vec<u8> {
        if self.bits < 8 {
            let one = |(k, bit): (usize, usize)| {
                let k = at * self.bits + k;
                (buffer[k / 8] >> self.shift(k) & 1) << bit
            };
            return vec![self.order().into_iter().enumerate().map(one).sum()];
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].to_vec()
    }

    fn set(self, buffer: &mut [u8], at: usize, value: &[u8]) {
        if self.bits < 8 {
            for (k, bit) in self.order().into_iter().enumerate() {
                let k = at * self.bits + k;
                let (byte, one) = (&mut buffer[k / 8], value[0] >> bit & 1);
                *byte = *byte & !(1 << self.shift(k)) | one << self.shift(k);
            }
            return;
        }
        buffer[at * self.bits / 8..(at + 1) * self.bits / 8].copy_from_slice(value);
    }
}

/// Size of an image in texels; `images` is the number of layers of an image array.
#[derive(Clone, Copy)]
pub struct Extents {
    pub width: usize,
    pub height: usize,
    pub images: Option<usize>,
}

impl Extents {
    fn is_empty(self) -> bool {
        self.width * self.height * self.images.unwrap_or(1) == 0
    }
}

/// A tensor at one size of its symbols, described without the emitter.
pub struct Subject {
    pub name: String,
    pub dtype: String,
    pub elements: Elements,
    /// Bits of the fill value of one element; `None` if padding is not written.
    pub fill: Option<Vec<u8>>,
    /// Image that stores the tensor, if any.
    pub image: Option<Extents>,
    /// Slot of each element, by row-major position.
    pub slot_of: Vec<usize>,
    /// Row-major positions of indices outside the domain.
    pub left_out: Vec<usize>,
    pub slots: usize,
    /// True if the layout has padding at some size.
    pub padded: bool,
    /// True if the layout has no inverse in closed form.
    pub searched: bool,
    /// Values of the symbols.
    pub symbols: Vec<i64>,
}

impl Subject {
    /// Expected memory after pack of `dense`, over bytes of 0xAA.
    pub fn packed(&self, dense: &[u8], source: Elements) -> Vec<u8> {
        let mut memory = vec![0xAA; self.elements.bytes(self.slots)];
        // Whole texels are written.
        let zero = self.image.is_some().then(|| vec![0; self.elements.bits.div_ceil(8)]);
        match self.fill.clone().or(zero) {
            Some(value) if self.padded => self.elements.fill(&mut memory, &value),
            // Unused bits of the last byte are 0.
            _ if !self.padded && self.elements.bits < 8 => memory.fill(0),
            _ => {}
        }
        let indices = self.slot_of.iter().enumerate();
        for (k, slot) in indices.filter(|(k, _)| !self.left_out.contains(k)) {
            self.elements.set(&mut memory, *slot, &source.get(dense, k));
        }
        memory
    }

    /// Element at an index outside the domain: the fill value, or the initial bits of the memory.
    fn outside(&self) -> Vec<u8> {
        let blank = vec![0xAA; self.elements.bits];
        self.fill.clone().unwrap_or_else(|| self.elements.get(&blank, 0))
    }

    /// Expected dense tensor after unpack, over bytes of 0xAA.
    fn unpacked(&self, dense: &[u8]) -> Vec<u8> {
        let is_kept = !self.left_out.is_empty() && self.fill.is_none();
        let mut unpacked = if is_kept { vec![0xAA; dense.len()] } else { dense.to_vec() };
        for k in 0..self.slot_of.len() {
            match (self.left_out.contains(&k), &self.fill) {
                (true, Some(fill)) => self.elements.set(&mut unpacked, k, fill),
                (true, None) => {}
                (false, _) => self.elements.set(&mut unpacked, k, &self.elements.get(dense, k)),
            }
        }
        unpacked
    }

    /// Random dense tensor of bytes up to 0x3F: they differ from 0xAA, and no element type reads them as NaN.
    pub fn dense(&self, seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed);
        let mut dense = vec![0; self.elements.bytes(self.slot_of.len())];
        let bound: u8 = if self.elements.bits < 8 { 1 << self.elements.bits } else { 0x40 };
        for k in 0..self.slot_of.len() {
            let bytes = self.elements.bits.div_ceil(8);
            let value: Vec<u8> = (0..bytes).map(|_| random.below(bound)).collect();
            self.elements.set(&mut dense, k, &value);
        }
        dense
    }

    fn home(&self) -> Memory {
        match self.image {
            Some(size) => Memory::Image { dtype: self.dtype.clone(), size },
            None => Memory::Buffer { bytes: self.elements.bytes(self.slots) },
        }
    }
}

/// A buffer or image that a move reads or writes.
#[derive(Clone)]
pub enum Memory {
    Buffer { bytes: usize },
    Image { dtype: String, size: Extents },
}

/// One move: its kernels with their global sizes, the file that is read, and the file with the expected result.
pub struct Move {
    pub name: String,
    /// Kernel, and its global size per axis if work-items are independent.
    kernel: (String, Vec<usize>),
    /// Kernel that fills the padding first, if any, and the number of slots.
    fill: Option<(String, usize)>,
    /// Size of an element in bytes.
    element_bytes: usize,
    symbols: Vec<i64>,
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

    /// True if the memory is a buffer, or an image no larger than the largest of the platform.
    fn fits(&self, [width, height, layers]: [usize; 3]) -> bool {
        match self {
            Self::Buffer { .. } => true,
            Self::Image { size, .. } => {
                let images = size.images.unwrap_or(0);
                size.width <= width && size.height <= height && images <= layers
            }
        }
    }
}

impl Move {
    /// True if the source or the destination is empty: OpenCL has no empty memory objects.
    fn is_empty(&self) -> bool {
        self.from.0.is_empty() || self.to.0.is_empty()
    }

    /// Number of work-items of the largest kernel.
    fn items(&self) -> usize {
        let items: usize = self.kernel.1.iter().product();
        items.max(self.fill.as_ref().map_or(0, |(_, slots)| *slots))
    }
}

/// Moves of a manifest: pack and unpack of every tensor, and each conversion of `converts`. Writes the input and the
/// expected result of each to `folder`, with `number` in the file names.
pub fn moves(
    folder: &Path,
    subjects: &[Subject],
    converts: &[Convert],
    number: usize,
) -> Vec<Move> {
    let file = |name: String, bytes: &[u8]| {
        std::fs::write(folder.join(&name), bytes).unwrap();
        name
    };
    let mut all = Vec::new();
    let mut sources = Vec::new();
    for (k, tensor) in (1..).zip(subjects) {
        let name = &tensor.name;
        let dense = tensor.dense(k);
        let logical = file(format!("{name}.{number}.logical"), &dense);
        let unpacked = file(format!("{name}.{number}.unpacked"), &tensor.unpacked(&dense));
        let packed = tensor.packed(&dense, tensor.elements);
        let physical = file(format!("{name}.{number}.physical"), &packed);
        let dense_memory = Memory::Buffer { bytes: dense.len() };
        all.push(Move {
            name: format!("{name}_pack"),
            kernel: (format!("{name}_pack"), into_layout(tensor)),
            fill: Some((format!("{name}_fill"), tensor.slots)),
            element_bytes: tensor.elements.bits.div_ceil(8),
            symbols: tensor.symbols.clone(),
            from: (dense_memory.clone(), logical.clone()),
            to: (tensor.home(), physical.clone()),
        });
        let elements = tensor.slot_of.len();
        let items =
            if tensor.elements.bits < 8 { tensor.elements.items(elements) } else { elements };
        all.push(Move {
            name: format!("{name}_unpack"),
            kernel: (format!("{name}_unpack"), vec![items]),
            fill: None,
            element_bytes: tensor.elements.bits.div_ceil(8),
            symbols: tensor.symbols.clone(),
            from: (tensor.home(), physical.clone()),
            to: (dense_memory, if tensor.left_out.is_empty() { logical } else { unpacked }),
        });
        sources.push((dense, physical));
    }
    for Convert { from: a, to: b, element, name } in converts {
        let (from, to) = (&subjects[*a], &subjects[*b]);
        let (dense, physical) = &sources[*a];
        let mut ordered = vec![0; dense.len()];
        for k in 0..to.slot_of.len() {
            from.elements.set(&mut ordered, k, &from.elements.get(dense, element(k)));
        }
        let mut expected = to.packed(&ordered, from.elements);
        let indices = 0..to.slot_of.len();
        for k in
            indices.filter(|k| from.left_out.contains(&element(*k)) && !to.left_out.contains(k))
        {
            to.elements.set(&mut expected, to.slot_of[k], &to.outside());
        }
        let expected = file(format!("{name}.{number}"), &expected);
        all.push(Move {
            kernel: (name.clone(), into_layout(to)),
            fill: Some((format!("{name}_fill"), to.slots)),
            element_bytes: to.elements.bits.div_ceil(8),
            name: name.clone(),
            symbols: if from.symbols.is_empty() {
                to.symbols.clone()
            } else {
                from.symbols.clone()
            },
            from: (from.home(), physical.clone()),
            to: (to.home(), expected),
        });
    }
    all
}

/// A conversion between the subjects at two positions.
pub struct Convert<'a> {
    pub from: usize,
    pub to: usize,
    pub name: String,
    /// Row-major position in the source of the destination's element at a position.
    pub element: &'a dyn Fn(usize) -> usize,
}

/// Global size of the kernel that writes a layout, per axis.
fn into_layout(to: &Subject) -> Vec<usize> {
    let slots = to.slots;
    if let Some(Extents { width, height, images }) = to.image {
        return [Some(width), Some(height), images].into_iter().flatten().collect();
    }
    match (to.searched, to.elements.bits < 8) {
        (true, true) => vec![1],
        (true, false) => vec![to.slot_of.len()],
        (false, true) => vec![to.elements.items(slots)],
        (false, false) => vec![slots],
    }
}

/// Value of a macro of the host's header.
pub fn constant(header: &str, name: &str) -> Option<usize> {
    let line = header.lines().find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("#define") && words.next() == Some(name)
    })?;
    line.rsplit(' ').next().unwrap().parse().ok()
}

/// Global and local size of a launch. Uses the local size of the header if there is one, with the header's global size;
/// if that depends on symbols, any multiple of the local size is valid, and `seed` chooses one.
fn launch(header: &str, kernel: &str, range: &[usize], seed: usize) -> (Vec<usize>, Vec<usize>) {
    let upper = kernel.to_uppercase();
    if let Some(group) = constant(header, &format!("{upper}_LOCAL_SIZE_0")) {
        let stated = constant(header, &format!("{upper}_GLOBAL_SIZE_0"));
        let groups = match stated {
            Some(stated) => stated,
            None => [1, 2, 3, 5][seed % 4] * group,
        };
        return (vec![groups], vec![group]);
    }
    let group: &[usize] = match range.len() {
        1 => &[16],
        2 => &[4, 4],
        _ => &[4, 4, 1],
    };
    let global = range.iter().zip(group).map(|(n, g)| n.div_ceil(*g) * g);
    (global.collect(), group.to_vec())
}

/// Job file that runs the moves on OpenCL. Global sizes are rounded up to multiples of the local size.
fn job<'a>(
    moves: impl Iterator<Item = &'a Move>,
    outputs: &Outputs<'_>,
    effort: &Effort<'_>,
) -> String {
    let index = if effort.wide { "i64" } else { "i32" };
    let mut text = String::new();
    if !effort.optimized {
        text.push_str("options -cl-opt-disable\n");
    }
    text.push_str("program m.cl\nguard 64\n");
    for a_move in moves {
        let memory = |name: &str, memory: &Memory, content: String| match memory {
            Memory::Buffer { bytes } => format!("buffer {name} {bytes} {content}"),
            Memory::Image { dtype, size: Extents { width, height, images } } => {
                let channels = channels(dtype).unwrap().0;
                let images = images.unwrap_or(0);
                let image = format!("image {name} {channels} {width} {height} {images} {content}");
                // A guard around an image of the maximum size exceeds the device's limits.
                let greatest = *width.max(height) > 16_000;
                if greatest { format!("guard 0\n{image}\nguard 64") } else { image }
            }
        };
        let (from, to) = (&a_move.from, &a_move.to);
        for (home, last) in homes(a_move, outputs.header) {
            writeln!(text, "host {home}").unwrap();
            writeln!(text, "{}", memory("from", &from.0, format!("file {}", from.1))).unwrap();
            writeln!(text, "{}", memory("to", &to.0, "fill 170".to_owned())).unwrap();
            let fill = a_move.fill.iter().filter(|(fill, _)| outputs.has_kernel(fill));
            let fill = fill.map(|(fill, slots)| (fill, vec![*slots], ""));
            for (kernel, range, source) in
                fill.chain([(&last, a_move.kernel.1.clone(), "mem from ")])
            {
                let seed = effort.compiler + kernel.len() + range.iter().sum::<usize>();
                let (global, local) = launch(outputs.header, kernel, &range, seed);
                let [global, local] = [global, local]
                    .map(|sizes| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" "));
                let symbols = joined(a_move.symbols.iter().map(|size| format!("{index} {size} ")));
                writeln!(text, "run {kernel} {global} local {local} args {symbols}{source}mem to")
                    .unwrap();
            }
            writeln!(text, "compare to {}\nfree from\nfree to", to.1).unwrap();
        }
    }
    text
}

/// Offsets of a move's buffers in host memory (`none`: allocated by the platform), each with the kernel for it. With a
/// `…_BUFFER_ALIGNMENT`, host memory too: the aligned kernel at that offset, and the `_unaligned` kernel at those of
/// 1, 2, 4 and 8 bytes that are multiples of the element size.
fn homes(a_move: &Move, header: &str) -> Vec<(String, String)> {
    let kernel = &a_move.kernel.0;
    let mut homes = vec![("none".to_owned(), kernel.clone())];
    let upper = kernel.to_uppercase();
    if let Some(alignment) = constant(header, &format!("{upper}_BUFFER_ALIGNMENT")) {
        homes.push((alignment.to_string(), kernel.clone()));
        let offsets = [1, 2, 4, 8].into_iter().filter(|off| off % a_move.element_bytes == 0);
        homes.extend(offsets.map(|off| (off.to_string(), format!("{kernel}_unaligned"))));
    }
    homes
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

/// C++ program that runs the moves with CUDA.
fn driver(moves: &[Move], cu: &str, stem: &str) -> String {
    let mut text = format!("#include \"{stem}.cuh\"\n#include \"driver.h\"\n\nint main(void) {{\n");
    for a_move in moves {
        // CUDA has no empty arrays.
        let no_array =
            |memory: &Memory| matches!(memory, Memory::Image { .. }) && memory.is_empty();
        if no_array(&a_move.from.0) || no_array(&a_move.to.0) {
            continue;
        }
        let memory = |name: &str, memory: &Memory, content: &str, off: usize| match memory {
            Memory::Buffer { bytes } => {
                format!("const Buffer {name}(\"{content}\", {bytes}, {off});")
            }
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
        let Move { name, from, to, symbols, .. } = a_move;
        let symbols = joined(symbols.iter().map(|size| format!("{size}, ")));
        let (source, target) =
            (argument("from", &from.0, "texture"), argument("to", &to.0, "surface"));
        // Aligned buffers, and for moves with a wide kernel also buffers offset by one element.
        let wide = cu.contains(&format!(" {name}_wide_kernel("));
        for off in [0, a_move.element_bytes].into_iter().take(1 + usize::from(wide)) {
            let (from, target_memory) =
                (memory("from", &from.0, &from.1, off), memory("to", &to.0, "", 0));
            let expected = &to.1;
            writeln!(
                text,
                "    {{\n        {from}\n        {target_memory}\n        done({name}({symbols}{source}, {target}, nullptr), \"{name}\");\n        to.expect(\"{name}\", \"{expected}\");\n    }}",
            )
            .unwrap();
        }
    }
    text.push_str("    return 0;\n}\n");
    text
}

/// Asserts that the global sizes in the host's header match those of the moves.
fn ranges_agree(header: &str, moves: &[Move]) {
    for (kernel, range) in moves.iter().map(|a_move| &a_move.kernel) {
        let upper = kernel.to_uppercase();
        let group = constant(header, &format!("{upper}_LOCAL_SIZE_0"));
        for (axis, items) in range.iter().enumerate() {
            let name = format!("{upper}_GLOBAL_SIZE_{axis}");
            let function = format!("{kernel}_global_size_{axis}(");
            match (constant(header, &name), group) {
                (Some(0), Some(_)) => assert_eq!(*items, 0, "{name}"),
                (Some(stated), Some(group)) => {
                    assert!(
                        stated % group == 0 && stated <= (1 << 20) * group,
                        "{name} is {stated}"
                    );
                }
                (Some(stated), None) => assert_eq!(stated, *items, "{name}"),
                (None, _) => {
                    assert!(header.contains(&function), "neither {name} nor {function}");
                }
            }
        }
    }
}

/// Runs the moves on the OpenCL platforms, and as CUDA on the CPU with one compiler and on a GPU if there is one.
#[expect(clippy::print_stdout, reason = "says what a device is too small for")]
pub fn run(
    folder: &Path,
    outputs: &Outputs<'_>,
    moves: &[Move],
    effort: &Effort<'_>,
) -> Result<(), String> {
    let Outputs { cl, header, cuh, cu } = outputs;
    ranges_agree(header, moves);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("m.cl", cl);
    for platform in effort.platforms {
        // Oclgrind is an interpreter and slow: large moves only run on the other platform.
        let most = if *platform == Platform::Oclgrind { 100_000 } else { usize::MAX };
        let largest = gpu::largest_image(*platform);
        let fits = |a_move: &&Move| a_move.from.0.fits(largest) && a_move.to.0.fits(largest);
        let (moves, beyond): (Vec<&Move>, Vec<&Move>) = moves
            .iter()
            .filter(|a_move| !a_move.is_empty() && a_move.items() <= most)
            .partition(fits);
        for Move { name, .. } in beyond {
            println!("{platform:?}: images of at most {largest:?}, too small for `{name}`");
        }
        let name = format!("{platform:?}.job");
        write(&name, &job(moves.into_iter(), outputs, effort));
        gpu::run_cl(*platform, folder, &[&name])?;
    }
    write(&format!("{}.cuh", effort.stem), cuh);
    write("m.cu", cu);
    write("driver.h", include_str!("../gpu/driver.h"));
    write("main.cpp", &driver(moves, cu, effort.stem));
    let compilers = gpu::cuda_compilers();
    if let Some(compiler) = compilers.get(effort.compiler % compilers.len().max(1)) {
        let program = gpu::compile_for_cpu(compiler, folder, &["m.cu", "main.cpp"], "cpu")?;
        gpu::run_program(&program, &[])?;
    }
    let Some(nvcc) = gpu::nvcc() else { return Ok(()) };
    if effort.nvcc {
        gpu::compile_with_nvcc(&nvcc, folder, "m.cu", gpu::ARCHS)?;
    }
    if gpu::gpu() {
        let program: PathBuf = gpu::compile_for_gpu(&nvcc, folder, &["m.cu", "main.cpp"], "gpu")?;
        gpu::run_program(&program, &[])?;
    }
    Ok(())
}

/// Generated files of one manifest.
pub struct Outputs<'a> {
    pub cl: &'a str,
    pub header: &'a str,
    pub cuh: &'a str,
    pub cu: &'a str,
}

impl Outputs<'_> {
    fn has_kernel(&self, name: &str) -> bool {
        self.cl.contains(&format!("void {name}("))
    }
}

/// Platforms, compilers and options that the moves of a manifest run with.
pub struct Effort<'a> {
    pub platforms: &'a [Platform],
    /// True if the OpenCL compiler optimizes.
    pub optimized: bool,
    /// Number that selects the C++ compiler of the CPU program.
    pub compiler: usize,
    /// True if nvcc compiles for every arch.
    pub nvcc: bool,
    /// File stem of the manifest, which the source includes.
    pub stem: &'a str,
    /// True if indices have 64 bits.
    pub wide: bool,
}
