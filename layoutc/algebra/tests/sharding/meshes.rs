//! Meshes and shardings against enumeration.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{any_mesh, any_sharding, mesh, read};
use layoutc_algebra::sharding::xla::parse_one;
use layoutc_algebra::sharding::{
    DevicePlacement, IotaError, Mesh, MeshAxis, MeshSharding, Sharding, ShardingError,
    ShardingForm, ShardingInexpressible, TileBoundaryError, jax, part_extent,
};
use layoutc_testing::{Random, cases};

/// Cartesian product of the ranges.
fn points(ranges: &[Range<i128>]) -> Vec<Vec<i128>> {
    ranges.iter().fold(vec![Vec::new()], |points, range| {
        let longer = |point: &Vec<i128>| {
            range.clone().map(|k| [point.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        points.iter().flat_map(longer).collect()
    })
}

#[test]
fn devices_are_numbered_row_major() {
    let pod = mesh(&[("x", 2), ("y", 4)]);
    assert_eq!(pod.devices(), Some(8));
    assert_eq!(pod.coordinates(6), Some(vec![1, 2]));
    assert_eq!(pod.device(&[1, 2]), Some(6));
    assert_eq!((pod.coordinates(8), pod.coordinates(-1)), (None, None));
    assert_eq!((pod.device(&[1, 4]), pod.device(&[1]), pod.device(&[0, -1])), (None, None, None));
    assert_eq!(Mesh::default().devices(), Some(1));
    assert_eq!(Mesh::default().coordinates(0), Some(vec![]));
    assert_eq!(mesh(&[("x", 0)]).devices(), None);
    assert_eq!(mesh(&[("x", i64::MAX), ("y", 2)]).devices(), None);
}

#[test]
fn mesh_axis_shards_at_most_one_axis() {
    let pod = mesh(&[("x", 2), ("y", 4)]);
    let new = |over: &[&[usize]]| Sharding::new(&pod, over.iter().map(|l| l.to_vec()).collect());
    assert_eq!(new(&[&[0], &[2]]), Err(ShardingError::Unknown { axis: 1, position: 2, axes: 2 }));
    let twice = |first, second| Err(ShardingError::Twice { position: 0, first, second });
    assert_eq!(new(&[&[0], &[1, 0]]), twice(0, 1));
    assert_eq!(new(&[&[0, 0]]), twice(0, 0));
    let wrong = mesh(&[("x", i64::MAX), ("y", 2)]);
    assert_eq!(Sharding::new(&wrong, vec![]), Err(ShardingError::Mesh));
    let sharding = new(&[&[], &[1]]).unwrap();
    assert_eq!(sharding.repeated(&pod), [0]);
    assert_eq!(sharding.parts(&pod), Some(vec![1, 4]));
    // A sharding that belongs to another mesh.
    assert_eq!(sharding.parts(&mesh(&[("x", 2)])), None);
}

#[test]
fn last_shards_are_partial_or_empty() {
    assert_eq!([10, 5, 0].map(|extent| part_extent(extent, 4)), [3, 2, 0]);
    let ring = mesh(&[("x", 4)]);
    let sharding = Sharding::new(&ring, vec![vec![0]]).unwrap();
    let held = |extent: i128| -> Vec<Range<i128>> {
        (0..4).flat_map(|device| sharding.bounds(&ring, device, &[extent]).unwrap()).collect()
    };
    assert_eq!(held(10), [0..3, 3..6, 6..9, 9..10]);
    assert_eq!(held(5), [0..2, 2..4, 4..5, 5..5]);
    assert_eq!(held(0), [0..0, 0..0, 0..0, 0..0]);
    assert_eq!(sharding.bounds(&ring, 0, &[-1]), None);
    assert_eq!(sharding.bounds(&ring, 0, &[]), None);
    assert_eq!(sharding.bounds(&ring, 4, &[5]), None);
    assert!(sharding.owners(&ring, &[5], &[5]).is_none());
    assert!(sharding.owners(&ring, &[0], &[0]).is_none());
}

#[test]
fn owners_and_bounds_agree_on_every_element() {
    let mut random = Random::new(1);
    for _ in 0..cases(300, 2400) {
        let mesh = any_mesh(&mut random);
        let sharding = any_sharding(&mut random, &mesh);
        let extents: Vec<i128> = sharding.over().iter().map(|_| random.between(0, 6)).collect();
        let mut held: BTreeMap<Vec<i128>, Vec<i64>> = BTreeMap::new();
        let largest = sharding.part_extents(&mesh, &extents).unwrap();
        for device in 0..mesh.devices().unwrap() {
            let bounds = sharding.bounds(&mesh, device, &extents).unwrap();
            for (range, largest) in bounds.iter().zip(&largest) {
                assert!(range.start <= range.end && range.end - range.start <= *largest);
            }
            points(&bounds).into_iter().for_each(|p| held.entry(p).or_default().push(device));
        }
        let all = points(&extents.iter().map(|extent| 0..*extent).collect::<Vec<_>>());
        assert_eq!(held.len(), all.len());
        for point in all {
            let owners = sharding.owners(&mesh, &extents, &point).unwrap();
            let left = owners.left();
            let owners: Vec<i64> = owners.collect();
            assert_eq!(i64::try_from(owners.len()), Ok(left));
            assert_eq!(held[&point], owners, "{mesh:?} {sharding:?} {point:?}");
        }
    }
}

#[test]
fn owners_on_huge_meshes_are_computed_lazily() {
    let large = mesh(&[("x", 1 << 40), ("y", 1 << 20)]);
    let sharding = Sharding::new(&large, vec![vec![1]]).unwrap();
    let mut owners = sharding.owners(&large, &[1 << 20], &[3]).unwrap();
    assert_eq!(owners.left(), 1 << 40);
    assert_eq!((owners.next(), owners.next()), (Some(3), Some((1 << 20) + 3)));
}

/// Devices of each part, row-major over the parts, by the mesh's coordinates.
fn devices_of_parts(mesh: &Mesh, sharding: &Sharding) -> Vec<Vec<i64>> {
    let parts: Vec<Range<i128>> =
        sharding.parts(mesh).unwrap().iter().map(|count| 0..i128::from(*count)).collect();
    let extents: Vec<i128> = parts.iter().map(|range| range.end).collect();
    let owners = |point: &Vec<i128>| sharding.owners(mesh, &extents, point).unwrap().collect();
    points(&parts).iter().map(owners).collect()
}

#[test]
fn mesh_shardings_round_trip_through_all_forms() {
    let mut random = Random::new(2);
    for _ in 0..cases(600, 4800) {
        let mesh = any_mesh(&mut random);
        let sharding = any_sharding(&mut random, &mesh);
        let expected = devices_of_parts(&mesh, &sharding);
        let meshed = MeshSharding { mesh, sharding, unreduced: vec![] };
        let named = DevicePlacement::Named(meshed.named());
        // A named sharding preserves the names and the mesh.
        assert_eq!(MeshSharding::of(&named, None), Ok(meshed.clone()));
        let placed = layoutc_algebra::sharding::TensorSharding { placement: named, group: None };
        let extents: Vec<i128> =
            meshed.sharding.parts(&meshed.mesh).unwrap().into_iter().map(i128::from).collect();
        for form in [ShardingForm::V1, ShardingForm::V2, ShardingForm::V3] {
            let other = placed.to(form).unwrap();
            let text = other.to_string();
            let again = read(&text);
            assert_eq!(again.to_string(), text);
            assert_eq!(again.same(&placed), Ok(true), "{text}");
            if again.placement == DevicePlacement::Replicated {
                assert!(expected.len() == 1, "{text}");
                continue;
            }
            let held = again.placement.shards(&extents, 64).unwrap();
            // A mesh without axes means all devices.
            if meshed.mesh.axes.is_empty() {
                assert!(held[0].devices.is_empty());
                continue;
            }
            let devices: Vec<Vec<i64>> = held.iter().map(|held| held.devices.clone()).collect();
            assert_eq!(devices, expected, "{text}");
            // The way back gives an equivalent mesh, whose axes differ if names are lost.
            let back = MeshSharding::of(&again.placement, None).unwrap();
            assert_eq!(devices_of_parts(&back.mesh, &back.sharding), expected, "{text}");
        }
    }
}

#[test]
fn shards_match_mesh_bounds() {
    let mut random = Random::new(3);
    for _ in 0..cases(300, 2400) {
        let mesh = any_mesh(&mut random);
        if mesh.axes.is_empty() {
            continue;
        }
        let sharding = any_sharding(&mut random, &mesh);
        let extents: Vec<i128> = sharding.over().iter().map(|_| random.between(0, 9)).collect();
        let meshed = MeshSharding { mesh, sharding, unreduced: vec![] };
        let held = DevicePlacement::Named(meshed.named()).shards(&extents, 64).unwrap();
        let mut seen = 0;
        for part in &held {
            for device in &part.devices {
                let bounds = meshed.sharding.bounds(&meshed.mesh, *device, &extents).unwrap();
                assert_eq!(bounds, part.bounds);
                seen += 1;
            }
        }
        assert_eq!(Some(seen), meshed.mesh.devices());
    }
}

#[test]
fn transposed_devices_are_mesh_axes_in_another_order() {
    let of = |text: &str| MeshSharding::of(&read(text).placement, None);
    let sizes = |meshed: &MeshSharding| -> Vec<i64> {
        meshed.mesh.axes.iter().map(|axis| axis.size).collect()
    };
    let meshed = of("{devices=[4,2]<=[2,4]T(1,0)}").unwrap();
    assert_eq!(
        (sizes(&meshed), meshed.sharding.over().to_vec()),
        (vec![2, 4], vec![vec![1], vec![0]])
    );
    // Equal devices, as a list.
    assert_eq!(of("{devices=[4,2]0,4,1,5,2,6,3,7}"), Ok(meshed));
    let meshed = of("{devices=[2,1,4]<=[2,2,2]T(2,0,1) last_tile_dim_replicate}").unwrap();
    assert_eq!(
        (sizes(&meshed), meshed.sharding.over().to_vec()),
        (vec![4, 2], vec![vec![1], vec![]])
    );
    let named = of("{mesh['a'=4,'b'=2], device_ids=([2,2,2]T(2,1,0)), [{'a'}, {'b'}]}").unwrap();
    let names: Vec<&str> = named.mesh.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(
        (names, named.sharding.over().to_vec()),
        (vec!["b", "a_1", "a_0"], vec![vec![2, 1], vec![0]])
    );
    let named = of("{mesh['a'=8,'a_0'=1], [{'a':(4)2}, {'a':(1)2}]}").unwrap();
    let names: Vec<&str> = named.mesh.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["a_0_", "a_1", "a_2", "a_0"]);
    assert_eq!(sizes(&named), [2, 2, 2, 1]);
    assert_eq!(named.sharding.over(), [vec![2], vec![0]]);
}

#[test]
fn non_mesh_device_orders_are_refused_with_a_reason() {
    let of = |text: &str| MeshSharding::of(&read(text).placement, None).unwrap_err();
    for (text, lack, words) in [
        (
            "{devices=[2,2]0,1,3,2}",
            ShardingInexpressible::Order(IotaError::Step { place: 3, device: 2, expected: 4 }),
            "this order of devices: device 2 is at position 3, where a row-major mesh has 4",
        ),
        (
            "{devices=[2]1,0}",
            ShardingInexpressible::Order(IotaError::First { device: 1 }),
            "this order of devices: the first device is 1, but a row-major mesh starts with 0",
        ),
        (
            "{devices=[5]0,2,4,1,3}",
            ShardingInexpressible::Order(IotaError::Row { row: 3, count: 5 }),
            "this order of devices: the first 3 devices form rows, but 5 devices are not a multiple of them",
        ),
        (
            "{devices=[2,3]<=[2,3]T(1,0)}",
            ShardingInexpressible::Uncut(TileBoundaryError {
                axis: 0,
                tiles: 2,
                size: 3,
                stride: 1,
            }),
            "these tiles: the 2 tiles of axis 0 do not divide 3 devices of stride 1",
        ),
        (
            "{devices=[2,2]<=[4] last_tile_dims={manual}}",
            ShardingInexpressible::Manual,
            "`manual` devices, whose contents the program manages",
        ),
        ("{manual}", ShardingInexpressible::Mesh { word: "manual" }, "`{manual}` without a mesh"),
        ("{unknown}", ShardingInexpressible::Unknown, "`{unknown}`"),
        (
            "{maximal device=3}",
            ShardingInexpressible::Maximal { device: 3 },
            "all of a tensor on device 3",
        ),
    ] {
        let found = of(text);
        assert_eq!((found.to_string().as_str(), &found), (words, &lack), "{text}");
        assert!(!found.help().is_empty());
    }
}

#[test]
fn shardings_print_as_jax_expressions() {
    let expression_of = |text: &str, rank| jax::expression(&read(text), rank);
    let yes = |text: &str, rank, wanted: &str| {
        assert_eq!(expression_of(text, rank).as_deref(), Ok(wanted));
    };
    yes(
        "{mesh['x'=2,'y'=4,'z'=2], [{'x'}, {}, {'y', 'z'}]}",
        None,
        "NamedSharding(jax.make_mesh((2, 4, 2), ('x', 'y', 'z')), PartitionSpec('x', None, ('y', 'z')))",
    );
    yes(
        "{devices=[4]<=[4]}",
        None,
        "NamedSharding(jax.make_mesh((4,), ('axis_0',)), PartitionSpec('axis_0'))",
    );
    yes("{replicated}", Some(2), "NamedSharding(mesh, PartitionSpec(None, None))");
    yes("{replicated}", None, "NamedSharding(mesh, PartitionSpec())");
    yes("{maximal device=3}", None, "SingleDeviceSharding(jax.devices()[3])");
    yes(
        "{mesh['x'=2,'y'=4], [{'x'}, {}], unreduced={'y'}}",
        None,
        "NamedSharding(jax.make_mesh((2, 4), ('x', 'y')), PartitionSpec('x', None, unreduced={'y'}))",
    );
    assert_eq!(expression_of("{replicated shard_as 1}", None), Err(ShardingInexpressible::Group));
    assert_eq!(
        expression_of("{manual}", None),
        Err(ShardingInexpressible::Mesh { word: "manual" })
    );
    let odd = Mesh { axes: vec![MeshAxis { name: "a'b".into(), size: 2 }] };
    assert_eq!(jax::make_mesh(&odd), Err(ShardingInexpressible::Name { name: "a'b".into() }));
}

#[test]
fn tuple_sharding_is_refused_for_one_tensor() {
    let fault = parse_one("{{replicated}, {manual}}").unwrap_err();
    assert_eq!(fault.message, "a tuple shards 2 tensors, and one is wanted");
    assert_eq!(parse_one("{}").unwrap_err().message, "an empty tuple shards no tensor");
}
