//! Gates on memory access: unit stride along an axis, and aligned vectors.

use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use super::claim::is_zero;
use super::size::sizes;
use super::{GateSubject, GateViolation};
use crate::base::codes::Code;
use crate::check::faults::index;
use crate::check::index_point::{ClaimResult, IndexPoint};
use crate::check::symbol_facts::SymbolFact;

/// Maximum length of a contiguous run that is measured for a note, in elements. A longer run is reported with this
/// length.
const LONGEST_RUN: i128 = 1 << 16;

/// Violation of the gate `contiguous` along the logical axis at position `axis`. `None` if it holds:
/// `offset(i + 1) - offset(i) = 1`, in elements, is proven for all neighbors i and i + 1 along the axis. `Err` if index
/// arithmetic fails.
pub(super) fn contiguous(
    subject: &GateSubject<'_>,
    axis: usize,
) -> Result<Option<GateViolation>, ExprError> {
    let layout = subject.layout;
    let name = name_of(layout, axis);
    let next = Expr::binary(BinOp::Add, &variable(axis), &Expr::constant(1))?;
    let ahead = replaced(layout.offset(), axis, &next)?;
    let step = Expr::binary(BinOp::Sub, &ahead, layout.offset())?;
    let wrong = Expr::binary(BinOp::Sub, &step, &Expr::constant(1))?;
    let mut extents = extents(layout.logical());
    if let Some(extent) = extents.get_mut(axis) {
        *extent = Expr::binary(BinOp::Sub, extent, &Expr::constant(1))?;
    }
    let message = format!("axis `{name}` of `{}` is not contiguous", subject.name);
    let broken = GateViolation::new(Code::GateContiguous, message)
        .otherwise(format!("make `{name}` alone the last index of the layout"));
    Ok(match is_zero(&wrong, &extents, layout.symbols())? {
        ClaimResult::Holds => None,
        ClaimResult::Unknown => Some(broken.note("it cannot be proven for all indices")),
        ClaimResult::Fails(_) if layout.domain().is_some() => Some(broken.note(
            "it does not hold for every index of the shape, including those excluded by `where`",
        )),
        ClaimResult::Fails(point) => {
            let there = moved(&point, axis, 1);
            let places = [&point, &there].map(|point| place(subject, point)).join(" and ");
            let broken = broken.note(format!("{places}{}", sizes(layout, &point.symbols)));
            let run = run(layout, axis, &point)?;
            let last = layout.storage_map().last();
            let is_last = last.is_some_and(|index| index.mentions(&|var| var == axis_var(axis)));
            Some(match run {
                0 | 1 if is_last => broken,
                0 | 1 => {
                    broken.help(format!("make `{name}` the last storage axis: `order ... {name}`"))
                }
                run => broken.note(format!("runs of {run} elements are contiguous")).help(format!(
                    "if contiguous groups are enough, write `require vector={}`",
                    power(run)
                )),
            })
        }
    })
}

/// Largest power of two that divides `number`; 0 for 0.
fn power(number: i128) -> i128 {
    number & number.wrapping_neg()
}

/// Length, in elements, of the contiguous run along `axis` that starts at index 0, at most [`LONGEST_RUN`]. The other
/// axes and the symbols have their values in `at`.
fn run(layout: &Layout, axis: usize, at: &IndexPoint) -> Result<i128, ExprError> {
    let mut point = at.clone();
    let mut length = 0;
    let mut first = 0;
    while length < LONGEST_RUN {
        if let Some(index) = point.axes.get_mut(axis) {
            *index = length;
        }
        let offset = layout.offset().evaluate(&|var| point.value(var))?;
        if length == 0 {
            first = offset;
        } else if offset != first + length {
            break;
        }
        length += 1;
    }
    Ok(length)
}

