//! Syntax highlighting of KDL text: [`highlight`] gives byte ranges with their syntax classes, for any text.

use std::ops::Range;

use super::lenient::slice;
use super::lex::{self, KdlToken, KdlTokenKind};

/// Syntax class of a highlighted byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HighlightKind {
    /// Comment, or `/-` mark.
    Comment,
    /// Name of a node, such as `tensor`.
    Node,
    /// Key of a property, such as `dtype`.
    Property,
    /// Quoted string, or a character that KDL does not allow.
    String,
    /// Number.
    Number,
    /// Keyword, such as `#true`.
    Keyword,
}

/// Byte ranges of a text with their syntax classes, disjoint and in order. Unquoted arguments that are neither numbers
/// nor keywords, braces and `=` are in no range.
pub fn highlight(text: &str) -> Vec<(Range<usize>, HighlightKind)> {
    let tokens = lex::lex_lossy(text);
    let mut parts = Vec::new();
    let (mut behind, mut begins) = (0, true);
    for (k, token) in tokens.iter().enumerate() {
        parts.extend(comment(text, behind..token.span.start));
        behind = token.span.end;
        let is_key = tokens.get(k + 1).is_some_and(|next| next.kind == KdlTokenKind::Equals);
        let paint = match token.kind {
            KdlTokenKind::Bare
            | KdlTokenKind::Quoted { .. }
            | KdlTokenKind::MultiLine
            | KdlTokenKind::Bad
                if begins =>
            {
                Some(HighlightKind::Node)
            }
            KdlTokenKind::Bare | KdlTokenKind::Quoted { .. } if is_key => {
                Some(HighlightKind::Property)
            }
            KdlTokenKind::SlashDash => Some(HighlightKind::Comment),
            _ => value(text, token),
        };
        parts.extend(paint.map(|paint| (token.span.clone(), paint)));
        begins = match token.kind {
            KdlTokenKind::End | KdlTokenKind::Open | KdlTokenKind::Close => true,
            KdlTokenKind::SlashDash => begins,
            _ => false,
        };
    }
    parts.extend(comment(text, behind..text.len()));
    parts
}

fn value(text: &str, token: &KdlToken) -> Option<HighlightKind> {
    match token.kind {
        KdlTokenKind::Quoted { .. } | KdlTokenKind::MultiLine | KdlTokenKind::Bad => {
            Some(HighlightKind::String)
        }
        KdlTokenKind::Bare => {
            let word = slice(text, &token.span);
            let digits = word.trim_start_matches(['+', '-']);
            match word.chars().next() {
                Some('#') => Some(HighlightKind::Keyword),
                _ if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                    Some(HighlightKind::Number)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Range from the first comment in the byte range `gap` between two tokens to the end of `gap`, without trailing white
/// space, paired with [`HighlightKind::Comment`]; `None` if there are no comments.
fn comment(text: &str, gap: Range<usize>) -> Option<(Range<usize>, HighlightKind)> {
    let between = slice(text, &gap);
    let first = between.trim_start();
    if !first.starts_with(['/', '\\', '\u{feff}']) {
        return None;
    }
    let start = gap.start + between.find('/')?;
    let end = gap.start + between.trim_end().len();
    (start < end).then_some((start..end, HighlightKind::Comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(text: &str) -> Vec<(&str, HighlightKind)> {
        highlight(text).into_iter().map(|(span, paint)| (text.get(span).unwrap(), paint)).collect()
    }

    #[test]
    fn names_values_and_comments_get_different_tokens() {
        use HighlightKind::{Comment, Keyword, Node, Number, Property, String};
        let text = "// a\ntensor t dtype=f32 { shape { n -8; \"c d\" 0x1f } } /* b\n */ x #true \"s\" \\ // z\n 1\n/-y\n";
        assert_eq!(
            painted(text),
            [
                ("// a", Comment),
                ("tensor", Node),
                ("dtype", Property),
                ("shape", Node),
                ("n", Node),
                ("-8", Number),
                ("\"c d\"", Node),
                ("0x1f", Number),
                ("/* b\n */", Comment),
                ("x", Node),
                ("#true", Keyword),
                ("\"s\"", String),
                ("// z", Comment),
                ("1", Number),
                ("/-", Comment),
                ("y", Node),
            ]
        );
    }

    #[test]
    fn highlight_spans_are_ordered_for_any_text() {
        for text in [
            "",
            "\"",
            "\"\"\"a\nb",
            "/* never",
            "\u{feff}// x",
            "a \\ b",
            "層 =層",
            "}{=;\\",
            "/-/-",
        ] {
            let mut behind = 0;
            for (span, _) in highlight(text) {
                assert!(span.start >= behind && span.start < span.end, "{text:?}");
                assert!(text.get(span.clone()).is_some(), "{text:?}");
                behind = span.end;
            }
        }
    }
}
