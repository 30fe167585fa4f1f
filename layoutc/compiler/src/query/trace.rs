//! Trace of one logical index through the steps of a layout, as arithmetic that ends at the offset.
//!
//! The steps come from a [`Recorder`](crate::check::Recorder). The expressions of the steps are printed without
//! simplification, together with their values for the index.

use std::collections::BTreeMap;

use layoutc_algebra::expr::print;
use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var};
use layoutc_algebra::layout::physical::groups;
use layoutc_algebra::layout::{DigitTargets, Layout};
use layoutc_algebra::symbol::Axis;

use crate::check::StepRecord;
use crate::model::Tensor;
use crate::model::layout_names::variable;
use crate::query::locate::{self, NamedLocateError};

/// Value with its name and expression in a trace: `c_outer = c // 4 = 101 // 4 = 25`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceTerm {
    /// Name of the value: the name of an axis, `p0`, `p1`, … for physical axes, or `offset`.
    pub name: String,
    /// Expression of the value over the names of the previous step: `c // 4`.
    pub expr: String,
    /// Expression with the names replaced by their values: `101 // 4`.
    pub numbers: String,
    /// Value of the expression: `25`.
    pub value: i128,
    /// Extent of the axis along which the value is an index; `None` for the offset.
    pub extent: Option<i128>,
}

/// Step of a layout in a trace, with the index after the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// Text of the step in manifest notation.
    pub line: String,
    /// Description of an effect of the step that does not change the axes, such as an alignment; `None` if it has none.
    pub note: Option<String>,
    /// True if the step maps the previous axes to new axes.
    pub is_map: bool,
    /// Axes after the step, outermost first, with the index along each axis.
    pub axes: Vec<TraceTerm>,
}

/// Trace of one logical index through the steps of a layout to its offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexTrace {
    /// Name of the tensor.
    pub tensor: String,
    /// Names and values of the layout's symbols.
    pub symbols: Vec<(String, i128)>,
    /// Logical index that is traced.
    pub logical: Vec<i128>,
    /// Steps of the layout in order; a transform is replaced by its steps.
    pub steps: Vec<TraceStep>,
    /// Index along each physical axis, outermost first, as an expression over the axes after the last step.
    pub physical: Vec<TraceTerm>,
    /// Offset in slots from the start of the flat buffer, as an expression over the physical index.
    pub offset: TraceTerm,
}

