//! The devices that hold one element.

use alloc::vec::Vec;

use super::mesh::Mesh;

/// Devices that hold the same part, in order. There may be very many: they are worked out one by one.
#[derive(Debug, Clone)]
pub struct ReplicaDevices {
    /// The first of them.
    first: i64,
    /// The mesh axes over which the part is repeated, minor to major: their sizes, and the step to the next device.
    free: Vec<(i64, i64)>,
    next: i64,
    count: i64,
}

impl ReplicaDevices {
    /// From the first device over the mesh axes at `positions`, which are in the order of the mesh.
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

    /// How many devices are left.
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
