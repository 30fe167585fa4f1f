//! Translation of shardings between the notations of XLA and JAX, and computation of the shard of each device.

use std::sync::Arc;

use layoutc_algebra::notation::NotationFault;
use layoutc_algebra::sharding::xla::parse_one;
use layoutc_algebra::sharding::{
    DevicePlacement, Mesh, Sharding, ShardingForm, ShardingInexpressible, TensorSharding, jax,
    part_extent,
};
pub use layoutc_algebra::sharding::{MeshSharding, TensorShard};

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Keyword of the only notation of shardings that is parsed.
pub const READ: &str = "xla-sharding";
/// Pseudo-file that diagnostics name for the parsed text.
const FILE: &str = "<text>";
/// Maximum number of devices whose shards are listed. Beyond it an error message replaces the list.
const MAX_LISTED_DEVICES: i64 = 4096;

/// Notation of a sharding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardingFormat {
    /// XLA's notation, in the given version: `{devices=[2,1]<=[2]}`.
    Xla(ShardingForm),
    /// Python expression that creates the sharding in JAX.
    Jax,
}

impl ShardingFormat {
    /// All notations of shardings, in the order of listings.
    pub const ALL: [Self; 4] = [
        Self::Xla(ShardingForm::V1),
        Self::Xla(ShardingForm::V2),
        Self::Xla(ShardingForm::V3),
        Self::Jax,
    ];

    /// Keyword of the notation on the command line, such as `xla-v2`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Xla(ShardingForm::V1) => "xla-v1",
            Self::Xla(ShardingForm::V2) => "xla-v2",
            Self::Xla(ShardingForm::V3) => "xla-v3",
            Self::Jax => "jax",
        }
    }

    /// Notation with the given keyword; `None` for any other keyword.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.word() == word)
    }
}

/// Sharding that was parsed from a text.
#[derive(Debug, Clone)]
pub struct ParsedSharding {
    placed: TensorSharding,
    shape: Option<Vec<i128>>,
    /// Length of the parsed text in bytes.
    length: usize,
}

/// Sharding printed in a notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSharding {
    /// Text of the sharding in the notation.
    pub text: String,
    /// Notes on information of the parsed text that this text lacks, and on information that this text adds.
    pub notes: Vec<String>,
}

/// Properties of a parsed sharding, and of its shards if the tensor's shape is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardingFacts {
    /// Number of devices of the sharding; `None` if the text does not determine it, as for a replicated tensor.
    pub devices: Option<i64>,
    /// Number of shards along each axis of the tensor, in the order of the axes. `None` if the text does not determine
    /// the numbers (a manual or unknown sharding), or if it fits any rank and the shape is not given.
    pub parts: Option<Vec<i64>>,
    /// Equivalent sharding over the axes of a mesh whose devices are in row-major order: every device has the same
    /// shard. `None` if there is no such mesh, or if it has no axes, as for a replicated tensor.
    pub mesh: Option<MeshSharding>,
    /// Properties of the shards for the shape given to [`read`]; `None` without a shape.
    pub shaped: Option<ShardFacts>,
}

/// Properties of the shards of a tensor with known shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardFacts {
    /// Extents of the largest shard along each axis, in elements; `None` if [`ShardingFacts::parts`] is `None`.
    pub part: Option<Vec<i128>>,
    /// Shards of the tensor, each with the devices that hold it; the list of devices is empty if the text does not
    /// determine them. `Err` holds a message if there are more than 4096 devices, or if the shards cannot be computed.
    pub shards: Result<Vec<TensorShard>, String>,
}

/// Parses a sharding in XLA's notation: `{devices=[2,1]<=[2]}`. `shape` holds the extents of the tensor's axes,
/// outermost first, each at least 0; `None` if unknown.
///
/// # Errors
/// A diagnostic for an invalid text; `notation::axes` if the rank of the sharding differs from that of the shape.
pub fn read(text: &str, shape: Option<&[i64]>) -> Result<ParsedSharding, Box<Diagnostic>> {
    let placed = parse_one(text).map_err(in_text)?;
    if let (Some(rank), Some(shape)) = (placed.placement.rank(), shape)
        && rank != shape.len()
    {
        let lack = ShardingInexpressible::Rank { given: rank, wanted: shape.len() };
        let message = format!("the sharding has {lack}");
        let place = FileSpan::new(&Arc::from(FILE), 0..text.len());
        let diagnostic = Diagnostic::error(Code::NotationAxes, message, place, "");
        return Err(Box::new(diagnostic.help(lack.help())));
    }
    let shape = shape.map(|shape| shape.iter().copied().map(i128::from).collect());
    Ok(ParsedSharding { placed, shape, length: text.len() })
}

