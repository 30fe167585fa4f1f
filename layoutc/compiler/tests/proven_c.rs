//! Emitted C of layouts whose maps are proven, compiled and run with the generated test program.
#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "a test")]

use crate::common;
use common::cc::{compile_and_run, folder, run, run_with, write};
use common::{ZERO, convert, manifest, proven, tensor};
use layoutc_algebra::symbol::Symbol;
use layoutc_compiler::emit::{Part, Settings, Templates, emit};
use layoutc_compiler::model::{Fill, FillValue};
use layoutc_compiler::plan::Cores;
use layoutc_testing::{Random, cases};

#[test]
fn maps_of_every_kind_round_trip() {
    let nhwc = [("n", "2"), ("h", "6"), ("w", "5"), ("c", "10")];
    let hw = [("h", "13"), ("w", "21")];
    let one = [("x", "60")];
    let cases: Vec<(&str, &[(&str, &str)], Vec<&str>, Vec<usize>, Vec<i128>)> = vec![
        ("nchw4c", &nhwc, vec!["(n, h, w, c) -> (n, c // 4, h, w, c % 4)"], vec![], vec![]),
        ("texture", &nhwc, vec!["(n, h, w, c) -> (n, c // 4, h, w, c % 4)"], vec![2], vec![]),
        ("three", &nhwc, vec!["(n, h, w, c) -> (n, c // 4, h, w, c % 4)"], vec![0, 2], vec![]),
        ("tiles", &hw, vec!["(h, w) -> (h // 8, w // 16, h % 8, w % 16)"], vec![], vec![]),
        ("minor", &hw, vec!["(h, w) -> (w % 4, h, w // 4)"], vec![], vec![]),
        ("halo", &hw, vec!["(h, w) -> (h + 1 : 15, w + 2 : 25)"], vec![], vec![]),
        ("halo_blocks", &hw, vec!["(h, w) -> ((h + 1) // 4, (h + 1) % 4, w)"], vec![], vec![]),
        ("reversed", &hw, vec!["(h, w) -> (12 - h, w)"], vec![], vec![]),
        (
            "reversed_blocks",
            &hw,
            vec!["(h, w) -> ((12 - h) // 4, w, (12 - h) % 4)"],
            vec![],
            vec![],
        ),
        ("fused", &hw, vec!["(h, w) -> ((h * 21 + w) // 8, (h * 21 + w) % 8)"], vec![], vec![]),
        (
            "fused_turned",
            &hw,
            vec!["(h, w) -> ((w * 13 + h) // 8, (w * 13 + h) % 8)"],
            vec![],
            vec![],
        ),
        (
            "twice",
            &one,
            vec!["(x) -> (x // 4, x % 4)", "(a, b) -> (a // 5, b, a % 5)"],
            vec![],
            vec![],
        ),
        ("odd_cut", &one, vec!["(x) -> (x // 6, x % 6 // 4, x % 6 % 4)"], vec![], vec![]),
        ("xor", &[("h", "8"), ("w", "16")], vec!["(h, w) -> (h, w ^ h)"], vec![], vec![]),
        ("rotated", &[("h", "5"), ("w", "7")], vec!["(h, w) -> (h, (w + h) % 7)"], vec![], vec![]),
        ("coprime", &[("i", "3"), ("j", "2")], vec!["(i, j) -> (7 * i + 3 * j)"], vec![], vec![]),
        ("pitch", &hw, vec![], vec![], vec![32, 1]),
        ("columns", &hw, vec![], vec![], vec![1, 16]),
        ("turned", &[("r", "70"), ("s", "100")], vec!["(r, s) -> (s, r)"], vec![], vec![]),
        (
            "turned_blocks",
            &[("r", "70"), ("s", "100")],
            vec!["(r, s) -> (s // 40, r, s % 40)"],
            vec![],
            vec![],
        ),
        ("scalar", &[], vec![], vec![], vec![]),
        ("empty", &[("x", "3"), ("y", "0")], vec!["(x, y) -> (y, x)"], vec![], vec![]),
        (
            "units",
            &[("x", "1"), ("y", "6"), ("z", "1")],
            vec!["(x, y, z) -> (z, y // 4, x, y % 4)"],
            vec![],
            vec![],
        ),
    ];
    let fill = Fill::Value(FillValue::Float(0.5));
    let tensors = cases.into_iter().map(|(name, shape, maps, separators, strides)| {
        let layout = proven(&[], shape, &maps, &separators, &strides)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        tensor(name, "f32", layout, fill)
    });
    let tensors: Vec<_> = tensors.collect();
    let count = tensors.len();
    let printed = run("maps", &manifest(tensors, Vec::new()));
    assert_eq!(printed.lines().filter(|line| line.contains(": ok")).count(), count, "{printed}");
}

