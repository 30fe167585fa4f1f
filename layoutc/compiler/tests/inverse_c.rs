//! Generated inverses of layouts without a closed form for the whole map: independent parts with one use it, the others
//! are searched. The oracle is the enumeration of all elements. `LAYOUTC_FULL=1` runs 100 manifests.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::cc::{build_and_run, folder};
use crate::random_manifest::built;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::ProofMethod;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::query::locate;
use layoutc_testing::{Random, cases};

/// An enumerated part between two with a closed form; 2^46 elements in total.
const LARGE: &str = r#"
tensor parts dtype=u8 {
    shape { a 1048576; i 64; j 1048576 }
    layout { map "(a, i, j) -> (a, (i + 2 * (i ^ 21)) % 64, j // 4, j % 4)" }
}
"#;

/// A tensor of 40 axes, too many to test all corners.
fn many_axes() -> String {
    let names: Vec<String> = (0..40).map(|k| format!("q{k}")).collect();
    let shape: Vec<String> = names.iter().map(|name| format!("{name} 2")).collect();
    let (first, rest) = (names.first().unwrap(), names[1..].join(" "));
    format!(
        "tensor many dtype=u1 {{ shape {{ {} }}; layout {{ order {rest} {first} }} }}\n",
        shape.join("; ")
    )
}

/// Compiles files of a folder and runs the program. Returns its output.
fn ran(folder: &std::path::Path, program: &str, sources: &[&str]) -> String {
    let mut command = Command::new("gcc");
    command.args(["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"]);
    command.args(["-fno-sanitize-recover=all", "-o", program]).args(sources);
    build_and_run(&mut command, folder, program)
}

fn write(folder: &std::path::Path, outputs: &BTreeMap<String, String>) {
    for (name, text) in outputs {
        layoutc_testing::files::write(folder.join(name), text);
    }
}

