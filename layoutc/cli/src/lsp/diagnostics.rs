//! Publication of the diagnostics of all projects to the editor.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use layoutc_compiler::base::diagnostic::{Diagnostic, Label, Severity};
use lsp_types::{
    CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Position, PublishDiagnosticsParams, Range, Uri,
};

use crate::project::CONFIG;

use super::positions;
use super::projects::LspProject;
use super::server::{EditorCapabilities, LspServer};

/// Diagnostics that are published for each file, by absolute path of the file.
pub(super) type PublishedDiagnostics = BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>>;

/// Diagnostics of each file whose list has changed since the last publication. An empty list clears the diagnostics of
/// a file in the editor. The lists are recorded in `server` as published.
pub(super) fn changed_diagnostics(server: &mut LspServer) -> Vec<PublishDiagnosticsParams> {
    let mut all: PublishedDiagnostics = BTreeMap::new();
    for project in server.projects.values() {
        for diagnostic in project.diagnostics() {
            let file = diagnostic.labels.first().map(|label| label.place.file.as_ref());
            let file = project.file(file.unwrap_or(CONFIG));
            let converted = to_lsp_diagnostic(&diagnostic, project, server);
            let of_file = all.entry(file).or_default();
            // A file used by two projects is reported once.
            if !of_file.contains(&converted) {
                of_file.push(converted);
            }
        }
    }
    let mut changed = Vec::new();
    for (file, found) in &all {
        if server.published.get(file) != Some(found) {
            changed.push((file.clone(), found.clone()));
        }
    }
    let gone = server.published.keys().filter(|file| !all.contains_key(*file));
    changed.extend(gone.map(|file| (file.clone(), Vec::new())));
    server.published = all;
    server.is_behind = false;
    let publish = |(file, diagnostics): (PathBuf, Vec<lsp_types::Diagnostic>)| {
        let version = server.documents.0.get(&file).map(|document| document.version);
        Some(PublishDiagnosticsParams { uri: server.uri(&file)?, diagnostics, version })
    };
    changed.into_iter().filter_map(publish).collect()
}

/// Converts `diagnostic`, a diagnostic of the compiler about `project`, to one of the language server protocol. Its
/// range is that of the first label, or the start of the file if there is no label or its file was not read. Further
/// labels are related locations, if the editor shows these.
pub(super) fn to_lsp_diagnostic(
    diagnostic: &Diagnostic,
    project: &LspProject,
    server: &LspServer,
) -> lsp_types::Diagnostic {
    let EditorCapabilities { encoding, has_related, docs, .. } = &server.traits;
    let place = |label: &Label| {
        let source = project.source(&label.place.file)?;
        let bytes = label.place.start..label.place.end;
        let range = positions::span(source.text, &source.lines, &bytes, *encoding);
        let uri = server.source_uri(project, &label.place.file)?;
        Some(Location { uri, range })
    };
    let nowhere = Range { start: Position::new(0, 0), end: Position::new(0, 0) };
    let range = diagnostic.labels.first().and_then(place).map_or(nowhere, |place| place.range);
    let related = diagnostic.labels.iter().skip(1).filter_map(|label| {
        let message = label.message.clone();
        Some(DiagnosticRelatedInformation { location: place(label)?, message })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    lsp_types::Diagnostic {
        range,
        severity: Some(match diagnostic.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(diagnostic.code.id().to_owned())),
        code_description: docs.as_deref().and_then(|docs| page(docs, diagnostic.code.id())),
        source: Some("layoutc".to_owned()),
        message: message(diagnostic),
        related_information: (*has_related && !related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

/// URL of the page about the diagnostic code `code` in the book at the URL `docs`; `None` if that is not a valid URL.
fn page(docs: &str, code: &str) -> Option<CodeDescription> {
    let path = code.replace("::", "/");
    let href = Uri::from_str(&format!("{}/codes/{path}.html", docs.trim_end_matches('/')));
    Some(CodeDescription { href: href.ok()? })
}

/// Text of a diagnostic in the editor: its message, first label, notes and helps, one per line.
fn message(diagnostic: &Diagnostic) -> String {
    let mut lines = vec![diagnostic.message.clone()];
    let label = diagnostic.labels.first().map(|label| label.message.clone());
    lines.extend(label.filter(|label| !label.is_empty()));
    lines.extend(diagnostic.notes.iter().cloned());
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}
