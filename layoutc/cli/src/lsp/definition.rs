//! `textDocument/definition` and `textDocument/references`: the declaration of a name, and all places that
//! mention it.

use layoutc_compiler::editor::file::mentions_of;
use layoutc_compiler::editor::rename;
use layoutc_compiler::env::library;
use layoutc_compiler::manifest::lenient::slice;
use lsp_types::{
    GotoDefinitionParams, GotoDefinitionResponse, Location, Position, Range, ReferenceParams,
};

use super::server::{CursorPosition, LspServer};

/// Location of the declaration of the name at a position. If the position is in a `use`, it is the start of the
/// manifest that the `use` names. `None` if there is no declared name at the position, if the declaration is in the
/// library, which has no file, or if no project has read the document.
pub(super) fn answer(
    server: &LspServer,
    params: &GotoDefinitionParams,
) -> Option<GotoDefinitionResponse> {
    let at = &params.text_document_position_params;
    let (place, path) = server.place(&at.text_document.uri, at.position)?;
    let CursorPosition { project, known, offset, .. } = place;
    if let Some(used) = used(&place) {
        let uri = server.source_uri(project, &used)?;
        let start = Position::new(0, 0);
        return Some(GotoDefinitionResponse::Scalar(Location {
            uri,
            range: Range::new(start, start),
        }));
    }
    let (_, found) = rename::at(&known.files, &path, offset).ok()?;
    let uri = server.source_uri(project, found.path)?;
    let range = server.range(found.file, &found.mention.span);
    Some(GotoDefinitionResponse::Scalar(Location { uri, range }))
}

/// Path, relative to the root of the project, of the manifest that the `use` at the position `place` names. `None` if
/// there is no `use` or its manifest was not read.
fn used(place: &CursorPosition<'_>) -> Option<String> {
    let CursorPosition { file, offset, known, .. } = *place;
    let text = &file.text;
    let uses = file.nodes.iter().filter(|node| node.name(text) == "use");
    let is_here = |node: &&layoutc_compiler::manifest::lenient::LenientNode| {
        node.span.start <= offset && offset <= node.span.end
    };
    let named = slice(text, uses.clone().find(is_here)?.args().next()?);
    let path = file.uses.iter().find(|path| match library::path(named) {
        Some(library) => **path == library,
        None => path.ends_with(named.trim_start_matches("../")),
    })?;
    known.files.contains_key(path).then(|| path.clone())
}

/// Locations of all references to the name at a position, with its declaration if the request asks for it. `None` if
/// there is no declared name at the position, or if no project has read the document.
pub(super) fn references(server: &LspServer, params: &ReferenceParams) -> Option<Vec<Location>> {
    let at = &params.text_document_position;
    let (CursorPosition { project, known, offset, .. }, path) =
        server.place(&at.text_document.uri, at.position)?;
    let (_, found) = rename::at(&known.files, &path, offset).ok()?;
    let mut all = Vec::new();
    for (path, mentions) in mentions_of(&known.files, found) {
        let (Some(file), Some(uri)) = (known.files.get(path), server.source_uri(project, path))
        else {
            continue;
        };
        let wanted =
            mentions.iter().filter(|m| params.context.include_declaration || !m.is_declared);
        all.extend(wanted.map(|mention| Location {
            uri: uri.clone(),
            range: server.range(file, &mention.span),
        }));
    }
    Some(all)
}
