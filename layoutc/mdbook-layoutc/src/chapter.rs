//! Rendering of a book chapter: replaces KDL blocks in its Markdown by highlighted manifests and pictures of their
//! layouts.

use std::sync::Arc;

use layoutc::{DiagnosticSource, escape, render_diagnostic};
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::query::picture::inline_style;

use crate::draw::{ChapterFence, DrawError, figure};
use crate::fence::{CodeFence, fences, picture_request};
use crate::html;

/// CSS selector of mdBook's dark themes.
const DARK: &str = ":is(.ayu,.coal,.navy)";

/// Markdown of the chapter `chapter`, in which each KDL block is replaced by its highlighted manifest and the picture
/// that it requests. `name` is the file of the chapter, for messages.
///
/// # Errors
/// The text of all errors in the blocks of the chapter, as it is printed.
pub(crate) fn draw_chapter(name: &str, chapter: &str) -> Result<String, String> {
    let blocks = fences(chapter);
    let (mut out, mut faults) = (String::new(), String::new());
    let (mut behind, mut has_style) = (0, false);
    for k in 0..blocks.len() {
        let Some((among, fence)) = ChapterFence::at(&blocks, k) else { continue };
        let figure = match picture_request(&fence.info) {
            Ok(None) => None,
            Ok(Some(request)) => match figure(among, &request) {
                Ok(svg) => Some(svg),
                Err(undrawn) => {
                    faults.push_str(&undrawn_message(&undrawn, name, chapter, among, fence));
                    continue;
                }
            },
            Err(line) => {
                faults.push_str(&undrawn_message(
                    &DrawError::InvalidRequest(line),
                    name,
                    chapter,
                    among,
                    fence,
                ));
                continue;
            }
        };
        out.push_str(chapter.get(behind..fence.span.start).unwrap_or_default());
        out.push_str(&html::code(&fence.text));
        if let Some(svg) = figure {
            let style = if has_style { String::new() } else { inline_style(DARK) };
            has_style = true;
            out.extend(["<div>", &style, &svg, "</div>"]);
        }
        let replaced = chapter.get(fence.span.clone()).unwrap_or_default();
        out.push_str(if replaced.ends_with('\n') { "\n" } else { "" });
        behind = fence.span.end;
    }
    out.push_str(chapter.get(behind..).unwrap_or_default());
    if faults.is_empty() { Ok(out) } else { Err(faults) }
}

/// Text of the error `undrawn` about the block `fence`, as it is printed. `chapter` is the text of the chapter, `name`
/// is its file, and `blocks` are its KDL blocks.
fn undrawn_message(
    undrawn: &DrawError,
    name: &str,
    chapter: &str,
    blocks: ChapterFence<'_>,
    fence: &CodeFence,
) -> String {
    let line = line(chapter, fence.span.start);
    match undrawn {
        DrawError::InvalidRequest(what) => {
            format!("error: {}:{line}: {}\n\n", escape(name), escape(what))
        }
        DrawError::Manifest(diagnostics) => {
            let lookup = |file: &str| (file == name).then(|| DiagnosticSource::whole(chapter));
            let one = |diagnostic: &Diagnostic| {
                let rendered = render_diagnostic(&moved(diagnostic, name, blocks), &lookup, false);
                let place = format!("  the block at {}:{line}\n", escape(name));
                if diagnostic.labels.is_empty() {
                    rendered + &place + "\n"
                } else {
                    rendered + "\n"
                }
            };
            diagnostics.iter().map(one).collect()
        }
    }
}

/// Number of the line, from 1, that contains byte offset `byte` of the chapter.
fn line(chapter: &str, byte: usize) -> usize {
    chapter.get(..byte).unwrap_or_default().matches('\n').count() + 1
}

/// Copy of a diagnostic in which each location in a block is converted to a location in the chapter, whose file is
/// `name`.
fn moved(diagnostic: &Diagnostic, name: &str, blocks: ChapterFence<'_>) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    for label in &mut diagnostic.labels {
        if let Some(fence) = blocks.file(&label.place.file) {
            label.place.start = fence.place(label.place.start);
            label.place.end = fence.place(label.place.end);
        }
        label.place.file = Arc::from(name);
    }
    diagnostic
}
