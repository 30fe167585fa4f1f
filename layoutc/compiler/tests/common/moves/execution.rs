//! Execution of moves: OpenCL jobs, CUDA programs and their launch ranges.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::Move;
use super::subject::{Extents, Memory};
use crate::common::gpu::{self, Platform};

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
/// `…_BUFFER_ALIGNMENT`, host memory too: the aligned kernel at that offset, and the `_unaligned` kernel, if there is
/// one, at those of 1, 2, 4 and 8 bytes that are multiples of the element size.
fn homes(a_move: &Move, header: &str) -> Vec<(String, String)> {
    let kernel = &a_move.kernel.0;
    let mut homes = vec![("none".to_owned(), kernel.clone())];
    let upper = kernel.to_uppercase();
    if let Some(alignment) = constant(header, &format!("{upper}_BUFFER_ALIGNMENT")) {
        homes.push((alignment.to_string(), kernel.clone()));
        if constant(header, &format!("{upper}_UNALIGNED_WORK_DIM")).is_none() {
            return homes;
        }
        let offsets = [1, 2, 4, 8].into_iter().filter(|off| off % a_move.element_bytes == 0);
        homes.extend(offsets.map(|off| (off.to_string(), format!("{kernel}_unaligned"))));
    }
    homes
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().concat()
}

/// C++ program that runs the moves with CUDA. A launcher of a kernel that needs aligned buffers must refuse others.
fn driver(moves: &[Move], outputs: &Outputs<'_>, stem: &str) -> String {
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
        let wide = outputs.cu.contains(&format!(" {name}_wide_kernel("));
        let alignment = format!("{}_BUFFER_ALIGNMENT", a_move.kernel.0.to_uppercase());
        let alignment =
            constant(outputs.header, &alignment).filter(|_| !wide && !a_move.is_empty());
        if alignment.is_some_and(|bytes| bytes > a_move.element_bytes) {
            let (from, target_memory) = (
                memory("from", &from.0, &from.1, a_move.element_bytes),
                memory("to", &to.0, "", 0),
            );
            writeln!(
                text,
                "    {{\n        {from}\n        {target_memory}\n        if ({name}({symbols}{source}, {target}, nullptr) != cudaErrorInvalidValue) {{\n            return 1;\n        }}\n    }}",
            )
            .unwrap();
        }
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
    let write = |name: &str, text: &str| layoutc_testing::files::write(folder.join(name), text);
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
    write("driver.h", include_str!("../../gpu/driver.h"));
    write("main.cpp", &driver(moves, outputs, effort.stem));
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
