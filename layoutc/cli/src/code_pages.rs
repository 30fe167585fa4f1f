//! The pages of `layoutc explain`, as `book/src/codes` has them.

/// `(code, Markdown)`, by code.
pub(crate) const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(id, _)| *id == code).map(|(_, text)| *text)
}
