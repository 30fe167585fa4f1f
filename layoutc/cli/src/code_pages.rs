//! Pages of `layoutc explain`, from `book/src/codes`.

/// (code, Markdown), sorted by code.
pub(crate) const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(id, _)| *id == code).map(|(_, text)| *text)
}
