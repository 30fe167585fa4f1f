//! `layoutc lsp` with well-behaved editors.

use serde_json::{Value, json};

use crate::client::{Client, edited, position, range};
use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

const COMMON: &str = "\
const LANES 4
symbol batch min=1 max=64
transform blocked block=8 {
    map \"(n, c) -> (n, c // block, c % block)\"
}
";

const USER: &str = "\
use \"common.kdl\"
tensor input dtype=f32 {
    shape { n batch; c \"LANES * 4\" }
    layout blocked block=LANES
}
tensor other like=input {
    layout {
        split c by=LANES
        order c_outer n c_inner
    }
}
convert input to=other
";

fn project() -> Sandbox {
    Sandbox::new(&[
        ("layoutc.toml", ""),
        ("layouts/common.kdl", COMMON),
        ("layouts/user.kdl", USER),
        ("layouts/broken.kdl", BROKEN),
    ])
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().filter_map(|diagnostic| diagnostic["code"].as_str()).collect()
}

/// Labels of a list of completions.
fn labels(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("a list").iter().filter_map(|i| i["label"].as_str()).collect()
}

#[test]
fn project_is_checked_without_open_files() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let found = client.diagnostics("layouts/broken.kdl");
    assert_eq!(codes(&found), ["map::not_injective"]);
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(found[0]["source"], "layoutc");
    assert_eq!(found[0]["range"], range(BROKEN, "w % 4", 0));
    let page = "https://example.org/book/codes/map/not_injective.html";
    assert_eq!(found[0]["codeDescription"]["href"], page);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn diagnostics_follow_edits_and_fixes() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/broken.kdl", BLOCKED);
    client.change(
        "layouts/broken.kdl",
        json!([{ "range": range(BLOCKED, "w // 4, h", 0), "text": "h" }]),
    );
    let found = client.diagnostics("layouts/broken.kdl");
    assert_eq!(codes(&found), ["map::not_injective"], "{found:?}");
    let document = json!({ "uri": client.uri("layouts/broken.kdl") });
    let params = json!({
        "textDocument": document, "range": found[0]["range"], "context": { "diagnostics": found },
    });
    let actions = client.request("textDocument/codeAction", params);
    assert_eq!(actions[0]["title"], "replace `(h, w % 4)` by `(h, w // 4, w % 4)`");
    assert_eq!(actions[0]["kind"], "quickfix");
    let edits = &actions[0]["edit"]["changes"][client.uri("layouts/broken.kdl")];
    let fixed = edited(BROKEN, edits);
    assert_eq!(fixed, BROKEN.replace("(h, w % 4)", "(h, w // 4, w % 4)"));
    client.change("layouts/broken.kdl", json!([{ "text": fixed }]));
    assert_eq!(client.diagnostics("layouts/broken.kdl"), [] as [Value; 0]);
}

#[test]
fn mistyped_words_have_quick_fixes() {
    let sandbox = Sandbox::new(&[]);
    let mut client = Client::start(&sandbox);
    for (wrong, right) in [
        ("tensor t dtpye=f32 { shape { n 4 } }\n", "tensor t dtype=f32 { shape { n 4 } }\n"),
        ("tensor t dtype=float32 { shape { n 4 } }\n", "tensor t dtype=f32 { shape { n 4 } }\n"),
        ("tensr t dtype=f32 { shape { n 4 } }\n", "tensor t dtype=f32 { shape { n 4 } }\n"),
        (
            "tensor t dtype=f32 { shape { n 4; c 8 }; layout { order d n } }\n",
            "tensor t dtype=f32 { shape { n 4; c 8 }; layout { order d n } }\n",
        ),
        (
            "const LANES 4\ntensor t dtype=f32 { shape { n 4; c 8 }; layout { split c by=LANSE } }\n",
            "const LANES 4\ntensor t dtype=f32 { shape { n 4; c 8 }; layout { split c by=LANES } }\n",
        ),
        (
            "tensor t dtype=f32 { shape { n 4; c 8 }; layout { map \"(n, c) -> (n, c / 4, c % 4)\" } }\n",
            "tensor t dtype=f32 { shape { n 4; c 8 }; layout { map \"(n, c) -> (n, c // 4, c % 4)\" } }\n",
        ),
        ("tensor t dtype=f32 { shape n=4 c=8 }\n", "tensor t dtype=f32 { shape { n 4; c 8 } }\n"),
    ] {
        client.open("alone.kdl", wrong);
        let found = client.diagnostics("alone.kdl");
        let params = json!({
            "textDocument": { "uri": client.uri("alone.kdl") },
            "range": found[0]["range"],
            "context": { "diagnostics": found },
        });
        let actions = client.request("textDocument/codeAction", params);
        if wrong == right {
            assert_eq!(actions, json!([]), "{wrong}");
        } else {
            let edits = &actions[0]["edit"]["changes"][client.uri("alone.kdl")];
            assert_eq!(edited(wrong, edits), right);
        }
        client.close("alone.kdl");
        assert_eq!(client.diagnostics("alone.kdl"), [] as [Value; 0], "{wrong}");
    }
}

