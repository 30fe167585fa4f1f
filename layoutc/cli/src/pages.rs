//! The pages of `layoutc explain`, as `book/src/codes` has them.

/// `(code, Markdown)`, by code.
pub(crate) const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(id, _)| *id == code).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use layoutc_compiler::codes::Code;

    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.id()).collect();
        let missing: Vec<&&str> = codes.iter().filter(|code| page(code).is_none()).collect();
        assert!(missing.is_empty(), "codes without a page: {missing:?}");
        let pages = PAGES.iter().map(|(id, _)| *id);
        let strange: Vec<&str> = pages.filter(|id| !codes.contains(id)).collect();
        assert!(strange.is_empty(), "pages without a code: {strange:?}");
    }

    #[test]
    fn every_page_has_its_title_and_both_examples() {
        for (id, text) in PAGES {
            assert!(text.starts_with(&format!("# {id}\n")), "{id}: no title");
            for part in ["\n## Wrong\n", "\n## Mended\n"] {
                assert!(text.contains(part), "{id}: no {}", part.trim());
            }
        }
    }
}
