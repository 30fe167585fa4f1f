//! Result that CuTe itself computes for a composition of A after B, correct or not.
//!
//! Source: CUTLASS, `composition_impl` of cute/layout.hpp. It splits each mode of B along the modes of A,
//! with quotients rounded up. It requires that a stride is below an extent or a multiple of it, and that a
//! run of constant steps divides its mode; it checks neither carries nor the interaction with other modes of
//! B.

use alloc::vec::Vec;

use super::composition_check::{Agreement, InnerMode, ceil, check_composition};
use super::error::CuteReferenceResult;
use super::flat::{CuteMode, merged};
use super::layout::{CuteLayout, ModeTree};

/// Result that CuTe computes for A after B, if it is proven wrong; `None` if it is not, or CuTe has no result.
pub(super) fn wrong_reference_result(
    a: &CuteLayout,
    b: &CuteLayout,
) -> Option<CuteReferenceResult> {
    let outer = merged(&a.flat());
    let mut cut: Vec<CuteMode> = outer.iter().copied().filter(|mode| mode.extent > 1).collect();
    if cut.is_empty() {
        cut.push(CuteMode::UNIT);
    }
    let mut leaves = Vec::new();
    let layout = CuteLayout::from_node(compose_as_cute(&cut, b.node(), &mut leaves)?).ok()?;
    match check_composition(&outer, &leaves) {
        Ok(Agreement::Differs { index, right, given }) => {
            Some(CuteReferenceResult { layout, index, given, right })
        }
        Ok(Agreement::Equal | Agreement::Unknown { .. }) | Err(_) => None,
    }
}

fn compose_as_cute(
    outer: &[CuteMode],
    node: &ModeTree,
    leaves: &mut Vec<InnerMode>,
) -> Option<ModeTree> {
    let mode = match node {
        ModeTree::List(list) => {
            let parts = list.iter().map(|node| compose_as_cute(outer, node, leaves));
            return parts.collect::<Option<Vec<ModeTree>>>().map(ModeTree::List);
        }
        ModeTree::Mode(mode) => mode,
    };
    let mut modes = Vec::new();
    let (mut extent, mut stride, mut reach) = (mode.extent, mode.stride, mode.stride);
    let (last, before) = outer.split_last()?;
    if stride != 0 {
        for one in before {
            if stride >= one.extent && stride % one.extent != 0 {
                return None;
            }
            let (next, step) = (ceil(one.extent, stride), ceil(stride, one.extent));
            if next > 1 && extent > 1 {
                let run = next.min(extent);
                if extent % run != 0 {
                    return None;
                }
                modes.push(CuteMode::new(run, stride.checked_mul(one.stride)?));
                leaves.push(InnerMode {
                    extent: run,
                    reach,
                    adds: stride.checked_mul(one.stride)?,
                });
                extent /= run;
                reach = reach.checked_mul(run)?;
            }
            stride = step;
        }
    }
    if extent > 1 || modes.is_empty() {
        let adds = stride.checked_mul(last.stride)?;
        modes.push(CuteMode::new(extent, adds));
        leaves.push(InnerMode { extent, reach, adds });
    }
    Some(ModeTree::of(&modes))
}
