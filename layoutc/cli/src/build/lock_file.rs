//! Lock file `layoutc.lock`: the layout ABI that other code relies on, one line per tensor, and its
//! comparison with the current layouts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::content_hash;
use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan};
use layoutc_compiler::query::abi::Abi;

use crate::command_error::CommandError;
use crate::console::Console;
use crate::output::{OutputStatus, OverwritePolicy, replace_own};
use crate::paths::relative_to_cwd;
use crate::project::Project;
use crate::project::files::{self, FileReadError};
use crate::project::read_set::ReadSet;
use crate::report::Report;

use super::SelectArgs;
use super::project_build::{self, ProjectBuild};
use super::{make, summary_rows};

pub(super) const NAME: &str = "layoutc.lock";
/// Comment lines of a lock file. They follow its first line, the seal: a hash of the text.
const HEADER: &str = "\
# The layout ABI: where the elements of each tensor are, for code that shares its memory.
# Written by `layoutc lock`; `layoutc build --locked` refuses what differs.
";

/// Lock file that was written or is up to date.
#[derive(Debug)]
pub(crate) struct LockFileUpdate {
    /// Path of the lock file, relative to the working directory.
    pub(crate) path: String,
    /// Number of tensors in the lock file.
    pub(crate) tensors: usize,
    pub(crate) status: OutputStatus,
}

/// Writes the lock file of every project of `paths`, or none if a manifest has errors. `strictness` says whether to
/// replace an existing lock file that was edited, or that layoutc did not write. Returns the report, and one entry per
/// lock file in the order of projects.
///
/// # Errors
/// [`CommandError::Usage`] if `paths` select only a part of a project. Any error of `lock`, and any that the discovery
/// or the check of the projects returns.
pub(crate) fn lock_files(
    paths: &[PathBuf],
    strictness: OverwritePolicy,
    console: &mut Console,
) -> Result<(Report, Vec<LockFileUpdate>), CommandError> {
    let select = SelectArgs { paths: paths.to_vec(), target: Vec::new(), out: None, root: None };
    project_build::plan_only(&select, console, |parts, desk| {
        if let Some(part) = parts.iter().find(|part| !part.job.project.is_whole) {
            let root = relative_to_cwd(&part.job.project.root);
            return Err(CommandError::Usage(format!(
                "a lock file covers a whole project; pass `{root}`"
            )));
        }
        project_build::check_all(parts, desk)?;
        let valid = parts.iter().filter(|_| !desk.report.has_errors());
        valid.map(|part| lock(part, strictness)).collect()
    })
}

/// Writes the lock file of the project of `part`, unless it has the expected text already.
///
/// # Errors
/// Any error of [`replace_own`].
fn lock(
    part: &ProjectBuild<'_>,
    strictness: OverwritePolicy,
) -> Result<LockFileUpdate, CommandError> {
    let ProjectBuild { job, scan, memo, made, .. } = part;
    let tensors = summary_rows::all_abi(job, scan, made, memo);
    let path = job.project.root.join(NAME);
    let status = replace_own(&path, &text(&tensors), strictness)?;
    Ok(LockFileUpdate { path: relative_to_cwd(&path), tensors: tensors.len(), status })
}

