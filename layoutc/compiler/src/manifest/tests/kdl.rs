//! Test of the diagnostics for characters that KDL does not allow, such as U+202E.

use super::read;

#[test]
fn nul_bidi_and_inner_bom_are_refused() {
    let text = "const A\u{0} 1\nconst B \"x\u{202e}y\"\n// \u{200f}\n/* \u{feff} */";
    let faults = read(text).1;
    let found: Vec<_> = faults.iter().map(|f| (f.code.id(), f.message.as_str())).collect();
    let expected = ["U+0000", "U+202E", "U+200F", "U+FEFF"]
        .map(|code| format!("the character {code} is not allowed in a manifest"));
    assert_eq!(found, expected.each_ref().map(|text| ("kdl::character", text.as_str())));
}
