//! Generator of random manifests as text: tensors of one shape, their layouts, fills and conversions.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of several tests, each of which uses a part"
)]

mod records;

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::check_text::check_text_with;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Severity;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};
use layoutc_testing::Random;
use layoutc_testing::layouts::generate::{self, Kinds};
use layoutc_testing::layouts::{Case, Facts, Fault, truth};
pub(crate) use records::records;

/// Element types: name, bits per element, and true for integers.
pub(crate) const TYPES: &[(&str, i64, bool)] = &[
    ("f64", 64, false),
    ("f32", 32, false),
    ("f16", 16, false),
    ("bf16", 16, false),
    ("f8e4m3fn", 8, false),
    ("f8e4m3fnuz", 8, false),
    ("f8e5m2", 8, false),
    ("f8e5m2fnuz", 8, false),
    ("f8e8m0fnu", 8, false),
    ("f6e2m3fn", 6, false),
    ("f6e3m2fn", 6, false),
    ("f4e2m1fn", 4, false),
    ("i64", 64, true),
    ("i32", 32, true),
    ("i16", 16, true),
    ("i8", 8, true),
    ("i6", 6, true),
    ("i5", 5, true),
    ("i4", 4, true),
    ("i3", 3, true),
    ("i2", 2, true),
    ("u64", 64, true),
    ("u32", 32, true),
    ("u16", 16, true),
    ("u8", 8, true),
    ("u6", 6, true),
    ("u5", 5, true),
    ("u4", 4, true),
    ("u3", 3, true),
    ("u2", 2, true),
    ("u1", 1, true),
    ("bool", 8, true),
    ("c64", 64, false),
    ("c128", 128, false),
    ("f32x4", 128, false),
    ("f16x4", 64, false),
    ("u8x4", 32, false),
    ("i8x3", 24, false),
    ("u16x2", 32, false),
    ("f64x8", 512, false),
    ("i32x16", 512, false),
];

/// Fill value of padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    Zero,
    One,
    Nothing,
}

#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) dtype: &'static str,
    pub(crate) fill: Fill,
    pub(crate) high_first: bool,
    /// Value of the `memory` node.
    pub(crate) memory: Option<&'static str>,
    pub(crate) case: Case,
}

#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) converts: Vec<(usize, usize)>,
    /// Values of `batch` to run; without a symbol, one unused value.
    pub(crate) sizes: Vec<i64>,
}

/// Names of all element types.
pub(crate) fn dtypes() -> Vec<&'static str> {
    TYPES.iter().map(|row| row.0).collect()
}

pub(crate) fn bits(dtype: &str) -> i64 {
    if is_record(dtype) {
        return records::bits_of(dtype);
    }
    TYPES.iter().find(|row| row.0 == dtype).unwrap().1
}

/// True if the text of a `dtype` is a record.
fn is_record(dtype: &str) -> bool {
    dtype.ends_with('}')
}

impl Manifest {
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(facts) = self.tensors[0].case.symbol {
            let Facts { min, max, multiple } = facts;
            writeln!(text, "symbol batch min={min} max={max} multiple={multiple}").unwrap();
        }
        for tensor in &self.tensors {
            text.push_str(&tensor.text());
        }
        for (from, to) in &self.converts {
            let (from, to) = (&self.tensors[*from].name, &self.tensors[*to].name);
            writeln!(text, "convert {from} to={to}").unwrap();
        }
        text
    }
}

impl Tensor {
    pub(crate) fn text(&self) -> String {
        let mut text = if is_record(self.dtype) {
            format!("tensor {} {{\n    dtype {}\n    shape {{ ", self.name, self.dtype)
        } else {
            format!("tensor {} dtype={} {{\n    shape {{ ", self.name, self.dtype)
        };
        for (k, (axis, extent)) in self.case.axes.iter().enumerate() {
            if k == 0 && self.case.symbol.is_some() {
                write!(text, "{axis} batch; ").unwrap();
            } else {
                write!(text, "{axis} {extent}; ").unwrap();
            }
        }
        text.push_str("}\n");
        if self.high_first {
            text.push_str("    nibbles high-first\n");
        }
        text.push_str("    layout {\n");
        for line in self.case.lines() {
            writeln!(text, "        {line}").unwrap();
        }
        let fill = match self.fill {
            Fill::Zero => "0",
            Fill::One => "1",
            Fill::Nothing => "none",
        };
        writeln!(text, "        fill {fill}\n    }}").unwrap();
        if let Some(memory) = self.memory {
            writeln!(text, "    memory {memory}").unwrap();
        }
        text.push_str("}\n");
        text
    }
}

