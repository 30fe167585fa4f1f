//! Helper: cross-compiles C for other processors and runs it under QEMU.
#![allow(clippy::disallowed_methods, reason = "runs compilers")]
#![allow(clippy::unwrap_used, unreachable_pub, reason = "helpers of tests")]

use std::path::Path;
use std::process::Command;

use super::cc::STRICT;
use super::compile_cache;
use layoutc_testing::campaign::is_available;
use layoutc_testing::process::{is_installed, output};

/// A processor: its cross-compiler and its emulator.
#[derive(Debug, Clone, Copy)]
pub struct Processor {
    pub compiler: &'static str,
    pub emulator: &'static str,
}

const PROCESSORS: [Processor; 3] = [
    Processor { compiler: "s390x-linux-gnu-gcc", emulator: "qemu-s390x" },
    Processor { compiler: "arm-linux-gnueabihf-gcc", emulator: "qemu-arm" },
    Processor { compiler: "aarch64-linux-gnu-gcc", emulator: "qemu-aarch64" },
];

pub fn processors() -> Vec<Processor> {
    let is_there = |processor: &Processor| {
        let found = is_installed(processor.compiler) && is_installed(processor.emulator);
        is_available(found, processor.compiler)
    };
    PROCESSORS.into_iter().filter(is_there).collect()
}

/// Compiles sources of a folder and runs the program.
pub fn run(processor: Processor, folder: &Path, sources: &[&str], flags: &[&str]) {
    let Processor { compiler, emulator } = processor;
    let name: String = flags.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = format!("{}_{emulator}_{name}", sources[0].replace(['.', '/'], "_"));
    let program = folder.join(&name);
    let mut command = Command::new(compiler);
    command
        .arg("-std=c99")
        .args(STRICT)
        .arg("-static")
        .args(flags)
        .arg("-o")
        .arg(&program)
        .args(sources)
        .arg("-lm");
    compile_cache::compile(&mut command, folder, Some(&name), &[])
        .and_then(|()| output(Command::new(emulator).arg(&program).current_dir(folder)))
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Calls `work` for each processor, on a thread of its own.
pub fn on_each(work: impl Fn(Processor) + Sync) {
    std::thread::scope(|scope| {
        for processor in processors() {
            let work = &work;
            scope.spawn(move || work(processor));
        }
    });
}
