//! Fenced KDL blocks of a chapter, and the pictures that they request.

use std::ops::Range;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

#[derive(Debug)]
pub(crate) struct CodeFence {
    /// Byte range of the block in the chapter, including the fences.
    pub(crate) span: Range<usize>,
    /// Info string of the block, which follows the opening fence.
    pub(crate) info: String,
    pub(crate) text: String,
    /// Pairs `(in_text, in_chapter)` of byte offsets, one for each fragment of `text` that is contiguous in the
    /// chapter. Both are offsets of the start of the fragment. A block in a list or quotation has one fragment per
    /// line.
    pieces: Vec<(usize, usize)>,
}

impl CodeFence {
    /// Converts the byte offset `byte` in the text of the block to one in the chapter.
    pub(crate) fn place(&self, byte: usize) -> usize {
        let piece = self.pieces.iter().rev().find(|piece| piece.0 <= byte);
        piece.map_or(self.span.start, |(text, chapter)| chapter + byte - text)
    }

    /// Path of the file that the block defines, from a comment in its first line; `None` without such a comment.
    pub(crate) fn path(&self) -> Option<&str> {
        let comment = self.text.lines().next()?.strip_prefix("//")?.trim();
        let is_kdl = Path::new(comment).extension().is_some_and(|extension| extension == "kdl");
        (is_kdl && !comment.contains(char::is_whitespace)).then_some(comment)
    }
}

/// KDL blocks of a chapter, in order.
pub(crate) fn fences(chapter: &str) -> Vec<CodeFence> {
    let mut found = Vec::new();
    let mut open: Option<CodeFence> = None;
    // Extensions of mdBook that may enclose a block.
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_DEFINITION_LIST
        | Options::ENABLE_GFM;
    for (event, span) in Parser::new_ext(chapter, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if is_kdl(&info) => {
                let info = info.to_string();
                open = Some(CodeFence { span, info, text: String::new(), pieces: Vec::new() });
            }
            Event::Text(text) => {
                if let Some(fence) = &mut open {
                    fence.pieces.push((fence.text.len(), span.start));
                    fence.text.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

fn is_kdl(info: &str) -> bool {
    info.split([',', ' ', '\t']).next() == Some("kdl")
}

/// Picture that a block requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PictureRequest {
    /// Name of the tensor or view to draw.
    pub(crate) tensor: String,
    /// Names of the axes that are drawn down and across, in this order; empty for the last two axes.
    pub(crate) axes: Vec<String>,
    /// Fixed indices on axes that are not drawn, each as `NAME=INDEX`.
    pub(crate) at: Vec<String>,
}

/// Parses the picture request in an info string such as `kdl,layout=NAME axes=h,w at=n=0,c=1`; `None` without `layout`.
///
/// # Errors
/// A message about the first word that cannot be assigned, for example a word before the first key.
pub(crate) fn picture_request(info: &str) -> Result<Option<PictureRequest>, String> {
    let words = info.split([',', ' ', '\t']).filter(|word| !word.is_empty()).skip(1);
    if !words.clone().any(|word| word.starts_with("layout=")) {
        return Ok(None);
    }
    let mut request = PictureRequest::default();
    let mut key = "";
    for word in words {
        // A word without a key continues the previous list.
        let value = match word.split_once('=') {
            Some((known @ ("layout" | "axes" | "at"), value)) => {
                key = known;
                value
            }
            Some(_) | None => word,
        };
        match key {
            "layout" if request.tensor.is_empty() => value.clone_into(&mut request.tensor),
            "axes" => request.axes.push(value.to_owned()),
            "at" => request.at.push(value.to_owned()),
            _ => {
                return Err(format!(
                    "unknown word `{word}`; expected `kdl,layout=NAME`, then `axes=DOWN,ACROSS` and `at=NAME=INDEX`"
                ));
            }
        }
    }
    Ok(Some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_words_request_a_picture() {
        let strings = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        let one = |tensor: &str, axes: &[&str], at: &[&str]| {
            Ok(Some(PictureRequest {
                tensor: tensor.to_owned(),
                axes: strings(axes),
                at: strings(at),
            }))
        };
        assert_eq!(picture_request("kdl"), Ok(None));
        assert_eq!(picture_request("kdl,map::not_injective"), Ok(None));
        assert_eq!(picture_request("kdl,layout=t"), one("t", &[], &[]));
        assert_eq!(picture_request("kdl, layout=t, axes=h,w"), one("t", &["h", "w"], &[]));
        assert_eq!(
            picture_request("kdl,layout=t axes=h,w at=n=0,c=1"),
            one("t", &["h", "w"], &["n=0", "c=1"])
        );
        for (info, word) in [("kdl,layout=t,u", "u"), ("kdl,x layout=t", "x")] {
            let error = picture_request(info).unwrap_err();
            assert!(error.starts_with(&format!("unknown word `{word}`; expected")), "{error}");
        }
    }

    #[test]
    fn block_offsets_map_to_chapter_offsets() {
        let chapter =
            "a\n\n- b\n  ```kdl\n  x 1\n  y 2\n  ```\n\n> ```kdl,k\n> z\n> ```\n\n```c\nx\n```\n";
        let found = fences(chapter);
        let texts: Vec<(&str, &str)> =
            found.iter().map(|fence| (fence.info.as_str(), fence.text.as_str())).collect();
        assert_eq!(texts, [("kdl", "x 1\ny 2\n"), ("kdl,k", "z\n")]);
        for (fence, word) in [(0, "y 2"), (1, "z")] {
            let fence = &found[fence];
            let place = fence.place(fence.text.find(word).unwrap());
            assert!(chapter[place..].starts_with(word), "{word}");
        }
    }
}
