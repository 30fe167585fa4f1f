//! Parses the text of layoutc.toml into a [`Config`]. The reader walks the spanned TOML table instead of deserializing,
//! because a deserializer stops at the first error; all errors of a file are reported in one run.

mod targets;

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::{Config, DefaultFill, Defaults, ProjectConfig, TargetC, TargetsConfig};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::nearest::{near_powers_of_two, nearest};

/// Maximum number of TOML syntax errors reported for one file.
const SYNTAX_LIMIT: usize = 20;

/// Parses `text`, the configuration at the path `file`. Missing keys have their defaults.
///
/// # Errors
///
/// All errors, in textual order. If there are TOML syntax errors, only these are reported, at most 20 of them.
pub fn parse(file: &Arc<str>, text: &str) -> Result<Config, Vec<Diagnostic>> {
    let mut reader = ConfigReader { file, text, found: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(SYNTAX_LIMIT) {
        let span = error.span().unwrap_or(0..0);
        reader.syntax(error.message(), span);
    }
    let config = if errors.is_empty() { reader.config(table.get_ref()) } else { Config::default() };
    let mut found = reader.found;
    if found.is_empty() {
        return Ok(config);
    }
    found.sort_by_key(|d| d.labels.first().map_or(0, |label| label.place.start));
    Err(found)
}

/// TOML value with its byte range in the text.
type TomlEntry<'t, 'i> = (&'t DeValue<'i>, Range<usize>);

struct ConfigReader<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    found: Vec<Diagnostic>,
}

