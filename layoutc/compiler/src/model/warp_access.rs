//! Declared accesses of warps to a tensor: which element each lane accesses.

use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;

use crate::base::diagnostic::FileSpan;
use crate::machine::GpuVendor;
use crate::warp::{AccessDirection, TileSlots};

/// Access of the warps of a thread block to a tensor, which an `access` node declares. Threads are counted along the
/// first parameter of the map, and each `warp` of them issue one request for each combination of the other parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarpAccess {
    /// Name of the access in the tensor.
    pub name: String,
    /// Span of the `access` node.
    pub place: FileSpan,
    /// Direction of the access.
    pub direction: AccessDirection,
    /// Vendor of the GPU.
    pub vendor: GpuVendor,
    /// Number of adjacent elements that a lane accesses, a power of two.
    pub vector: i128,
    /// Position of the logical axis along which the elements of a vector are adjacent.
    pub along: usize,
    /// Parameters of the map with their extents: the lane first.
    pub params: Vec<(String, i128)>,
    /// Logical index of the first element that a lane accesses, one expression for each axis of the tensor; parameter
    /// `k` is `Var::Storage(k)`.
    pub index: Vec<Expr>,
}

/// Reason why an access does not fit a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WarpAccessFault {
    /// An index along the axis at position `axis` is out of range for the parameters `at`.
    Range {
        /// Values of the parameters.
        at: Vec<i128>,
        /// Position of the logical axis.
        axis: usize,
        /// Index that is out of range.
        index: i128,
        /// Least extent of the axis.
        extent: i128,
    },
    /// An element is excluded by the domain of the tensor.
    Excluded {
        /// Values of the parameters.
        at: Vec<i128>,
        /// Logical index of the element.
        index: Vec<i128>,
    },
    /// The elements of a vector are not in consecutive slots.
    Apart {
        /// Values of the parameters.
        at: Vec<i128>,
        /// Slot of the first element.
        first: i128,
        /// Position in the vector of an element in another slot than `first + position`.
        position: i128,
        /// Slot of that element.
        slot: i128,
    },
    /// The first slot of a vector is not a multiple of its length.
    Misaligned {
        /// Values of the parameters.
        at: Vec<i128>,
        /// Slot of the first element.
        first: i128,
    },
    /// The slot of an element depends on a symbol.
    Symbolic,
    /// Arithmetic of an index failed.
    Arithmetic(ExprError),
}

impl WarpAccess {
    /// Number of threads: the extent of the first parameter.
    pub fn threads(&self) -> i128 {
        self.params.first().map_or(1, |(_, extent)| *extent)
    }

    /// Number of lanes of all requests: the product of the extents of the parameters.
    pub fn lanes(&self) -> i128 {
        self.params.iter().fold(1, |all, (_, extent)| all.saturating_mul(*extent))
    }

    /// Slots of the elements that all requests access in `layout`, with elements of `element_bits` bits.
    ///
    /// # Errors
    /// The first [`WarpAccessFault`], in the order of the requests and lanes.
    pub fn slots(&self, layout: &Layout, element_bits: u32) -> Result<TileSlots, WarpAccessFault> {
        if layout.offset().mentions(&|var| matches!(var, Var::Symbol(_))) {
            return Err(WarpAccessFault::Symbolic);
        }
        let extents = least_extents(layout);
        let iterations = self.params.iter().skip(1).map(|(_, extent)| *extent).product::<i128>();
        let mut requests = Vec::new();
        for request in 0..self.warps() * iterations {
            let lanes = (0..self.warp()).map(|lane| self.params_of(request, lane));
            let slots = lanes.take_while(|at| at.first().is_none_or(|at| *at < self.threads()));
            let slots = slots.map(|at| Ok(Some(self.slot(layout, &at, &extents)?)));
            requests.push(slots.collect::<Result<_, _>>()?);
        }
        Ok(TileSlots {
            requests,
            vector: self.vector,
            element_bits,
            direction: self.direction,
            memory: self.vendor.memory(),
        })
    }

    /// Number of threads of a warp.
    fn warp(&self) -> i128 {
        i128::from(self.vendor.memory().warp)
    }

    /// Number of warps; the last may have fewer threads.
    fn warps(&self) -> i128 {
        (self.threads() + self.warp() - 1) / self.warp()
    }

    /// Values of the parameters for a lane of request number `request`. Requests are numbered by the parameters after
    /// the first, the last one fastest, and within each of their combinations by warp.
    pub fn params_of(&self, request: i128, lane: i128) -> Vec<i128> {
        let mut rest = request / self.warps().max(1);
        let mut at = vec![request % self.warps().max(1) * self.warp() + lane; self.params.len()];
        for (place, (_, extent)) in at.iter_mut().zip(&self.params).skip(1).rev() {
            *place = rest % extent;
            rest /= extent;
        }
        at
    }

    /// Logical index of the first element for the parameters `at`.
    ///
    /// # Errors
    /// [`ExprError`] if an index overflows.
    pub fn element(&self, at: &[i128]) -> Result<Vec<i128>, ExprError> {
        let value = |var| match var {
            Var::Storage(k) => usize::try_from(k).ok().and_then(|k| at.get(k)).copied(),
            _ => None,
        };
        self.index.iter().map(|index| index.evaluate(&value)).collect()
    }

    /// Slot of the first element for the parameters `at`, after a check of the whole vector.
    fn slot(
        &self,
        layout: &Layout,
        at: &[i128],
        extents: &[i128],
    ) -> Result<i128, WarpAccessFault> {
        let index = self.element(at).map_err(WarpAccessFault::Arithmetic)?;
        for (axis, (index, extent)) in index.iter().zip(extents).enumerate() {
            let last = index + if axis == self.along { self.vector - 1 } else { 0 };
            if *index < 0 || last >= *extent {
                let index = if *index < 0 { *index } else { last };
                return Err(WarpAccessFault::Range {
                    at: at.to_vec(),
                    axis,
                    index,
                    extent: *extent,
                });
            }
        }
        let slot_of = |position: i128| {
            let value = |var| match var {
                Var::Axis(k) => {
                    let k = usize::try_from(k).ok()?;
                    let moved = if k == self.along { position } else { 0 };
                    index.get(k).map(|index| index + moved)
                }
                _ => None,
            };
            let is_element = layout.domain().map_or(Ok(true), |domain| domain.evaluate(&value));
            if !is_element.map_err(WarpAccessFault::Arithmetic)? {
                let mut index = index.clone();
                if let Some(along) = index.get_mut(self.along) {
                    *along += position;
                }
                return Err(WarpAccessFault::Excluded { at: at.to_vec(), index });
            }
            layout.offset().evaluate(&value).map_err(WarpAccessFault::Arithmetic)
        };
        let first = slot_of(0)?;
        for position in 1..self.vector {
            let slot = slot_of(position)?;
            if slot != first + position {
                return Err(WarpAccessFault::Apart { at: at.to_vec(), first, position, slot });
            }
        }
        if first.rem_euclid(self.vector) != 0 {
            return Err(WarpAccessFault::Misaligned { at: at.to_vec(), first });
        }
        Ok(first)
    }
}

/// Least extent of each logical axis over all values of the symbols.
fn least_extents(layout: &Layout) -> Vec<i128> {
    let facts = Facts::new(layout.symbols());
    let least = |extent: &Expr| facts.bounds(extent).map_or(0, |(least, _)| least);
    layout.logical().iter().map(|axis| least(&axis.extent)).collect()
}
