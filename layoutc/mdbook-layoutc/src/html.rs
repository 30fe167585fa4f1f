//! HTML of a block, on one line so that it can replace a fence anywhere.

use std::ops::Range;

use layoutc_compiler::manifest::highlight::{HighlightKind, highlight};

/// Highlights a manifest with the classes that mdBook's themes define. `nohighlight` disables mdBook's own
/// highlighter, which does not know KDL.
pub(crate) fn code(text: &str) -> String {
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

/// Name of highlight.js.
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

/// Escapes line breaks too: a blank line could end the block, and a container would need its marker on each line.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\r', "&#13;").replace('\n', "&#10;")
}