/// Traces the element at the logical index `logical` through `steps`, the recorded layout steps of `tensor`. `symbols`
/// holds the values of symbols by name.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest. [`NamedLocateError::Rank`], [`NamedLocateError::Outside`] or
/// [`NamedLocateError::NoElement`] if the index is not that of an element. [`NamedLocateError::Value`] if a computation
/// fails, for example by an overflow.
pub fn trace(
    tensor: &Tensor,
    steps: &[StepRecord],
    symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<IndexTrace, NamedLocateError> {
    locate::element_location(tensor, symbols, logical)?;
    let logical = logical.to_vec();
    let known = tensor.layout.symbols().iter();
    let symbols: Vec<(String, i128)> = known
        .filter_map(|symbol| Some((symbol.name.clone(), *symbols.get(&symbol.name)?)))
        .collect();
    let mut walker = TraceWalker {
        layout: &tensor.layout,
        symbols: symbols.iter().map(|(_, value)| *value).collect(),
        axes: tensor.layout.logical(),
        at: logical.clone(),
    };
    let TraceBody { steps, physical, offset } =
        walker.walk(steps).map_err(|error| NamedLocateError::Value(error.to_string()))?;
    Ok(IndexTrace { tensor: tensor.name.clone(), symbols, logical, steps, physical, offset })
}

struct TraceBody {
    steps: Vec<TraceStep>,
    physical: Vec<TraceTerm>,
    offset: TraceTerm,
}

/// State of a trace: the axes after the last traced step, and the index along them.
struct TraceWalker<'a> {
    layout: &'a Layout,
    /// Values of the layout's symbols, in the order of the layout's list of symbols.
    symbols: Vec<i128>,
    axes: &'a [Axis],
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

    /// Index along each physical axis, outermost first. It combines the indices of the storage axes between two axis
    /// separators. The index along the last physical axis includes the unused slots before the first element
    /// ([`Layout::lead`]), and the swizzle.
    fn physical(&self) -> Result<Vec<TraceTerm>, ExprError> {
        let layout = self.layout;
        let number = |expr: &Expr| expr.evaluate(&|var| self.value(var));
        let mut terms = Vec::new();
        let groups = groups(self.axes.len(), layout.separators());
        let last = groups.len().saturating_sub(1);
        for (g, group) in groups.into_iter().enumerate() {
            let pitch = layout.physical_strides().get(g).ok_or(ExprError::Unbound)?;
            let pitch = number(pitch)?;
            let mut placed = Vec::new();
            for k in group {
                let (Some(stride), Some(axis)) = (layout.strides().get(k), self.axes.get(k)) else {
                    return Err(ExprError::Unbound);
                };
                let elements = number(stride)?.checked_div(pitch).ok_or(ExprError::Divisor)?;
                let var = Var::Storage(u32::try_from(k).map_err(|_| ExprError::TooLarge)?);
                let shown = if pitch == 1 { stride.clone() } else { Expr::constant(elements) };
                let (index, extent) = (Expr::var(var), axis.extent.clone());
                placed.push(GroupAxis { index, elements, shown, count: number(&extent)?, extent });
            }
            let is_nested =
                layout.digit_targets() == DigitTargets::Storage && is_mixed_radix(&placed);
            let index = if is_nested { mixed_radix_expr(&placed)? } else { strided_expr(&placed)? };
            let lead = layout.lead();
            let index = match lead.as_const() {
                Some(0) => index,
                _ if g == last => Expr::binary(BinOp::Add, &index, lead)?,
                _ => index,
            };
            let index = match layout.swizzle().filter(|_| g == last) {
                Some(swizzle) => swizzle.apply(&index)?,
                None => index,
            };
            let extent = layout.physical_shape().get(g).ok_or(ExprError::Unbound)?;
            terms.push(self.term(&format!("p{g}"), &index, Some(number(extent)?))?);
        }
        Ok(terms)
    }

    /// Offset in the flat buffer, in slots: sum of the physical indices times the physical strides.
    fn offset(&self, physical: &[TraceTerm]) -> Result<TraceTerm, ExprError> {
        let mut sum: Option<Expr> = None;
        for (g, pitch) in (0_u32..).zip(self.layout.physical_strides()) {
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
        let (logical, symbols) = (self.layout.logical(), self.layout.symbols());
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

/// Entry of `all` at the position of the storage axis `var`; `None` if `var` is no storage axis or out of range.
fn storage<T>(var: Var, all: &[T]) -> Option<&T> {
    match var {
        Var::Storage(k) => all.get(usize::try_from(k).ok()?),
        _ => None,
    }
}

/// Storage axis that is part of a physical axis.
struct GroupAxis {
    index: Expr,
    /// Stride of the storage axis within its physical axis, in positions along the physical axis. `shown` is the
    /// expression that is printed for it.
    elements: i128,
    shown: Expr,
    extent: Expr,
    /// Value of `extent`.
    count: i128,
}

/// True if the axes are the digits of a mixed-radix number: every stride is a multiple of the next one.
fn is_mixed_radix(axes: &[GroupAxis]) -> bool {
    axes.iter()
        .zip(axes.iter().skip(1))
        .all(|(major, minor)| minor.elements > 0 && major.elements % minor.elements == 0)
}

/// Physical index of axes that are the digits of a mixed-radix number, outermost first, in Horner form:
/// `(n * 32 + c) * 64 + h`.
fn mixed_radix_expr(axes: &[GroupAxis]) -> Result<Expr, ExprError> {
    let mut index: Option<Expr> = None;
    let mut above = 1;
    for axis in axes {
        let factor = above / axis.elements.max(1);
        // With a pitch wider than the extent the factor is a constant.
        let factor =
            if factor == axis.count { axis.extent.clone() } else { Expr::constant(factor) };
        let major = index.map(|index| times(&index, &factor)).transpose()?;
        index = Some(plus(major, &axis.index)?);
        above = axis.elements;
    }
    let index = index.unwrap_or_else(|| Expr::constant(0));
    times(&index, &Expr::constant(above))
}

/// Physical index of axes with arbitrary strides, as a sum: `i * 1056 + j`.
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
