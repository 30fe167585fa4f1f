//! Random kernel values with all operators nested: the emitted C and Rust, compiled and run, against an evaluation in Rust that
//! shares no code with the printer. `LAYOUTC_FULL=1` runs 1,200 values with every compiler.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a test, which writes the program that it runs"
)]

mod expression;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::common::cc::{build_and_run, folder};
use crate::common::check_text::check_valid;
use crate::common::rustc;
use expression::{ELEMENTS, Tree, Type, Value, element};
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::emit::language::RUST_FILES;
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_testing::process::is_installed;
use layoutc_testing::{Random, cases, is_full};

/// Rows and columns of every operand.
const ROWS: usize = 3;
const COLUMNS: usize = 16;

/// A statement: an assignment or reduction (`op`) of an expression in a type.
struct Statement {
    op: &'static str,
    ty: Type,
    tree: Tree,
}

impl Statement {
    fn random(random: &mut Random) -> Self {
        let ty = *random.pick(&Type::NUMBERS);
        let depth = 1 + random.below(4);
        let tree = Tree::random(random, ty, depth);
        let is_float = matches!(ty, Type::F32 | Type::F64);
        let op = match random.below(3) {
            0 | 1 => "=",
            // No float sums: the planner chooses their order.
            _ if is_float => *random.pick(&["min=", "max="]),
            _ => *random.pick(&["+=", "*=", "min=", "max="]),
        };
        Self { op, ty, tree }
    }

    fn text(&self, number: usize) -> String {
        let axes = if self.op == "=" { "j, i" } else { "j" };
        format!("    compute #\"O{number}[{axes}] {} {}\"#\n", self.op, self.tree.text())
    }

    /// Expected elements of the output.
    fn values(&self, inputs: &[Vec<u64>]) -> Vec<u64> {
        let at = |row: usize, column: usize| {
            self.tree.value(&|tensor, before| {
                let row = row.checked_sub(before)?;
                Some(element(ELEMENTS[tensor].0, inputs[tensor][row * COLUMNS + column]))
            })
        };
        let mut all = Vec::new();
        for row in 0..ROWS {
            let mut values = (0..COLUMNS).map(|column| at(row, column));
            if self.op == "=" {
                all.extend(values.map(Value::bits));
            } else {
                let first = self.identity();
                all.push(values.try_fold(first, |a, b| Some(self.gathered(a, b))).unwrap().bits());
            }
        }
        let mask = u64::MAX >> (64 - self.ty.bits());
        all.iter().map(|bits| bits & mask).collect()
    }

    fn identity(&self) -> Value {
        let bits = self.ty.bits();
        let (least, most) = match self.ty {
            Type::F32 => {
                return Value::Single(if self.op == "min=" {
                    f32::INFINITY
                } else {
                    f32::NEG_INFINITY
                });
            }
            Type::F64 => {
                return Value::Double(if self.op == "min=" {
                    f64::INFINITY
                } else {
                    f64::NEG_INFINITY
                });
            }
            Type::U32 | Type::U64 => (0, (1_i128 << bits) - 1),
            _ => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        };
        Value::Int(match self.op {
            "+=" => 0,
            "*=" => 1,
            "min=" => most,
            _ => least,
        })
    }

    /// Accumulator `before` updated with `value`; `min` and `max` ignore NaN.
    fn gathered(&self, before: Value, value: Value) -> Value {
        let is_less = self.op == "min=";
        match (before, value) {
            (Value::Int(a), Value::Int(b)) => {
                let all = match self.op {
                    "+=" => a + b,
                    "*=" => a.wrapping_mul(b),
                    "min=" => a.min(b),
                    _ => a.max(b),
                };
                Value::of(self.ty, u64::try_from(all & i128::from(u64::MAX)).unwrap())
            }
            (Value::Single(a), Value::Single(b)) => {
                Value::Single(if (is_less && b < a) || (!is_less && b > a) { b } else { a })
            }
            (Value::Double(a), Value::Double(b)) => {
                Value::Double(if (is_less && b < a) || (!is_less && b > a) { b } else { a })
            }
            _ => panic!("two types"),
        }
    }
}

