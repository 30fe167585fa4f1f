//! CuTe's layouts: `((4,2),8):((1,32),4)`, one top-level mode for each axis.
//!
//! Source: CUTLASS, CuTe layouts. A mode is cut into sub-modes, the first one the fastest, each with its stride in
//! elements; C++ puts `_` before what is known at compile time. A mode may be larger than its axis (CuTe predicates
//! what is beyond), and not smaller.

use alloc::format;
use alloc::vec::Vec;

use super::blocks::{self, Piece};
use super::cursor::Cursor;
use super::{Fault, FaultKind, NotationError, Said, count_fault, shown};
use crate::build::Builder;
use crate::expr::Expr;
use crate::parse::Span;

/// How deep tuples may nest.
const MAX_DEPTH: usize = 64;

/// An integer, or a tuple of such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tuple {
    Integer(i128, Span),
    List(Vec<Tuple>, Span),
}

impl Tuple {
    fn span(&self) -> Span {
        match self {
            Self::Integer(_, span) | Self::List(_, span) => span.clone(),
        }
    }

    fn leaves<'t>(&'t self, into: &mut Vec<(i128, &'t Span)>) {
        match self {
            Self::Integer(value, span) => into.push((*value, span)),
            Self::List(list, _) => list.iter().for_each(|item| item.leaves(into)),
        }
    }
}

/// A shape and strides that nest alike.
#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) shape: Tuple,
    pub(super) stride: Tuple,
}

/// Lays the axes out as the layout says.
pub(super) fn apply(text: &str, builder: &mut Builder) -> Result<Said, NotationError> {
    let Shaped { shape, stride } = parse(text)?;
    let axes = builder.axes();
    let modes: Vec<(Tuple, Tuple)> = match (shape, stride) {
        (Tuple::List(shapes, _), Tuple::List(strides, _))
            if axes.len() != 1 || shapes.len() == 1 =>
        {
            shapes.into_iter().zip(strides).collect()
        }
        mode => alloc::vec![mode],
    };
    if modes.len() != axes.len() {
        return Err(count_fault(modes.len(), "mode", axes, 0..text.len()).into());
    }
    let (mut dims, mut strides) = (Vec::new(), Vec::new());
    for (position, ((shape, stride), axis)) in modes.iter().zip(axes).enumerate() {
        let (mut sizes, mut steps) = (Vec::new(), Vec::new());
        shape.leaves(&mut sizes);
        stride.leaves(&mut steps);
        let whole = sizes.iter().try_fold(1_i128, |n, (size, _)| n.checked_mul(*size));
        let Some(whole) = whole.filter(|whole| *whole <= i128::from(i64::MAX)) else {
            let message = "the mode does not fit 64 bits";
            return Err(Fault::new(FaultKind::Value, shape.span(), message).into());
        };
        if axis.extent.as_const().is_none_or(|extent| extent > whole) {
            let (name, extent) = (&axis.name, shown(axis));
            let message = format!("the mode has {whole} indices, and `{name}` has {extent}");
            return Err(Fault::new(FaultKind::Axes, shape.span(), message).into());
        }
        let mut div = 1;
        let last = sizes.len().saturating_sub(1);
        let mut mode = Vec::new();
        for (k, ((size, _), (step, _))) in sizes.iter().zip(&steps).enumerate() {
            let modulus = (k != last).then_some(*size);
            mode.push((Piece { axis: position, div, modulus }, Expr::constant(*step)));
            div *= size;
        }
        // Major to minor.
        for (piece, step) in mode.into_iter().rev() {
            dims.push(alloc::vec![piece]);
            strides.push(step);
        }
    }
    let map = blocks::map(&dims, axes)?;
    builder.apply(&map)?;
    builder.strides(&strides)?;
    Ok(Said::default())
}

