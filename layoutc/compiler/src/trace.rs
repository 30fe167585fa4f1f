//! The way of one index through the steps of a layout, as arithmetic that ends at the offset.
//!
//! What the steps did comes from a [`Recorder`](crate::check::Recorder). Nothing is simplified: a reader finds the
//! step's own expressions, with the numbers of this very index beside them.

use std::collections::BTreeMap;

use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var};
use layoutc_algebra::layout::{Axis, DigitTargets, Layout};
use layoutc_algebra::physical::groups;
use layoutc_algebra::print;

use crate::check::StepRecord;
use crate::layout_names::variable;
use crate::locate::{self, NamedLocateError};
use crate::model::Tensor;

/// One number of the way: `c_outer = c // 4 = 101 // 4 = 25`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceTerm {
    /// The axis, `p0` or `offset`.
    pub name: String,
    /// Where it comes from, in names: `c // 4`.
    pub expr: String,
    /// The same in numbers: `101 // 4`.
    pub numbers: String,
    /// The number: `25`.
    pub value: i128,
    /// How many it is one of: the extent of the axis; `None` for the offset.
    pub extent: Option<i128>,
}

/// One step of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// The step as text.
    pub line: String,
    /// What it does besides, or instead of, making axes.
    pub note: Option<String>,
    /// Whether it is a map of the axes before it.
    pub is_map: bool,
    /// The axes after it.
    pub axes: Vec<TraceTerm>,
}

/// The way of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexTrace {
    /// The tensor's name.
    pub tensor: String,
    /// The symbols of the layout with their values.
    pub symbols: Vec<(String, i128)>,
    /// The index.
    pub logical: Vec<i128>,
    /// The steps, transforms unfolded.
    pub steps: Vec<TraceStep>,
    /// The physical index, over the axes after the last step.
    pub physical: Vec<TraceTerm>,
    /// Elements from the start of the flat buffer, over the physical index.
    pub offset: TraceTerm,
}

/// The way of the element at `logical` through `steps`, the recorded steps of `tensor`.
///
/// # Errors
/// [`NamedLocateError`], as [`crate::locate::element_location`] has it.
pub fn trace(
    tensor: &Tensor,
    steps: &[StepRecord],
    symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<IndexTrace, NamedLocateError> {
    let logical = locate::element_location(tensor, symbols, logical)?.logical;
    let known = tensor.layout.symbols.iter();
    let symbols: Vec<(String, i128)> = known
        .filter_map(|symbol| Some((symbol.name.clone(), *symbols.get(&symbol.name)?)))
        .collect();
    let mut walker = TraceWalker {
        layout: &tensor.layout,
        symbols: symbols.iter().map(|(_, value)| *value).collect(),
        axes: &tensor.layout.logical,
        at: logical.clone(),
    };
    let TraceBody { steps, physical, offset } =
        walker.walk(steps).map_err(|error| NamedLocateError::Value(error.to_string()))?;
    Ok(IndexTrace { tensor: tensor.name.clone(), symbols, logical, steps, physical, offset })
}

/// The arithmetic of a trace.
struct TraceBody {
    steps: Vec<TraceStep>,
    physical: Vec<TraceTerm>,
    offset: TraceTerm,
}

/// Where an index is on its way.
struct TraceWalker<'a> {
    layout: &'a Layout,
    /// The values of the layout's symbols, in its order.
    symbols: Vec<i128>,
    /// The axes here.
    axes: &'a [Axis],
    /// The index over them.
    at: Vec<i128>,
}

impl<'a> TraceWalker<'a> {
    fn walk(&mut self, steps: &'a [StepRecord]) -> Result<TraceBody, ExprError> {
        let steps = steps.iter().map(|step| self.step(step)).collect::<Result<_, _>>()?;
        let physical = self.physical()?;
        let offset = self.offset(&physical)?;
        Ok(TraceBody { steps, physical, offset })
    }

    fn step(&mut self, step: &'a StepRecord) -> Result<TraceStep, ExprError> {
        let mut indices: Vec<Expr> =
            (0_u32..).zip(self.axes).map(|(k, _)| Expr::var(Var::Storage(k))).collect();
        for map in &step.maps {
            let before = indices;
            let through = |index: &Expr| index.substitute(&|var| storage(var, &before).cloned());
            indices =
                map.items.iter().map(|item| through(&item.index)).collect::<Result<_, _>>()?;
        }
        let mut axes = Vec::new();
        for (axis, index) in step.axes.iter().zip(&indices) {
            let extent = axis.extent.evaluate(&|var| self.value(var))?;
            axes.push(self.term(&axis.name, index, Some(extent))?);
        }
        self.at = axes.iter().map(|term| term.value).collect();
        self.axes = &step.axes;
        let (line, note) = (step.line.clone(), step.note.clone());
        Ok(TraceStep { line, note, is_map: !step.maps.is_empty(), axes })
    }