/// Elements of a type: its extreme values, and random ones.
fn inputs(random: &mut Random, name: &str) -> Vec<u64> {
    let dtype = Dtype::parse(name).unwrap();
    let width = dtype.element_bits();
    let mask = u64::MAX >> (64 - width);
    let top = 1 << (width - 1);
    let special: Vec<u64> = match name {
        "f32" => [
            0.0,
            -0.0,
            0.5,
            1.5,
            2.5,
            -2.5,
            1.0e-40,
            3.0e38,
            f32::INFINITY,
            f32::NAN,
            16_777_217.0,
            127.5,
            -128.5,
        ]
        .map(|value: f32| u64::from(value.to_bits()))
        .to_vec(),
        "f64" => [
            0.0,
            -0.0,
            0.5,
            1.5,
            -2.5,
            1.0e-310,
            1.0e308,
            1.0e39,
            0.1,
            f64::NEG_INFINITY,
            f64::NAN,
            2_147_483_647.5,
        ]
        .map(f64::to_bits)
        .to_vec(),
        "f16" => vec![0, 0x8000, 1, 0x03FF, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x3C00],
        "bf16" => vec![0, 0x8000, 1, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x3F80],
        _ => vec![0, 1, mask, top, top - 1, top + 1, 2, 3, 7, mask - 1],
    };
    let is_float = name.contains('f');
    (0..ROWS * COLUMNS)
        .map(|_| match random.below(3) {
            0 => *random.pick(&special),
            1 if is_float => {
                let value = random.between(-2000_i32, 1999);
                let exact = f64::from(value) / 8.0;
                let from = Dtype::parse("f64").unwrap();
                let cast = layoutc_compiler::base::cast::Cast::new(
                    from,
                    dtype,
                    layoutc_compiler::base::cast::CastMode::Round,
                );
                cast.unwrap().map_or(exact.to_bits(), |cast| {
                    layoutc_compiler::base::cast::CastEvaluator::new(cast).convert(exact.to_bits())
                })
            }
            1 => random.below(9),
            _ => random.bits() & mask,
        })
        .collect()
}

fn manifest(statements: &[Statement]) -> String {
    let mut text = String::new();
    for (name, _) in ELEMENTS {
        writeln!(text, "tensor T_{name} dtype={name} {{ shape {{ j {ROWS}; i {COLUMNS} }} }}")
            .unwrap();
    }
    for (number, statement) in statements.iter().enumerate() {
        let axes = if statement.op == "=" {
            format!("j {ROWS}; i {COLUMNS}")
        } else {
            format!("j {ROWS}")
        };
        writeln!(text, "tensor O{number} dtype={} {{ shape {{ {axes} }} }}", statement.ty.word())
            .unwrap();
    }
    for (number, statement) in statements.iter().enumerate() {
        writeln!(text, "kernel k{number} {{\n{}}}", statement.text(number)).unwrap();
    }
    text
}

/// Parameter names of a function's prototype.
fn operands<'h>(header: &'h str, function: &str) -> Vec<&'h str> {
    let (_, rest) = header.split_once(&format!("\nvoid {function}(")).unwrap();
    let args = rest.split(')').next().unwrap().split(',');
    args.map(|arg| arg.rsplit(['*', ' ']).next().unwrap()).collect()
}

fn c_type(name: &str) -> &'static str {
    match name {
        "i8" => "int8_t",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "u16" | "f16" | "bf16" => "uint16_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "f32" => "float",
        _ => "double",
    }
}

