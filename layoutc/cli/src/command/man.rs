//! `layoutc man`: man pages of layoutc and its commands.

use std::fs;
use std::path::{Path, PathBuf, absolute};

use clap::Command;
use serde_json::{Value, json};

use crate::args::{self, ManArgs};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::output::{OutputStatus, link, replace};

use super::CommandOutcome;

/// Footer of every man page: name and version of layoutc.
const SOURCE: &str = concat!("layoutc ", env!("CARGO_PKG_VERSION"));

/// Man page, as the pair of the path of its file and its text in roff.
type ManPage = (PathBuf, String);

/// Prints the man page of layoutc, or, with `--out`, writes that page and one per command to a folder, which is created
/// if missing. Either all pages are replaceable, or none is written.
///
/// # Errors
/// [`CommandError::Usage`] if the folder or a file in it must not be replaced. [`CommandError::Input`] if a link has
/// the path of a page. [`CommandError::Machine`] if a file cannot be written.
pub(crate) fn run(args: &ManArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let mut command = args::command();
    command.build();
    let Some(folder) = &args.out else {
        let text = rendered(&command)?;
        match console.format {
            ReportFormat::Json => {
                let object = json!({ "version": 1, "kind": "man", "text": text });
                console.result(&format!("{object}\n"));
            }
            ReportFormat::Text => console.result(&text),
        }
        return Ok(CommandOutcome::Success);
    };
    if folder.exists() && !folder.is_dir() {
        return Err(CommandError::Usage(format!("`{}` is not a folder", folder.display())));
    }
    let mut pages = Vec::new();
    gather(&command, folder, &mut pages)?;
    pages.iter().try_for_each(|page| check_replaceable(page, args.force))?;
    fs::create_dir_all(folder).map_err(|error| CommandError::io("create", folder, &error))?;
    let mut written = Vec::new();
    for (path, text) in pages {
        written.push((path.display().to_string(), replace(&path, &text)?));
    }
    report_files(&written, console);
    Ok(CommandOutcome::Success)
}

/// Adds the man page of `command`, and the pages of its visible subcommands, to `pages`, with paths in `folder`.
fn gather(command: &Command, folder: &Path, pages: &mut Vec<ManPage>) -> Result<(), CommandError> {
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    pages.push((folder.join(name), rendered(command)?));
    let mut below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.try_for_each(|below| gather(below, folder, pages))
}

fn rendered(command: &Command) -> Result<String, CommandError> {
    let mut page = Vec::new();
    let mut command = command.clone();
    // `man` joins lines; an example must be its own paragraph.
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(help.replace("\nExample:", "\n\nExample:"));
    }
    let man = clap_mangen::Man::new(command).source(SOURCE);
    let name = man.get_filename();
    man.render(&mut page).map_err(|error| CommandError::io("write", Path::new(&name), &error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Checks that a page, a pair of path and text, may be written: its path is free, or has an empty file or one with this
/// text, or, with `force`, any regular file. The command checks all pages before it writes the first.
///
/// # Errors
/// [`CommandError::Input`] if the path is a link. [`CommandError::Usage`] if it is a folder or another special file, or
/// a file with different content without `force`. [`CommandError::Machine`] if the file cannot be read.
fn check_replaceable((path, text): &ManPage, force: bool) -> Result<(), CommandError> {
    if path.is_symlink() {
        // `link` displays a path relative to the working directory, which needs an absolute path.
        let path = absolute(path).unwrap_or_else(|_| path.clone());
        return Err(CommandError::Input(vec![link(&path)]));
    }
    let shown = path.display();
    match fs::metadata(path) {
        Err(_) => Ok(()),
        Ok(there) if there.is_dir() => {
            Err(CommandError::Usage(format!("`{shown}` is a folder, expected a file")))
        }
        Ok(there) if !there.is_file() => {
            Err(CommandError::Usage(format!("`{shown}` is not a regular file")))
        }
        Ok(there) if force || there.len() == 0 => Ok(()),
        Ok(_) => match fs::read(path) {
            Ok(found) if found == text.as_bytes() => Ok(()),
            Ok(_) => {
                let line = format!("`{shown}` exists with different content");
                Err(CommandError::Usage(format!("{line}; use `--force` to overwrite it")))
            }
            Err(error) => Err(CommandError::io("read", path, &error)),
        },
    }
}

fn report_files(written: &[(String, OutputStatus)], console: &mut Console) {
    match console.format {
        ReportFormat::Json => {
            let file = |(path, status): &(String, OutputStatus)| json!({ "path": path, "status": status.word() });
            let files: Vec<Value> = written.iter().map(file).collect();
            let object = json!({ "version": 1, "kind": "man", "files": files });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            for (path, status) in written {
                console.result(&format!("{:9}  {path}\n", status.word()));
            }
        }
        ReportFormat::Text => {}
    }
}
