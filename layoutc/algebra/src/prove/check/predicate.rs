//! Check that the predicate `valid` of a layout is false on padding slots. `check_predicate` of the parent module
//! verifies that it is true on elements.
//!
//! In a small layout, the number of slots on which the predicate is true must be the number of elements. In a large
//! layout, single slots are checked: a slot holds an element if its inverse index is within the logical shape and the
//! map sends this index back to the slot. The checked slots are random ones, and neighbors of elements along the
//! storage axes, where padding begins. A symbolic layout is checked for each sample assignment of values to the
//! symbols.

use alloc::vec::Vec;

use super::program::{Column, PointBatches, PredicateProgram, StackProgram};
use super::{CertificateError, extents, value_of};
use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::Layout;
use crate::layout::symbol_values::samples;

/// Maximum number of slots of a layout on which the predicate is evaluated at every slot; a larger layout is checked on
/// samples.
const COUNTED_SLOTS: i128 = 1 << 16;

/// Number of random slots on which the predicate of a large layout is checked.
const SPREAD: usize = 1 << 12;

/// Number of random elements whose neighbor slots are checked, besides the corner elements.
const ELEMENTS: usize = 1 << 8;

/// Number of corner elements from which corners are no longer doubled. Below it, each axis contributes both index 0 and
/// its last index; every further axis contributes its last index alone.
const CORNERS: usize = 1 << 8;

/// Checks that the predicate is false on padding: on every slot of a small layout, on samples of a large one. A layout
/// with symbols is checked at sample values of the symbols. [`CertificateError::Predicate`] with `usize::MAX` if the
/// predicate is wrong on a checked slot. A layout without an inverse, or with numbers beyond 64 bits, passes without a
/// check.
pub(super) fn check_padding(layout: &Layout) -> Result<(), CertificateError> {
    if layout.symbols.is_empty() {
        return at_values(layout, &[]);
    }
    for values in samples(&layout.symbols, &extents(layout)) {
        at_values(layout, &values)?;
    }
    Ok(())
}

fn at_values(layout: &Layout, symbols: &[i128]) -> Result<(), CertificateError> {
    let Some(inverse) = &layout.inverse else { return Ok(()) };
    // Layouts beyond 64 bits are not checked.
    let Ok(fixed) = StaticLayout::new(layout, inverse, symbols) else { return Ok(()) };
    let slots = fixed.shape.iter().fold(1_i128, |n, e| n.saturating_mul((*e).into()));
    if fixed.extents.contains(&0) {
        return Ok(());
    }
    if slots <= COUNTED_SLOTS {
        let elements = fixed.extents.iter().fold(1_i128, |n, e| n.saturating_mul((*e).into()));
        let valid_slots = match &fixed.valid {
            Some(valid) => count_valid_slots(valid, &fixed.shape)?,
            None => slots,
        };
        return if valid_slots == elements {
            Ok(())
        } else {
            Err(CertificateError::Predicate(usize::MAX))
        };
    }
    for slots in fixed.sample_slots() {
        if fixed.is_right(&slots) == Ok(false) {
            return Err(CertificateError::Predicate(usize::MAX));
        }
    }
    Ok(())
}

/// Number of slots in a box of this shape (physical extents, outermost first) on which the predicate is true.
fn count_valid_slots(valid: &PredicateProgram, shape: &[i64]) -> Result<i128, ExprError> {
    let (mut points, mut spare, mut valid_slots) = (PointBatches::new(shape), Vec::new(), 0_i128);
    loop {
        let count = points.advance();
        if count == 0 {
            return Ok(valid_slots);
        }
        for is_valid in valid.test(&points.columns, count, &mut spare)? {
            valid_slots += i128::from(is_valid);
        }
    }
}

/// Layout with every symbol replaced by a value, with its map, inverse and predicate compiled for evaluation.
struct StaticLayout {
    extents: Vec<i64>,
    shape: Vec<i64>,
    /// Pairs `(axis, stride)`, one for each storage axis: the position of its physical axis, and its stride within that
    /// physical axis, in slots.
    steps: Vec<(usize, i64)>,
    valid: Option<PredicateProgram>,
    /// Programs that compute the logical indices of the element in a slot from its physical indices.
    inverse: Vec<StackProgram>,
    /// Programs that compute the physical indices of an element from its logical indices.
    map: Vec<StackProgram>,
}

