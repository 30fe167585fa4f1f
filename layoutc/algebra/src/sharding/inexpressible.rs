//! Why a sharding cannot be said in another way.

use alloc::format;
use alloc::string::String;

use thiserror::Error;

use super::iota::{IotaError, TileBoundaryError};
use super::order::LISTED;

/// What is lacking.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShardingInexpressible {
    /// A list of devices would be too long.
    #[error("a list of {devices} devices: at most {LISTED} are listed")]
    Devices {
        /// How many there are.
        devices: i64,
    },
    /// The devices are in no order of a row-major mesh.
    #[error("this order of devices: {0}")]
    Order(#[from] IotaError),
    /// Tiles end within a row of devices.
    #[error("these tiles: {0}")]
    Uncut(#[from] TileBoundaryError),
    /// A group of tensors.
    #[error("`shard_as` and `shard_like`")]
    Group,
    /// A tensor that is manual or unreduced as a whole, on no mesh that is known.
    #[error("`{{{word}}}` without a mesh")]
    Mesh {
        /// XLA's word.
        word: &'static str,
    },
    /// A sharding that is not known yet.
    #[error("`{{unknown}}`")]
    Unknown,
    /// All of it on one device.
    #[error("all of a tensor on device {device}")]
    Maximal {
        /// The device.
        device: i64,
    },
    /// Devices that have what the program says by hand.
    #[error("`manual` devices, which have what the program says by hand")]
    Manual,
    /// Another number of axes.
    #[error("{} for {}", axes(*given), axes(*wanted))]
    Rank {
        /// How many axes the sharding is for.
        given: usize,
        /// How many the tensor has.
        wanted: usize,
    },
    /// A name that cannot be written.
    #[error("a mesh axis of the name `{name}`")]
    Name {
        /// The name.
        name: String,
    },
}

impl ShardingInexpressible {
    /// A way out.
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
