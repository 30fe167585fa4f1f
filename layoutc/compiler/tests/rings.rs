//! Ring buffers (`ring y=4`): elements of every window have distinct slots, and the generated C computes the same slots
//! as `locate`. `LAYOUTC_FULL=1` runs 60 manifests.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use crate::common::cc::{build_and_run, folder};
use crate::random_manifest::built;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::query::abi;
use layoutc_compiler::query::locate;
use layoutc_testing::{Random, cases};

/// A ring of 4 rows, as sliding windows use it.
const RING: &str = "tensor rows dtype=f32 { shape { y 64; x 16 }; ring y=4 }\n";

/// A random layout of a ring of `held` rows.
fn layout(random: &mut Random, held: i64) -> String {
    match random.below(6) {
        0 => String::new(),
        1 => "layout { order x y }".to_owned(),
        2 => "layout { pad x multiple=8; fill none }".to_owned(),
        3 => format!(
            "layout {{ map \"(y, x) -> (x // 4, {} - y, x % 4)\"; padding allow }}",
            held - 1
        ),
        4 => "layout { map \"(y, x) -> (x, (y + x) % 16)\"; padding allow }".to_owned(),
        _ => "layout { map \"(y, x) -> (y | x)\"; padding allow }".to_owned(),
    }
}

fn ran(name: &str, outputs: &BTreeMap<String, String>, driver: &str) {
    let folder = folder(&format!("rings_{name}"));
    for (file, text) in outputs.iter().filter(|(file, _)| !file.starts_with("opencl/")) {
        layoutc_testing::files::write(folder.join(file), text);
    }
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    for (program, sources) in [("driver", &["driver.c"][..]), ("test", &["tests/m_test.c", "m.c"])]
    {
        let mut command = Command::new("gcc");
        command.args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Werror",
            "-fsanitize=undefined,address",
        ]);
        command.args(["-fno-sanitize-recover=all", "-o", program]).args(sources);
        build_and_run(&mut command, &folder, program);
    }
}

#[test]
fn random_rings_keep_window_elements_distinct() {
    for seed in 0..cases(5, 15) {
        let mut random = Random::new(7_200_000 + seed);
        let (rows, columns) = (random.between(1, 20), random.between(1, 12));
        let held = random.between(1, rows.min(5));
        let text = format!(
            "tensor rows dtype=f32 {{ shape {{ y {rows}; x {columns} }}; ring y={held}; {} }}\n",
            layout(&mut random, held)
        );
        let (checked, outputs) = built(&text, &Config::default()).unwrap();
        let tensor = &checked.manifests[0].tensors[0];
        let mut driver = String::from("#include \"m.h\"\n#include <stdio.h>\nint main(void) {\n");
        let mut slots = BTreeMap::new();
        for y in 0..rows {
            for x in 0..columns {
                let index = [i128::from(y % held), i128::from(x)];
                let slot =
                    locate::element_location(tensor, &BTreeMap::new(), &index).unwrap().offset;
                // The previous element of the slot has left the window.
                if let Some(before) = slots.insert(slot, y) {
                    assert!(y - before >= held, "rows {before} and {y} share slot {slot}\n{text}");
                }
                writeln!(
                    driver,
                    "    if (rows_at({y}, {x}) != {slot}) {{ puts(\"{y} {x}\"); return 1; }}"
                )
                .unwrap();
            }
        }
        writeln!(driver, "    return ROWS_WHOLE_EXTENT_Y != {rows} || ROWS_WHOLE_ELEMENTS != {} || ROWS_EXTENT_Y != {held};\n}}", rows * columns).unwrap();
        ran(&format!("seed_{seed}"), &outputs, &driver);
    }
}

#[test]
fn ring_of_a_symbolic_axis_accepts_any_index() {
    let text = "symbol n max=1000000\ntensor rows dtype=f32 { shape { y n; x 16 }; ring y=4 }\n";
    let outputs = built(text, &Config::default()).unwrap().1;
    let driver = "#include \"m.h\"\nint main(void) {\n    return rows_at(1000, 7, 3) != 61 - 10 || rows_at(1000, 999, 15) != 63 || rows_offset(3, 15) != 63;\n}\n";
    let driver = driver.replace("61 - 10", "51").replace("rows_offset(3", "rows_offset(1000, 3");
    ran("open", &outputs, &driver);
}

#[test]
fn a_ring_is_part_of_the_abi_and_of_every_target() {
    let targets = TargetsConfig {
        opencl: Some(TargetOpenCl::default()),
        cuda: Some(TargetCuda::default()),
        ..TargetsConfig::default()
    };
    let config = Config { target: targets, ..Config::default() };
    let (checked, outputs) = built(RING, &config).unwrap();
    let text = abi::abi(&checked.manifests[0].tensors[0]).text;
    assert!(text.contains(" ring y=4/64 hash "), "{text}");
    for end in [".h", ".cl", ".cuh"] {
        let at =
            |(name, text): (&String, &String)| name.ends_with(end) && text.contains("rows_at(");
        assert!(outputs.iter().any(at), "no `rows_at` in any {end}: {:?}", outputs.keys());
    }
}
