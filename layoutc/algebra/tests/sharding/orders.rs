//! Device orders against an explicit `arange(n).reshape(r).transpose(t).ravel()`.

use super::read;
use layoutc_algebra::sharding::xla::parse_one;
use layoutc_algebra::sharding::{
    DeviceOrder, DevicePlacement, IotaError, IotaOrder, ShardingForm, ShardingInexpressible,
    TensorSharding,
};
use layoutc_testing::{Random, cases};

/// `arange(n).reshape(r).transpose(t).ravel()`
fn plain(reshape: &[i64], transpose: &[usize]) -> Vec<i64> {
    let count: i64 = reshape.iter().product();
    let shape: Vec<i64> = transpose.iter().map(|place| reshape[*place]).collect();
    let device = |k: i64| {
        let mut index = vec![0; reshape.len()];
        let mut rest = k;
        for (place, size) in transpose.iter().zip(&shape).rev() {
            index[*place] = rest % size;
            rest /= size;
        }
        index.iter().zip(reshape).fold(0, |device, (index, size)| device * size + index)
    };
    (0..count).map(device).collect()
}

/// All permutations of `0..count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let longer = |shorter: Vec<usize>| {
        (0..count).map(move |place| {
            let mut longer = shorter.clone();
            longer.insert(place, count - 1);
            longer
        })
    };
    permutations(count - 1).into_iter().flat_map(longer).collect()
}

/// All lists of at most `most` sizes with the product `count`, including sizes of 1.
fn factorings(count: i64, most: usize) -> Vec<Vec<i64>> {
    if most == 0 {
        return if count == 1 { vec![vec![]] } else { vec![] };
    }
    let mut lists = if count == 1 { vec![vec![]] } else { vec![] };
    for size in (1..=count).filter(|size| count % size == 0) {
        for mut rest in factorings(count / size, most - 1) {
            rest.insert(0, size);
            lists.push(rest);
        }
    }
    lists
}