#[test]
fn configuration_errors_have_quick_fixes() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let wrong = "[project]\nnmae = \"x\"\n\n[target.c]\nstandard = \"c9\"\n";
    client.open_as("layoutc.toml", "toml", wrong);
    let found = client.diagnostics("layoutc.toml");
    assert_eq!(codes(&found), ["config::unknown_key", "config::value"]);
    let whole = json!({ "start": position(wrong, "[", 0), "end": { "line": 9, "character": 0 } });
    let params = json!({
        "textDocument": { "uri": client.uri("layoutc.toml") },
        "range": whole, "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let mut text = wrong.to_owned();
    for action in actions.as_array().expect("a list").iter().rev() {
        text = edited(&text, &action["edit"]["changes"][client.uri("layoutc.toml")]);
    }
    assert_eq!(text, wrong.replace("nmae", "name").replace("c9", "c99"));
}

#[test]
fn a_diagnostic_carries_its_related_locations() {
    let sandbox = Sandbox::new(&[]);
    let text = "const N 4\nconst N 5\ntensor t dtype=f32 { shape { n N } }\n";
    let capabilities =
        json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
    let mut client = Client::with(&sandbox, capabilities);
    client.open("alone.kdl", text);
    let found = client.diagnostics("alone.kdl");
    assert_eq!(codes(&found), ["name::duplicate"]);
    let related = &found[0]["relatedInformation"][0];
    assert_eq!(related["message"], "first here");
    assert_eq!(related["location"]["range"], range(text, "N", 0));
}

#[test]
fn hover_shows_tensor_facts() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/user.kdl", USER);
    let hover = client.at("textDocument/hover", "layouts/user.kdl", &position(USER, "input", 2));
    assert_eq!(
        hover["contents"]["value"],
        "\
```text
tensor input: f32
shape           n batch, c 16
storage axes    n batch, c_outer 4, c_inner 4
strides         16, 4, 1
physical shape  batch * 16
verdict         bijective, proven by digits
padding         0 of batch * 16 elements
bytes           batch * 64, aligned to 64
memory          global
```
"
    );
    assert_eq!(hover["range"], range(USER, "input", 2));
    let hover = client.at("textDocument/hover", "layouts/user.kdl", &position(USER, "LANES", 0));
    assert_eq!(
        hover["contents"]["value"],
        "```kdl\nconst LANES 4\n```\n\nin `layouts/common.kdl`\n"
    );
    let hover = client.at("textDocument/hover", "layouts/user.kdl", &position(USER, "split", 0));
    let report = hover["contents"]["value"].as_str().expect("a text");
    assert!(
        report.contains("split c by=4") && report.contains("quotient and remainder"),
        "{report}"
    );
}

#[test]
fn completion_proposes_valid_words() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let mut proposed = |text: &str| {
        let at = text.find('^').expect("a mark");
        let text = text.replace('^', "");
        client.open("layouts/new.kdl", &text);
        let place = position(&format!("{}\u{0}", &text[..at]), "\u{0}", 0);
        let list = client.at("textDocument/completion", "layouts/new.kdl", &place);
        client.close("layouts/new.kdl");
        labels(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |found: &[String], wanted: &[&str]| {
        for word in wanted {
            assert!(found.iter().any(|label| label == word), "{word}: {found:?}");
        }
    };
    has(&proposed("ten^"), &["tensor", "transform", "graph"]);
    has(&proposed("tensor t ^"), &["dtype", "like", "targets"]);
    has(&proposed("tensor t dtype=^"), &["f32", "bf16", "i4"]);
    has(&proposed("tensor t dtype=f32 {\n  ^"), &["shape", "layout", "require"]);
    let use_common = "use \"common.kdl\"\n";
    let head = format!("{use_common}tensor t dtype=f32 {{\n  shape {{ n 4; c 8 }}\n");
    has(&proposed(&format!("{head}  layout ^\n}}\n")), &["blocked", "tvm", "xla"]);
    has(&proposed(&format!("{head}  layout blocked ^\n}}\n")), &["block"]);
    has(&proposed(&format!("{head}  layout {{\n    ^\n  }}\n}}\n")), &["map", "order", "split"]);
    has(&proposed(&format!("{head}  layout {{\n    order ^\n  }}\n}}\n")), &["n", "c"]);
    has(&proposed(&format!("{head}  layout {{\n    split c by=^\n  }}\n}}\n")), &["LANES"]);
    has(
        &proposed(&format!("{head}  layout {{\n    map \"(n, c) -> (n, c // ^")),
        &["n", "c", "LANES", "morton"],
    );
    has(&proposed(&format!("{head}}}\ntensor u like=^")), &["t"]);
    has(&proposed(&format!("{head}}}\nconvert t to=^")), &["t"]);
    let head = format!("mesh pod {{ x 2; y 4 }}\n{head}");
    has(&proposed(&format!("{head}  shard ^\n}}\n")), &["pod", "n", "c"]);
    has(&proposed(&format!("{head}  shard pod n=^\n}}\n")), &["x", "y"]);
    has(&proposed("use \"^"), &["common.kdl", "user.kdl"]);
    assert_eq!(proposed("// tensor ^"), [""; 0]);
}

#[test]
fn go_to_definition_finds_declarations() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/user.kdl", USER);
    for (part, nth, path, text) in [
        ("blocked", 0, "layouts/common.kdl", COMMON),
        ("LANES", 0, "layouts/common.kdl", COMMON),
        ("batch", 0, "layouts/common.kdl", COMMON),
        ("input", 1, "layouts/user.kdl", USER),
        ("other", 1, "layouts/user.kdl", USER),
    ] {
        let place = position(USER, part, nth);
        let found = client.at("textDocument/definition", "layouts/user.kdl", &place);
        assert_eq!(found["uri"], client.uri(path), "{part}");
        assert_eq!(found["range"], range(text, part, 0), "{part}");
    }
    let place = position(USER, "common.kdl", 0);
    let found = client.at("textDocument/definition", "layouts/user.kdl", &place);
    assert_eq!(found["uri"], client.uri("layouts/common.kdl"));
}

#[test]
fn rename_updates_all_references() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/common.kdl", COMMON);
    let place = position(COMMON, "LANES", 0);
    let prepared = client.at("textDocument/prepareRename", "layouts/common.kdl", &place);
    assert_eq!(prepared["placeholder"], "LANES");
    for (part, new) in [("LANES", "WIDTH"), ("blocked", "tiled"), ("block=", "by"), ("batch", "b")]
    {
        let place = position(COMMON, part, 0);
        let edit = client.with_more(
            "textDocument/rename",
            "layouts/common.kdl",
            &place,
            json!({ "newName": new }),
        );
        let common = edited(COMMON, &edit["changes"][client.uri("layouts/common.kdl")]);
        let user = edited(USER, &edit["changes"][client.uri("layouts/user.kdl")]);
        let word = part.trim_end_matches('=');
        let (wanted, used) = if word == "block" {
            let wanted = COMMON.replace("block=", "by=").replace("// block", "// by");
            (wanted.replace("% block", "% by"), USER.replace("block=", "by="))
        } else {
            (COMMON.replace(word, new), USER.replace(word, new))
        };
        assert_eq!((common, user), (wanted, used));
    }
    let references = client.with_more(
        "textDocument/references",
        "layouts/common.kdl",
        &place,
        json!({ "context": { "includeDeclaration": false } }),
    );
    assert_eq!(references.as_array().map(Vec::len), Some(3), "{references}");
    for (new, message) in [
        (
            "2x",
            "`2x` is not a name: names consist of ASCII letters, digits and `_`, and do not begin with a digit",
        ),
        ("batch", "`batch` is already declared in `layouts/common.kdl`"),
    ] {
        let id = client.ask(
            "textDocument/rename",
            json!({
                "textDocument": { "uri": client.uri("layouts/common.kdl") },
                "position": place, "newName": new,
            }),
        );
        assert_eq!(client.answer(id)["error"]["message"], message);
    }
}

#[test]
fn inlay_hints_show_axes_after_each_step() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/user.kdl", USER);
    let params = json!({
        "textDocument": { "uri": client.uri("layouts/user.kdl") },
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } },
    });
    let hints = client.request("textDocument/inlayHint", params);
    let hints: Vec<(u64, &str)> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|h| {
            (h["position"]["line"].as_u64().expect("a line"), h["label"].as_str().expect("a text"))
        })
        .collect();
    assert_eq!(
        hints,
        [
            (3, "n batch, c_outer 4, c_inner 4"),
            (7, "n batch, c_outer 4, c_inner 4"),
            (8, "c_outer 4, n batch, c_inner 4"),
        ]
    );
}

#[test]
fn document_symbols_and_folding_ranges_are_listed() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    client.open("layouts/user.kdl", USER);
    let document = json!({ "textDocument": { "uri": client.uri("layouts/user.kdl") } });
    let items = client.request("textDocument/documentSymbol", document.clone());
    let items: Vec<&str> =
        items.as_array().expect("a list").iter().filter_map(|i| i["detail"].as_str()).collect();
    assert_eq!(items, ["tensor f32", "tensor", "convert other"]);
    let folds = client.request("textDocument/foldingRange", document);
    let lines: Vec<(u64, u64)> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|f| (f["startLine"].as_u64().expect("a line"), f["endLine"].as_u64().expect("a line")))
        .collect();
    assert_eq!(lines, [(1, 3), (5, 9), (6, 8)]);
}

#[test]
fn formatting_edits_only_differing_lines() {
    let sandbox = project();
    let mut client = Client::start(&sandbox);
    let untidy = "// The image.\ntensor  a   dtype=f32 {\n  shape {n 2;c 3}  // Pixels.\n}\n";
    client.open("layouts/common.kdl", untidy);
    let document = json!({ "uri": client.uri("layouts/common.kdl") });
    let params =
        json!({ "textDocument": document, "options": { "tabSize": 4, "insertSpaces": true } });
    let edits = client.request("textDocument/formatting", params.clone());
    let tidy = "tensor a dtype=f32 {\n    shape { n 2; c 3 }  // Pixels.\n";
    let lines =
        json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 3, "character": 0 } });
    assert_eq!(edits, json!([{ "range": lines, "newText": tidy }]));
    client.change("layouts/common.kdl", json!([{ "range": lines, "text": tidy }]));
    assert_eq!(client.request("textDocument/formatting", params.clone()), json!([]));
    client.change("layouts/common.kdl", json!([{ "text": "tensor {" }]));
    assert_eq!(client.request("textDocument/formatting", params), Value::Null);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn open_used_manifest_outside_sources_is_checked() {
    let text = "tensor t dtype=float { shape { n 4 } }\n";
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", ""),
        ("layouts/b.kdl", "use \"../common.kdl\"\n"),
        ("common.kdl", text),
    ]);
    let mut client = Client::start(&sandbox);
    client.open("common.kdl", text);
    assert_eq!(codes(&client.diagnostics("common.kdl")), ["dtype::unknown"]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn diagnostics_of_a_use_cycle_do_not_depend_on_edits() {
    let circle = ["a", "b", "c", "user"].into_iter().zip(["b", "c", "a", "b"]);
    let texts: Vec<(String, String)> = circle
        .map(|(file, used)| (format!("layouts/{file}.kdl"), format!("use \"{used}.kdl\"\n")))
        .collect();
    let mut manifests = vec![("layoutc.toml", "")];
    manifests.extend(texts.iter().map(|(file, text)| (file.as_str(), text.as_str())));
    let sandbox = Sandbox::new(&manifests);
    let mut client = Client::start(&sandbox);
    let own = "layouts/c.kdl";
    let first = client.diagnostics(own);
    assert_eq!(codes(&first), ["name::cycle"]);
    let cycle = ["a", "b", "c", "a"].map(|file| format!("layouts/{file}.kdl")).join(" → ");
    let message = first[0]["message"].as_str().expect("a message");
    assert!(message.contains(&cycle), "{message}");
    // Breaking and fixing each file in turn reports the cycle in the same words.
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        for (file, text) in order.map(|k| &texts[k]) {
            client.open(file, text);
            for edited in [format!("{text}zork\n"), text.clone()] {
                client.change(file, json!([{ "text": edited }]));
                let mut is_told = false;
                while !is_told {
                    let report = client.next()["params"].clone();
                    let found = report["diagnostics"].as_array().cloned().unwrap_or_default();
                    let (cycles, others): (Vec<Value>, Vec<Value>) =
                        found.into_iter().partition(|report| report["code"] == "name::cycle");
                    let is_own = report["uri"] == client.uri(own);
                    assert_eq!(cycles, if is_own { first.clone() } else { Vec::new() }, "{file}");
                    let is_wrong = edited.len() > text.len();
                    is_told = report["uri"] == client.uri(file) && is_wrong != others.is_empty();
                }
            }
            client.close(file);
        }
    }
}