/// `shape:stride`; without strides, the first mode is the fastest, without gaps.
pub(super) fn parse(text: &str) -> Result<Shaped, Fault> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let start = cursor.at();
    if ["S<", "Sw<", "Swizzle<"].iter().any(|word| cursor.rest().starts_with(word)) {
        let fault =
            Fault::new(FaultKind::Unsupported, start..text.len(), "swizzles are not built yet");
        return Err(fault.help("write the XOR as a map: `map \"(i, j) -> (i, j ^ (i % 8))\"`"));
    }
    let shape = tuple(&mut cursor, 0)?;
    cursor.skip_blanks();
    let stride = if cursor.eat(":") {
        cursor.skip_blanks();
        tuple(&mut cursor, 0)?
    } else {
        compact(&shape, &mut 1)?
    };
    cursor.skip_blanks();
    cursor.expect_end()?;
    positive(&shape)?;
    congruent(&shape, &stride)?;
    Ok(Shaped { shape, stride })
}

fn tuple(cursor: &mut Cursor<'_>, depth: usize) -> Result<Tuple, Fault> {
    let start = cursor.at();
    if depth > MAX_DEPTH {
        let message = format!("tuples nest more than {MAX_DEPTH} deep");
        return Err(Fault::new(FaultKind::Syntax, start..start + 1, message));
    }
    if cursor.eat("(") {
        let mut list = Vec::new();
        loop {
            cursor.skip_blanks();
            list.push(tuple(cursor, depth + 1)?);
            cursor.skip_blanks();
            if cursor.eat(")") {
                return Ok(Tuple::List(list, start..cursor.at()));
            }
            cursor.expect(",")?;
        }
    }
    cursor.eat("_");
    match cursor.peek() {
        Some('?') => {
            let message = "what is known only at run time has no place here";
            Err(Fault::new(FaultKind::Unsupported, start..start + 1, message))
        }
        Some('-') => {
            let message = "a stride below 0 runs backwards";
            Err(Fault::new(FaultKind::Unsupported, start..start + 1, message))
        }
        _ => {
            let (value, span) = cursor.expect_number("an integer or `(`")?;
            if matches!(cursor.peek(), Some('@' | '/')) {
                let message = "coordinate strides and ratios are no offsets";
                return Err(Fault::new(FaultKind::Unsupported, start..cursor.at() + 1, message));
            }
            Ok(Tuple::Integer(value, start..span.end))
        }
    }
}

/// The strides of a shape without gaps, the first mode the fastest.
fn compact(shape: &Tuple, next: &mut i128) -> Result<Tuple, Fault> {
    match shape {
        Tuple::Integer(size, span) => {
            let stride = *next;
            *next = next.checked_mul(*size).filter(|n| *n <= i128::from(i64::MAX)).ok_or_else(
                || Fault::new(FaultKind::Value, span.clone(), "it does not fit 64 bits"),
            )?;
            Ok(Tuple::Integer(stride, span.clone()))
        }
        Tuple::List(list, span) => {
            let list = list.iter().map(|item| compact(item, next)).collect::<Result<_, _>>()?;
            Ok(Tuple::List(list, span.clone()))
        }
    }
}

fn positive(shape: &Tuple) -> Result<(), Fault> {
    let mut leaves = Vec::new();
    shape.leaves(&mut leaves);
    match leaves.iter().find(|(size, _)| *size == 0) {
        Some((_, span)) => {
            Err(Fault::new(FaultKind::Value, (*span).clone(), "a mode of 0 holds nothing"))
        }
        None => Ok(()),
    }
}

fn congruent(shape: &Tuple, stride: &Tuple) -> Result<(), Fault> {
    match (shape, stride) {
        (Tuple::Integer(..), Tuple::Integer(..)) => Ok(()),
        (Tuple::List(shapes, _), Tuple::List(strides, _)) if shapes.len() == strides.len() => {
            shapes.iter().zip(strides).try_for_each(|(shape, stride)| congruent(shape, stride))
        }
        _ => {
            let message = "the strides do not nest as the shape does";
            Err(Fault::new(FaultKind::Value, stride.span(), message))
        }
    }
}
