//! Entry points of the parser of sharding texts ([`parse()`], [`parse_one`]), and the keywords of shardings
//! without a mesh.

use alloc::format;
use alloc::vec::Vec;

use super::parser::ShardingParser;
use super::tiles::TileAssignment;
use crate::expr::parse::Span;
use crate::notation::{NotationFault, NotationFaultKind};
use crate::sharding::order::DeviceOrder;
use crate::sharding::placement::{
    DevicePlacement, ShardGroup, ShardingText, Subgroup, TensorSharding, tiled,
};
use crate::text::cursor::Cursor;

/// Keywords that a sharding can start with, as text for a message.
const WORDS: &str = "`devices=`, `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, `mesh`";

/// Parses the sharding of a tensor, or the shardings of a tuple, such as `{{replicated}, {manual}}`; `{}` is an empty
/// tuple. Tiles are converted to XLA's normal form, as by [`tiled`].
///
/// # Errors
/// [`NotationFault`]: the first fault of the text, with its span.
pub fn parse(text: &str) -> Result<ShardingText, NotationFault> {
    read(text).map_err(|fault| {
        if fault.kind != NotationFaultKind::Syntax || fault.help.is_some() {
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

fn read(text: &str) -> Result<ShardingText, NotationFault> {
    let mut parser = ShardingParser { cursor: Cursor::new(text) };
    parser.expect("{")?;
    let parsed = match parser.peek() {
        Some('}') => {
            parser.cursor.next();
            ShardingText::Tuple(Vec::new())
        }
        Some('{') => ShardingText::Tuple(parser.list("}", |parser| {
            parser.expect("{")?;
            parser.placed()
        })?),
        _ => ShardingText::One(parser.placed()?),
    };
    parser.blank();
    parser.cursor.expect_end()?;
    Ok(parsed)
}

/// Parses the sharding of a single tensor.
///
/// # Errors
/// Errors of [`parse`]; a tuple is [`NotationFaultKind::Unsupported`].
pub fn parse_one(text: &str) -> Result<TensorSharding, NotationFault> {
    match parse(text)? {
        ShardingText::One(placed) => Ok(placed),
        ShardingText::Tuple(parts) => {
            let message = match parts.len() {
                0 => "an empty tuple shards no tensor".into(),
                count => format!("a tuple shards {count} tensors, and one is wanted"),
            };
            let fault = NotationFault::unsupported(0..text.len(), message);
            Err(fault.help("write the sharding of one of them: `{devices=[2,2]<=[4]}`"))
        }
    }
}

/// Keywords and attributes in the braces of a sharding without a mesh, each with its byte range; `None` for one that
/// does not occur. `whole` is a keyword for the whole tensor, such as `replicated`. `device` is the value of `device=`.
#[derive(Default)]
struct ShardingAttributes {
    whole: Option<(&'static str, Span)>,
    device: Option<(i64, Span)>,
    tiles: Option<TileAssignment>,
    subgroups: Option<(Vec<Subgroup>, Span)>,
    group: Option<(ShardGroup, Span)>,
}

impl<'a> ShardingParser<'a> {
    /// Parses one sharding after its `{`, including its `}`.
    fn placed(&mut self) -> Result<TensorSharding, NotationFault> {
        self.blank();
        let start = self.cursor.at().saturating_sub(1);
        if ["mesh", "maximal_mesh"].contains(&self.next_word()) {
            return self.named();
        }
        let mut attributes = ShardingAttributes::default();
        while self.peek() != Some('}') {
            let (word, span) = self.word();
            if word.is_empty() {
                return Err(self.cursor.expected("a word or `}`"));
            }
            if self.cursor.eat("=") {
                self.attribute(word, &span, &mut attributes)?;
            } else {
                self.bare(word, &span, &mut attributes)?;
            }
        }
        self.cursor.next();
        let span = start..self.cursor.at();
        let group = attributes.group.take().map(|(group, _)| group);
        Ok(TensorSharding { placement: placement(attributes, span)?, group })
    }

    fn next_word(&mut self) -> &'a str {
        let rest = self.cursor.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default()
    }

    /// Parses the value of the attribute `word` after `word=` and stores it in `attributes`. `span` is the byte range
    /// of `word`. A repeated or unknown attribute is a fault; `metadata` is skipped and may be repeated.
    fn attribute(
        &mut self,
        word: &str,
        span: &Span,
        attributes: &mut ShardingAttributes,
    ) -> Result<(), NotationFault> {
        match word {
            "device" => {
                once(attributes.device.is_none(), word, span)?;
                attributes.device = Some(self.number("a device")?);
            }
            "devices" => {
                once(attributes.tiles.is_none(), word, span)?;
                attributes.tiles = Some(self.tiles()?);
            }
            "last_tile_dims" => {
                once(attributes.subgroups.is_none(), word, span)?;
                self.expect("{")?;
                let kinds = match self.peek() {
                    Some('}') => {
                        self.cursor.next();
                        Vec::new()
                    }
                    _ => self.list("}", Self::subgroup)?,
                };
                attributes.subgroups = Some((kinds, span.start..self.cursor.at()));
            }
            "metadata" => self.metadata()?,
            _ => return Err(unknown(word, span)),
        }
        Ok(())
    }

    /// Stores the keyword `word`, which has no `=`, in `attributes`, with the number that follows `shard_as` and
    /// `shard_like`. `span` is the byte range of `word`. A fault if the keyword is unknown or repeated, or conflicts
    /// with an earlier one.
    fn bare(
        &mut self,
        word: &str,
        span: &Span,
        attributes: &mut ShardingAttributes,
    ) -> Result<(), NotationFault> {
        let kinds = ["replicated", "maximal", "manual", "unknown", "unreduced"];
        if let Some(kind) = kinds.into_iter().find(|kind| *kind == word) {
            if let Some((before, _)) = attributes.whole.replace((kind, span.clone())) {
                let message = if before == kind {
                    format!("`{kind}` is repeated")
                } else {
                    format!("`{kind}` conflicts with `{before}`")
                };
                let fault = NotationFault::value(span.clone(), message);
                return Err(fault.help("write one of them"));
            }
            return Ok(());
        }
        match word {
            "last_tile_dim_replicate" => {
                once(attributes.subgroups.is_none(), word, span)?;
                attributes.subgroups = Some((Vec::from([Subgroup::Replicated]), span.clone()));
            }
            "shard_as" | "shard_like" => {
                once(attributes.group.is_none(), word, span)?;
                let (number, end) = self.number("the number of a group")?;
                let group = if word == "shard_as" { ShardGroup::As } else { ShardGroup::Like };
                attributes.group = Some((group(number), span.start..end.end));
            }
            _ => return Err(unknown(word, span)),
        }
        Ok(())
    }

    fn subgroup(&mut self) -> Result<Subgroup, NotationFault> {
        let (word, span) = self.word();
        let known = Subgroup::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| {
            if word.is_empty() {
                return self.cursor.expected("a kind of subgroup");
            }
            let message = format!("`{word}` is not a kind of subgroup");
            NotationFault::value(span, message)
                .help("expected `manual`, `unreduced` or `replicated`")
        })
    }
}

/// Fault at `span` for a repeated keyword `word`, unless `is_first` is true.
fn once(is_first: bool, word: &str, span: &Span) -> Result<(), NotationFault> {
    if is_first {
        return Ok(());
    }
    let message = format!("`{word}` is repeated");
    Err(NotationFault::value(span.clone(), message).help("write one of them"))
}

fn unknown(word: &str, span: &Span) -> NotationFault {
    let message = format!("unknown word `{word}` in a sharding");
    NotationFault::syntax(span.clone(), message).help(format!("it begins with {WORDS}"))
}

/// Placement that `attributes` describe; a fault if two of them exclude each other, or a required one is missing.
/// `span` is the byte range of the whole sharding, with braces.
fn placement(attributes: ShardingAttributes, span: Span) -> Result<DevicePlacement, NotationFault> {
    let Some((word, whole)) = attributes.whole else { return in_tiles(attributes, span) };
    let also = attributes.tiles.map(|tiles| tiles.span);
    let device =
        attributes.device.as_ref().filter(|_| word != "maximal").map(|(_, span)| span.clone());
    let also = also.or(device).or(attributes.subgroups.map(|(_, span)| span));
    if let Some(span) = also {
        let message = format!("`{word}` applies to the whole tensor and takes no devices");
        return Err(NotationFault::value(span, message).help(format!("write `{{{word}}}`")));
    }
    Ok(match (word, attributes.device) {
        ("maximal", Some((device, _))) => DevicePlacement::Maximal { device },
        ("maximal", None) => {
            let fault = NotationFault::value(whole, "`maximal` lacks its device");
            return Err(fault.help("write it: `{maximal device=0}`"));
        }
        ("replicated", _) => DevicePlacement::Replicated,
        ("manual", _) => DevicePlacement::Manual,
        ("unreduced", _) => DevicePlacement::Unreduced,
        _ => DevicePlacement::Unknown,
    })
}

fn in_tiles(attributes: ShardingAttributes, span: Span) -> Result<DevicePlacement, NotationFault> {
    if let Some((device, span)) = attributes.device {
        let fault = NotationFault::value(span, "one device is for `maximal`");
        return Err(fault.help(format!("write `{{maximal device={device}}}`")));
    }
    let Some(TileAssignment { counts, counts_span, order, span }) = attributes.tiles else {
        let fault = NotationFault::syntax(span, "the sharding lists no devices");
        return Err(fault.help(format!("it begins with {WORDS}")));
    };
    let (kinds, kinds_span) = attributes.subgroups.unwrap_or_default();
    if kinds.len() > counts.len() {
        let (kinds, counts) = (kinds.len(), counts.len());
        let message = format!("{kinds} subgroups, and {counts} numbers of tiles");
        let fault = NotationFault::value(kinds_span, message);
        return Err(fault.help("write the size of each subgroup after the tiles of the axes"));
    }
    if matches!(&order, DeviceOrder::List(list) if list.len() == 1) {
        let fault = NotationFault::value(counts_span, "one device is not a list of tiles");
        return Err(fault.help("write `{replicated}`, or `{maximal device=0}`"));
    }
    tiled(counts, order, kinds).map_err(|lack| {
        let message = format!("this device order cannot be expressed as a range: it needs {lack}");
        NotationFault::unsupported(span, message)
            .help("let the sizes of the range end where the tiles do")
    })
}
