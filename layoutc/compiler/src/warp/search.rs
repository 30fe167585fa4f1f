//! Search for the arrangement of a tile in shared memory with the fewest bank conflicts: an XOR swizzle of the element
//! offset, or padding after each row.

use layoutc_algebra::layout::swizzle::Swizzle;

use super::{AccessDirection, WarpRequest, bank_cost};
use crate::machine::GpuMemory;

/// Accesses of warps to a tile, by the slots of the elements.
#[derive(Debug, Clone)]
pub struct TileSlots {
    /// Requests; each has, for each lane, the slot of the first element that the lane accesses, or `None`.
    pub requests: Vec<Vec<Option<i128>>>,
    /// Number of adjacent elements that a lane accesses, a power of two.
    pub vector: i128,
    /// Size of an element in bits.
    pub element_bits: u32,
    /// Direction of the access.
    pub direction: AccessDirection,
    /// Memory system of the GPU.
    pub memory: &'static GpuMemory,
}

/// Arrangement of the slots of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Slots as they are.
    Plain,
    /// Slots permuted by a swizzle of element offsets.
    Swizzle(Swizzle),
    /// This many slots of padding after each row.
    RowPadding(i128),
}

impl Arrangement {
    /// Step of a layout that gives the arrangement, `swizzle 3 3 3 unit=elements`; `axis` is the name of the last storage
    /// axis. `None` for no change.
    pub fn step(self, axis: &str) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::Swizzle(swizzle) => {
                let (bits, base, shift) = (swizzle.bits(), swizzle.base(), swizzle.shift());
                Some(format!("swizzle {bits} {base} {shift} unit=elements"))
            }
            Self::RowPadding(padding) => Some(format!("pad {axis} after={padding}")),
        }
    }
}

/// Number of wavefronts of all requests, and the number that they take without conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrangementCost {
    /// Number of wavefronts.
    pub wavefronts: i64,
    /// Number of wavefronts without conflicts.
    pub least: i64,
}

impl ArrangementCost {
    /// Number of wavefronts that conflicts add.
    pub fn conflicts(self) -> i64 {
        self.wavefronts - self.least
    }
}

/// Arrangement of a tile of `slots` slots, in rows of `row` slots, with the fewest wavefronts over all `accesses`: the
/// plain one if it has no conflicts, else the swizzle of [`fewest_by_swizzle`], else, if that still has conflicts and
/// takes more wavefronts, the row padding of [`fewest_by_padding`].
pub fn fewest_conflicts(
    accesses: &[TileSlots],
    (slots, row): (i128, i128),
) -> (Arrangement, ArrangementCost) {
    let mut best = (Arrangement::Plain, cost_of(accesses, row, Arrangement::Plain));
    for search in [fewest_by_swizzle, fewest_by_padding] {
        if best.1.conflicts() == 0 {
            break;
        }
        if let Some(found) = search(accesses, (slots, row))
            && found.1.wavefronts < best.1.wavefronts
        {
            best = found;
        }
    }
    best
}

/// Swizzle `Swizzle<B, M, S>` of a tile of `slots` slots with the fewest wavefronts over all `accesses`, of all that
/// keep the vectors of the accesses contiguous. Among equals, the first in this order: fewest added slots, fewest bits,
/// positive shift, least shift, least base. `None` if there is none.
pub fn fewest_by_swizzle(
    accesses: &[TileSlots],
    (slots, row): (i128, i128),
) -> Option<(Arrangement, ArrangementCost)> {
    let mut swizzles = swizzles(longest_vector(accesses), slots);
    swizzles.sort_by_key(|swizzle| {
        let reach = swizzle.reach(Some(slots));
        let grown = (slots + reach - 1) / reach * reach - slots;
        (grown, swizzle.bits(), swizzle.shift() < 0, swizzle.shift().unsigned_abs(), swizzle.base())
    });
    least(accesses, row, swizzles.into_iter().map(Arrangement::Swizzle))
}

/// Row padding with the fewest wavefronts over all `accesses`, of all that are whole vectors of at most one pass over the
/// banks; the shortest among equals. `None` if there is none.
pub fn fewest_by_padding(
    accesses: &[TileSlots],
    (_, row): (i128, i128),
) -> Option<(Arrangement, ArrangementCost)> {
    let vector = longest_vector(accesses);
    let paddings = (1..).map(|k| k * vector).take_while(|pad| *pad <= most_padding(accesses));
    least(accesses, row, paddings.map(Arrangement::RowPadding))
}

