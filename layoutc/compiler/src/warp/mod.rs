//! Memory accesses of a warp, the threads of a GPU that execute one instruction together: bank conflicts of shared
//! memory, and sectors of global memory.

mod banks;
mod search;
mod sectors;

pub use banks::{BankConflict, BankCost, bank, bank_cost};
pub use search::{
    Arrangement, ArrangementCost, TileSlots, cost_of, fewest_by_padding, fewest_by_swizzle,
    fewest_conflicts,
};
pub use sectors::{SectorCost, sector_cost};

/// Direction of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessDirection {
    /// Load.
    Read,
    /// Store.
    Write,
}

impl AccessDirection {
    /// Directions by their words in manifests.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("read", Self::Read), ("write", Self::Write)];

    /// Word in manifests: `read` or `write`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// One memory instruction of a warp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarpRequest {
    /// Address of the first byte that each lane accesses, in lane order; `None` for an inactive lane.
    pub addresses: Vec<Option<i64>>,
    /// Number of bytes that each active lane accesses.
    pub bytes: i64,
}
