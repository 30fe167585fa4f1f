//! Layouts restricted to a domain: only the logical indices that satisfy its conditions are elements.
//!
//! If the layout of all logical indices is injective, so is its restriction to the domain. Its inverse then remains
//! valid, and a slot holds an element if the conditions hold for the logical index of the slot. Otherwise the
//! elements are enumerated.

use alloc::vec::Vec;

use super::{BuildError, FinishError, LayoutBuilder};
use crate::expr::{BinOp, Expr, ExprComparison, ExprError, ExprNode, Predicate, Var, apply};
use crate::layout::{Layout, ProofMethod, Verdict};
use crate::prove::{self, EnumerationDomain as Points, Executor, value_of};

/// Domain of a layout: the logical indices that are elements, as conditions that are affine in each index.
#[derive(Debug, Clone)]
pub(super) struct Domain {
    pub(super) predicate: Predicate,
    /// Expressions over `Var::Axis` that are all non-negative exactly at the logical indices of elements.
    pub(super) within: Vec<Expr>,
    /// Number of elements of the domain, over symbols.
    pub(super) elements: Expr,
    /// Logical index of one element of the domain.
    element: Vec<i128>,
}

impl LayoutBuilder {
    /// Restricts the elements to the logical indices that satisfy `predicate`, which is affine in `Var::Axis`. Must
    /// precede every step; the order is not checked. If an axis has extent 0, there are no elements to restrict, and
    /// the builder stays unchanged.
    ///
    /// # Errors
    /// [`BuildError::NoElement`] if no logical index satisfies `predicate`; [`BuildError::Uncounted`] if `predicate`
    /// contains symbols, reads axes of symbolic extent, or connects axes with too many index tuples to enumerate;
    /// [`BuildError::Expr`] if an expression is too large, or a value leaves 64 bits.
    pub fn restrict(&mut self, predicate: Predicate) -> Result<(), BuildError> {
        if self.logical.iter().any(|axis| axis.extent.as_const() == Some(0)) {
            return Ok(());
        }
        let within = predicate.margins()?;
        let sides = predicate.all.iter().flat_map(|one| [&one.left, &one.right]);
        sides.chain(&within).try_for_each(|side| self.check_width(side).map(drop))?;
        let (elements, element) = self.counted(&within)?;
        if elements.as_const() == Some(0) {
            return Err(BuildError::NoElement);
        }
        self.domain = Some(Domain { predicate, within, elements, element });
        Ok(())
    }

    /// Inclusive bounds `[low, high]` of `side`, a side of a comparison, over all logical indices, also those outside
    /// the domain. Generated code evaluates the side in 64 bits, so that every subexpression must fit.
    ///
    /// # Errors
    /// [`BuildError::Uncounted`] if the side contains a symbol or an axis of symbolic extent; [`ExprError::Overflow`]
    /// if a subexpression does not fit 64 bits.
    fn check_width(&self, side: &Expr) -> Result<[i128; 2], BuildError> {
        let [low, high] = match side.node() {
            ExprNode::Const(value) => [*value, *value],
            ExprNode::Var(Var::Axis(axis)) => {
                let axis = usize::try_from(*axis).ok().and_then(|axis| self.logical.get(axis));
                let extent = axis.and_then(|axis| axis.extent.as_const());
                [0, extent.ok_or(BuildError::Uncounted)?.saturating_sub(1)]
            }
            ExprNode::Var(_) => return Err(BuildError::Uncounted),
            ExprNode::Neg(a) => {
                let [low, high] = self.check_width(a)?;
                [high.saturating_neg(), low.saturating_neg()]
            }
            ExprNode::Bin(op, a, b) => {
                let (a, b) = (self.check_width(a)?, self.check_width(b)?);
                let corners = a.iter().flat_map(|a| b.iter().map(|b| apply(*op, *a, *b)));
                let corners = corners.collect::<Result<Vec<i128>, _>>()?;
                let least = corners.iter().min().copied().unwrap_or_default();
                [least, corners.iter().max().copied().unwrap_or_default()]
            }
        };
        if low < i64::MIN.into() || high > i64::MAX.into() {
            return Err(ExprError::Overflow.into());
        }
        Ok([low, high])
    }

    /// Pair `(number, index)` for the logical indices at which all `conditions` are non-negative. `number` is their
    /// number, an expression over symbols: the product of the numbers of all groups of axes that share conditions.
    /// `index` is one of the logical indices, and arbitrary if `number` is 0. [`BuildError::Uncounted`] if a condition
    /// without axes contains symbols, or if a group with conditions has symbolic extents or too many indices to
    /// enumerate.
    fn counted(&self, conditions: &[Expr]) -> Result<(Expr, Vec<i128>), BuildError> {
        let mut elements = Expr::constant(1);
        let mut element = alloc::vec![0; self.logical.len()];
        for condition in conditions.iter().filter(|condition| !has_axes(condition)) {
            match condition.evaluate(&|_| None) {
                Ok(margin) if margin >= 0 => {}
                Ok(_) => return Ok((Expr::constant(0), element)),
                Err(_) => return Err(BuildError::Uncounted),
            }
        }
        for group in prove::components(self.logical.len(), &[], conditions) {
            let within = group.within(conditions);
            let extents = group.axes.iter().filter_map(|axis| self.logical.get(*axis));
            let own = if within.is_empty() {
                let mut product = Expr::constant(1);
                for axis in extents {
                    product = Expr::binary(BinOp::Mul, &product, &axis.extent)?;
                }
                product
            } else {
                let extents: Option<Vec<i128>> =
                    extents.map(|axis| axis.extent.as_const()).collect();
                let extents = extents.ok_or(BuildError::Uncounted)?;
                let (axes, within) = (&group.axes, &within);
                let all = Points { axes, extents: &extents, targets: &[], slots: &[], within };
                let counted = prove::count(&all)?.ok_or(BuildError::Uncounted)?;
                for (axis, index) in axes.iter().zip(counted.first.unwrap_or_default()) {
                    if let Some(slot) = element.get_mut(*axis) {
                        *slot = index;
                    }
                }
                Expr::constant(counted.count)
            };
            elements = Expr::binary(BinOp::Mul, &elements, &own)?;
        }
        Ok((self.facts.simplify(&elements)?, element))
    }