    /// The physical index: the storage axes placed, and along the last physical axis swizzled.
    fn physical(&self) -> Result<Vec<TraceTerm>, ExprError> {
        let layout = self.layout;
        let number = |expr: &Expr| expr.evaluate(&|var| self.value(var));
        let mut terms = Vec::new();
        let groups = groups(self.axes.len(), &layout.separators);
        let last = groups.len().saturating_sub(1);
        for (g, group) in groups.into_iter().enumerate() {
            let pitch = layout.physical_strides.get(g).ok_or(ExprError::Unbound)?;
            let pitch = number(pitch)?;
            let mut placed = Vec::new();
            for k in group {
                let (Some(stride), Some(axis)) = (layout.strides.get(k), self.axes.get(k)) else {
                    return Err(ExprError::Unbound);
                };
                let elements = number(stride)?.checked_div(pitch).ok_or(ExprError::Divisor)?;
                let var = Var::Storage(u32::try_from(k).map_err(|_| ExprError::TooLarge)?);
                let shown = if pitch == 1 { stride.clone() } else { Expr::constant(elements) };
                let (index, extent) = (Expr::var(var), axis.extent.clone());
                placed.push(GroupAxis { index, elements, shown, count: number(&extent)?, extent });
            }
            let is_nested =
                layout.digit_targets == DigitTargets::Storage && is_mixed_radix(&placed);
            let index = if is_nested { mixed_radix_expr(&placed)? } else { strided_expr(&placed)? };
            let lead = &layout.lead;
            let index = match lead.as_const() {
                Some(0) => index,
                _ if g == last => Expr::binary(BinOp::Add, &index, lead)?,
                _ => index,
            };
            let index = match layout.swizzle.filter(|_| g == last) {
                Some(swizzle) => swizzle.apply(&index)?,
                None => index,
            };
            let extent = layout.physical_shape.get(g).ok_or(ExprError::Unbound)?;
            terms.push(self.term(&format!("p{g}"), &index, Some(number(extent)?))?);
        }
        Ok(terms)
    }

    /// The offset in the flat buffer, row-major over the physical shape.
    fn offset(&self, physical: &[TraceTerm]) -> Result<TraceTerm, ExprError> {
        let mut sum: Option<Expr> = None;
        for (g, pitch) in (0_u32..).zip(&self.layout.physical_strides) {
            let term = times(&Expr::var(Var::Physical(g)), pitch)?;
            sum = Some(plus(sum, &term)?);
        }
        let sum = sum.unwrap_or_else(|| Expr::constant(0));
        let value = |var| match var {
            Var::Physical(g) => Some(physical.get(usize::try_from(g).ok()?)?.value),
            other => self.value(other),
        };
        self.term_with_values("offset", &sum, None, &value)
    }

    fn term(&self, name: &str, index: &Expr, extent: Option<i128>) -> Result<TraceTerm, ExprError> {
        self.term_with_values(name, index, extent, &|var| self.value(var))
    }

    fn term_with_values(
        &self,
        name: &str,
        index: &Expr,
        extent: Option<i128>,
        value: &dyn Fn(Var) -> Option<i128>,
    ) -> Result<TraceTerm, ExprError> {
        let (logical, symbols) = (&self.layout.logical, &self.layout.symbols);
        let names = |var| variable(var, logical, self.axes, symbols);
        let numbers = index.substitute(&|var| value(var).map(Expr::constant))?;
        Ok(TraceTerm {
            name: name.to_owned(),
            expr: print::expr(index, &names),
            numbers: print::expr(&numbers, &names),
            value: index.evaluate(value)?,
            extent,
        })
    }

    fn value(&self, var: Var) -> Option<i128> {
        match var {
            Var::Symbol(k) => self.symbols.get(usize::try_from(k).ok()?).copied(),
            other => storage(other, &self.at).copied(),
        }
    }
}

/// What belongs to the axis of the moment that `var` stands for.
fn storage<T>(var: Var, all: &[T]) -> Option<&T> {
    match var {
        Var::Storage(k) => all.get(usize::try_from(k).ok()?),
        _ => None,
    }
}

/// An axis in its group.
struct GroupAxis {
    index: Expr,
    /// Elements of the physical axis between neighbours, and how that is written.
    elements: i128,
    shown: Expr,
    extent: Expr,
    /// The extent as a number.
    count: i128,
}

/// Whether every axis steps over whole steps of the next.
fn is_mixed_radix(axes: &[GroupAxis]) -> bool {
    axes.iter()
        .zip(axes.iter().skip(1))
        .all(|(major, minor)| minor.elements > 0 && major.elements % minor.elements == 0)
}

/// `(n * 32 + c) * 64 + h`.
fn mixed_radix_expr(axes: &[GroupAxis]) -> Result<Expr, ExprError> {
    let mut index: Option<Expr> = None;
    let mut above = 1;
    for axis in axes {
        let factor = above / axis.elements.max(1);
        // A pitch is wider than the extent.
        let factor =
            if factor == axis.count { axis.extent.clone() } else { Expr::constant(factor) };
        let major = index.map(|index| times(&index, &factor)).transpose()?;
        index = Some(plus(major, &axis.index)?);
        above = axis.elements;
    }
    let index = index.unwrap_or_else(|| Expr::constant(0));
    times(&index, &Expr::constant(above))
}

/// `i * 1056 + j`.
fn strided_expr(axes: &[GroupAxis]) -> Result<Expr, ExprError> {
    let mut sum = None;
    for axis in axes {
        sum = Some(plus(sum, &times(&axis.index, &axis.shown)?)?);
    }
    Ok(sum.unwrap_or_else(|| Expr::constant(0)))
}

fn times(a: &Expr, factor: &Expr) -> Result<Expr, ExprError> {
    if factor.as_const() == Some(1) {
        return Ok(a.clone());
    }
    Expr::binary(BinOp::Mul, a, factor)
}

fn plus(sum: Option<Expr>, term: &Expr) -> Result<Expr, ExprError> {
    match sum {
        None => Ok(term.clone()),
        Some(sum) => Expr::binary(BinOp::Add, &sum, term),
    }
}
