//! Communication of a conversion between two shardings of a tensor: messages between devices, and their sizes.
//!
//! Every device that lacks elements of its new shard receives each of them once, from one device that holds it: if
//! several do, from the one at the same coordinates along the mesh axes over which the old shards are replicated. A
//! device that holds elements already is its own source: nothing is sent for them.

use std::ops::Range;

use crate::model::reshard::{DeviceSharding, Reshard};
use crate::model::{Manifest, Tensor};

/// Maximum number of devices for which the messages of all pairs are counted.
const MOST_PAIRS: i64 = 1024;

/// Communication of a conversion between two shardings of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Number of devices that take part: that of the larger mesh.
    pub ranks: i64,
    /// Lower bound of the total bytes sent: those of elements that a device needs and does not hold.
    pub least_bytes: i128,
    /// Messages between devices; `None` for more than `MOST_PAIRS` devices.
    pub sent: Option<Sent>,
}

/// Messages between devices, counted over all pairs of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Total size of all messages, in bytes.
    pub bytes: i128,
    /// Number of messages; a pair of devices exchanges at most one in each direction.
    pub messages: i64,
    /// For each device, the number of bytes that it sends and the number that it receives.
    pub devices: Vec<[i128; 2]>,
}

/// Shardings of the source and of the destination of a conversion, with indices over the axes of the source.
struct ShardingPair<'a> {
    from: &'a DeviceSharding,
    to: &'a DeviceSharding,
    /// For each axis of `from`, its position in `to`.
    axes: &'a [usize],
    /// Extents of the source tensor, by axis.
    extents: Vec<i128>,
    /// Size of an element, in bytes.
    bytes: i128,
}

/// Communication of a conversion between two shardings of a tensor; `None` if a tensor is not sharded or does not
/// exist, its extents are not constant, or a number overflows.
pub(crate) fn traffic(manifest: &Manifest, reshard: &Reshard) -> Option<Traffic> {
    let [source, destination] = [reshard.from, reshard.to].map(|k| manifest.tensors.get(k));
    let (source, destination) = (source?, destination?);
    let (from, to) = (source.sharded.as_ref()?, destination.sharded.as_ref()?);
    let bytes = i128::from(source.dtype.element_bits() / 8);
    let pair = ShardingPair { from, to, axes: &reshard.axes, extents: from.extents()?, bytes };
    let ranks = from.devices().max(to.devices());
    let held: Vec<[Option<Vec<Range<i128>>>; 2]> =
        (0..ranks).map(|device| [pair.before(device), pair.after(device)]).collect();
    let mut least = 0_i128;
    for [before, after] in &held {
        let Some(after) = after else { continue };
        let there = before.as_ref().map_or(0, |before| common(before, after));
        least = least.checked_add(volume(after).checked_sub(there)?)?;
    }
    let least_bytes = least.checked_mul(pair.bytes)?;
    let sent = if ranks <= MOST_PAIRS { Some(pair.sent(&held)?) } else { None };
    Some(Traffic { ranks, least_bytes, sent })
}

impl ShardingPair<'_> {
    /// Ranges of indices that a device holds of the source, by axis; a range is empty if the device holds no elements.
    /// `None`, for example, if the device is not in the mesh.
    fn before(&self, device: i64) -> Option<Vec<Range<i128>>> {
        self.from.sharding.bounds(&self.from.mesh, device, &self.extents)
    }

    /// Ranges of indices that a device needs of the destination, by the source's axes. `None`, for example, if the
    /// device is not in the mesh, or if the extents of the destination are not constant.
    fn after(&self, device: i64) -> Option<Vec<Range<i128>>> {
        let held = self.to.sharding.bounds(&self.to.mesh, device, &self.to.extents()?)?;
        self.axes.iter().map(|axis| held.get(*axis).cloned()).collect()
    }

    /// Device number of the coordinates of `device` along the mesh axes over which the source is replicated, with all
    /// other coordinates 0. Only devices with equal numbers exchange messages. Devices beyond the source's mesh wrap
    /// around. `None` if a number overflows.
    fn turn(&self, device: i64) -> Option<i64> {
        let mesh = &self.from.mesh;
        let device = device.checked_rem(mesh.devices()?)?;
        let mut at = mesh.coordinates(device)?;
        for position in self.from.sharding.over().iter().flatten() {
            *at.get_mut(*position)? = 0;
        }
        mesh.device(&at)
    }

    fn sent(&self, held: &[[Option<Vec<Range<i128>>>; 2]]) -> Option<Sent> {
        let turns: Vec<i64> =
            (0..).take(held.len()).map(|device| self.turn(device)).collect::<Option<_>>()?;
        let mut devices = vec![[0_i128; 2]; held.len()];
        let (mut bytes, mut messages) = (0_i128, 0_i64);
        for (sender, ([before, _], turn)) in held.iter().zip(&turns).enumerate() {
            let Some(before) = before else { continue };
            for (receiver, ([_, after], other)) in held.iter().zip(&turns).enumerate() {
                let Some(after) = after.as_ref().filter(|_| sender != receiver && turn == other)
                else {
                    continue;
                };
                let count = common(before, after);
                if count == 0 {
                    continue;
                }
                let count = count.checked_mul(self.bytes)?;
                bytes = bytes.checked_add(count)?;
                messages = messages.checked_add(1)?;
                *devices.get_mut(sender)?.first_mut()? += count;
                *devices.get_mut(receiver)?.last_mut()? += count;
            }
        }
        Some(Sent { bytes, messages, devices })
    }
}

/// Number of elements of a box, given by its range of indices along each axis.
fn volume(held: &[Range<i128>]) -> i128 {
    held.iter().map(|range| (range.end - range.start).max(0)).product()
}

/// Number of elements in the intersection of two boxes of the same rank.
fn common(a: &[Range<i128>], b: &[Range<i128>]) -> i128 {
    let length =
        |(a, b): (&Range<i128>, &Range<i128>)| (a.end.min(b.end) - a.start.max(b.start)).max(0);
    a.iter().zip(b).map(length).product()
}

/// Source and destination tensor of a conversion between two shardings; `None` if the manifest lacks one of them.
pub(crate) fn tensors<'a>(manifest: &'a Manifest, reshard: &Reshard) -> Option<[&'a Tensor; 2]> {
    Some([manifest.tensors.get(reshard.from)?, manifest.tensors.get(reshard.to)?])
}
