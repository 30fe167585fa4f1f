//! Line breaking of generated C, OpenCL and CUDA source: lines longer than [`COLUMNS`] are split.

/// Maximum length of a generated line in columns. A line without a possible break may be longer, such as one with a
/// long literal.
pub(super) const COLUMNS: usize = 120;

/// Indentation of continuation lines relative to the first line of a statement, in columns.
const CONTINUATION: usize = 8;

/// Indentation of the statements in a block relative to the first line of the block, in columns.
const BLOCK: usize = 4;

/// Appends `line` to `out` as one or several lines, each with a line feed. They have at most [`COLUMNS`] columns where
/// a break is possible. `is_directive` is true if the line is, or continues, a preprocessor directive: its line breaks
/// are escaped by `\`.
pub(super) fn wrap(line: &str, is_directive: bool, out: &mut String) {
    let code = line.trim_start();
    let indent = line.len().saturating_sub(code.len());
    if code.starts_with("//") {
        let text = code.trim_start_matches('/');
        let marks = "/".repeat(code.len().saturating_sub(text.len()));
        let margin = format!("{}{marks} ", " ".repeat(indent));
        return words(text.trim_start(), [&margin, &margin], out);
    }
    if code.starts_with("/*") && code.ends_with("*/") {
        let first = " ".repeat(indent);
        let next = format!("{first}   ");
        return words(code, [&first, &next], out);
    }
    match comment_start(line) {
        // A comment after code is moved to a line before the code.
        Some(at) if !is_directive || code.starts_with('#') => {
            let (code, comment) = line.split_at(at);
            wrap(&format!("{}{comment}", " ".repeat(indent)), false, out);
            wrap_code(code.trim_end(), is_directive, out);
        }
        _ => wrap_code(line, is_directive, out),
    }
}

/// Appends a line of code. A line of more than [`COLUMNS`] columns is broken: a block on one line into one line per
/// statement, any other code between operands.
fn wrap_code(line: &str, is_directive: bool, out: &mut String) {
    let is_continued = is_directive && line.ends_with('\\');
    let code = if is_continued { line.trim_end_matches('\\').trim_end() } else { line };
    let escape = if is_directive { " \\" } else { "" };
    let last = if is_continued { " \\" } else { "" };
    let margin = " ".repeat(code.len().saturating_sub(code.trim_start().len()));
    if columns(line) <= COLUMNS {
        return push_line(out, [code, last]);
    }
    let Some((head, statements)) = block(code) else {
        return statement(code, [escape, last], out);
    };
    let inner = format!("{margin}{}", " ".repeat(BLOCK));
    statement(head, [escape, escape], out);
    for text in statements {
        wrap_code(&format!("{inner}{text}{escape}"), is_directive, out);
    }
    push_line(out, [&margin, &format!("}}{last}")]);
}

fn push_line(out: &mut String, parts: [&str; 2]) {
    parts.iter().for_each(|part| out.push_str(part));
    out.push('\n');
}

/// Pair (head, statements) of code that is one block: `if (a) { b; c; }` has the head `if (a) {` and the statements
/// `b;` and `c;`. `None` for any other code.
fn block(code: &str) -> Option<(&str, Vec<&str>)> {
    let (mut depth, mut start, mut from) = (0_usize, None, 0);
    let mut statements = Vec::new();
    for Token { at, text } in Tokens::new(code) {
        let end = at.saturating_add(text.len());
        match text {
            "(" | "[" | "{" => {
                if text == "{" && depth == 0 && start.is_none() {
                    let head = code.get(..end)?;
                    let is_list = head.trim_end_matches('{').trim_end().ends_with('=');
                    if is_list || !code.ends_with('}') {
                        return None;
                    }
                    start = Some(head);
                    from = end;
                } else {
                    depth = depth.saturating_add(1);
                }
            }
            "}" if depth == 0 => {
                let is_whole = end == code.len() && code.get(from..at)?.trim().is_empty();
                return start.filter(|_| is_whole && !statements.is_empty()).zip(Some(statements));
            }
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_end = text == ";" || text == "}";
        if start.is_some() && depth == 0 && is_end {
            statements.push(code.get(from..end)?.trim());
            from = end;
        }
    }
    None
}

/// Appends the words of `text`, with line breaks between words; `first` and `next` are the left margins of the first
/// line and of the following lines.
fn words(text: &str, [first, next]: [&str; 2], out: &mut String) {
    out.push_str(first);
    let (mut filled, mut is_empty) = (columns(first), true);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let width = columns(word);
        // A comment line that ends with `\`, or with its trigraph, would join the next line.
        let is_escape = out.ends_with('\\') || out.ends_with("??/");
        if !is_empty && filled.saturating_add(width) >= COLUMNS && !is_escape {
            out.push('\n');
            out.push_str(next);
            (filled, is_empty) = (columns(next), true);
        }
        if !is_empty {
            out.push(' ');
            filled = filled.saturating_add(1);
        }
        out.push_str(word);
        filled = filled.saturating_add(width);
        is_empty = false;
    }
    out.push('\n');
}