#[test]
fn symbolic_extents_round_trip_at_several_sizes() {
    let symbol =
        |name: &str, min, multiple| Symbol { name: name.to_owned(), min, max: 4096, multiple };
    let symbols = [symbol("batch", 0, 1), symbol("rows", 4, 4)];
    let cases: Vec<(&str, &[(&str, &str)], Vec<&str>, Vec<usize>)> = vec![
        ("outer", &[("b", "batch"), ("c", "6")], vec!["(b, c) -> (b, c // 4, c % 4)"], vec![]),
        ("pair", &[("b", "batch"), ("c", "6")], vec!["(b, c) -> (b, c // 4, c % 4)"], vec![0]),
        ("blocked", &[("b", "batch"), ("c", "5")], vec!["(b, c) -> (b // 4, c, b % 4)"], vec![]),
        ("whole", &[("r", "rows"), ("c", "5")], vec!["(r, c) -> (r // 4, c, r % 4)"], vec![]),
        ("two", &[("b", "batch"), ("r", "rows")], vec!["(b, r) -> (r // 4, b, r % 4)"], vec![]),
        ("swapped", &[("b", "batch"), ("r", "rows")], vec!["(b, r) -> (r, b)"], vec![]),
    ];
    let mut tensors = Vec::new();
    for (name, shape, maps, separators) in cases {
        match proven(&symbols, shape, &maps, &separators, &[]) {
            Ok(layout) => tensors.push(tensor(name, "i16", layout, ZERO)),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let pair = |from, to| convert(from, to, &[0, 1]);
    run("symbolic", &manifest(tensors, vec![pair(0, 1), pair(4, 5), pair(5, 4)]));
}

#[test]
fn blocks_beyond_the_end_copy_nothing() {
    let mut tensors = Vec::new();
    for (name, block) in [("large", 256), ("small", 64)] {
        let map = format!("(x) -> (x // {block}, x % {block})");
        let layout = proven(&[], &[("x", "600")], &[&map], &[], &[]).unwrap();
        tensors.push(tensor(name, "u8", layout, ZERO));
    }
    let pair = |from, to| convert(from, to, &[0]);
    run("beyond", &manifest(tensors, vec![pair(0, 1), pair(1, 0)]));
}

/// A random permutation of digits of `(a, b, c)`, some shifted, reversed or fused.
fn random_map(random: &mut Random, extents: [usize; 3]) -> String {
    let mut items = Vec::new();
    for (name, extent) in ["a", "b", "c"].iter().zip(extents) {
        let value = match random.below(5) {
            0 => format!("({} - {name})", extent - 1),
            1 => format!("({name} + {})", random.below(3) + 1),
            _ => (*name).to_owned(),
        };
        let cut = [2, 3, 4, 8][random.below(4)];
        match random.below(4) {
            0 => items.push(value),
            1 => {
                items.push(format!("{value} // {}", cut * 2));
                items.push(format!("{value} // {cut} % 2"));
                items.push(format!("{value} % {cut}"));
            }
            _ => {
                items.push(format!("{value} // {cut}"));
                items.push(format!("{value} % {cut}"));
            }
        }
    }
    random.shuffle(&mut items);
    let named: Vec<String> = items.iter().enumerate().map(|(k, i)| format!("s{k} = {i}")).collect();
    format!("(a, b, c) -> ({})", named.join(", "))
}

#[test]
fn random_layouts_and_conversions_agree_with_the_reference() {
    let mut random = Random::new(7);
    let (rounds, count) = cases((3, 7), (5, 10));
    for round in 0..rounds {
        let extents = [0; 3].map(|_| random.below(11) + 1);
        let texts = extents.map(|extent| extent.to_string());
        let shape: Vec<(&str, &str)> =
            ["a", "b", "c"].into_iter().zip(texts.iter().map(String::as_str)).collect();
        let mut tensors = Vec::new();
        while tensors.len() < count {
            let map = random_map(&mut random, extents);
            let separators = if random.below(3) == 0 { vec![0] } else { vec![] };
            let layout = proven(&[], &shape, &[&map], &separators, &[]);
            let Ok(layout) = layout else { panic!("{map} of {shape:?}: {layout:?}") };
            let dtype = ["u8", "u4", "f64", "i32"][round % 4];
            let name = format!("t{}", tensors.len());
            tensors.push(tensor(&name, dtype, layout, Fill::Value(FillValue::Integer(3))));
        }
        let converts = (0..count).map(|from| convert(from, (from + 5) % count, &[0, 1, 2]));
        // The test program also compares the macros with the functions.
        let mut settings = Settings::c();
        settings.emit.insert(Part::Macros);
        let manifest = manifest(tensors, converts.collect());
        run_with(&format!("random{round}"), &manifest, &settings);
    }
}

#[test]
fn random_layouts_in_parallel_agree_with_the_reference() {
    let flags = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-O1", "-fopenmp"];
    let mut random = Random::new(11);
    let count = cases(3, 5);
    for (round, dtype) in ["u4", "i32", "u1"].into_iter().take(cases(2, 3)).enumerate() {
        let least = if dtype == "u1" { 120 } else { 70 };
        let extents = [0; 3].map(|_| random.below(40) + least);
        let texts = extents.map(|extent| extent.to_string());
        let shape: Vec<(&str, &str)> =
            ["a", "b", "c"].into_iter().zip(texts.iter().map(String::as_str)).collect();
        let one = Fill::Value(FillValue::Integer(1));
        let tensors: Vec<_> = (0..count)
            .map(|k| {
                let map = random_map(&mut random, extents);
                let layout = proven(&[], &shape, &[&map], &[], &[]);
                tensor(&format!("t{k}"), dtype, layout.unwrap(), one)
            })
            .collect();
        let converts =
            (0..count).map(|from| convert(from, (from + 1) % count, &[0, 1, 2])).collect();
        let settings = Settings { cores: Cores::All, ..Settings::c() };
        let name = format!("cores{round}");
        let manifest = manifest(tensors, converts);
        let outputs = emit(&manifest, &settings, &name, &Templates::default()).unwrap();
        // In one parallel region for all loops, or one per loop.
        let marked = |how: &str| outputs[1].text.matches(how).count();
        let loops = marked("#pragma omp for") + marked("#pragma omp parallel for");
        assert!(loops > 4, "{dtype}: {loops} loops");
        let folder = folder(&name);
        write(&folder, &outputs);
        let sources = [format!("tests/{name}_test.c"), format!("{name}.c")];
        let sources = sources.each_ref().map(String::as_str);
        let gcc = ("gcc", flags.to_vec(), true);
        let printed = compile_and_run(&folder, &name, &sources, gcc).unwrap();
        assert_eq!(printed.matches(": ok").count(), 2 * count, "{printed}");
    }
}
