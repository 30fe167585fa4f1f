//! Ring buffers (`ring y=4`): elements of every window have distinct slots, and the generated C computes the same slots
//! as `locate`. `LAYOUTC_FULL=1` runs 60 manifests.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use crate::common::cc::{build_and_run, folder};
use crate::common::check_text::check_text;
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
    for (file, text) in outputs.iter().filter(|(file, _)| !file.contains('/')) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    for (program, sources) in [("driver", &["driver.c"][..]), ("test", &["m_test.c", "m.c"])] {
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
fn random_rings_keep_the_elements_of_every_window_apart() {
    for seed in 0..cases(5, 30) {
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
fn a_ring_of_an_open_axis_takes_any_index() {
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

/// Code and message of the only diagnostic of a manifest.
fn fault(text: &str) -> (String, String) {
    let checked = check_text(text);
    let [one] = checked.diagnostics.as_slice() else { panic!("{:#?}", checked.diagnostics) };
    (one.code.id().to_owned(), one.message.clone())
}

#[test]
fn what_is_no_ring_and_what_takes_whole_tensors_is_refused() {
    let tensor = |ring: &str| {
        format!(
            "mesh m {{ d 2 }}\ntensor a dtype=f32 {{ shape {{ y 8; part {{ re; im }} }}; {ring} }}\n"
        )
    };
    for (ring, message) in [
        ("ring z=2", "the tensor has no axis `z`"),
        ("ring y=0", "the ring of `y` has 1 to 8 indices, not 0"),
        ("ring y=9", "the ring of `y` has 1 to 8 indices, not 9"),
        ("ring part=1", "axis `part` cannot be a ring: it has labels"),
        ("ring y=2; shard y=d", "a sharded tensor cannot be a ring"),
    ] {
        assert_eq!(fault(&tensor(ring)), ("ring::axis".to_owned(), message.to_owned()));
    }
    let (code, message) = fault(&tensor("ring"));
    assert_eq!(code, "kdl::missing");
    assert_eq!(message, "`ring` needs one axis and the number of its indices in memory");
    let other = "tensor b dtype=f32 { shape { y 4; x 16 } }\n";
    for (more, takes) in [
        (format!("{other}convert rows to=b\n"), "a conversion that changes the ring requires"),
        (format!("{other}kernel k {{ compute \"b[y, x] = rows[y, x]\" }}\n"), "a kernel requires"),
        (
            "view v of=rows { map \"(x) -> (0, x)\"; shape { x 16 } }\n".to_owned(),
            "a view requires",
        ),
    ] {
        let wanted = format!("{takes} whole tensors, and `rows` is a ring of 4 indices of `y`");
        assert_eq!(fault(&format!("{RING}{more}")), ("ring::whole".to_owned(), wanted));
    }
    let like = "tensor b dtype=f32 { shape { x 16; y 64 }; ring y=4 }\nconvert rows to=b\n";
    assert!(built(&format!("{RING}{like}"), &Config::default()).is_some());
    let (code, _) = fault(&format!("{RING}{}", like.replace("y 64", "y 65")));
    assert_eq!(code, "ring::whole");
}