impl StaticLayout {
    fn new(layout: &Layout, inverse: &[Expr], symbols: &[i128]) -> Result<Self, ExprError> {
        let put = |expr: &Expr| {
            expr.substitute(&|var| match var {
                Var::Symbol(_) => value_of(var, &[], symbols).map(Expr::constant),
                _ => None,
            })
        };
        let number = |expr: &Expr| -> Result<i64, ExprError> {
            let value = put(expr)?.evaluate(&|_| None)?;
            i64::try_from(value).map_err(|_| ExprError::Overflow)
        };
        let all = |exprs: &[Expr]| exprs.iter().map(put).collect::<Result<Vec<_>, _>>();
        let shape: Vec<i64> = layout.physical_shape.iter().map(number).collect::<Result<_, _>>()?;
        let extents = layout.logical.iter().map(|axis| number(&axis.extent));
        let extents: Vec<i64> = extents.collect::<Result<_, _>>()?;
        let physical: Vec<Var> = (0_u32..).map(Var::Physical).take(shape.len()).collect();
        let logical: Vec<Var> = (0_u32..).map(Var::Axis).take(extents.len()).collect();
        let mut steps = Vec::new();
        for (g, group) in crate::layout::physical::groups(layout.storage.len(), &layout.separators)
            .into_iter()
            .enumerate()
        {
            let pitch = layout.physical_strides.get(g).map_or(Ok(1), number)?.max(1);
            for k in group {
                let stride = layout.strides.get(k).map_or(Ok(0), number)?;
                steps.push((g, stride / pitch));
            }
        }
        let valid = match &layout.valid {
            Some(valid) => {
                let mut all = valid.all.clone();
                for comparison in &mut all {
                    comparison.left = put(&comparison.left)?;
                    comparison.right = put(&comparison.right)?;
                }
                Some(PredicateProgram::new(&Predicate { all }, &physical)?)
            }
            None => None,
        };
        let inverse = StackProgram::all(&all(inverse)?, &physical)?;
        let map = StackProgram::all(&all(&layout.physical_map)?, &logical)?;
        Ok(Self { extents, shape, steps, valid, inverse, map })
    }

    /// Slots on which the predicate is checked, in batches: [`SPREAD`] random slots, then one batch for each sampled
    /// element and its neighbors. A batch has one column of indices per physical axis, with one entry per slot.
    fn sample_slots(&self) -> Vec<Vec<Column>> {
        let mut spread = SplitMix64(0x9E37_79B9_7F4A_7C15);
        let mut all = alloc::vec![(0..SPREAD).map(|_| self.random_slot(&mut spread)).collect()];
        let mut stack = Vec::new();
        for element in self.elements(&mut spread) {
            let slot = self.map.iter().map(|index| index.run(&element, &mut stack));
            let Ok(slot) = slot.collect::<Result<Vec<i64>, _>>() else { continue };
            let mut neighbors = alloc::vec![slot.clone()];
            for (axis, step) in &self.steps {
                for step in [step.checked_neg(), Some(*step)].into_iter().flatten() {
                    let mut slot = slot.clone();
                    if let Some(index) = slot.get_mut(*axis) {
                        *index = index.saturating_add(step);
                    }
                    if slot.iter().zip(&self.shape).all(|(i, extent)| (0..*extent).contains(i)) {
                        neighbors.push(slot);
                    }
                }
            }
            all.push(neighbors);
        }
        let columns = |slots: Vec<Vec<i64>>| {
            let column = |k: usize| slots.iter().filter_map(|slot| slot.get(k).copied()).collect();
            (0..self.shape.len()).map(column).collect()
        };
        all.into_iter().map(columns).collect()
    }

    fn random_slot(&self, spread: &mut SplitMix64) -> Vec<i64> {
        self.shape.iter().map(|extent| spread.below(*extent)).collect()
    }

    /// Logical indices of sampled elements: the corners of the logical shape, where each index is 0 or the last one,
    /// then [`ELEMENTS`] random elements.
    fn elements(&self, spread: &mut SplitMix64) -> Vec<Vec<i64>> {
        let mut corners: Vec<Vec<i64>> = alloc::vec![Vec::new()];
        for extent in &self.extents {
            let ends = if corners.len() < CORNERS {
                alloc::vec![0, extent - 1]
            } else {
                alloc::vec![extent - 1]
            };
            let with = |corner: Vec<i64>| {
                ends.iter()
                    .map(move |end| [corner.as_slice(), &[*end]].concat())
                    .collect::<Vec<_>>()
            };
            corners = corners.into_iter().flat_map(with).collect();
        }
        let inside = (0..ELEMENTS)
            .map(|_| self.extents.iter().map(|extent| spread.below(*extent)).collect::<Vec<i64>>());
        corners.into_iter().chain(inside).collect()
    }

