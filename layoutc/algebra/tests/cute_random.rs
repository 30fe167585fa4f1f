//! CuTe's algebra against brute force on random layouts: results satisfy their contract for every element, and errors
//! name a real fault.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::cute::{
    self, CuteError, CuteLayout, CuteMode, CuteNote, CuteOutcome, CuteReferenceResult,
    DivisionGrouping, IntTuple, ProductGrouping, RemainderPolicy, Tiler,
};
use layoutc_testing::{Random, cases};

/// A random layout of up to five nested modes; extents up to 8, strides that may or may not divide each other.
fn layout(random: &mut Random, most: i128) -> CuteLayout {
    loop {
        let count = 1 + random.below(5);
        let mut modes: Vec<(i128, i128)> = Vec::new();
        let mut next: i128 = 1;
        let is_wild = random.one_in(3);
        for _ in 0..count {
            let most = if random.one_in(3) { 8 } else { 4 };
            let extent = random.between(1, most);
            let stride = match random.below(if is_wild { 6 } else { 12 }) {
                0 => 0,
                1 => random.between(1, 12),
                2 => next + random.between(1, 3),
                3 | 4 => next * random.between(1, 3),
                _ => next,
            };
            next = next.max(extent * stride).max(1);
            modes.push((extent, stride));
        }
        random.shuffle(&mut modes);
        if random.one_in(2) {
            modes.sort_by_key(|mode| mode.1);
        }
        let (shape, stride) = nested(random, &modes, 2);
        let layout = CuteLayout::new(&shape, &stride).unwrap();
        if layout.size() <= most {
            return layout;
        }
    }
}

fn nested(random: &mut Random, modes: &[(i128, i128)], depth: usize) -> (IntTuple, IntTuple) {
    if let [(extent, stride)] = modes
        && !(depth > 0 && random.one_in(8))
    {
        return (IntTuple::Integer(*extent), IntTuple::Integer(*stride));
    }
    let (mut shapes, mut strides, mut rest) = (Vec::new(), Vec::new(), modes);
    while !rest.is_empty() {
        let taken = if depth == 0 { 1 } else { 1 + random.below(rest.len()) };
        let (part, after) = rest.split_at(taken);
        let (shape, stride) = nested(random, part, depth.saturating_sub(1));
        shapes.push(shape);
        strides.push(stride);
        rest = after;
    }
    (IntTuple::List(shapes), IntTuple::List(strides))
}

/// Offset of an index by definition, also past the size.
fn at(layout: &CuteLayout, index: i128) -> i128 {
    let modes = layout.flat();
    let (last, before) = modes.split_last().unwrap();
    let (mut rest, mut sum) = (index, 0);
    for CuteMode { extent, stride } in before {
        sum += rest % extent * stride;
        rest /= extent;
    }
    sum + rest * last.stride
}

fn values(layout: &CuteLayout) -> Vec<i128> {
    (0..layout.size()).map(|index| at(layout, index)).collect()
}

/// True if `cut` is `shape` with some integers split.
fn refines(shape: &IntTuple, cut: &IntTuple) -> bool {
    match (shape, cut) {
        (IntTuple::Integer(extent), cut) => cut.product() == Some(*extent),
        (IntTuple::List(parts), IntTuple::List(cuts)) => {
            parts.len() == cuts.len()
                && parts.iter().zip(cuts).all(|(part, cut)| refines(part, cut))
        }
        (IntTuple::List(_), IntTuple::Integer(_)) => false,
    }
}

