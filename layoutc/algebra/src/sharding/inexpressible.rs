//! Reasons why a sharding has no equivalent in another form or language.

use alloc::format;
use alloc::string::String;

use thiserror::Error;

use super::iota::{IotaError, TileBoundaryError};
use super::order::LISTED;

/// Feature of a sharding that the requested form cannot express.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShardingInexpressible {
    /// The conversion requires a list of the devices, but there are too many: more than [`LISTED`], or more than the
    /// argument `most` of [`DevicePlacement::shards`](super::DevicePlacement::shards).
    #[error("a list of {devices} devices: at most {LISTED} are listed")]
    Devices {
        /// Number of devices of the sharding.
        devices: i64,
    },
    /// The order of devices is not a reshaped and transposed iota, so that no row-major mesh has it. An example is
    /// `0,1,3,2`.
    #[error("this order of devices: {0}")]
    Order(#[from] IotaError),
    /// The tiles of an axis end within a digit of the device order, and do not split it evenly. No mesh axes correspond
    /// to such tiles: `{devices=[4,3]<=[2,6]T(1,0)}` has 4 tiles in a digit of size 6.
    #[error("these tiles: {0}")]
    Uncut(#[from] TileBoundaryError),
    /// The sharding belongs to a shard group, written `shard_as` or `shard_like`.
    #[error("`shard_as` and `shard_like`")]
    Group,
    /// The whole tensor is manual or unreduced, written `{manual}` or `{unreduced}`, and the sharding has no mesh whose
    /// axes could be named.
    #[error("`{{{word}}}` without a mesh")]
    Mesh {
        /// Keyword of XLA for the placement: `manual` or `unreduced`.
        word: &'static str,
    },
    /// XLA has not determined the sharding yet, written `{unknown}`.
    #[error("`{{unknown}}`")]
    Unknown,
    /// The whole tensor is on one device, which is not a sharding over a mesh.
    #[error("all of a tensor on device {device}")]
    Maximal {
        /// Number of the device that holds the whole tensor.
        device: i64,
    },
    /// The program, not XLA, manages the contents of devices: of all devices, written `{manual}`, or of those in a
    /// `manual` subgroup.
    #[error("`manual` devices, whose contents the program manages")]
    Manual,
    /// The rank of the sharding differs from that of the tensor.
    #[error("{} for {}", axes(*given), axes(*wanted))]
    Rank {
        /// Number of axes of the sharding.
        given: usize,
        /// Number of axes of the tensor.
        wanted: usize,
    },
    /// The target language cannot quote the name of a mesh axis, because the name contains a quote, a backslash or a
    /// control character.
    #[error("a mesh axis named `{name}`")]
    Name {
        /// Name of the mesh axis that cannot be quoted.
        name: String,
    },
}

impl ShardingInexpressible {
    /// Help text for the user: a change of the sharding or of its text that avoids the problem.
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
