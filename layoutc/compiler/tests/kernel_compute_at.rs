//! Intermediates that are computed in each iteration of a loop (`local T at=i`): the buffer of an iteration is declared in
//! the loop that all statements share, and the generated test passes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test, which compiles what it generates"
)]

use std::fmt::Write as _;
use std::process::Command;

use crate::common::cc::{build_and_run, folder, write};
use crate::common::check_text::check_valid;
use layoutc_compiler::emit::{Settings, Templates, emit};

/// A manifest with a softmax of each row of `i`, by an intermediate of all elements, for several element types, orders of
/// the axes, and numbers of rows; half of the outputs name their axes otherwise, and the others run in parallel: 8 kernels.
fn manifest() -> String {
    let mut text = String::new();
    for (number, (dtype, order, rows)) in ["f32", "f16"]
        .into_iter()
        .flat_map(|dtype| [["i j", "r c"], ["j i", "c r"]].map(|order| (dtype, order)))
        .flat_map(|(dtype, order)| [1, 5].map(|rows| (dtype, order, rows)))
        .enumerate()
    {
        let [own, other] = order;
        let (shape, order, parallel) = if number / 2 % 2 == 0 {
            (format!("i {rows}; j 37"), own, "parallel i")
        } else {
            (format!("r {rows}; c 37"), other, "")
        };
        writeln!(
            text,
            "tensor x{number} dtype={dtype} {{ shape {{ i {rows}; j 37 }}; layout {{ order {own} }} }}\n\
             tensor out{number} dtype={dtype} {{ shape {{ {shape} }}; layout {{ order {order} }} }}\n\
             kernel k{number} {{\n\
                 compute \"m[i] max= x{number}[i, j]\"\n\
                 compute \"e[i, j] = exp(x{number}[i, j] - m[i])\"\n\
                 compute \"s[i] += e[i, j]\"\n\
                 compute \"out{number}[i, j] = e[i, j] / s[i] + (e[i, j - 1] ?? 0)\"\n\
                 local m dtype=f32 at=i; local e dtype=f32 at=i; local s dtype=f32\n\
                 {parallel}\n\
             }}"
        )
        .unwrap();
    }
    text
}

/// The output is the transpose of the intermediate, and reads it at the boundary of its own rows.
#[test]
fn loops_follow_the_axis_of_the_intermediate() {
    let text = "tensor x dtype=f32 { shape { i 6; j 9 } }\ntensor z dtype=f16 { shape { a 9; b 6 } }\n\
         kernel k {\n\
             compute \"t[i, j] = x[i, j] * 2\"\n\
             compute \"z[j, i] = t[i, j] + (t[i, i - 1] ?? 0)\"\n\
             local t dtype=f16 at=i\n\
         }\n";
    let checked = check_valid(text);
    let files = emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
    let folder = folder("at_transposed");
    write(&folder, &files);
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2"]);
    command.args(["-o", "program", "m.c", "tests/m_test.c", "-lm"]);
    build_and_run(&mut command, &folder, "program");
}

#[test]
fn rows_of_intermediates_are_computed_in_a_loop() {
    let checked = check_valid(&manifest());
    let files = emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
    let source = &files.iter().find(|file| file.path == "m.c").unwrap().text;
    for number in 0..8 {
        let head = format!("void layoutc_k{number}_compute(");
        let (_, function) = source.split_once(&head).unwrap();
        let function = function.split("\n}").next().unwrap();
        let outermost = function.lines().filter(|line| line.starts_with("    for (")).count();
        // A loop of one iteration is omitted.
        assert!(outermost == 1 || number % 2 == 0, "{function}");
        assert!(function.contains("float e[37];"), "{function}");
    }
    let folder = folder("compute_at");
    write(&folder, &files);
    for flags in [["-O1", "-fno-openmp"], ["-O2", "-fopenmp"]] {
        let mut command = Command::new("gcc");
        command.args(["-std=c11", "-Wall", "-Werror"]).args(flags);
        command.args([
            "-fsanitize=address,undefined",
            "-o",
            "program",
            "m.c",
            "tests/m_test.c",
            "-lm",
        ]);
        build_and_run(&mut command, &folder, "program");
    }
}

/// Caches of an operand, of the output and of a vector, at the loop of the intermediate and at the other loop, for all
/// orders of the axes: the tiles follow the loops.
#[test]
fn caches_follow_the_loop_of_the_intermediate() {
    let mut text = "tensor g dtype=f32 { shape { j 37 } }\n".to_owned();
    let orders = ["i j", "j i"];
    let outputs = orders.into_iter().flat_map(|order| orders.map(|other| [order, other]));
    let caches = ["a", "c", "g"].into_iter().flat_map(|name| ["i", "j"].map(|at| [name, at]));
    let all = outputs.flat_map(|orders| caches.clone().map(move |cache| (orders, cache)));
    for (number, ([own, other], [cached, at])) in all.enumerate() {
        let cached = if cached == "g" { "g".to_owned() } else { format!("{cached}{number}") };
        writeln!(
            text,
            "tensor a{number} dtype=f32 {{ shape {{ i 5; j 37 }}; layout {{ order {own} }} }}\n\
             tensor c{number} dtype=f32 {{ shape {{ i 5; j 37 }}; layout {{ order {other} }} }}\n\
             kernel k{number} {{\n\
                 compute \"m[i] += a{number}[i, j]\"\n\
                 compute \"c{number}[i, j] = a{number}[i, j] * g[j] - m[i]\"\n\
                 local m dtype=f32 at=i\n\
                 cache {cached} at={at}\n\
             }}"
        )
        .unwrap();
    }
    let checked = check_valid(&text);
    let files = emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
    let folder = folder("compute_at_caches");
    write(&folder, &files);
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-Wall", "-Werror", "-O1", "-fsanitize=address,undefined"]);
    command.args(["-o", "program", "m.c", "tests/m_test.c", "-lm"]);
    build_and_run(&mut command, &folder, "program");
}

/// An intermediate that is larger than the stack needs no parameter, and the reference has a buffer for all of it.
#[test]
fn large_intermediates_are_no_parameters() {
    let text = "symbol rows min=1 max=64\ntensor x dtype=f32 { shape { i rows; j 3000 } }\ntensor y like=x\n\
         kernel k {\n\
             compute \"e[i, j] = exp(x[i, j])\"\n\
             compute \"s[i] += e[i, j]\"\n\
             compute \"y[i, j] = e[i, j] / s[i]\"\n\
             local e dtype=f32 AT; local s dtype=f32 AT\n\
         }\n";
    let prototype = |text: &str| {
        let checked = check_valid(text);
        let files =
            emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
        let folder = folder("large_at");
        write(&folder, &files);
        let mut command = Command::new("gcc");
        command.args([
            "-std=c11",
            "-Wall",
            "-Werror",
            "-O1",
            "-o",
            "program",
            "m.c",
            "tests/m_test.c",
            "-lm",
        ]);
        build_and_run(&mut command, &folder, "program");
        let header = files.iter().find(|file| file.path == "m.h").unwrap();
        header.text.lines().find(|line| line.starts_with("void k(")).unwrap().to_owned()
    };
    assert_eq!(
        prototype(&text.replace("AT", "at=i")),
        "void k(int64_t rows, const float *x, float *y);"
    );
    assert_eq!(
        prototype(&text.replace("AT", "")),
        "void k(int64_t rows, const float *x, float *y, float *e, float *s);"
    );
}
