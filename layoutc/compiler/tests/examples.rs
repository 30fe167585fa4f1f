//! The examples with OpenCL or CUDA among their targets: every tensor packed and unpacked, every conversion run, all
//! bytes compared. The RFC's texture is too high for a device with 16384 rows: its half batch runs.
#![allow(clippy::disallowed_methods, reason = "reads the examples and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/moves.rs"]
mod moves;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Verdict;
use layoutc_compiler::config::{self, TargetCuda, TargetOpenCl};
use layoutc_compiler::model::{Fill, Manifest, Memory, Tensor};
use layoutc_compiler::{LoadError, Sources, check, emit, fill};
use moves::{Convert, Effort, Elements, Extents, Outputs, Subject};

struct Folder(PathBuf);

impl Sources for Folder {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::NotFound)
    }
}

/// The value that every symbol gets.
const SIZE: i64 = 5;

fn value(expr: &Expr) -> usize {
    let value = expr.evaluate(&|_| Some(i128::from(SIZE))).unwrap();
    usize::try_from(value).unwrap()
}

/// Every index of a shape, the last axis fastest.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let count = shape.iter().product();
    (0..count).map(move |mut k: usize| {
        let mut index = vec![0; shape.len()];
        for (place, extent) in index.iter_mut().zip(shape).rev() {
            (*place, k) = (k % extent, k / extent);
        }
        index
    })
}

fn shape(tensor: &Tensor) -> Vec<usize> {
    tensor.layout.logical.iter().map(|axis| value(&axis.extent)).collect()
}

fn at(expr: &Expr, index: &[usize]) -> usize {
    let found = expr.evaluate(&|var| match var {
        Var::Axis(k) => i128::try_from(index[usize::try_from(k).unwrap()]).ok(),
        _ => Some(i128::from(SIZE)),
    });
    usize::try_from(found.unwrap()).unwrap()
}

/// `None` where no kernel reaches the tensor, or no device has its image.
fn subject(tensor: &Tensor) -> Option<Subject> {
    let layout = &tensor.layout;
    let physical: Vec<usize> = layout.physical_shape.iter().map(value).collect();
    let per_texel = if tensor.dtype.lanes == 4 { 1 } else { 4 };
    let image = match (tensor.memory, physical.as_slice()) {
        (Memory::None, _) => return None,
        (Memory::Image2d, [height, _]) if *height > 16384 => return None,
        (Memory::Image2d, [height, along]) => {
            Some(Extents { width: along / per_texel, height: *height, images: None })
        }
        (Memory::Image2dArray, [images, height, along]) => {
            Some(Extents { width: along / per_texel, height: *height, images: Some(*images) })
        }
        _ => None,
    };
    let slot = |index: &[usize]| {
        let places = layout.physical_map.iter().map(|expr| at(expr, index));
        places.zip(&physical).fold(0, |sum, (place, extent)| sum * extent + place)
    };
    let bits = usize::try_from(tensor.dtype.element_bits()).unwrap();
    let lanes = usize::try_from(tensor.dtype.lanes).unwrap();
    let lane = fill::bits(tensor.dtype, tensor.fill).unwrap().to_le_bytes();
    let fill = lane[..(bits / lanes).div_ceil(8)].repeat(lanes);
    let slots = match image {
        Some(_) => physical.iter().product(),
        None => value(&layout.physical_elements),
    };
    Some(Subject {
        name: format!("PREFIX{}", tensor.name),
        dtype: tensor.dtype.to_string(),
        elements: Elements { bits, high_first: tensor.high_first },
        fill: (tensor.fill != Fill::Nothing).then_some(fill),
        image,
        slot_of: indices(&shape(tensor)).map(|index| slot(&index)).collect(),
        slots,
        padded: layout.verdict == Verdict::Padded,
        searched: layout.inverse.is_none(),
        symbols: layout.symbols.iter().map(|_| SIZE).collect(),
    })
}

/// The source's number of a destination's element.
type Pick = Box<dyn Fn(usize) -> usize>;

fn run(example: &str, stem: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let text = std::fs::read_to_string(root.join("layoutc.toml")).unwrap();
    let mut config = config::parse(&Arc::from("layoutc.toml"), &text).unwrap();
    config.target.opencl.get_or_insert_with(TargetOpenCl::default);
    config.target.cuda.get_or_insert_with(TargetCuda::default);
    let prefix = config.project.prefix.clone();
    let checked = check(&Folder(root), &[format!("layouts/{stem}.kdl")], &config);
    assert!(checked.is_good(), "{:#?}", checked.diagnostics);
    let outputs = emit(&checked, &config, &BTreeMap::new()).unwrap();
    let output = |path: String| outputs.iter().find(|o| o.path == path).unwrap().text.as_str();

    let manifest: Manifest = checked.manifests[0].for_target("opencl").into_owned();
    let mut position = Vec::new();
    let mut subjects: Vec<Subject> = Vec::new();
    for tensor in &manifest.tensors {
        let found = subject(tensor);
        position.push(found.as_ref().map(|_| subjects.len()));
        subjects.extend(found);
    }
    for subject in &mut subjects {
        subject.name = subject.name.replace("PREFIX", &prefix);
    }
    let picks: Vec<(usize, usize, String, Pick)> = manifest
        .converts
        .iter()
        .map(|convert| {
            let (from, to) = (&manifest.tensors[convert.from], &manifest.tensors[convert.to]);
            let name = format!("{prefix}{}_to_{}", from.name, to.name);
            let (axes, source) = (convert.axes.clone(), shape(from));
            let targets: Vec<Vec<usize>> = indices(&shape(to)).collect();
            let pick: Pick = Box::new(move |k| {
                axes.iter().zip(&source).fold(0, |sum, (axis, e)| sum * e + targets[k][*axis])
            });
            (position[convert.from].unwrap(), position[convert.to].unwrap(), name, pick)
        })
        .collect();
    let converts: Vec<Convert<'_>> = picks
        .iter()
        .map(|(from, to, name, element)| Convert {
            from: *from,
            to: *to,
            name: name.clone(),
            element,
        })
        .collect();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("example_{example}"));
    std::fs::create_dir_all(&folder).unwrap();
    let all = moves::moves(&folder, &subjects, &converts, 0);
    let outputs = Outputs {
        cl: output(format!("opencl/{stem}.cl")),
        header: output(format!("opencl/{stem}.h")),
        cuh: output(format!("cuda/{stem}.cuh")),
        cu: output(format!("cuda/{stem}.cu")),
    };
    let platforms = gpu::platforms();
    let effort = Effort {
        platforms: &platforms,
        optimized: true,
        compiler: 1,
        nvcc: true,
        stem,
        wide: false,
    };
    moves::run(&folder, &outputs, &all, &effort)
        .unwrap_or_else(|said| panic!("{example} in {}:\n{said}", folder.display()));
}

#[test]
fn the_textures_run() {
    run("texture", "texture");
}

#[test]
fn the_tiles_run() {
    run("cuda-tiles", "tiles");
}

#[test]
fn the_project_with_three_targets_runs() {
    run("one-project-three-targets", "net");
}
