//! Decomposition of a layout into a [`LayoutDecomposition`] of independent components: sets of logical axes that
//! share no target (an index expression that identifies elements). A layout without a closed-form inverse is inverted
//! one component at a time; only components without an inverse of their own are searched.

use alloc::vec::Vec;

use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::Layout;
use crate::layout::physical::groups;
use crate::normal_form::simplify::Facts;
use crate::prove::{Claim, components, solve_axes};

/// Set of logical axes connected by shared targets or domain conditions, and the targets that read these axes. No
/// other target reads an axis of the component. A target is an index expression, see
/// [`LayoutDecomposition::targets`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutComponent {
    /// Positions of the logical axes of the component, ascending.
    pub axes: Vec<usize>,
    /// Positions in [`LayoutDecomposition::targets`] of the targets that read axes of the component, ascending.
    pub targets: Vec<usize>,
    /// Conditions of the domain on the axes of the component, over `Var::Axis`: all are non-negative exactly on
    /// elements.
    pub within: Vec<Expr>,
    /// Index of each axis of the component, in the order of `axes`, over `Var::Storage(k)`, which stands for the
    /// value of target `k`; `None` if the index must be searched for. For slots without an element the indices are
    /// arbitrary, and may be outside the extents.
    pub inverse: Option<Vec<Expr>>,
}

/// Layout decomposed into independent components of axes. The element in a slot is found in two steps: the slot gives
/// the value of each target (`at`), and these values give the logical indices, one component at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutDecomposition {
    /// Expressions over `Var::Axis` and symbols whose values identify an element: one index per storage axis. The only
    /// target is the offset if the storage indices cannot be computed from it by division, for example because a stride
    /// is 0, strides do not nest, or an extent is symbolic.
    pub targets: Vec<Expr>,
    /// Number of values of each target, over symbols: target `k` is in `0..slots[k]`.
    pub slots: Vec<Expr>,
    /// Value of each target at the slot with the physical indices `Var::Physical`, in the order of `targets`. In a
    /// gap between storage axes the value is out of range, or belongs to a neighboring slot.
    pub at: Vec<Expr>,
    /// Components of the layout, ordered by their first axis.
    pub components: Vec<LayoutComponent>,
}

impl Layout {
    /// Decomposes the layout into independent components, to search for the element in a slot.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`] if an expression would be too large, [`ExprError::Overflow`] if a constant overflows.
    pub fn decompose(&self) -> Result<LayoutDecomposition, ExprError> {
        let strided = self.is_strided();
        let targets =
            if strided { alloc::vec![self.offset.clone()] } else { self.storage_map.clone() };
        let slots: Vec<Expr> = if strided {
            alloc::vec![self.physical_elements.clone()]
        } else {
            self.storage.iter().map(|axis| axis.extent.clone()).collect()
        };
        let at = self.targets_at(strided)?;
        let extents: Vec<Expr> = self.logical.iter().map(|axis| axis.extent.clone()).collect();
        let facts = self.facts()?;
        let mut of_targets = Facts::new(&self.symbols);
        for (k, slots) in (0_u32..).zip(&slots) {
            of_targets.set_extent(Var::Storage(k), slots)?;
        }
        let within = self.domain.as_ref().map(Predicate::margins).transpose()?.unwrap_or_default();
        let claim = Claim {
            extents: &extents,
            targets: &targets,
            slots: &slots,
            facts: &facts,
            within: &within,
            origin: &[],
        };
        let mut parts = Vec::new();
        for component in components(extents.len(), &targets, &within) {
            let solved = solve_axes(claim, &component)?;
            let index = |axis: &usize| {
                let index = solved.iter().flatten().find(|(own, _)| own == axis)?;
                Some(of_targets.simplify(&index.1))
            };
            let inverse = match &solved {
                Some(_) => component.axes.iter().map(index).collect::<Option<Result<_, _>>>(),
                None => None,
            };
            let within = component.within(&within);
            let (axes, targets) = (component.axes, component.targets);
            parts.push(LayoutComponent { axes, targets, within, inverse: inverse.transpose()? });
        }
        Ok(LayoutDecomposition { targets, slots, at, components: parts })
    }

    /// Facts about the symbols and the extents of the logical axes.
    pub(crate) fn facts(&self) -> Result<Facts, ExprError> {
        let mut facts = Facts::new(&self.symbols);
        for (k, axis) in (0_u32..).zip(&self.logical) {
            facts.set_extent(Var::Axis(k), &axis.extent)?;
        }
        Ok(facts)
    }

    /// Value of each target at the slot with the physical indices `Var::Physical`. The targets are the storage indices,
    /// one per storage axis; if `strided` (see [`Layout::is_strided`]), the only target is the offset, the sum of the
    /// physical indices times their strides.
    fn targets_at(&self, strided: bool) -> Result<Vec<Expr>, ExprError> {
        use crate::expr::BinOp::{Add, FloorDiv, Mod, Mul, Sub};
        let physical = |g: usize| {
            let axis = u32::try_from(g).map_err(|_| ExprError::Overflow)?;
            Ok::<Expr, ExprError>(Expr::var(Var::Physical(axis)))
        };
        if strided {
            let mut offset = Expr::constant(0);
            for (g, stride) in self.physical_strides.iter().enumerate() {
                offset = Expr::binary(Add, &offset, &Expr::binary(Mul, &physical(g)?, stride)?)?;
            }
            return Ok(alloc::vec![Facts::new(&self.symbols).simplify(&offset)?]);
        }
        let groups = groups(self.storage.len(), &self.separators);
        let last = groups.len().saturating_sub(1);
        let mut at = Vec::new();
        for (g, group) in groups.into_iter().enumerate() {
            let mut rest = physical(g)?;
            if g == last {
                if let Some(swizzle) = self.swizzle {
                    rest = swizzle.apply(&rest)?;
                }
                if self.lead.as_const() != Some(0) {
                    rest = Expr::binary(Sub, &rest, &self.lead)?;
                }
            }
            let pitch = self.physical_strides.get(g).ok_or(ExprError::Unbound)?;
            for k in group {
                let stride = self.strides.get(k).ok_or(ExprError::Unbound)?;
                // Stride of the storage axis in steps of its physical axis.
                let step = match (stride.as_const(), pitch.as_const()) {
                    (Some(stride), Some(pitch)) => Expr::constant(stride / pitch.max(1)),
                    _ => Expr::binary(FloorDiv, stride, pitch)?,
                };
                if step.as_const() == Some(1) {
                    at.push(rest.clone());
                    rest = Expr::constant(0);
                    continue;
                }
                at.push(Expr::binary(FloorDiv, &rest, &step)?);
                rest = Expr::binary(Mod, &rest, &step)?;
            }
        }
        Ok(at)
    }
}
