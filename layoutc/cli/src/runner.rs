//! Generated C carried out on this machine: written to a folder of its own, compiled by the machine's C compiler, run.

use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use layoutc_compiler::Output;
use layoutc_compiler::codes::Code;
use tempfile::TempDir;

use crate::fault::{Fault, placeless, plain};
use crate::interrupt;

/// A folder of generated sources, removed with this.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    folder: TempDir,
    compiler: &'a str,
    flags: Vec<&'a str>,
}

impl<'a> Runner<'a> {
    /// Writes the outputs.
    pub(crate) fn new(
        outputs: &[Output],
        compiler: &'a str,
        flags: Vec<&'a str>,
    ) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("layoutc-").tempdir();
        let folder =
            folder.map_err(|error| Fault::io("make a folder in", &std::env::temp_dir(), &error))?;
        for output in outputs {
            let path = folder.path().join(&output.path);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            written
                .and_then(|()| std::fs::write(&path, &output.text))
                .map_err(|error| Fault::io("write", &path, &error))?;
        }
        Ok(Self { folder, compiler, flags })
    }

    /// Compiles sources, paths below the folder, to a program.
    pub(crate) fn compile(&self, sources: &[&str]) -> Result<PathBuf, Fault> {
        let program = self.folder.path().join("program");
        let mut command = Command::new(self.compiler);
        let paths = sources.iter().map(|source| self.folder.path().join(source));
        command.args(&self.flags).arg("-o").arg(&program).args(paths).arg("-lm");
        let made = command.stdin(Stdio::null()).output();
        let made = made.map_err(|error| no_compiler(self.compiler, &error))?;
        interrupt::check()?;
        if made.status.success() {
            return Ok(program);
        }
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        let message = format!("`{}` does not compile {}", self.compiler, sources.join(" and "));
        let mut fault = placeless(Code::OutputIo, message);
        fault.notes.extend(said.lines().take(LINES).map(str::to_owned));
        Err(Fault::Machine(Box::new(fault)))
    }
}

/// The most lines of a compiler that are passed on.
const LINES: usize = 20;

fn no_compiler(compiler: &str, error: &io::Error) -> Fault {
    let message = format!("cannot run the C compiler `{compiler}`: {}", plain(error));
    let help = "name one that there is: `--cc gcc`, or CC in the environment";
    Fault::Machine(Box::new(placeless(Code::OutputIo, message).help(help)))
}

/// Runs a program; `line` sees each line of what it prints as it comes, and ends it where it says so.
pub(crate) fn run(
    program: &Path,
    arguments: &[String],
    line: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let failed = |error: &io::Error| Fault::io("run", program, error);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    if let Some(printed) = child.stdout.take() {
        for text in BufReader::new(printed).lines() {
            if line(&text.map_err(|error| failed(&error))?).is_break() {
                // It may have ended by itself.
                drop(child.kill());
                return child.wait().map(drop).map_err(|error| failed(&error));
            }
        }
    }
    let status = child.wait().map_err(|error| failed(&error))?;
    interrupt::check()?;
    if status.success() { Ok(()) } else { Err(failed(&io::Error::other(status.to_string()))) }
}
