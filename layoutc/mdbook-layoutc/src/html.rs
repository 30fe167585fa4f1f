//! HTML of a KDL block, on one line so that it can replace a fence in a list or quotation.

use std::ops::Range;

use layoutc_compiler::manifest::highlight::{HighlightKind, highlight};

/// HTML of a manifest, highlighted with the classes that the themes of mdBook define. The class `nohighlight`
/// disables mdBook's own highlighter, which does not know KDL.
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

/// Name of highlight.js's CSS class for the kind of text `paint`, without the prefix `hljs-`.
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

/// Text with HTML escapes, also for line breaks: a blank line could end an HTML block, and in a Markdown list or
/// quotation every line would need its marker.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('\r', "&#13;").replace('\n', "&#10;")
}
