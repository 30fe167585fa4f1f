//! `layoutc index`: prints the physical index of an element, or the element at a physical index.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::query::locate;
use serde_json::{Value, json};

use crate::args::{IndexArgs, restore_minus};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::json::{integer, integers};
use crate::report::{CAP, DiagnosticSource, counted, human, json as json_report, more_information};

use super::CommandOutcome;
use super::element::{CoordinateArgError, coordinate, list, one_manifest, symbols, tensor_or_view};

/// Maximum length in bytes of a line of standard input, including its end. A longer line is an error in its coordinate.
const LONGEST: usize = 1 << 16;

/// Prints the result for each coordinate on the command line, or else on standard input, one per line: the location of
/// the element, the element at the location (`--inverse`), or a diagnostic if the coordinate is invalid.
pub(crate) fn run(args: &IndexArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let session = CheckSession::open(one_manifest(&args.file)?, console)?;
    let Some(tensor) = tensor_or_view(&session, &args.tensor, console)? else {
        return Ok(CommandOutcome::InputError);
    };
    let is_shared =
        |name: &str| session.views().any(|(_, v)| v.is_broadcast() && v.tensor.name == name);
    if args.inverse && is_shared(&args.tensor) {
        let name = &args.tensor;
        let message =
            format!("`{name}` is a broadcast: a slot can belong to several of its elements");
        return Err(CommandError::Usage(message));
    }
    let symbols = symbols(&args.set, tensor)?;
    let asking = IndexQuery { tensor, symbols, inverse: args.inverse };
    let mut answers = QueryErrors::default();
    if args.coordinates.is_empty() {
        each_line(|line, source, is_drained| {
            answers.one(&asking, line, ("<stdin>", source), console);
            // A program that writes a line and waits gets its answer.
            if is_drained {
                console.flush();
            }
            !console.is_closed()
        })?;
    }
    for (k, coordinate) in args.coordinates.iter().enumerate() {
        let text = restore_minus(coordinate);
        let name = format!("<coordinate {}>", k + 1);
        answers.one(&asking, Ok(&text), (&name, DiagnosticSource::whole(&text)), console);
    }
    Ok(answers.close(console))
}

/// Parameters that are equal for the queries of all coordinates.
struct IndexQuery<'a> {
    tensor: &'a Tensor,
    symbols: BTreeMap<String, i128>,
    inverse: bool,
}

impl IndexQuery<'_> {
    /// Result for the coordinate `text`, as one line in `format` without a line end. It is the location of the element
    /// with this logical coordinate. With `inverse`, it is the element at this physical coordinate, or that there is
    /// none.
    fn answer(&self, text: &str, format: ReportFormat) -> Result<String, CoordinateArgError> {
        let index = coordinate(text)?;
        let place =
            |error: locate::NamedLocateError| CoordinateArgError::whole(text, error.to_string());
        if self.inverse {
            let owner = locate::owner(self.tensor, &self.symbols, &index).map_err(place)?;
            return Ok(self.owner(&index, owner.as_deref(), format));
        }
        let found = locate::element_location(self.tensor, &self.symbols, &index).map_err(place)?;
        Ok(match format {
            ReportFormat::Json => json!({
                "logical": integers(&index),
                "storage": integers(&found.storage),
                "physical": integers(&found.physical),
                "offset": integer(found.offset),
            })
            .to_string(),
            ReportFormat::Text => format!(
                "{}{} -> storage {}, physical {}, offset {}",
                self.tensor.name,
                list(&index),
                list(&found.storage),
                list(&found.physical),
                found.offset
            ),
        })
    }

    fn owner(&self, physical: &[i128], owner: Option<&[i128]>, format: ReportFormat) -> String {
        match format {
            ReportFormat::Json => {
                let logical = owner.map_or(Value::Null, integers);
                json!({ "physical": integers(physical), "logical": logical }).to_string()
            }
            ReportFormat::Text => {
                let owner = owner.map(|index| format!("{}{}", self.tensor.name, list(index)));
                format!("physical {} -> {}", list(physical), owner.as_deref().unwrap_or("padding"))
            }
        }
    }
}

