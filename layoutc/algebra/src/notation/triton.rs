//! Linear layouts of Triton, as a dictionary `{register: [[0, 1]], lane: [[0, 2], [1, 0]]} -> {dim0: 2, dim1: 4}`, or
//! as the lines that Triton prints.
//!
//! Source: Triton, `LinearLayout`. The text gives the output indices (the image) of each power of two along each input
//! dimension; the image of any other input is the XOR of these. Sizes are powers of two. Triton's layouts map hardware
//! indices to the tensor: if the outputs are the axes of the tensor, the layout is inverted.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{NotationError, NotationExtras, NotationFault, shown};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::map::{IndexMap, MapItem};
use crate::symbol::Axis;
use crate::text::cursor::Cursor;

/// Maximum number of index bits of all inputs together, and of all outputs together; more bits are a fault.
const MAX_BITS: usize = 62;

/// Input dimension of a linear layout, such as `lane: [[0, 2], [1, 0]]`: its name, the byte range of the name, and the
/// images of the indices 1, 2, 4, …. An image has one index per output dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinearInput {
    name: String,
    span: Span,
    images: Vec<Vec<i128>>,
}

/// Layout that is linear over GF(2): the output indices of an input are the XOR of the images of its bits that are 1.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinearLayout {
    inputs: Vec<LinearInput>,
    /// Names and sizes of the output dimensions, in order. Sizes are powers of two.
    outputs: Vec<(String, i128)>,
}

/// Pairs `(name, size)`, one for each input dimension of the linear layout `text`, in order. The size is `2^n` for a
/// dimension with `n` images. It is never `None`: the type is that of `NotationAxes::extents`.
pub(super) fn inputs(text: &str) -> Result<Vec<(String, Option<i128>)>, NotationFault> {
    let inputs = parse(text)?.inputs.into_iter();
    Ok(inputs.map(|input| (input.name, Some(1 << input.images.len()))).collect())
}

/// Applies a linear layout to the current axes of `builder` as one index map. The axes are either the inputs or the
/// outputs of the layout. They are the inputs in two cases: if all input names are axis names; or if some output name
/// is not an axis name, and the input sizes equal the extents in order. Otherwise the axes are the outputs, and the
/// inverse of the layout is applied.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let linear = parse(text)?;
    let axes = builder.axes();
    let sizes = |linear: &LinearLayout| -> Vec<(String, i128)> {
        linear.inputs.iter().map(|i| (i.name.clone(), 1_i128 << i.images.len())).collect()
    };
    let inputs = sizes(&linear);
    let by_name =
        |dims: &[(String, i128)]| dims.iter().all(|(name, _)| position(axes, name).is_some());
    let fits = |dims: &[(String, i128)]| {
        let same = |(dim, axis): (&(String, i128), &Axis)| axis.extent.as_const() == Some(dim.1);
        dims.len() == axes.len() && dims.iter().zip(axes).all(same)
    };
    let is_forward = by_name(&inputs) || (!by_name(&linear.outputs) && fits(&inputs));
    let (dims, linear) = if is_forward {
        (inputs, linear)
    } else {
        (linear.outputs.clone(), inverse(&linear, text)?)
    };
    let bound = bind(&dims, axes, text)?;
    let map = map(&linear, &bound, axes)?;
    builder.apply(&map)?;
    Ok(NotationExtras::default())
}

fn position(axes: &[Axis], name: &str) -> Option<usize> {
    axes.iter().position(|axis| axis.name == name)
}

