//! Pages about diagnostic codes that `layoutc explain` prints, embedded from `book/src/codes`.

/// Pages as (diagnostic code, Markdown text), sorted by code.
pub(crate) const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(id, _)| *id == code).map(|(_, text)| *text)
}
