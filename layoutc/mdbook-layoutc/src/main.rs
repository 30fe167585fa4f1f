//! `mdbook-layoutc`, an mdBook preprocessor: highlights manifests in a book and draws their layouts.
//!
//! mdBook calls the program with `supports RENDERER`, then sends the book as JSON and reads the changed book back.
//! Unknown members of that JSON are preserved.

mod chapter;
mod draw;
mod fence;
mod html;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use layoutc::{os_error_text, write_plainly};
use serde_json::Value;

const USAGE: &str = "\
mdbook-layoutc draws the layouts of a book. mdBook runs it if book.toml has

    [preprocessor.layoutc]

Usage: mdbook-layoutc                    reads [context, book] as JSON, writes the book
       mdbook-layoutc supports RENDERER  succeeds if the renderer is supported
";

/// Name of the only renderer that the preprocessor supports.
const RENDERER: &str = "html";

/// Runs the preprocessor. The exit code is 1 for an error in the book or an unsupported renderer, 2 for an error in the
/// command line, 3 for a system error.
fn main() -> ExitCode {
    let args = std::env::args_os().skip(1);
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        [] => preprocess(),
        ["supports", RENDERER] => ExitCode::SUCCESS,
        ["supports", _] => ExitCode::FAILURE,
        ["--help" | "-h"] => written(USAGE),
        ["--version" | "-V"] => {
            written(concat!("mdbook-layoutc ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        _ => {
            write_plainly(USAGE);
            ExitCode::from(2)
        }
    }
}

fn preprocess() -> ExitCode {
    let mut text = String::new();
    if let Err(error) = io::stdin().lock().read_to_string(&mut text) {
        write_plainly(&format!("error: cannot read standard input: {}\n", os_error_text(&error)));
        return ExitCode::from(3);
    }
    match draw_book(&text) {
        Ok(book) => written(&book),
        Err(faults) => {
            write_plainly(&faults);
            ExitCode::FAILURE
        }
    }
}

/// JSON of the book in which KDL blocks are replaced by highlighted manifests and pictures. `text` is the input from
/// mdBook, the JSON list `[context, book]`. The error is the text of all errors in the blocks of the book, or a message
/// that the input is invalid. For a renderer other than [`RENDERER`] the book is unchanged.
fn draw_book(text: &str) -> Result<String, String> {
    let unknown = |what: &str| format!("error: invalid input from mdBook: {what}\n");
    let (context, mut book): (Value, Value) =
        serde_json::from_str(text).map_err(|error| unknown(&error.to_string()))?;
    if context.get("renderer").and_then(Value::as_str) == Some(RENDERER) {
        let folder = context.pointer("/config/book/src").and_then(Value::as_str).unwrap_or("src");
        // `items` since mdBook 0.5, before that `sections`.
        let key = if book.get("items").is_some() { "items" } else { "sections" };
        let items = book.get_mut(key).ok_or_else(|| unknown("the book has no items"))?;
        let mut faults = String::new();
        chapters(items, folder, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
    }
    Ok(book.to_string())
}

/// Renders the chapters in the JSON list `items` and their subchapters in place, and appends the errors in their blocks
/// to `faults`. `folder` is the folder of the chapters' files, for messages.
fn chapters(items: &mut Value, folder: &str, faults: &mut String) {
    for item in items.as_array_mut().into_iter().flatten() {
        let Some(chapter) = item.get_mut("Chapter") else { continue };
        let word = |key: &str| chapter.get(key).and_then(Value::as_str);
        let name = match word("source_path").or(word("path")) {
            Some(path) => format!("{folder}/{path}"),
            None => word("name").unwrap_or_default().to_owned(),
        };
        if let Some(Value::String(content)) = chapter.get_mut("content") {
            match chapter::draw_chapter(&name, content) {
                Ok(drawn) => *content = drawn,
                Err(found) => faults.push_str(&found),
            }
        }
        if let Some(below) = chapter.get_mut("sub_items") {
            chapters(below, folder, faults);
        }
    }
}

fn written(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            write_plainly(&format!(
                "error: cannot write to standard output: {}\n",
                os_error_text(&error)
            ));
            ExitCode::from(3)
        }
    }
}