impl ConfigReader<'_> {
    fn error(&mut self, code: Code, message: &str, span: Range<usize>) -> &mut Diagnostic {
        let boundary = |mut byte: usize| {
            byte = byte.min(self.text.len());
            while !self.text.is_char_boundary(byte) {
                byte -= 1;
            }
            byte
        };
        let start = boundary(span.start);
        let place = FileSpan::new(self.file, start..boundary(span.end).max(start));
        self.found.push_mut(Diagnostic::error(code, message, place, ""))
    }

    /// Reports a TOML syntax error at `span`. `message` is the text of the TOML parser; common mistakes, such as a
    /// string without quotes, get a clearer message with help instead.
    fn syntax(&mut self, message: &str, span: Range<usize>) {
        let text = self.text;
        let before = text.get(..span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let key = line.split('=').next().unwrap_or_default().trim().to_owned();
        let rest = text.get(span.start..).unwrap_or_default().lines().next().unwrap_or_default();
        let rest = rest.split('#').next().unwrap_or_default().trim();
        if message.starts_with("string values must be quoted") && line.trim_end().ends_with('=') {
            let word = rest.trim_end_matches(',').to_owned();
            if rest.is_empty() {
                let message = format!("the key `{key}` has no value");
                let help = format!(
                    "write a value after the `=`; a string has quotes: `{key} = \"kernels\"`"
                );
                self.error(Code::ConfigSyntax, &message, span).add_help(help);
            } else {
                let message = format!("the string `{word}` has no quotes");
                let is_marked = text.get(span.clone()) == Some(word.as_str());
                let fault = self.error(Code::ConfigSyntax, &message, span);
                fault.add_help(format!("write `{key} = \"{word}\"`"));
                if is_marked {
                    fault.add_fix(format!("\"{word}\""));
                }
            }
            return;
        }
        let (message, help) = match message {
            "duplicate key" => {
                let name = text.get(span.clone()).unwrap_or_default();
                (format!("duplicate key `{name}`"), Some("remove one of the two".to_owned()))
            }
            _ if message.starts_with("string values must be quoted") => {
                ("expected a value".to_owned(), Some("write a string in quotes".to_owned()))
            }
            _ if message.starts_with("key with no value") => {
                let help = format!("write `{} = ` and its value", line.trim());
                ("expected `=` after the key".to_owned(), Some(help))
            }
            _ => {
                let mut rest = message.chars();
                let first = rest.next().map(|c| c.to_ascii_lowercase());
                let message: String = first.into_iter().chain(rest).collect();
                (message.trim_end_matches('.').to_owned(), None)
            }
        };
        let fault = self.error(Code::ConfigSyntax, &message, span);
        fault.help.extend(help);
    }

    fn config(&mut self, table: &DeTable<'_>) -> Config {
        self.known(table, "layoutc.toml", &["project", "defaults", "target"]);
        Config {
            project: self
                .table(table, "project")
                .map_or_else(ProjectConfig::default, |t| self.project(t)),
            defaults: self
                .table(table, "defaults")
                .map_or_else(Defaults::default, |t| self.defaults(t)),
            target: self
                .table(table, "target")
                .map_or_else(|| TargetsConfig::of_c(TargetC::default()), |t| self.targets(t)),
        }
    }

    fn project(&mut self, table: &DeTable<'_>) -> ProjectConfig {
        let keys = ["name", "sources", "out-dir", "templates-dir", "prefix"];
        self.known(table, "[project]", &keys);
        let default = ProjectConfig::default();
        ProjectConfig {
            name: self.string(table, "name").map(|(name, _)| name),
            sources: self.sources(table).unwrap_or(default.sources),
            out_dir: self.path(table, "out-dir").unwrap_or(default.out_dir),
            templates_dir: self.path(table, "templates-dir").unwrap_or(default.templates_dir),
            prefix: self.prefix(table).unwrap_or(default.prefix),
        }
    }

    fn prefix(&mut self, table: &DeTable<'_>) -> Option<String> {
        let (prefix, span) = self.string(table, "prefix")?;
        let word = prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !word || prefix.starts_with(|c: char| c.is_ascii_digit()) || prefix.len() > 128 {
            let message = "`prefix` is not a valid start of an identifier";
            let fault = self.error(Code::ConfigValue, message, span);
            fault.add_note("a prefix has at most 128 ASCII letters, digits and `_`, and does not begin with a digit");
            fault.add_help("write one such as `prefix = \"lib_\"`");
        }
        Some(prefix)
    }

    fn sources(&mut self, table: &DeTable<'_>) -> Option<Vec<String>> {
        let (items, span) = self.strings(table, "sources")?;
        if items.is_empty() {
            let message = "`sources` is empty: nothing would be built";
            self.error(Code::ConfigValue, message, span)
                .add_help("write where manifests are: `sources = [\"layouts/**/*.kdl\"]`");
        }
        for (path, span) in &items {
            self.check_project_path(path, span.clone());
        }
        Some(items.into_iter().map(|(path, _)| path).collect())
    }

    fn path(&mut self, table: &DeTable<'_>, key: &str) -> Option<String> {
        let (path, span) = self.string(table, key)?;
        self.check_project_path(&path, span);
        Some(path)
    }

    fn check_project_path(&mut self, path: &str, span: Range<usize>) {
        if let Some(fault) = super::path::fault(path) {
            self.error(Code::ConfigPath, &fault, span)
                .add_help("write a path below the folder of layoutc.toml, with `/`");
        }
    }

    fn defaults(&mut self, table: &DeTable<'_>) -> Defaults {
        self.known(table, "[defaults]", &["alignment", "fill", "padding-warning"]);
        let default = Defaults::default();
        Defaults {
            alignment: self.alignment(table).unwrap_or(default.alignment),
            fill: self.fill(table).unwrap_or(default.fill),
            padding_warning: self.share(table).unwrap_or(default.padding_warning),
        }
    }

    fn alignment(&mut self, table: &DeTable<'_>) -> Option<u64> {
        let (value, span) = find(table, "alignment")?;
        let Some(bytes) = integer(value) else {
            self.wrong_type("alignment", "an integer", value, span);
            return None;
        };
        match u64::try_from(bytes) {
            Ok(bytes) if bytes.is_power_of_two() => Some(bytes),
            Ok(_) | Err(_) => {
                let message =
                    format!("expected an alignment, a power of two in bytes, found {bytes}");
                let help = near_powers_of_two(i128::from(bytes), 1 << 62);
                self.error(Code::ConfigValue, &message, span).add_help(help);
                None
            }
        }
    }

    fn fill(&mut self, table: &DeTable<'_>) -> Option<DefaultFill> {
        let (value, span) = find(table, "fill")?;
        if let Some(value) = integer(value) {
            return Some(DefaultFill::Integer(value));
        }
        let fill = float(value).map(DefaultFill::Float);
        if fill.is_none() {
            self.wrong_type("fill", "a number", value, span);
        }
        fill
    }

    fn share(&mut self, table: &DeTable<'_>) -> Option<f64> {
        let (value, span) = find(table, "padding-warning")?;
        let whole = match integer(value) {
            Some(0) => Some(0.0),
            Some(1) => Some(1.0),
            Some(_) => Some(f64::INFINITY),
            None => None,
        };
        let Some(share) = whole.or_else(|| float(value)) else {
            self.wrong_type("padding-warning", "a number", value, span);
            return None;
        };
        if !(0.0..=1.0).contains(&share) {
            let message = "`padding-warning` must be a fraction of the bytes, from 0 to 1";
            self.error(Code::ConfigValue, message, span).add_help("write a half as `0.5`");
        }
        Some(share)
    }

    fn choice<T: Copy>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        known: &[(&str, T)],
    ) -> Option<T> {
        let (word, span) = self.string(table, key)?;
        self.one_of(key, &word, span, known)
    }

    fn one_of<T: Copy>(
        &mut self,
        key: &str,
        word: &str,
        span: Range<usize>,
        known: &[(&str, T)],
    ) -> Option<T> {
        if let Some((_, value)) = known.iter().find(|row| row.0 == word) {
            return Some(*value);
        }
        let words: Vec<String> = known.iter().map(|row| format!("`{}`", row.0)).collect();
        let message = format!("`{key}` cannot be `{}`", word.escape_debug());
        let fault = self.error(Code::ConfigValue, &message, span);
        fault.add_note(format!("expected one of {}", words.join(", ")));
        if let Some(near) = nearest(word, known.iter().map(|row| row.0)) {
            fault.add_help(format!("did you mean `{near}`?"));
            fault.add_fix(format!("\"{near}\""));
        } else {
            fault.add_help("write one of these");
        }
        None
    }

    fn known(&mut self, table: &DeTable<'_>, place: &str, known: &[&str]) {
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                self.unknown(key.get_ref(), key.span(), place, known);
            }
        }
    }

    fn unknown(&mut self, key: &str, span: Range<usize>, place: &str, known: &[&str]) {
        let message = format!("{place} has no key `{}`", key.escape_debug());
        let words: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        let fault = self.error(Code::ConfigUnknownKey, &message, span);
        if !words.is_empty() {
            fault.add_note(format!("its keys are {}", words.join(", ")));
        }
        let near = nearest(key, known.iter().copied());
        match near {
            Some(near) => fault.add_suggestion(near),
            None => {
                fault.add_help("leave it out");
            }
        }
    }

    fn wrong_type(&mut self, key: &str, wanted: &str, value: &DeValue<'_>, span: Range<usize>) {
        let message = format!("`{key}` must be {wanted}, not a TOML {}", value.type_str());
        let help = match wanted {
            "a table" => format!("write `[{key}]` on a line of its own"),
            "a string" => "write it in quotes".to_owned(),
            "a boolean" => "write `true` or `false`".to_owned(),
            "an array of strings" => format!("write `{key} = [\"…\"]`"),
            _ => "write digits without quotes".to_owned(),
        };
        self.error(Code::ConfigValue, &message, span).add_help(help);
    }

    fn table<'t, 'i>(&mut self, table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
        match find(table, key)? {
            (DeValue::Table(table), _) => Some(table),
            (value, span) => {
                self.wrong_type(key, "a table", value, span);
                None
            }
        }
    }

    fn boolean(&mut self, table: &DeTable<'_>, key: &str) -> Option<bool> {
        match find(table, key)? {
            (DeValue::Boolean(value), _) => Some(*value),
            (value, span) => {
                self.wrong_type(key, "a boolean", value, span);
                None
            }
        }
    }

    fn string(&mut self, table: &DeTable<'_>, key: &str) -> Option<(String, Range<usize>)> {
        match find(table, key)? {
            (DeValue::String(text), span) => Some((text.to_string(), span)),
            (value, span) => {
                self.wrong_type(key, "a string", value, span);
                None
            }
        }
    }

    #[expect(
        clippy::type_complexity,
        reason = "strings with their spans, and the span of the array"
    )]
    fn strings(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
    ) -> Option<(Vec<(String, Range<usize>)>, Range<usize>)> {
        let (value, span) = find(table, key)?;
        let DeValue::Array(items) = value else {
            self.wrong_type(key, "an array of strings", value, span);
            return None;
        };
        let mut strings = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) => strings.push((text.to_string(), item.span())),
                DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_)
                | DeValue::Table(_) => {
                    self.wrong_type(key, "an array of strings", item.get_ref(), item.span());
                }
            }
        }
        Some((strings, span))
    }
}

fn find<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<TomlEntry<'t, 'i>> {
    let (_, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
    Some((value.get_ref(), value.span()))
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn float(value: &DeValue<'_>) -> Option<f64> {
    value.as_float()?.as_str().parse::<f64>().ok()
}
