//! Pack and unpack in process (`pack`): random tensors against the enumerated oracle, large ones against the
//! closed-form offset of their layout. `LAYOUTC_FULL=1` runs ten times as many.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::check_text::tensors;
use crate::random_manifest;
use layoutc_testing::{Random, cases};
use std::collections::BTreeMap;

use layoutc_compiler::config::Config;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::pack::{PackError, Packing, pack, unpack};
use layoutc_testing::layouts::{Truth, truth};
use random_manifest::{Fill, bits, dtypes, manifest};

type Symbols = BTreeMap<String, i128>;

fn size(value: i64) -> usize {
    usize::try_from(value).unwrap()
}

/// Bytes of an element; a packed element is one byte.
fn element(buffer: &[u8], at: usize, width: usize, packing: Option<Packing>) -> Vec<u8> {
    match packing {
        Some(packing) => vec![packing.load(buffer, at).unwrap()],
        None => buffer[at * width / 8..(at + 1) * width / 8].to_vec(),
    }
}

/// Packs and unpacks a tensor and compares every slot with the oracle.
fn agrees(
    (tensor, text): (&Tensor, &str),
    truth: &Truth,
    fill: Fill,
    symbols: &Symbols,
    random: &mut Random,
) {
    let width = size(bits(&tensor.dtype.to_string()));
    let packing = Packing::new(u32::try_from(width).unwrap(), tensor.high_first);
    let packs = pack(tensor, symbols).unwrap();
    let bytes = |elements: i64| (size(elements) * width).div_ceil(8);
    assert_eq!(packs.from_bytes, bytes(truth.logical_elements), "{}", tensor.name);
    assert_eq!(packs.to_bytes, bytes(truth.physical_elements), "{}", tensor.name);
    let logical = random.bytes(packs.from_bytes);
    let mut physical = vec![0xAA; packs.to_bytes];
    let moved = packs.run(&logical, &mut physical);
    assert_eq!(moved, Ok(()), "{} with {symbols:?} in\n{text}", tensor.name);
    let mut owners = vec![None; size(truth.physical_elements)];
    for (k, element) in truth.elements.iter().enumerate() {
        owners[size(element.offset)] = Some(k);
    }
    let read = |buffer: &[u8], at: usize| element(buffer, at, width, packing);
    let untouched = vec![0xAA; packs.to_bytes];
    for (slot, owner) in owners.iter().enumerate() {
        let mut one = vec![0; width.div_ceil(8)];
        one[0] = 1;
        let wanted = match (owner, fill) {
            (Some(k), _) => read(&logical, *k),
            (None, Fill::Zero) => vec![0; width.div_ceil(8)],
            (None, Fill::One) => one,
            (None, Fill::Nothing) => read(&untouched, slot),
        };
        assert_eq!(read(&physical, slot), wanted, "{} at {slot}", tensor.name);
    }
    let mut back = vec![0x55; packs.from_bytes];
    unpack(tensor, symbols).unwrap().run(&physical, &mut back).unwrap();
    for k in 0..truth.elements.len() {
        assert_eq!(read(&back, k), read(&logical, k), "{} back at {k}", tensor.name);
    }
}

