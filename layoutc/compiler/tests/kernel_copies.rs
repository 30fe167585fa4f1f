//! Kernels that only copy a tensor, whose axes they permute and whose elements they may convert, are the relayouts that
//! `convert` generates: the same code for C, OpenCL and CUDA, for random layouts, element types and orders of axes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test, which compiles the programs that it generates"
)]

use std::fmt::Write as _;

use crate::common::cc::{build_and_run, folder, write};
use crate::common::check_text::all_targets;
use layoutc_compiler::emit::{GeneratedFile, Templates};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::{Random, campaign, cases};

/// Number of manifests whose C is compiled and run.
const RUN: usize = 4;

/// A random layout of the axes `n`, `c` and `w`.
fn layout(random: &mut Random) -> String {
    let mut order = ["n", "c", "w"];
    random.shuffle(&mut order);
    let order = order.join(" ");
    let by = random.pick(&[2, 3, 4, 8, 16]);
    match random.below(6) {
        0 | 1 => format!("order {order}"),
        2 => format!("split c by={by}; padding allow; order n c_outer w c_inner"),
        3 => format!("split w by={by}; padding allow; order w_outer n c w_inner"),
        4 => format!("pad c multiple={by}; order {order}; padding allow"),
        _ => format!("map \"(n, c, w) -> (c // {by}, w, n, c % {by})\"; padding allow"),
    }
}

/// A manifest with tensors `x` and `y`, the conversion `x_to_y`, and the kernel `copied` that copies `x` to `y`. The
/// flag is true if the kernel converts elements to another type before that of `y`.
fn manifest(random: &mut Random) -> (String, bool) {
    let types = ["f32", "f32", "f64", "f16", "bf16", "i8", "u8", "i32", "i64", "u16"];
    let from = *random.pick(&types);
    let to = if random.one_in(2) { from } else { *random.pick(&types) };
    let batch =
        if random.one_in(4) { "batch".to_owned() } else { format!("{}", 1 + random.below(4)) };
    let extents = [batch, format!("{}", 1 + random.below(70)), format!("{}", 1 + random.below(50))];
    let mut text = "symbol batch min=1 max=9\n".to_owned();
    let mut axes = [0, 1, 2];
    let mut index = Vec::new();
    for (name, dtype) in [("x", from), ("y", to)] {
        let shape = axes.map(|k| format!("{} {}", ["n", "c", "w"][k], extents[k])).join("; ");
        let layout = layout(random);
        let is_view = random.one_in(4);
        let owner = if is_view { format!("{name}_memory") } else { name.to_owned() };
        let of_owner = if is_view {
            let larger = |k: usize| if k == 0 { extents[0].clone() } else { format!("{}", 160) };
            axes.map(|k| format!("{} {}", ["n", "c", "w"][k], larger(k))).join("; ")
        } else {
            shape.clone()
        };
        writeln!(
            text,
            "tensor {owner} dtype={dtype} {{ shape {{ {of_owner} }}; layout {{ {layout} }} }}"
        )
        .unwrap();
        if is_view {
            let parameters = axes.map(|k| ["n", "c", "w"][k]).join(", ");
            let shift = 8 * random.below(2) + random.below(2);
            let index = axes.map(|k| match k {
                0 => "n".to_owned(),
                1 => format!("c + {shift}"),
                _ => "2 * w".to_owned(),
            });
            let index = index.join(", ");
            writeln!(
                text,
                "view {name} of={owner} {{ shape {{ {shape} }}; map \"({parameters}) -> ({index})\" }}"
            )
            .unwrap();
        }
        index.push(axes.map(|k| ["n", "c", "w"][k]).join(", "));
        random.shuffle(&mut axes);
    }
    let value = format!("x[{}]", index[0]);
    let is_chain = random.one_in(4);
    let value = if is_chain { format!("{}({value})", random.pick(&types)) } else { value };
    let value = if from == to && !value.contains('(') { value } else { format!("{to}({value})") };
    writeln!(text, "convert x to=y{}", if from == to { "" } else { " cast=round" }).unwrap();
    writeln!(text, "kernel copied {{ compute \"y[{}] = {value}\" }}", index[1]).unwrap();
    (text, is_chain)
}

/// Files of the manifest for C, OpenCL and CUDA; `None` if it is refused.
fn files(text: &str) -> Option<Vec<GeneratedFile>> {
    let config = all_targets();
    let sources = MemorySources::of("m.kdl", text);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    if !checked.is_valid() {
        return None;
    }
    let outputs = compiler.emit(&checked, &Templates::default());
    Some(outputs.unwrap_or_else(|faults| panic!("{faults:#?}\n{text}")))
}

