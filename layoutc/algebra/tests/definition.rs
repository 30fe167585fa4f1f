//! Layouts from text: errors as their users read them.
#![allow(clippy::unwrap_used, reason = "a test")]

use layoutc_algebra::builder::definition::LayoutDefinition;
use layoutc_algebra::layout::{Layout, Verdict};

#[test]
fn errors_name_the_fault() {
    for (map, text) in [
        ("(n, c) -> (n, c // 4)", "elements [0, 0] and [0, 1] share the slot [0, 0]"),
        ("(n, c) -> (n, c // 4, c % 4", "expected an operator or `)`, found `,`"),
        ("(n, c) -> (n, x)", "unknown name `x`: expected an axis, const, parameter or symbol"),
    ] {
        let built = Layout::builder([("n", 16), ("c", 128)]).map(map);
        let error = built.and_then(LayoutDefinition::prove).unwrap_err();
        assert_eq!(error.to_string(), text, "{map}");
    }
}

#[test]
fn maps_compose_and_domains_restrict() {
    let twice = Layout::builder([("n", 4), ("c", 8)])
        .map("(n, c) -> (n, c // 4, c % 4)")
        .and_then(|definition| definition.map("(n, o, i) -> (o, n, i)"));
    let once = Layout::builder([("n", 4), ("c", 8)]).map("(n, c) -> (c // 4, n, c % 4)");
    let (twice, once) = (twice.unwrap().prove().unwrap(), once.unwrap().prove().unwrap());
    assert_eq!(twice.same_as(&once), Ok(Some(true)));
    let triangle = Layout::builder([("i", 5), ("j", 5)])
        .restrict("j <= i")
        .map("(i, j) -> (i * (i + 1) // 2 + j)")
        .unwrap()
        .prove()
        .unwrap();
    assert_eq!((triangle.verdict(), triangle.offset_of(&[4, 4])), (Verdict::Bijective, Ok(14)));
    assert!(triangle.offset_of(&[0, 1]).is_err());
}