/// Program that runs the kernels on inputs from one file and writes the outputs to another.
fn driver(statements: &[Statement], header: &str) -> String {
    let mut text = "#include \"m.h\"\n#include <stdio.h>\n".to_owned();
    let elements = ROWS * COLUMNS;
    for (name, _) in ELEMENTS {
        writeln!(text, "static {} T_{name}[{elements}];", c_type(name)).unwrap();
    }
    for (number, statement) in statements.iter().enumerate() {
        writeln!(text, "static {} O{number}[{elements}];", c_type(statement.ty.word())).unwrap();
    }
    text.push_str(
        "int main(void) {\n    FILE *file = fopen(\"in.bin\", \"rb\");\n    if (!file) return 2;\n",
    );
    for (name, _) in ELEMENTS {
        writeln!(
            text,
            "    if (fread(T_{name}, sizeof *T_{name}, {elements}, file) != {elements}) return 2;"
        )
        .unwrap();
    }
    text.push_str(
        "    fclose(file);\n    file = fopen(\"out.bin\", \"wb\");\n    if (!file) return 2;\n",
    );
    for (number, statement) in statements.iter().enumerate() {
        let count = if statement.op == "=" { elements } else { ROWS };
        writeln!(text, "    k{number}({});", operands(header, &format!("k{number}")).join(", "))
            .unwrap();
        writeln!(text, "    fwrite(O{number}, sizeof *O{number}, {count}, file);").unwrap();
    }
    text.push_str("    return fclose(file);\n}\n");
    text
}

/// Compilers, with flags that preserve float semantics.
fn compilers() -> Vec<(&'static str, &'static [&'static str])> {
    let all: [(&str, &[&str]); 5] = [
        ("gcc", &["-std=c11", "-O2", "-ffp-contract=off"]),
        ("tcc", &[]),
        ("clang", &["-std=c11", "-O2", "-ffp-contract=off"]),
        (
            "gcc",
            &[
                "-std=c11",
                "-O3",
                "-ffp-contract=off",
                "-DLAYOUTC_PLAIN",
                "-fsanitize=undefined",
                "-fno-sanitize-recover=all",
            ],
        ),
        ("gcc", &["-std=c11", "-O0", "-ffp-contract=off"]),
    ];
    let installed = all.into_iter().filter(|(name, _)| is_installed(name));
    if is_full() { installed.collect() } else { installed.take(2).collect() }
}

fn is_same(ty: Type, wanted: u64, got: u64) -> bool {
    wanted == got || Value::of(ty, got).bits() & (u64::MAX >> (64 - ty.bits())) == wanted
}

/// True for a float zero of either sign.
fn is_zero(ty: Type, value: u64) -> bool {
    matches!(Value::of(ty, value), Value::Single(0.0) | Value::Double(0.0))
}

/// Runs `count` statements of one seed.
fn run(seed: u64, count: usize) {
    let mut random = Random::new(seed);
    let mut statements = Vec::new();
    while statements.len() < count {
        let statement = Statement::random(&mut random);
        if statement.text(0).contains("T_") {
            statements.push(statement);
        }
    }
    let given: Vec<Vec<u64>> = ELEMENTS.iter().map(|(name, _)| inputs(&mut random, name)).collect();
    let text = manifest(&statements);
    let checked = check_valid(&text);
    let folder = folder(&format!("random_values_{seed}"));
    let outputs = emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap();
    for output in &outputs {
        let name = output.path.rsplit('/').next().unwrap();
        layoutc_testing::files::write(folder.join(name), &output.text);
    }
    let header = std::fs::read_to_string(folder.join("m.h")).unwrap();
    std::fs::write(folder.join("m.kdl"), &text).unwrap();
    std::fs::write(folder.join("main.c"), driver(&statements, &header)).unwrap();
    let mut bytes = Vec::new();
    for ((name, _), values) in ELEMENTS.iter().zip(&given) {
        let width = usize::try_from(Dtype::parse(name).unwrap().element_bits() / 8).unwrap();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)));
    }
    std::fs::write(folder.join("in.bin"), bytes).unwrap();
    for (number, (compiler, flags)) in compilers().into_iter().enumerate() {
        let program = format!("program_{number}");
        let mut command = Command::new(compiler);
        command.args(flags).args(["-o", &program, "main.c", "m.c", "-lm"]);
        build_and_run(&mut command, &folder, &program);
        agree(&format!("{compiler} {flags:?}"), &folder, &statements, &given);
    }
    run_in_rust(&folder, &checked.manifests[0], &statements, &given);
}