fn list(values: &[i64]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn iota_orders_match_numpy() {
    let mut tried = 0;
    for count in [1, 2, 3, 4, 6, 8, 12, 16, 24, 30] {
        for reshape in factorings(count, 4).into_iter().filter(|reshape| !reshape.is_empty()) {
            for transpose in permutations(reshape.len()) {
                let expected = plain(&reshape, &transpose);
                let iota = IotaOrder::new(&reshape, &transpose).unwrap();
                let found: Vec<i64> = (0..count).map(|k| iota.device(k).unwrap()).collect();
                assert_eq!(found, expected, "{reshape:?} {transpose:?}");
                assert_eq!((iota.device(count), iota.device(-1)), (None, None));
                // Reshape and transpose give the same order, and equal orders print equally.
                assert_eq!(plain(&iota.reshape(), &iota.transpose()), expected);
                assert_eq!(IotaOrder::find(&expected), Ok(iota.clone()));
                let text = |order: &str| format!("{{devices=[{count}]{order}}}");
                let places: Vec<i64> =
                    transpose.iter().map(|place| i64::try_from(*place).unwrap()).collect();
                let order = match reshape.len() {
                    1 => format!("<=[{}]", list(&reshape)),
                    _ => format!("<=[{}]T({})", list(&reshape), list(&places)),
                };
                let ranged = read(&text(&order));
                if count > 1 {
                    let listed = read(&text(&list(&expected)));
                    assert_eq!(ranged.same(&listed), Ok(true));
                    assert_eq!(ranged.to(ShardingForm::V1).as_ref(), Ok(&listed));
                    assert_eq!(listed.to(ShardingForm::V2).as_ref(), Ok(&ranged));
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 5000, "{tried}");
}

#[test]
fn iota_orders_are_recognized_in_lists() {
    let mut ranges: Vec<Vec<i64>> = Vec::new();
    for reshape in factorings(6, 4).into_iter().filter(|reshape| !reshape.is_empty()) {
        ranges.extend(permutations(reshape.len()).iter().map(|t| plain(&reshape, t)));
    }
    for permutation in permutations(6) {
        let devices: Vec<i64> = permutation.iter().map(|k| i64::try_from(*k).unwrap()).collect();
        assert_eq!(IotaOrder::find(&devices).is_ok(), ranges.contains(&devices), "{devices:?}");
    }
    // Lists that are not permutations are rejected without a panic.
    for devices in [vec![], vec![0, 0, 0], vec![0, i64::MAX], vec![0, i64::MIN, 3], vec![0, 5]] {
        drop(IotaOrder::find(&devices));
    }
    assert_eq!(IotaOrder::find(&[0, 1, 3, 4, 5, 2]), Err(IotaError::Row { row: 4, count: 6 }));
    assert_eq!(
        IotaOrder::find(&[0, 1, 2, 4, 3, 5]),
        Err(IotaError::Step { place: 4, device: 3, expected: 5 })
    );
}

#[test]
fn invalid_iota_orders_are_rejected() {
    assert_eq!(IotaOrder::new(&[2, 2], &[0]), None);
    assert_eq!(IotaOrder::new(&[2, 2], &[0, 0]), None);
    assert_eq!(IotaOrder::new(&[2, 2], &[0, 2]), None);
    assert_eq!(IotaOrder::new(&[2, 0], &[0, 1]), None);
    assert_eq!(IotaOrder::new(&[i64::MAX, 2], &[0, 1]), None);
}

#[test]
fn tile_counts_split_iota_digits() {
    for count in [4, 6, 8, 12, 24] {
        for reshape in factorings(count, 3).into_iter().filter(|reshape| !reshape.is_empty()) {
            for transpose in permutations(reshape.len()) {
                let iota = IotaOrder::new(&reshape, &transpose).unwrap();
                for counts in factorings(count, 3) {
                    let Ok(parts) = iota.cut(&counts) else { continue };
                    let sizes: Vec<i64> =
                        parts.iter().map(|p| p.iter().map(|d| d.size).product()).collect();
                    assert_eq!(sizes, counts);
                    for k in 0..count {
                        let mut rest = k;
                        let mut device = 0;
                        for digit in parts.iter().flatten().rev() {
                            device += rest % digit.size * digit.stride;
                            rest /= digit.size;
                        }
                        assert_eq!(Some(device), iota.device(k));
                    }
                }
            }
        }
    }
}

#[test]
fn subgroup_devices_are_sorted_and_kinds_ordered() {
    let mut random = Random::new(5);
    let words = ["manual", "unreduced", "replicated"];
    for _ in 0..cases(400, 3200) {
        let count = *random.pick(&[4, 6, 8, 12, 24]);
        let counts = random.pick(&factorings(count, 4)).clone();
        if counts.is_empty() {
            continue;
        }
        let reshape = random.pick(&factorings(count, 3)).clone();
        let mut transpose: Vec<usize> = (0..reshape.len()).collect();
        random.shuffle(&mut transpose);
        let devices = plain(&reshape, &transpose);
        let kinds: Vec<usize> = (0..=random.below(counts.len())).map(|_| random.below(3)).collect();
        let chosen: Vec<&str> = kinds.iter().map(|kind| words[*kind]).collect();
        let text = format!(
            "{{devices=[{}]{} last_tile_dims={{{}}}}}",
            list(&counts),
            list(&devices),
            chosen.join(",")
        );
        let TensorSharding { placement: DevicePlacement::Tiled(tiled), .. } = read(&text) else {
            continue;
        };
        // A device is identified by its tile and its position within each subgroup kind but the last.
        let own = |counts: &[i64], kinds: &[usize], k: i64| {
            let (mut rest, mut index) = (k, vec![0; counts.len()]);
            for (place, count) in index.iter_mut().zip(counts).rev() {
                *place = rest % count;
                rest /= count;
            }
            let rank = counts.len() - kinds.len();
            let mut of_kind = [0; 3];
            for ((place, count), kind) in index[rank..].iter().zip(&counts[rank..]).zip(kinds) {
                of_kind[*kind] = of_kind[*kind] * count + place;
            }
            (index[..rank].to_vec(), of_kind[0], of_kind[1])
        };
        let mut before: Vec<_> =
            devices.iter().zip(0..).map(|(d, k)| (*d, own(&counts, &kinds, k))).collect();
        let now: Vec<usize> = tiled
            .subgroups()
            .map(|(kind, _)| words.iter().position(|word| *word == kind.word()).unwrap())
            .collect();
        assert!(now.is_sorted(), "{text}");
        let mut after: Vec<_> = (0..count)
            .map(|k| (tiled.order().device(k).unwrap(), own(tiled.counts(), &now, k)))
            .collect();
        before.sort();
        after.sort();
        assert_eq!(before, after, "{text}");
    }
}

#[test]
fn huge_device_counts_are_not_enumerated() {
    let many = "{devices=[99999999999]<=[99999999999]}";
    assert_eq!(read(many).to_string(), many);
    let lack = read(many).to(ShardingForm::V1).unwrap_err();
    assert_eq!(lack.to_string(), "a list of 99999999999 devices: at most 1048576 are listed");
    let grid = "{devices=[4294967296,1024]<=[1024,4294967296]T(1,0)}";
    assert_eq!(read(grid).to_string(), grid);
    assert_eq!(read(grid).same(&read(many)), Ok(false));
    assert_eq!(read(grid).same(&read(grid)), Ok(true));
    let fault = parse_one("{devices=[9223372036854775807,2]<=[2]}").unwrap_err();
    assert_eq!(fault.message, "these are more devices than 64 bits can count");
    let fault = parse_one("{devices=[3,1000001,2]<=[2,3000003]T(1,0) last_tile_dim_replicate}");
    assert_eq!(
        fault.map(|placed| placed.to_string()),
        Ok("{devices=[3,1000001,2]<=[2,3000003]T(1,0) last_tile_dim_replicate}".into())
    );
    let fault = parse_one("{devices=[2,3000003]<=[2,3000003]T(1,0) last_tile_dim_replicate}");
    assert_eq!(
        fault.unwrap_err().message,
        "this device order cannot be expressed as a range: it needs a list of 6000006 devices: at most 1048576 are listed"
    );
    let order = DeviceOrder::Iota(IotaOrder::row_major(1 << 40));
    assert_eq!(order.list(), Err(ShardingInexpressible::Devices { devices: 1 << 40 }));
}
