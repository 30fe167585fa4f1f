//! A scripted editor connected to `layoutc lsp`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use layoutc_testing::process::TIME_LIMIT;

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    /// Notifications received and not yet consumed.
    pending: VecDeque<Value>,
    root: String,
    last_id: i64,
    version: i64,
}

impl Client {
    /// A client that has sent nothing yet.
    pub(crate) fn silent(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(".", &["lsp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("it starts");
        let input = child.stdin.take();
        let mut pipe = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, output) = channel();
        thread::spawn(move || {
            while let Some(message) = receive(&mut pipe) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let root = sandbox.path("").canonicalize().expect("a folder");
        let root = format!("file://{}", root.display());
        Self { child, input, output, pending: VecDeque::new(), root, last_id: 0, version: 0 }
    }

    /// An initialized client, with the whole sandbox as its workspace folder.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::with(sandbox, json!({}))
    }

    /// Like [`Self::start`], with these capabilities.
    pub(crate) fn with(sandbox: &Sandbox, capabilities: Value) -> Self {
        let mut client = Self::silent(sandbox);
        let root = client.root.clone();
        let mut params = json!({
            "processId": null, "rootUri": root,
            "initializationOptions": { "docs": "https://example.org/book/" },
        });
        params["capabilities"] = capabilities;
        client.request("initialize", params);
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("it is read");
    }

    fn send(&mut self, mut message: Value, params: Value) {
        message["params"] = params;
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "method": method }), params);
    }

    /// Sends a request; returns its identifier.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({ "id": id, "method": method }), params);
        id
    }

    /// Waits for the response to a request.
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.output.recv_timeout(TIME_LIMIT).expect("an answer");
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            self.pending.push_back(message);
        }
    }

    /// Result of a request, which must succeed.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Next message that is not a response.
    pub(crate) fn next(&mut self) -> Value {
        let pending = self.pending.pop_front();
        pending.unwrap_or_else(|| self.output.recv_timeout(TIME_LIMIT).expect("a message"))
    }

    /// The next published diagnostics of a file.
    pub(crate) fn diagnostics(&mut self, path: &str) -> Vec<Value> {
        let uri = self.uri(path);
        loop {
            let message = self.next();
            let params = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics" && params["uri"] == uri {
                return params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    pub(crate) fn open(&mut self, path: &str, text: &str) {
        self.open_as(path, "layoutc", text);
    }

    pub(crate) fn open_as(&mut self, path: &str, language: &str, text: &str) {
        let uri = self.uri(path);
        let item = json!({ "uri": uri, "languageId": language, "version": 0, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// Sends changes of an open document.
    pub(crate) fn change(&mut self, path: &str, changes: Value) {
        self.version += 1;
        let document = json!({ "uri": self.uri(path), "version": self.version });
        let mut params = json!({ "textDocument": document });
        params["contentChanges"] = changes;
        self.notify("textDocument/didChange", params);
    }

    pub(crate) fn close(&mut self, path: &str) {
        let document = json!({ "uri": self.uri(path) });
        self.notify("textDocument/didClose", json!({ "textDocument": document }));
    }

    /// Result of a request at a position.
    pub(crate) fn at(&mut self, method: &str, path: &str, position: &Value) -> Value {
        self.with_more(method, path, position, json!({}))
    }

    /// Like [`Self::at`], with additional parameters.
    pub(crate) fn with_more(
        &mut self,
        method: &str,
        path: &str,
        position: &Value,
        mut params: Value,
    ) -> Value {
        params["textDocument"] = json!({ "uri": self.uri(path) });
        params["position"] = position.clone();
        self.request(method, params)
    }

    /// Shuts down; returns the exit code.
    pub(crate) fn finish(mut self) -> Option<i32> {
        assert_eq!(self.request("shutdown", Value::Null), Value::Null);
        self.notify("exit", Value::Null);
        self.child.wait().expect("it ends").code()
    }

    /// Disconnects without shutdown; returns the exit code.
    pub(crate) fn vanish(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn receive(pipe: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        pipe.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().expect("a number"),
            None if line.trim().is_empty() => break,
            None => panic!("a header: {line}"),
        }
    }
    let mut body = vec![0; length];
    pipe.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).expect("JSON")
}

/// Position after the `nth` occurrence (from 0) of `part` in an ASCII text, minus `back` characters.
pub(crate) fn position(text: &str, part: &str, nth: usize) -> Value {
    let (at, _) = text.match_indices(part).nth(nth).expect("it is there");
    let before = &text[..at];
    let line = before.matches('\n').count();
    let character = before.rsplit('\n').next().map_or(0, |line| line.encode_utf16().count());
    json!({ "line": line, "character": character })
}

/// Range of the `nth` occurrence.
pub(crate) fn range(text: &str, part: &str, nth: usize) -> Value {
    let start = position(text, part, nth);
    let mut end = start.clone();
    end["character"] = (start["character"].as_u64().expect("a number")
        + part.encode_utf16().count() as u64)
        .into();
    json!({ "start": start, "end": end })
}

/// Applies the edits of a response to a text.
pub(crate) fn edited(text: &str, edits: &Value) -> String {
    let lines: Vec<usize> =
        [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let offset = |position: &Value| {
        let line = usize::try_from(position["line"].as_u64().expect("a line")).expect("small");
        let mut left = position["character"].as_u64().expect("a character");
        let mut at = lines[line];
        for c in text[at..].chars() {
            if left == 0 {
                break;
            }
            left -= c.len_utf16() as u64;
            at += c.len_utf8();
        }
        at
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text").to_owned();
            (offset(&range["start"]), offset(&range["end"]), new)
        })
        .collect();
    edits.sort();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, &new);
    }
    out
}