/// Position in `axes` of the axis that each dimension `(name, size)` of `dims` stands for, in order. Dimensions bind by
/// name, or by position if no name is the name of an axis. A fault, at the byte range of the whole `text`, if the
/// numbers of dimensions and axes differ, only some of the names are names of axes, or a size differs from the extent
/// of the axis.
fn bind(dims: &[(String, i128)], axes: &[Axis], text: &str) -> Result<Vec<usize>, NotationFault> {
    let fault = |message: String| NotationFault::axes(0..text.len(), message);
    if dims.len() != axes.len() {
        return Err(super::count_fault(dims.len(), "dimension", axes, 0..text.len()));
    }
    let named: Vec<Option<usize>> = dims.iter().map(|(name, _)| position(axes, name)).collect();
    if named.iter().any(Option::is_some) && named.iter().any(Option::is_none) {
        let names: Vec<&str> = dims.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("some of {} are axes, and some are not", names.join(", "));
        return Err(fault(message).help("name all axes, or none"));
    }
    let mut bound = Vec::new();
    for (k, ((name, size), found)) in dims.iter().zip(named).enumerate() {
        let at = found.unwrap_or(k);
        let Some(axis) = axes.get(at) else { continue };
        if axis.extent.as_const() != Some(*size) {
            let message =
                format!("`{name}` has {size} indices, and `{}` has {}", axis.name, shown(axis));
            return Err(fault(message).help("give both as many, a power of two"));
        }
        bound.push(at);
    }
    Ok(bound)
}

/// Index map of the layout `linear`, with one storage axis per output dimension. The index of a storage axis is an XOR
/// of bit segments of the inputs. `bound` has the position in `axes` of each input.
fn map(linear: &LinearLayout, bound: &[usize], axes: &[Axis]) -> Result<IndexMap, ExprError> {
    let mut items = Vec::new();
    for (k, (name, size)) in linear.outputs.iter().enumerate() {
        let (mut index, mut taken): (Option<Expr>, i128) = (None, 0);
        for run in runs(linear, k) {
            let Some(axis) = bound.get(run.input) else { continue };
            let extent = axes.get(*axis).and_then(|axis| axis.extent.as_const()).unwrap_or(1);
            let term = run.expr(*axis, extent)?;
            let bits = ((1 << run.count) - 1) << run.onto;
            let op = if taken & bits == 0 { BinOp::Add } else { BinOp::Xor };
            taken |= bits;
            index = Some(match index {
                None => term,
                Some(index) => Expr::binary(op, &index, &term)?,
            });
        }
        let index = index.unwrap_or_else(|| Expr::constant(0));
        items.push(MapItem {
            name: name.clone(),
            index,
            extent: Some(Expr::constant(*size)),
            span: 0..0,
        });
    }
    Ok(IndexMap { items, separators: Vec::new() })
}

/// Segment of bits that a layout copies from an input index to an output index. The bits `from..from + count` of the
/// index of the input dimension at position `input` become the bits `onto..onto + count` of the output index.
struct BitSegment {
    input: usize,
    from: usize,
    onto: usize,
    count: usize,
}

impl BitSegment {
    fn expr(&self, axis: usize, extent: i128) -> Result<Expr, ExprError> {
        let constant = |bits: usize| Expr::constant(1 << bits);
        let mut expr = Expr::var(Var::Storage(u32::try_from(axis).unwrap_or(u32::MAX)));
        if self.from > 0 {
            expr = Expr::binary(BinOp::FloorDiv, &expr, &constant(self.from))?;
        }
        if 1 << (self.from + self.count) < extent {
            expr = Expr::binary(BinOp::Mod, &expr, &constant(self.count))?;
        }
        if self.onto > 0 {
            expr = Expr::binary(BinOp::Mul, &expr, &constant(self.onto))?;
        }
        Ok(expr)
    }
}

/// Bit segments whose XOR is the index of the output dimension at position `output`, by descending `onto`.
fn runs(linear: &LinearLayout, output: usize) -> Vec<BitSegment> {
    let mut runs: Vec<BitSegment> = Vec::new();
    for (input, of) in linear.inputs.iter().enumerate() {
        for (from, images) in of.images.iter().enumerate() {
            let image = images.get(output).copied().unwrap_or(0);
            for onto in (0..MAX_BITS).filter(|bit| image >> bit & 1 == 1) {
                let last = runs.iter_mut().find(|run| {
                    run.input == input
                        && run.from + run.count == from
                        && run.onto + run.count == onto
                });
                match last {
                    Some(run) => run.count += 1,
                    None => runs.push(BitSegment { input, from, onto, count: 1 }),
                }
            }
        }
    }
    runs.sort_by_key(|run| core::cmp::Reverse(run.onto));
    runs
}

