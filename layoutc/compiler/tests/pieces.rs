//! Pack and unpack in chunks (`InPieces`) with little memory: byte for byte the result for the whole tensor, on
//! random layouts. `LAYOUTC_FULL=1` runs ten times as many.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::common::check_text::{check_text, tensors};
use crate::random_manifest;
use layoutc_testing::{Random, cases};
use std::collections::BTreeMap;

use layoutc_compiler::config::Config;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::pack::pieces::{
    DenseFile, Direction, InPieces, Order, Pieces, Runs, WindowSlot, Windows, padding,
};
use layoutc_compiler::pack::{pack, unpack};
use random_manifest::{dtypes, manifest};

type Symbols = BTreeMap<String, i128>;

/// A file that counts the writes of each byte.
struct File {
    bytes: Vec<u8>,
    times: Vec<u8>,
}

impl File {
    fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], times: vec![0; bytes] }
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap();
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.times[at..at + bytes.len()].iter_mut().for_each(|times| *times += 1);
    }
}

fn read_runs(runs: &Runs, unit: usize, file: &[u8]) -> Vec<u8> {
    let mut held = vec![0xEE; runs.units() * unit];
    for run in runs.each(unit) {
        let at = usize::try_from(run.at).unwrap();
        held[run.held..run.held + run.length].copy_from_slice(&file[at..at + run.length]);
    }
    held
}

fn write_runs(runs: &Runs, unit: usize, held: &[u8], file: &mut File) {
    for run in runs.each(unit) {
        file.write(run.at, &held[run.held..run.held + run.length]);
    }
}

fn repeated(pattern: &[u8], bytes: usize) -> Vec<u8> {
    pattern.iter().copied().cycle().take(bytes).collect()
}

fn boxes(pieces: &Pieces, direction: Direction, source: &[u8], file: &mut File, fill: &[u8]) {
    let unit = pieces.unit_bytes();
    for number in 0..pieces.count() {
        let piece = pieces.piece(number);
        let (from, to) = match direction {
            Direction::Pack => (&piece.dense, &piece.slots),
            Direction::Unpack => (&piece.slots, &piece.dense),
        };
        let held = read_runs(from, unit, source);
        let mut target = repeated(fill, to.units() * unit);
        pieces.run(&piece, direction, &held, &mut target).unwrap();
        write_runs(to, unit, &target, file);
        if direction == Direction::Pack {
            for gap in &piece.gaps {
                write_runs(gap, unit, &repeated(fill, gap.units() * unit), file);
            }
        }
    }
}

fn windows(
    all: &Windows,
    (direction, bits): (Direction, usize),
    source: &[u8],
    file: &mut File,
    fill: &[u8],
) {
    let mut slots: Vec<WindowSlot> = Vec::new();
    for number in 0..all.count() {
        all.slots(number, &mut slots);
        let first = number * all.window;
        let end = (first + all.window).min(all.elements);
        let dense = first * bits / 8..(end * bits).div_ceil(8);
        let mut own = repeated(fill, dense.len());
        for span in all.spans(&slots) {
            let at = usize::try_from(span.at).unwrap();
            let there = at..at + span.bytes;
            if direction == Direction::Pack {
                let mut bytes = file.bytes[there.clone()].to_vec();
                all.pack(&span, &slots, &source[dense.clone()], &mut bytes).unwrap();
                file.bytes[there].copy_from_slice(&bytes);
            } else {
                all.unpack(&span, &slots, &source[there], &mut own).unwrap();
            }
        }
        if direction == Direction::Unpack {
            file.write(dense.start as u64, &own);
        }
    }
}

/// Number of moves by boxes and by windows, and of chunks.
#[derive(Debug, Default)]
struct Seen {
    boxes: u32,
    windows: u32,
    pieces: u64,
}

fn agrees(
    (tensor, text): (&Tensor, &str),
    symbols: &Symbols,
    memory: usize,
    random: &mut Random,
    seen: &mut Seen,
) {
    let what = || format!("{} with {symbols:?} in {memory} bytes, in\n{text}", tensor.name);
    let bits = tensor.dtype.element_bits();
    let file = DenseFile { order: Order::LastFastest, element_bits: bits };
    for direction in [Direction::Pack, Direction::Unpack] {
        let at_once = match direction {
            Direction::Pack => pack(tensor, symbols).unwrap(),
            Direction::Unpack => unpack(tensor, symbols).unwrap(),
        };
        if at_once.from_bytes == 0 || at_once.to_bytes == 0 {
            continue;
        }
        let source = random.bytes(at_once.from_bytes);
        let mut wanted = vec![0; at_once.to_bytes];
        at_once.run(&source, &mut wanted).unwrap();
        let fill = padding(tensor, direction).unwrap().unwrap_or_else(|| vec![0]);
        let mut found = File::new(wanted.len());
        let pieces = InPieces::new(tensor, symbols, (direction, file), memory).unwrap();
        match &pieces {
            InPieces::Boxes(pieces) => {
                boxes(pieces, direction, &source, &mut found, &fill);
                assert!(found.times.iter().all(|times| *times == 1), "{}", what());
                seen.boxes += 1;
                seen.pieces += pieces.count();
            }
            InPieces::Windows(all) => {
                if direction == Direction::Pack {
                    found.bytes = repeated(&fill, wanted.len());
                }
                let how = (direction, bits.try_into().unwrap());
                windows(all, how, &source, &mut found, &fill);
                seen.windows += 1;
            }
        }
        assert!(found.bytes == wanted, "{direction:?} of {}", what());
    }
}

