//! A build file for ninja: one edge a manifest, each a hermetic run of layoutc.

use std::path::{Path, PathBuf};

use crate::args::Select;
use crate::build::{Action, Graph, Kind, is_told};
use crate::fault::Fault;
use crate::project::seen;

/// What all edges share. Each run works on one thread: ninja runs as many as there are processors, up to the depth.
/// A run writes over what stands there: ninja says what is made again. `restat` spares what is made of outputs that
/// stay the same.
const HEAD: &str = "
pool layoutc
  depth = 8

rule layoutc
  command = $layoutc build $in $flags --jobs 1 --quiet --force
  description = Laying out $in
  deps = gcc
  pool = layoutc
  restat = 1
";

/// What only a build of a whole project makes: again when other outputs come or go, which is what the response file
/// says.
const WHOLE: &str = "
rule layoutc_whole
  command = $layoutc build $flags --jobs 1 --quiet --force
  description = Laying out $out
  pool = layoutc
  restat = 1
  rspfile = $out.rsp
  rspfile_content = $others
";

/// The build file of all that `graph` holds. Paths are as seen from the current folder.
///
/// # Errors
/// A path that ninja cannot be told.
pub(super) fn file(graph: &Graph, select: &Select) -> Result<String, Fault> {
    let program = Program::find()?;
    let mut text = "# One edge a manifest, by `layoutc outputs --format ninja`. Ninja is run in the same folder.\n\
        ninja_required_version = 1.10\n"
        .to_owned();
    text.extend(["layoutc = ", &value(&program.command)?, "\n", HEAD]);
    if graph.actions.iter().any(|action| action.manifest.is_none()) {
        text.push_str(WHOLE);
    }
    for action in &graph.actions {
        text.push('\n');
        text.push_str(&match &action.manifest {
            Some(manifest) => edge(action, manifest, select, &program)?,
            None => whole(action, graph, select, &program)?,
        });
    }
    Ok(text)
}

/// The program that is run.
struct Program {
    /// As it was called.
    command: String,
    /// Its file: another one makes all again.
    file: PathBuf,
}

impl Program {
    fn find() -> Result<Self, Fault> {
        let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        let find = |e| Fault::io("find", "layoutc".as_ref(), &e);
        let file = if called.components().count() > 1 {
            called.clone()
        } else {
            std::env::current_exe().map_err(find)?
        };
        Ok(Self { command: word(&called.to_string_lossy()), file })
    }
}

/// The edge that makes the outputs of a manifest.
fn edge(
    action: &Action,
    manifest: &Path,
    select: &Select,
    program: &Program,
) -> Result<String, Fault> {
    let outputs: Vec<String> = action.outputs.iter().map(|path| seen(path)).collect();
    let depfile = outputs.first().map(|path| format!("{path}.d")).unwrap_or_default();
    let flags = format!("{} --depfile {}", flags(action, select), word(&depfile));
    Ok(format!(
        "build {}: layoutc {} | {}\n  depfile = {}\n  flags = {}\n",
        paths(&outputs)?,
        path(&seen(manifest))?,
        path(&program.file.to_string_lossy())?,
        value(&depfile)?,
        value(&flags)?,
    ))
}

/// The edge that makes what only a build of the whole project makes: after all the others.
fn whole(
    action: &Action,
    graph: &Graph,
    select: &Select,
    program: &Program,
) -> Result<String, Fault> {
    let is_setting = |kind: Kind| matches!(kind, Kind::Config | Kind::Template);
    let settings = graph.nodes.iter().filter(|(_, kind)| is_setting(**kind));
    let mut inputs: Vec<String> = settings.map(|(path, _)| seen(path)).collect();
    inputs.push(program.file.to_string_lossy().into_owned());
    let is_other = |other: &&Action| other.root == action.root && other.manifest.is_some();
    let others = graph.actions.iter().filter(is_other).flat_map(|other| &other.outputs);
    let others: Vec<String> = others.map(|path| seen(path)).collect();
    let outputs: Vec<String> = action.outputs.iter().map(|path| seen(path)).collect();
    Ok(format!(
        "build {}: layoutc_whole | {} || {}\n  others = {}\n  flags = {}\n",
        paths(&outputs)?,
        paths(&inputs)?,
        paths(&others)?,
        value(&others.join(" "))?,
        value(&flags(action, select))?,
    ))
}

/// What makes a run hermetic, as words of a shell.
fn flags(action: &Action, select: &Select) -> String {
    let mut flags =
        format!("--root {} --out {}", word(&seen(&action.root)), word(&seen(&action.out)));
    for target in &select.target {
        flags.extend([" --target ", &word(target)]);
    }
    flags
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as the value of a variable.
fn value(text: &str) -> Result<String, Fault> {
    if text.contains(|c: char| c.is_control()) {
        return Err(refusal(text));
    }
    Ok(text.replace('$', "$$"))
}

/// Paths with spaces between them.
fn paths(paths: &[String]) -> Result<String, Fault> {
    let paths: Vec<String> = paths.iter().map(|file| path(file)).collect::<Result<_, _>>()?;
    Ok(paths.join(" "))
}

/// A path of an edge.
fn path(text: &str) -> Result<String, Fault> {
    if !is_told(text) {
        return Err(refusal(text));
    }
    Ok(text.replace('$', "$$").replace(' ', "$ ").replace(':', "$:"))
}

fn refusal(text: &str) -> Fault {
    Fault::Usage(format!(
        "`--format ninja` cannot name `{}`: ninja takes no line breaks and none of `\\ ; | % =`; rename it",
        text.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ninja_and_the_shell_would_read_otherwise_is_escaped() {
        assert_eq!(path("a b/$c:d.kdl").ok().as_deref(), Some("a$ b/$$c$:d.kdl"));
        assert_eq!(value(&word("it's $x")).ok().as_deref(), Some(r"'it'\''s $$x'"));
        assert_eq!(word("a/b-c_1.d"), "a/b-c_1.d");
        for text in ["a\nb", "a|b"] {
            assert!(matches!(path(text), Err(Fault::Usage(_))), "{text}");
        }
        assert!(matches!(value("a\nb"), Err(Fault::Usage(_))));
    }
}
