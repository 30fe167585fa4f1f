//! Helper: compiles generated C with the installed C and C++ compilers and runs it.
#![allow(clippy::disallowed_methods, clippy::panic, reason = "runs compilers")]

use std::path::{Path, PathBuf};
use std::process::Command;

use super::compile_cache;
use layoutc_compiler::emit::{GeneratedFile, Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_testing::process::{is_installed, output};
use layoutc_testing::{files, is_full};

/// Flags that reject what is not strictly conforming.
pub const STRICT: &[&str] =
    &["-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror"];

const ADDRESS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

/// Command, flags, and whether the compiled program is run.
pub type CCompiler = (&'static str, Vec<&'static str>, bool);

/// Installed compilers with one set of flags each; more sets under `LAYOUTC_FULL=1`.
pub fn compilers() -> Vec<CCompiler> {
    let ordinary: [CCompiler; 4] = [
        ("gcc", [&["-std=c99", "-O0"], STRICT, ADDRESS].concat(), true),
        ("clang", [&["-std=c99", "-fsyntax-only"], STRICT].concat(), false),
        ("tcc", vec!["-Wall", "-Werror"], true),
        ("g++", [&["-std=c++17", "-fsyntax-only", "-x", "c++"], STRICT].concat(), false),
    ];
    let long: [CCompiler; 6] = [
        ("gcc", [&["-std=c99", "-O0"], STRICT, ADDRESS].concat(), true),
        ("gcc", [&["-std=c17", "-O3"], STRICT].concat(), true),
        ("clang", [&["-std=c99", "-O2"], STRICT].concat(), true),
        ("tcc", vec!["-Wall", "-Werror"], true),
        ("g++", [&["-std=c++17", "-fsyntax-only", "-x", "c++"], STRICT].concat(), false),
        ("clang++", [&["-std=c++17", "-fsyntax-only", "-x", "c++"], STRICT].concat(), false),
    ];
    let all = if is_full() { long.to_vec() } else { ordinary.to_vec() };
    all.into_iter().filter(|(name, ..)| is_installed(name)).collect()
}

/// Folder of this name for the files of a test; it is kept between runs.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Like [`folder`], without the files of earlier runs.
pub fn empty_folder(name: &str) -> PathBuf {
    let path = folder(name);
    std::fs::remove_dir_all(&path).unwrap();
    folder(name)
}

pub fn write(folder: &Path, outputs: &[GeneratedFile]) {
    for output in outputs {
        files::write(folder.join(&output.path), &output.text);
    }
}

/// Compiles `program` in a folder by a command, unless it is up to date, and runs it there. Returns its output.
#[track_caller]
pub fn build_and_run(command: &mut Command, folder: &Path, program: &str) -> String {
    compile_cache::compile(command, folder, Some(program), &[])
        .and_then(|()| output(Command::new(folder.join(program)).current_dir(folder)))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Compiles and runs the test program of a manifest with every compiler. Returns the output of a run.
pub fn run(name: &str, manifest: &Manifest) -> String {
    run_with(name, manifest, &Settings::c())
}

/// Like [`run`], with the given settings.
pub fn run_with(name: &str, manifest: &Manifest, settings: &Settings) -> String {
    let outputs = emit(manifest, settings, name, &Templates::default()).unwrap();
    let folder = folder(name);
    write(&folder, &outputs);
    let sources = [format!("tests/{name}_test.c"), format!("{name}.c")];
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let folder = &folder;
    let sources = &sources;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(compilers())
            .map(|(k, compiler)| {
                scope.spawn(move || {
                    compile_and_run(folder, &format!("{name}_{k}"), sources, compiler)
                })
            })
            .collect();
        let printed = threads.into_iter().filter_map(|thread| thread.join().unwrap());
        printed.last().unwrap_or_default()
    })
}

/// Compiles sources and runs the program. Returns its output, or `None` if this compiler's programs are not run.
pub fn compile_and_run(
    folder: &Path,
    program: &str,
    sources: &[&str],
    (compiler, flags, runs): CCompiler,
) -> Option<String> {
    let mut command = Command::new(compiler);
    command.args(&flags);
    if runs {
        command.args(["-o", program]);
    }
    command.args(sources);
    if runs {
        command.arg("-lm");
        return Some(build_and_run(&mut command, folder, program));
    }
    compile_cache::compile(&mut command, folder, None, &[])
        .unwrap_or_else(|error| panic!("{error}"));
    None
}
