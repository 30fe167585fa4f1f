//! Library of manifests: how `use "std/…"` is resolved, and the transforms against formulas and tables of the documents
//! that they name, for matrices of one tile and of several, with leading axes and with partial tiles.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod amd;
mod cute;
mod nvidia;
mod shared_memory;

use std::collections::BTreeSet;

use crate::common::check_text::check_valid;
use layoutc_compiler::config::Config;
use layoutc_compiler::env::library::LIBRARY;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

/// Row and column in a tile of element `i` of a thread, as a document gives them.
type Formula = fn(thread: i128, i: i128) -> (i128, i128);

/// Fragment of a matrix: the elements of each thread, by the formula of a document.
struct Fragment {
    /// Transform, with its parameters.
    layout: &'static str,
    /// Rows and columns of a tile.
    tile: (i128, i128),
    threads: i128,
    /// Elements of a thread.
    elements: i128,
    formula: Formula,
}

/// Name of the transform in `mma_a rows=8`.
fn transform(layout: &str) -> &str {
    layout.split(' ').next().unwrap()
}

/// The tensor of a manifest that uses all of the library and declares the tensor `t`.
fn tensor(declared: &str) -> Tensor {
    let uses: Vec<String> = LIBRARY.iter().map(|one| format!("use \"{}\"\n", one.path)).collect();
    let uses = uses.concat();
    check_valid(&format!("{uses}{declared}\n")).manifests.remove(0).tensors.remove(0)
}

/// Storage index of an element of `t`.
fn storage(t: &Tensor, logical: &[i128]) -> Vec<i128> {
    t.layout.locate(logical, &[]).unwrap().storage
}

/// Holds a fragment against its formula in `down` × `across` tiles, after a leading axis, and with tiles that are cut
/// after half of their rows and columns.
fn check_fragment(fragment: &Fragment, axis: &str, down: i128, across: i128) {
    let Fragment { layout, tile: (rows, columns), threads, elements, formula } = *fragment;
    assert_eq!(threads * elements, rows * columns, "{layout}");
    for cut in [0, 1] {
        let (m, n) = (down * rows - cut * (rows / 2), across * columns - cut * (columns / 2));
        let t = tensor(&format!(
            "tensor t dtype=u8 {{ shape {{ batch 2; r {m}; c {n} }}; \
             layout {{ apply {layout}; padding allow }}; memory none }}"
        ));
        let axes = t.layout.storage().iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>();
        let tiles = ["batch", "tile_row", "tile_column", axis];
        assert!(axes.starts_with(&tiles), "{layout}: {axes:?}");
        let slots = t.layout.physical_elements().as_const().unwrap();
        assert_eq!(slots, 2 * down * across * rows * columns, "{layout}");
        let mut seen = 0;
        for (batch, i, j) in triples(2, down, across) {
            for (thread, element) in (0..threads).flat_map(|t| (0..elements).map(move |e| (t, e))) {
                let (row, column) = formula(thread, element);
                assert!((0..rows).contains(&row) && (0..columns).contains(&column), "{layout}");
                let (r, c) = (i * rows + row, j * columns + column);
                if r < m && c < n {
                    let found = storage(&t, &[batch, r, c]);
                    assert_eq!(found, [batch, i, j, thread, element], "{layout}: [{r}, {c}]");
                    seen += 1;
                }
            }
        }
        // Every element belongs to a thread, so that the formula is no smaller than the matrix.
        assert_eq!(seen, 2 * m * n, "{layout}");
    }
}

fn triples(a: i128, b: i128, c: i128) -> impl Iterator<Item = (i128, i128, i128)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

fn check_fragments(fragments: &[Fragment], axis: &str) {
    for fragment in fragments {
        for (down, across) in [(1, 1), (3, 2)] {
            check_fragment(fragment, axis, down, across);
        }
    }
}

#[test]
fn every_transform_of_the_library_is_held_against_a_document() {
    let declared: BTreeSet<&str> = LIBRARY
        .iter()
        .flat_map(|one| one.text.lines())
        .filter_map(|line| line.strip_prefix("transform ").map(transform))
        .collect();
    let fragments = nvidia::all().chain(amd::all()).map(|fragment| fragment.layout);
    let held: BTreeSet<&str> =
        fragments.chain(shared_memory::LAYOUTS.iter().copied()).map(transform).collect();
    assert_eq!(held, declared);
}

fn check_files(files: &[(&str, &str)]) -> CheckedProject {
    let sources: MemorySources = files.iter().copied().collect();
    Compiler::new(&sources, &Config::default()).check(&[files[0].0.to_owned()])
}

/// Tensor with the layout `mine`.
const MINE: &str = "tensor t dtype=u8 { shape { a 4; b 4 }; layout mine }\n";

#[test]
fn the_library_is_named_from_every_folder() {
    let text = "tensor t dtype=f16 { shape { a 16; b 16 }; layout mma_m16n8k16_a; memory none }\n";
    let uses = format!("use \"std/nvidia.kdl\"\n{text}");
    for path in ["main.kdl", "a/b/main.kdl", "../main.kdl", "std/main.kdl"] {
        let checked = check_files(&[(path, &uses)]);
        assert_eq!(checked.diagnostics, [], "{path}");
        assert_eq!(checked.units[0].uses, ["<std>/nvidia.kdl"], "{path}");
    }
    // Two manifests of one build name the same manifest, which is read once.
    let other = "use \"std/nvidia.kdl\"\nuse \"std/amd.kdl\"\n";
    let all = format!("use \"a/other.kdl\"\n{uses}");
    let checked = check_files(&[("main.kdl", &all), ("a/other.kdl", other)]);
    assert_eq!(checked.diagnostics, []);
    assert_eq!(checked.units[0].uses, ["<std>/amd.kdl", "<std>/nvidia.kdl", "a/other.kdl"]);
}

#[test]
fn a_folder_std_is_named_by_a_path_with_a_dot() {
    let mine = "transform mine { order b a }\n";
    for used in ["./std/nvidia.kdl", "./std/mine.kdl", "a/../std/x.kdl"] {
        let file = used.rsplit('/').next().unwrap();
        let (file, text) = (format!("std/{file}"), format!("use \"{used}\"\n{MINE}"));
        let checked = check_files(&[("main.kdl", &text), (&file, mine)]);
        assert_eq!(checked.diagnostics, [], "{used}");
        assert_eq!(checked.units[0].uses, [file]);
    }
}

#[test]
fn transforms_of_a_project_may_have_other_names_than_those_of_the_library() {
    let text = format!("use \"std/nvidia.kdl\"\ntransform mine {{ order b a }}\n{MINE}");
    assert_eq!(check_files(&[("main.kdl", &text)]).diagnostics, []);
    let taken = text.replace("mine", "mma_m16n8k16_a");
    let found = check_files(&[("main.kdl", &taken)]).diagnostics;
    let codes: Vec<&str> = found.iter().map(|fault| fault.code.id()).collect();
    assert_eq!(codes, ["name::duplicate"]);
    let files: Vec<&str> = found[0].labels.iter().map(|label| label.place.file.as_ref()).collect();
    assert_eq!(files, ["main.kdl", "<std>/nvidia.kdl"]);
}
