//! Parser and validator of XLA's shapes: a text such as `f32[16,256]{1,0:T(8,128)}` becomes an [`XlaShape`].

use alloc::format;
use alloc::vec::Vec;

use super::XlaShape;
use super::types::{self, XlaType, storage_type};
use crate::expr::parse::Span;
use crate::notation::{NotationFault, Remark};
use crate::text::cursor::Cursor;

/// Parses an XLA shape such as `f32[16,256]{1,0:T(8,128)}`, or a layout in braces alone, such as `{1,0}`.
///
/// # Errors
/// [`NotationFault`]: the first fault of the text, with its span.
pub fn parse(text: &str) -> Result<XlaShape, NotationFault> {
    let mut parser = XlaShapeParser { cursor: Cursor::new(text), shape: XlaShape::default() };
    parser.blank();
    if parser.cursor.peek() == Some('(') || parser.cursor.rest().starts_with("b(") {
        let message = "tuples and buffers are several tensors, or none";
        let fault = NotationFault::unsupported(0..text.len(), message);
        return Err(fault.help("write one array: `f32[8,128]{1,0:T(8,128)}`"));
    }
    let is_shape = parser.cursor.peek() != Some('{');
    let element = if is_shape { Some(parser.array()?) } else { None };
    parser.blank();
    if parser.cursor.peek() == Some('{') {
        parser.layout()?;
    }
    parser.blank();
    parser.cursor.expect_end()?;
    let XlaShapeParser { mut shape, .. } = parser;
    if let Some(element) = element {
        shape.dtype = Some(storage_type(element, &mut shape)?);
        let rank = i128::try_from(shape.dims.len()).unwrap_or(0);
        if let Some(order) = &shape.order
            && i128::try_from(order.len()) != Ok(rank)
        {
            let message = format!("{} of {rank} dimensions are in the order", order.len());
            let fault = NotationFault::value(shape.order_span.clone(), message);
            return Err(fault.help(super::each_once(shape.dims.len())));
        }
    }
    Ok(shape)
}

struct XlaShapeParser<'a> {
    cursor: Cursor<'a>,
    shape: XlaShape,
}

