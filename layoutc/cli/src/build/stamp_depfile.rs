//! Stamp file and depfile that a successful build writes for the build tool that called layoutc.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;

use crate::command_error::CommandError;
use crate::interrupt;
use crate::paths::{relative, relative_to_cwd};

use super::BuildArgs;
use super::depfile_rule::{is_rule, rule};
use super::graph::DependencyGraph;
use super::is_dry_run;

#[derive(Debug)]
pub(super) struct StampFiles {
    start: SystemTime,
    /// Pair of two paths of the stamp file: the absolute path, and the path as given on the command line, by which make
    /// knows it. `None` without `--stamp`.
    stamp: Option<(PathBuf, PathBuf)>,
    /// Pair of the absolute path of the depfile, and its text at the start of the build; the text is `None` if the file
    /// does not exist. The pair is `None` without `--depfile`.
    depfile: Option<(PathBuf, Option<String>)>,
}

/// Maximum size in bytes of an existing stamp or depfile. A larger file counts as not written by layoutc.
const LARGEST: u64 = 64 << 20;

impl StampFiles {
    /// Reads the files of `--stamp` and `--depfile` that exist at the start of a build. In a dry run, both options are
    /// ignored.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if both options name the same file. [`CommandError::Input`] if a file at one of the
    /// paths was not written by layoutc, for example a stamp that is not empty, or a depfile that is no rule of
    /// layoutc. [`CommandError::Machine`] if a path cannot be resolved or a file cannot be read.
    pub(super) fn read_existing(args: &BuildArgs) -> Result<Self, CommandError> {
        let start = SystemTime::now();
        if is_dry_run(args) {
            return Ok(Self { start, stamp: None, depfile: None });
        }
        let absolute = |path: &PathBuf| {
            std::path::absolute(path).map_err(|e| CommandError::io("find", path, &e))
        };
        let stamp = args.stamp.as_ref().map(absolute).transpose()?;
        let depfile = args.depfile.as_ref().map(absolute).transpose()?;
        if stamp.is_some() && stamp == depfile {
            let line = "`--stamp` and `--depfile` name the same file";
            return Err(CommandError::Usage(line.to_owned()));
        }
        if let Some(stamp) = &stamp {
            standing(stamp, "a stamp", str::is_empty)?;
        }
        let text =
            depfile.as_ref().map(|file| standing(file, "a dependency rule of layoutc", is_rule));
        let text = text.transpose()?.flatten();
        let stamp = stamp.zip(args.stamp.clone());
        Ok(Self { start, stamp, depfile: depfile.map(|file| (file, text)) })
    }

    /// Text of the depfile; `None` without `--depfile`. The stamp, or else each output of `graph`, depends on all
    /// inputs of `graph`. Paths are relative to the working directory, except that of the stamp, which is the one on
    /// the command line.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if the depfile or the stamp has the path of an output of `graph`, or if a path cannot be
    /// expressed in a depfile. [`CommandError::Machine`] if the working directory is unknown.
    pub(super) fn rule(
        &self,
        graph: impl FnOnce() -> DependencyGraph,
    ) -> Result<Option<String>, CommandError> {
        let named = [
            ("--depfile", self.depfile.as_ref().map(|(file, _)| file)),
            ("--stamp", self.stamp.as_ref().map(|(file, _)| file)),
        ];
        if named.iter().all(|(_, file)| file.is_none()) {
            return Ok(None);
        }
        let here =
            std::env::current_dir().map_err(|e| CommandError::io("find", Path::new("."), &e))?;
        let graph = graph();
        for (option, file) in named {
            let Some(file) = file else { continue };
            if graph.outputs().any(|output| output == file) {
                let file = relative_to_cwd(file);
                let line =
                    format!("`{option}`: `{file}` is an output of this build; choose another file");
                return Err(CommandError::Usage(line));
            }
        }
        if self.depfile.is_none() {
            return Ok(None);
        }
        let shown = |path: &Path| relative(path, &here);
        let targets: Vec<PathBuf> = match &self.stamp {
            Some((_, given)) => vec![given.clone()],
            None => graph.outputs().map(shown).collect(),
        };
        let inputs: Vec<PathBuf> = graph.inputs().map(shown).collect();
        let targets = targets.iter().map(PathBuf::as_path);
        rule(targets, inputs.iter().map(PathBuf::as_path)).map(Some)
    }

    /// Writes the depfile with the text `rule` if that text changed, then touches the stamp.
    ///
    /// The stamp gets the start time of the build as its modification time, so that inputs edited meanwhile are newer.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a file cannot be written, or the handler of interrupts cannot be installed.
    pub(super) fn write_after_build(&self, rule: Option<&str>) -> Result<(), CommandError> {
        if self.depfile.is_none() && self.stamp.is_none() {
            return Ok(());
        }
        interrupt::install_once()?;
        let _writing = interrupt::WriteGuard::begin();
        if let (Some((file, old)), Some(rule)) = (&self.depfile, rule)
            && old.as_deref() != Some(rule)
        {
            replace(file, rule).map_err(|error| CommandError::io("write", file, &error))?;
        }
        match &self.stamp {
            Some((stamp, _)) => {
                touch(stamp, self.start).map_err(|error| CommandError::io("write", stamp, &error))
            }
            None => Ok(()),
        }
    }
}

/// Text of `file`; `None` if the file does not exist. `is_ours` returns true for a text that layoutc may have written.
/// `kind` names the expected kind of file in the message of the error, such as `a stamp`.
///
/// # Errors
/// [`CommandError::Input`] if `file` is not a regular file, is larger than [`LARGEST`], is not UTF-8, or `is_ours`
/// returns false for its text. [`CommandError::Machine`] if it cannot be read.
fn standing(
    file: &Path,
    kind: &str,
    is_ours: impl Fn(&str) -> bool,
) -> Result<Option<String>, CommandError> {
    let foreign = || {
        let message = format!("`{}` is not {kind}, and is not overwritten", relative_to_cwd(file));
        let help = "move it, or choose another file";
        Err(CommandError::Input(vec![
            Diagnostic::without_span(Code::OutputForeign, message).help(help),
        ]))
    };
    match fs::symlink_metadata(file) {
        Ok(metadata) if !metadata.is_file() || metadata.len() > LARGEST => return foreign(),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CommandError::io("read", file, &error)),
    }
    match fs::read_to_string(file) {
        Ok(text) if is_ours(&text) => Ok(Some(text)),
        Ok(_) => foreign(),
        Err(error) if error.kind() == ErrorKind::InvalidData => foreign(),
        Err(error) => Err(CommandError::io("read", file, &error)),
    }
}

/// Replaces the content of `file` by `text`: writes a temporary file in the same folder, then renames it. Creates the
/// folder if it is missing.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = make_parent(file)?;
    let temporary = folder.join(format!(".layoutc-{}-rule.tmp", process::id()));
    let written = File::create(&temporary)
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

/// Creates the file `file` and its folder if they are missing, and sets the modification time of the file to `time`.
fn touch(file: &Path, time: SystemTime) -> io::Result<()> {
    make_parent(file)?;
    let file = File::options().create(true).append(true).open(file)?;
    file.set_modified(time)
}

fn make_parent(file: &Path) -> io::Result<&Path> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder)?;
    Ok(folder)
}