fn campaign(first: u64, manifests: u64, dtypes: &[&'static str]) {
    for seed in first..first + manifests {
        let mut random = Random::new(seed);
        let manifest = manifest(&mut random, 4, &Config::default(), dtypes, |_, tensor| tensor);
        let text = manifest.text();
        for (tensor, given) in tensors(&text).iter().zip(&manifest.tensors) {
            for batch in &manifest.sizes {
                let symbols = BTreeMap::from([("batch".to_owned(), i128::from(*batch))]);
                let case = given.case.symbol.map_or(given.case.clone(), |_| given.case.at(*batch));
                // `agrees` computes the fill value 1 of scalars only.
                if given.fill == Fill::One && given.dtype.contains('x') {
                    continue;
                }
                agrees((tensor, &text), &truth(&case).unwrap(), given.fill, &symbols, &mut random);
            }
        }
    }
}

#[test]
fn random_in_process_packs_agree_with_the_oracle() {
    campaign(0x9ACC, cases(40, 400), &dtypes());
}

#[test]
fn in_process_sub_byte_packs_agree_with_the_oracle() {
    campaign(
        0x4B17,
        cases(20, 200),
        &["i4", "u4", "i2", "u2", "u1", "f4e2m1fn", "u3", "i5", "u6", "f6e3m2fn"],
    );
}

#[test]
fn fill_of_complex_elements_is_a_real_number() {
    for (dtype, one) in [
        ("c64", [1.0_f32, 0.0].map(f32::to_le_bytes).concat()),
        ("c128", [1.0_f64, 0.0].map(f64::to_le_bytes).concat()),
        ("c64x2", [1.0_f32, 0.0, 1.0, 0.0].map(f32::to_le_bytes).concat()),
        ("c128x2", [1.0_f64, 0.0, 1.0, 0.0].map(f64::to_le_bytes).concat()),
    ] {
        for layout in ["pad n multiple=4", "map \"(n) -> (n * 5 % 7 : 8)\"; padding allow"] {
            let text = format!(
                "tensor t dtype={dtype} {{ shape {{ n 3 }}; layout {{ {layout}; fill 1 }} }}"
            );
            let tensor = &tensors(&text)[0];
            let logical = vec![0x40; 3 * one.len()];
            let packs = pack(tensor, &Symbols::new()).unwrap();
            let mut physical = vec![0xAA; packs.to_bytes];
            packs.run(&logical, &mut physical).unwrap();
            let elements = physical.chunks_exact(one.len());
            let (fills, others): (Vec<_>, Vec<_>) =
                elements.partition(|element| **element == one[..]);
            assert_eq!(others, [&logical[..one.len()]; 3], "{text}");
            assert_eq!(fills.len() + 3, physical.len() / one.len(), "{text}");
        }
    }
}

/// Elements of a large tensor: each is its own position in `bytes` bytes.
fn counted(elements: usize, bytes: usize) -> Vec<u8> {
    (0..elements).flat_map(|k| k.to_le_bytes().into_iter().cycle().take(bytes)).collect()
}

/// Packs a large tensor, checks each element at `offset` of its index, and padding for 0 if there is a fill, and
/// unpacks it.
fn large(text: &str, shape: &[usize], offset: impl Fn(&[usize]) -> usize) {
    let tensor = &tensors(text)[0];
    let bytes = size(i64::from(tensor.dtype.element_bits() / 8));
    let logical = counted(shape.iter().product(), bytes);
    let packs = pack(tensor, &Symbols::new()).unwrap();
    let mut physical = vec![0xAA; packs.to_bytes];
    packs.run(&logical, &mut physical).unwrap();
    let mut padding = physical.clone();
    let mut at = vec![0; shape.len()];
    for source in logical.chunks_exact(bytes) {
        let place = offset(&at) * bytes;
        assert_eq!(&physical[place..place + bytes], source, "{at:?} in\n{text}");
        padding[place..place + bytes].fill(0);
        for (index, extent) in at.iter_mut().zip(shape).rev() {
            *index += 1;
            if *index < *extent {
                break;
            }
            *index = 0;
        }
    }
    assert!(!text.contains("fill 0") || padding.iter().all(|byte| *byte == 0), "{text}");
    let mut back = vec![0; logical.len()];
    unpack(tensor, &Symbols::new()).unwrap().run(&physical, &mut back).unwrap();
    assert!(back == logical, "unpacked differs in\n{text}");
}

fn text(dtype: &str, axes: &str, layout: &str) -> String {
    format!("tensor t dtype={dtype} {{\n    shape {{ {axes} }}\n    layout {{ {layout} }}\n}}\n")
}

#[test]
fn large_tensors_are_packed_in_parallel() {
    for dtype in ["i8", "f16", "f32", "f64", "c128", "i8x3"] {
        let axes = "n 3; c 37; h 70; w 131";
        large(&text(dtype, axes, "order n h w c"), &[3, 37, 70, 131], |at| {
            ((at[0] * 70 + at[2]) * 131 + at[3]) * 37 + at[1]
        });
        let blocked = "map \"(n, c, h, w) -> (n, c // 8, h, w, c % 8)\"";
        large(&text(dtype, axes, blocked), &[3, 37, 70, 131], |at| {
            (((at[0] * 5 + at[1] / 8) * 70 + at[2]) * 131 + at[3]) * 8 + at[1] % 8
        });
        large(&text(dtype, "h 1031; w 517", "order w h"), &[1031, 517], |at| at[1] * 1031 + at[0]);
        let tiled = "tile 8 128; fill 0";
        large(&text(dtype, "h 1031; w 517", tiled), &[1031, 517], |at| {
            ((at[0] / 8 * 5 + at[1] / 128) * 8 + at[0] % 8) * 128 + at[1] % 128
        });
        let reversed = "map \"(h, w) -> (516 - w, h)\"";
        large(&text(dtype, "h 1031; w 517", reversed), &[1031, 517], |at| {
            (516 - at[1]) * 1031 + at[0]
        });
    }
    let swizzled = "map \"(h, w) -> (h, w ^ (h % 8))\"";
    large(&text("f32", "h 1024; w 512", swizzled), &[1024, 512], |at| {
        at[0] * 512 + (at[1] ^ (at[0] % 8))
    });
}

#[test]
fn every_memory_kind_is_packed_in_process() {
    let shape = "shape { h 5; w 8 }\n    layout { map \"(h, w) -> (w // 4 | h, w % 4)\" }";
    for memory in ["none", "texture", "shared"] {
        let tensor = format!("tensor t dtype=f32 {{\n    {shape}\n    memory {memory}\n}}\n");
        if memory == "texture" {
            large(&tensor, &[5, 8], |at| (at[1] / 4 * 5 + at[0]) * 4 + at[1] % 4);
        }
        assert!(pack(&tensors(&tensor)[0], &Symbols::new()).is_ok(), "{memory}");
    }
}

#[test]
fn missing_symbols_and_wrong_buffer_sizes_are_refused() {
    let tensor = &tensors("symbol n min=2 max=8\ntensor t dtype=f32 { shape { a n; b 3 } }\n")[0];
    let with = |n: i128| BTreeMap::from([("n".to_owned(), n)]);
    assert_eq!(pack(tensor, &Symbols::new()).unwrap_err(), PackError::Symbols);
    let ready = pack(tensor, &with(4)).unwrap();
    let mut target = [0; 48];
    assert_eq!(ready.run(&[0; 47], &mut target), Err(PackError::Size { given: 47, needed: 48 }));
    assert_eq!(ready.run(&[0; 48], &mut target), Ok(()));
    let beyond = pack(tensor, &with(9)).and_then(|ready| ready.run(&[0; 108], &mut [0; 108]));
    assert_eq!(beyond, Err(PackError::Symbols));
}
