//! Session with an editor, from `initialize` to `exit`.

use std::io::{self, Stdout};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument, Exit,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, DocumentSymbolRequest, FoldingRangeRequest, Formatting,
    GotoDefinition, HoverRequest, Initialize, InlayHintRequest, PrepareRenameRequest, References,
    RegisterCapability, Rename, Request as _, Shutdown,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CompletionOptions, DidChangeWatchedFilesRegistrationOptions,
    FileSystemWatcher, FoldingRangeProviderCapability, GlobPattern, InitializeParams, OneOf,
    PositionEncodingKind, Registration, RegistrationParams, RenameOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri, WorkDoneProgressOptions,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use layoutc_compiler::editor::line_index::PositionEncoding;

use crate::command_error::CommandError;
use crate::project::CONFIG;

use super::documents::OpenDocument;
use super::queue::MessageQueue;
use super::server::{EditorCapabilities, LspServer};
use super::wire::{self, IncomingMessage};
use super::{
    actions, completion, definition, diagnostics, folding, formatting, hints, hover, rename,
    symbols,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    AfterShutdown,
    WithoutShutdown,
}

/// Serves the client on standard input and output until it sends `exit` or disconnects. Returns whether it sent
/// `shutdown` before.
///
/// # Errors
/// [`CommandError::Machine`] if a message cannot be written to standard output.
pub(crate) fn run() -> Result<SessionEnd, CommandError> {
    let mut session =
        LspSession { out: io::stdout(), stage: SessionState::Uninitialized, next_id: 0 };
    session
        .serve(&mut MessageQueue::of_stdin())
        .map_err(|error| CommandError::io("write to", "standard output".as_ref(), &error))
}

#[derive(Debug)]
enum SessionState {
    /// Session before the request `initialize`.
    Uninitialized,
    Open(Box<LspServer>),
    /// Session after the request `shutdown`.
    Closed,
}

#[derive(Debug)]
struct LspSession {
    out: Stdout,
    stage: SessionState,
    /// Number that identifies the last request that the server sent to the client; 0 before the first.
    next_id: i32,
}

impl LspSession {
    fn serve(&mut self, inbox: &mut MessageQueue) -> io::Result<SessionEnd> {
        loop {
            let is_behind = matches!(&self.stage, SessionState::Open(server) if server.is_behind);
            let arrival = if is_behind { inbox.take() } else { Some(inbox.wait()) };
            let Some(arrival) = arrival else {
                self.publish_diagnostics()?;
                continue;
            };
            match arrival {
                IncomingMessage::End => return Ok(self.session_end()),
                IncomingMessage::Malformed(reason) => {
                    wire::respond_invalid(&mut self.out, &reason)?;
                }
                IncomingMessage::Message(Message::Notification(message)) => {
                    if message.method == Exit::METHOD {
                        return Ok(self.session_end());
                    }
                    self.handle_notification(message)?;
                }
                IncomingMessage::Message(Message::Request(request)) => {
                    let response = if inbox.is_cancelled(&request.id) {
                        failure(request.id, ErrorCode::RequestCanceled, "request cancelled")
                    } else {
                        self.handle_request(request)
                    };
                    self.send(&Message::Response(response))?;
                }
                // Responses of the client are ignored.
                IncomingMessage::Message(Message::Response(_)) => {}
            }
        }
    }

    fn session_end(&self) -> SessionEnd {
        if matches!(self.stage, SessionState::Closed) {
            SessionEnd::AfterShutdown
        } else {
            SessionEnd::WithoutShutdown
        }
    }

    fn send(&mut self, message: &Message) -> io::Result<()> {
        wire::write(&mut self.out, message)
    }

    /// Checks the manifests that changed, and publishes the diagnostics of each file for which they differ from those
    /// last published.
    fn publish_diagnostics(&mut self) -> io::Result<()> {
        let SessionState::Open(server) = &mut self.stage else { return Ok(()) };
        server.refresh();
        for news in diagnostics::changed_diagnostics(server) {
            let news = Notification::new(PublishDiagnostics::METHOD.to_owned(), news);
            self.send(&Message::Notification(news))?;
        }
        Ok(())
    }