/// Appends code with line breaks between operands. `escape` is the end of all lines but the last, `last` the end of the
/// last one.
fn statement(line: &str, [escape, last]: [&str; 2], out: &mut String) {
    let code = line.trim_start();
    let mut margin = line.len().saturating_sub(code.len());
    let continued = margin.saturating_add(CONTINUATION);
    let (mut rest, mut depth) = (code, 0_usize);
    loop {
        let width = COLUMNS.saturating_sub(margin).saturating_sub(escape.len());
        let next = if columns(rest) > width { line_break(rest, depth, width) } else { None };
        out.extend(std::iter::repeat_n(' ', margin));
        let Some(next) = next else { break };
        let (head, tail) = rest.split_at(next.at);
        out.push_str(head.trim_end());
        out.push_str(escape);
        out.push('\n');
        depth = next.depth;
        rest = tail.trim_start();
        if !next.is_after_attribute {
            margin = continued;
        }
    }
    push_line(out, [rest, last]);
}

/// Position in code where the next line starts.
#[derive(Clone, Copy)]
struct LineBreak {
    /// Byte offset of the first character of the next line, which may be a space.
    at: usize,
    /// Number of brackets around the position, as [`nested`] counts.
    depth: usize,
    /// True if the position follows the attribute that the code starts with.
    is_after_attribute: bool,
}

/// Best break at or before column `width`: the last one in the fewest brackets at the operator of lowest precedence. If
/// there is none, the best one after that column; `None` without a possible break. A break after a leading attribute,
/// or after the parameters of a macro, is preferred. `depth` is the number of brackets around the start of the code.
fn line_break(code: &str, mut depth: usize, width: usize) -> Option<LineBreak> {
    let (mut best, mut beyond) = (None::<([usize; 2], LineBreak)>, None);
    for Token { at, text } in Tokens::new(code) {
        let end = at.saturating_add(text.len());
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(end..).unwrap_or_default();
        let is_spaced = before.ends_with(' ') && after.starts_with(' ');
        let mut level = depth;
        depth = nested(depth, text);
        let is_attribute = text == ")" && depth == 0 && code.starts_with("__attribute__((");
        if is_attribute && after.starts_with(" static") && !before.contains(" static") {
            return Some(LineBreak { at: end, depth, is_after_attribute: true });
        }
        if text == ")" && depth == 0 && is_macro_head(before) && after.starts_with(' ') {
            return Some(LineBreak { at: end, depth, is_after_attribute: false });
        }
        let (binding, at) = match text {
            "," | ";" if after.starts_with(' ') => (0, end),
            "?" | ":" if is_spaced => (1, at),
            "||" if is_spaced => (2, end),
            "&&" if is_spaced => (3, end),
            "|" | "&" if is_spaced => (4, end),
            "+" | "-" if is_spaced => (5, end),
            "*" | "/" if is_spaced => (6, end),
            // Breaks at these tokens separate related text, so that a break in the next brackets is preferred.
            "=" | "+=" if is_spaced => {
                level = level.saturating_add(1);
                (7, end)
            }
            "(" if !before.ends_with(' ') => {
                level = level.saturating_add(2);
                (8, end)
            }
            // Adjacent string literals are concatenated.
            _ if text.starts_with('"') && after.starts_with(' ') => {
                level = level.saturating_add(1);
                (9, end)
            }
            _ => continue,
        };
        let key = [level, binding];
        let is_within = at <= width || columns(code.get(..at).unwrap_or_default()) <= width;
        if !is_within && best.is_some() {
            break;
        }
        let known = if is_within { &mut best } else { &mut beyond };
        let is_better = known.is_none_or(|(least, _)| key < least || is_within && key == least);
        if at > 0 && is_better {
            *known = Some((key, LineBreak { at, depth, is_after_attribute: false }));
        }
    }
    // An operand longer than a line is followed by the break.
    best.or(beyond).map(|(_, found)| found)
}

/// Number of brackets around the code after a token, from the number before the token. A subscript counts twice: a
/// break after the `=` that follows it is better than one inside.
fn nested(depth: usize, token: &str) -> usize {
    match token {
        "(" | "{" => depth.saturating_add(1),
        "[" => depth.saturating_add(2),
        ")" | "}" => depth.saturating_sub(1),
        "]" => depth.saturating_sub(2),
        _ => depth,
    }
}

/// True if code is the start of a macro definition up to the end of its parameters: `#define NAME(a, b`.
fn is_macro_head(code: &str) -> bool {
    let head = code.strip_prefix("#define ").and_then(|rest| rest.split_once('('));
    head.is_some_and(|(name, parameters)| !name.contains(' ') && !parameters.contains(')'))
}

/// Byte offset of the `//` comment in a line; `None` if there is none.
fn comment_start(line: &str) -> Option<usize> {
    Tokens::new(line).find(|token| token.text == "//").map(|token| token.at)
}

fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Punctuation mark, literal or `/* */` comment in a line of code.
struct Token<'a> {
    /// Byte offset of the token in the line.
    at: usize,
    text: &'a str,
}