fn campaign(first: u64, manifests: u64, dtypes: &[&'static str]) -> Seen {
    let mut seen = Seen::default();
    for seed in first..first + manifests {
        let mut random = Random::new(seed);
        let manifest = manifest(&mut random, 4, &Config::default(), dtypes, |_, tensor| tensor);
        let text = manifest.text();
        for tensor in &tensors(&text) {
            for batch in &manifest.sizes {
                let symbols = BTreeMap::from([("batch".to_owned(), i128::from(*batch))]);
                let memory = 1_usize << (4 + random.below(12));
                agrees((tensor, &text), &symbols, memory, &mut random, &mut seen);
            }
        }
    }
    seen
}

#[test]
fn chunked_conversions_of_random_tensors_equal_one_pass() {
    let seen = campaign(0x51CE, cases(40, 400), &dtypes());
    assert!(seen.boxes > 100 && seen.windows > 10, "{seen:?}");
}

#[test]
fn chunked_conversions_of_sub_byte_elements_equal_one_pass() {
    let seen = campaign(
        0x8B17,
        cases(20, 200),
        &["i4", "u4", "i2", "u2", "u1", "f4e2m1fn", "u3", "i5", "u6", "f6e3m2fn"],
    );
    assert!(seen.boxes > 10 && seen.windows > 10, "{seen:?}");
}

/// Layouts with gaps too wide to be written with their neighbors, halos, reversed axes, and maps that are not sums of
/// digits.
const ODD: &[&str] = &[
    "shape { h 40; c 16 }; layout { strides 5000 1; fill 7 }",
    "shape { h 9; c 6 }; layout { strides 6000 9; fill 7 }",
    "shape { n 2; h 12; w 10; c 6 }; layout { pad h before=1 after=1; pad w before=2 after=1; fill 3 }",
    "shape { n 3; h 12; w 10 }; layout { map \"(n, h, w) -> (n, 11 - h, w)\" }",
    "shape { n 3; h 13; w 10 }; layout { map \"(n, h, w) -> ((12 - h) // 4, n, w, (12 - h) % 4)\"; fill 2 }",
    "shape { h 32; w 64 }; layout { swizzle 3 3 3 unit=elements }",
    "shape { h 16; w 24 }; layout { map \"(h, w) -> (morton(h, w))\"; fill 5; padding allow }",
    "shape { a 5; b 7 }; layout { strides 3 5; fill 5; padding allow }",
    "shape { a 12; b 10 }; layout { map \"(a, b) -> ((a * 10 + b) // 7, (a * 10 + b) % 7)\"; fill 1 }",
    "shape { c 100 }; layout { map \"(c) -> (c % 10, c // 10)\" }",
    "shape { r 20; c 20; where \"c <= r\" }; layout { map \"(r, c) -> (r * (r + 1) // 2 + c)\"; fill 3; padding allow }",
    "shape { }",
    "shape { h 1; w 1 }; layout { tile 8 128; fill 4 }",
];

#[test]
fn chunked_conversions_of_unusual_layouts_give_the_same_bytes() {
    let mut seen = Seen::default();
    let mut random = Random::new(7);
    for body in ODD {
        for dtype in ["i8", "f32", "f32x4", "i4"] {
            let text = format!("tensor t dtype={dtype} {{ {body} }}");
            let checked = check_text(&text);
            let Some(tensor) = checked.manifests.first().and_then(|m| m.tensors.first()) else {
                panic!("{:#?}\n{text}", checked.diagnostics);
            };
            for memory in [0, 64, 300, 1000, 5000, 20_000, 1_000_000] {
                agrees((tensor, &text), &Symbols::new(), memory, &mut random, &mut seen);
            }
        }
    }
    assert!(seen.boxes > 100 && seen.windows > 50, "{seen:?}");
}
