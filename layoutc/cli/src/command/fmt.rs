//! `layoutc fmt`: formats manifests.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan};
use layoutc_compiler::manifest::{self, format};
use serde_json::{Value, json};

use crate::args::FmtArgs;
use crate::array::file::{self, STANDARD, is_standard};
use crate::atomic_write::write_atomically;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::project::files::{FileReadError, read};
use crate::project::{discover, read_set::ReadSet};
use crate::report::{Report, counted};

use super::CommandOutcome;

/// Name of standard input in messages.
const INPUT: &str = "standard input";

/// Maximum number of characters of a formatted line that a diagnostic shows.
const SHOWN: usize = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatStatus {
    Formatted,
    /// Manifest that is not formatted, with `--check`.
    Differs,
    /// Manifest that was formatted already.
    Unchanged,
    /// Manifest that is invalid or unreadable.
    Refused,
}

impl FormatStatus {
    fn word(self) -> &'static str {
        match self {
            FormatStatus::Formatted => "formatted",
            FormatStatus::Differs => "differs",
            FormatStatus::Unchanged => "unchanged",
            FormatStatus::Refused => "refused",
        }
    }
}

/// Formats the manifests of PATHS, the paths on the command line, in place; the path `-` stands for standard input.
/// With `--check`, writes nothing and reports the manifests that are not formatted. A manifest with errors is reported
/// and skipped.
///
/// # Errors
/// [`CommandError::Usage`] if `-` is combined with other paths. Any error of [`discover`]. [`CommandError::Machine`] if
/// a file cannot be read or written, after all other manifests are formatted.
pub(crate) fn run(args: &FmtArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if args.paths.iter().any(|path| is_standard(path)) {
        return match args.paths.as_slice() {
            [_] => standard(args.check, console),
            _ => Err(CommandError::Usage(
                "`-` (standard input) cannot be combined with other paths".to_owned(),
            )),
        };
    }
    let mut report = Report::default();
    let mut files: Vec<(String, FormatStatus)> = Vec::new();
    let mut fault = None;
    for project in discover(&args.paths, None, &mut report, &mut ReadSet::default())? {
        for (path, shown) in &project.manifests {
            let status = one(&project.root.join(path), shown, args.check, &mut report);
            let status = status.unwrap_or_else(|error| {
                fault.get_or_insert(error);
                FormatStatus::Refused
            });
            files.push((shown.clone(), status));
        }
    }
    report_files(&files, console);
    report.print(console);
    fault.map_or_else(|| Ok(CommandOutcome::of(&report)), Err)
}

fn one(
    path: &Path,
    shown: &str,
    check: bool,
    report: &mut Report,
) -> Result<FormatStatus, CommandError> {
    let text = match read(path) {
        Ok(read) => read.text,
        Err(FileReadError::Machine(error)) => return Err(CommandError::io("read", path, &error)),
        Err(unread @ FileReadError::Refused(_)) => {
            report.add([unreadable(shown, &unread.reason())]);
            return Ok(FormatStatus::Refused);
        }
    };
    let name = Arc::from(shown);
    let status = match format(&name, &text) {
        Err(faults) => {
            report.add(faults);
            FormatStatus::Refused
        }
        Ok(new) if *new == *text => return Ok(FormatStatus::Unchanged),
        Ok(new) if check => {
            report.add([difference(&name, &text, &new)]);
            FormatStatus::Differs
        }
        Ok(new) => {
            write_atomically(path, &new)?;
            return Ok(FormatStatus::Formatted);
        }
    };
    report.text(shown.to_owned(), text);
    Ok(status)
}

/// Formats the manifest on standard input to standard output. With `check`, only reports an error if it is not
/// formatted.
fn standard(check: bool, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let mut report = Report::default();
    let name = Arc::from(INPUT);
    match String::from_utf8(file::read(Path::new(STANDARD))?) {
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            report.add([unreadable(INPUT, &format!("invalid UTF-8 at byte {at}"))]);
        }
        Ok(text) => {
            match format(&name, &text) {
                Err(faults) => report.add(faults),
                Ok(new) if check && new != text => report.add([difference(&name, &text, &new)]),
                Ok(_) if check => {}
                Ok(new) if console.format == ReportFormat::Json => {
                    let object = json!({ "version": 1, "kind": "fmt", "text": new });
                    console.result(&format!("{object}\n"));
                }
                Ok(new) => console.result(&new),
            }
            report.text(INPUT.to_owned(), Arc::from(text));
        }
    }
    report.print(console);
    Ok(CommandOutcome::of(&report))
}

