//! Kernels on many layouts: emitted C, compiled by every installed compiler with strict flags, and OpenCL and CUDA,
//! against C references over the logical axes.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test, which writes the program that it runs"
)]

mod bounds;
mod element_types;
mod operators;
mod packing;
mod reductions;
mod register_tiles;
mod schedules;

use crate::common;
use crate::common::check_text::check_valid;
use common::cc::folder;
use layoutc_compiler::emit::{Settings, Templates, emit};

/// Compiles the C of a manifest with a main program by every installed compiler, and runs it.
fn runs(stem: &str, manifest: &str, main: &str) {
    let checked = check_valid(manifest);
    let outputs = emit(&checked.manifests[0], &Settings::c(), stem, &Templates::default()).unwrap();
    let folder = folder(stem);
    common::cc::write(&folder, &outputs);
    let include = format!("#include \"{stem}.h\"\n#include <stdlib.h>\n");
    std::fs::write(folder.join("main.c"), include + main).unwrap();
    let source = format!("{stem}.c");
    for (k, compiler) in common::cc::compilers().into_iter().enumerate() {
        let both = ["main.c", source.as_str()];
        let sources = if compiler.2 { &both[..] } else { &both[1..2] };
        common::cc::compile_and_run(&folder, &format!("{stem}_{k}"), sources, compiler);
    }
}
