//! Build file for ninja with one build edge per manifest. Each edge is a hermetic run of layoutc: `--root` and `--out`
//! are fixed, and nothing is cached.

use std::path::{Path, PathBuf};

use crate::build::{ActionScope, BuildAction, SelectArgs, UNESCAPABLE, is_expressible};
use crate::command_error::CommandError;
use crate::paths::relative_to_cwd;

/// Head of the build file, with the rule for manifests. Each run uses one thread, because ninja runs up to `depth`
/// commands of the pool at a time. `--force` is set because ninja, not layoutc, decides what is rebuilt. `restat` skips
/// the dependents of outputs that did not change.
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

/// Rule for the outputs of a whole project. The response file contains the paths of all other outputs. As a result,
/// ninja runs the rule again when their set changes.
const WHOLE: &str = "
rule layoutc_whole
  command = $layoutc build $flags --jobs 1 --quiet --force
  description = Laying out $out
  pool = layoutc
  restat = 1
  rspfile = $out.rsp
  rspfile_content = $others
";

/// Text of the ninja file for `actions`, with the target `layoutc_outputs` for all outputs. The targets that `select`
/// names are passed on to each run. The paths of the manifests, settings and outputs in the file are relative to the
/// working directory.
///
/// # Errors
/// [`CommandError::Usage`] if a path cannot be expressed in the syntax of ninja. [`CommandError::Machine`] if the
/// layoutc binary cannot be found.
pub(super) fn file(actions: &[BuildAction], select: &SelectArgs) -> Result<String, CommandError> {
    let program = ToolCommand::find()?;
    let mut text = "# One edge per manifest, by `layoutc outputs --format ninja`. Run ninja in the same folder.\n\
        ninja_required_version = 1.10\n"
        .to_owned();
    text.extend(["layoutc = ", &value(&program.command)?, "\n", HEAD]);
    if actions.iter().any(|action| matches!(action.subject, ActionScope::Project(_))) {
        text.push_str(WHOLE);
    }
    for action in actions {
        text.push('\n');
        text.push_str(&match &action.subject {
            ActionScope::Manifest(manifest) => edge(action, manifest, select, &program)?,
            ActionScope::Project(settings) => {
                project_edge(action, settings, actions, select, &program)?
            }
        });
    }
    let outputs = actions.iter().flat_map(|action| &action.outputs);
    text.extend(["\nbuild layoutc_outputs: phony ", &paths(&shown(outputs))?, "\n"]);
    Ok(text)
}

/// Command that runs layoutc in the build file.
struct ToolCommand {
    /// Name or path by which layoutc was called, quoted for a shell.
    command: String,
    /// Path of the layoutc binary, which is an input of all build edges.
    file: String,
}

impl ToolCommand {
    fn find() -> Result<Self, CommandError> {
        let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
        let find = |e| CommandError::io("find", "layoutc".as_ref(), &e);
        let is_path = called.components().count() > 1;
        let file = if is_path { called.clone() } else { std::env::current_exe().map_err(find)? };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(Self { command: word(&text(&called)), file: text(&file) })
    }
}

/// Build edge for the outputs of the manifest at the path `manifest`, which `action` produces. It depends on the
/// manifest and on the layoutc binary. Ninja learns the other inputs from the depfile of the run.
fn edge(
    action: &BuildAction,
    manifest: &Path,
    select: &SelectArgs,
    program: &ToolCommand,
) -> Result<String, CommandError> {
    let outputs = shown(action.outputs.iter());
    // Distinguishes the name from an option.
    let mut manifest = relative_to_cwd(manifest);
    if manifest.starts_with('-') {
        manifest.insert_str(0, "./");
    }
    let depfile = outputs.first().map(|path| format!("{path}.d")).unwrap_or_default();
    let flags = format!("{} --depfile {}", flags(action, select), word(&depfile));
    Ok(format!(
        "build {}: layoutc {} | {}\n  depfile = {}\n  flags = {}\n",
        paths(&outputs)?,
        path(&manifest)?,
        path(&program.file)?,
        value(&depfile)?,
        value(&flags)?,
    ))
}

/// Build edge for the umbrella header of a project, which `action` produces. It depends on the files `settings` and on
/// the layoutc binary. Ninja runs it after the edges for the manifests of the same project, whose actions are in `all`.
fn project_edge(
    action: &BuildAction,
    settings: &[PathBuf],
    all: &[BuildAction],
    select: &SelectArgs,
    program: &ToolCommand,
) -> Result<String, CommandError> {
    let mut inputs = shown(settings.iter());
    inputs.push(program.file.clone());
    let others = all.iter().filter(|other| other.root == action.root);
    let others = others.filter(|other| matches!(other.subject, ActionScope::Manifest(_)));
    let others = shown(others.flat_map(|other| &other.outputs));
    Ok(format!(
        "build {}: layoutc_whole | {} || {}\n  others = {}\n  flags = {}\n",
        paths(&shown(action.outputs.iter()))?,
        paths(&inputs)?,
        paths(&others)?,
        value(&others.join(" "))?,
        value(&flags(action, select))?,
    ))
}

fn shown<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<String> {
    paths.map(|path| relative_to_cwd(path)).collect()
}

/// Flags of `layoutc build` that make a run hermetic, quoted for a shell: the root of the project, the output folder,
/// and the targets of `select`.
fn flags(action: &BuildAction, select: &SelectArgs) -> String {
    let mut flags = format!(
        "--root {} --out {}",
        word(&relative_to_cwd(&action.root)),
        word(&relative_to_cwd(&action.out))
    );
    for target in &select.target {
        flags.extend([" --target ", &word(target)]);
    }
    flags
}

/// `text` as one word of a shell command, in quotes if needed.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `text` as the value of a ninja variable, with `$` doubled.
///
/// # Errors
/// [`CommandError::Usage`] if it contains control characters.
fn value(text: &str) -> Result<String, CommandError> {
    if text.contains(|c: char| c.is_control()) {
        return Err(refusal(text));
    }
    Ok(text.replace('$', "$$"))
}

fn paths(paths: &[String]) -> Result<String, CommandError> {
    let paths: Vec<String> = paths.iter().map(|file| path(file)).collect::<Result<_, _>>()?;
    Ok(paths.join(" "))
}

/// Path `text` with escapes for a ninja build edge: `$` before `$`, a space and `:`.
///
/// # Errors
/// [`CommandError::Usage`] if ninja or a depfile cannot express the path ([`is_expressible`]).
fn path(text: &str) -> Result<String, CommandError> {
    if !is_expressible(text) {
        return Err(refusal(text));
    }
    Ok(text.replace('$', "$$").replace(' ', "$ ").replace(':', "$:"))
}

fn refusal(text: &str) -> CommandError {
    CommandError::Usage(format!(
        "`--format ninja` cannot express `{}`: a path must not contain line breaks or any of {UNESCAPABLE} ; rename it",
        text.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninja_and_shell_syntax_in_paths_is_escaped() {
        assert_eq!(path("a b/$c:d.kdl").ok().as_deref(), Some("a$ b/$$c$:d.kdl"));
        assert_eq!(value(&word("it's $x")).ok().as_deref(), Some(r"'it'\''s $$x'"));
        assert_eq!(word("a/b-c_1.d"), "a/b-c_1.d");
        for text in ["a\nb", "a|b"] {
            assert!(matches!(path(text), Err(CommandError::Usage(_))), "{text}");
        }
        assert!(matches!(value("a\nb"), Err(CommandError::Usage(_))));
    }
}
