//! Sectors of global memory that a warp accesses: coalescing.

use std::collections::BTreeSet;

use super::WarpRequest;
use crate::machine::GpuMemory;

/// Cost of one request to global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectorCost {
    /// Number of sectors that the request touches.
    pub sectors: i64,
    /// Number of sectors that the bytes of the request would fill.
    pub least: i64,
    /// Number of cache lines that the request touches.
    pub lines: i64,
    /// Number of different bytes that the request accesses.
    pub bytes: i64,
}

/// Cost of a request at the worst base address that is a multiple of `alignment` bytes, to which the addresses of the
/// request are relative.
pub fn sector_cost(request: &WarpRequest, alignment: i64, memory: &GpuMemory) -> SectorCost {
    let bases = (0..memory.line_bytes).step_by(usize::try_from(alignment).unwrap_or(1).max(1));
    let worst = bases.map(|base| at_base(request, base, memory)).max_by_key(|cost| cost.sectors);
    worst.unwrap_or(SectorCost { sectors: 0, least: 0, lines: 0, bytes: 0 })
}

fn at_base(request: &WarpRequest, base: i64, memory: &GpuMemory) -> SectorCost {
    let mut bytes = BTreeSet::new();
    for address in request.addresses.iter().flatten() {
        bytes.extend((0..request.bytes).map(|byte| base + address + byte));
    }
    let units = |size: i64| {
        let units: BTreeSet<i64> = bytes.iter().map(|byte| byte.div_euclid(size)).collect();
        count(units.len())
    };
    let all = count(bytes.len());
    SectorCost {
        sectors: units(memory.sector_bytes),
        least: (all + memory.sector_bytes - 1) / memory.sector_bytes,
        lines: units(memory.line_bytes),
        bytes: all,
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NVIDIA;

    #[test]
    fn sectors_follow_the_stride_and_the_base() {
        let cost = |stride: i64, bytes, alignment| {
            let addresses = (0..32).map(|lane| Some(lane * stride)).collect();
            let cost = sector_cost(&WarpRequest { addresses, bytes }, alignment, &NVIDIA);
            (cost.sectors, cost.least, cost.lines)
        };
        assert_eq!(cost(4, 4, 128), (4, 4, 1));
        assert_eq!(cost(8, 4, 128), (8, 4, 2));
        assert_eq!(cost(32, 4, 128), (32, 4, 8));
        assert_eq!(cost(16, 16, 128), (16, 16, 4));
        assert_eq!(cost(0, 4, 64), (1, 1, 1));
        // A base that is aligned to 4 bytes only shifts the run over five sectors.
        assert_eq!(cost(4, 4, 4).0, 5);
    }
}
