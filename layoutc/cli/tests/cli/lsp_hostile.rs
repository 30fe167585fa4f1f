//! `layoutc lsp` with invalid texts, files that come and go, and misbehaving clients.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, position, range};
use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().filter_map(|diagnostic| diagnostic["code"].as_str()).collect()
}

fn project() -> Sandbox {
    Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)])
}

#[test]
fn garbage_between_messages_is_answered_and_skipped() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    for garbage in [
        "nonsense\r\n\r\n",
        "Content-Length: -5\r\n\r\n",
        "Content-Length: 99999999999999\r\n\r\n",
        "Content-Length: 3\r\n\r\n{]}",
        "Content-Length: 2\r\n\r\n[]",
    ] {
        client.raw(garbage.as_bytes());
        let report = client.next();
        assert_eq!(report["error"]["code"], -32700, "{garbage}: {report}");
        assert_eq!(report["id"], Value::Null);
    }
    client.raw(b"Content-Length: 4\r\n\r\n\"\xff\xfe\"");
    assert_eq!(client.next()["error"]["code"], -32700);
    let deep = format!("{{\"method\":\"x\",\"params\":{}", "[".repeat(100_000));
    client.raw(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes());
    assert_eq!(client.next()["error"]["code"], -32700);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn out_of_order_requests_are_refused() {
    let sandbox = project();
    let mut client = Client::silent(&sandbox);
    let code = |client: &mut Client, method: &str| {
        let id = client.ask(method, json!({}));
        client.answer(id)["error"]["code"].as_i64()
    };
    assert_eq!(code(&mut client, "textDocument/hover"), Some(-32002));
    client.request("initialize", json!({ "capabilities": {} }));
    assert_eq!(code(&mut client, "initialize"), Some(-32600));
    assert_eq!(code(&mut client, "textDocument/nonsense"), Some(-32601));
    assert_eq!(code(&mut client, "textDocument/hover"), Some(-32602));
    client.notify("textDocument/didOpen", json!({ "nonsense": 1 }));
    client.notify("$/nonsense", Value::Null);
    client.request("shutdown", Value::Null);
    assert_eq!(code(&mut client, "textDocument/hover"), Some(-32600));
    client.notify("exit", Value::Null);
    assert_eq!(client.vanish(), Some(0));
}

#[test]
fn disconnected_client_ends_the_server() {
    let sandbox = project();
    assert_eq!(Client::start(&sandbox).vanish(), Some(1));
    let mut client = Client::start(&sandbox);
    client.notify("exit", Value::Null);
    assert_eq!(client.vanish(), Some(1));
    let mut client = Client::start(&sandbox);
    client.raw(b"Content-Length: 100\r\n\r\n{");
    assert_eq!(client.vanish(), Some(1));
}

#[test]
fn canceled_request_is_not_processed() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    // One write, so that the last message has arrived when the first is handled.
    let mut all = String::new();
    for message in [
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": {
            "uri": client.uri("layouts/a.kdl"), "languageId": "kdl", "version": 0,
            "text": BLOCKED.repeat(2000) } } }),
        json!({ "jsonrpc": "2.0", "id": "first", "method": "textDocument/documentSymbol",
            "params": { "textDocument": { "uri": client.uri("layouts/a.kdl") } } }),
        json!({ "jsonrpc": "2.0", "id": "second", "method": "textDocument/documentSymbol",
            "params": { "textDocument": { "uri": client.uri("layouts/a.kdl") } } }),
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "second" } }),
    ] {
        let text = message.to_string();
        all.push_str(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }
    client.raw(all.as_bytes());
    let mut answer = || loop {
        let message = client.next();
        if message.get("method").is_none() {
            return message;
        }
    };
    assert_eq!(answer()["id"], "first");
    let second = answer();
    assert_eq!((&second["id"], &second["error"]["code"]), (&json!("second"), &json!(-32800)));
}

#[test]
fn out_of_range_edits_are_clamped() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/a.kdl", BLOCKED);
    let far = json!({ "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 });
    client.change("layouts/a.kdl", json!([{ "range": { "start": far, "end": far }, "text": "x" }]));
    assert_eq!(codes(&client.diagnostics("layouts/a.kdl")), ["name::unknown"]);
    let start = json!({ "line": 0, "character": 0 });
    // End before start.
    client.change(
        "layouts/a.kdl",
        json!([{ "range": { "start": far, "end": start }, "text": BROKEN }]),
    );
    assert_eq!(codes(&client.diagnostics("layouts/a.kdl")), ["map::not_injective"]);
    client.change("layouts/gone.kdl", json!([{ "text": "x" }]));
    client.close("layouts/gone.kdl");
    for place in [&far, &start] {
        client.at("textDocument/hover", "layouts/a.kdl", place);
        client.at("textDocument/completion", "layouts/a.kdl", place);
        assert_eq!(client.at("textDocument/hover", "layouts/gone.kdl", place), Value::Null);
    }
    let elsewhere = json!({ "textDocument": { "uri": "untitled:x" }, "position": start });
    assert_eq!(client.request("textDocument/hover", elsewhere), Value::Null);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn positions_use_the_negotiated_encoding() {
    let sandbox = Sandbox::new(&[]);
    let text = "/* 😀ü */ tensor t dtype=flot { shape { n 4 } }\n";
    let utf16 = range(text, "flot", 0);
    let column = text.find("flot").expect("there");
    let utf8 = json!({
        "start": { "line": 0, "character": column }, "end": { "line": 0, "character": column + 4 },
    });
    let capabilities = json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } });
    for (capabilities, wanted) in [(json!({}), utf16), (capabilities, utf8)] {
        let mut client = Client::with(&sandbox, capabilities);
        client.open("a.kdl", text);
        let found = client.diagnostics("a.kdl");
        assert_eq!(codes(&found), ["dtype::unknown"]);
        assert_eq!(found[0]["range"], wanted);
        client.change("a.kdl", json!([{ "range": wanted, "text": "f32" }]));
        assert_eq!(client.diagnostics("a.kdl"), [] as [Value; 0]);
    }
}

