//! A schedule as a C program: the generated code, with operators that use its index functions.

use std::fmt::Write;

use layoutc_compiler::model::Manifest;
use layoutc_compiler::model::schedule::{BufferBinding, BufferRole};

use super::execute::slots;
use super::generate::{Formula, Sample};

const HEAD: &str = r"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int bad;
static uint64_t get(const void *p, int64_t k, size_t w) { uint64_t v = 0; memcpy(&v, (const char *)p + (size_t)k * w, w); return v; }
static void put(void *p, int64_t k, size_t w, uint64_t v) { memcpy((char *)p + (size_t)k * w, &v, w); }
static void *poisoned(size_t bytes) { void *p = malloc(bytes + 1); if (!p) exit(2); memset(p, 0xFF, bytes + 1); return p; }
";

/// Program for a graph; it prints the number of wrong values.
pub(super) fn program(
    sample: &Sample,
    manifest: &Manifest,
    values: &[Vec<u64>],
    header: &str,
) -> String {
    let schedule = &manifest.schedules[0];
    let mut text = format!("#include \"{header}\"{HEAD}");
    for tensor in &manifest.tensors {
        let _written = write!(text, "{}", access(tensor));
    }
    for (k, own) in sample.tensors.iter().zip(values).enumerate() {
        let values: Vec<String> = own.1.iter().map(|value| format!("{value}u")).collect();
        let _written = writeln!(
            text,
            "static uint64_t dense{k}[] = {{{}}};\nstatic uint64_t given{k}[{}];",
            values.join(","),
            own.1.len()
        );
    }
    for operator in &schedule.operators {
        text.push_str(&operator_function(sample, manifest, operator));
    }
    text.push_str("int main(void) {\n");
    let mut fields = Vec::new();
    for buffer in &schedule.buffers {
        let upper = buffer.name.to_ascii_uppercase();
        let _written =
            writeln!(text, "    void *{0}_p = poisoned(G_{upper}_BUFFER_BYTES);", buffer.name);
        if matches!(buffer.use_of, BufferRole::Input | BufferRole::Constant) {
            let k = sample.tensors.iter().position(|tensor| tensor.name == buffer.name).unwrap();
            let _written = writeln!(text, "    write_g_{0}({0}_p, dense{k});", buffer.name);
        }
        fields.push(format!(".{0} = {0}_p", buffer.name));
    }
    let _written = writeln!(text, "    g_buffers buffers = {{{}}};", fields.join(", "));
    if !schedule.load.is_empty() {
        text.push_str("    g_load(&buffers);\n");
    }
    if schedule.operators.is_empty() {
        text.push_str("    g_run(&buffers);\n");
    } else {
        let all: Vec<String> =
            schedule.operators.iter().map(|op| format!(".{0} = run_{0}", op.name)).collect();
        let _written = writeln!(text, "    g_operators operators = {{{}}};", all.join(", "));
        text.push_str("    g_run(&buffers, &operators, NULL);\n");
    }
    for (seen, output) in schedule.outputs.iter().zip(&sample.outputs) {
        let buffer = &schedule.buffers[seen.buffer].name;
        let name = &manifest.tensors[seen.tensor].name;
        let _written = writeln!(
            text,
            "    read_{name}({buffer}_p, given{output});\n    bad += memcmp(given{output}, dense{output}, sizeof dense{output}) != 0;"
        );
    }
    for buffer in &schedule.buffers {
        let _written = writeln!(text, "    free({}_p);", buffer.name);
    }
    text + "    printf(\"%d wrong\\n\", bad);\n    return bad != 0;\n}\n"
}

/// C functions that copy a whole tensor from and to a dense array.
fn access(tensor: &layoutc_compiler::model::Tensor) -> String {
    let (name, width) = (&tensor.name, tensor.dtype.element_bits() / 8);
    let axes: Vec<(String, i128)> = tensor
        .layout
        .logical()
        .iter()
        .enumerate()
        .map(|(k, axis)| (format!("i{k}"), axis.extent.as_const().unwrap()))
        .collect();
    let loops = |body: &str| {
        let mut text = String::from("    int64_t k = 0;\n    ");
        for (index, extent) in &axes {
            let _written =
                write!(text, "for (int64_t {index} = 0; {index} < {extent}; {index}++) ");
        }
        let indices: Vec<&str> = axes.iter().map(|axis| axis.0.as_str()).collect();
        let offset = format!("{name}_offset({})", indices.join(", "));
        format!("{text}{{ {}; k++; }}\n", body.replace("AT", &offset))
    };
    let slots = slots(tensor);
    let read = loops(&format!("to[k] = get(p, AT, {width}); is[AT] = 1"));
    let written = loops(&format!("put(p, AT, {width}, from[k])"));
    format!(
        "static void read_{name}(const void *p, uint64_t *to) {{\n    char is[{slots}] = {{0}};\n{read}    for (int64_t s = 0; s < {slots}; s++) bad += !is[s] && get(p, s, {width}) != 0;\n}}\n\
         static void write_{name}(void *p, const uint64_t *from) {{\n    memset(p, 0, {slots} * {width});\n{written}}}\n"
    )
}

fn operator_function(
    sample: &Sample,
    manifest: &Manifest,
    operator: &layoutc_compiler::model::schedule::ScheduleOperator,
) -> String {
    let node = sample.nodes.iter().find(|node| node.name == operator.name).unwrap();
    let c_type =
        |seen: &BufferBinding| match manifest.tensors[seen.tensor].dtype.to_string().as_str() {
            "f32" => "float",
            "f64" => "double",
            "i32" => "int32_t",
            _ => "uint8_t",
        };
    let mut text = format!("static void run_{}(void *context", operator.name);
    for (k, seen) in operator.reads.iter().enumerate() {
        let _written = write!(text, ", const {} *a{k}", c_type(seen));
    }
    for (k, seen) in operator.writes.iter().enumerate() {
        let _written = write!(text, ", {} *b{k}", c_type(seen));
    }
    text.push_str(") {\n    (void)context;\n");
    for (k, (tensor, seen)) in node.reads.iter().zip(&operator.reads).enumerate() {
        let name = &manifest.tensors[seen.tensor].name;
        let _written = writeln!(text, "    read_{name}(a{k}, given{tensor});");
    }
    for (k, (formula, seen)) in node.formulas.iter().zip(&operator.writes).enumerate() {
        text.push_str(&sum(sample, formula));
        let name = &manifest.tensors[seen.tensor].name;
        let _written = writeln!(text, "    write_{name}(b{k}, given{});", formula.result);
    }
    text + "}\n"
}

/// C code that computes the dense result of a formula.
fn sum(sample: &Sample, formula: &Formula) -> String {
    let modulus = sample.tensors[formula.result].element.modulus;
    let result = formula.result;
    let mut text = String::new();
    for (place, plus) in formula.plus.iter().enumerate() {
        let terms = formula.terms.iter().filter_map(|(operand, factor, places)| {
            Some(format!(" + {factor}u * given{operand}[{}]", places[place]?))
        });
        let terms: String = terms.collect();
        let _written =
            writeln!(text, "    given{result}[{place}] = ({plus}u{terms}) % {modulus}u;");
    }
    text
}
