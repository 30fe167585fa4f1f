//! Emitted C of random manifests, compiled and run: the generated test program, and a driver that only uses the names
//! of the functions and the slots of the enumerated oracle. `LAYOUTC_FULL=1` runs 300 tensors with every compiler.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use crate::common::cc::{STRICT, build_and_run, folder};
use crate::random_manifest;
use layoutc_testing::process::needed_program;
use layoutc_testing::{Random, cases, is_full, layouts};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;

use layoutc_compiler::config::Config;
use layoutc_testing::layouts::{Case, Facts, MapItem, Step, Tree, Truth, bin, truth};
use random_manifest::{Fill, Manifest, Tensor, bits, built, dtypes, manifest, records};

const C99: &[&str] =
    &["-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

const CPP: &[&str] = &["-std=c++17", "-x", "c++", "-O0"];

/// A C compiler with its flags.
type Compiler = (&'static str, &'static [&'static str]);

const C: [Compiler; 3] = [("gcc", C99), ("clang", C99), ("tcc", &["-Wall", "-Werror"])];

fn compilers() -> Vec<Compiler> {
    C.into_iter().filter(|(name, _)| needed_program(name).is_some()).collect()
}

const HELPERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"

static FILE *tables;
static int failed;

static int64_t number(void) {
    int64_t value = 0;
    if (fread(&value, sizeof value, 1, tables) != 1) { puts("the tables end"); exit(2); }
    return value;
}

static int64_t *numbers(int64_t count) {
    int64_t *all = malloc((size_t)count * sizeof *all + 1);
    if (!all) exit(2);
    for (int64_t k = 0; k < count; k++) all[k] = number();
    return all;
}

static unsigned char *buffer(int64_t elements, int bits, int byte) {
    size_t size = ((size_t)elements * (size_t)bits + 7) / 8;
    unsigned char *all = malloc(size ? size : 1);
    if (!all) exit(2);
    memset(all, byte, size);
    return all;
}

static unsigned char *pattern(int64_t elements, int bits) {
    unsigned char *all = buffer(elements, bits, 0);
    size_t size = ((size_t)elements * (size_t)bits + 7) / 8;
    uint64_t state = 88172645463325252u;
    for (size_t k = 0; k < size; k++) {
        state ^= state << 13; state ^= state >> 7; state ^= state << 17;
        all[k] = (unsigned char)(state >> 20 & (bits < 8 ? 0xFF : 0x3F));
    }
    return all;
}

static unsigned small(const unsigned char *all, int64_t at, int bits, int high) {
    unsigned value = 0;
    for (int k = 0; k < bits; k++) {
        int64_t bit = at * bits + k;
        unsigned one = (unsigned)all[bit / 8] >> (high ? 7 - bit % 8 : bit % 8) & 1u;
        value |= one << (high ? bits - 1 - k : k);
    }
    return value;
}

static int same(const unsigned char *a, int64_t i, int high_a, const unsigned char *b, int64_t j, int high_b, int bits) {
    if (bits < 8) return small(a, i, bits, high_a) == small(b, j, bits, high_b);
    size_t size = (size_t)bits / 8;
    return memcmp(a + (size_t)i * size, b + (size_t)j * size, size) == 0;
}

static int filled(const unsigned char *a, int64_t i, int high, int bits, int fill) {
    static const unsigned char untouched[8] = {0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA};
    if (bits < 8) return small(a, i, bits, high) == (fill == 2 ? small(untouched, i % 8, bits, high) : (unsigned)fill);
    size_t size = (size_t)bits / 8;
    for (size_t k = 0; k < size; k++) {
        if (a[(size_t)i * size + k] != (fill == 2 ? 0xAA : k == 0 ? fill : 0)) return 0;
    }
    return 1;
}

static void wrong(const char *what, int64_t batch, int64_t at) {
    if (failed++ < 10) printf("%s: batch %lld, at %lld\n", what, (long long)batch, (long long)at);
}

static void slots_hold(const char *what, int64_t batch, const unsigned char *logical, int high_l,
                       const unsigned char *physical, int high_p, const int64_t *owner, int64_t slots, int bits, int fill) {
    for (int64_t k = 0; k < slots; k++) {
        if (owner[k] >= 0 ? !same(physical, k, high_p, logical, owner[k], high_l, bits)
                          : !filled(physical, k, high_p, bits, fill)) {
            wrong(what, batch, k);
        }
    }
}
"#;

/// Text of the driver: one function per tensor and conversion, and a `main` that runs them at every size.
fn driver(manifest: &Manifest, header: &str) -> String {
    let mut text = HELPERS.to_owned();
    let symbol = manifest.tensors[0].case.symbol.is_some();
    let batch = if symbol { "batch" } else { "" };
    let joined = |parts: Vec<String>| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    };
    for tensor in &manifest.tensors {
        let name = &tensor.name;
        let rank = tensor.case.axes.len();
        let truth = truth(&tensor.case).unwrap();
        let physical_rank = truth.physical_shape.len();
        let width = bits(tensor.dtype);
        let high = i32::from(tensor.high_first);
        let fill = match tensor.fill {
            Fill::Zero => 0,
            Fill::One => 1,
            Fill::Nothing => 2,
        };
        let index = |prefix: &str, count: usize| -> Vec<String> {
            (0..count).map(|k| format!("{prefix}[{k}]")).collect()
        };
        let logical = joined([vec![batch.to_owned()], index("i", rank)].concat());
        let outs: Vec<String> = (0..rank).map(|k| format!("&o[{k}]")).collect();
        let inverse = joined([vec![batch.to_owned()], index("p", physical_rank), outs].concat());
        let call = |arguments: &str| joined(vec![batch.to_owned(), arguments.to_owned()]);
        writeln!(text, "static unsigned char *{name}_packed, *{name}_logical_buffer;").unwrap();
        writeln!(text, "static int64_t *{name}_owner, {name}_slots;").unwrap();
        writeln!(text, "static void check_{name}(int64_t batch) {{").unwrap();
        writeln!(text, "    int64_t n = number(), slots = number(), boxed = number();").unwrap();
        writeln!(
            text,
            "    int64_t i[{0}] = {{0}}, p[{1}] = {{0}}, o[{0}] = {{0}};",
            rank + 1,
            physical_rank
        )
        .unwrap();
        writeln!(text, "    (void)i; (void)p; (void)o; (void)batch;").unwrap();
        writeln!(text, "    int64_t *elements = numbers(n * {}), *owner = numbers(slots), *places = numbers(boxed * {});", rank + physical_rank + 1, physical_rank + 1).unwrap();
        let count = |what: &str| {
            // A size that does not depend on the symbol is a macro.
            let constant = format!("{}_{}", name.to_uppercase(), what.to_uppercase());
            let known = header.lines().any(|line| line.split(' ').nth(1) == Some(&constant));
            if known { constant } else { format!("{name}_{what}(batch)") }
        };
        writeln!(
            text,
            "    if ({} != n) wrong(\"{name}: logical elements\", batch, n);",
            count("logical_elements")
        )
        .unwrap();
        writeln!(
            text,
            "    if ({} != slots) wrong(\"{name}: physical elements\", batch, slots);",
            count("physical_elements")
        )
        .unwrap();
        writeln!(
            text,
            "    if ({} != (slots * {width} + 7) / 8) wrong(\"{name}: bytes\", batch, slots);",
            count("bytes")
        )
        .unwrap();
        writeln!(text, "    unsigned char *logical = pattern(n, {width}), *physical = buffer(slots, {width}, 0xAA), *back = buffer(n, {width}, 0x55);").unwrap();
        writeln!(text, "    {name}_pack({});", call("(void *)logical, (void *)physical")).unwrap();
        writeln!(text, "    slots_hold(\"{name}_pack\", batch, logical, {high}, physical, {high}, owner, slots, {width}, {fill});").unwrap();
        writeln!(text, "    {name}_unpack({});", call("(void *)physical, (void *)back")).unwrap();
        writeln!(text, "    for (int64_t k = 0; k < n; k++) if (!same(logical, k, {high}, back, k, {high}, {width})) wrong(\"{name}_unpack\", batch, k);").unwrap();
        writeln!(text, "    for (int64_t k = 0; k < n; k++) {{").unwrap();
        writeln!(text, "        const int64_t *row = elements + k * {};", rank + physical_rank + 1)
            .unwrap();
        for k in 0..rank {
            writeln!(text, "        i[{k}] = row[{k}];").unwrap();
        }
        writeln!(text, "        int64_t offset = {name}_offset({logical});").unwrap();
        writeln!(
            text,
            "        if (offset != row[{}]) wrong(\"{name}_offset\", batch, k);",
            rank + physical_rank
        )
        .unwrap();
        if physical_rank > 1 {
            for k in 0..physical_rank {
                writeln!(text, "        if ({name}_index_{k}({logical}) != row[{}]) wrong(\"{name}_index_{k}\", batch, k);", rank + k).unwrap();
            }
        }
        if width < 8 {
            writeln!(
                text,
                "        unsigned old = (unsigned){name}_load(physical, offset) & {}u;",
                (1 << width) - 1
            )
            .unwrap();
            writeln!(text, "        if (old != small(logical, k, {width}, {high})) wrong(\"{name}_load\", batch, k);").unwrap();
            let sign = if tensor.dtype.starts_with('i') { 1 << (width - 1) } else { 0 };
            writeln!(text, "        if ({name}_load(physical, offset) != ((int)old ^ {sign}) - {sign}) wrong(\"the sign of {name}_load\", batch, k);").unwrap();
            let value = if tensor.dtype.starts_with('i') {
                "(int8_t)(old ^ 1u)"
            } else {
                "(uint8_t)(old ^ 1u)"
            };
            writeln!(text, "        {name}_store(physical, offset, {value});").unwrap();
            writeln!(text, "        if (small(physical, offset, {width}, {high}) != (old ^ 1u)) wrong(\"{name}_store\", batch, k);").unwrap();
            let value = value.replace(" ^ 1u", "");
            writeln!(text, "        {name}_store(physical, offset, {value});").unwrap();
        }
        writeln!(text, "    }}").unwrap();
        writeln!(text, "    slots_hold(\"{name} after all\", batch, logical, {high}, physical, {high}, owner, slots, {width}, {fill});").unwrap();
        writeln!(text, "    for (int64_t k = 0; k < boxed; k++) {{").unwrap();
        writeln!(text, "        const int64_t *row = places + k * {};", physical_rank + 1).unwrap();
        for k in 0..physical_rank {
            writeln!(text, "        p[{k}] = row[{k}];").unwrap();
        }
        writeln!(text, "        int64_t wanted = row[{physical_rank}];").unwrap();
        writeln!(text, "        if ({name}_logical({inverse}) != (wanted >= 0)) wrong(\"{name}_logical\", batch, k);").unwrap();
        for k in 0..rank {
            writeln!(text, "        else if (wanted >= 0 && o[{k}] != elements[wanted * {} + {k}]) wrong(\"{name}_logical\", batch, k);", rank + physical_rank + 1).unwrap();
        }
        writeln!(text, "    }}").unwrap();
        writeln!(text, "    free(elements); free(places); free(back);").unwrap();
        writeln!(text, "    {name}_packed = physical; {name}_logical_buffer = logical; {name}_owner = owner; {name}_slots = slots;\n}}").unwrap();
    }
    writeln!(
        text,
        "int main(void) {{\n    tables = fopen(\"tables.bin\", \"rb\");\n    if (!tables) return 2;"
    )
    .unwrap();
    for size in &manifest.sizes {
        for tensor in &manifest.tensors {
            writeln!(text, "    check_{}({size});", tensor.name).unwrap();
        }
        for (from, to) in &manifest.converts {
            let (from, to) = (&manifest.tensors[*from], &manifest.tensors[*to]);
            let (a, b, width) = (&from.name, &to.name, bits(to.dtype));
            let call = if symbol { format!("{size}, ") } else { String::new() };
            let (high_a, high_b) = (i32::from(from.high_first), i32::from(to.high_first));
            let fill = match to.fill {
                Fill::Zero => 0,
                Fill::One => 1,
                Fill::Nothing => 2,
            };
            writeln!(
                text,
                "    {{\n        unsigned char *out = buffer({b}_slots, {width}, 0xAA);"
            )
            .unwrap();
            writeln!(text, "        {a}_to_{b}({call}(void *){a}_packed, (void *)out);").unwrap();
            writeln!(text, "        slots_hold(\"{a}_to_{b}\", {size}, {a}_logical_buffer, {high_a}, out, {high_b}, {b}_owner, {b}_slots, {width}, {fill});").unwrap();
            writeln!(text, "        free(out);\n    }}").unwrap();
        }
        for Tensor { name, .. } in &manifest.tensors {
            writeln!(
                text,
                "    free({name}_packed); free({name}_logical_buffer); free({name}_owner);"
            )
            .unwrap();
        }
    }
    text.push_str(
        "    fclose(tables);\n    if (failed) return 1;\n    puts(\"agrees\");\n    return 0;\n}\n",
    );
    text
}

/// Tables of the oracle, in the order in which the driver reads them.
fn tables(manifest: &Manifest) -> Vec<u8> {
    let mut numbers: Vec<i64> = Vec::new();
    for size in &manifest.sizes {
        for tensor in &manifest.tensors {
            let case = if tensor.case.symbol.is_some() {
                tensor.case.at(*size)
            } else {
                tensor.case.clone()
            };
            let truth: Truth = truth(&case).unwrap();
            let count = |len: usize| i64::try_from(len).unwrap();
            let boxes = layouts::points(&truth.physical_shape);
            numbers.extend([
                count(truth.elements.len()),
                truth.physical_elements,
                count(boxes.len()),
            ]);
            let mut owner = vec![-1; usize::try_from(truth.physical_elements).unwrap()];
            let mut places: BTreeMap<&[i64], i64> = BTreeMap::new();
            for (k, element) in (0_i64..).zip(&truth.elements) {
                numbers.extend(&element.logical);
                numbers.extend(&element.physical);
                numbers.push(element.offset);
                owner[usize::try_from(element.offset).unwrap()] = k;
                places.insert(&element.physical, k);
            }
            numbers.extend(owner);
            for place in &boxes {
                numbers.extend(place);
                numbers.push(places.get(place.as_slice()).copied().unwrap_or(-1));
            }
        }
    }
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn run_program(folder: &Path, compiler: Compiler, sources: &[&str]) {
    let (name, flags) = compiler;
    let program = format!("{}_{}", sources[0].replace('.', "_"), name.replace('+', "p"));
    let mut compiler = Command::new(name);
    if name != "tcc" {
        compiler.args(STRICT);
    }
    compiler.args(flags).args(["-o", &program]).args(sources);
    build_and_run(&mut compiler, folder, &program);
}

fn run(what: &str, number: usize, manifest: &Manifest, all: bool) {
    let text = manifest.text();
    let outputs = built(&text, &Config::default()).unwrap().1;
    let folder = folder(&format!("random_c_{}", what.replace(' ', "_")));
    std::fs::write(folder.join("m.kdl"), &text).unwrap();
    for (name, text) in &outputs {
        layoutc_testing::files::write(folder.join(name), text);
    }
    std::fs::write(folder.join("driver.c"), driver(manifest, &outputs["m.h"])).unwrap();
    std::fs::write(folder.join("tables.bin"), tables(manifest)).unwrap();
    let found = compilers();
    for (k, compiler) in found.iter().enumerate() {
        // Alternates: one sanitizing compiler runs the driver, the other the generated test program.
        if all || k == number % 2 || k == 2 {
            run_program(&folder, *compiler, &["driver.c", "m.c"]);
        }
        if all || k == (number + 1) % 2 {
            run_program(&folder, *compiler, &["tests/m_test.c", "m.c"]);
        }
    }
    if number.is_multiple_of(4) && Command::new("g++").arg("-v").output().is_ok() {
        run_program(&folder, ("g++", CPP), &["tests/m_test.c", "m.c"]);
    }
}

/// Runs `manifests` random manifests with tensors of these types.
fn campaign(what: &str, first: u64, manifests: usize, dtypes: &[&'static str]) {
    let mut failures = Vec::new();
    for seed in 0..manifests {
        let ran = catch_unwind(|| {
            let mut random = Random::new(u64::try_from(seed).unwrap() + first);
            let config = Config::default();
            let manifest = manifest(&mut random, 6, &config, dtypes, |_, tensor| tensor);
            run(&format!("{what} {seed}"), seed, &manifest, is_full());
        });
        if let Err(panic) = ran {
            let report = panic.downcast_ref::<String>().cloned();
            failures.push(report.unwrap_or_else(|| format!("seed {seed}")));
        }
    }
    failures.sort_by_key(String::len);
    let shown = failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {manifests} failed:\n{shown}", failures.len());
}

#[test]
fn random_manifests_give_c_that_agrees_with_the_oracle() {
    campaign("seed", 3_000_000, cases(5, 8), &dtypes());
}

#[test]
fn sub_byte_elements_agree_with_the_oracle() {
    let packed: Vec<&str> = dtypes().into_iter().filter(|dtype| bits(dtype) < 8).collect();
    campaign("packed", 3_500_000, cases(3, 5), &packed);
}

#[test]
fn random_records_agree_with_the_oracle() {
    let count = cases(1, 3);
    campaign("record", 3_700_000, count, &records(3_700_000, count));
}

#[test]
fn unfilled_padding_keeps_its_bits_also_in_shared_bytes() {
    let tensor = |name: &str, dtype: &'static str, high_first| {
        let axes = [("a", 3), ("b", 5)].map(|(axis, extent)| (axis.to_owned(), extent));
        let steps = vec![Step::Strides(vec![7, 3])];
        let case = Case { axes: axes.to_vec(), symbol: None, element_bits: bits(dtype), steps };
        let name = name.to_owned();
        Tensor { name, dtype, fill: Fill::Nothing, high_first, memory: None, case }
    };
    let manifest = Manifest {
        tensors: vec![
            tensor("t0", "u1", false),
            tensor("t1", "u1", true),
            tensor("t2", "i4", false),
        ],
        converts: vec![(0, 1), (1, 0)],
        sizes: vec![0],
    };
    run("kept bits", 0, &manifest, true);
}

fn fixed(name: &str, dtype: &'static str, axes: &[(&str, i64)], steps: Vec<Step>) -> Tensor {
    let axes = axes.iter().map(|(axis, extent)| ((*axis).to_owned(), *extent)).collect();
    let symbol = Some(Facts { min: 0, max: 4096, multiple: 1 });
    let case = Case { axes, symbol, element_bits: bits(dtype), steps };
    Tensor { name: name.to_owned(), dtype, fill: Fill::Zero, high_first: false, memory: None, case }
}

#[test]
fn common_layouts_agree_at_random_batch_sizes() {
    let mut random = Random::new(4_000_000);
    let mut sizes = |most: i64| (0..10).map(|_| random.between(0, most)).collect::<Vec<i64>>();
    let item = |name: &str, index: Tree| MapItem { name: name.to_owned(), index, extent: None };
    let axis = Tree::Axis;
    let four = || Tree::Int(4);
    let nchw4c = Step::Map {
        items: vec![
            item("n", axis(0)),
            item("co", bin(layouts::Op::Div, axis(3), four())),
            item("h", axis(1)),
            item("w", axis(2)),
            item("ci", bin(layouts::Op::Mod, axis(3), four())),
        ],
        separators: Vec::new(),
        all_parentheses: false,
    };
    let tile = || Step::Tile {
        entries: vec![Some(8), Some(128)],
        names: ["ro", "co", "ri", "ci"].map(str::to_owned).to_vec(),
    };
    let nhwc = [("n", 1), ("h", 5), ("w", 7), ("c", 10)];
    let images = Manifest {
        tensors: vec![
            fixed("nhwc", "f32", &nhwc, Vec::new()),
            fixed("nchw4c", "f32", &nhwc, vec![nchw4c]),
        ],
        converts: vec![(0, 1), (1, 0)],
        sizes: sizes(12),
    };
    run("nchw4c", 0, &images, true);
    let matrix = [("n", 1), ("i", 500)];
    let matrices = Manifest {
        tensors: vec![
            fixed("dense", "bf16", &matrix, Vec::new()),
            fixed("tiled", "bf16", &matrix, vec![tile()]),
        ],
        converts: vec![(0, 1), (1, 0)],
        sizes: sizes(40),
    };
    run("tiles 2-D", 1, &matrices, true);
    let four_d = [("n", 1), ("h", 2), ("w", 9), ("c", 130)];
    let four_d = Manifest {
        tensors: vec![
            fixed("dense", "i8", &four_d, Vec::new()),
            fixed("tiled", "i8", &four_d, vec![tile()]),
        ],
        converts: vec![(0, 1), (1, 0)],
        sizes: sizes(3),
    };
    run("tiles 4-D", 2, &four_d, true);
}