/// All ordered factorizations of a number into factors of at least 2.
fn factorings(of: i128) -> Vec<Vec<i128>> {
    if of == 1 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in (2..=of).filter(|first| of % first == 0) {
        for mut rest in factorings(of / first) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// Searches a layout with the given offsets whose extents refine the given ones.
fn some_layout(extents: &[i128], wanted: &[i128]) -> Option<Vec<CuteMode>> {
    let mut cuts: Vec<Vec<i128>> = vec![Vec::new()];
    for extent in extents {
        let factors = factorings(*extent);
        cuts = cuts
            .iter()
            .flat_map(|cut| factors.iter().map(|factor| [&cut[..], factor].concat()))
            .collect();
    }
    cuts.into_iter().find_map(|cut| {
        let (mut place, mut modes) = (1, Vec::new());
        for extent in cut {
            let stride = wanted[usize::try_from(place).unwrap()] - wanted[0];
            modes.push(CuteMode { extent, stride });
            place *= extent;
        }
        let sum = |index: usize| {
            let mut rest = i128::try_from(index).unwrap();
            modes.iter().fold(0, |sum, mode| {
                let digit = rest % mode.extent;
                rest /= mode.extent;
                sum + digit * mode.stride
            })
        };
        (0..wanted.len()).all(|index| sum(index) == wanted[index]).then_some(modes)
    })
}

/// Checks that CuTe's result is wrong, first at the reported index.
fn is_wrong(peer: &CuteReferenceResult, wanted: &[i128], what: &str) {
    let theirs = values(&peer.layout);
    assert_eq!(theirs.len(), wanted.len(), "{what}");
    let first = (0..wanted.len()).find(|k| theirs[*k] != wanted[*k]).unwrap();
    let index = i128::try_from(first).unwrap();
    let named = (peer.index, peer.given, peer.right);
    assert_eq!(named, (index, theirs[first], wanted[first]), "{what}");
}

#[test]
fn compositions_are_correct_and_refused_only_if_none_exists() {
    let (mut accepted, mut uneven, mut dependent, mut wrong, mut past) = (0, 0, 0, 0, 0);
    for seed in 0..cases(12_000, 48_000) {
        let mut random = Random::new(seed);
        let a = layout(&mut random, 4000);
        let b = layout(&mut random, 150);
        let what = format!("seed {seed}: {a} o {b}");
        let wanted: Vec<i128> = values(&b).into_iter().map(|index| at(&a, index)).collect();
        let extents: Vec<i128> = b.flat().iter().map(|mode| mode.extent).collect();
        match cute::compose(&a, &b) {
            Ok(CuteOutcome { layout, notes }) => {
                accepted += 1;
                assert_eq!(values(&layout), wanted, "{what}");
                assert!(refines(&b.shape(), &layout.shape()), "{what}: {layout}");
                let is_past = notes.iter().any(|note| matches!(note, CuteNote::PastEnd { .. }));
                assert_eq!(is_past, values(&b).iter().any(|index| *index >= a.size()), "{what}");
                past += u32::from(is_past);
                for note in &notes {
                    if let CuteNote::Reference(peer) = note {
                        wrong += 1;
                        is_wrong(peer, &wanted, &what);
                    }
                }
            }
            Err(CuteError::Uneven { mode, part, run, peer, merged }) => {
                uneven += 1;
                assert!(b.flat().contains(&mode), "{what}");
                assert_eq!(mode.extent * mode.stride, part.extent * part.stride, "{what}");
                let step = |k: i128| at(&a, (k + 1) * part.stride) - at(&a, k * part.stride);
                assert!(run < part.extent && part.extent % run != 0, "{what}");
                assert!((0..run - 1).all(|k| step(k) == step(0)), "{what}");
                assert_ne!(step(run - 1), step(0), "{what}");
                assert_eq!(some_layout(&extents, &wanted), None, "{what}");
                check_aside(&a, peer.as_deref(), merged.as_deref(), &wanted, &what);
            }
            Err(CuteError::Dependent { index, right, given, peer, merged }) => {
                dependent += 1;
                assert_eq!(wanted[usize::try_from(index).unwrap()], right, "{what}");
                assert_ne!(right, given, "{what}");
                assert_eq!(some_layout(&extents, &wanted), None, "{what}");
                check_aside(&a, peer.as_deref(), merged.as_deref(), &wanted, &what);
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    let counts = (accepted, uneven, dependent, wrong, past);
    assert!(accepted > 5000 && uneven > 500 && dependent > 100 && wrong > 10, "{counts:?}");
    assert!(past > 500, "{counts:?}");
}

/// Checks what an error reports of CuTe's result and of another shape.
fn check_aside(
    a: &CuteLayout,
    peer: Option<&CuteReferenceResult>,
    merged: Option<&(CuteLayout, CuteLayout)>,
    wanted: &[i128],
    what: &str,
) {
    if let Some(peer) = peer {
        is_wrong(peer, wanted, what);
    }
    if let Some((inner, answer)) = merged {
        let inner: Vec<i128> = values(inner).into_iter().map(|index| at(a, index)).collect();
        assert_eq!(inner, wanted, "{what}");
        assert_eq!(values(answer), wanted, "{what}");
    }
}

#[test]
fn coalesced_layouts_are_equivalent_and_minimal() {
    for seed in 0..cases(6000, 24_000) {
        let a = layout(&mut Random::new(seed), 2000);
        let answer = cute::coalesce(&a).unwrap().layout;
        assert_eq!(values(&answer), values(&a), "seed {seed}: {a}");
        let modes = answer.flat();
        assert!(modes.iter().all(|mode| mode.extent > 1) || answer.to_string() == "1:0");
        for pair in modes.windows(2) {
            assert_ne!(pair[0].extent * pair[0].stride, pair[1].stride, "seed {seed}: {a}");
        }
        let by_mode = cute::coalesce_by(&a, &profile(&a)).unwrap().layout;
        assert_eq!(values(&by_mode), values(&a), "seed {seed}: {a}");
        assert_eq!(by_mode.modes().len(), a.modes().len(), "seed {seed}: {a}");
    }
}

/// Profile that selects each top-level mode.
fn profile(a: &CuteLayout) -> IntTuple {
    match a.shape() {
        IntTuple::Integer(_) => IntTuple::Integer(1),
        IntTuple::List(list) => IntTuple::List(list.iter().map(|_| IntTuple::Integer(1)).collect()),
    }
}

/// Offsets without modes of stride 0, which repeat elements.
fn filtered(a: &CuteLayout) -> Vec<i128> {
    let modes: Vec<CuteMode> = a.flat().into_iter().filter(|mode| mode.stride > 0).collect();
    values(&CuteLayout::of_modes(&modes).unwrap())
}

/// Places copies of the offsets at each free element, ascending; `None` if two copies overlap.
fn laid_side_by_side(offsets: &[i128], cotarget: i128) -> Option<Vec<i128>> {
    let (mut taken, mut places) = (BTreeSet::new(), Vec::new());
    for element in 0..cotarget {
        if !taken.contains(&element) {
            places.push(element);
            if !offsets.iter().all(|offset| taken.insert(element + offset)) {
                return None;
            }
        }
    }
    Some(places)
}

/// Offsets of the only layout that can start with these.
fn completed(places: &[i128]) -> Vec<i128> {
    let mut whole = vec![0];
    while let Some(stride) = places.get(whole.len()) {
        let block = whole.clone();
        for k in 1.. {
            whole.extend(block.iter().map(|place| place + k * stride));
            if places.get(whole.len()) != Some(&((k + 1) * stride)) {
                break;
            }
        }
    }
    whole
}

#[test]
fn complements_cover_the_cotarget_once_or_collide() {
    let (mut accepted, mut uncovered, mut overlap) = (0, 0, 0);
    for seed in 0..cases(6000, 24_000) {
        let mut random = Random::new(seed);
        let a = layout(&mut random, 200);
        let cotarget = random.between(1, 300);
        let cotarget = (!random.one_in(4)).then_some(cotarget);
        let what = format!("seed {seed}: {a} to {cotarget:?}");
        let offsets = filtered(&a);
        match cute::complement(&a, cotarget) {
            Ok(CuteOutcome { layout, notes }) => {
                accepted += 1;
                let places = values(&layout);
                assert!(places.is_sorted_by(|a, b| a < b), "{what}: {layout}");
                let mut held: Vec<i128> = Vec::new();
                for place in &places {
                    held.extend(offsets.iter().map(|offset| place + offset));
                }
                held.sort_unstable();
                assert!(held.is_sorted_by(|a, b| a < b), "{what}: {layout}");
                let free = (0..).zip(&held).find(|(k, element)| k != *element);
                let free = free.map_or(i128::try_from(held.len()).unwrap(), |(k, _)| k);
                assert!(free >= cotarget.unwrap_or(1), "{what}: {layout}");
                let expected = match cotarget {
                    Some(cotarget) if free > cotarget => {
                        vec![CuteNote::ExcessCover { covered: free, cotarget }]
                    }
                    None if free < a.cosize() => vec![CuteNote::Hole { element: free }],
                    _ => Vec::new(),
                };
                assert_eq!(notes, expected, "{what}: {layout}");
            }
            Err(CuteError::Uncovered { element, cotarget, .. }) => {
                uncovered += 1;
                assert!(laid_side_by_side(&offsets, element).is_some(), "{what}");
                assert!(element < cotarget, "{what}");
                // Greedy placement can succeed although no layout has these offsets.
                if let Some(places) = laid_side_by_side(&offsets, cotarget) {
                    let whole = completed(&places);
                    let mut taken = BTreeSet::new();
                    let is_free = |place: &i128| offsets.iter().all(|x| taken.insert(place + x));
                    let is_layout = whole.starts_with(&places) && whole.iter().all(is_free);
                    assert!(!is_layout, "{what}: {whole:?}");
                }
            }
            Err(CuteError::Overlap { first, second }) => {
                overlap += 1;
                let modes = a.flat();
                assert!(modes.contains(&first) && modes.contains(&second), "{what}");
                assert!(second.stride < first.extent * first.stride, "{what}");
                assert!(first.stride <= second.stride, "{what}");
                assert_eq!(laid_side_by_side(&offsets, a.cosize()), None, "{what}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    assert!(
        accepted > 1000 && uncovered > 300 && overlap > 200,
        "{:?}",
        (accepted, uncovered, overlap)
    );
}

#[test]
fn inverses_undo_every_index_or_report_a_valid_reason() {
    let (mut accepted, mut collide, mut strides, mut long) = (0, 0, 0, 0);
    for seed in 0..cases(6000, 24_000) {
        let a = layout(&mut Random::new(seed), 1000);
        let what = format!("seed {seed}: {a}");
        let right = cute::right_inverse(&a).unwrap().layout;
        for (index, place) in (0..).zip(values(&right)) {
            assert!(place < a.size(), "{what}: {right}");
            assert_eq!(at(&a, place), index, "{what}: {right}");
        }
        let dense = a.flat().iter().filter(|mode| mode.stride == 1).map(|mode| mode.extent).max();
        assert!(right.size() >= dense.unwrap_or(1), "{what}: {right}");
        long += u32::from(right.size() > dense.unwrap_or(1));
        match cute::left_inverse(&a) {
            Ok(CuteOutcome { layout, .. }) => {
                accepted += 1;
                let found: Vec<i128> =
                    values(&a).iter().map(|offset| at(&layout, *offset)).collect();
                assert_eq!(found, (0..a.size()).collect::<Vec<_>>(), "{what}: {layout}");
            }
            Err(CuteError::NotInjective { first, second, offset }) => {
                collide += 1;
                assert!(first < second && second < a.size(), "{what}");
                assert_eq!((at(&a, first), at(&a, second)), (offset, offset), "{what}");
            }
            Err(CuteError::Strides { first, second }) => {
                strides += 1;
                assert!(a.flat().contains(&first) && a.flat().contains(&second), "{what}");
                assert!(first.stride > 0 && second.stride % first.stride != 0, "{what}");
                let distinct: BTreeSet<i128> = values(&a).into_iter().collect();
                assert_eq!(i128::try_from(distinct.len()).unwrap(), a.size(), "{what}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    let counts = (accepted, collide, strides, long);
    assert!(accepted > 1000 && collide > 1000 && strides > 50 && long > 500, "{counts:?}");
}

/// A random tiler that often divides the layout: a whole one, or one by mode.
fn tiler(random: &mut Random, a: &CuteLayout) -> Tiler {
    if random.one_in(2) {
        return Tiler::Whole(layout(random, 24));
    }
    let modes = a.modes();
    let count = 1 + random.below(modes.len());
    let mut one = |mode: &CuteLayout| {
        let divisors: Vec<i128> = (1..=mode.size()).filter(|n| mode.size() % n == 0).collect();
        let (extent, stride) = (*random.pick(&divisors), *random.pick(&[1, 1, 1, 2]));
        (!random.one_in(5))
            .then(|| Tiler::Whole(CuteLayout::of_modes(&[CuteMode { extent, stride }]).unwrap()))
    };
    Tiler::Modes(modes.iter().take(count).map(&mut one).collect())
}

fn sorted(mut values: Vec<i128>) -> Vec<i128> {
    values.sort_unstable();
    values
}

#[test]
fn divisions_preserve_elements_and_report_rounding() {
    let (mut accepted, mut rounded, mut refused) = (0, 0, 0);
    for seed in 0..cases(12_000, 48_000) {
        let mut random = Random::new(seed);
        let a = layout(&mut random, 300);
        let tiler = tiler(&mut random, &a);
        let what = format!("seed {seed}: {a} by {tiler:?}");
        let divide = |kind, rounding| cute::divide(&a, &tiler, kind, rounding);
        match divide(DivisionGrouping::Logical, RemainderPolicy::Refuse) {
            Ok(CuteOutcome { layout: found, notes }) => {
                accepted += 1;
                assert_eq!(notes, [], "{what}");
                assert_eq!(sorted(values(&found)), sorted(values(&a)), "{what}: {found}");
                assert_eq!(
                    divide(DivisionGrouping::Logical, RemainderPolicy::Pad).unwrap().layout,
                    found
                );
                for kind in
                    [DivisionGrouping::Zipped, DivisionGrouping::Tiled, DivisionGrouping::Flat]
                {
                    let other = divide(kind, RemainderPolicy::Refuse).unwrap().layout;
                    assert_eq!(sorted(values(&other)), sorted(values(&a)), "{what}: {other}");
                }
                if let Tiler::Whole(tile) = &tiler {
                    let first: Vec<i128> =
                        values(tile).iter().map(|index| at(&a, *index)).collect();
                    assert_eq!(values(&found.modes()[0]), first, "{what}: {found}");
                }
            }
            Err(CuteError::Rounds { size_in, size_out, tiler: tile }) => {
                rounded += 1;
                assert!(size_out > size_in, "{what}");
                let is_exact = laid_side_by_side(&values(&tile), size_in).is_some_and(|places| {
                    i128::try_from(places.len()).unwrap() * tile.size() == size_in
                });
                assert!(!is_exact, "{what}");
                if let (Ok(answer), Tiler::Whole(_)) =
                    (divide(DivisionGrouping::Logical, RemainderPolicy::Pad), &tiler)
                {
                    assert_eq!(answer.notes, [CuteNote::Rounded { size_in, size_out }], "{what}");
                    assert_eq!(answer.layout.size(), size_out, "{what}");
                    let mut missing = values(&a);
                    for value in values(&answer.layout) {
                        if let Some(k) = missing.iter().position(|other| *other == value) {
                            missing.swap_remove(k);
                        }
                    }
                    assert_eq!(missing, [], "{what}: {}", answer.layout);
                }
            }
            Err(CuteError::Repeats { mode }) => {
                assert!(mode.extent > 1 && mode.stride == 0, "{what}");
            }
            Err(CuteError::Uncovered { .. } | CuteError::Overlap { .. }) => refused += 1,
            Err(CuteError::InnerComposition { outer, inner, error }) => {
                refused += 1;
                let wanted: Vec<i128> =
                    values(&inner).iter().map(|index| at(&outer, *index)).collect();
                let extents: Vec<i128> = inner.flat().iter().map(|mode| mode.extent).collect();
                assert_eq!(some_layout(&extents, &wanted), None, "{what}: {error}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    assert!(
        accepted > 2000 && rounded > 500 && refused > 500,
        "{:?}",
        (accepted, rounded, refused)
    );
}

#[test]
fn products_are_disjoint_copies() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..cases(6000, 24_000) {
        let mut random = Random::new(seed);
        let (a, b) = (layout(&mut random, 40), layout(&mut random, 24));
        let what = format!("seed {seed}: {a} by {b}");
        let product = |kind| cute::product(&a, &Tiler::Whole(b.clone()), kind);
        match product(ProductGrouping::Logical) {
            Ok(CuteOutcome { layout, .. }) => {
                accepted += 1;
                assert_eq!(layout.modes()[0], a, "{what}");
                let found = values(&layout);
                let size = usize::try_from(a.size()).unwrap();
                assert_eq!(found.len(), size * usize::try_from(b.size()).unwrap(), "{what}");
                let mut owners = BTreeMap::new();
                for (index, value) in found.iter().enumerate() {
                    let (x, y) = (i128::try_from(index % size).unwrap(), index / size);
                    let copy = at(&b, i128::try_from(y).unwrap());
                    assert_eq!(value - at(&a, x), found[y * size], "{what}: no copy");
                    assert_eq!(
                        *owners.entry(*value).or_insert((at(&a, x), copy)),
                        (at(&a, x), copy)
                    );
                }
                for kind in [
                    ProductGrouping::Zipped,
                    ProductGrouping::Tiled,
                    ProductGrouping::Blocked,
                    ProductGrouping::Raked,
                ] {
                    let other = product(kind).unwrap_or_else(|e| panic!("{what}: {kind:?}: {e}"));
                    assert_eq!(sorted(values(&other.layout)), sorted(found.clone()), "{what}");
                }
            }
            Err(CuteError::Overlap { first, second }) => {
                refused += 1;
                assert!(second.stride < first.extent * first.stride, "{what}");
            }
            Err(CuteError::InnerComposition { outer, inner, error }) => {
                refused += 1;
                let wanted: Vec<i128> =
                    values(&inner).iter().map(|index| at(&outer, *index)).collect();
                let extents: Vec<i128> = inner.flat().iter().map(|mode| mode.extent).collect();
                assert_eq!(some_layout(&extents, &wanted), None, "{what}: {error}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    assert!(accepted > 1000 && refused > 500, "{:?}", (accepted, refused));
}
