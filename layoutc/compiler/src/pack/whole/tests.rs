//! Relayouts by several tasks against the definition: the offset expression of the layout, evaluated for each index.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::collections::BTreeMap;

use layoutc_algebra::expr::Var;
use layoutc_testing::Random;

use super::super::chains::{Chains, Order};
use super::super::{Direction, Unwritten, Width, sizes};
use super::{Region, Whole};
use crate::config::Config;
use crate::model::Tensor;
use crate::{Compiler, MemorySources};

/// Shapes and layouts: nested and interleaved strides, partial tiles, halos, reversed axes, and padding of every width.
const BODIES: &[&str] = &[
    "shape { a 5; b 7; c 6 }; layout { order b c a }",
    "shape { a 13; b 30 }; layout { tile 4 8; fill 3 }",
    "shape { a 13; b 30 }; layout { tile 4 8; tile 2 1; fill 1 }",
    "shape { a 9; b 11; c 3 }; layout { pad c multiple=4; fill 2 }",
    "shape { a 9; b 11; c 3 }; layout { pad a before=1 after=2; pad b before=2 after=1; fill 2 }",
    "shape { a 9; b 12 }; layout { map \"(a, b) -> (b // 4, 8 - a, b % 4)\" }",
    "shape { a 9; b 12 }; layout { map \"(a, b) -> (11 - b, a)\" }",
    "shape { a 6; b 9 }; layout { strides 40 4; fill 5; padding allow }",
    "shape { a 5; b 7 }; layout { strides 3 5; fill 5; padding allow }",
    "shape { a 3; b 70 }; layout { map \"(a, b) -> ((a * 70 + b) // 16, (a * 70 + b) % 16)\"; fill 1 }",
    "shape { a 16; b 24 }; layout { map \"(a, b) -> (b // 8, a, b % 8)\" }",
    "shape { a n; b 10 }; layout { tile 4 4; fill 6 }",
    "shape { a 40 }",
];

fn tensor(text: String) -> Tensor {
    let checked = Compiler::new(&MemorySources::of("a.kdl", text), &Config::default())
        .check(&["a.kdl".to_owned()]);
    assert!(checked.diagnostics.is_empty(), "{:#?}", checked.diagnostics);
    checked.manifests[0].tensors[0].clone()
}

/// Slot of each element in the order of the dense buffer.
fn slots(tensor: &Tensor, extents: &[usize], batch: i128) -> Vec<usize> {
    let elements: usize = extents.iter().product();
    let slot = |mut rest: usize| {
        let mut index = vec![0; extents.len()];
        for (index, extent) in index.iter_mut().zip(extents).rev() {
            (*index, rest) = (i128::try_from(rest % extent).unwrap(), rest / extent);
        }
        let value = |var| match var {
            Var::Axis(k) => index.get(usize::try_from(k).unwrap()).copied(),
            _ => Some(batch),
        };
        usize::try_from(tensor.layout.offset().evaluate(&value).unwrap()).unwrap()
    };
    (0..elements).map(slot).collect()
}

#[test]
fn tasks_move_every_element_to_its_offset() {
    let mut random = Random::new(11);
    for body in BODIES {
        for dtype in ["i8", "f32", "i16x3", "i4", "u3"] {
            let text = format!("symbol n min=1 max=40\ntensor t dtype={dtype} {{ {body} }}");
            let tensor = tensor(text.clone());
            let batch = 1 + i128::from(random.below(40));
            let symbols = BTreeMap::from([("n".to_owned(), batch)]);
            let extents = super::super::logical_shape(&tensor, &symbols).unwrap();
            let extents: Vec<usize> =
                extents.into_iter().map(|extent| usize::try_from(extent).unwrap()).collect();
            let chains = Chains::of(&tensor, &symbols, Order::LastFastest).unwrap().unwrap();
            let whole = Whole::new(&tensor, chains).unwrap();
            let width = Width::of(tensor.dtype, tensor.high_first).unwrap();
            let (dense, laid_out) = sizes(&tensor, &symbols).unwrap();
            let slots = slots(&tensor, &extents, batch);
            let packs = Unwritten::of(&tensor, Direction::Pack).unwrap();
            let logical = random.bytes(dense);
            let mut wanted = vec![0; laid_out];
            if let Unwritten::Filled(pattern) = &packs {
                super::repeat(pattern, &mut wanted);
            }
            let mut back = vec![0; dense];
            for (k, slot) in slots.iter().enumerate() {
                width.copy(&logical, k, &mut wanted, *slot).unwrap();
                width.copy(&logical, k, &mut back, k).unwrap();
            }
            for several in [1, 2, 3, 7, 16, 1000] {
                let what = format!("{several} tasks, n={batch}, in\n{text}");
                let mut found = random.bytes(laid_out);
                let both = (logical.as_slice(), found.as_mut_slice());
                whole.run_tasks(Direction::Pack, &packs, both, several).unwrap();
                assert!(found == wanted, "{what}");
                let mut found = vec![0; dense];
                let both = (wanted.as_slice(), found.as_mut_slice());
                whole.run_tasks(Direction::Unpack, &Unwritten::ZeroBits, both, several).unwrap();
                assert!(found == back, "{what}");
            }
        }
    }
}

#[test]
fn nested_digits_are_split_into_tasks() {
    for (direction, counts) in
        [(Direction::Pack, [1, 2, 4, 8, 8]), (Direction::Unpack, [1, 2, 3, 8, 16])]
    {
        let tensor =
            tensor("tensor t dtype=f32 { shape { a 8; b 16 }; layout { tile 4 8 } }".into());
        let chains = Chains::of(&tensor, &BTreeMap::new(), Order::LastFastest).unwrap().unwrap();
        let whole = Whole::new(&tensor, chains).unwrap();
        let whole = Region::whole(&whole.chains);
        let split = [1, 2, 3, 8, 9].map(|several| whole.split(direction, several, 1).len());
        assert_eq!(split, counts, "{direction:?}");
    }
}
