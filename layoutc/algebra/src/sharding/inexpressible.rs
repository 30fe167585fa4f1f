//! Reasons that a sharding has no equivalent in another form.

use alloc::format;
use alloc::string::String;

use thiserror::Error;

use super::iota::{IotaError, TileBoundaryError};
use super::order::LISTED;

/// Feature of a sharding that the requested form lacks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShardingInexpressible {
    /// A list of devices that is too long.
    #[error("a list of {devices} devices: at most {LISTED} are listed")]
    Devices {
        /// Number of devices.
        devices: i64,
    },
    /// An order of devices that no row-major mesh has.
    #[error("this order of devices: {0}")]
    Order(#[from] IotaError),
    /// Tiles that end within a run of devices.
    #[error("these tiles: {0}")]
    Uncut(#[from] TileBoundaryError),
    /// A shard group.
    #[error("`shard_as` and `shard_like`")]
    Group,
    /// A tensor that is manual or unreduced as a whole, without a mesh.
    #[error("`{{{word}}}` without a mesh")]
    Mesh {
        /// XLA's keyword.
        word: &'static str,
    },
    /// A sharding that is still unknown.
    #[error("`{{unknown}}`")]
    Unknown,
    /// The whole tensor on one device.
    #[error("all of a tensor on device {device}")]
    Maximal {
        /// Device number.
        device: i64,
    },
    /// Devices whose contents the program manages.
    #[error("`manual` devices, whose contents the program manages")]
    Manual,
    /// A rank that differs from the tensor's.
    #[error("{} for {}", axes(*given), axes(*wanted))]
    Rank {
        /// Rank of the sharding.
        given: usize,
        /// Rank of the tensor.
        wanted: usize,
    },
    /// A name that the target language cannot quote.
    #[error("a mesh axis named `{name}`")]
    Name {
        /// Name of the mesh axis.
        name: String,
    },
}

impl ShardingInexpressible {
    /// A change that works.
    pub fn help(&self) -> String {
        match self {
            Self::Devices { .. } => "write the range: `<=[8]`, `<=[2,4]T(1,0)`".into(),
            Self::Order(_) | Self::Uncut(_) => {
                "V1 lists the devices, and V3 has `device_ids` for it: `--to xla-v3`".into()
            }
            Self::Group => "leave the group out".into(),
            Self::Mesh { word } => format!("write the mesh: `{{mesh['a'=2,'b'=4], {word}}}`"),
            Self::Unknown => "write what it will be: `{replicated}`, `{devices=[2,1]<=[2]}`".into(),
            Self::Maximal { .. } => "`{replicated}` puts all of it on every device".into(),
            Self::Manual => "leave the subgroup out, and its devices".into(),
            Self::Rank { .. } => {
                "write a number of tiles for each axis, 1 for those not cut".into()
            }
            Self::Name { .. } => "write letters, digits and `_`".into(),
        }
    }
}

fn axes(count: usize) -> String {
    match count {
        1 => "1 axis".into(),
        _ => format!("{count} axes"),
    }
}