    fn handle_notification(&mut self, message: Notification) -> io::Result<()> {
        if message.method == lsp_types::notification::Initialized::METHOD {
            return self.initialized();
        }
        let SessionState::Open(server) = &mut self.stage else { return Ok(()) };
        handle_notification(server, message);
        Ok(())
    }

    /// Asks the editor to report changes of manifests and configurations on disk. Does nothing if the editor cannot
    /// watch files.
    fn initialized(&mut self) -> io::Result<()> {
        let SessionState::Open(server) = &self.stage else { return Ok(()) };
        if !server.traits.can_watch {
            return Ok(());
        }
        let watcher = |pattern: &str| FileSystemWatcher {
            glob_pattern: GlobPattern::String(pattern.to_owned()),
            kind: None,
        };
        let watchers = vec![watcher("**/*.kdl"), watcher(&format!("**/{CONFIG}"))];
        let options = DidChangeWatchedFilesRegistrationOptions { watchers };
        let registration = Registration {
            id: "files".to_owned(),
            method: DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: Some(json!(options)),
        };
        let params = RegistrationParams { registrations: vec![registration] };
        self.next_id += 1;
        let id = RequestId::from(self.next_id);
        let request = Request::new(id, RegisterCapability::METHOD.to_owned(), params);
        self.send(&Message::Request(request))
    }

    fn handle_request(&mut self, request: Request) -> Response {
        match (&mut self.stage, request.method.as_str()) {
            (SessionState::Uninitialized, Initialize::METHOD) => self.initialize(request),
            (SessionState::Uninitialized, _) => {
                failure(request.id, ErrorCode::ServerNotInitialized, "server not initialized")
            }
            (SessionState::Closed, _) => {
                failure(request.id, ErrorCode::InvalidRequest, "request after `shutdown`")
            }
            (SessionState::Open(_), Initialize::METHOD) => {
                failure(request.id, ErrorCode::InvalidRequest, "server already initialized")
            }
            (SessionState::Open(_), Shutdown::METHOD) => {
                self.stage = SessionState::Closed;
                Response::new_ok(request.id, Value::Null)
            }
            (SessionState::Open(server), method) => {
                // Hover, hints and code actions need the results of checks; the other requests need only the texts of
                // the manifests.
                match method {
                    HoverRequest::METHOD | InlayHintRequest::METHOD | CodeActionRequest::METHOD => {
                        server.refresh();
                    }
                    _ => server.reread(),
                }
                answer(server, request)
            }
        }
    }

    fn initialize(&mut self, request: Request) -> Response {
        let params: InitializeParams = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => return failure(request.id, ErrorCode::InvalidParams, &error.to_string()),
        };
        let traits = EditorCapabilities::of(&params);
        let result = json!({
            "capabilities": capabilities(traits.encoding),
            "serverInfo": { "name": "layoutc", "version": env!("CARGO_PKG_VERSION") },
        });
        let server = LspServer::new(traits, &folders(&params));
        self.stage = SessionState::Open(Box::new(server));
        Response::new_ok(request.id, result)
    }
}

/// URLs of the workspace folders that the client opened. For an older client, which does not send them, the URL of its
/// root, if any.
#[expect(deprecated, reason = "older clients only send the root")]
fn folders(params: &InitializeParams) -> Vec<Uri> {
    match &params.workspace_folders {
        Some(folders) => folders.iter().map(|folder| folder.uri.clone()).collect(),
        None => params.root_uri.iter().cloned().collect(),
    }
}

