//! HTML for a block: one line, so that it can stand wherever a fence can.

use std::ops::Range;

use layoutc_compiler::manifest::highlight::{HighlightKind, highlight};

/// A manifest in the colours that mdBook has for code in each of its themes. Its own highlighter, which does not know
/// KDL, leaves it alone.
pub(super) fn code(text: &str) -> String {
    let mut out = "<pre><code class=\"kdl nohighlight hljs\">".to_owned();
    let mut behind = 0;
    for (span, paint) in highlight(text) {
        let part = |span: Range<usize>| text.get(span).map(escaped).unwrap_or_default();
        out.push_str(&part(behind..span.start));
        behind = span.end;
        out.push_str(&format!("<span class=\"hljs-{}\">{}</span>", class(paint), part(span)));
    }
    out.push_str(&text.get(behind..).map(escaped).unwrap_or_default());
    out + "</code></pre>"
}

/// highlight.js's name for it.
fn class(paint: HighlightKind) -> &'static str {
    match paint {
        HighlightKind::Comment => "comment",
        HighlightKind::Node => "keyword",
        HighlightKind::Property => "attr",
        HighlightKind::String => "string",
        HighlightKind::Number => "number",
        HighlightKind::Keyword => "literal",
    }
}

/// The text without line breaks: a blank line could end the block, and a container would want its mark on each line.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\r', "&#13;").replace('\n', "&#10;")
}