/// Violation of the gate `vector`, which requires that elements can be accessed as vectors of `lanes` elements. `None`
/// if it holds: the layout has no elements; or the shape has no `where`, a logical axis of extent other than 1 has
/// stride 1 at the first element, and along the last such axis every group of `lanes` indices that starts at a multiple
/// of `lanes` is proven to be contiguous and aligned to its size in bytes. If the last group has fewer elements,
/// padding must be proven to follow them. `Err` if index arithmetic fails.
pub(super) fn vector(
    subject: &GateSubject<'_>,
    lanes: i128,
) -> Result<Option<GateViolation>, ExprError> {
    let layout = subject.layout;
    if layout.logical_elements().as_const() == Some(0) {
        return Ok(None);
    }
    let message = format!("{lanes} elements of `{}` are not a vector", subject.name);
    let broken = GateViolation::new(Code::GateVector, message);
    if layout.domain().is_some() {
        let broken = broken.note("an access may reach indices that `where` excludes");
        return Ok(Some(broken.help("use the gate on a tensor without `where`")));
    }
    let bits = i128::from(subject.element_bits).saturating_mul(lanes);
    if bits.rem_euclid(8) != 0 {
        let note = format!("{lanes} elements of {} bits are not whole bytes", subject.element_bits);
        let broken = broken.note(note);
        let whole = 8_u32.checked_div(subject.element_bits).unwrap_or(8);
        return Ok(Some(broken.help(format!("require whole bytes: `require vector={whole}`"))));
    }
    let bytes = bits.div_euclid(8);
    if i128::from(layout.alignment_bytes()).rem_euclid(bytes) != 0 {
        let note = format!(
            "they have {bytes} bytes, and the base address is aligned to {}",
            layout.alignment_bytes()
        );
        let broken = broken.note(note);
        return Ok(Some(match bytes.count_ones() {
            1 => broken.help(format!("add `align {bytes}` to the layout")),
            _ => broken.help("use elements whose size in bytes is a power of two"),
        }));
    }
    let Some(axis) = fastest(layout)? else {
        let note = "no axis has stride 1";
        let broken = steps(layout)?.into_iter().fold(broken.note(note), GateViolation::note);
        return Ok(Some(broken.help("make the stride of the last axis in memory 1")));
    };
    match whole_groups(subject, axis, lanes)? {
        Ok(whole) => groups(subject, &whole, axis, lanes, broken),
        Err(note) => {
            let name = name_of(layout, axis);
            let help = format!(
                "round the extent up before the other steps: `pad {name} multiple={lanes}`"
            );
            let symbols = 0..layout.symbols().len();
            let hints = symbols.map(|k| (k, SymbolFact::Multiple(lanes))).collect();
            Ok(Some(broken.note(note).help(help).hints(hints)))
        }
    }
}

/// Checks the groups of `lanes` elements along `axis` in `whole`: each must be contiguous, and start at an offset that
/// `lanes` divides. `whole` is the layout that [`whole_groups`] returns. `None` if all groups are proven to be so,
/// otherwise `broken` with a note on a group that is not, or a note that the proof fails.
fn groups(
    subject: &GateSubject<'_>,
    whole: &Layout,
    axis: usize,
    lanes: i128,
    broken: GateViolation,
) -> Result<Option<GateViolation>, ExprError> {
    let name = name_of(subject.layout, axis);
    let together =
        format!("make `{name} % {lanes}` the last storage axis: `split {name} by={lanes}`");
    let broken = broken.otherwise(together);
    // The axis now counts groups; an added axis counts elements in a group.
    let inside = whole.logical().len();
    let start = Expr::binary(BinOp::Mul, &variable(axis), &Expr::constant(lanes))?;
    let element = Expr::binary(BinOp::Add, &start, &variable(inside))?;
    let at_start = replaced(whole.offset(), axis, &start)?;
    let at_element = replaced(whole.offset(), axis, &element)?;
    let mut extents = extents(whole.logical());
    if let Some(extent) = extents.get_mut(axis) {
        let groups = Expr::binary(BinOp::FloorDiv, extent, &Expr::constant(lanes))?;
        *extent = Facts::new(whole.symbols()).simplify(&groups)?;
    }
    extents.push(Expr::constant(lanes));
    let apart = Expr::binary(BinOp::Sub, &at_element, &at_start)?;
    let apart = Expr::binary(BinOp::Sub, &apart, &variable(inside))?;
    let misplaced = Expr::binary(BinOp::Mod, &at_start, &Expr::constant(lanes))?;
    let layout = subject.layout;
    for (wrong, is_apart) in [(&apart, true), (&misplaced, false)] {
        match is_zero(wrong, &extents, whole.symbols())? {
            ClaimResult::Holds => {}
            ClaimResult::Unknown => {
                return Ok(Some(broken.note("it cannot be proven for all indices")));
            }
            ClaimResult::Fails(point) => {
                let sizes = sizes(layout, &point.symbols);
                let group = point.axes.get(axis).copied().unwrap_or(0);
                let inside = point.axes.get(inside).copied().unwrap_or(0);
                let first = IndexPoint {
                    axes: point.axes.iter().take(whole.logical().len()).copied().collect(),
                    ..point
                };
                let first = moved(&first, axis, group.saturating_mul(lanes - 1));
                let start = place(subject, &first);
                return Ok(Some(if is_apart {
                    let there = place(subject, &moved(&first, axis, inside));
                    broken.note(format!("{start} and {there}{sizes}"))
                } else {
                    broken
                        .note(format!("{start}, which is not a multiple of {lanes}{sizes}"))
                        .otherwise(format!("make paddings and strides multiples of {lanes}"))
                }));
            }
        }
    }
    Ok(None)
}