    /// Logical index of one element of the domain, one value per logical axis; empty if the layout has no domain.
    pub(super) fn an_element(&self) -> &[i128] {
        self.domain.as_ref().map_or(&[], |domain| &domain.element)
    }

    /// Expressions over `Var::Axis` that are all non-negative exactly at elements of the domain; empty if the layout
    /// has no domain.
    pub(super) fn conditions(&self) -> &[Expr] {
        self.domain.as_ref().map_or(&[], |domain| &domain.within)
    }

    /// Conditions of the domain, as in [`Self::conditions`], that read any of the logical axes at the positions
    /// `axes`.
    pub(super) fn within(&self, axes: &[usize]) -> Vec<Expr> {
        prove::conditions_on(axes, self.conditions())
    }

    /// Adds to `axes` the positions of all logical axes that conditions of the domain connect to axes in the list,
    /// directly or through other axes. Sorts the list.
    pub(super) fn tie(&self, axes: &mut Vec<usize>) {
        let conditions = self.conditions();
        for group in prove::components(self.logical.len(), &[], conditions) {
            if group.axes.iter().any(|axis| axes.contains(axis)) {
                axes.extend(group.axes);
            }
        }
        axes.sort_unstable();
        axes.dedup();
    }

    /// True if the logical index `index` is an element of the domain, where `symbols[k]` is the value of
    /// `Var::Symbol(k)`; always true without a domain.
    pub(super) fn contains(&self, index: &[i128], symbols: &[i128]) -> Result<bool, ExprError> {
        let at = |var| value_of(var, index, symbols);
        self.domain.as_ref().map_or(Ok(true), |domain| domain.predicate.evaluate(&at))
    }

    /// Extent of a storage axis that the domain limits: the maximum of its index `index` over the elements, plus 1.
    /// `None` if domain conditions connect no two axes that `index` reads, or if the elements cannot be enumerated; the
    /// caller then uses the extent over all logical indices.
    pub(super) fn reached(&self, index: &Expr) -> Result<Option<Expr>, BuildError> {
        let reads = |axis: &&usize| {
            u32::try_from(**axis).is_ok_and(|axis| index.mentions(&|var| var == Var::Axis(axis)))
        };
        let groups = prove::components(self.logical.len(), &[], self.conditions());
        if groups.iter().all(|group| group.axes.iter().filter(reads).count() < 2) {
            return Ok(None);
        }
        let Some([_, (greatest, _)]) = self.extremes_of(index)? else { return Ok(None) };
        Ok(Some(Expr::constant(greatest.max(-1).saturating_add(1))))
    }

    /// Layout derived from the layout of all logical indices: that layout is finished with the arguments of
    /// [`Self::finish`], then restricted to the domain. The restriction of an injective layout needs no proof of its
    /// own. `None` if there is no domain, or if the layout of all logical indices cannot be finished, is proven only by
    /// enumeration, or has no inverse.
    pub(super) fn of_box(
        &self,
        alignment_bytes: u64,
        executor: &dyn Executor,
    ) -> Result<Option<Layout>, FinishError> {
        let Some(domain) = &self.domain else { return Ok(None) };
        let whole = Self { domain: None, ..self.clone() };
        if !whole.is_proven_without_enumeration()? {
            return Ok(None);
        }
        let Ok(layout) = whole.finish(alignment_bytes, executor) else { return Ok(None) };
        if layout.proof == ProofMethod::Enumeration || layout.inverse.is_none() {
            return Ok(None);
        }
        Ok(Some(restricted(layout, domain)?))
    }
}

/// Restricts the proven layout of all logical indices to a domain: a slot holds an element if it did before the
/// restriction and the logical index of the slot satisfies the conditions.
fn restricted(layout: Layout, domain: &Domain) -> Result<Layout, ExprError> {
    let indices = layout.inverse.clone().unwrap_or_default();
    let at_slot = domain.predicate.substitute(&|var| match var {
        Var::Axis(axis) => indices.get(usize::try_from(axis).ok()?).cloned(),
        _ => None,
    })?;
    let of_box = layout.valid.iter().flat_map(|valid| &valid.all).cloned();
    let all: Vec<ExprComparison> = of_box.chain(at_slot.all).collect();
    let is_full = layout.physical_elements == domain.elements;
    Ok(Layout {
        domain: Some(domain.predicate.clone()),
        valid: (!is_full).then_some(Predicate { all }),
        verdict: if is_full { Verdict::Bijective } else { Verdict::Padded },
        // Loop nests iterate over the whole box; digits cannot express the conditions.
        digits: None,
        logical_elements: domain.elements.clone(),
        ..layout
    })
}

fn has_axes(condition: &Expr) -> bool {
    condition.mentions(&|var| matches!(var, Var::Axis(_)))
}
