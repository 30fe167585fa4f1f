//! Shardings: meshes against enumeration, texts against the output of XLA and JAX.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod faults;
mod measured;
mod meshes;
mod orders;
mod texts;

use layoutc_algebra::sharding::xla::parse_one;
use layoutc_algebra::sharding::{Mesh, MeshAxis, Sharding, TensorSharding};
use layoutc_testing::Random;

fn read(text: &str) -> TensorSharding {
    parse_one(text).unwrap_or_else(|fault| panic!("{text}: {fault} at {:?}", fault.span))
}

fn mesh(axes: &[(&str, i64)]) -> Mesh {
    let axis = |(name, size): &(&str, i64)| MeshAxis { name: (*name).to_owned(), size: *size };
    Mesh { axes: axes.iter().map(axis).collect() }
}

/// A random mesh of up to four axes and 64 devices.
fn any_mesh(random: &mut Random) -> Mesh {
    loop {
        let names = ["x", "y", "z", "w"];
        let count = random.below(5);
        let axes: Vec<(&str, i64)> = names
            .iter()
            .take(count)
            .map(|name| (*name, *random.pick(&[1, 2, 2, 3, 4, 8])))
            .collect();
        let mesh = mesh(&axes);
        if mesh.devices().unwrap() <= 64 {
            return mesh;
        }
    }
}

/// A random sharding of up to four axes.
fn any_sharding(random: &mut Random, mesh: &Mesh) -> Sharding {
    let mut over = vec![Vec::new(); random.below(5)];
    let mut positions: Vec<usize> = (0..mesh.axes.len()).collect();
    random.shuffle(&mut positions);
    for position in positions {
        if !over.is_empty() && !random.one_in(3) {
            let axis = random.below(over.len());
            over[axis].push(position);
        }
    }
    Sharding::new(mesh, over).unwrap()
}
