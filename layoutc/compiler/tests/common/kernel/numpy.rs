//! Helper: compares kernels with `NumPy` on random operands.

use layoutc_testing::process::{is_installed, output};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::{Kernel, Operand, instances, memory};

/// Python script that writes the operands, or with `check` compares the results; it computes in 64 bits.
const SCRIPT: &str = r#"
import sys
import numpy as np

random = np.random.default_rng(39)
values = {"np": np}
for name, dtype, shape in read:
    if sys.argv[1] == "make":
        whole = np.dtype(dtype).kind == "i"
        data = random.integers(-8, 9, shape) if whole else random.uniform(-1, 1, shape)
        data.astype(dtype).tofile(name + ".numpy")
    data = np.fromfile(name + ".numpy", dtype).reshape(shape)
    values[name] = data.astype("i8" if data.dtype.kind == "i" else "f8")
if sys.argv[1] == "make":
    sys.exit(0)
exec(body, values)
for name, dtype, shape in written:
    wanted = values[name].astype(dtype).astype("f8")
    assert wanted.shape == shape, f"{name} has the shape {wanted.shape}"
    for instance in range(instances):
        got = np.fromfile(f"{name}_{instance}.numpy", dtype).reshape(shape).astype("f8")
        apart = np.abs(got - wanted) / (1 + np.abs(wanted))
        assert (apart <= tolerance).all(), f"{name} of instance {instance} is {apart.max()} off"
        print(f"{name}_{instance}: {got.size} elements")
"#;

/// Python with `NumPy`, if installed; `LAYOUTC_NUMPY` is the folder of the package.
fn python() -> Option<Command> {
    let mut command = Command::new("python3");
    if let Ok(folder) = std::env::var("LAYOUTC_NUMPY") {
        command.env("PYTHONPATH", folder);
    }
    let mut trial = Command::new("python3");
    trial.args(["-c", "import numpy"]).envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    trial.output().is_ok_and(|ran| ran.status.success()).then_some(command)
}

/// Compares every instance of a kernel with `NumPy`; the folder has the generated C.
pub(super) fn compare(kernel: &Kernel, folder: &Path, stem: &str) {
    if kernel.numpy.is_empty() || python().is_none() {
        return;
    }
    let all = |is_written: bool| {
        let mut list = String::new();
        for operand in &kernel.operands {
            if kernel.written.contains(&operand.name) == is_written {
                let extents = operand.shape.iter().map(|(_, extent)| extent.to_string());
                let extents = extents.collect::<Vec<_>>().join(", ");
                let (name, dtype) = (operand.name, numpy_type(operand));
                write!(list, "(\"{name}\", \"{dtype}\", ({extents},)), ").unwrap();
            }
        }
        list
    };
    let count = instances(kernel);
    let script = format!(
        "read = [{}]\nwritten = [{}]\ninstances, tolerance = {count}, {}\nbody = \"\"\"\n{}\n\"\"\"\n{SCRIPT}",
        all(false),
        all(true),
        kernel.tolerance,
        kernel.numpy
    );
    std::fs::write(folder.join("against_numpy.py"), script).unwrap();
    let run_script = |mode: &str| {
        let mut python = python().unwrap();
        output(python.args(["against_numpy.py", mode]).current_dir(folder))
            .unwrap_or_else(|error| panic!("{}: {error}", kernel.name))
    };
    run_script("make");
    std::fs::write(folder.join("from_numpy.c"), main_c(kernel, stem)).unwrap();
    let sources = ["from_numpy.c".to_owned(), format!("{stem}.c")];
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    for compiler in ["gcc", "clang"].into_iter().filter(|name| is_installed(name)) {
        let mut command = Command::new(compiler);
        command.args(["-std=c11", "-O0", "-o", "from_numpy"]).args(&sources).arg("-lm");
        assert!(command.current_dir(folder).status().unwrap().success(), "{compiler}");
        let mut program = Command::new(folder.join("from_numpy"));
        assert!(program.current_dir(folder).status().unwrap().success(), "{compiler}");
        let printed = run_script("check");
        assert_eq!(printed.lines().count(), count * kernel.written.len(), "{printed}");
    }
}

/// `NumPy` name of an operand's type: `f4` for `f32`.
fn numpy_type(operand: &Operand) -> String {
    let (kind, bits) = operand.dtype.split_at(1);
    format!("{kind}{}", bits.parse::<usize>().unwrap() / 8)
}

/// Program that reads the dense operands, packs them for every instance, runs it, and writes the unpacked results.
fn main_c(kernel: &Kernel, stem: &str) -> String {
    let mut text = format!(
        "#include \"{stem}.h\"\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static void move(const char *name, void *memory, size_t bytes, int writes) {{\n\
             FILE *const file = fopen(name, writes ? \"wb\" : \"rb\");\n\
             if (file == NULL || (writes ? fwrite(memory, 1, bytes, file) : fread(memory, 1, bytes, file)) != bytes) exit(2);\n\
             fclose(file);\n}}\n"
    );
    for operand in &kernel.operands {
        let (name, element, n) = (operand.name, operand.element, operand.elements());
        writeln!(text, "static {element} {name}[{n}];").unwrap();
    }
    text.push_str("int main(void) {\n");
    let is_written = |operand: &&Operand| kernel.written.contains(&operand.name);
    let (written, read): (Vec<&Operand>, Vec<&Operand>) =
        kernel.operands.iter().partition(is_written);
    for Operand { name, .. } in &read {
        writeln!(text, "    move(\"{name}.numpy\", {name}, sizeof {name}, 0);").unwrap();
    }
    for k in 0..instances(kernel) {
        text.push_str("    {\n");
        let all: Vec<String> =
            read.iter().chain(&written).map(|operand| format!("{}_there", operand.name)).collect();
        for (operand, there) in read.iter().chain(&written).zip(&all) {
            text.push_str(&memory(operand, &operand.tensor(k), there));
        }
        for (operand, there) in read.iter().zip(&all) {
            let tensor = operand.tensor(k);
            writeln!(text, "        {tensor}_pack({}, {there});", operand.name).unwrap();
        }
        writeln!(text, "        {}_{k}({});", kernel.name, all.join(", ")).unwrap();
        for operand in &written {
            let (name, tensor) = (operand.name, operand.tensor(k));
            writeln!(text, "        {tensor}_unpack({name}_there, {name});").unwrap();
            writeln!(text, "        move(\"{name}_{k}.numpy\", {name}, sizeof {name}, 1);")
                .unwrap();
        }
        for there in &all {
            writeln!(text, "        free({there});").unwrap();
        }
        text.push_str("    }\n");
    }
    text.push_str("    return 0;\n}\n");
    text
}
