//! `layoutc index`: where an element lives, or who lives at a physical index.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::{Diagnostic, Place};
use layoutc_compiler::locate;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::nearest::nearest;
use serde_json::{Value, json};

use crate::args::{Format, Index, typed};
use crate::console::Console;
use crate::fault::Fault;
use crate::report::json::{integer, integers};
use crate::report::{CAP, Source, counted, human, json as json_report};
use crate::session::Session;

use super::Ending;
use super::inspect::unknown_tensor;

/// The longest line of standard input that is looked at, in bytes.
const LONGEST: usize = 1 << 16;

/// Answers every coordinate; the bad ones get a diagnostic each.
pub(crate) fn run(args: &Index, console: &mut Console) -> Result<Ending, Fault> {
    if args.file.is_dir() {
        let folder = args.file.display();
        return Err(Fault::Usage(format!("`{folder}` is a folder; name one manifest")));
    }
    let session = Session::open(std::slice::from_ref(&args.file), console)?;
    let Some((_, tensor)) = session.tensors().find(|(_, t)| t.name == args.tensor) else {
        if session.report.has_errors() {
            session.report.print(console);
            return Ok(Ending::Bad);
        }
        let names: Vec<&str> = session.tensors().map(|(_, t)| t.name.as_str()).collect();
        return Err(Fault::Usage(unknown_tensor(&args.tensor, &names)));
    };
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

/// The values of the tensor's symbols, checked against what the manifest promises of them.
fn symbols(set: &[String], tensor: &Tensor) -> Result<BTreeMap<String, i128>, Fault> {
    let known = &tensor.layout.symbols;
    let mut values = BTreeMap::new();
    for text in set {
        let parsed =
            text.split_once('=').and_then(|(n, v)| Some((n.trim(), v.trim().parse().ok()?)));
        let Some((name, value)) = parsed else {
            return Err(Fault::Usage(format!("`--set {text}`: write NAME=VALUE, a whole number")));
        };
        let Some(symbol) = known.iter().find(|symbol| symbol.name == name) else {
            let near = nearest(name, known.iter().map(|s| s.name.as_str()));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let tensor = &tensor.name;
            return Err(Fault::Usage(format!("`{tensor}` has no symbol `{name}`{hint}")));
        };
        let (min, max, multiple) = (symbol.min, symbol.max, symbol.multiple.max(1));
        if value < min || value > max || value % multiple != 0 {
            let of =
                if multiple > 1 { format!(", a multiple of {multiple}") } else { String::new() };
            let message = format!("`{name}` is promised to be {min} to {max}{of}, not {value}");
            return Err(Fault::Usage(message));
        }
        values.insert(name.to_owned(), value);
    }
    let missing: Vec<String> = known
        .iter()
        .filter(|symbol| !values.contains_key(&symbol.name))
        .map(|symbol| format!("--set {}=VALUE", symbol.name))
        .collect();
    if missing.is_empty() {
        return Ok(values);
    }
    let message = format!("`{}` depends on symbols: add {}", tensor.name, missing.join(" "));
    Err(Fault::Usage(message))
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
        let place = |error: locate::LocateError| Wrong {
            start: 0,
            end: text.len(),
            message: error.to_string(),
            help: None,
        };
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

/// `[1, 2]`
fn list(index: &[i128]) -> String {
    let index: Vec<String> = index.iter().map(ToString::to_string).collect();
    format!("[{}]", index.join(", "))
}

/// What is wrong with a coordinate, and where in its text.
struct Wrong {
    start: usize,
    end: usize,
    message: String,
    help: Option<String>,
}

/// The integers of `1, -2,3`; none of an empty text.
fn coordinate(text: &str) -> Result<Vec<i128>, Wrong> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut index = Vec::new();
    let mut start = 0;
    for part in text.split(',') {
        let word = part.trim();
        let at = start + (part.len() - part.trim_start().len());
        start += part.len() + 1;
        let Ok(value) = word.parse() else {
            let message = match word {
                "" => "an index is missing".to_owned(),
                _ => format!("`{word}` is not an index"),
            };
            let help = apart(text).map(|meant| format!("write `{meant}`"));
            return Err(Wrong { start: at, end: at + word.len(), message, help });
        };
        index.push(value);
    }
    Ok(index)
}

/// The indices of `1 2`, parted by commas as they should be.
fn apart(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
    let is_index = |word: &&str| word.parse::<i128>().is_ok();
    (words.len() > 1 && words.iter().all(is_index)).then(|| words.join(","))
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
        let first = source.first_byte;
        let place = Place::new(&Arc::from(name), first + wrong.start..first + wrong.end);
        let message = wrong.message.as_str();
        let mut diagnostic = Diagnostic::error(Code::ShapeCoordinate, message, place, "");
        diagnostic.help.extend(wrong.help.clone());
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
            let message = "the line is too long for a coordinate".to_owned();
            Err(Wrong { start: 0, end: text.len(), message, help: None })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<i128>, (usize, usize, String)> {
        coordinate(text).map_err(|wrong| (wrong.start, wrong.end, wrong.message))
    }

    #[test]
    fn a_coordinate_is_integers_between_commas() {
        assert_eq!(read("1,2"), Ok(vec![1, 2]));
        assert_eq!(read(" -1 , 2 "), Ok(vec![-1, 2]));
        assert_eq!(read(""), Ok(Vec::new()));
        assert_eq!(read("  "), Ok(Vec::new()));
    }

    #[test]
    fn the_bad_index_is_the_one_underlined() {
        assert_eq!(read("1, x"), Err((3, 4, "`x` is not an index".to_owned())));
        assert_eq!(read("1,,2"), Err((2, 2, "an index is missing".to_owned())));
        assert_eq!(read("1.5"), Err((0, 3, "`1.5` is not an index".to_owned())));
    }
}