#[test]
fn every_prefix_of_a_manifest_is_answered() {
    let sandbox = Sandbox::new(&[]);
    let mut client = Client::start(&sandbox);
    let text = "const L 4\ntransform x b=2 { map \"(*o, c) -> (*o, c // b, c % b)\" }\n\
        tensor t dtype=f32 { shape { n 4; c \"L * 2\" }; layout { apply x b=L; order ... c_outer } }\n\
        kernel k { operands A B; compute \"B[i] = 2 * A[i]\" }\n/- gone { /* x */ }\n";
    client.open("a.kdl", "");
    for end in (0..=text.len()).rev() {
        client.change("a.kdl", json!([{ "text": &text[..end] }]));
        let place = position(&format!("{}\u{0}", &text[..end]), "\u{0}", 0);
        client.at("textDocument/hover", "a.kdl", &place);
        client.at("textDocument/completion", "a.kdl", &place);
        client.at("textDocument/definition", "a.kdl", &place);
        client.at("textDocument/prepareRename", "a.kdl", &place);
        let document = json!({ "textDocument": { "uri": client.uri("a.kdl") } });
        client.request("textDocument/documentSymbol", document.clone());
        client.request("textDocument/foldingRange", document);
    }
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn queries_on_valid_items_survive_an_invalid_item() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let text = format!("{BLOCKED}tensor second dtype=f32 {{ shape {{ n \"4 }}\n");
    client.open("layouts/a.kdl", &text);
    assert!(!client.diagnostics("layouts/a.kdl").is_empty());
    let hover = client.at("textDocument/hover", "layouts/a.kdl", &position(&text, "t ", 0));
    assert!(hover["contents"]["value"].is_string(), "{hover}");
    let found =
        client.at("textDocument/definition", "layouts/a.kdl", &position(&text, "second", 0));
    assert_eq!(found["range"], range(&text, "second", 0), "{found}");
}

#[test]
fn created_and_deleted_files_are_rechecked() {
    let sandbox = project();
    let capabilities =
        json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut client = Client::with(&sandbox, capabilities);
    let registration = client.next();
    assert_eq!(registration["method"], "client/registerCapability");
    let watchers = &registration["params"]["registrations"][0]["registerOptions"]["watchers"];
    assert_eq!(watchers[0]["globPattern"], "**/*.kdl");
    let report = |client: &mut Client, path: &str, kind: u8| {
        let changes = json!([{ "uri": client.uri(path), "type": kind }]);
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
    };
    sandbox.write("layouts/b.kdl", BROKEN);
    report(&mut client, "layouts/b.kdl", 1);
    assert_eq!(codes(&client.diagnostics("layouts/b.kdl")), ["map::not_injective"]);
    sandbox.write("layouts/b.kdl", BLOCKED);
    report(&mut client, "layouts/b.kdl", 2);
    assert_eq!(client.diagnostics("layouts/b.kdl"), [] as [Value; 0]);
    sandbox.write("layouts/b.kdl", b"tensor \xff");
    report(&mut client, "layouts/b.kdl", 2);
    assert_eq!(codes(&client.diagnostics("layouts/b.kdl")), ["name::file"]);
    fs::remove_file(sandbox.path("layouts/b.kdl")).expect("a file");
    report(&mut client, "layouts/b.kdl", 3);
    assert_eq!(client.diagnostics("layouts/b.kdl"), [] as [Value; 0]);
    sandbox.write("layoutc.toml", "[project]\nnames = 1\n");
    report(&mut client, "layoutc.toml", 2);
    assert_eq!(codes(&client.diagnostics("layoutc.toml")), ["config::unknown_key"]);
    // Open documents override files on disk.
    client.open("layouts/a.kdl", BROKEN);
    assert_eq!(codes(&client.diagnostics("layouts/a.kdl")), ["map::not_injective"]);
    client.close("layouts/a.kdl");
    assert_eq!(client.diagnostics("layouts/a.kdl"), [] as [Value; 0]);
}

#[test]
fn foreign_kdl_files_are_ignored() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open_as("zellij.kdl", "kdl", "keybinds {\n  normal {\n  }\n}\n");
    client.open_as("notes.md", "markdown", "tensor t dtype=f32 {}\n");
    client.open_as("free.kdl", "kdl", BROKEN);
    assert_eq!(codes(&client.diagnostics("free.kdl")), ["map::not_injective"]);
    let place = json!({ "line": 0, "character": 1 });
    assert_eq!(client.at("textDocument/hover", "zellij.kdl", &place), Value::Null);
    assert_eq!(client.at("textDocument/hover", "notes.md", &place), Value::Null);
    client.open("layouts/a.kdl", BROKEN);
    let all = client.diagnostics("layouts/a.kdl");
    assert_eq!(codes(&all), ["map::not_injective"]);
}

#[test]
fn large_document_is_accepted() {
    let sandbox = Sandbox::new(&[]);
    let mut client = Client::start(&sandbox);
    let comment = format!("/* {} */\n", "x".repeat(3 << 20));
    client.open("a.kdl", &format!("{comment}{BROKEN}"));
    assert_eq!(codes(&client.diagnostics("a.kdl")), ["map::not_injective"]);
    assert_eq!(client.finish(), Some(0));
}
