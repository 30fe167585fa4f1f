//! Scanner for patterns that no generated file may have: comparisons of numbers, `? ?`, empty branches, `+ 0`, `* 1`.

/// Occurrences of the patterns in C, CUDA or OpenCL text, with the surrounding tokens. Helpers may multiply by 1, where
/// it is an element size.
pub fn oddities(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let helpers = helpers(&tokens);
    let at = |k: usize| tokens.get(k).copied().unwrap_or_default();
    let mut found = Vec::new();
    for k in 0..tokens.len() {
        let before = k.checked_sub(1).map(at).unwrap_or_default();
        let is_odd = is_constant_condition([before, at(k), at(k + 1), at(k + 2), at(k + 3)])
            || at(k) == "?" && at(k + 1) == "?"
            || is_empty_branch(&tokens, k)
            || at(k) == "+" && is_operand(before) && at(k + 1) == "0" && !binds(at(k + 2))
            || at(k) == "*"
                && is_operand(before)
                && at(k + 1) == "1"
                && helpers.iter().all(|helper| !helper.contains(&k));
        if is_odd {
            let around = &tokens[k.saturating_sub(8)..(k + 8).min(tokens.len())];
            found.push(around.join(" "));
        }
    }
    found
}

/// Bodies of `layoutc_` functions that are not kernels.
fn helpers(tokens: &[&str]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_usize, None);
    for (k, token) in tokens.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.extend(from.take().map(|from| from..k));
                }
            }
            name if depth == 0
                && name.starts_with("layoutc_")
                && tokens.get(k + 1) == Some(&"(") =>
            {
                let is_kernel = name.ends_with("_compute") || name.starts_with("layoutc_plain_");
                from = from.or((!is_kernel).then_some(k));
            }
            ";" if depth == 0 => from = None,
            _ => {}
        }
    }
    found
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

fn is_operand(token: &str) -> bool {
    token.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ')' || c == ']')
        && !matches!(token, "return" | "case" | "const" | "sizeof")
}

/// True if an operator binds tighter than `+`.
fn binds(token: &str) -> bool {
    matches!(token, "*" | "/" | "%" | "<<" | ">>")
}

/// True for `7 < 0` where neither number is an operand of other arithmetic.
fn is_constant_condition([before, a, op, b, after]: [&str; 5]) -> bool {
    let joins =
        |token: &str| matches!(token, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>");
    matches!(op, "<" | "<=" | ">" | ">=" | "==" | "!=")
        && is_number(a)
        && is_number(b)
        && !joins(before)
        && !joins(after)
        // `#if 0 == …` is allowed.
        && before != "#"
}

/// True at the opening brace of `if (…) { }` or `else { }`.
fn is_empty_branch(tokens: &[&str], k: usize) -> bool {
    if tokens.get(k) != Some(&"{") || tokens.get(k + 1) != Some(&"}") {
        return false;
    }
    let Some(mut back) = k.checked_sub(1) else { return false };
    if tokens[back] == "else" {
        return true;
    }
    if tokens[back] != ")" {
        return false;
    }
    let mut open = 0_usize;
    loop {
        match tokens[back] {
            ")" => open += 1,
            "(" => open -= 1,
            _ => {}
        }
        let Some(before) = back.checked_sub(1) else { return false };
        back = before;
        if open == 0 {
            return matches!(tokens[back], "if" | "for" | "while");
        }
    }
}

/// Tokens of a text without comments and preprocessor lines; a literal is one token.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut is_line_start = true;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\n' {
            is_line_start = true;
            1
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") || first == '#' && is_line_start {
            end_of_line(rest)
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            is_line_start = false;
            let length = token_length(rest, first);
            tokens.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// Offset of the end of the logical line: a backslash continues it.
fn end_of_line(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            return end - usize::from(line.ends_with('\n'));
        }
    }
    end
}

fn token_length(text: &str, first: char) -> usize {
    if first == '"' || first == '\'' {
        let mut is_escaped = false;
        let end = text.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == first && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        return end.map_or(text.len(), |(at, c)| at + c.len_utf8());
    }
    if first.is_ascii_digit() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        return text.find(|c| !is_part(c)).unwrap_or(text.len());
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        return text.find(|c| !is_part(c)).unwrap_or(text.len());
    }
    let two = ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "->"];
    if two.iter().any(|sign| text.starts_with(sign)) { 2 } else { first.len_utf8() }
}

#[test]
fn scan_detects_redundant_code() {
    for odd in [
        "x = 7 < 0;",
        "if (0 == 0) {\n    y();\n}",
        "x = a ? ? b : c;",
        "if (a) { }",
        "if (f(a)) {\n} else { b(); }",
        "else {\n}",
        "a[i + 0]",
        "i * 1 + j",
    ] {
        assert_ne!(oddities(odd), [""; 0], "{odd}");
    }
    for plain in [
        "x = a + 7 < 0;",
        "void f(void) { }",
        "int a[] = { };",
        "a + 0.5f * b",
        "a * 10",
        "a + 0x10",
        "return *p;",
        "// 7 < 0",
        "#define A 1 < 2",
        "const char *s = \"7 < 0\";",
    ] {
        assert_eq!(oddities(plain), [""; 0], "{plain}");
    }
}
