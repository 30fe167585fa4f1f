//! `layoutc index`: where an element lives, or who lives at a physical index.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use layoutc_compiler::locate;
use layoutc_compiler::model::Tensor;
use serde_json::{Value, json};

use crate::args::{Format, Index, typed};
use crate::console::Console;
use crate::fault::Fault;
use crate::report::json::{integer, integers};
use crate::report::{CAP, Source, counted, human, json as json_report};
use crate::session::Session;

use super::Ending;
use super::element::{Wrong, coordinate, list, one_manifest, symbols, tensor_or_view};

/// The longest line of standard input that is looked at, in bytes.
const LONGEST: usize = 1 << 16;

/// Answers every coordinate; the bad ones get a diagnostic each.
pub(crate) fn run(args: &Index, console: &mut Console) -> Result<Ending, Fault> {
    let session = Session::open(one_manifest(&args.file)?, console)?;
    let Some(tensor) = tensor_or_view(&session, &args.tensor, console)? else {
        return Ok(Ending::Bad);
    };
    let is_shared = |name: &str| session.views().any(|(_, v)| v.is_shared && v.tensor.name == name);
    if args.inverse && is_shared(&args.tensor) {
        let name = &args.tensor;
        let message = format!("`{name}` is a broadcast: a slot is no element of it alone");
        return Err(Fault::Usage(message));
    }
    let symbols = symbols(&args.set, tensor)?;
    let asking = Asking { tensor, symbols, inverse: args.inverse };
    let mut answers = Answers::default();
    if args.coordinates.is_empty() {
        each_line(|line, source, is_drained| {
            answers.one(&asking, line, ("<stdin>", source), console);
            // Whoever writes a line and waits gets its answer.
            if is_drained {
                console.flush();
            }
            !console.is_closed()
        })?;
    }
    for (k, coordinate) in args.coordinates.iter().enumerate() {
        let text = typed(coordinate);
        let name = format!("<coordinate {}>", k + 1);
        answers.one(&asking, Ok(&text), (&name, Source::whole(&text)), console);
    }
    Ok(answers.close(console))
}

/// What is asked of every coordinate.
struct Asking<'a> {
    tensor: &'a Tensor,
    symbols: BTreeMap<String, i128>,
    inverse: bool,
}

impl Asking<'_> {
    /// The answer as one line, or what is wrong: the bytes of the coordinate that are, the message, the label.
    fn answer(&self, text: &str, format: Format) -> Result<String, Wrong> {
        let index = coordinate(text)?;
        let place = |error: locate::LocateError| Wrong::whole(text, error.to_string());
        if self.inverse {
            let owner = locate::owner(self.tensor, &self.symbols, &index).map_err(place)?;
            return Ok(self.owner(&index, owner.as_deref(), format));
        }
        let found = locate::place(self.tensor, &self.symbols, &index).map_err(place)?;
        Ok(match format {
            Format::Json => json!({
                "logical": integers(&found.logical),
                "storage": integers(&found.storage),
                "physical": integers(&found.physical),
                "offset": integer(found.offset),
            })
            .to_string(),
            Format::Text => format!(
                "{}{} -> storage {}, physical {}, offset {}",
                self.tensor.name,
                list(&found.logical),
                list(&found.storage),
                list(&found.physical),
                found.offset
            ),
        })
    }

    fn owner(&self, physical: &[i128], owner: Option<&[i128]>, format: Format) -> String {
        match format {
            Format::Json => {
                let logical = owner.map_or(Value::Null, integers);
                json!({ "physical": integers(physical), "logical": logical }).to_string()
            }
            Format::Text => {
                let owner = owner.map(|index| format!("{}{}", self.tensor.name, list(index)));
                format!("physical {} -> {}", list(physical), owner.as_deref().unwrap_or("padding"))
            }
        }
    }
}

/// The faults so far. For people they are printed as they come; for programs after the results.
#[derive(Default)]
struct Answers {
    faults: usize,
    objects: Vec<String>,
}

impl Answers {
    /// Answers one coordinate, or the fault that kept it from being read.
    fn one(
        &mut self,
        asking: &Asking<'_>,
        text: Result<&str, Wrong>,
        from: (&str, Source<'_>),
        console: &mut Console,
    ) {
        match text.and_then(|text| asking.answer(text, console.format)) {
            Ok(line) => console.result(&format!("{line}\n")),
            Err(wrong) => self.fault(&wrong, from, console),
        }
    }

    fn fault(&mut self, wrong: &Wrong, (name, source): (&str, Source<'_>), console: &mut Console) {
        self.faults += 1;
        let diagnostic = wrong.diagnostic(name, source);
        let lookup = |_: &str| Some(source);
        match console.format {
            Format::Json => self.objects.push(json_report::render(&diagnostic, &lookup)),
            Format::Text if self.faults <= CAP => {
                let text = human::render(&diagnostic, &lookup, console.color);
                console.remark(&format!("{text}\n"));
            }
            Format::Text => {}
        }
    }

    fn close(self, console: &mut Console) -> Ending {
        for object in &self.objects {
            console.result(object);
        }
        if self.faults == 0 {
            return Ending::Good;
        }
        if console.format == Format::Text {
            if self.faults > CAP {
                console.remark(&format!("… and {}\n\n", counted(self.faults - CAP, "more error")));
            }
            console.remark(&format!("{}\n", counted(self.faults, "error")));
        }
        Ending::Bad
    }
}

/// Calls `visit` with every line of standard input, and whether no more is known to follow, until it says `false`.
fn each_line(
    mut visit: impl FnMut(Result<&str, Wrong>, Source<'_>, bool) -> bool,
) -> Result<(), Fault> {
    let mut input = BufReader::new(io::stdin().lock());
    let mut line = Vec::new();
    let (mut number, mut byte) = (0, 0);
    loop {
        line.clear();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line);
        let read = read.map_err(|error| Fault::io("read", Path::new("<stdin>"), &error))?;
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
        let source = Source { text, first_line: number, first_byte: byte };
        let good = if end > read {
            Err(Wrong::whole(text, "the line is too long for a coordinate".to_owned()))
        } else {
            Ok(text)
        };
        let is_drained = input.buffer().is_empty();
        if !visit(good, source, is_drained) {
            return Ok(());
        }
        byte += end;
    }
}

/// Skips the rest of a line; gives its bytes.
fn skip_line(input: &mut impl BufRead) -> Result<usize, Fault> {
    let mut skipped = 0;
    loop {
        let buffer =
            input.fill_buf().map_err(|error| Fault::io("read", Path::new("<stdin>"), &error))?;
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