/// Inverse of a linear layout, which maps outputs to inputs, by Gauss-Jordan elimination over GF(2). A layout
/// that is not bijective is a fault, at the byte range of the whole `text`.
fn inverse(linear: &LinearLayout, text: &str) -> Result<LinearLayout, NotationFault> {
    let refuse = |message: &str| {
        let fault = NotationFault::value(0..text.len(), message);
        fault.help("a layout needs one place for each element, and one element for each place")
    };
    let images = linear.inputs.iter().flat_map(|input| &input.images);
    let widths = linear.outputs.iter().map(|(_, size)| bits_of(*size)).collect::<Vec<_>>();
    let mut rows: Vec<(i128, i128)> =
        images.enumerate().map(|(bit, image)| (pack_bits(image, &widths), 1 << bit)).collect();
    for bit in 0..widths.iter().sum() {
        let Some(at) = rows.iter().skip(bit).position(|(image, _)| image >> bit & 1 == 1) else {
            return Err(refuse("the inputs do not lead to every output"));
        };
        rows.swap(bit, bit + at);
        let Some((image, of)) = rows.get(bit).copied() else { continue };
        for (k, row) in rows.iter_mut().enumerate() {
            if k != bit && row.0 >> bit & 1 == 1 {
                *row = (row.0 ^ image, row.1 ^ of);
            }
        }
    }
    if rows.len() > widths.iter().sum() {
        return Err(refuse("several inputs lead to one output"));
    }
    let outputs: Vec<(String, i128)> =
        linear.inputs.iter().map(|i| (i.name.clone(), 1 << i.images.len())).collect();
    let parts = outputs.iter().map(|(_, size)| bits_of(*size)).collect::<Vec<_>>();
    let mut rows = rows.into_iter().map(|(_, of)| unpack_bits(of, &parts));
    let inputs = linear.outputs.iter().zip(&widths).map(|((name, _), width)| LinearInput {
        name: name.clone(),
        span: 0..0,
        images: rows.by_ref().take(*width).collect(),
    });
    let inputs = inputs.collect();
    Ok(LinearLayout { inputs, outputs })
}

/// Number of bits of the indices in `0..size`, for a power of two `size`.
fn bits_of(size: i128) -> usize {
    usize::try_from(size.trailing_zeros()).unwrap_or(0)
}

/// Concatenates numbers to one number, `numbers[k]` in `widths[k]` bits, the first one in the lowest bits: the numbers
/// 1 and 2 in the widths 3 and 2 give `0b10_001`.
fn pack_bits(numbers: &[i128], widths: &[usize]) -> i128 {
    let (mut whole, mut start) = (0, 0);
    for (number, width) in numbers.iter().zip(widths) {
        whole |= number << start;
        start += width;
    }
    whole
}

/// Splits `whole` into one number of `widths[k]` bits for each `k`, the first one from the lowest bits: `0b10_001` in
/// the widths 3 and 2 gives 1 and 2.
fn unpack_bits(mut whole: i128, widths: &[usize]) -> Vec<i128> {
    let mut numbers = Vec::new();
    for width in widths {
        numbers.push(whole & ((1 << width) - 1));
        whole >>= width;
    }
    numbers
}

