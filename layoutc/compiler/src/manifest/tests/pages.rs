//! The pages of the codes that are raised here: the wrong block raises its code alone, the mended one nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::codes::Code;
use crate::config;
use crate::diagnostic::Diagnostic;

/// The codes that this part of the compiler raises.
const CODES: &[Code] = &[
    Code::KdlSyntax,
    Code::KdlCharacter,
    Code::KdlNumber,
    Code::KdlMissing,
    Code::KdlSurplus,
    Code::KdlTwice,
    Code::KdlValue,
    Code::KdlNesting,
    Code::NameUnknown,
    Code::NameInvalid,
    Code::NameDuplicate,
    Code::NameNotYet,
    Code::ShapeForm,
    Code::ShapeExtent,
    Code::ShapeLabels,
    Code::ExprUnquoted,
    Code::ExprEscape,
    Code::StepForm,
    Code::ConfigSyntax,
    Code::ConfigUnknownKey,
    Code::ConfigValue,
    Code::ConfigPath,
];

#[expect(clippy::disallowed_methods, reason = "a test of files in the repository")]
fn page(code: Code) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/codes");
    let path: PathBuf = code.id().split("::").collect();
    let path = root.join(path).with_extension("md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The language and the text of the block below a heading.
fn block<'p>(page: &'p str, heading: &str) -> (&'p str, &'p str) {
    let (_, rest) = page.split_once(heading).unwrap();
    let (_, rest) = rest.split_once("```").unwrap();
    let (language, rest) = rest.split_once('\n').unwrap();
    (language, rest.split_once("```").unwrap().0)
}

fn diagnostics((language, text): (&str, &str)) -> Vec<Diagnostic> {
    let file = Arc::from("page");
    match language {
        "toml" => config::parse(&file, text).err().unwrap_or_default(),
        _ => crate::manifest::parse(&file, text).1,
    }
}

#[test]
fn every_code_has_a_page_whose_wrong_block_raises_it_and_whose_mended_block_does_not() {
    for &code in CODES {
        let page = page(code);
        assert!(page.starts_with(&format!("# {}\n", code.id())), "{page}");
        let found: Vec<_> = diagnostics(block(&page, "## Wrong")).iter().map(|d| d.code).collect();
        assert_eq!(found, [code], "{page}");
        assert_eq!(diagnostics(block(&page, "## Mended")), [], "{page}");
    }
}
