//! Helper: emits, compiles and runs a kernel on many layouts, against a reference in C loops over the logical axes.
#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests, runs compilers"
)]

mod cuda;
mod numpy;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{compile_cache, gpu};
use crate::common::cc::{compile_and_run, compilers, folder, write};
use crate::common::check_text::check_valid;
use layoutc_compiler::config::{Config, TargetOpenCl, TargetsConfig};
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::is_full;

/// An operand of a kernel; instance `k` uses layout `k % layouts.len()`.
pub struct Operand {
    pub name: &'static str,
    pub dtype: &'static str,
    /// C type of an element.
    pub element: &'static str,
    pub shape: &'static [(&'static str, usize)],
    pub layouts: &'static [&'static str],
}

/// A kernel with its reference implementation in C, in which the dense operands are arrays with the operands' names.
pub struct Kernel {
    pub name: &'static str,
    pub text: &'static str,
    pub operands: Vec<Operand>,
    /// Operands that are written; the others are read, in their order.
    pub written: &'static [&'static str],
    pub plain: &'static str,
    /// Reference in `NumPy` for the full campaign, from the read operands to the written ones; empty if there is none.
    pub numpy: &'static str,
    /// Relative tolerance against the reference.
    pub tolerance: &'static str,
    /// Schedules by instance number; the planner chooses for the other instances.
    pub schedules: &'static [(usize, &'static str)],
}

fn instances(kernel: &Kernel) -> usize {
    kernel.operands.iter().map(|operand| operand.layouts.len()).max().unwrap()
}

/// Targets of a manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    C,
    /// OpenCL and CUDA: layouts with an axis separator are images.
    Gpu,
}

impl Operand {
    /// Operand of type `f32`.
    pub fn f32(
        name: &'static str,
        shape: &'static [(&'static str, usize)],
        layouts: &'static [&'static str],
    ) -> Self {
        Self { name, dtype: "f32", element: "float", shape, layouts }
    }

    /// Number of elements.
    fn elements(&self) -> usize {
        self.shape.iter().map(|(_, n)| n).product::<usize>().max(1)
    }

    /// Name of the operand's tensor in an instance.
    fn tensor(&self, instance: usize) -> String {
        format!("{}{}", self.name, instance % self.layouts.len())
    }

    /// True if the operand is an image on GPUs in an instance.
    fn is_image(&self, instance: usize) -> bool {
        self.layouts[instance % self.layouts.len()].contains('|')
    }
}

fn manifest(kernel: &Kernel, target: For) -> String {
    let mut text = String::new();
    for operand in &kernel.operands {
        let Operand { name, dtype, shape, layouts, .. } = operand;
        let axes: Vec<String> = shape.iter().map(|(axis, n)| format!("{axis} {n}")).collect();
        for (k, layout) in layouts.iter().enumerate() {
            let axes = axes.join("; ");
            let is_image = target == For::Gpu && layout.contains('|');
            let memory = if is_image { "; memory texture" } else { "" };
            writeln!(
                text,
                "tensor {name}{k} dtype={dtype} {{ shape {{ {axes} }}; layout {{ {layout} }}{memory} }}"
            )
            .unwrap();
        }
    }
    text.push_str(kernel.text);
    for k in 0..instances(kernel) {
        let bound: Vec<String> = kernel
            .operands
            .iter()
            .map(|operand| format!("{0}={0}{1}", operand.name, k % operand.layouts.len()))
            .collect();
        let schedule = kernel.schedules.iter().find(|row| row.0 == k).map_or("", |row| row.1);
        let bound = bound.join(" ");
        writeln!(text, "instance {0}_{k} of={0} {bound} {{ {schedule} }}", kernel.name).unwrap();
    }
    text
}