/// The checked project, and the outputs by target and name; `None` if a layout with a symbol is not proven.
pub(crate) fn built(
    text: &str,
    config: &Config,
) -> Option<(CheckedProject, BTreeMap<String, String>)> {
    let sources = MemorySources::of("m.kdl", text);
    let compiler = Compiler::new(&sources, config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    let errors: Vec<_> =
        checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if text.starts_with("symbol") && errors.iter().any(|d| d.code == Code::MapUnproven) {
        return None;
    }
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    let outputs = compiler.emit(&checked, &Templates::default());
    let outputs = outputs.unwrap_or_else(|faults| panic!("{faults:#?}\n{text}"));
    let name = |path: &str| path.strip_prefix("c/").unwrap_or(path).to_owned();
    let outputs = outputs.into_iter().map(|output| (name(&output.path), output.text)).collect();
    Some((checked, outputs))
}

/// A random manifest of tensors of one shape. All but the last two share an element type and are converted into one
/// another. `suited` adapts a tensor to the targets of `config`; a type listed twice in `dtypes` is twice as likely.
pub(crate) fn manifest(
    random: &mut Random,
    count: usize,
    config: &Config,
    dtypes: &[&'static str],
    suited: impl Fn(&mut Random, Tensor) -> Tensor,
) -> Manifest {
    let symbol = random.one_in(3).then(|| {
        let multiple = *random.pick(&[1, 1, 2, 4, 8]);
        Facts { min: random.between(0, 1), max: 64, multiple }
    });
    let axes = loop {
        let rank = random.below(4) + usize::from(symbol.is_some() || !random.one_in(10));
        let least = i64::from(symbol.is_some() || !random.one_in(15));
        let mut axes: Vec<(String, i64)> = (0..rank)
            .map(|k| (["a", "b", "c", "d"][k].to_owned(), random.between(least, 12)))
            .collect();
        if let Some(facts) = symbol {
            axes[0].1 = facts.multiple;
        }
        if axes.iter().map(|(_, e)| e).product::<i64>() <= 400 {
            break axes;
        }
    };
    let sizes: Vec<i64> = match symbol {
        None => vec![0],
        Some(facts) => (0..3)
            .map(|_| facts.multiple * random.between(i64::from(facts.min > 0), 16 / facts.multiple))
            .collect(),
    };
    let shared = *random.pick(dtypes);
    let mut tensors: Vec<Tensor> = Vec::new();
    while tensors.len() < count {
        let dtype = if tensors.len() + 2 < count { shared } else { *random.pick(dtypes) };
        let width = bits(dtype);
        let integer = TYPES.iter().any(|row| row.0 == dtype && row.2);
        let kinds = Kinds {
            bits: symbol.is_none() && random.one_in(5),
            skews: symbol.is_none() && random.one_in(5),
            empty: true,
            symbol: symbol.is_some(),
            element_bits: width,
        };
        let case = generate::valid_of(random, kinds, &axes, symbol);
        let name = format!("t{}", tensors.len());
        let unfilled =
            Tensor { name, dtype, fill: Fill::Zero, high_first: false, memory: None, case };
        let Tensor { name, dtype, memory, case, .. } = suited(random, unfilled);
        let small = |size: &i64| {
            let case = if symbol.is_some() { case.at(*size) } else { case.clone() };
            truth(&case).is_ok_and(|truth| truth.physical_elements <= 30_000)
        };
        if !sizes.iter().all(small) || truth(&case).is_err() {
            continue;
        }
        let fill = match random.below(4) {
            0 => Fill::Nothing,
            1 if integer => Fill::One,
            _ => Fill::Zero,
        };
        let fill = if dtype.starts_with('i') && width == 2 && fill == Fill::One {
            Fill::Zero
        } else {
            fill
        };
        let fill = if dtype == "f8e8m0fnu" { Fill::Nothing } else { fill };
        let high_first = width < 8 && random.one_in(2);
        let tensor = Tensor { name, dtype, fill, high_first, memory, case };
        let alone = alone(&tensor);
        if !collides_at_some_size(&tensor, config) && built(&alone.text(), config).is_some() {
            tensors.push(tensor);
        }
    }
    let common = count - 2;
    let converts =
        (0..common).map(|from| (from, (from + 1) % common)).filter(|(a, b)| a != b).collect();
    Manifest { tensors, converts, sizes }
}

fn alone(tensor: &Tensor) -> Manifest {
    Manifest { tensors: vec![tensor.clone()], converts: Vec::new(), sizes: Vec::new() }
}

/// True if a layout with a symbol is rejected; asserts that the oracle finds the collision at the reported size.
fn collides_at_some_size(tensor: &Tensor, config: &Config) -> bool {
    let checked = check_text_with(&alone(tensor).text(), config);
    let refusal = checked.diagnostics.iter().find(|d| d.code == Code::MapNotInjective);
    let Some((refusal, _)) = refusal.zip(tensor.case.symbol) else { return false };
    let size = refusal.notes.iter().find_map(|note| note.rsplit_once("for batch = "));
    let size: i64 = size.unwrap().1.parse().unwrap();
    assert!(matches!(truth(&tensor.case.at(size)), Err(Fault::Collision(..))), "{refusal:#?}");
    true
}
