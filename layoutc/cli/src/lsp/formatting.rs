//! `textDocument/formatting`

use std::ops::Range;
use std::sync::Arc;

use layoutc_compiler::manifest::format;
use lsp_types::{DocumentFormattingParams, TextEdit};

use super::server::Server;

/// What makes a manifest that of `layoutc fmt`: one change of the lines that differ, or none. A text that is no KDL has no
/// form.
pub(super) fn answer(server: &Server, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    let new = format(&Arc::from(path.as_str()), &file.text).ok()?;
    let Some((old, lines)) = difference(&file.text, &new) else { return Some(Vec::new()) };
    let new_text = new.get(lines).unwrap_or_default().to_owned();
    Some(vec![TextEdit { range: server.range(file, &old), new_text }])
}

/// The bytes of the first line that differs to the last, in both texts.
fn difference(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old == new {
        return None;
    }
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (mine, theirs) = (lines(old), lines(new));
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let same = mine.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let (mine, theirs) = (mine.get(same..)?, theirs.get(same..)?);
    let rest = mine.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
    let start = old.len() - bytes(mine);
    let after = bytes(mine.get(mine.len() - rest..)?);
    Some((start..old.len() - after, start..new.len() - after))
}
