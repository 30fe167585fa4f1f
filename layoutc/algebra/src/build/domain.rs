//! A layout of some indices of the box alone: its elements are those at which conditions hold.
//!
//! Where the box as a whole is one-to-one, so are the elements, and the inverse and the predicate of the box serve with
//! the conditions added. Else the elements are visited, or a rule for rows of a staircase proves them.

use alloc::vec::Vec;

use super::{BuildError, FinishError, LayoutBuilder};
use crate::expr::{BinOp, Expr, ExprComparison, ExprError, Predicate, Var};
use crate::layout::{Layout, ProofMethod, Verdict};
use crate::proof::{self, EnumerationDomain as Points, Executor, value_of};

/// Conditions on the logical axes, affine in them.
#[derive(Debug, Clone)]
pub(super) struct Domain {
    pub(super) predicate: Predicate,
    /// At least 0 on elements, and all of them on no other index.
    pub(super) within: Vec<Expr>,
    /// How many elements there are.
    pub(super) elements: Expr,
}

impl LayoutBuilder {
    /// Makes elements of those indices alone at which the conditions hold, which are affine in the logical axes,
    /// `Var::Axis`. It goes before every step. An empty box stays as it is: no index breaks a condition.
    ///
    /// # Errors
    /// [`BuildError::NoElement`], [`BuildError::Uncounted`].
    pub fn restrict(&mut self, predicate: Predicate) -> Result<(), BuildError> {
        if self.logical.iter().any(|axis| axis.extent.as_const() == Some(0)) {
            return Ok(());
        }
        let within = predicate.margins()?;
        let elements = Expr::constant(0);
        self.domain = Some(Domain { predicate, within, elements });
        let elements = self.counted()?;
        if elements.as_const() == Some(0) {
            return Err(BuildError::NoElement);
        }
        if let Some(domain) = &mut self.domain {
            domain.elements = elements;
        }
        Ok(())
    }

    /// How many elements there are: the product over groups of axes that conditions tie.
    fn counted(&self) -> Result<Expr, BuildError> {
        let mut elements = Expr::constant(1);
        for condition in self.conditions().iter().filter(|condition| !has_axes(condition)) {
            match condition.evaluate(&|_| None) {
                Ok(margin) if margin >= 0 => {}
                Ok(_) => return Ok(Expr::constant(0)),
                Err(_) => return Err(BuildError::Uncounted),
            }
        }
        for group in proof::components(self.logical.len(), &[], self.conditions()) {
            let within = group.within(self.conditions());
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
                let symbolic = |e: &Expr| e.mentions(&|var| matches!(var, Var::Symbol(_)));
                let extents = extents.filter(|_| !within.iter().any(symbolic));
                let Some(extents) = extents else { return Err(BuildError::Uncounted) };
                let (axes, within) = (&group.axes, &within);
                let all = Points { axes, extents: &extents, targets: &[], slots: &[], within };
                Expr::constant(proof::count(&all)?.ok_or(BuildError::Uncounted)?)
            };
            elements = Expr::binary(BinOp::Mul, &elements, &own)?;
        }
        Ok(self.facts.simplify(&elements)?)
    }

    /// At least 0 on elements.
    pub(super) fn conditions(&self) -> &[Expr] {
        self.domain.as_ref().map_or(&[], |domain| &domain.within)
    }

    /// The conditions that read one of these axes.
    pub(super) fn within(&self, axes: &[usize]) -> Vec<Expr> {
        let reads = |condition: &&Expr| reads(condition, axes);
        self.conditions().iter().filter(reads).cloned().collect()
    }

    /// Adds the axes that conditions tie to these.
    pub(super) fn tie(&self, axes: &mut Vec<usize>) {
        let conditions = self.conditions();
        for group in proof::components(self.logical.len(), &[], conditions) {
            if group.axes.iter().any(|axis| axes.contains(axis)) {
                axes.extend(group.axes);
            }
        }
        axes.sort_unstable();
        axes.dedup();
    }

    /// Whether an index is an element at these values of the symbols.
    pub(super) fn holds(&self, index: &[i128], symbols: &[i128]) -> Result<bool, ExprError> {
        let at = |var| value_of(var, index, symbols);
        self.domain.as_ref().map_or(Ok(true), |domain| domain.predicate.evaluate(&at))
    }

    /// One more than the greatest value of an index of several axes that conditions tie: it is what elements reach, not
    /// the box. `None` where the text says the extent.
    pub(super) fn reached(&self, index: &Expr) -> Result<Option<Expr>, BuildError> {
        let axes = index.vars().into_iter().filter(|var| matches!(var, Var::Axis(_))).count();
        if self.domain.is_none() || axes < 2 {
            return Ok(None);
        }
        let Some([_, (greatest, _)]) = self.extremes_of(index)? else { return Ok(None) };
        Ok(Some(Expr::constant(greatest.max(-1).saturating_add(1))))
    }

    /// The layout of the box where that is proven, with the conditions; `None` where the box is not one-to-one, or only
    /// found so by visiting it.
    pub(super) fn of_box(
        &self,
        alignment_bytes: u64,
        machine: &dyn Executor,
    ) -> Result<Option<Layout>, FinishError> {
        let Some(domain) = &self.domain else { return Ok(None) };
        let whole = Self { domain: None, ..self.clone() };
        if !whole.is_told()? {
            return Ok(None);
        }
        let Ok(layout) = whole.finish(alignment_bytes, machine) else { return Ok(None) };
        if layout.proof == ProofMethod::Enumeration || layout.inverse.is_none() {
            return Ok(None);
        }
        Ok(Some(restricted(layout, domain)?))
    }
}

/// A layout of the box as one of the domain: a slot holds an element where the box has one and the conditions hold there.
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
        // Loops are over the box; digits would pass over conditions.
        digits: None,
        logical_elements: domain.elements.clone(),
        ..layout
    })
}

fn has_axes(condition: &Expr) -> bool {
    condition.mentions(&|var| matches!(var, Var::Axis(_)))
}

fn reads(condition: &Expr, axes: &[usize]) -> bool {
    condition.mentions(&|var| match var {
        Var::Axis(axis) => usize::try_from(axis).is_ok_and(|axis| axes.contains(&axis)),
        _ => false,
    })
}