/// Bodies of the functions whose names contain `name`, in the order of the file, with `name` replaced.
fn bodies(text: &str, name: &str) -> Vec<String> {
    let mut bodies = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.contains(name) && line.ends_with(") {") {
            let body = lines.by_ref().take_while(|line| *line != "}").collect::<Vec<_>>();
            bodies.push([line, &body.join("\n")].join("\n").replace(name, "NAME"));
        }
    }
    bodies
}

#[test]
fn kernels_that_copy_are_the_conversions_of_their_operands() {
    let mut random = Random::new(campaign::number("LAYOUTC_SEED").unwrap_or(0xC0B1));
    let (mut compared, mut ran) = (0, 0);
    let total = cases(120, 600);
    for _ in 0..total {
        let (text, is_chain) = manifest(&mut random);
        let Some(files) = files(&text) else { continue };
        let c = files.iter().find(|file| file.path == "c/m.c").unwrap();
        if c.text.contains("copied_compute(") {
            // The layouts have no digits in common, or the first conversion may change values.
            let conversion = bodies(&c.text, "x_to_y").concat();
            let is_by_elements = ["layoutc_copy_runs(", "layoutc_transpose"]
                .iter()
                .all(|name| !conversion.contains(name));
            assert!(is_by_elements || is_chain, "{text}{}", c.text);
            if ran < cases(RUN, 20) {
                compile_and_run(&format!("kernel_copies_{ran}"), &files);
                ran += 1;
            }
            continue;
        }
        let sources = ["c/m.c", "opencl/m.cl", "cuda/m.cu"];
        for path in sources {
            let file = files.iter().find(|file| file.path == path).unwrap();
            let [conversion, kernel] = ["x_to_y", "copied"].map(|name| bodies(&file.text, name));
            assert!(!kernel.is_empty(), "{text}{}", file.text);
            assert_eq!(kernel, conversion, "{path}\n{text}");
        }
        compared += 1;
        if ran < cases(RUN, 20) {
            compile_and_run(&format!("kernel_copies_{ran}"), &files);
            ran += 1;
        }
    }
    assert!(compared * 2 > total, "{compared} of {total} manifests were compared");
}

#[test]
fn kernels_without_elements_fill_padding_only() {
    let text = "tensor x dtype=f16 { shape { p 0; q 5 } }\n\
                tensor y dtype=f16 { shape { q 5; p 0 }; layout { pad p before=1 after=1; fill 2; padding allow } }\n\
                tensor z dtype=f16 { shape { q 5; p 0 } }\n\
                kernel copied { compute \"y[q, p] = x[p, q]\" }\n\
                kernel doubled { compute \"y[q, p] = x[p, q] * 2\" }\n\
                kernel empty { compute \"z[q, p] = x[p, q] * 2\" }\n\
                kernel summed { compute \"z[q, p] += x[p, q] * x[p, r]\" }\n";
    let files = files(text).unwrap();
    compile_and_run("kernel_copies_empty", &files);
}

#[test]
fn conversions_through_other_types_keep_their_values() {
    let chains =
        ["i8 u8 f32", "u32 i32 f64", "u8 i8 f16", "i16 u16 f64", "f64 f16 f32", "f32 i8 f64"];
    let mut text = String::new();
    for (number, chain) in chains.iter().enumerate() {
        let [from, to, through] = chain.split(' ').collect::<Vec<_>>()[..] else { unreachable!() };
        writeln!(text, "tensor a{number} dtype={from} {{ shape {{ i 40; j 30 }} }}").unwrap();
        writeln!(text, "tensor b{number} dtype={to} {{ shape {{ j 30; i 40 }} }}").unwrap();
        let value = format!("{to}({through}(a{number}[i, j]))");
        writeln!(text, "kernel k{number} {{ compute \"b{number}[j, i] = {value}\" }}").unwrap();
    }
    let files = files(&text).unwrap();
    let c = &files.iter().find(|file| file.path == "c/m.c").unwrap().text;
    let is_loop = |number: usize| c.contains(&format!("k{number}_compute("));
    // Integers converted to floats first saturate; floats converted to a wider float type first keep their values.
    assert_eq!(
        (0..chains.len()).map(is_loop).collect::<Vec<_>>(),
        [true, true, true, true, true, false]
    );
    compile_and_run("kernel_copies_chains", &files);
}

/// Compiles the test program of the manifest with sanitizers, and runs it.
fn compile_and_run(name: &str, files: &[GeneratedFile]) {
    let folder = folder(name);
    write(&folder, files);
    let mut command = std::process::Command::new("gcc");
    command.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "program"]);
    command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    command.args(["tests/m_test.c", "m.c", "-lm"]);
    build_and_run(&mut command, &folder.join("c"), "program");
}