/// Compares the tensors of the projects `parts` with their lock files. Adds the differences as errors to `report`, and
/// the states of the lock files to `reads`. A missing lock file is a difference.
///
/// # Errors
/// [`CommandError::Machine`] if an existing lock file cannot be read.
pub(super) fn check_lock_files(
    parts: &[ProjectBuild<'_>],
    reads: &mut ReadSet,
    report: &mut Report,
) -> Result<(), CommandError> {
    for ProjectBuild { job, scan, memo, made, .. } in parts {
        let tensors = summary_rows::all_abi(job, scan, made, memo);
        let differences = differences(job.project, &tensors, reads)?;
        for label in differences.found.iter().flat_map(|d| &d.labels) {
            make::read_text(job, label, report);
        }
        if let Some((file, text)) = differences.file {
            report.text(file, text);
        }
        report.add(differences.found.iter().map(|d| job.project.with_shown_paths(d)));
    }
    Ok(())
}

/// Text of a lock file: the seal, the comment [`HEADER`], then one line per tensor, sorted. `tensors` are pairs of the
/// path of the manifest relative to the root of the project, and the ABI of the tensor.
fn text(tensors: &[(String, Abi)]) -> String {
    let mut lines: Vec<String> = tensors
        .iter()
        .map(|(manifest, abi)| format!("{} {} {}\n", quoted(manifest), abi.name, abi.text))
        .collect();
    lines.sort();
    content_hash::seal(NAME, &(HEADER.to_owned() + &lines.concat()))
}

/// Path of a manifest in the form in which a lock file contains it: a JSON string if the path has white space, a
/// control character, a double quote, `\` or `#`, else the path itself.
fn quoted(path: &str) -> String {
    let is_plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\\' | '#');
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        serde_json::Value::from(path).to_string()
    }
}

#[derive(Debug, PartialEq, Eq)]
struct LockEntry {
    abi: String,
    start: usize,
    end: usize,
}

/// Identity of a tensor in a lock file: a pair `(manifest, name)`. `manifest` is the path of the tensor's manifest,
/// relative to the root of the project and without the quotes of the lock file; `name` is the tensor's name.
type TensorId = (String, String);

/// Differences between the tensors of a project and its lock file.
#[derive(Debug, Default)]
struct LockDifferences {
    found: Vec<Diagnostic>,
    /// Pair of the path for display of the lock file, and its text; `None` if the file does not exist.
    file: Option<(String, Arc<str>)>,
}

/// Differences between the tensors of `project` and its lock file. `tensors` are pairs of the path of the manifest, and
/// the ABI. Tensors in manifests that were not requested are not compared. Adds the state of the lock file to `reads`.
///
/// # Errors
/// [`CommandError::Machine`] if the lock file exists and cannot be read.
fn differences(
    project: &Project,
    tensors: &[(String, Abi)],
    reads: &mut ReadSet,
) -> Result<LockDifferences, CommandError> {
    let path = project.root.join(NAME);
    let read = files::read(&path);
    let seen_there = read.as_ref().map(|text| text.known).map_err(FileReadError::reason);
    reads.files.insert(path.clone(), seen_there);
    let text = match read {
        Ok(text) => text.text,
        Err(FileReadError::Refused(layoutc_compiler::LoadError::NotFound)) => {
            return Ok(LockDifferences { found: vec![missing(&path)], file: None });
        }
        Err(error) => {
            let message = format!("cannot read `{}`: {}", relative_to_cwd(&path), error.reason());
            return Err(CommandError::Machine(Box::new(Diagnostic::without_span(
                Code::OutputIo,
                message,
            ))));
        }
    };
    let shown: Arc<str> = Arc::from(NAME);
    let (mut locked, mut found) = (BTreeMap::new(), Vec::new());
    for line in parse(&text) {
        match line {
            Ok((name, line)) => drop(locked.insert(name, line)),
            Err(span) => found.push(unreadable(&FileSpan::new(&shown, span))),
        }
    }
    for (manifest, abi) in tensors {
        let name = (manifest.clone(), abi.name.clone());
        match locked.remove(&name) {
            Some(line) if line.abi == abi.text => {}
            Some(line) => found.push(changed(abi, &line.abi)),
            None => found.push(added(abi)),
        }
    }
    let is_requested =
        |manifest: &String| project.is_whole || project.manifests.contains_key(manifest);
    for ((manifest, name), line) in
        locked.iter().filter(|((manifest, _), _)| is_requested(manifest))
    {
        found.push(removed(manifest, name, &FileSpan::new(&shown, line.start..line.end)));
    }
    Ok(LockDifferences { found, file: Some((project.shown(NAME), text)) })
}

