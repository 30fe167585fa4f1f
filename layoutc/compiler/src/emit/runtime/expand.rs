//! Partial preprocessor for the sources of the C runtime.
//!
//! Parameters are macros in capitals without the prefix `LAYOUTC_`, such as `BYTES`. The expansion inserts included
//! runtime sources, decides conditions on parameters, and replaces parameters and the macros `PASTE` and `SIZED` in all
//! other lines. Directives on other macros remain, for the C preprocessor. Comments `/* … */` are left out.

use std::collections::BTreeMap;

use super::condition;

/// Text of a runtime source by its name; `None` if there is no such source.
pub(super) type Lookup = fn(&str) -> Option<&'static str>;

/// Fault of a runtime source. The runtime is part of the compiler, so that a user cannot cause one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    /// An include of a file that is not part of the runtime.
    #[error("there is no runtime source `{0}`")]
    Source(String),
    /// A condition that is neither on parameters alone nor without any.
    #[error("condition `{0}` on parameters of the runtime cannot be decided")]
    Condition(String),
    /// `#elif`, `#else` or `#endif` without `#if`, or the reverse.
    #[error("unbalanced conditions in the runtime at `{0}`")]
    Balance(String),
    /// `PASTE` or `SIZED` with a wrong number of arguments.
    #[error("wrong arguments of a macro of the runtime in `{0}`")]
    Arguments(String),
}

/// Depth of includes and of macros in arguments that [`Expander`] accepts.
const MAX_DEPTH: usize = 8;

/// Text of the source `file` under values of parameters. `source` has the texts of the sources.
///
/// # Errors
/// Any [`ExpandError`].
pub(super) fn expand<'p>(
    source: Lookup,
    file: &str,
    parameters: impl IntoIterator<Item = (&'p str, &'p str)>,
) -> Result<String, ExpandError> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut expander = Expander {
        source,
        parameters: parameters.into_iter().map(owned).collect(),
        conditions: Vec::new(),
        text: String::new(),
    };
    expander.file(file, 0)?;
    Ok(expander.text)
}

/// True for the name of a parameter.
pub(super) fn is_parameter(name: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(is_capital)
        && !name.starts_with("LAYOUTC_")
}

/// Open `#if` of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// The condition is not on parameters: all branches remain.
    Open,
    /// The branch is taken.
    Taken,
    /// No branch was taken yet.
    Pending,
    /// An earlier branch was taken.
    Passed,
}

struct Expander {
    source: Lookup,
    parameters: BTreeMap<String, String>,
    conditions: Vec<Branch>,
    text: String,
}

impl Expander {
    fn file(&mut self, name: &str, depth: usize) -> Result<(), ExpandError> {
        let source = (self.source)(name).filter(|_| depth < MAX_DEPTH);
        let source = source.ok_or_else(|| ExpandError::Source(name.to_owned()))?;
        let outer = self.conditions.len();
        let mut is_comment = false;
        for line in source.lines() {
            is_comment = is_comment || line.starts_with("/*");
            if is_comment {
                is_comment = !line.ends_with("*/");
                continue;
            }
            match line.strip_prefix('#') {
                Some(directive) => self.directive(line, directive, depth)?,
                None => self.line(line)?,
            }
        }
        if self.conditions.len() == outer {
            Ok(())
        } else {
            Err(ExpandError::Balance(name.to_owned()))
        }
    }