    /// True if the predicate is true on the slots that contain an element, and false on all other slots of the batch.
    /// `slots` has one column of indices per physical axis.
    fn is_right(&self, slots: &[Column]) -> Result<bool, ExprError> {
        let count = slots.first().map_or(0, Vec::len);
        let mut spare = Vec::new();
        let predicted = match &self.valid {
            Some(valid) => valid.test(slots, count, &mut spare)?,
            None => alloc::vec![true; count],
        };
        let mut indices = Vec::new();
        for index in &self.inverse {
            indices.push(index.column(slots, count, &mut spare)?);
        }
        let mut stack = Vec::new();
        for (at, is_predicted) in predicted.iter().enumerate() {
            let pick = |columns: &[Column]| -> Vec<i64> {
                columns.iter().filter_map(|column| column.get(at).copied()).collect()
            };
            let (element, slot) = (pick(&indices), pick(slots));
            let mut is_owned =
                element.iter().zip(&self.extents).all(|(i, extent)| (0..*extent).contains(i));
            for (index, own) in self.map.iter().zip(&slot) {
                is_owned = is_owned && index.run(&element, &mut stack)? == *own;
            }
            if is_owned != *is_predicted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Deterministic pseudo-random number generator; the field is its state.
struct SplitMix64(u64);

impl SplitMix64 {
    /// Pseudo-random number in `0..extent`, for an extent of at least 1.
    fn below(&mut self, extent: i64) -> i64 {
        // Source: Vigna, splitmix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let whole = u64::try_from(extent).unwrap_or(1).max(1);
        i64::try_from((mixed ^ (mixed >> 31)) % whole).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use alloc::string::ToString;

    use super::*;
    use crate::builder::LayoutBuilder;
    use crate::expr::parse;
    use crate::map::{MapScope, resolve};
    use crate::prove::SequentialExecutor;
    use crate::symbol::Axis;

    fn layout(shape: &[i128], map: &str) -> Layout {
        let axis = |(name, extent): (&&str, &i128)| Axis {
            name: (*name).to_string(),
            extent: Expr::constant(*extent),
        };
        let axes: Vec<Axis> = ["i", "j", "k"].iter().zip(shape).map(axis).collect();
        let mut builder = LayoutBuilder::new(&[], &axes, 32).unwrap();
        let text = parse::map(map).unwrap();
        let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
        builder.apply(&resolve(&text, scope).unwrap()).unwrap();
        builder.finish(64, &SequentialExecutor).unwrap()
    }

    /// Omits each comparison of a predicate, one at a time: the check refuses the predicate of the other comparisons.
    #[test]
    fn predicates_that_accept_padding_are_refused() {
        for (shape, map) in [
            (&[100, 60][..], "(i, j) -> (i, j // 64, j % 64)"),
            (&[3, 5], "(i, j) -> (i, j : 8)"),
            (&[1000, 60], "(i, j) -> (i, j : 64)"),
            (&[1000, 1000], "(i, j) -> (i // 16, j // 16, i % 16, j % 16)"),
            (&[5000, 333, 7], "(i, j, k) -> (j + 1 : 335, i, k)"),
            (&[100_000, 1_000_001], "(i, j) -> (j // 128, i, j % 128)"),
            (&[1 << 20, 1023], "(i, j) -> (i | j // 4 : 256, j % 4)"),
        ] {
            let layout = layout(shape, map);
            assert_eq!(check_padding(&layout), Ok(()), "{map}");
            let all = layout.valid.as_ref().map_or(&[][..], |valid| valid.all.as_slice());
            assert!(!all.is_empty(), "{map}");
            for left_out in 0..all.len() {
                let mut all = all.to_vec();
                all.remove(left_out);
                let valid = (!all.is_empty()).then_some(Predicate { all });
                let wrong = Layout { valid, ..layout.clone() };
                let refused = Err(CertificateError::Predicate(usize::MAX));
                assert_eq!(check_padding(&wrong), refused, "{map} without {left_out}");
            }
        }
    }
}