/// Parses the lines of a lock file, except empty lines and comments. Each entry is a tensor, or, for an invalid line,
/// the byte range of the line in `text`.
fn parse(text: &str) -> Vec<Result<(TensorId, LockEntry), Range<usize>>> {
    let mut lines = Vec::new();
    let mut start = 0;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end();
        let span = start..start + line.len();
        start += whole.len();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        lines.push(parse_line(line).map_or(Err(span.clone()), |(name, abi)| {
            Ok((name, LockEntry { abi, start: span.start, end: span.end }))
        }));
    }
    lines
}

fn parse_line(line: &str) -> Option<(TensorId, String)> {
    let (manifest, rest) = if line.starts_with('"') {
        let mut quoted = serde_json::Deserializer::from_str(line).into_iter::<String>();
        let manifest = quoted.next()?.ok()?;
        (manifest, line.get(quoted.byte_offset()..)?.strip_prefix(' ')?)
    } else {
        let (manifest, rest) = line.split_once(' ')?;
        (manifest.to_owned(), rest)
    };
    let (name, abi) = rest.split_once(' ')?;
    Some(((manifest, name.to_owned()), abi.to_owned()))
}

fn missing(path: &Path) -> Diagnostic {
    Diagnostic::without_span(
        Code::OutputLocked,
        format!("`{}` does not exist", relative_to_cwd(path)),
    )
    .help("create it with `layoutc lock`, and commit it with the manifests")
}

fn unreadable(place: &FileSpan) -> Diagnostic {
    let message = format!("invalid line in `{}`", place.file);
    Diagnostic::error(Code::OutputLocked, message, place.clone(), "")
        .help("regenerate the file with `layoutc lock`")
}

fn changed(abi: &Abi, locked: &str) -> Diagnostic {
    let message = format!("layout of `{}` differs from {NAME}", abi.name);
    Diagnostic::error(Code::OutputLocked, message, abi.place.clone(), "")
        .note(format!("locked: {locked}"))
        .note(format!("now:    {}", abi.text))
        .help("adapt the code that shares its memory, then accept the change with `layoutc lock`")
}

fn added(abi: &Abi) -> Diagnostic {
    let message = format!("`{}` is not in {NAME}", abi.name);
    Diagnostic::error(Code::OutputLocked, message, abi.place.clone(), "")
        .help("add it with `layoutc lock`")
}

fn removed(manifest: &str, name: &str, place: &FileSpan) -> Diagnostic {
    let message = format!("locked tensor `{name}` of `{manifest}` does not exist");
    Diagnostic::error(Code::OutputLocked, message, place.clone(), "")
        .help("adapt the code that shares its memory, then accept the change with `layoutc lock`")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lock_file_lines_round_trip() {
        let abi = Abi {
            name: "t".to_owned(),
            text: "f32 n=3 -> [3] strides [1] map \"n\" bytes 12 align 64 global hash 01"
                .to_owned(),
            place: FileSpan::new(&Arc::from("a.kdl"), 0..1),
        };
        let odd = (1..0x3100_u32).chain([0x1_F600]).filter_map(char::from_u32);
        let odd = odd.map(|c| format!("a{c}b.kdl"));
        let names: BTreeSet<String> = odd.chain(["b c/\"d\\.kdl".to_owned()]).collect();
        let tensors: Vec<_> = names.iter().map(|name| (name.clone(), abi.clone())).collect();
        let text = text(&tensors);
        let read: Vec<_> = parse(&text).into_iter().map(|line| line.expect("good")).collect();
        let paths: BTreeSet<String> = read.iter().map(|((path, _), _)| path.clone()).collect();
        assert_eq!(paths, names);
        assert!(read.iter().all(|((_, name), line)| name == "t" && line.abi == abi.text));
        assert_eq!(parse("a.kdl t\n"), [Err(0..7)]);
    }
}