/// Start of every program: the filled dense operands, and the reference run on them. `main` is the signature of main.
fn begun(kernel: &Kernel, header: &str, main: &str) -> String {
    let mut text = format!(
        "#include \"{header}\"\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         static uint32_t state = 1;\nstatic int next(void) {{ state = state * 1664525u + 1013904223u; return (int)(state >> 24) % 17 - 8; }}\n"
    );
    for operand in &kernel.operands {
        let (name, element, n) = (operand.name, operand.element, operand.elements());
        let is_written = kernel.written.contains(&name);
        let got = if is_written { format!(", {name}_got[{n}]") } else { String::new() };
        writeln!(text, "static {element} {name}[{n}]{got};").unwrap();
    }
    writeln!(text, "static void plain(void) {{\n{}\n}}", kernel.plain).unwrap();
    writeln!(text, "{main} {{\n    int wrong = 0;").unwrap();
    for operand in &kernel.operands {
        let (name, element, n) = (operand.name, operand.element, operand.elements());
        if !kernel.written.contains(&name) {
            let value = match (operand.dtype, element) {
                ("f16", _) => "(uint16_t)(0x3400 + (next() + 8) * 16)".to_owned(),
                (_, "float" | "double") => format!("({element})next() / 4"),
                _ => format!("({element})next()"),
            };
            writeln!(text, "    for (int k = 0; k < {n}; ++k) {name}[k] = {value};").unwrap();
        }
    }
    text.push_str("    plain();\n");
    text
}

/// C code that allocates an operand in its layout as `there`.
fn memory(operand: &Operand, tensor: &str, there: &str) -> String {
    let (element, upper) = (operand.element, tensor.to_uppercase());
    format!(
        "        {element} *{there} = ({element} *)malloc((size_t){upper}_BYTES + 1);\n        memset({there}, 0x7F, (size_t){upper}_BYTES);\n"
    )
}

/// C code that compares the result of an instance with the reference.
fn compared(kernel: &Kernel, operand: &Operand, instance: usize) -> String {
    let (name, n, tolerance) = (operand.name, operand.elements(), kernel.tolerance);
    format!(
        "        for (int k = 0; k < {n}; ++k) {{\n            const double a = (double){name}[k], b = (double){name}_got[k];\n            if (!(a == b || fabs(a - b) <= {tolerance} * (1 + fabs(a)))) {{ if (wrong++ < 5) printf(\"{0}_{instance}: {name}[%d] is %g, not %g\\n\", k, b, a); }}\n        }}\n",
        kernel.name
    )
}

fn main_c(kernel: &Kernel, stem: &str) -> String {
    let mut text = begun(kernel, &format!("{stem}.h"), "int main(void)");
    for k in 0..instances(kernel) {
        text.push_str("    {\n");
        let mut read = String::new();
        let mut written = String::new();
        let mut after = String::new();
        for operand in &kernel.operands {
            let name = operand.name;
            let tensor = operand.tensor(k);
            text.push_str(&memory(operand, &tensor, &format!("{name}_there")));
            if kernel.written.contains(&name) {
                write!(written, ", {name}_there").unwrap();
                writeln!(after, "        {tensor}_unpack({name}_there, {name}_got);").unwrap();
                after.push_str(&compared(kernel, operand, k));
            } else {
                writeln!(text, "        {tensor}_pack({name}, {name}_there);").unwrap();
                write!(read, ", {name}_there").unwrap();
            }
        }
        let args = format!("{read}{written}");
        writeln!(text, "        {}_{k}({});", kernel.name, args.trim_start_matches(", ")).unwrap();
        text.push_str(&after);
        for operand in &kernel.operands {
            writeln!(text, "        free({}_there);", operand.name).unwrap();
        }
        text.push_str("    }\n");
    }
    text.push_str("    return wrong != 0;\n}\n");
    text
}

/// Runs every instance by OpenCL on `PoCL` and Oclgrind; a C program packs the operands and checks the results.
pub fn computes_in_opencl(kernel: &Kernel) {
    let text = manifest(kernel, For::Gpu);
    let targets = |c, opencl| TargetsConfig {
        c,
        opencl,
        cuda: None,
        hip: None,
        rust: None,
        own: BTreeMap::new(),
    };
    let folder = folder(&format!("kernel_{}_cl", kernel.name));
    let mut ranges = String::new();
    for target in
        [targets(Config::default().target.c, None), targets(None, Some(TargetOpenCl::default()))]
    {
        let config = Config { target, ..Config::default() };
        let sources = MemorySources::of("a.kdl", &text);
        let compiler = Compiler::new(&sources, &config);
        let checked = compiler.check(&["a.kdl".to_owned()]);
        assert_eq!(checked.diagnostics, [], "{text}");
        let faults = |faults| panic!("{faults:?}");
        let outputs = compiler.emit(&checked, &Templates::default());
        for output in outputs.unwrap_or_else(faults) {
            let name = output.path.rsplit('/').next().unwrap();
            if output.path.contains("opencl") && name == "a.h" {
                ranges.clone_from(&output.text);
            } else {
                layoutc_testing::files::write(folder.join(name), &output.text);
            }
        }
    }
    std::fs::write(folder.join("main.c"), opencl_main(kernel)).unwrap();
    let program = folder.join("program");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-std=c11", "-O0", "-o", "program", "main.c", "a.c", "-lm"]);
    compile_cache::compile(&mut gcc, &folder, Some("program"), &[])
        .unwrap_or_else(|printed| panic!("{printed}"));
    gpu::run_program(&program, &["pack"]).unwrap();
    std::fs::write(folder.join("a.job"), job(kernel, &folder, &ranges)).unwrap();
    // Oclgrind checks for races and is slow.
    let is_due = |platform: &gpu::Platform| is_full() || *platform != gpu::Platform::Oclgrind;
    for platform in gpu::platforms().into_iter().filter(is_due) {
        gpu::run_cl(platform, &folder, &["a.job"])
            .unwrap_or_else(|printed| panic!("{}: {printed}", folder.display()));
        let ran = gpu::run_program(&program, &["check"]);
        assert!(ran.is_ok(), "{platform:?} in {}:\n{ran:?}", folder.display());
    }
}