/// Parses a linear layout: a dictionary `{lane: [[0, 1]]} -> {dim0: 1, dim1: 2}`, or lines such as
/// `- lane=1 -> (0, 1)`. If the text does not name the output dimensions, they are those of [`smallest`].
fn parse(text: &str) -> Result<LinearLayout, NotationFault> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let (inputs, named) = if cursor.peek() == Some('{') {
        let inputs = dictionary(&mut cursor)?;
        (inputs, outputs_after(&mut cursor)?)
    } else {
        lines(&mut cursor)?
    };
    cursor.skip_blanks();
    cursor.expect_end()?;
    let count = inputs.iter().flat_map(|i| &i.images).map(Vec::len).max();
    let count = count.or(named.as_ref().map(Vec::len)).unwrap_or(0);
    let whole = 0..text.len();
    if inputs.iter().map(|input| input.images.len()).sum::<usize>() > MAX_BITS {
        let message = format!("more than {MAX_BITS} bits of inputs");
        return Err(NotationFault::value(whole, message).help("write fewer images"));
    }
    for input in &inputs {
        if input.images.iter().any(|image| image.len() != count) {
            let message = format!("the images of `{}` are not all of {count} numbers", input.name);
            let fault = NotationFault::value(input.span.clone(), message);
            return Err(fault.help("write a number for each output in every image"));
        }
    }
    let outputs = named.unwrap_or_else(|| smallest(&inputs, count));
    for input in &inputs {
        for image in &input.images {
            let beyond = image.iter().zip(&outputs).find(|(value, (_, size))| *value >= size);
            if let Some((value, (name, size))) = beyond {
                let message = format!("index {value} is out of range for `{name}` of size {size}");
                let fault = NotationFault::value(input.span.clone(), message);
                return Err(fault.help(format!("write an index below {size}, or a larger size")));
            }
        }
    }
    if outputs.len() != count
        || outputs.iter().map(|(_, size)| bits_of(*size)).sum::<usize>() > MAX_BITS
    {
        let message = format!("{} outputs are named for images of {count} numbers", outputs.len());
        let fault = NotationFault::value(whole, message);
        return Err(fault.help(format!("name {count} outputs, of {MAX_BITS} bits in all at most")));
    }
    Ok(LinearLayout { inputs, outputs })
}

/// Pairs `(name, size)` for `count` output dimensions whose names the text does not contain. The names are `dim0`,
/// `dim1`, …. The size of a dimension is the smallest power of two that exceeds its index in every image of `inputs`.
fn smallest(inputs: &[LinearInput], count: usize) -> Vec<(String, i128)> {
    let size = |k: usize| {
        let images = inputs.iter().flat_map(|input| &input.images);
        let all = images.fold(0_i128, |all, image| all | image.get(k).copied().unwrap_or(0));
        1_i128 << (128 - all.leading_zeros())
    };
    (0..count).map(|k| (format!("dim{k}"), size(k))).collect()
}

/// Parses the input dimensions in dictionary form, such as `{register: [[0, 1], [0, 2]], lane: []}`, in order; a
/// repeated name is a fault.
fn dictionary(cursor: &mut Cursor<'_>) -> Result<Vec<LinearInput>, NotationFault> {
    let mut inputs: Vec<LinearInput> = Vec::new();
    each(cursor, "{", "}", &mut |cursor| {
        let (name, span) = name(cursor)?;
        cursor.token(":")?;
        let mut images = Vec::new();
        each(cursor, "[", "]", &mut |cursor| {
            images.push(image(cursor)?);
            Ok(())
        })?;
        add(&mut inputs, LinearInput { name, span, images })
    })?;
    Ok(inputs)
}

fn add(inputs: &mut Vec<LinearInput>, input: LinearInput) -> Result<(), NotationFault> {
    if inputs.iter().any(|known| known.name == input.name) {
        let message = format!("`{}` occurs twice", input.name);
        let fault = NotationFault::value(input.span, message);
        return Err(fault.help("write all its images after one name"));
    }
    inputs.push(input);
    Ok(())
}

/// Parses the names and sizes of the output dimensions `-> {dim0: 16, dim1: 16}`; `None` if no `->` follows.
fn outputs_after(cursor: &mut Cursor<'_>) -> Result<Option<Vec<(String, i128)>>, NotationFault> {
    cursor.skip_blanks();
    if !cursor.eat("->") {
        return Ok(None);
    }
    let mut outputs = Vec::new();
    each(cursor, "{", "}", &mut |cursor| {
        let (name, _) = name(cursor)?;
        cursor.token(":")?;
        outputs.push((name, size(cursor)?));
        Ok(())
    })?;
    Ok(Some(outputs))
}

/// Parses the size of a dimension, which must be a power of two.
fn size(cursor: &mut Cursor<'_>) -> Result<i128, NotationFault> {
    cursor.skip_blanks();
    let (size, span) = cursor.expect_number("a size")?;
    if size.count_ones() == 1 {
        return Ok(size);
    }
    let fault = NotationFault::value(span, format!("{size} is not a power of two"));
    Err(fault.help("linear layouts have only powers of two; write the map: `map \"…\"`"))
}