/// Compares the outputs of a program in `out.bin` with the expected elements. `compiler` is its compiler in messages.
fn agree(compiler: &str, folder: &Path, statements: &[Statement], given: &[Vec<u64>]) {
    let out = std::fs::read(folder.join("out.bin")).unwrap();
    let mut rest = out.as_slice();
    for statement in statements {
        let width = usize::try_from(statement.ty.bits() / 8).unwrap();
        for (place, wanted) in statement.values(given).into_iter().enumerate() {
            let (bytes, after) = rest.split_at(width);
            rest = after;
            let mut whole = [0; 8];
            whole[..width].copy_from_slice(bytes);
            let got = u64::from_le_bytes(whole);
            let is_chosen = |word: &str| statement.text(0).contains(word);
            // clang does not distinguish the zeros when it compiles `min` and `max`.
            let of_zeros = (is_chosen("min(") || is_chosen("max("))
                && is_zero(statement.ty, wanted)
                && is_zero(statement.ty, got);
            assert!(
                of_zeros || is_same(statement.ty, wanted, got),
                "{compiler} in {}: element {place} is {:?}, not {:?}:\n{}",
                folder.display(),
                Value::of(statement.ty, got),
                Value::of(statement.ty, wanted),
                statement.text(0)
            );
        }
    }
}

/// Program in Rust that does what the one of [`driver`] does.
fn rust_driver(statements: &[Statement], module: &str) -> String {
    let mut text = "mod m;\nfn main() {\n    let all = std::fs::read(\"in.bin\").unwrap();\n    \
                    let mut rest = all.as_slice();\n    let mut out: Vec<u8> = Vec::new();\n"
        .to_owned();
    let element = |name: &str| match name {
        "f16" | "bf16" => "u16".to_owned(),
        name => name.to_owned(),
    };
    let elements = ROWS * COLUMNS;
    for (name, _) in ELEMENTS {
        let ty = element(name);
        writeln!(
            text,
            "    let (bytes, after) = rest.split_at({elements} * size_of::<{ty}>());\n    rest = after;\n    \
             let items = bytes.chunks_exact(size_of::<{ty}>());\n    \
             let T_{name}: Vec<{ty}> = items.map(|item| {ty}::from_le_bytes(item.try_into().unwrap())).collect();"
        )
        .unwrap();
    }
    for (number, statement) in statements.iter().enumerate() {
        let count = if statement.op == "=" { elements } else { ROWS };
        let ty = element(statement.ty.word());
        writeln!(text, "    let mut O{number}: Vec<{ty}> = vec![Default::default(); {count}];")
            .unwrap();
        let (_, head) = module.split_once(&format!("pub fn k{number}(")).unwrap();
        let names = head.split(')').next().unwrap().split(',');
        let names = names.filter_map(|param| param.trim().split_once(": "));
        let args: Vec<String> = names
            .map(|(name, ty)| format!("{}{name}", if ty.contains("mut") { "&mut " } else { "&" }))
            .collect();
        writeln!(text, "    m::k{number}({});", args.join(", ")).unwrap();
        writeln!(text, "    O{number}.iter().for_each(|item| out.extend(item.to_le_bytes()));")
            .unwrap();
    }
    text.push_str(
        "    assert!(rest.is_empty());\n    std::fs::write(\"out.bin\", out).unwrap();\n}\n",
    );
    format!("#![allow(non_snake_case, unused_variables)]\nuse std::mem::size_of;\n{text}")
}

/// Runs the statements in Rust on the inputs in `in.bin`.
fn run_in_rust(folder: &Path, manifest: &Manifest, statements: &[Statement], given: &[Vec<u64>]) {
    let settings = Settings::of(&RUST_FILES);
    let outputs = emit(manifest, &settings, "m", &Templates::default()).unwrap();
    std::fs::write(folder.join("m.rs"), &outputs[0].text).unwrap();
    std::fs::write(folder.join("main.rs"), rust_driver(statements, &outputs[0].text)).unwrap();
    if rustc::run(folder, "main.rs") {
        agree("rustc", folder, statements, given);
    }
}

#[test]
fn random_values_agree_with_the_reference() {
    let seeds = cases(2, 6);
    for seed in 0..seeds {
        run(seed, 24);
    }
}
