//! A text as a whole: one sharding in braces, or those of a tuple; and the words of the first two forms.

use alloc::format;
use alloc::vec::Vec;

use super::parser::Parser;
use super::tiles::Tiles;
use crate::notation::cursor::Cursor;
use crate::notation::{Fault, FaultKind};
use crate::parse::Span;
use crate::sharding::order::Order;
use crate::sharding::placement::{Group, Placed, Placement, Subgroup, Text, tiled};

/// The words that a sharding may begin with.
const WORDS: &str = "`devices=`, `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, `mesh`";

/// The sharding of a tensor, or those of a tuple, in XLA's normal form.
///
/// # Errors
/// [`Fault`]: the first one, with its place in the text.
pub fn parse(text: &str) -> Result<Text, Fault> {
    read(text).map_err(|fault| {
        if fault.kind != FaultKind::Syntax || fault.help.is_some() {
            return fault;
        }
        let example = if text.contains("mesh") {
            "{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}"
        } else {
            "{devices=[2,4]<=[8]}"
        };
        fault.help(format!("it is written as in `{example}`"))
    })
}

fn read(text: &str) -> Result<Text, Fault> {
    let mut parser = Parser { cursor: Cursor::new(text) };
    parser.expect("{")?;
    let parsed = match parser.peek() {
        Some('}') => {
            parser.cursor.next();
            Text::Tuple(Vec::new())
        }
        Some('{') => Text::Tuple(parser.list("}", |parser| {
            parser.expect("{")?;
            parser.placed()
        })?),
        _ => Text::One(parser.placed()?),
    };
    parser.blank();
    parser.cursor.expect_end()?;
    Ok(parsed)
}

/// The sharding of one tensor.
///
/// # Errors
/// As [`parse`]; a tuple is [`FaultKind::Unsupported`].
pub fn parse_one(text: &str) -> Result<Placed, Fault> {
    match parse(text)? {
        Text::One(placed) => Ok(placed),
        Text::Tuple(parts) => {
            let message = match parts.len() {
                0 => "an empty tuple shards no tensor".into(),
                count => format!("a tuple shards {count} tensors, and one is wanted"),
            };
            let fault = Fault::new(FaultKind::Unsupported, 0..text.len(), message);
            Err(fault.help("write the sharding of one of them: `{devices=[2,2]<=[4]}`"))
        }
    }
}

/// What was said between two braces.
#[derive(Default)]
struct Said {
    whole: Option<(&'static str, Span)>,
    device: Option<(i64, Span)>,
    tiles: Option<Tiles>,
    subgroups: Option<(Vec<Subgroup>, Span)>,
    group: Option<(Group, Span)>,
}

impl<'a> Parser<'a> {
    /// One sharding behind its `{`, with its `}`.
    fn placed(&mut self) -> Result<Placed, Fault> {
        self.blank();
        let start = self.cursor.at().saturating_sub(1);
        if ["mesh", "maximal_mesh"].contains(&self.next_word()) {
            return self.named();
        }
        let mut said = Said::default();
        while self.peek() != Some('}') {
            let (word, span) = self.word();
            if word.is_empty() {
                return Err(self.cursor.expected("a word or `}`"));
            }
            if self.cursor.eat("=") {
                self.attribute(word, &span, &mut said)?;
            } else {
                self.bare(word, &span, &mut said)?;
            }
        }
        self.cursor.next();
        let span = start..self.cursor.at();
        let group = said.group.take().map(|(group, _)| group);
        Ok(Placed { placement: placement(said, span)?, group })
    }

    fn next_word(&mut self) -> &'a str {
        let rest = self.cursor.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default()
    }

    /// What stands behind `word=`.
    fn attribute(&mut self, word: &str, span: &Span, said: &mut Said) -> Result<(), Fault> {
        match word {
            "device" => {
                once(said.device.is_none(), word, span)?;
                said.device = Some(self.number("a device")?);
            }
            "devices" => {
                once(said.tiles.is_none(), word, span)?;
                said.tiles = Some(self.tiles()?);
            }
            "last_tile_dims" => {
                once(said.subgroups.is_none(), word, span)?;
                self.expect("{")?;
                let kinds = match self.peek() {
                    Some('}') => {
                        self.cursor.next();
                        Vec::new()
                    }
                    _ => self.list("}", Self::subgroup)?,
                };
                said.subgroups = Some((kinds, span.start..self.cursor.at()));
            }
            "metadata" => self.metadata()?,
            _ => return Err(unknown(word, span)),
        }
        Ok(())
    }

