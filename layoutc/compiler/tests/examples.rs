//! GPU examples: every pack, unpack and conversion on OpenCL and CUDA, all bytes compared with slots evaluated from the
//! maps. The RFC's texture has more than 16384 rows; the one with half the batch runs.
#![allow(clippy::disallowed_methods, reason = "reads the examples and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::cc::folder;
use crate::common::element_slots;
use crate::common::gpu;
use crate::common::moves;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::config::{self, TargetCuda, TargetOpenCl};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{Compiler, LoadError, SourceLoader};
use moves::{Convert, Effort, Outputs, Subject};

struct Folder(PathBuf);

impl SourceLoader for Folder {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::NotFound)
    }
}

/// Value of every symbol.
const SIZE: i64 = 5;

fn run(example: &str, stem: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let text = std::fs::read_to_string(root.join("layoutc.toml")).unwrap();
    let mut config = config::parse(&Arc::from("layoutc.toml"), &text).unwrap();
    config.target.opencl.get_or_insert_with(TargetOpenCl::default);
    config.target.cuda.get_or_insert_with(TargetCuda::default);
    let prefix = config.project.prefix.clone();
    let sources = Folder(root);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&[format!("layouts/{stem}.kdl")]);
    assert!(checked.is_valid(), "{:#?}", checked.diagnostics);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let output = |path: String| outputs.iter().find(|o| o.path == path).unwrap().text.as_str();

    let manifest: Manifest = checked.manifests[0].for_target("opencl").into_owned();
    let mut position = Vec::new();
    let mut subjects: Vec<Subject> = Vec::new();
    for tensor in &manifest.tensors {
        let symbols: Vec<i64> = tensor.layout.symbols().iter().map(|_| SIZE).collect();
        let found = element_slots::subject(tensor, &prefix, &symbols);
        position.push(found.as_ref().map(|_| subjects.len()));
        subjects.extend(found);
    }
    let picks: Vec<(usize, usize, String, Vec<usize>)> = manifest
        .converts
        .iter()
        .map(|convert| {
            let [from, to] = crate::common::positions(convert);
            let [source, target] = [from, to].map(|k| &manifest.tensors[k]);
            let name = format!("{prefix}{}_to_{}", source.name, target.name);
            let symbols = [source, target].map(|tensor| tensor.layout.symbols().len());
            let symbols = vec![SIZE; symbols[0].max(symbols[1])];
            let picks = element_slots::source_positions(convert, source, target, &symbols);
            (position[from].unwrap(), position[to].unwrap(), name, picks)
        })
        .collect();
    let elements: Vec<_> = picks.iter().map(|(.., picks)| |k: usize| picks[k]).collect();
    let converts: Vec<Convert<'_>> = picks
        .iter()
        .zip(&elements)
        .map(|((from, to, name, _), element)| Convert {
            from: *from,
            to: *to,
            name: name.clone(),
            element,
        })
        .collect();
    let folder = folder(&format!("example_{example}"));
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
        .unwrap_or_else(|message| panic!("{example} in {}:\n{message}", folder.display()));
}

#[test]
fn texture_example_runs() {
    run("texture", "texture");
}

#[test]
fn cuda_tiles_example_runs() {
    run("cuda-tiles", "tiles");
}

#[test]
fn three_targets_example_runs() {
    run("one-project-three-targets", "net");
}

#[test]
fn convolution_example_runs() {
    run("convolution", "conv");
}
