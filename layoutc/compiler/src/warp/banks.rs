//! Bank conflicts of shared memory.

use std::collections::BTreeMap;

use super::{AccessDirection, WarpRequest};
use crate::machine::GpuMemory;

/// Cost of one request to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankCost {
    /// Number of wavefronts: passes over the banks, each of which serves one word of each bank.
    pub wavefronts: i64,
    /// Number of wavefronts without conflicts: one for each group of lanes that the hardware serves together.
    pub least: i64,
    /// Two lanes that access different words of one bank; `None` without a conflict.
    pub conflict: Option<BankConflict>,
}

/// Two lanes of a request whose words are different and in one bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankConflict {
    /// Number of the bank.
    pub bank: i64,
    /// The two lanes.
    pub lanes: [usize; 2],
}

/// Bank of the byte at `address`: `address / 4 % 32` on the GPUs of the machine model.
pub fn bank(address: i64, memory: &GpuMemory) -> i64 {
    address.div_euclid(memory.bank_bytes).rem_euclid(memory.banks)
}

/// Cost of a request. Lanes are served in groups whose bytes fill all banks once: the whole warp for accesses of up to
/// 4 bytes, 16 lanes for 8 bytes, 8 lanes for 16 bytes, with 32 banks of 4 bytes. A group takes as many wavefronts as
/// the bank with the most different words has words; lanes that access the same word share it.
pub fn bank_cost(
    request: &WarpRequest,
    direction: AccessDirection,
    memory: &GpuMemory,
) -> BankCost {
    let group = memory.banks * memory.bank_bytes / request.bytes.max(memory.bank_bytes);
    let group = usize::try_from(group).unwrap_or(1).max(1);
    let mut cost = BankCost { wavefronts: 0, least: 0, conflict: None };
    for lanes in lanes(request, direction, memory).chunks(group) {
        let (most, conflict) = group_cost(request, lanes, memory);
        cost.wavefronts += most;
        cost.least += most.min(1);
        cost.conflict = cost.conflict.or(conflict);
    }
    cost
}

/// Lanes in the order in which they are served, of as many whole groups as have a lane of the request.
fn lanes(request: &WarpRequest, direction: AccessDirection, memory: &GpuMemory) -> Vec<usize> {
    let count = request.addresses.len();
    let is_wide = direction == AccessDirection::Read && request.bytes == memory.access_bytes;
    let order = memory.wide_read_order;
    if !is_wide || order.is_empty() {
        return (0..count).collect();
    }
    let period = order.len();
    let served = (0..count.next_multiple_of(period)).map(|k| {
        let within = order.get(k % period).and_then(|lane| usize::try_from(*lane).ok());
        k / period * period + within.unwrap_or(k % period)
    });
    served.collect()
}

/// Number of wavefronts of a group of lanes, 0 if none is active, and a conflict if there is one.
fn group_cost(
    request: &WarpRequest,
    lanes: &[usize],
    memory: &GpuMemory,
) -> (i64, Option<BankConflict>) {
    let mut words: BTreeMap<i64, usize> = BTreeMap::new();
    for lane in lanes {
        let Some(Some(address)) = request.addresses.get(*lane) else { continue };
        let last = address + request.bytes - 1;
        let range = address.div_euclid(memory.bank_bytes)..=last.div_euclid(memory.bank_bytes);
        for word in range {
            words.entry(word).or_insert(*lane);
        }
    }
    let mut banks: BTreeMap<i64, (i64, usize)> = BTreeMap::new();
    let mut conflict = None;
    for (word, lane) in words {
        let bank = word.rem_euclid(memory.banks);
        let (count, first) = banks.entry(bank).or_insert((0, lane));
        *count += 1;
        if *count > 1 && conflict.is_none() {
            conflict = Some(BankConflict { bank, lanes: [*first, lane] });
        }
    }
    (banks.values().map(|(count, _)| *count).max().unwrap_or(0), conflict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{AMD, NVIDIA};

    fn request(lanes: i64, bytes: i64, stride: i64) -> WarpRequest {
        WarpRequest { addresses: (0..lanes).map(|lane| Some(lane * stride)).collect(), bytes }
    }

    fn wavefronts(request: &WarpRequest, memory: &GpuMemory) -> (i64, i64) {
        let cost = bank_cost(request, AccessDirection::Read, memory);
        assert_eq!(cost.conflict.is_some(), cost.wavefronts > cost.least);
        (cost.wavefronts, cost.least)
    }

    #[test]
    fn strides_in_words_conflict_by_their_common_factor_with_the_banks() {
        for stride in 1_i64..=64 {
            let shared = 1 << stride.trailing_zeros().min(5);
            assert_eq!(wavefronts(&request(32, 4, 4 * stride), &NVIDIA), (shared, 1));
        }
    }

    #[test]
    fn wide_accesses_are_served_in_groups() {
        assert_eq!(wavefronts(&request(32, 8, 8), &NVIDIA), (2, 2));
        assert_eq!(wavefronts(&request(32, 16, 16), &NVIDIA), (4, 4));
        assert_eq!(wavefronts(&request(64, 4, 4), &AMD), (2, 2));
        assert_eq!(wavefronts(&request(64, 16, 16), &AMD), (8, 8));
        // Rows of 128 bytes: 8 lanes access the same four banks.
        assert_eq!(wavefronts(&request(32, 16, 128), &NVIDIA), (32, 4));
    }

    #[test]
    fn lanes_share_words() {
        assert_eq!(wavefronts(&request(32, 4, 0), &NVIDIA), (1, 1));
        assert_eq!(wavefronts(&request(32, 1, 1), &NVIDIA), (1, 1));
        assert_eq!(wavefronts(&request(32, 2, 2), &NVIDIA), (1, 1));
        let inactive = WarpRequest { addresses: vec![None; 32], bytes: 4 };
        assert_eq!(wavefronts(&inactive, &NVIDIA), (0, 0));
    }

    #[test]
    fn wide_reads_of_amd_serve_distant_lanes_together() {
        // Lanes 16 to 23 have their two halves swapped: lanes 20 to 23 access the banks of lanes 0 to 3, and lanes 16 to
        // 19 those of lanes 4 to 7.
        let addresses =
            |lane: i64| Some((lane * 16) ^ if (16..24).contains(&lane) { 64 } else { 0 });
        let request = WarpRequest { addresses: (0..64).map(addresses).collect(), bytes: 16 };
        let cost = |direction| bank_cost(&request, direction, &AMD).wavefronts;
        assert_eq!((cost(AccessDirection::Read), cost(AccessDirection::Write)), (10, 8));
    }
}
