//! Reports of commands: diagnostics as text or JSON, their counts, and traces of an index through a layout.

pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod source_line;
mod terminal_text;
#[cfg(test)]
mod tests;
pub(crate) mod trace_report;

use std::collections::BTreeMap;
use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use layoutc_compiler::env::library;

pub use source_line::DiagnosticSource;
pub use terminal_text::escape;

use crate::console::{Console, ReportFormat};

/// Maximum number of errors, and also of warnings, that are printed as text. The others are only counted.
pub(crate) const CAP: usize = 50;

/// Diagnostics of a command, with the source texts that they refer to.
#[derive(Debug, Default)]
pub(crate) struct Report {
    diagnostics: Vec<Diagnostic>,
    texts: BTreeMap<String, Arc<str>>,
}

impl Report {
    /// Adds diagnostics, which are printed in the order of their addition.
    pub(crate) fn add(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        self.diagnostics.extend(diagnostics);
    }

    /// Adds `diagnostics` of a later stage, except those that are equal to one in the report.
    pub(crate) fn add_new(&mut self, diagnostics: Vec<Diagnostic>) {
        let is_new = |diagnostic: &Diagnostic| !self.diagnostics.contains(diagnostic);
        let new: Vec<Diagnostic> = diagnostics.into_iter().filter(is_new).collect();
        self.add(new);
    }

    /// Adds the text of a file, under the name `file` by which labels of diagnostics refer to it.
    pub(crate) fn text(&mut self, file: String, text: Arc<str>) {
        self.texts.insert(file, text);
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// Diagnostic code of each error in the report, in the order in which the errors were added.
    pub(crate) fn errors(&self) -> impl Iterator<Item = Code> {
        let errors = self.diagnostics.iter().filter(|d| d.severity == Severity::Error);
        errors.map(|error| error.code)
    }

    /// Number of diagnostics in the report with the severity `severity`.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }

    fn lookup(&self, file: &str) -> Option<DiagnosticSource<'_>> {
        let text = self.texts.get(file).map(AsRef::as_ref).or_else(|| library::text(file));
        text.map(DiagnosticSource::whole)
    }

    /// Prints the report: as JSON to standard output, all diagnostics; as text to standard error, at most [`CAP`] of
    /// each severity, then the counts of all.
    pub(crate) fn print(&self, console: &mut Console) {
        match console.format {
            ReportFormat::Json => {
                for diagnostic in &self.diagnostics {
                    console.result(&json::render(diagnostic, &|file| self.lookup(file)));
                }
            }
            ReportFormat::Text => console.remark(&self.text_for_people(console.color)),
        }
    }

    /// Report as text, without color. It has at most [`CAP`] diagnostics of each severity, then the counts of all.
    pub(crate) fn plain_text(&self) -> String {
        self.text_for_people(false)
    }

    fn text_for_people(&self, color: bool) -> String {
        let mut out = String::new();
        let mut printed = BTreeMap::new();
        for diagnostic in &self.diagnostics {
            let printed: &mut usize = printed.entry(diagnostic.severity).or_default();
            *printed += 1;
            if *printed <= CAP {
                out.push_str(&human::render(diagnostic, &|file| self.lookup(file), color));
                out.push('\n');
            }
        }
        for (severity, count) in printed {
            if count > CAP {
                let more =
                    counted(count - CAP, &format!("more {}", human::severity_word(severity)));
                out.extend(["… and ", &more, "\n\n"]);
            }
        }
        out.push_str(&self.closing());
        out
    }

    /// Last lines of a report as text: counts such as `1 error, 2 warnings`, and a line with the command that explains
    /// the codes. Empty without diagnostics.
    fn closing(&self) -> String {
        let parts: Vec<String> = [Severity::Error, Severity::Warning]
            .into_iter()
            .map(|severity| (self.count(severity), human::severity_word(severity)))
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| counted(count, word))
            .collect();
        if parts.is_empty() {
            return String::new();
        }
        let errors_first = self.errors().chain(self.diagnostics.iter().map(|d| d.code));
        format!("{}\n{}", parts.join(", "), more_information(errors_first))
    }
}

/// Line that advises to run `layoutc explain` with the first of `codes`. Empty if `codes` is empty.
pub(crate) fn more_information(codes: impl IntoIterator<Item = Code>) -> String {
    let mut codes = codes.into_iter();
    let Some(first) = codes.next() else { return String::new() };
    let about = if codes.all(|code| code == first) { "" } else { " about a code" };
    format!("for more information{about}, run `layoutc explain {}`\n", first.id())
}

/// Size of `bytes` bytes as text in the largest unit that does not exceed it, rounded down to tenths: `1.5 GiB`,
/// `640 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = UNITS.iter().find(|(_, shift)| bytes >> shift > 0);
    let Some((unit, shift)) = unit else { return format!("{bytes} bytes") };
    let tenths = (u128::from(bytes) * 10) >> shift;
    match (tenths.div_euclid(10), tenths.rem_euclid(10)) {
        (whole, 0) => format!("{whole} {unit}"),
        (whole, tenth) => format!("{whole}.{tenth} {unit}"),
    }
}

/// `count` with the noun `word`, which gets an `s` unless the count is 1: `1 error`, `2 errors`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}
