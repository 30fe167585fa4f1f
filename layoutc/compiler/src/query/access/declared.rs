//! Reports on the declared accesses of a tensor.

use serde_json::{Value, json};

use super::{requests_text, sectors_text, wavefronts_text};
use crate::manifest::syntax::Memory;
use crate::model::{Tensor, WarpAccess};
use crate::warp::{SectorCost, bank_cost, sector_cost};

/// Counts of one declared access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeclaredAccess {
    name: String,
    direction: &'static str,
    gpu: &'static str,
    /// Number of bytes that a lane accesses.
    bytes: i64,
    requests: i64,
    cost: AccessCost,
}

/// Sums over the requests of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessCost {
    /// Wavefronts of shared memory, and the least number of them.
    Banks { wavefronts: i64, least: i64 },
    /// Sectors and lines of global memory.
    Sectors(SectorCost),
    /// The memory of the tensor has neither banks nor sectors.
    None,
}

impl DeclaredAccess {
    /// Reports on the accesses of a tensor, in their order.
    pub(super) fn all(tensor: &Tensor) -> Vec<Self> {
        tensor.accesses.iter().filter_map(|access| Self::new(tensor, access)).collect()
    }

    fn new(tensor: &Tensor, access: &WarpAccess) -> Option<Self> {
        let slots = access.slots(&tensor.layout, tensor.dtype.element_bits()).ok()?;
        let requests = || slots.requests.iter().map(|lanes| slots.request(lanes, |slot| slot));
        let alignment = i64::try_from(tensor.layout.alignment_bytes()).unwrap_or(i64::MAX);
        let cost = match tensor.memory {
            Memory::Shared => {
                let costs = requests().map(|r| bank_cost(&r, slots.direction, slots.memory));
                let (mut wavefronts, mut least) = (0, 0);
                for cost in costs {
                    wavefronts += cost.wavefronts;
                    least += cost.least;
                }
                AccessCost::Banks { wavefronts, least }
            }
            Memory::Global | Memory::Constant => {
                let costs = requests().map(|r| sector_cost(&r, alignment, slots.memory));
                let mut sum = SectorCost { sectors: 0, least: 0, lines: 0, bytes: 0 };
                for cost in costs {
                    sum.sectors += cost.sectors;
                    sum.least += cost.least;
                    sum.lines += cost.lines;
                    sum.bytes += cost.bytes;
                }
                AccessCost::Sectors(sum)
            }
            _ => AccessCost::None,
        };
        Some(Self {
            name: access.name.clone(),
            direction: access.direction.word(),
            gpu: slots.memory.name,
            bytes: requests().next().map_or(0, |request| request.bytes),
            requests: i64::try_from(slots.requests.len()).unwrap_or(i64::MAX),
            cost,
        })
    }

    /// Line of a text report: `ldmatrix: reads 16 bytes a lane; 4 requests, 16 wavefronts, no conflicts (nvidia)`.
    pub(super) fn text(&self) -> String {
        let counts = match self.cost {
            AccessCost::Banks { wavefronts, least } => {
                format!(", {}", wavefronts_text(wavefronts, least))
            }
            AccessCost::Sectors(SectorCost { sectors, least, .. }) => {
                format!(", {}", sectors_text(sectors, least))
            }
            AccessCost::None => String::new(),
        };
        let requests = requests_text(self.direction, self.bytes, self.requests);
        format!("{}: {requests}{counts} ({})", self.name, self.gpu)
    }

    /// Object of a JSON report.
    pub(super) fn json(&self) -> Value {
        let mut object = json!({
            "name": self.name,
            "direction": self.direction,
            "gpu": self.gpu,
            "lane_bytes": self.bytes,
            "requests": self.requests,
        });
        match self.cost {
            AccessCost::Banks { wavefronts, least } => {
                object["wavefronts"] = wavefronts.into();
                object["bank_conflicts"] = (wavefronts - least).into();
            }
            AccessCost::Sectors(cost) => {
                object["sectors"] = cost.sectors.into();
                object["least_sectors"] = cost.least.into();
                object["lines"] = cost.lines.into();
                object["bytes"] = cost.bytes.into();
            }
            AccessCost::None => {}
        }
        object
    }
}
