//! `layoutc show`: draws a layout.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::check::Recorder;
use layoutc_compiler::model::{Tensor, View};
use layoutc_compiler::query::locate::NamedLocateError;
use layoutc_compiler::query::picture::{
    Coloring, Picture, PictureLimits, PictureSubject, SliceFrame, extents, fixed_index, json, page,
    picture, room, svg, terminal,
};

use crate::args::ShowArgs;
use crate::array::file::{check_not_input, is_standard, write};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;
use super::element::{least_symbols, one_manifest, tensor_or_view};

/// Width of the picture in columns if no standard stream is a terminal.
const PLAIN_WIDTH: usize = 100;

/// Prints the picture of a layout on the terminal, or writes it to the files of `--svg` and `--html`. The outcome is
/// [`CommandOutcome::InputError`] if the manifest has errors, so that the tensor is not found.
pub(crate) fn run(args: &ShowArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let files = || [&args.svg, &args.html].into_iter().filter_map(|file| file.as_deref());
    files().try_for_each(|file| check_not_input(&[&args.file], file))?;
    if files().filter(|file| is_standard(file)).count() > 1 {
        let line = "`--svg -` and `--html -` cannot both be standard output";
        return Err(CommandError::Usage(line.to_owned()));
    }
    let recorder = Recorder::new(&args.tensor);
    let session = CheckSession::recording(one_manifest(&args.file)?, &recorder, console)?;
    let Some(tensor) = tensor_or_view(&session, &args.tensor, console)? else {
        return Ok(CommandOutcome::InputError);
    };
    let view = session.views().find(|(_, view)| view.tensor.name == args.tensor);
    let at = parse_fixed_axes(&args.at)?;
    let coloring = if args.banks { Coloring::Banks } else { Coloring::Tiles };
    let shown = PictureInput::new(
        tensor,
        view.map(|(_, view)| view),
        &args.set,
        (&args.axes, &at),
        coloring,
    )?;
    if files().next().is_none() {
        shown.print(args, console)?;
        return Ok(CommandOutcome::Success);
    }
    if let Some(file) = &args.svg {
        written(args, ("svg", file), &svg(&shown.picture(PictureLimits::FIGURE)?), console)?;
    }
    if let Some(file) = &args.html {
        // The recorded steps define the layout of one shard, not of the whole tensor.
        let steps = if tensor.sharded.is_some() { Vec::new() } else { recorder.into_steps() };
        let text = page(&shown.picture(PictureLimits::PAGE)?, &shown.tensor, &steps)
            .map_err(|error| undrawn(tensor, &error))?;
        written(args, ("html", file), &text, console)?;
    }
    Ok(CommandOutcome::Success)
}

/// Tensor to draw, values of its symbols by name, and the slice that is drawn.
struct PictureInput<'a> {
    tensor: Cow<'a, Tensor>,
    symbols: BTreeMap<String, i128>,
    frame: SliceFrame,
    subject: PictureSubject,
    coloring: Coloring,
}

impl<'a> PictureInput<'a> {
    /// Input for the picture of `tensor`. `view` is the view to which `tensor` belongs, `None` if it is declared as a
    /// tensor. `set` has the texts `NAME=VALUE` for symbols; other symbols have their least values. `axes` are the
    /// names of the axes to draw, `at` has the names and indices of axes that are fixed, and `coloring` is the meaning of
    /// the colors.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if a symbol, value, axis or index is invalid. [`CommandError::Input`] if the tensor
    /// cannot be drawn.
    fn new(
        tensor: &'a Tensor,
        view: Option<&View>,
        set: &[String],
        (axes, at): (&[String], &[(String, i128)]),
        coloring: Coloring,
    ) -> Result<Self, CommandError> {
        let (tensor, subject) =
            PictureSubject::of(tensor, view).map_err(|error| undrawn(tensor, &error))?;
        let symbols = least_symbols(set, &tensor)?;
        let extents = extents(&tensor, &symbols).map_err(|error| undrawn(&tensor, &error))?;
        let axes: Vec<String> = axes.iter().map(|name| name.trim().to_owned()).collect();
        let frame = SliceFrame::new(&extents, &axes, at)
            .map_err(|error| CommandError::Usage(format!("`{}`: {error}", tensor.name)))?;
        Ok(Self { tensor, symbols, frame, subject, coloring })
    }

    /// Picture of the slice. Parts of it that exceed the size limits `room` are omitted.
    ///
    /// # Errors
    /// [`CommandError::Input`] if a computation fails, for example by an overflow.
    fn picture(&self, room: PictureLimits) -> Result<Picture, CommandError> {
        let meaning = (self.subject, self.coloring);
        picture(&self.tensor, &self.symbols, self.frame.clone(), room, meaning)
            .map_err(|error| undrawn(&self.tensor, &error))
    }

    fn print(&self, args: &ShowArgs, console: &mut Console) -> Result<(), CommandError> {
        let text = match console.format {
            ReportFormat::Json => format!("{}\n", json(&self.picture(PictureLimits::FIGURE)?)),
            ReportFormat::Text => {
                let width = args.width.map_or_else(width, usize::from);
                let depth = console.depth();
                let room = room(&self.tensor, &self.symbols, &self.frame, depth, width);
                let room = room.map_err(|error| undrawn(&self.tensor, &error))?;
                terminal(&self.picture(room)?, depth)
            }
        };
        console.result(&text);
        Ok(())
    }
}

/// Parses the texts of `--at`, each `NAME=INDEX`, to pairs of the name of a fixed axis and the index on it.
///
/// # Errors
/// [`CommandError::Usage`] if a text has another form.
fn parse_fixed_axes(at: &[String]) -> Result<Vec<(String, i128)>, CommandError> {
    let expected = |text: &str| {
        CommandError::Usage(format!("`--at {text}`: expected NAME=INDEX with an integer"))
    };
    at.iter().map(|text| fixed_index(text).ok_or_else(|| expected(text))).collect()
}

/// Error about `tensor`, which passed all checks, but cannot be drawn for the reason `error`.
fn undrawn(tensor: &Tensor, error: &NamedLocateError) -> CommandError {
    let message = format!("cannot draw `{}`: {error}", tensor.name);
    CommandError::Input(vec![Diagnostic::without_span(Code::LimitGenerated, message)])
}

/// Writes the picture `text` to the file `file`, where the kind of the picture is `svg` or `html`. Then prints the path
/// of the file, unless it is standard output. As JSON, also prints the kind and the number of bytes.
fn written(
    args: &ShowArgs,
    (kind, file): (&str, &Path),
    text: &str,
    console: &mut Console,
) -> Result<(), CommandError> {
    write(file, &[text.as_bytes()], console)?;
    if is_standard(file) {
        return Ok(());
    }
    let path = file.display().to_string();
    match console.format {
        ReportFormat::Json => {
            let summary = serde_json::json!({
                "version": 1, "kind": "show", "tensor": args.tensor,
                "picture": kind, "output": path, "bytes": text.len(),
            });
            console.result(&format!("{summary}\n"));
        }
        ReportFormat::Text if !console.quiet => console.result(&format!("written    {path}\n")),
        ReportFormat::Text => {}
    }
    Ok(())
}

/// Width in columns of the terminal to which a standard stream is connected, else `PLAIN_WIDTH`.
fn width() -> usize {
    terminal_size::terminal_size().map_or(PLAIN_WIDTH, |(width, _)| usize::from(width.0))
}