/// Errors of the queries so far. As text, each of the first [`CAP`] is printed immediately, and the others are counted;
/// as JSON, all are printed after the answers.
#[derive(Default)]
struct QueryErrors {
    faults: usize,
    objects: Vec<String>,
}

impl QueryErrors {
    /// Prints the answer of `asking` for the coordinate `text`, or its error. `text` is an error if the line of the
    /// coordinate is too long. `from` is the pair of a name that a diagnostic shows in place of a file name, such as
    /// `<stdin>`, and the text that it displays.
    fn one(
        &mut self,
        asking: &IndexQuery<'_>,
        text: Result<&str, CoordinateArgError>,
        from: (&str, DiagnosticSource<'_>),
        console: &mut Console,
    ) {
        match text.and_then(|text| asking.answer(text, console.format)) {
            Ok(line) => console.result(&format!("{line}\n")),
            Err(wrong) => self.fault(&wrong, from, console),
        }
    }

    fn fault(
        &mut self,
        wrong: &CoordinateArgError,
        (name, source): (&str, DiagnosticSource<'_>),
        console: &mut Console,
    ) {
        self.faults += 1;
        let diagnostic = wrong.diagnostic(name, source);
        let lookup = |_: &str| Some(source);
        match console.format {
            ReportFormat::Json => self.objects.push(json_report::render(&diagnostic, &lookup)),
            ReportFormat::Text if self.faults <= CAP => {
                let text = human::render(&diagnostic, &lookup, console.color);
                console.remark(&format!("{text}\n"));
            }
            ReportFormat::Text => {}
        }
    }

    fn close(self, console: &mut Console) -> CommandOutcome {
        for object in &self.objects {
            console.result(object);
        }
        if self.faults == 0 {
            return CommandOutcome::Success;
        }
        if console.format == ReportFormat::Text {
            if self.faults > CAP {
                console.remark(&format!("… and {}\n\n", counted(self.faults - CAP, "more error")));
            }
            let more = more_information([Code::ShapeCoordinate]);
            console.remark(&format!("{}\n{more}", counted(self.faults, "error")));
        }
        CommandOutcome::InputError
    }
}

/// Calls `visit` with each line of standard input, until it returns false. The first argument of `visit` is the line
/// without its end, or an error if the line is too long. The second is the text that a diagnostic displays: the line
/// with its number and byte offset. The third is true if no further input is buffered.
fn each_line(
    mut visit: impl FnMut(Result<&str, CoordinateArgError>, DiagnosticSource<'_>, bool) -> bool,
) -> Result<(), CommandError> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut line = Vec::new();
    let (mut number, mut byte) = (0, 0);
    loop {
        line.clear();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line);
        let read = read.map_err(|error| CommandError::io("read", Path::new("<stdin>"), &error))?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        let mut end = read;
        if read == LONGEST && !line.ends_with(b"\n") {
            end += skip_line(&mut input)?;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        let source = DiagnosticSource { text, first_line: number, first_byte: byte };
        let coordinate = if end > read {
            Err(CoordinateArgError::whole(text, "line too long for a coordinate".to_owned()))
        } else {
            Ok(text)
        };
        let is_drained = input.buffer().is_empty();
        if !visit(coordinate, source, is_drained) {
            return Ok(());
        }
        byte += end;
    }
}

/// Skips input up to and including the next line end; returns the number of skipped bytes.
fn skip_line(input: &mut impl BufRead) -> Result<usize, CommandError> {
    let mut skipped = 0;
    loop {
        let buffer = input
            .fill_buf()
            .map_err(|error| CommandError::io("read", Path::new("<stdin>"), &error))?;
        let found = buffer.iter().position(|byte| *byte == b'\n');
        let used = found.map_or(buffer.len(), |at| at + 1);
        let is_end = found.is_some() || buffer.is_empty();
        input.consume(used);
        skipped += used;
        if is_end {
            return Ok(skipped);
        }
    }
}