fn unreadable(shown: &str, reason: &str) -> Diagnostic {
    Diagnostic::without_span(
        Code::NameFile,
        format!("cannot read the manifest `{shown}`: {reason}"),
    )
}

/// Diagnostic at the first lines that formatting changes in the manifest `name`, from the text `text` to the text
/// `new`.
fn difference(name: &Arc<str>, text: &str, new: &str) -> Diagnostic {
    let [old, lines] = manifest::difference(text, new).unwrap_or_default();
    let first = |text: &str, bytes: &Range<usize>| {
        let line = text.get(bytes.clone()).and_then(|lines| lines.lines().next());
        line.map(|line| line.trim_end().to_owned())
    };
    let line = first(text, &old).unwrap_or_default();
    let blanks = line.len() - line.trim_start().len();
    let place = FileSpan::new(name, old.start + blanks..old.start + line.len());
    let label = match first(new, &lines).as_deref() {
        None => "`layoutc fmt` removes this".to_owned(),
        Some("") => "`layoutc fmt` writes an empty line here".to_owned(),
        Some(line) => {
            let more = if line.chars().nth(SHOWN).is_some() { "…" } else { "" };
            let line: String = line.chars().take(SHOWN).collect();
            format!("`layoutc fmt` writes `{line}{more}`")
        }
    };
    let message = format!("`{name}` is not formatted");
    let mut found = Diagnostic::error(Code::KdlStyle, message, place, label);
    let count = |bytes: Range<usize>| text.get(bytes).map_or(0, |text| text.lines().count());
    let (before, changed) = (count(0..old.start), count(old));
    if changed > 1 {
        found.notes.push(format!("lines {} to {} change", before + 1, before + changed));
    }
    found.help("run `layoutc fmt`")
}

fn report_files(files: &[(String, FormatStatus)], console: &mut Console) {
    let count = |status| files.iter().filter(|(_, found)| *found == status).count();
    match console.format {
        ReportFormat::Json => {
            let file = |(path, status): &(String, FormatStatus)| json!({ "path": path, "status": status.word() });
            let files: Vec<Value> = files.iter().map(file).collect();
            console
                .result(&format!("{}\n", json!({ "version": 1, "kind": "fmt", "files": files })));
        }
        ReportFormat::Text if !console.quiet => {
            for (path, status) in files {
                let is_reported = match status {
                    FormatStatus::Formatted => true,
                    FormatStatus::Unchanged => console.verbose,
                    // A diagnostic reports each of these manifests.
                    FormatStatus::Differs | FormatStatus::Refused => false,
                };
                if is_reported {
                    console.result(&format!("{:9}  {path}\n", status.word()));
                }
            }
            if let Some(summary) = summary(count) {
                console.result(&summary);
            }
        }
        ReportFormat::Text => {}
    }
}

/// Summary line such as `formatted 2 manifests, 5 unchanged`. `count` returns the number of manifests with a status.
/// `None` if diagnostics say enough: with `--check`, a manifest is not formatted; or no manifest was formatted, and at
/// least one was refused.
fn summary(count: impl Fn(FormatStatus) -> usize) -> Option<String> {
    let (formatted, unchanged) = (count(FormatStatus::Formatted), count(FormatStatus::Unchanged));
    let refused = count(FormatStatus::Refused);
    if count(FormatStatus::Differs) > 0 || (formatted == 0 && refused > 0) {
        return None;
    }
    let mut summary = match (formatted, unchanged) {
        (0, unchanged) => format!("{} unchanged", counted(unchanged, "manifest")),
        (formatted, 0) => format!("formatted {}", counted(formatted, "manifest")),
        (formatted, unchanged) => {
            format!("formatted {}, {unchanged} unchanged", counted(formatted, "manifest"))
        }
    };
    if refused > 0 {
        summary += &format!(", {refused} refused");
    }
    Some(summary + "\n")
}