/// Capabilities of the server, which it declares to the client. `encoding` is the unit of character offsets that it
/// uses from then on.
fn capabilities(encoding: PositionEncoding) -> ServerCapabilities {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    let actions = CodeActionOptions {
        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
        ..CodeActionOptions::default()
    };
    let rename = RenameOptions {
        prepare_provider: Some(true),
        work_done_progress_options: WorkDoneProgressOptions::default(),
    };
    ServerCapabilities {
        position_encoding: Some(match encoding {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(true.into()),
        completion_provider: Some(CompletionOptions {
            trigger_characters: words(&["=", "\"", " ", "("]),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(actions.into()),
        rename_provider: Some(OneOf::Right(rename)),
        document_formatting_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// Handles a notification of the client about its documents or about files on disk. Ignores other notifications, and
/// those with invalid parameters.
fn handle_notification(server: &mut LspServer, Notification { method, params }: Notification) {
    match method.as_str() {
        DidOpenTextDocument::METHOD => {
            if let Some(params) = read::<lsp_types::DidOpenTextDocumentParams>(params) {
                let lsp_types::TextDocumentItem { uri, language_id, version, text } =
                    params.text_document;
                let language = language_id;
                server.open(OpenDocument { uri, version, language, text: text.into() });
            }
        }
        DidChangeTextDocument::METHOD => {
            if let Some(params) = read::<lsp_types::DidChangeTextDocumentParams>(params) {
                let document = params.text_document;
                server.change(&document.uri, document.version, params.content_changes);
            }
        }
        DidCloseTextDocument::METHOD => {
            if let Some(params) = read::<lsp_types::DidCloseTextDocumentParams>(params) {
                server.close(&params.text_document.uri);
            }
        }
        DidChangeWatchedFiles::METHOD => {
            if let Some(params) = read::<lsp_types::DidChangeWatchedFilesParams>(params) {
                for change in params.changes {
                    server.watched(&change.uri, change.typ);
                }
            }
        }
        _ => {}
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn answer(server: &LspServer, request: Request) -> Response {
    match request.method.as_str() {
        HoverRequest::METHOD => with(request, |params| hover::answer(server, &params)),
        Completion::METHOD => with(request, |params| completion::answer(server, &params)),
        GotoDefinition::METHOD => with(request, |params| definition::answer(server, &params)),
        References::METHOD => with(request, |params| definition::references(server, &params)),
        PrepareRenameRequest::METHOD => with(request, |params| rename::prepare(server, &params)),
        CodeActionRequest::METHOD => with(request, |params| actions::answer(server, &params)),
        InlayHintRequest::METHOD => with(request, |params| hints::answer(server, &params)),
        DocumentSymbolRequest::METHOD => with(request, |params| symbols::answer(server, &params)),
        FoldingRangeRequest::METHOD => with(request, |params| folding::answer(server, &params)),
        Formatting::METHOD => with(request, |params| formatting::answer(server, &params)),
        Rename::METHOD => {
            let Request { id, params, .. } = request;
            match serde_json::from_value(params) {
                Ok(params) => match rename::answer(server, &params) {
                    Ok(edit) => Response::new_ok(id, edit),
                    Err(error) => failure(id, ErrorCode::RequestFailed, &error.to_string()),
                },
                Err(error) => failure(id, ErrorCode::InvalidParams, &error.to_string()),
            }
        }
        method => {
            let message = format!("unsupported method `{method}`");
            failure(request.id, ErrorCode::MethodNotFound, &message)
        }
    }
}

/// Response to `request`: the result of `f` for its parameters, or the error `InvalidParams` if the parameters cannot
/// be deserialized.
fn with<P: DeserializeOwned, R: Serialize>(request: Request, f: impl FnOnce(P) -> R) -> Response {
    match serde_json::from_value(request.params) {
        Ok(params) => Response::new_ok(request.id, f(params)),
        Err(error) => failure(request.id, ErrorCode::InvalidParams, &error.to_string()),
    }
}

fn failure(id: RequestId, code: ErrorCode, message: &str) -> Response {
    Response::new_err(id, code as i32, message.to_owned())
}