/// Prints a sharding in the notation `target`. The printed sharding is proven to give every device the same shard: text
/// for XLA is read back, and a JAX expression is checked by the sharding over a mesh that it denotes.
///
/// # Errors
/// A diagnostic `notation::inexpressible` for a feature that the notation cannot express.
pub fn written(
    read: &ParsedSharding,
    target: ShardingFormat,
) -> Result<WrittenSharding, Box<Diagnostic>> {
    let lacking = |lack: ShardingInexpressible| {
        let message = format!("`{}` cannot express {lack}", target.word());
        let place = FileSpan::new(&Arc::from(FILE), 0..read.length);
        let diagnostic = Diagnostic::error(Code::NotationInexpressible, message, place, "");
        Box::new(diagnostic.help(lack.help()))
    };
    let placed = &read.placed;
    let (text, again) = match target {
        ShardingFormat::Xla(form) => {
            let text = placed.to(form).map_err(lacking)?.to_string();
            let again = parse_one(&text).map_err(in_text)?;
            (text, again)
        }
        ShardingFormat::Jax => {
            let rank = read.shape.as_ref().map(Vec::len);
            let text = jax::expression(placed, rank).map_err(lacking)?;
            let placement = match &placed.placement {
                DevicePlacement::Maximal { .. } | DevicePlacement::MaximalMesh { .. } => {
                    placed.placement.clone()
                }
                placement => DevicePlacement::Named(
                    MeshSharding::of(placement, rank).map_err(lacking)?.named(),
                ),
            };
            (text, TensorSharding { placement, group: None })
        }
    };
    if !again.same(placed).map_err(lacking)? {
        return Err(lacking(ShardingInexpressible::Unknown));
    }
    Ok(WrittenSharding { text, notes: notes(placed, target) })
}

/// Text of a sharding in each of [`ShardingFormat::ALL`]; `None` if the notation cannot express the sharding.
pub fn texts(mesh: &Mesh, sharding: &Sharding) -> Vec<(ShardingFormat, Option<String>)> {
    let (mesh, sharding) = (mesh.clone(), sharding.clone());
    let meshed = MeshSharding { mesh, sharding, unreduced: Vec::new() };
    let placed = TensorSharding { placement: DevicePlacement::Named(meshed.named()), group: None };
    let rank = Some(meshed.sharding.over().len());
    let text = |target| match target {
        ShardingFormat::Xla(form) => placed.to(form).ok().map(|placed| placed.to_string()),
        ShardingFormat::Jax => jax::expression(&placed, rank).ok(),
    };
    ShardingFormat::ALL.into_iter().map(|target| (target, text(target))).collect()
}

/// Properties of a parsed sharding, and of its shards if the shape is known.
pub fn facts(read: &ParsedSharding) -> ShardingFacts {
    let ParsedSharding { placed: TensorSharding { placement, .. }, shape, .. } = read;
    let rank = shape.as_ref().map(Vec::len);
    let parts = parts(placement, rank);
    let shaped = shape.as_ref().map(|shape| {
        let cut = |parts: &Vec<i64>| -> Vec<i128> {
            shape.iter().zip(parts).map(|(extent, parts)| part_extent(*extent, *parts)).collect()
        };
        let shards = placement.shards(shape, MAX_LISTED_DEVICES).map_err(|lack| match lack {
            ShardingInexpressible::Devices { devices } => {
                format!("{devices} devices exceed the limit of {MAX_LISTED_DEVICES}")
            }
            lack => lack.to_string(),
        });
        ShardFacts { part: parts.as_ref().map(cut), shards }
    });
    let mesh = MeshSharding::of(placement, rank).ok();
    let mesh = mesh.filter(|meshed| !meshed.mesh.axes.is_empty());
    ShardingFacts { devices: placement.devices(), parts, mesh, shaped }
}

/// Number of shards along each axis of a tensor, in the order of the axes. `rank` is the rank of the tensor, if known.
/// `None` for a manual or unknown sharding, and for one that fits any rank if `rank` is `None`.
fn parts(placement: &DevicePlacement, rank: Option<usize>) -> Option<Vec<i64>> {
    let whole = || rank.map(|rank| vec![1; rank]);
    match placement {
        DevicePlacement::Tiled(tiled) => Some(tiled.tiles().to_vec()),
        DevicePlacement::Named(named) if named.cuts().is_empty() => whole(),
        DevicePlacement::Named(named) => {
            let cut = |cut: &layoutc_algebra::sharding::AxisSharding| {
                cut.parts.iter().map(|part| part.size).product()
            };
            Some(named.cuts().iter().map(cut).collect())
        }
        DevicePlacement::Replicated
        | DevicePlacement::Unreduced
        | DevicePlacement::Maximal { .. }
        | DevicePlacement::MaximalMesh { .. } => whole(),
        DevicePlacement::Manual | DevicePlacement::Unknown => None,
    }
}

/// Notes on information in which a text in the notation `target` differs from `placed`: information that it omits, such
/// as `?` (an open axis), and information that it adds, such as generated names of mesh axes.
fn notes(placed: &TensorSharding, target: ShardingFormat) -> Vec<String> {
    let mut notes = Vec::new();
    let names_axes = matches!(target, ShardingFormat::Xla(ShardingForm::V3) | ShardingFormat::Jax);
    match &placed.placement {
        DevicePlacement::Named(named)
            if named.is_open() && target != ShardingFormat::Xla(ShardingForm::V3) =>
        {
            notes.push("`?`, which lets XLA shard an axis further, is omitted".to_owned());
        }
        DevicePlacement::Tiled(tiled) if names_axes && tiled.devices() > 1 => {
            notes.push("the names of the mesh axes are generated".to_owned());
        }
        DevicePlacement::Replicated if target == ShardingFormat::Jax => {
            notes.push("`mesh` stands for any mesh: the text names none".to_owned());
        }
        _ => {}
    }
    notes
}

/// Diagnostic for a fault of the parsed text, at its byte range in the text: a syntax error, a mismatch with the axes,
/// an invalid value, or an unsupported feature.
fn in_text(fault: NotationFault) -> Box<Diagnostic> {
    let place = FileSpan::new(&Arc::from(FILE), fault.span.clone());
    Box::new(Diagnostic::in_notation(fault, place))
}