/// First of the arrangements with the fewest wavefronts.
fn least(
    accesses: &[TileSlots],
    row: i128,
    arrangements: impl Iterator<Item = Arrangement>,
) -> Option<(Arrangement, ArrangementCost)> {
    let mut best: Option<(Arrangement, ArrangementCost)> = None;
    for arrangement in arrangements {
        let limit = best.map_or(i64::MAX, |(_, best)| best.wavefronts);
        let Some(cost) = cost_below(accesses, row, arrangement, limit) else { continue };
        best = Some((arrangement, cost));
        if cost.conflicts() == 0 {
            break;
        }
    }
    best
}

/// Length of the longest vector of all accesses, in elements.
fn longest_vector(accesses: &[TileSlots]) -> i128 {
    accesses.iter().map(|access| access.vector).max().unwrap_or(1)
}

/// Swizzles of offsets below `slots` whose lowest bit selects whole vectors of `vector` elements.
fn swizzles(vector: i128, slots: i128) -> Vec<Swizzle> {
    let top = i128::from(128 - (slots - 1).max(0).leading_zeros());
    let lowest = i128::from(vector.trailing_zeros());
    let mut all = Vec::new();
    for bits in 1..=top {
        for base in lowest..top {
            let reach = top - base - bits;
            for shift in (bits..=reach).flat_map(|shift| [shift, -shift]) {
                all.extend(Swizzle::new(bits, base, shift));
            }
        }
    }
    all
}

/// Largest padding of a row that is tried, in elements: one pass over the banks.
fn most_padding(accesses: &[TileSlots]) -> i128 {
    let bits = |access: &TileSlots| {
        let bank_bits = i128::from(access.memory.banks * access.memory.bank_bytes * 8);
        bank_bits / i128::from(access.element_bits.max(1))
    };
    accesses.iter().map(bits).max().unwrap_or(0)
}

/// Cost of all `accesses` to a tile in rows of `row` slots with the given arrangement.
pub fn cost_of(accesses: &[TileSlots], row: i128, arrangement: Arrangement) -> ArrangementCost {
    let none = ArrangementCost { wavefronts: 0, least: 0 };
    cost_below(accesses, row, arrangement, i64::MAX).unwrap_or(none)
}

/// Cost as in [`cost_of`]; `None` if it has `limit` wavefronts or more.
fn cost_below(
    accesses: &[TileSlots],
    row: i128,
    arrangement: Arrangement,
    limit: i64,
) -> Option<ArrangementCost> {
    let slot = |slot: i128| match arrangement {
        Arrangement::Plain => slot,
        Arrangement::Swizzle(swizzle) => swizzle.at(slot),
        Arrangement::RowPadding(padding) => slot + slot.div_euclid(row.max(1)) * padding,
    };
    let mut sum = ArrangementCost { wavefronts: 0, least: 0 };
    for access in accesses {
        for request in &access.requests {
            let cost = bank_cost(&access.request(request, slot), access.direction, access.memory);
            sum.wavefronts += cost.wavefronts;
            sum.least += cost.least;
            if sum.wavefronts >= limit {
                return None;
            }
        }
    }
    Some(sum)
}

impl TileSlots {
    /// Slots before the swizzle `swizzle` of the layout; unchanged without one. A swizzle is its own inverse.
    #[must_use]
    pub fn unswizzled(mut self, swizzle: Option<Swizzle>) -> Self {
        if let Some(swizzle) = swizzle {
            let slots = self.requests.iter_mut().flatten();
            slots.for_each(|slot| *slot = slot.map(|slot| swizzle.at(slot)));
        }
        self
    }

    /// Request in bytes of the lanes whose elements have the slots `slots`, mapped by `arranged`.
    pub fn request(&self, slots: &[Option<i128>], arranged: impl Fn(i128) -> i128) -> WarpRequest {
        let bits = i128::from(self.element_bits);
        let address = |slot: i128| i64::try_from(arranged(slot) * bits / 8).unwrap_or(i64::MAX / 2);
        WarpRequest {
            addresses: slots.iter().map(|slot| slot.map(address)).collect(),
            bytes: i64::try_from((self.vector * bits / 8).max(1)).unwrap_or(i64::MAX),
        }
    }
}