    /// What a word without `=` says.
    fn bare(&mut self, word: &str, span: &Span, said: &mut Said) -> Result<(), Fault> {
        let kinds = ["replicated", "maximal", "manual", "unknown", "unreduced"];
        if let Some(kind) = kinds.into_iter().find(|kind| *kind == word) {
            if let Some((before, _)) = said.whole.replace((kind, span.clone())) {
                let message = format!("`{before}` was said, and `{kind}` is said besides");
                let fault = Fault::new(FaultKind::Value, span.clone(), message);
                return Err(fault.help("write one of them"));
            }
            return Ok(());
        }
        match word {
            "last_tile_dim_replicate" => {
                once(said.subgroups.is_none(), word, span)?;
                said.subgroups = Some((Vec::from([Subgroup::Replicated]), span.clone()));
            }
            "shard_as" | "shard_like" => {
                once(said.group.is_none(), word, span)?;
                let (number, end) = self.number("the number of a group")?;
                let group = if word == "shard_as" { Group::As } else { Group::Like };
                said.group = Some((group(number), span.start..end.end));
            }
            _ => return Err(unknown(word, span)),
        }
        Ok(())
    }

    fn subgroup(&mut self) -> Result<Subgroup, Fault> {
        let (word, span) = self.word();
        let known = Subgroup::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| {
            if word.is_empty() {
                return self.cursor.expected("a kind of subgroup");
            }
            let message = format!("`{word}` is no kind of subgroup");
            Fault::new(FaultKind::Value, span, message)
                .help("they are `manual`, `unreduced`, `replicated`")
        })
    }
}

/// A word that may stand once stands again.
fn once(is_first: bool, word: &str, span: &Span) -> Result<(), Fault> {
    if is_first {
        return Ok(());
    }
    let message = format!("`{word}` says again what was said before");
    Err(Fault::new(FaultKind::Value, span.clone(), message).help("write one of them"))
}

fn unknown(word: &str, span: &Span) -> Fault {
    let message = format!("`{word}` is no word of a sharding");
    Fault::new(FaultKind::Syntax, span.clone(), message).help(format!("it begins with {WORDS}"))
}

/// What all words together say; `span` is all of them.
fn placement(said: Said, span: Span) -> Result<Placement, Fault> {
    let Some((word, whole)) = said.whole else { return in_tiles(said, span) };
    let also = said.tiles.map(|tiles| tiles.span);
    let device = said.device.as_ref().filter(|_| word != "maximal").map(|(_, span)| span.clone());
    let also = also.or(device).or(said.subgroups.map(|(_, span)| span));
    if let Some(span) = also {
        let message = format!("`{word}` is said of the whole tensor: it has no such devices");
        return Err(Fault::new(FaultKind::Value, span, message).help(format!("write `{{{word}}}`")));
    }
    Ok(match (word, said.device) {
        ("maximal", Some((device, _))) => Placement::Maximal { device },
        ("maximal", None) => {
            let fault = Fault::new(FaultKind::Value, whole, "`maximal` lacks its device");
            return Err(fault.help("write it: `{maximal device=0}`"));
        }
        ("replicated", _) => Placement::Replicated,
        ("manual", _) => Placement::Manual,
        ("unreduced", _) => Placement::Unreduced,
        _ => Placement::Unknown,
    })
}

fn in_tiles(said: Said, span: Span) -> Result<Placement, Fault> {
    if let Some((device, span)) = said.device {
        let fault = Fault::new(FaultKind::Value, span, "one device is for `maximal`");
        return Err(fault.help(format!("write `{{maximal device={device}}}`")));
    }
    let Some(Tiles { counts, counts_span, order, span }) = said.tiles else {
        let fault = Fault::new(FaultKind::Syntax, span, "it says no devices");
        return Err(fault.help(format!("it begins with {WORDS}")));
    };
    let (kinds, kinds_span) = said.subgroups.unwrap_or_default();
    if kinds.len() > counts.len() {
        let (kinds, counts) = (kinds.len(), counts.len());
        let message = format!("{kinds} subgroups, and {counts} numbers of tiles");
        let fault = Fault::new(FaultKind::Value, kinds_span, message);
        return Err(fault.help("write the size of each subgroup behind the tiles of the axes"));
    }
    if matches!(&order, Order::List(list) if list.len() == 1) {
        let fault = Fault::new(FaultKind::Value, counts_span, "one device is no list of tiles");
        return Err(fault.help("write `{replicated}`, or `{maximal device=0}`"));
    }
    tiled(counts, order, kinds).map_err(|lack| {
        let message = format!("this order cannot be kept as a range, and needs {lack}");
        Fault::new(FaultKind::Unsupported, span, message)
            .help("let the sizes of the range end where the tiles do")
    })
}
