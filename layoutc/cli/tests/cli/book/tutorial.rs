//! Runs the tutorial: its chapters in order in one folder, and its CUDA program on the CPU.

use std::fs;

use super::page::links;
use super::story::{Place, go_on, shell};
use super::{below_root, root, settle};
use layoutc_testing::process::needed_program;

/// Number of chapters.
const CHAPTERS: usize = 8;

#[test]
fn the_tutorial_is_followed_from_an_empty_folder() {
    let folder = root().join("book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("a summary");
    let mut chapters = links(&summary);
    chapters.retain(|link| link.starts_with("tutorial/"));
    assert_eq!(chapters.len(), CHAPTERS, "{chapters:?}");

    let mut place = Place::empty();
    let mut faults = Vec::new();
    for chapter in chapters {
        let path = folder.join(chapter);
        let page = fs::read_to_string(&path).expect("a chapter");
        faults.extend(settle(&path, &page, go_on(&mut place, &below_root(&path), &page)));
    }
    assert!(faults.is_empty(), "{}\n(BLESS=1 writes what is printed)", faults.join("\n"));
    runs_on_a_stand_in_for_a_gpu(&place);
}

/// Runs the CUDA program against a stand-in for the CUDA runtime, with rewritten launches.
fn runs_on_a_stand_in_for_a_gpu(place: &Place) {
    let (Some(_), Some(_)) = (needed_program("g++"), needed_program("awk")) else { return };
    let shim = root().join("layoutc/compiler/tests/gpu/cuda_shim");
    let shim = shim.display();
    let script = format!(
        "set -e
        awk -f '{shim}/launches.awk' generated/cuda/image.cu > image_cuda.cpp
        g++ -std=c++17 -O1 -I '{shim}' -I generated/cuda -x c++ image_cuda.cpp blur.cu -o blur_gpu
        ./blur_gpu"
    );
    let ran = shell(&place.sandbox, "camera", &script);
    let page = fs::read_to_string(root().join("book/src/tutorial/computing.md")).expect("a page");
    assert!(ran.code == 0 && page.contains(&ran.text), "{}: {}", ran.code, ran.text);
}