/// Parses a list between `open` and `close` whose items are separated by commas, and calls `item` to parse each
/// one. A trailing comma is allowed.
fn each(
    cursor: &mut Cursor<'_>,
    open: &str,
    close: &str,
    item: &mut dyn FnMut(&mut Cursor<'_>) -> Result<(), NotationFault>,
) -> Result<(), NotationFault> {
    cursor.token(open)?;
    cursor.skip_blanks();
    while !cursor.eat(close) {
        item(cursor)?;
        cursor.skip_blanks();
        if !cursor.eat(",") && !cursor.rest().starts_with(close) {
            return Err(cursor.expected(&format!("`,` or `{close}`")));
        }
        cursor.skip_blanks();
    }
    Ok(())
}

/// Parses the name of a dimension, optionally in quotes. Returns the name without quotes, and its byte range without
/// quotes.
fn name(cursor: &mut Cursor<'_>) -> Result<(String, Span), NotationFault> {
    cursor.skip_blanks();
    let quote = ["'", "\""].into_iter().find(|quote| cursor.eat(quote));
    let (name, span) = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(cursor.expected("the name of a dimension"));
    }
    let name = name.to_string();
    if let Some(quote) = quote {
        cursor.expect(quote)?;
    }
    Ok((name, span))
}

/// Parses the image of an input bit, with one index per output dimension: `[0, 1]` or `(0, 1)`.
fn image(cursor: &mut Cursor<'_>) -> Result<Vec<i128>, NotationFault> {
    let mut image = Vec::new();
    cursor.skip_blanks();
    let (open, close) = if cursor.peek() == Some('(') { ("(", ")") } else { ("[", "]") };
    each(cursor, open, close, &mut |cursor| {
        cursor.skip_blanks();
        image.push(cursor.expect_number("an index")?.0);
        Ok(())
    })?;
    Ok(image)
}

/// Pair `(inputs, outputs)` of the dimensions of a linear layout. An output is a pair `(name, size)`. `outputs` is
/// `None` if the text does not name the output dimensions.
type LinearDims = (Vec<LinearInput>, Option<Vec<(String, i128)>>);

/// Parses the lines that Triton prints: `- lane=1 -> (0, 2)` for each input bit, `- lane is a size 1 dimension` for an
/// input without bits, and optionally at the end `where out dims are: [dim0 (size 16), dim1 (size 16)]`.
fn lines(cursor: &mut Cursor<'_>) -> Result<LinearDims, NotationFault> {
    let mut inputs: Vec<LinearInput> = Vec::new();
    loop {
        cursor.skip_blanks();
        cursor.eat("-");
        cursor.skip_blanks();
        if cursor.rest().is_empty() {
            return Ok((inputs, None));
        }
        if cursor.eat("where out dims are:") {
            let mut outputs = Vec::new();
            each(cursor, "[", "]", &mut |cursor| {
                let (name, _) = name(cursor)?;
                cursor.token("(size")?;
                outputs.push((name, size(cursor)?));
                cursor.token(")")
            })?;
            return Ok((inputs, Some(outputs)));
        }
        let (name, span) = name(cursor)?;
        cursor.skip_blanks();
        if cursor.eat("is a size 1 dimension") {
            add(&mut inputs, LinearInput { name, span, images: Vec::new() })?;
            continue;
        }
        cursor.token("=")?;
        cursor.skip_blanks();
        let (power, at) = cursor.expect_number("a power of two")?;
        cursor.token("->")?;
        let image = image(cursor)?;
        if inputs.last().is_none_or(|last| last.name != name) {
            add(&mut inputs, LinearInput { name, span, images: Vec::new() })?;
        }
        let Some(last) = inputs.last_mut() else { continue };
        let wanted = 1_i128 << last.images.len().min(MAX_BITS);
        if power != wanted {
            let message = format!("expected {wanted}, found {power}");
            let fault = NotationFault::value(at, message);
            return Err(fault.help("write the powers of two in order: 1, 2, 4, …"));
        }
        last.images.push(image);
    }
}
