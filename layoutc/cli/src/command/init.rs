//! `layoutc init` and `layoutc new`: create a project with an example manifest that builds without changes.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::paths::relative_to_cwd;
use crate::project::CONFIG;

use super::CommandOutcome;

/// Example manifest of a new project.
const EXAMPLE: &str = r#"// Axes, extents and the slot of each element. `layoutc build` proves the layout and generates C.

// The framework's layout. A tensor without a layout is row-major.
tensor activations dtype=f32 {
    shape { n 1; h 56; w 56; c 64 }
}

// The kernel's layout: blocks of eight channels.
// `//` and `%` round as in Python. Without `c // 8`, the build reports two elements that collide.
tensor blocked like=activations {
    layout {
        map "(n, h, w, c) -> (n, c // 8, h, w, c % 8)"
    }
}

// Generates a function that converts the first layout to the second.
convert activations to=blocked
"#;
const EXAMPLE_PATH: &str = "layouts/example.kdl";
/// Maximum length in bytes of the words from the name of a project in a prefix of identifiers, without the added
/// `layout_` and `_`.
const LONGEST_PREFIX: usize = 64;

/// Creates a project, `layoutc.toml` with an example manifest, in the folder `dir`, which may exist.
///
/// # Errors
/// [`CommandError::Usage`] if `dir` is not a folder, or has one of the two files. [`CommandError::Machine`] if a file
/// cannot be written.
pub(crate) fn init(dir: &Path, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if dir.exists() && !dir.is_dir() {
        return Err(CommandError::Usage(format!("`{}` is not a folder", dir.display())));
    }
    make(dir, console)
}

/// Creates a project, `layoutc.toml` with an example manifest, in the new folder `dir`.
///
/// # Errors
/// [`CommandError::Usage`] if `dir` exists. [`CommandError::Machine`] if a file cannot be written.
pub(crate) fn new(dir: &Path, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if dir.symlink_metadata().is_ok() {
        let shown = dir.display();
        let hint =
            if dir.is_dir() { format!("; try `layoutc init {shown}`") } else { String::new() };
        return Err(CommandError::Usage(format!("`{shown}` already exists{hint}")));
    }
    make(dir, console)
}

fn make(dir: &Path, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    for path in [CONFIG, EXAMPLE_PATH] {
        let file = dir.join(path);
        if file.symlink_metadata().is_ok() {
            return Err(taken(&file));
        }
    }
    fs::create_dir_all(dir).map_err(|error| CommandError::io("create", dir, &error))?;
    let real = fs::canonicalize(dir).map_err(|error| CommandError::io("find", dir, &error))?;
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let layouts = real.join("layouts");
    fs::create_dir_all(&layouts).map_err(|error| CommandError::io("create", &layouts, &error))?;
    write_new(&real.join(CONFIG), &config(&name))?;
    write_new(&real.join(EXAMPLE_PATH), EXAMPLE)?;
    let files = [CONFIG, EXAMPLE_PATH].map(|path| relative_to_cwd(&real.join(path)));
    match console.format {
        ReportFormat::Json => {
            let object = json!({ "version": 1, "kind": "init", "files": files });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            for file in &files {
                console.result(&format!("created  {file}\n"));
            }
            let folder = relative_to_cwd(&real);
            let enter =
                if folder == "." { String::new() } else { format!("cd {} && ", word(&folder)) };
            console.result(&format!("next: {enter}layoutc build\n"));
        }
        ReportFormat::Text => {}
    }
    Ok(CommandOutcome::Success)
}

/// Path as one word of a shell, quoted if needed.
fn word(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Text of `layoutc.toml` for a project called `name`.
fn config(name: &str) -> String {
    // A JSON string is a TOML string.
    format!("[project]\nname = {}\nprefix = \"{}\"\n", Value::from(name), prefix(name))
}

/// Prefix of generated identifiers, from the name of the project: `my_kernels_` for `my-kernels`.
fn prefix(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut prefix: String = words.collect::<Vec<_>>().join("_");
    prefix.truncate(LONGEST_PREFIX);
    if prefix.is_empty() {
        prefix.push_str("layout");
    } else if prefix.starts_with(|c: char| c.is_ascii_digit()) {
        prefix.insert_str(0, "layout_");
    }
    prefix + "_"
}

fn write_new(file: &Path, text: &str) -> Result<(), CommandError> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    match opened.and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(taken(file)),
        written => written.map_err(|error| CommandError::io("write", file, &error)),
    }
}

fn taken(file: &Path) -> CommandError {
    let shown = if file.is_absolute() { relative_to_cwd(file) } else { file.display().to_string() };
    CommandError::Usage(format!("`{shown}` already exists and is not overwritten"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_one_shell_word() {
        assert_eq!(word("my-kernels"), "my-kernels");
        assert_eq!(word("my proj"), "'my proj'");
        assert_eq!(word("it's"), "'it'\\''s'");
        assert_eq!(word("-x"), "./-x");
    }

    #[test]
    fn prefix_is_an_identifier_for_any_project_name() {
        for (name, expected) in [
            ("my-kernels", "my_kernels_"),
            ("Net 2.0", "Net_2_0_"),
            ("3d", "layout_3d_"),
            ("__x--y__", "x_y_"),
            ("層", "layout_"),
            ("", "layout_"),
        ] {
            assert_eq!(prefix(name), expected, "{name}");
        }
        assert_eq!(prefix(&"x".repeat(200)).len(), LONGEST_PREFIX + 1);
    }

    #[test]
    fn a_name_with_quotes_is_a_toml_string() {
        let file = std::sync::Arc::from("layoutc.toml");
        for name in ["a\"b", "a\\b", "tab\there", "層"] {
            let config = layoutc_compiler::config::parse(&file, &config(name)).expect("good");
            assert_eq!(config.project.name.as_deref(), Some(name));
        }
    }
}