/// Program that writes the packed operands to files, or with `check` compares the computed results with the reference.
fn opencl_main(kernel: &Kernel) -> String {
    let mut main = begun(kernel, "a.h", "int main(int count, char **words)");
    main.push_str("    const int is_check = count > 1 && strcmp(words[1], \"check\") == 0;\n");
    for k in 0..instances(kernel) {
        for operand in &kernel.operands {
            let name = operand.name;
            let tensor = operand.tensor(k);
            let bytes = format!("(size_t){}_BYTES", tensor.to_uppercase());
            main.push_str("    {\n");
            main.push_str(&memory(operand, &tensor, "there"));
            let is_written = kernel.written.contains(&name);
            if !is_written {
                writeln!(main, "        {tensor}_pack({name}, there);").unwrap();
            }
            writeln!(main, "        FILE *file = fopen(is_check ? \"{name}_{k}.out\" : \"{name}_{k}.bin\", is_check ? \"rb\" : \"wb\");").unwrap();
            writeln!(main, "        if (!is_check) fwrite(there, 1, {bytes}, file);").unwrap();
            if is_written {
                writeln!(main, "        if (is_check) {{\n        if (fread(there, 1, {bytes}, file) != {bytes}) return 2;\n        {tensor}_unpack(there, {name}_got);").unwrap();
                main.push_str(&compared(kernel, operand, k));
                main.push_str("        }\n");
            }
            main.push_str("        if (file) fclose(file);\n        free(there);\n    }\n");
        }
    }
    main.push_str("    return wrong != 0;\n}\n");
    main
}

/// Job file that runs the kernels of every instance in order.
fn job(kernel: &Kernel, folder: &std::path::Path, ranges: &str) -> String {
    let mut job = "program a.cl\nguard 64\n".to_owned();
    let define = |name: &str| {
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = ranges.lines().map(squeezed);
        let mut found = line.filter_map(|line| {
            Some(line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' ')?.to_owned())
        });
        found.next()
    };
    let names: Vec<&str> = ranges
        .lines()
        .filter_map(|line| line.strip_prefix("// __kernel void ")?.split('(').next())
        .collect();
    let locals = kernel.text.matches("local ").count();
    for k in 0..instances(kernel) {
        let mut args = String::new();
        let written = |operand: &&Operand| kernel.written.contains(&operand.name);
        let (out, read): (Vec<&Operand>, Vec<&Operand>) = kernel.operands.iter().partition(written);
        for operand in read.iter().chain(&out) {
            let file = format!("{}_{k}.bin", operand.name);
            let bytes = std::fs::metadata(folder.join(&file)).unwrap().len();
            let tensor = operand.tensor(k).to_uppercase();
            let size = ["WIDTH", "HEIGHT"].map(|what| define(&format!("{tensor}_IMAGE_{what}")));
            let (name, dtype) = (operand.name, operand.dtype);
            match size {
                [Some(width), Some(height)] => {
                    writeln!(job, "image {name}_{k} {dtype} {width} {height} 0 file {file}")
                        .unwrap();
                }
                _ => writeln!(job, "buffer {name}_{k} {bytes} file {file}").unwrap(),
            }
            write!(args, " mem {}_{k}", operand.name).unwrap();
        }
        for local in 0..locals {
            writeln!(job, "buffer local_{local}_{k} 4096 fill 0").unwrap();
            write!(args, " mem local_{local}_{k}").unwrap();
        }
        let own = format!("{}_{k}", kernel.name);
        let is_own = |name: &&&str| {
            **name == own
                || name.strip_prefix(&own).and_then(|rest| rest.strip_prefix('_')).is_some_and(
                    |rest| {
                        rest.split('_').all(|part| part == "fill" || part.parse::<usize>().is_ok())
                    },
                )
        };
        for name in names.iter().filter(is_own) {
            let upper = name.to_uppercase();
            let items = define(&format!("{upper}_GLOBAL_SIZE_0")).unwrap();
            let local = define(&format!("{upper}_LOCAL_SIZE_0"));
            let local = local.map_or(String::new(), |local| format!(" local {local}"));
            writeln!(job, "run {name} {items}{local} args{args}").unwrap();
        }
        for operand in out {
            writeln!(job, "save {0}_{k} {0}_{k}.out", operand.name).unwrap();
        }
        for operand in &kernel.operands {
            writeln!(job, "free {}_{k}", operand.name).unwrap();
        }
    }
    job
}

