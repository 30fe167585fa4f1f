use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan};

use super::*;

const MANIFEST: &str = "tensor input dtype=f32 {\n    shape { n 4; c 8 }\n    layout {\n        \
                        map \"(n, c) -> (n, c % 4)\"\n    }\n}\n";

/// Span of the first `what` in `text`.
fn place(file: &str, text: &str, what: &str) -> FileSpan {
    let start = text.find(what).expect("the text holds it");
    FileSpan::new(&Arc::from(file), start..start + what.len())
}

fn rendered(text: &str, diagnostic: &Diagnostic) -> String {
    human::render(diagnostic, &|_| Some(DiagnosticSource::whole(text)), false)
}

fn refusal() -> Diagnostic {
    let message = "two elements of `input` share a slot";
    let place = place("layouts/a.kdl", MANIFEST, "c % 4");
    Diagnostic::error(Code::MapNotInjective, message, place, "drops c // 4")
        .note("input[0, 0] and input[0, 4] both map to (0, 0)")
        .help("keep the quotient too: `(n, c // 4, c % 4)`")
        .witness(vec![vec![0, 0], vec![0, 4]])
}

#[test]
fn diagnostics_render_as_documented() {
    assert_eq!(
        rendered(MANIFEST, &refusal()),
        "\
error[map::not_injective]: two elements of `input` share a slot
  ┌─ layouts/a.kdl:4:28
1 │ tensor input dtype=f32 {
...
4 │         map \"(n, c) -> (n, c % 4)\"
  │                            ^^^^^ drops c // 4
  = input[0, 0] and input[0, 4] both map to (0, 0)
  = help: keep the quotient too: `(n, c // 4, c % 4)`
"
    );
}

#[test]
fn json_diagnostic_is_one_line_with_byte_positions() {
    let line = json::render(&refusal(), &|_| Some(DiagnosticSource::whole(MANIFEST)));
    assert_eq!(
        line,
        concat!(
            r#"{"kind":"diagnostic","severity":"error","code":"map::not_injective","#,
            r#""message":"two elements of `input` share a slot","#,
            r#""labels":[{"file":"layouts/a.kdl","start":88,"end":93,"line":4,"column":28,"#,
            r#""message":"drops c // 4","primary":true}],"#,
            r#""notes":["input[0, 0] and input[0, 4] both map to (0, 0)"],"#,
            r#""witness":[[0,0],[0,4]],"help":["keep the quotient too: `(n, c // 4, c % 4)`"],"#,
            r#""docs":"layoutc explain map::not_injective"}"#,
            "\n"
        )
    );
}

#[test]
fn json_fixes_are_given_if_the_source_is_available() {
    let fixed = refusal().fix(place("layouts/a.kdl", MANIFEST, "(n, c % 4)"), "(n, c // 4, c % 4)");
    let line = json::render(&fixed, &|_| Some(DiagnosticSource::whole(MANIFEST)));
    let object: serde_json::Value = serde_json::from_str(&line).expect("one object");
    let fix = serde_json::json!([{
        "label": "replace `(n, c % 4)` by `(n, c // 4, c % 4)`",
        "edits": [
            { "file": "layouts/a.kdl", "start": 84, "end": 94, "text": "(n, c // 4, c % 4)" },
        ],
    }]);
    assert_eq!(object["fixes"], fix);
    let without: serde_json::Value =
        serde_json::from_str(&json::render(&fixed, &|_| None)).expect("one object");
    assert_eq!(without.get("fixes"), None);
}

#[test]
fn secondary_labels_have_their_own_line_numbers() {
    let text = "const A 1\ntensor a\ntensor a\n";
    let file = Arc::from("a.kdl");
    let first = Diagnostic::error(
        Code::NameUnknown,
        "two tensors of one name",
        FileSpan::new(&file, 26..27),
        "again",
    )
    .with_label(FileSpan::new(&file, 19..25), "a tensor")
    .with_label(FileSpan::new(&file, 17..18), "first here");
    assert_eq!(
        rendered(text, &first),
        "\
error[name::unknown]: two tensors of one name
  ┌─ a.kdl:3:8
3 │ tensor a
  │        ^ again
  │ ------ a tensor
  ┌─ a.kdl:2:8
2 │ tensor a
  │        - first here
"
    );
}

#[test]
fn item_header_is_shown_once_above_its_labels() {
    let text =
        "tensor a {\n    shape { n 4 }\n    tile 2\n}\n\nview b of=a {\n    shape { n 5 }\n}\n";
    let diagnostic =
        Diagnostic::error(Code::ShapeView, "no", place("a.kdl", text, "n 5"), "5 here")
            .with_label(place("a.kdl", text, "n 4"), "4 here")
            .with_label(place("a.kdl", text, "tile 2"), "then this");
    assert_eq!(
        rendered(text, &diagnostic),
        "\
error[shape::view]: no
  ┌─ a.kdl:7:13
6 │ view b of=a {
7 │     shape { n 5 }
  │             ^^^ 5 here
  ┌─ a.kdl:2:13
1 │ tensor a {
2 │     shape { n 4 }
  │             --- 4 here
  ┌─ a.kdl:3:5
3 │     tile 2
  │     ------ then this
"
    );
}

#[test]
fn labels_in_unreadable_files_have_no_excerpt() {
    let lookup = |file: &str| (file == "a.kdl").then(|| DiagnosticSource::whole("use \"b.kdl\"\n"));
    let text = "use \"b.kdl\"\n";
    let diagnostic =
        Diagnostic::error(Code::NameUnknown, "no such file", place("a.kdl", text, "\"b.kdl\""), "")
            .with_label(FileSpan::new(&Arc::from("b.kdl"), 7..9), "not UTF-8 here");
    assert_eq!(
        human::render(&diagnostic, &lookup, false),
        "\
error[name::unknown]: no such file
  ┌─ a.kdl:1:5
1 │ use \"b.kdl\"
  │     ^^^^^^^
  ┌─ b.kdl
  │ not UTF-8 here
"
    );
}

#[test]
fn tabs_and_wide_characters_keep_the_caret_below_its_character() {
    let text = "\tname \"層層\" x\n";
    let diagnostic =
        Diagnostic::warning(Code::NameUnknown, "hm", place("a.kdl", text, "x"), "here");
    assert_eq!(
        rendered(text, &diagnostic),
        "\
warning[name::unknown]: hm
  ┌─ a.kdl:1:12
1 │     name \"層層\" x
  │                 ^ here
"
    );
    let wide = Diagnostic::warning(Code::NameUnknown, "hm", place("a.kdl", text, "層層"), "");
    assert!(rendered(text, &wide).ends_with("  │           ^^^^\n"), "{}", rendered(text, &wide));
}

#[test]
fn multiline_spans_are_underlined_on_their_first_line() {
    let text = "layout {\n    tile 8\n}\n";
    let diagnostic =
        Diagnostic::error(Code::KdlSyntax, "bad", FileSpan::new(&Arc::from("a.kdl"), 7..20), "all");
    assert_eq!(
        rendered(text, &diagnostic),
        "error[kdl::syntax]: bad\n  ┌─ a.kdl:1:8\n1 │ layout {\n  │        ^... all\n"
    );
}

#[test]
fn an_empty_span_and_the_end_of_the_file_have_one_caret() {
    let text = "layout {\n";
    let at = |span| {
        let place = FileSpan::new(&Arc::from("a.kdl"), span);
        rendered(text, &Diagnostic::error(Code::KdlSyntax, "bad", place, ""))
    };
    assert_eq!(at(3..3), "error[kdl::syntax]: bad\n  ┌─ a.kdl:1:4\n1 │ layout {\n  │    ^\n");
    let end = "error[kdl::syntax]: bad\n  ┌─ a.kdl:1:9\n1 │ layout {\n  │         ^\n";
    assert_eq!(at(9..9), end);
    assert_eq!(at(8..9), end);
    assert_eq!(at(99..120), end);
}

#[test]
fn empty_file_has_a_position() {
    let place = FileSpan::new(&Arc::from("a.kdl"), 0..0);
    let diagnostic = Diagnostic::error(Code::KdlSyntax, "nothing here", place, "");
    assert_eq!(
        rendered("", &diagnostic),
        "error[kdl::syntax]: nothing here\n  ┌─ a.kdl:1:1\n1 │\n  │ ^\n"
    );
}

#[test]
fn long_lines_are_truncated_around_the_span() {
    let text = format!("{}BAD{}\n", "a".repeat(500), "z".repeat(500));
    let diagnostic = Diagnostic::error(Code::KdlSyntax, "bad", place("a.kdl", &text, "BAD"), "it");
    assert_eq!(
        rendered(&text, &diagnostic),
        format!(
            "error[kdl::syntax]: bad\n  ┌─ a.kdl:1:501\n1 │ …{}BAD{}…\n  │ {}^^^ it\n",
            "a".repeat(30),
            "z".repeat(67),
            " ".repeat(31)
        )
    );
    let all =
        Diagnostic::error(Code::KdlSyntax, "bad", FileSpan::new(&Arc::from("a.kdl"), 0..1003), "");
    let underline = format!("  │ {}...\n", "^".repeat(100));
    assert!(rendered(&text, &all).ends_with(&underline), "{}", rendered(&text, &all));
}

#[test]
fn control_characters_are_escaped_on_the_terminal() {
    let text = "map \"a\u{202e}b\"\u{1b}[2J\n";
    let diagnostic = Diagnostic::error(
        Code::KdlSyntax,
        "no \u{1b}[31m here",
        place("a.kdl", text, "b"),
        "at\u{200b}",
    )
    .note("one\ntwo\r");
    assert_eq!(
        rendered(text, &diagnostic),
        "\
error[kdl::syntax]: no \\u{1b}[31m here
  ┌─ a.kdl:1:8
1 │ map \"a\\u{202e}b\"\\u{1b}[2J
  │               ^ at\\u{200b}
  = one
    two\\u{d}
"
    );
}

#[test]
fn colors_appear_only_on_request() {
    let lookup = |_: &str| Some(DiagnosticSource::whole(MANIFEST));
    let colored = human::render(&refusal(), &lookup, true);
    assert!(colored.starts_with("\x1b[1;31merror[map::not_injective]\x1b[0m"), "{colored:?}");
    assert!(colored.contains("\x1b[36m┌─\x1b[0m"), "{colored:?}");
    let mut plain = colored;
    for code in ["\x1b[1;31m", "\x1b[31m", "\x1b[36m", "\x1b[1m", "\x1b[0m"] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, human::render(&refusal(), &lookup, false));
}

#[test]
fn diagnostics_are_capped_and_counted() {
    let mut report = Report::default();
    report.text("layouts/a.kdl".to_owned(), Arc::from(MANIFEST));
    report.add((0..60).map(|_| refusal()));
    let file: Arc<str> = Arc::from("layouts/a.kdl");
    report.add([Diagnostic::warning(Code::NameUnknown, "hm", FileSpan::new(&file, 0..1), "")]);
    let text = report.text_for_people(false);
    assert_eq!(text.matches("error[").count(), CAP);
    assert!(
        text.ends_with(
            "\n\n… and 10 more errors\n\n60 errors, 1 warning\n\
                    for more information about a code, run `layoutc explain map::not_injective`\n"
        ),
        "{text}"
    );
}
