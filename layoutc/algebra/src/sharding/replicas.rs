//! Iterator over the devices that hold one shard of a tensor ([`ReplicaDevices`]).

use alloc::vec::Vec;

use super::mesh::Mesh;

/// Iterator over the devices that hold one shard, in ascending order. Devices are computed one by one and not stored.
#[derive(Debug, Clone)]
pub struct ReplicaDevices {
    first: i64,
    /// Pairs `(size, stride)`, one for each mesh axis over which the shard is replicated, minor to major: the number of
    /// devices along the axis, and the difference of device numbers between neighbors.
    free: Vec<(i64, i64)>,
    next: i64,
    count: i64,
}

impl ReplicaDevices {
    /// Devices that hold the shard of device `first`, when the shard is replicated over the mesh axes at `positions`.
    /// Along these axes, `first` has the coordinate 0 and all coordinates occur; along the others, all devices have the
    /// coordinate of `first`. `None` for an invalid mesh.
    pub(super) fn new(mesh: &Mesh, first: i64, positions: &[usize]) -> Option<Self> {
        mesh.devices()?;
        let mut free = Vec::with_capacity(positions.len());
        let (mut step, mut count) = (1, 1);
        for (position, axis) in mesh.axes.iter().enumerate().rev() {
            if positions.contains(&position) {
                free.push((axis.size, step));
                count *= axis.size;
            }
            step *= axis.size;
        }
        Some(Self { first, free, next: 0, count })
    }

    /// Number of devices that the iterator will still return.
    pub fn left(&self) -> i64 {
        self.count - self.next
    }
}

impl Iterator for ReplicaDevices {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        if self.left() <= 0 {
            return None;
        }
        let (mut rest, mut device) = (self.next, self.first);
        for (size, step) in &self.free {
            device += rest % size * step;
            rest /= size;
        }
        self.next += 1;
        Some(device)
    }
}
