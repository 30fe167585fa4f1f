//! The C compilers at hand.
#![allow(clippy::disallowed_methods, reason = "runs compilers")]

use std::path::{Path, PathBuf};
use std::process::Command;

use layoutc_compiler::emit::{CSettings, Output, Templates, emit};
use layoutc_compiler::model::Manifest;

const STRICT: &[&str] =
    &["-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror"];

const ADDRESS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

pub fn compilers() -> Vec<(&'static str, Vec<&'static str>)> {
    let all = [
        ("gcc", [&["-std=c99", "-O1"], STRICT, ADDRESS].concat()),
        ("gcc", [&["-std=c11", "-O2"], STRICT].concat()),
        ("clang", [&["-std=c99", "-O2"], STRICT].concat()),
        ("tcc", vec!["-Wall", "-Werror"]),
        ("g++", [&["-std=c++17", "-O1", "-x", "c++"], STRICT].concat()),
        ("clang++", [&["-std=c++17", "-O1", "-x", "c++"], STRICT].concat()),
    ];
    let there = |name: &str| Command::new(name).arg("-v").output().is_ok();
    all.into_iter().filter(|(name, _)| there(name)).collect()
}

pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub fn write(folder: &Path, outputs: &[Output]) {
    for output in outputs {
        std::fs::write(folder.join(&output.path), &output.text).unwrap();
    }
}

/// Compiles and runs the test program of a manifest with every compiler; gives what the last run printed.
pub fn run(name: &str, manifest: &Manifest) -> String {
    let outputs = emit(manifest, &CSettings::default(), name, &Templates::default()).unwrap();
    let folder = folder(name);
    write(&folder, &outputs);
    let mut printed = String::new();
    for (compiler, flags) in compilers() {
        let program = folder.join(format!("{name}_{}", compiler.replace('+', "p")));
        let compiled = Command::new(compiler)
            .args(&flags)
            .arg("-o")
            .arg(&program)
            .args([format!("{name}_test.c"), format!("{name}.c")])
            .current_dir(&folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{compiler} {flags:?} in {}:\n{said}", folder.display());
        let ran = Command::new(&program).output().unwrap();
        printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{compiler} in {}:\n{printed}{said}", folder.display());
    }
    printed
}
