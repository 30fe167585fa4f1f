//! `layoutc show`: a layout as a picture.

use std::collections::BTreeMap;
use std::path::Path;

use layoutc_compiler::check::Recorder;
use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::locate::LocateError;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::picture::{
    Frame, Picture, Room, Subject, extents, json, page, picture, room, svg, terminal,
};

use crate::args::{Format, Show};
use crate::array::file::{is_standard, keep, write};
use crate::console::Console;
use crate::fault::Fault;
use crate::session::Session;

use super::Ending;
use super::element::{least_symbols, one_manifest, tensor_or_view};

/// The columns of what is no terminal.
const PLAIN_WIDTH: usize = 100;

/// Prints the picture, or writes it into the files that are named.
pub(crate) fn run(args: &Show, console: &mut Console) -> Result<Ending, Fault> {
    let files = || [&args.svg, &args.html].into_iter().filter_map(|file| file.as_deref());
    files().try_for_each(|file| keep(&[&args.file], file))?;
    if files().filter(|file| is_standard(file)).count() > 1 {
        let line = "`--svg -` and `--html -` cannot both be standard output";
        return Err(Fault::Usage(line.to_owned()));
    }
    let recorder = Recorder::new(&args.tensor);
    let session = Session::recording(one_manifest(&args.file)?, &recorder, console)?;
    let Some(tensor) = tensor_or_view(&session, &args.tensor, console)? else {
        return Ok(Ending::Bad);
    };
    let view = session.views().find(|(_, view)| view.tensor.name == args.tensor);
    let subject = match view {
        Some((_, view)) if view.is_shared => Subject::SharedView,
        Some(_) => Subject::View,
        None => Subject::Tensor,
    };
    let symbols = least_symbols(&args.set, tensor)?;
    let frame = frame(args, tensor, &symbols)?;
    let shown = Shown { tensor, symbols, frame, subject };
    if files().next().is_none() {
        shown.print(args, console)?;
        return Ok(Ending::Good);
    }
    if let Some(file) = &args.svg {
        written(args, ("svg", file), &svg(&shown.picture(Room::FIGURE)?), console)?;
    }
    if let Some(file) = &args.html {
        let steps = recorder.into_steps();
        let text =
            page(&shown.picture(Room::PAGE)?, tensor, &steps).map_err(|e| undrawn(tensor, &e))?;
        written(args, ("html", file), &text, console)?;
    }
    Ok(Ending::Good)
}

/// What is drawn of which tensor.
struct Shown<'a> {
    tensor: &'a Tensor,
    symbols: BTreeMap<String, i128>,
    frame: Frame,
    subject: Subject,
}

impl Shown<'_> {
    fn picture(&self, room: Room) -> Result<Picture, Fault> {
        picture(self.tensor, &self.symbols, self.frame.clone(), room, self.subject)
            .map_err(|error| undrawn(self.tensor, &error))
    }

    fn print(&self, args: &Show, console: &mut Console) -> Result<(), Fault> {
        let text = match console.format {
            Format::Json => format!("{}\n", json(&self.picture(Room::FIGURE)?)),
            Format::Text => {
                let width = args.width.map_or_else(width, usize::from);
                let depth = console.depth();
                let room = room(self.tensor, &self.symbols, &self.frame, depth, width);
                let room = room.map_err(|error| undrawn(self.tensor, &error))?;
                terminal(&self.picture(room)?, depth)
            }
        };
        console.result(&text);
        Ok(())
    }
}

/// The axes of `--axes` and `--at`.
fn frame(args: &Show, tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Frame, Fault> {
    let extents = extents(tensor, symbols).map_err(|error| undrawn(tensor, &error))?;
    let held = args.at.iter().map(|text| {
        let parsed = text.split_once('=');
        let parsed = parsed.and_then(|(n, v)| Some((n.trim().to_owned(), v.trim().parse().ok()?)));
        parsed
            .ok_or_else(|| Fault::Usage(format!("`--at {text}`: write NAME=INDEX, a whole number")))
    });
    let held = held.collect::<Result<Vec<_>, _>>()?;
    let axes: Vec<String> = args.axes.iter().map(|name| name.trim().to_owned()).collect();
    Frame::new(&extents, &axes, &held)
        .map_err(|error| Fault::Usage(format!("`{}`: {error}", tensor.name)))
}

/// Why a tensor cannot be drawn that was found good.
fn undrawn(tensor: &Tensor, error: &LocateError) -> Fault {
    let message = format!("`{}` cannot be drawn: {error}", tensor.name);
    Fault::Input(vec![Diagnostic::placeless(Code::LimitGenerated, message)])
}

/// Writes a file, and says so unless it is standard output.
fn written(
    args: &Show,
    (kind, file): (&str, &Path),
    text: &str,
    console: &mut Console,
) -> Result<(), Fault> {
    write(file, &[text.as_bytes()], console)?;
    if is_standard(file) {
        return Ok(());
    }
    let path = file.display().to_string();
    match console.format {
        Format::Json => {
            let told = serde_json::json!({
                "version": 1, "kind": "show", "tensor": args.tensor,
                "picture": kind, "output": path, "bytes": text.len(),
            });
            console.result(&format!("{told}\n"));
        }
        Format::Text if !console.quiet => console.result(&format!("written    {path}\n")),
        Format::Text => {}
    }
    Ok(())
}

/// The columns of the terminal.
fn width() -> usize {
    terminal_size::terminal_size().map_or(PLAIN_WIDTH, |(width, _)| usize::from(width.0))
}