/// Layout whose extent along `axis` is a multiple of `lanes`: the layout of `subject` if its extent is such a multiple;
/// otherwise the layout that its steps give with the extent rounded up, if every element keeps its offset and the
/// buffer its size, so that padding follows the last elements. The inner `Err` is a note that says why no such layout
/// is proven. The outer `Err` is a failure of index arithmetic.
fn whole_groups(
    subject: &GateSubject<'_>,
    axis: usize,
    lanes: i128,
) -> Result<Result<Layout, String>, ExprError> {
    let layout = subject.layout;
    let facts = Facts::new(layout.symbols());
    let Some(own) = layout.logical().get(axis) else { return Err(ExprError::Unbound) };
    let whole = Expr::constant(lanes);
    let up = Expr::binary(BinOp::Add, &own.extent, &Expr::constant(lanes - 1))?;
    let up = Expr::binary(BinOp::FloorDiv, &up, &whole)?;
    let up = facts.simplify(&Expr::binary(BinOp::Mul, &up, &whole)?)?;
    if facts.proves_eq(&up, &own.extent)? {
        return Ok(Ok(layout.clone()));
    }
    let mut axes = layout.logical().to_vec();
    if let Some(axis) = axes.get_mut(axis) {
        axis.extent = up;
    }
    if let Some(rounded) = (subject.again)(&axes)
        && is_same(layout, &rounded)?
    {
        return Ok(Ok(rounded));
    }
    let left = own.extent.as_const().map(|extent| extent.rem_euclid(lanes));
    let has = match left {
        Some(left) => format!("has {left} of {lanes} elements"),
        None => format!("may have fewer than {lanes} elements"),
    };
    let name = &own.name;
    Ok(Err(format!(
        "the last group along `{name}` {has}, and it is not proven that padding follows them"
    )))
}

/// True if two layouts are proven to have equal offsets for the elements of `a`, and buffers of equal size. The same
/// steps made both, `b` from axes with extents at least those of `a`.
fn is_same(a: &Layout, b: &Layout) -> Result<bool, ExprError> {
    let mut facts = Facts::new(a.symbols());
    for (k, axis) in (0_u32..).zip(a.logical()) {
        facts.set_extent(Var::Axis(k), &axis.extent)?;
    }
    Ok(facts.proves_eq(a.offset(), b.offset())?
        && facts.proves_eq(a.physical_elements(), b.physical_elements())?)
}

/// Position of the last logical axis whose stride at the first element is 1, axes of extent 1 excepted; `None` if there
/// is none.
fn fastest(layout: &Layout) -> Result<Option<usize>, ExprError> {
    let longer = |axis: &Axis| axis.extent.as_const() != Some(1);
    for (k, _) in layout.logical().iter().enumerate().rev().filter(|(_, axis)| longer(axis)) {
        if first_step(layout, k)?.as_const() == Some(1) {
            return Ok(Some(k));
        }
    }
    Ok(None)
}

/// Stride along an axis at the first element: the offset of index 1 minus that of index 0, in elements.
fn first_step(layout: &Layout, axis: usize) -> Result<Expr, ExprError> {
    let at = |wanted: Option<usize>| {
        layout.offset().substitute(&|var| match var {
            Var::Axis(k) => {
                let is_one = usize::try_from(k).ok() == wanted;
                Some(Expr::constant(i128::from(is_one)))
            }
            _ => None,
        })
    };
    let step = Expr::binary(BinOp::Sub, &at(Some(axis))?, &at(None)?)?;
    Facts::new(layout.symbols()).simplify(&step)
}

/// Notes with the stride of each axis at the first element, without axes of extent 1: `` the stride of `c` is 16``.
fn steps(layout: &Layout) -> Result<Vec<String>, ExprError> {
    let mut lines = Vec::new();
    for (k, axis) in layout.logical().iter().enumerate() {
        if axis.extent.as_const() != Some(1) {
            let step = crate::model::layout_names::layout_expr(&first_step(layout, k)?, layout);
            lines.push(format!("the stride of `{}` is {step}", axis.name));
        }
    }
    Ok(lines)
}

fn name_of(layout: &Layout, axis: usize) -> &str {
    layout.logical().get(axis).map_or("", |axis| axis.name.as_str())
}

fn axis_var(axis: usize) -> Var {
    Var::Axis(u32::try_from(axis).unwrap_or(u32::MAX))
}

fn variable(axis: usize) -> Expr {
    Expr::var(axis_var(axis))
}

fn extents(axes: &[Axis]) -> Vec<Expr> {
    axes.iter().map(|axis| axis.extent.clone()).collect()
}

fn replaced(expr: &Expr, axis: usize, with: &Expr) -> Result<Expr, ExprError> {
    expr.substitute(&|var| match var {
        Var::Axis(k) if usize::try_from(k) == Ok(axis) => Some(with.clone()),
        _ => None,
    })
}

/// Copy of `point` with its index along `axis` increased by `steps`.
fn moved(point: &IndexPoint, axis: usize, steps: i128) -> IndexPoint {
    let mut moved = point.clone();
    if let Some(index) = moved.axes.get_mut(axis) {
        *index = index.saturating_add(steps);
    }
    moved
}

/// Text with the offset of an element: `t[0, 3] is at offset 12`.
fn place(subject: &GateSubject<'_>, point: &IndexPoint) -> String {
    let element = format!("{}{}", subject.name, index(&point.axes));
    match subject.layout.offset().evaluate(&|var| point.value(var)) {
        Ok(offset) => format!("{element} is at offset {offset}"),
        Err(_) => element,
    }
}