#[test]
fn large_inverse_searches_only_undecoded_axes() {
    let (checked, outputs) = built(LARGE, &Config::default()).unwrap();
    let tensor = &checked.manifests[0].tensors[0];
    assert_eq!(tensor.layout.proof(), ProofMethod::Enumeration);
    let folder = folder("large");
    write(&folder, &outputs);
    let mut driver = String::from(
        "#include \"m.h\"\n#include <stdio.h>\nint main(void) {\n    int64_t a, i, j;\n",
    );
    let mut random = Random::new(6_000_000);
    for _ in 0..200 {
        let index =
            [1_048_576, 64, 1_048_576].map(|extent| i128::from(random.between(0, extent - 1)));
        let place = locate::element_location(tensor, &BTreeMap::new(), &index).unwrap();
        let [a, i, j] = index;
        writeln!(driver, "    if (!parts_logical({}, &a, &i, &j) || a != {a} || i != {i} || j != {j}) {{ puts(\"{a} {i} {j}\"); return 1; }}", place.offset).unwrap();
    }
    driver.push_str("    return 0;\n}\n");
    std::fs::write(folder.join("driver.c"), driver).unwrap();
    let start = Instant::now();
    ran(&folder, "driver", &["driver.c"]);
    let printed = ran(&folder, "test", &["tests/m_test.c", "m.c"]);
    assert!(printed.contains("parts: ok at the corners only"), "{printed}");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

#[test]
fn generated_test_of_a_large_tensor_terminates() {
    let outputs = built(&many_axes(), &Config::default()).unwrap().1;
    let folder = folder("inverse_c_many");
    write(&folder, &outputs);
    let start = Instant::now();
    let printed = ran(&folder, "test", &["tests/m_test.c", "m.c"]);
    assert!(printed.contains("many: ok at the corners only"), "{printed}");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}

/// Manifest with random independent parts, some with an inverse in closed form and some enumerated, in random order.
fn manifest(random: &mut Random) -> String {
    let (mut axes, mut items) = (Vec::new(), Vec::new());
    let parts = 2 + random.below(3);
    for k in 0..parts {
        let name = ["a", "b", "c", "d"][k];
        let other = ["e", "f", "g", "h"][k];
        let extent = random.between(1, 7);
        let kind = if k == 0 { 0 } else { random.below(7) };
        match kind {
            0 | 1 => {
                let size = *random.pick(&[8, 16]);
                let mask = random.between(1, size - 1);
                axes.push((name, size));
                items.push(format!("({name} + 2 * ({name} ^ {mask})) % {size}"));
            }
            2 => {
                let cut = random.between(2, 4);
                axes.push((name, extent));
                items.push(format!("{name} // {cut}"));
                items.push(format!("{name} % {cut}"));
            }
            3 => {
                axes.push((name, extent));
                items.push(format!("{} - {name}", extent - 1 + random.between(0, 2)));
            }
            4 => {
                let inner = random.between(1, 5);
                axes.push((name, extent));
                axes.push((other, inner));
                items.push(format!("{name} * {inner} + {other}"));
            }
            5 => {
                axes.push((name, extent));
                axes.push((other, 4));
                items.push(format!("({name} * 4 + ({other} + 2 * ({other} ^ 1)) % 4)"));
            }
            _ => {
                axes.push((name, extent));
                items.push(name.to_owned());
            }
        }
    }
    random.shuffle(&mut items);
    let shape: Vec<String> = axes.iter().map(|(name, extent)| format!("{name} {extent}")).collect();
    let names: Vec<&str> = axes.iter().map(|(name, _)| *name).collect();
    let mut map = String::new();
    for (k, item) in items.iter().enumerate() {
        map += match k {
            0 => "",
            _ if random.one_in(4) => " | ",
            _ => ", ",
        };
        map += item;
    }
    let mut last = String::new();
    match random.below(9) {
        0..3 => {
            writeln!(last, "        align {}", random.pick(&["16 at=origin", "64", "32"])).unwrap();
        }
        3 | 4 => writeln!(last, "        swizzle 1 0 1 unit=elements").unwrap(),
        _ => {}
    }
    format!(
        "tensor t dtype={} {{\n    shape {{ {} }}\n    layout {{\n        map \"({}) -> ({map})\"\n{last}        padding allow\n    }}\n}}\n",
        random.pick(&["u8", "f32", "u4"]),
        shape.join("; "),
        names.join(", "),
    )
}

/// Program that calls the inverse for every physical index.
fn driver(tensor: &Tensor) -> String {
    let extents = |of: Vec<Option<i128>>| of.into_iter().map(Option::unwrap).collect::<Vec<_>>();
    let logical =
        extents(tensor.layout.logical().iter().map(|axis| axis.extent.as_const()).collect());
    let physical = extents(tensor.layout.physical_shape().iter().map(Expr::as_const).collect());
    let mut owners = BTreeMap::new();
    for index in points(&logical) {
        let place = locate::element_location(tensor, &BTreeMap::new(), &index).unwrap();
        owners.insert(place.physical, index);
    }
    let rank = logical.len();
    let mut rows = String::new();
    for place in points(&physical) {
        // The command line (`locate`) reports the same.
        let owner = locate::owner(tensor, &BTreeMap::new(), &place).unwrap();
        assert_eq!(owner.as_ref(), owners.get(&place), "{place:?}");
        let is_element = i128::from(owner.is_some());
        let owner = owner.unwrap_or_else(|| vec![0; rank]);
        let row: Vec<String> =
            [place, vec![is_element], owner].concat().iter().map(ToString::to_string).collect();
        writeln!(rows, "    {{{}}},", row.join(", ")).unwrap();
    }
    let indexed = |name: &str, first: usize, count: usize| {
        (first..first + count).map(|k| format!("{name}[{k}]")).collect::<Vec<_>>().join(", ")
    };
    let (at, outs) = (indexed("row", 0, physical.len()), indexed("&o", 0, rank));
    let owner = physical.len() + 1;
    let columns = owner + rank;
    format!(
        r#"#include "m.h"
#include <stdio.h>
static const int64_t rows[][{columns}] = {{
{rows}}};
int main(void) {{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {{
        const int64_t *const row = rows[k];
        int64_t o[{rank}];
        const bool is_element = t_logical({at}, {outs});
        bool is_right = is_element == (row[{}] != 0);
        for (int axis = 0; is_element && axis < {rank}; ++axis) {{
            is_right = is_right && o[axis] == row[{owner} + axis];
        }}
        if (!is_right) {{
            printf("row %zu\n", k);
            return 1;
        }}
    }}
    return 0;
}}
"#,
        owner - 1
    )
}

fn points(extents: &[i128]) -> Vec<Vec<i128>> {
    let mut all = vec![Vec::new()];
    for extent in extents {
        let longer = |point: &Vec<i128>| {
            (0..*extent).map(|k| [point.clone(), vec![k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn random_layouts_with_searched_inverses_are_exact() {
    let mut tested = 0;
    let wanted = cases(6, 40);
    let mut random = Random::new(6_100_000);
    while tested < wanted {
        let text = manifest(&mut random);
        let (checked, outputs) = built(&text, &Config::default()).unwrap();
        let tensor = &checked.manifests[0].tensors[0];
        let slots = tensor.layout.physical_elements().as_const().unwrap();
        // Many of these layouts have an inverse by digits.
        if slots > 3000 || tensor.layout.inverse().is_some() {
            continue;
        }
        tested += 1;
        let folder = folder(&format!("inverse_c_seed_{tested}"));
        write(&folder, &outputs);
        std::fs::write(folder.join("m.kdl"), &text).unwrap();
        std::fs::write(folder.join("driver.c"), driver(tensor)).unwrap();
        ran(&folder, "driver", &["driver.c"]);
        ran(&folder, "test", &["tests/m_test.c", "m.c"]);
    }
}
