//! Compilation of generated C with the system's C compiler, and runs of the compiled programs.

use std::io::{self, BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use layoutc_compiler::GeneratedFile;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use tempfile::TempDir;

use crate::command_error::{CommandError, os_error_text};
use crate::interrupt;

/// Compiled C program in a temporary folder, which is removed on drop.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    folder: TempDir,
}

impl CompiledProgram {
    /// Writes `outputs` to a temporary folder, and compiles the C sources among them. `flags` are compiler flags,
    /// separated by spaces. `compiler` is a command with optional flags; `None` is `$CC`, or else `cc`.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if `compiler` is empty. [`CommandError::Machine`] if a file cannot be written, or the
    /// compiler cannot be started or fails. [`CommandError::Interrupted`] if an interrupt arrived meanwhile.
    pub(crate) fn new(
        outputs: &[GeneratedFile],
        compiler: Option<&str>,
        flags: &str,
    ) -> Result<Self, CommandError> {
        let own = || std::env::var("CC").ok().filter(|cc| !cc.is_empty());
        let compiler = compiler.map(str::to_owned).or_else(own).unwrap_or_else(|| "cc".to_owned());
        let (program, first) = program_and_flags(&compiler);
        if program.is_empty() {
            return Err(CommandError::Usage("`--cc` is empty".to_owned()));
        }
        let folder = tempfile::Builder::new().prefix("layoutc-").tempdir();
        let folder = folder.map_err(|error| {
            CommandError::io("create a folder in", &std::env::temp_dir(), &error)
        })?;
        for output in outputs {
            let path = folder.path().join(&output.path);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            written
                .and_then(|()| std::fs::write(&path, &output.text))
                .map_err(|error| CommandError::io("write", &path, &error))?;
        }
        let built = Self { folder };
        let flags: Vec<&str> = first.split_whitespace().chain(flags.split_whitespace()).collect();
        built.compile(outputs, program, &flags)?;
        Ok(built)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn compile(
        &self,
        outputs: &[GeneratedFile],
        compiler: &str,
        flags: &[&str],
    ) -> Result<(), CommandError> {
        let is_source = |output: &&GeneratedFile| {
            let path = Path::new(&output.path);
            path.extension().is_some_and(|extension| extension == "c")
        };
        let sources: Vec<&str> =
            outputs.iter().filter(is_source).map(|output| output.path.as_str()).collect();
        let mut command = Command::new(compiler);
        let paths = sources.iter().map(|source| self.folder.path().join(source));
        command.args(flags).arg("-o").arg(self.path()).args(paths).arg("-lm");
        let made = command.stdin(Stdio::null()).output();
        let made = made.map_err(|error| no_compiler(compiler, &error))?;
        interrupt::check()?;
        if made.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&made.stderr).into_owned();
        let message = format!("`{compiler}` failed to compile {}", sources.join(" and "));
        let mut fault = Diagnostic::without_span(Code::OutputIo, message);
        fault.notes.extend(stderr.lines().take(LINES).map(str::to_owned));
        Err(CommandError::Machine(Box::new(fault)))
    }
}

/// Splits a compiler command such as `ccache gcc` at the first space into the program and the text of its arguments.
/// The text is empty if there are no arguments. A command that is the path of an existing file is not split.
fn program_and_flags(compiler: &str) -> (&str, &str) {
    let compiler = compiler.trim();
    if Path::new(compiler).is_file() {
        return (compiler, "");
    }
    compiler.split_once(char::is_whitespace).unwrap_or((compiler, ""))
}

/// Maximum number of lines of the compiler's messages that an error reports.
const LINES: usize = 20;

fn no_compiler(compiler: &str, error: &io::Error) -> CommandError {
    let message = format!("cannot run the C compiler `{compiler}`: {}", os_error_text(error));
    let help = "choose another compiler with `--cc gcc` or the environment variable CC";
    CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message).help(help)))
}

/// Runs the program at the path `program`, and calls `line` with each line of its standard output, without the line
/// end. If `line` returns [`ControlFlow::Break`], the program is killed, and the run is a success.
///
/// # Errors
/// [`CommandError::Machine`] if the program cannot be started, its output cannot be read, or it does not exit with code
/// 0. [`CommandError::Interrupted`] if an interrupt has arrived when the program ends.
pub(crate) fn run(
    program: &Path,
    arguments: &[String],
    line: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<(), CommandError> {
    let failed = |error: &io::Error| CommandError::io("run", program, error);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    if let Some(printed) = child.stdout.take() {
        for text in BufReader::new(printed).lines() {
            if line(&text.map_err(|error| failed(&error))?).is_break() {
                // Fails if it has exited.
                drop(child.kill());
                return child.wait().map(drop).map_err(|error| failed(&error));
            }
        }
    }
    let status = child.wait().map_err(|error| failed(&error))?;
    interrupt::check()?;
    if status.success() { Ok(()) } else { Err(failed(&io::Error::other(status.to_string()))) }
}