impl XlaShapeParser<'_> {
    fn blank(&mut self) {
        self.cursor.skip_comments();
    }

    fn expect(&mut self, word: &str) -> Result<(), NotationFault> {
        self.blank();
        self.cursor.expect(word)
    }

    fn eat(&mut self, word: &str) -> bool {
        self.blank();
        self.cursor.eat(word)
    }

    /// Parses a non-negative integer at the read position, with its byte range. A negative integer is a fault whose
    /// help text is `raised`.
    fn integer(&mut self, raised: &str) -> Result<(i128, Span), NotationFault> {
        self.blank();
        let start = self.cursor.at();
        if self.cursor.peek() == Some('-') {
            self.cursor.next();
            let (value, span) = self.cursor.expect_number("an integer")?;
            let message = format!("-{value} is below 0");
            return Err(NotationFault::value(start..span.end, message).help(raised));
        }
        self.cursor.expect_number("an integer")
    }

    /// Help text for a negative tile extent at the read position. For `-1` before a comma, the text suggests `*`, an
    /// extent that merges an axis into the next one: XLA's document writes -1 for it.
    fn raised_extent(&self) -> &'static str {
        let behind = self.cursor.rest().trim_start().strip_prefix("-1");
        if behind.is_some_and(|rest| rest.trim_start().starts_with(',')) {
            "write `*`, which merges an axis into the next one"
        } else {
            "write 1 or more"
        }
    }

    /// Parses a non-empty list in parentheses such as `(8, 128)`, and calls `entry` to parse each entry.
    fn list<T>(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Result<T, NotationFault>,
    ) -> Result<Vec<T>, NotationFault> {
        self.expect("(")?;
        let mut entries = Vec::new();
        loop {
            entries.push(entry(self)?);
            if self.eat(")") {
                return Ok(entries);
            }
            self.expect(",")?;
        }
    }

    /// Parses an array such as `f32[3,5]`: returns the element type, and appends the extents to `shape.dims`.
    fn array(&mut self) -> Result<&'static XlaType, NotationFault> {
        let (word, span) = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if word.is_empty() {
            let fault = self.cursor.expected("an element type, `{` or `(`");
            let inside = self.cursor.rest().strip_prefix('[').and_then(|rest| rest.split_once(']'));
            return Err(match inside {
                Some((order, _)) => fault.help(in_braces(order)),
                None => fault,
            });
        }
        let Some(known) = types::find(word) else {
            let message = format!("unknown XLA type `{word}`");
            let fault = NotationFault::value(span, message);
            if word.bytes().all(|b| b.is_ascii_digit()) {
                return Err(fault.help(in_braces(&format!("{word}{}", self.cursor.rest()))));
            }
            if word == "T" || word == "L" {
                return Err(fault.help("write it in the braces of a layout: `{1,0:T(8,128)}`"));
            }
            return Err(match types::nearest(word) {
                Some(near) => fault.help(format!("write `{near}`")),
                None => fault.help(format!("expected one of {}", types::names())),
            });
        };
        self.expect("[")?;
        if !self.eat("]") {
            loop {
                self.dimension()?;
                if self.eat("]") {
                    break;
                }
                self.expect(",")?;
            }
        }
        Ok(known)
    }

    fn dimension(&mut self) -> Result<(), NotationFault> {
        self.blank();
        let start = self.cursor.at();
        if self.cursor.peek() == Some('?') {
            let message = "an extent without a bound has no layout";
            let fault = NotationFault::unsupported(start..start + 1, message);
            return Err(fault.help("bound it: `<=128`"));
        }
        let is_bounded = self.cursor.eat("<=");
        let (dim, span) = self.integer("write 0 or more; bound what is not known: `<=128`")?;
        if is_bounded {
            let message = format!("the bound {dim} counts as the extent");
            let help = format!("write `{dim}` where no array is smaller");
            self.shape.remarks.push(Remark { span: start..span.end, message, help });
        }
        self.shape.dims.push(dim);
        Ok(())
    }

    fn layout(&mut self) -> Result<(), NotationFault> {
        let start = self.cursor.at();
        self.expect("{")?;
        self.blank();
        let mut order = Vec::new();
        // `{}` is the order of a scalar; for other ranks the missing dimensions are reported later.
        if self.cursor.peek() == Some('}') {
            self.cursor.eat("}");
            self.shape.order_span = start..self.cursor.at();
            self.shape.order = Some(order);
            return Ok(());
        }
        if self.cursor.peek() != Some(':') {
            loop {
                order.push(self.integer("dimensions count from 0, the first one")?);
                if !self.eat(",") {
                    break;
                }
            }
            if self.cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
                let fault = self.cursor.expected("`,` or `}`");
                return Err(fault.help("separate the dimensions by commas: `{1,0}`"));
            }
        }
        self.shape.order_span = start + 1..self.cursor.at();
        self.shape.order = Some(order);
        if self.eat(":") {
            self.suffix()?;
        }
        self.blank();
        if self.cursor.eat("}") {
            return Ok(());
        }
        let fault = self.cursor.expected("`}`");
        Err(fault.help("write the parts in this order, each once: D T L # * E S SC P M"))
    }

    fn suffix(&mut self) -> Result<(), NotationFault> {
        self.levels()?;
        if self.eat("T") {
            self.tiles()?;
        }
        if self.eat("L") {
            let (multiple, span) = self.number_in_parentheses()?;
            if multiple == 0 {
                let fault = NotationFault::value(span, "nothing is a multiple of 0");
                return Err(fault.help("write `L(1)`, or leave it out"));
            }
            self.shape.tail = (multiple != 1).then_some((multiple, span));
        }
        self.blank();
        if matches!(self.cursor.peek(), Some('#' | '*')) {
            let at = self.cursor.at();
            let message = "index types belong to sparse arrays";
            let fault = NotationFault::unsupported(at..at + 1, message);
            return Err(fault.help("leave them out: a dense array has none"));
        }
        if self.eat("E") {
            let (bits, span) = self.number_in_parentheses()?;
            self.shape.bits = (bits != 0).then_some((bits, span));
        }
        self.blank();
        let at = self.cursor.at();
        if self.cursor.eat("SC") {
            let message = "an array that is split between memories is several tensors";
            let fault = NotationFault::unsupported(at..at + 2, message);
            return Err(fault.help("write a tensor for each part"));
        }
        if self.eat("S") {
            let (space, span) = self.number_in_parentheses()?;
            self.shape.space = (space != 0).then_some((span, space));
        }
        self.blank();
        let at = self.cursor.at();
        if self.cursor.eat("SC") || self.cursor.eat("P") {
            let message = "an array that is split or sparse is several tensors";
            let fault = NotationFault::unsupported(at..self.cursor.at(), message);
            return Err(fault.help("write a tensor for each part"));
        }
        if self.eat("M") {
            let (bytes, span) = self.number_in_parentheses()?;
            if bytes != 0 {
                let message = format!("the {bytes} bytes of metadata are not counted");
                let help = format!("make room for {bytes} bytes more");
                self.shape.remarks.push(Remark { span, message, help });
            }
        }
        Ok(())
    }

    /// Parses optional dimension levels such as `D(D,D)`. Only dense levels `D` are accepted, which do not affect
    /// the layout.
    fn levels(&mut self) -> Result<(), NotationFault> {
        if !self.eat("D") {
            return Ok(());
        }
        self.list(|parser| {
            parser.blank();
            let at = parser.cursor.at();
            match parser.cursor.next() {
                Some(('D', _)) => Ok(()),
                Some(_) => {
                    let message = "only dense levels are supported";
                    let fault = NotationFault::unsupported(at..parser.cursor.at(), message);
                    Err(fault.help("leave the levels out: those of a dense array have no effect"))
                }
                None => Err(parser.cursor.expected("a level")),
            }
        })?;
        Ok(())
    }

    fn tiles(&mut self) -> Result<(), NotationFault> {
        loop {
            self.blank();
            let start = self.cursor.at();
            let extents = self.list(|parser| {
                parser.blank();
                let at = parser.cursor.at();
                if parser.cursor.eat("*") {
                    return Ok((None, at..at + 1));
                }
                let raised = parser.raised_extent();
                let (extent, span) = parser.integer(raised)?;
                if extent == 0 {
                    let fault = NotationFault::value(span, "a tile of 0 holds nothing");
                    return Err(fault.help("write 1 or more"));
                }
                Ok((Some(extent), span))
            })?;
            if let Some((None, span)) = extents.last() {
                let message = "there is nothing more minor to merge this axis into";
                let fault = NotationFault::value(span.clone(), message);
                return Err(fault.help("end the tile with an extent: `T(*,128)`"));
            }
            self.shape.tiles.push((extents, start..self.cursor.at()));
            self.blank();
            if self.cursor.peek() != Some('(') {
                return Ok(());
            }
        }
    }

    fn number_in_parentheses(&mut self) -> Result<(i128, Span), NotationFault> {
        self.expect("(")?;
        let number = self.integer("write 0 or more")?;
        self.expect(")")?;
        Ok(number)
    }
}

/// Help text for a dimension order such as `1,0` that is not in braces.
fn in_braces(order: &str) -> alloc::string::String {
    format!("write a layout in braces: `{{{}}}`", order.trim())
}