/// Iterator over the punctuation marks, literals and `/* */` comments of a line of code.
struct Tokens<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(line: &'a str) -> Self {
        Self { line, at: 0 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.line.as_bytes().get(self.at..)?;
        let is_mark = |byte: &u8| byte.is_ascii_punctuation() && *byte != b'_';
        let at = self.at.saturating_add(bytes.iter().position(is_mark)?);
        let rest = self.line.get(at..)?;
        let length = match rest.as_bytes() {
            [b'"', ..] => literal_length(rest, '"'),
            [b'\'', ..] => literal_length(rest, '\''),
            [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end.saturating_add(2)),
            [b'/', b'/', ..] | [b'&', b'&', ..] | [b'|', b'|', ..] | [b'+', b'=', ..] => 2,
            _ => 1,
        };
        self.at = at.saturating_add(length);
        Some(Token { at, text: rest.get(..length)? })
    }
}

/// Length in bytes of the string or character literal at the start of `text`, with its quotes; that of all of `text` if
/// the literal has no end.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !is_escaped {
            return at.saturating_add(1);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(line: &str, is_directive: bool) -> String {
        let mut out = String::new();
        wrap(line, is_directive, &mut out);
        out
    }

    /// Text without blanks and escapes of line ends.
    fn dense(text: &str) -> String {
        text.replace("\\\n", "").replace("//", "").split_whitespace().collect()
    }

    #[test]
    fn lines_break_between_arguments_and_operands() {
        let args = (0..30).map(|k| format!("argument_{k}")).collect::<Vec<_>>();
        let call = format!("    function({});", args.join(", "));
        let sum = format!("    const int64_t sum = {};", args.join(" + "));
        let condition = format!("        if ({}) {{", args.join(" && "));
        let attribute = format!(
            "__attribute__((target(\"avx2\"))) static int f(int {}) {{",
            args.join(", int ")
        );
        for line in [call, sum, condition, attribute] {
            let text = wrapped(&line, false);
            assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
            assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
            assert_eq!(dense(&text), dense(&line));
            assert!(text.lines().count() < 8, "{text}");
        }
    }

    #[test]
    fn blocks_have_a_line_for_each_statement() {
        let call = format!("f({});", ["argument"; 10].join(", "));
        let line = format!("  if (a; b) {{ each(k) {{ {call} g(a, b); }} return; }}");
        let lines = [
            "  if (a; b) {",
            "      each(k) {",
            &format!("          {call}"),
            "          g(a, b);",
        ];
        let text = [&lines[..], &["      }", "      return;", "  }", ""]].concat().join("\n");
        assert_eq!(wrapped(&line, false), text);
        let macro_text = wrapped(&format!("#define M(a) {}", line.trim_start()), true);
        assert!(macro_text.ends_with("return; \\\n}\n"), "{macro_text}");
        let list = format!("int a[] = {{ {} }};", vec!["1"; 60].join(", "));
        assert_eq!(dense(&wrapped(&list, false)), dense(&list));
        let both = format!("if (a) {{ {call} }} else {{ {call} }}");
        assert_eq!(dense(&wrapped(&both, false)), dense(&both));
    }

    #[test]
    fn literals_stay_whole_and_directives_escape_their_line_ends() {
        let literal = format!("\"{}\"", "a, b; ".repeat(20));
        let line = format!("    print({literal}, one, two);");
        let text = wrapped(&line, false);
        assert!(text.contains(&literal), "{text}");
        let name = "name".repeat(40);
        let long = format!("for (int {name} = 0; {name} < 9; ++{name}) {{");
        let text = wrapped(&long, false);
        assert_eq!((text.lines().count(), dense(&text)), (3, dense(&long)), "{text}");
        let format = format!("print({});", vec!["\"%\" PRId64"; 20].join(" "));
        assert_eq!(dense(&wrapped(&format, false)), dense(&format));
        assert!(wrapped(&format, false).lines().all(|line| line.len() <= COLUMNS));
        let define = format!("#define SUM(a) ({}) // All.", vec!["(a)"; 50].join(" + "));
        let text = wrapped(&define, true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "// All.");
        assert!(lines[1..lines.len() - 1].iter().all(|line| line.ends_with(" \\")), "{text}");
        assert!(lines.iter().all(|line| line.len() <= COLUMNS), "{text}");
        assert!(!lines[lines.len() - 1].ends_with('\\'), "{text}");
        let continued = wrapped(&format!("    f({}); \\", vec!["a"; 60].join(", ")), true);
        assert!(continued.lines().all(|line| line.ends_with(" \\")), "{continued}");
    }

    #[test]
    fn comments_break_between_words_that_do_not_escape_the_line_end() {
        let line = format!("    // {}", vec!["word\\"; 40].join(" "));
        assert_eq!(wrapped(&line, false).lines().count(), 1);
        let line = format!("    x = 1; // {}", vec!["word"; 40].join(" "));
        let text = wrapped(&line, false);
        assert!(text.ends_with("word\n    x = 1;\n"), "{text}");
        assert!(text.lines().rev().skip(1).all(|line| line.starts_with("    // word")), "{text}");
    }
}
