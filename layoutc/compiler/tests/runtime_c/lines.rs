//! Lines of the runtime that its test programs run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use layoutc_testing::files::{self, files_below};
use layoutc_testing::is_full;
use layoutc_testing::process::{self, needed_program};

use super::{PROGRAMS, SMALL_CACHES, emulates_avx512, harness, vector};
use crate::common::cc::empty_folder;

/// Lines of the reports of gcov in a folder as `(report, number, text)`, each with true if the program ran it. Lines
/// without code are left out.
fn reported_lines(folder: &Path) -> Vec<((String, String, String), bool)> {
    let mut all = Vec::new();
    let is_report = |path: &PathBuf| path.extension().is_some_and(|end| end == "gcov");
    for report in files_below(folder).into_iter().filter(is_report) {
        let name = report.file_name().unwrap().to_string_lossy().into_owned();
        for line in files::read(&report).lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(count), Some(line), Some(text)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let (count, line) = (count.trim(), line.trim());
            if count != "-" && line != "0" {
                let is_run = !count.starts_with(['#', '=']);
                all.push(((name.clone(), line.to_owned(), text.to_owned()), is_run));
            }
        }
    }
    all
}

/// Vectors of 64 bytes are emulated, so that the result does not depend on the processor.
#[test]
fn tests_run_every_line_of_the_runtime() {
    if !is_full() || !emulates_avx512() || needed_program("gcov").is_none() {
        return;
    }
    let root = harness("runtime_lines");
    let emulated = ["-mavx2", "-mf16c", "-Wno-psabi", "-include", "avx512.h", vector("64")];
    let streams = "-DLAYOUTC_STREAM=1";
    let modes: [(&str, Vec<&str>); 5] = [
        ("primitives", [&emulated[..], &SMALL_CACHES, &[streams]].concat()),
        ("primitives", [&[vector("32")][..], &SMALL_CACHES, &["-DLAYOUTC_STREAM=0"]].concat()),
        ("primitives", [&[vector("16")][..], &SMALL_CACHES, &[streams]].concat()),
        ("casts", emulated.to_vec()),
        ("casts", vec![vector("32")]),
    ];
    let without_vectors = PROGRAMS.map(|program| (program, vec![vector("0")]));
    let mut lines = BTreeMap::new();
    for (k, (program, flags)) in modes.into_iter().chain(without_vectors).enumerate() {
        let source = format!("{program}.c");
        let reports = empty_folder(&format!("runtime_lines/{k}"));
        let own = reports.to_str().unwrap();
        let object = format!("{own}/{program}.o");
        let output_of = |command: &mut Command| {
            process::output(command.current_dir(&root)).unwrap_or_else(|error| panic!("{error}"))
        };
        let compile = ["-O0", "--coverage", "-w", "-DROUNDS=400", "-c", &source, "-o", &object];
        output_of(Command::new("gcc").args(flags).args(compile));
        let executable = format!("{own}/{program}");
        output_of(Command::new("gcc").args(["--coverage", "-o", &executable, &object, "-lm"]));
        output_of(&mut Command::new(&executable));
        output_of(Command::new("gcov").args(["-r", "-o", own, &object]));
        for file in root.read_dir().unwrap().map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|end| end == "gcov") {
                std::fs::rename(&file, reports.join(file.file_name().unwrap())).unwrap();
            }
        }
        for (line, is_run) in reported_lines(&reports) {
            *lines.entry(line).or_insert(false) |= is_run;
        }
    }
    let own = ["primitives.c.gcov", "casts.c.gcov", "cast_test.inc.gcov", "avx512.h.gcov"];
    lines.retain(|(file, ..), _| !own.contains(&file.as_str()));
    assert!(lines.len() > 800, "{} lines", lines.len());
    let missed: Vec<_> = lines.iter().filter(|(_, is_run)| !**is_run).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
