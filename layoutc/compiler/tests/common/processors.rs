//! Helper: cross-compiles C for other processors and runs it under QEMU.
#![allow(clippy::disallowed_methods, reason = "runs compilers")]
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, reason = "helpers of tests")]

use std::path::Path;
use std::process::Command;

use super::made;

const STRICT: &[&str] = &[
    "-std=c99",
    "-pedantic-errors",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Werror",
    "-static",
];

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
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let is_there = |processor: &Processor| {
        let found = there(processor.compiler) && there(processor.emulator);
        let ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(found || !ci, "missing: {processor:?}");
        if !found {
            println!("left out: {processor:?}");
        }
        found
    };
    PROCESSORS.into_iter().filter(is_there).collect()
}

/// Compiles sources of a folder and runs the program.
pub fn run(processor: Processor, folder: &Path, sources: &[&str], flags: &[&str]) {
    let Processor { compiler, emulator } = processor;
    let name: String = flags.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = format!("{}_{emulator}_{name}", sources[0].replace('.', "_"));
    let program = folder.join(&name);
    let mut command = Command::new(compiler);
    command.args(STRICT).args(flags).arg("-o").arg(&program).args(sources).arg("-lm");
    made::compile(&mut command, folder, Some(&name), &[]).unwrap_or_else(|said| panic!("{said}"));
    let ran = Command::new(emulator).arg(&program).current_dir(folder).output().unwrap();
    let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{emulator} {flags:?} in {}:\n{out}{said}", folder.display());
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
