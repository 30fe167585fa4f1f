//! Kernels that nest too deeply, and every mutation of one: the check ends soon and marks places in the text.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::check_text::diagnostics as found;

const TENSORS: &str = "\
const TWO 2
symbol n min=2 max=64
tensor a dtype=f32 { shape { i 8; j 32 } }
tensor b dtype=f32 { shape { i 8; j 32 } }
tensor v dtype=f32 { shape { i 8 } }
tensor k dtype=i32 { shape { i 8; j 32 } }
tensor q dtype=i8 { shape { i 8; j 32 } }
tensor u dtype=u32 { shape { i 8; j 32 } }
tensor d dtype=f64 { shape { i 8; j 32 } }
tensor t dtype=bool { shape { i 8; j 32 } }
tensor z dtype=c64 { shape { i 8; j 32 } }
tensor s dtype=f32 { shape { x n } }
tensor blocked like=a { layout { split j by=8; order i j_outer j_inner } }
";

/// A kernel of one statement and `more` nodes.
fn kernel(compute: &str, more: &str) -> String {
    format!("{TENSORS}kernel run {{ compute \"{compute}\"; {more} }}\n")
}

#[test]
fn deeply_nested_statements_are_refused() {
    let help = ["split it into several statements"];
    let message = "the statement is nested deeper than 256, or too long";
    for value in [
        format!("{}1{}", "(".repeat(300), ")".repeat(300)),
        format!("{}1", "-".repeat(300)),
        vec!["1.0"; 300].join(" + "),
        format!("{}1", "a[i, j] ?? ".repeat(300)),
        "exp(".repeat(10_000),
    ] {
        let found = found(&kernel(&format!("b[i, j] = {value}"), ""));
        let codes: Vec<_> = found.iter().map(|d| (d.code.id(), d.message.as_str())).collect();
        assert_eq!(codes, [("expr::nesting", message)], "{value}");
        assert_eq!(found[0].help, help);
    }
    assert_eq!(
        found(&kernel(&format!("b[i, j] = {}1{}", "(".repeat(200), ")".repeat(200)), "")),
        []
    );
}

/// The check of every mutation terminates quickly, with diagnostics whose spans are in the text.
#[test]
fn kernel_mutations_have_valid_spans() {
    let text = kernel(
        "T[i] += (a[i, 31 - j] ?? -1.5e-3) * f32(k[i, j // 2]) + select(i < TWO and not t[i, j], 1.0, exp(b[i, j]))",
        "compute \"v[i] max= min(T[i], inf, 2) - a[i, r*4 + 1]\"; local T dtype=f32 { layout { split i by=4 } }; range r 3; \
         acc f64; tile i r by=\"4 1\"; vectorize i_inner; parallel i_outer",
    );
    assert_eq!(found(&text), []);
    let start = text.find("kernel run").unwrap();
    let assert_sound = |text: &str| {
        for label in found(text).iter().flat_map(|fault| &fault.labels) {
            let (start, end) = (label.place.start, label.place.end);
            assert!(start <= end && text.get(start..end).is_some(), "{start}..{end} of {text:?}");
        }
    };
    let bytes = text.as_bytes();
    for at in start..bytes.len() {
        let (before, after) = (&text[..at], &text[at + 1..]);
        assert_sound(before);
        assert_sound(&format!("{before}{after}"));
        assert_sound(&format!("{before}{}", &text[at.saturating_sub(1)..]));
        let signs = ["[", "]", "(", ")", "-", "?", "0", "i", ",", "/", "=", ".", "ä", " "];
        for sign in signs.iter().cycle().skip(at * 5).take(5) {
            assert_sound(&format!("{before}{sign}{after}"));
        }
    }
}