/// Macros that replace the dispatch by processor and select the loops for 64-byte vectors.
const LONG: &str = "\
#define LAYOUTC_COMPUTES
#define LAYOUTC_RESTRICT restrict
#define LAYOUTC_UNROLL(rounds)
#define LAYOUTC_USUALLY(condition) (condition)
#define LAYOUTC_STORE(elements, to, from) memcpy(to, from, (elements) * sizeof *(from))
#define LAYOUTC_COMPUTE_FOR(kernel, suffix, parameters, arguments)
#define LAYOUTC_COMPUTE_BY(kernel, suffix) kernel
";

pub fn computes(kernel: &Kernel) {
    cuda::computes(kernel);
    computes_in_opencl(kernel);
    let text = manifest(kernel, For::C);
    let checked = check_valid(&text);
    let stem = format!("kernel_{}", kernel.name);
    let outputs =
        emit(&checked.manifests[0], &Settings::c(), &stem, &Templates::default()).unwrap();
    let folder = folder(&stem);
    write(&folder, &outputs);
    std::fs::write(folder.join("main.c"), main_c(kernel, &stem)).unwrap();
    let source = format!("{stem}.c");
    let both = ["main.c", source.as_str()];
    // Always one optimized build: only there does misaligned stack memory of vector code fault. The full set has some.
    let optimized = ("gcc", ["-std=c11", "-O2"].to_vec(), true);
    let optimized = (!is_full()).then_some(optimized);
    for (k, compiler) in compilers().into_iter().chain(optimized).enumerate() {
        let sources = if compiler.2 { &both[..] } else { &both[1..2] };
        compile_and_run(&folder, &format!("{stem}_{k}"), sources, compiler);
    }
    // The processor determines which loops run; this build runs those for 64-byte vectors on any processor.
    std::fs::write(folder.join("long.c"), format!("{LONG}#include \"{source}\"\n")).unwrap();
    let plainly = ("gcc", ["-std=c11", "-O0"].to_vec(), true);
    compile_and_run(&folder, &format!("{stem}_long"), &["main.c", "long.c"], plainly.clone());
    let test = format!("tests/{stem}_test.c");
    compile_and_run(&folder, &format!("{stem}_test"), &[&test, &source], plainly);
    let schedules = kernel.schedules.iter().map(|(_, schedule)| *schedule);
    let mut texts = schedules.chain([kernel.text]);
    if texts.any(|text| text.contains("parallel")) {
        let threads = ("gcc", ["-std=c11", "-O2", "-fopenmp"].to_vec(), true);
        compile_and_run(&folder, &format!("{stem}_threads"), &["main.c", &source], threads);
    }
    if is_full() {
        numpy::compare(kernel, &folder, &stem);
    }
}

/// Messages of the faults when the manifest is emitted for OpenCL.
#[allow(dead_code, reason = "not every test asks")]
pub fn gpu_faults(text: &str) -> Vec<String> {
    let opencl = Some(TargetOpenCl::default());
    let target =
        TargetsConfig { c: None, opencl, cuda: None, hip: None, rust: None, own: BTreeMap::new() };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("a.kdl", text);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{text}");
    let faults = compiler.emit(&checked, &Templates::default()).err();
    faults.unwrap_or_default().into_iter().map(|fault| fault.message).collect()
}