    fn directive(&mut self, line: &str, text: &str, depth: usize) -> Result<(), ExpandError> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "if" | "ifdef" | "ifndef" => self.open(line, rest),
            "elif" | "else" => self.alternative(line, word, rest),
            "endif" => match self.conditions.pop() {
                Some(Branch::Open) => self.line(line),
                Some(_) => Ok(()),
                None => Err(ExpandError::Balance(line.to_owned())),
            },
            _ if !self.is_active() => Ok(()),
            "include" => match rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(file) => self.file(file, depth.saturating_add(1)),
                None => self.line(line),
            },
            "define" => {
                let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                if !is_parameter(name) {
                    return self.line(line);
                }
                let value = self.replace(value, 0)?;
                self.parameters.insert(name.to_owned(), value);
                Ok(())
            }
            "undef" if is_parameter(rest) => {
                self.parameters.remove(rest);
                Ok(())
            }
            _ => self.line(line),
        }
    }

    /// Opens a condition. One on macros that are no parameters remains in the text.
    fn open(&mut self, line: &str, condition: &str) -> Result<(), ExpandError> {
        let branch = if !self.is_active() {
            Branch::Passed
        } else if condition::has_parameters(condition) {
            self.decide(condition)?
        } else {
            self.line(line)?;
            Branch::Open
        };
        self.conditions.push(branch);
        Ok(())
    }

    fn alternative(&mut self, line: &str, word: &str, condition: &str) -> Result<(), ExpandError> {
        let branch = self.conditions.pop();
        let branch = branch.ok_or_else(|| ExpandError::Balance(line.to_owned()))?;
        let next = match branch {
            Branch::Open if condition::has_parameters(condition) => {
                return Err(ExpandError::Condition(condition.to_owned()));
            }
            Branch::Open => {
                self.line(line)?;
                Branch::Open
            }
            Branch::Taken | Branch::Passed => Branch::Passed,
            Branch::Pending if word == "else" => Branch::Taken,
            Branch::Pending => self.decide(condition)?,
        };
        self.conditions.push(next);
        Ok(())
    }

    fn decide(&self, condition: &str) -> Result<Branch, ExpandError> {
        let value = |name: &str| self.parameters.get(name)?.parse().ok();
        match condition::holds(condition, &value) {
            Some(true) => Ok(Branch::Taken),
            Some(false) => Ok(Branch::Pending),
            None => Err(ExpandError::Condition(condition.to_owned())),
        }
    }

    /// True if lines at this point are part of the text.
    fn is_active(&self) -> bool {
        self.conditions.iter().all(|branch| matches!(branch, Branch::Open | Branch::Taken))
    }

    /// Adds a line with its parameters replaced. An empty line after another one is left out.
    fn line(&mut self, line: &str) -> Result<(), ExpandError> {
        let is_repeated = line.is_empty() && (self.text.is_empty() || self.text.ends_with("\n\n"));
        if self.is_active() && !is_repeated {
            let line = self.replace(line, 0)?;
            self.text.push_str(&line);
            self.text.push('\n');
        }
        Ok(())
    }

    /// `text` with parameters and the macros `PASTE` and `SIZED` replaced.
    fn replace(&self, text: &str, depth: usize) -> Result<String, ExpandError> {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_uppercase()) {
            let (before, from) = rest.split_at(start);
            replaced.push_str(before);
            let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, after) = from.split_at(end.unwrap_or(from.len()));
            rest = after;
            let is_inside = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            if is_inside || depth > MAX_DEPTH {
                replaced.push_str(name);
            } else if matches!(name, "PASTE" | "SIZED") {
                let fault = || ExpandError::Arguments(text.to_owned());
                let (arguments, after) = arguments(after).ok_or_else(fault)?;
                rest = after;
                replaced.push_str(&self.call(name, &arguments, depth)?.ok_or_else(fault)?);
            } else {
                replaced.push_str(self.parameters.get(name).map_or(name, String::as_str));
            }
        }
        replaced.push_str(rest);
        Ok(replaced)
    }

    /// Value of `PASTE(a, b)` or `SIZED(name)`; `None` if the number of arguments is wrong.
    fn call(
        &self,
        name: &str,
        arguments: &[&str],
        depth: usize,
    ) -> Result<Option<String>, ExpandError> {
        let value = |text: &&str| self.replace(text.trim(), depth.saturating_add(1));
        let values: Vec<String> = arguments.iter().map(value).collect::<Result<_, _>>()?;
        Ok(match (name, values.as_slice()) {
            ("PASTE", [a, b]) => Some(format!("{a}{b}")),
            ("SIZED", [name]) => {
                self.parameters.get("BYTES").map(|bytes| format!("{name}_{bytes}"))
            }
            _ => None,
        })
    }
}

/// Arguments of a macro call that starts `text`, and the text after it; `None` if the parentheses do not match.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let inner = text.strip_prefix('(')?;
    let (mut arguments, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth = depth.checked_add(1)?,
            ')' if depth == 0 => {
                arguments.push(inner.get(start..at)?);
                return Some((arguments, inner.get(at.checked_add(1)?..)?));
            }
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                arguments.push(inner.get(start..at)?);
                start = at.checked_add(1)?;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
