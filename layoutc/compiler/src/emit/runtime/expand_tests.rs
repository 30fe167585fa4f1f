//! Tests of the expansion of runtime sources: small sources with known texts, and all sources of the runtime.

use super::super::sources::{SOURCES, source};
use super::{ExpandError, expand, is_parameter};

/// Text of `file` for elements of `bytes` bytes, among the sources of these tests.
fn text(file: &str, bytes: &str) -> Result<String, ExpandError> {
    expand(small, file, [("BYTES", bytes)])
}

/// Sources of these tests.
fn small(name: &str) -> Option<&'static str> {
    Some(match name {
        "names.inc" => {
            "a SIZED(f)(PASTE(g, BYTES), SIZED(PASTE(h_, BYTES)), BYTESX, xBYTES, 0xBYTES)\n"
        }
        "branches.inc" => {
            "#if BYTES == 1\none\n#elif BYTES < 4 && BYTES > 1\ntwo\n#elif BYTES == 4 || BYTES == 8\nmany\n#else\n\
             rest\n#endif\n"
        }
        "open.inc" => {
            "#ifdef LAYOUTC_X86\n#if BYTES > 4\nwide\n#endif\n#elif defined(LAYOUTC_16)\nBYTES\n#endif\n"
        }
        "define.inc" => {
            "#define WIDTH SIZED(w)\n#define LAYOUTC_KEPT(x) (x) * BYTES\n#if BYTES == 2\n#define WIDTH two\n#endif\n\
             WIDTH\n#undef WIDTH\nWIDTH\n"
        }
        "outer.inc" => {
            "/* left\n   out */\nbefore\n\n\n#include <a.h>\n#include \"names.inc\"\nafter\n"
        }
        "endless.inc" => "#include \"endless.inc\"\n",
        "missing.inc" => "#include \"none.inc\"\n",
        "unended.inc" => "#if BYTES\n",
        "ended.inc" => "#endif\n",
        "mixed.inc" => "#if BYTES == 1 && defined(LAYOUTC_X86)\n#endif\n",
        "late.inc" => "#ifdef LAYOUTC_X86\n#elif BYTES\n#endif\n",
        "arguments.inc" => "PASTE(a)\n",
        "open_call.inc" => "SIZED(a\n",
        _ => return None,
    })
}

#[test]
fn parameters_and_pasted_names_are_replaced() {
    for bytes in ["1", "2", "4", "8", "16"] {
        let expected =
            format!("a f_{bytes}(g{bytes}, h_{bytes}_{bytes}, BYTESX, xBYTES, 0xBYTES)\n");
        assert_eq!(text("names.inc", bytes), Ok(expected.clone()));
        let outer = format!("before\n\n#include <a.h>\n{expected}after\n");
        assert_eq!(text("outer.inc", bytes), Ok(outer));
    }
}

#[test]
fn conditions_on_parameters_are_decided_and_others_remain() {
    for (bytes, branch) in
        [(1, "one"), (2, "two"), (3, "two"), (4, "many"), (8, "many"), (5, "rest")]
    {
        assert_eq!(text("branches.inc", &bytes.to_string()), Ok(format!("{branch}\n")), "{bytes}");
    }
    let open = |inner: &str, bytes: u32| {
        format!("#ifdef LAYOUTC_X86\n{inner}#elif defined(LAYOUTC_16)\n{bytes}\n#endif\n")
    };
    assert_eq!(text("open.inc", "4"), Ok(open("", 4)));
    assert_eq!(text("open.inc", "8"), Ok(open("wide\n", 8)));
}

#[test]
fn definitions_of_parameters_hold_until_they_end() {
    let expected = |bytes: u32, width: &str| {
        format!("#define LAYOUTC_KEPT(x) (x) * {bytes}\n{width}\nWIDTH\n")
    };
    assert_eq!(text("define.inc", "4"), Ok(expected(4, "w_4")));
    assert_eq!(text("define.inc", "2"), Ok(expected(2, "two")));
}

#[test]
fn invalid_sources_are_refused() {
    let condition = |text: &str| ExpandError::Condition(text.to_owned());
    let balance = |text: &str| ExpandError::Balance(text.to_owned());
    for (file, expected) in [
        ("endless.inc", ExpandError::Source("endless.inc".to_owned())),
        ("missing.inc", ExpandError::Source("none.inc".to_owned())),
        ("unended.inc", balance("unended.inc")),
        ("ended.inc", balance("#endif")),
        ("mixed.inc", condition("BYTES == 1 && defined(LAYOUTC_X86)")),
        ("late.inc", condition("BYTES")),
        ("arguments.inc", ExpandError::Arguments("PASTE(a)".to_owned())),
        ("open_call.inc", ExpandError::Arguments("SIZED(a".to_owned())),
    ] {
        assert_eq!(text(file, "4"), Err(expected), "{file}");
    }
}

#[test]
fn no_parameter_remains_in_a_source_of_the_runtime() {
    let flags = ["0", "1"];
    // Files that only other sources include have more parameters.
    let is_inner = |file: &str| file.starts_with("interleave_") || file == "tiles_square.inc";
    for (file, _) in SOURCES.iter().filter(|(file, _)| !is_inner(file)) {
        for bytes in ["1", "2", "4", "8", "16"] {
            for (flag, vector_bytes) in flags.into_iter().zip(["0", "64"]) {
                let parameters = [
                    ("BYTES", bytes),
                    ("CAST", "f32_to_f16"),
                    ("DEPTH", "8"),
                    ("FROM", "float"),
                    ("FROM_BYTES", "4"),
                    ("INDEX", "int32_t"),
                    ("RANK", "2"),
                    ("SATURATES", flag),
                    ("SIGNED", flag),
                    ("STAGED", flag),
                    ("TO", "uint16_t"),
                    ("TO_BYTES", "2"),
                    ("TYPED", flag),
                    ("UNIT", "1"),
                    ("VECTOR_BYTES", vector_bytes),
                ];
                let text = expand(source, file, parameters).unwrap();
                let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let mut named = parameters.iter().map(|row| row.0).chain([
                    "BITS", "LANES", "LANES_32", "LANES_64", "FIELDS", "MASK", "PASTE", "SIZED",
                ]);
                let words: Vec<&str> = words.filter(|word| is_parameter(word)).collect();
                let left = named.find(|name| words.contains(name));
                assert_eq!(left, None, "{file}, {bytes} bytes");
                let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
                assert_eq!(count("#if"), count("#endif"), "{file}, {bytes} bytes");
            }
        }
    }
}
