//! Rust modules of random manifests, compiled and run: index functions against the enumerated oracle, relayouts and
//! element conversions against relayouts in process, kernels against C. `LAYOUTC_FULL=1` runs ten times as many.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::common::cc::folder;
use crate::common::check_text::{check_text_with, tensors};
use crate::common::rustc;
use crate::random_manifest::{Manifest, Tensor, bits, built, dtypes, manifest};
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::config::{Config, TargetRust, TargetsConfig};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::model::Tensor as Model;
use layoutc_compiler::pack::{Packing, pack, unpack};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::layouts::truth;
use layoutc_testing::{Random, cases};

type Symbols = BTreeMap<String, i128>;

/// Start of every program: data from a file, read as items of any type, and comparison of bytes.
const DRIVER: &str = r#"
trait Item: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, out: &mut Vec<u8>);
}

macro_rules! items {
    ($($ty:ty)*) => {$(
        impl Item for $ty {
            const BYTES: usize = core::mem::size_of::<$ty>();
            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
            fn write(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
        }
    )*};
}

items!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl<T: Item, const N: usize> Item for [T; N] {
    const BYTES: usize = T::BYTES * N;
    fn read(bytes: &[u8]) -> Self {
        core::array::from_fn(|k| T::read(&bytes[k * T::BYTES..][..T::BYTES]))
    }
    fn write(self, out: &mut Vec<u8>) {
        self.into_iter().for_each(|item| item.write(out));
    }
}

struct Data {
    all: Vec<u8>,
    at: usize,
    wrong: usize,
}

impl Data {
    fn bytes(&mut self) -> Vec<u8> {
        let length = self.number() as usize;
        self.at += length;
        self.all[self.at - length..self.at].to_vec()
    }

    fn number(&mut self) -> i64 {
        self.at += 8;
        i64::read(&self.all[self.at - 8..self.at])
    }

    fn items<T: Item>(&mut self) -> Vec<T> {
        self.bytes().chunks_exact(T::BYTES).map(T::read).collect()
    }

    /// Compares items with the expected bytes; only the bits of `mask` count in the last byte.
    fn check<T: Item>(&mut self, what: &str, found: &[T], mask: u8) {
        let mut expected = self.bytes();
        let mut bytes = Vec::new();
        found.iter().for_each(|item| item.write(&mut bytes));
        for all in [&mut expected, &mut bytes] {
            if let Some(last) = all.last_mut() {
                *last &= mask;
            }
        }
        if bytes != expected {
            let at = bytes.iter().zip(&expected).position(|(a, b)| a != b);
            println!("{what}: bytes differ at {at:?} of {}", expected.len());
            self.wrong += 1;
        }
    }

    /// Checks that a function panics on a buffer that is one item too short, and writes nothing.
    fn refuses<T: Item>(&mut self, what: &str, to: &mut [T], run: impl FnOnce(&mut [T])) {
        let Some(length) = to.len().checked_sub(1) else { return };
        let bytes = |to: &[T]| {
            let mut bytes = Vec::new();
            to.iter().for_each(|item| item.write(&mut bytes));
            bytes
        };
        let before = bytes(to);
        let run = std::panic::AssertUnwindSafe(|| run(&mut to[..length]));
        let is_refused = std::panic::catch_unwind(run).is_err();
        self.same(what, (is_refused, bytes(to) == before), (true, true));
    }

    fn same<T: PartialEq + core::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            println!("{what}: {found:?} instead of {expected:?}");
            self.wrong += 1;
        }
    }
}
"#;

/// Program with one module per manifest, and the data that it reads.
#[derive(Default)]
struct Program {
    modules: BTreeMap<String, String>,
    /// Functions that `main` calls, and their number.
    functions: String,
    calls: usize,
    main: String,
    data: Vec<u8>,
}

fn rust() -> Config {
    let rust = Some(TargetRust {});
    let target = TargetsConfig { c: None, rust, ..TargetsConfig::default() };
    Config { target, ..Config::default() }
}

impl Program {
    fn number(&mut self, number: i64) {
        self.data.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(i64::try_from(bytes.len()).unwrap());
        self.data.extend(bytes);
    }

    /// Adds a call of a relayout on `from`, whose destination holds `before`, and then `after`; only the bits of `mask`
    /// count in the last byte.
    fn relayout(&mut self, call: &str, [from, before, after]: [&[u8]; 3], mask: u8) {
        [from, before, after].into_iter().for_each(|bytes| self.bytes(bytes));
        let (function, symbols) = call.split_once('(').unwrap();
        // A function of its own: rustc takes long for functions of many calls.
        let name = format!("call_{}", self.calls);
        self.calls += 1;
        writeln!(self.main, "    {name}(&mut data);").unwrap();
        write!(
            self.functions,
            "\nfn {name}(data: &mut Data) {{\n    \
             let (from, mut to): (Vec<_>, Vec<_>) = (data.items(), data.items());\n    \
             data.refuses(\"{function}\", &mut to, |to| {function}({symbols}&from[..], to));\n    \
             {function}({symbols}&from[..], &mut to[..]);\n    \
             data.check(\"{function}\", &to, 0x{mask:02X});\n}}\n"
        )
        .unwrap();
    }

    /// Compiles and runs the program in a folder called `name`.
    fn run(&self, name: &str) {
        let folder = folder(name);
        let mut text = String::from("#![allow(dead_code)]\n");
        for (module, code) in &self.modules {
            std::fs::write(folder.join(format!("{module}.rs")), code).unwrap();
            writeln!(text, "mod {module};").unwrap();
        }
        text.push_str(DRIVER);
        text.push_str(&self.functions);
        write!(
            text,
            "\nfn main() {{\n    let all = std::fs::read(\"data.bin\").unwrap();\n    \
             std::panic::set_hook(Box::new(|_| {{}}));\n    \
             let mut data = Data {{ all, at: 0, wrong: 0 }};\n{}    \
             let _ = std::panic::take_hook();\n    \
             assert_eq!((data.at, data.wrong), (data.all.len(), 0));\n}}\n",
            self.main
        )
        .unwrap();
        std::fs::write(folder.join("main.rs"), text).unwrap();
        std::fs::write(folder.join("data.bin"), &self.data).unwrap();
        rustc::run(&folder, "main.rs");
    }
}

fn size(value: i64) -> usize {
    usize::try_from(value).unwrap()
}

/// Bits of the last byte that belong to an element.
fn last_mask(tensor: &Tensor, elements: usize) -> u8 {
    let used = elements * size(bits(tensor.dtype)) % 8;
    match (used, tensor.high_first) {
        (0, _) => 0xFF,
        (used, false) => (1 << used) - 1,
        (used, true) => !(0xFF >> used),
    }
}

/// Elements of a dense buffer of packed elements, stored in the order of another tensor.
fn repacked(dense: &[u8], from: &Tensor, to: &Tensor, elements: usize) -> Vec<u8> {
    let width = u32::try_from(bits(from.dtype)).unwrap();
    let packings = [from, to].map(|tensor| Packing::new(width, tensor.high_first));
    let [Some(read), Some(write)] = packings else { return dense.to_vec() };
    let mut all = vec![0; dense.len()];
    for k in 0..elements {
        write.store(&mut all, k, read.load(dense, k).unwrap()).unwrap();
    }
    all
}

/// Adds the index functions of a tensor at one size: the offset of every element and its inverse.
fn add_indices(program: &mut Program, module: &str, tensor: &Tensor, batch: i64) {
    let symbol = tensor.case.symbol.is_some();
    let case = if symbol { tensor.case.at(batch) } else { tensor.case.clone() };
    let truth = truth(&case).unwrap();
    let (name, rank) = (&tensor.name, case.axes.len());
    let first = if symbol { format!("{batch}, ") } else { String::new() };
    let index: Vec<String> = (0..rank).map(|k| format!("i{k}")).collect();
    let index = index.join(", ");
    let found = index.replace('i', "o");
    let function = format!("call_{}", program.calls);
    program.calls += 1;
    writeln!(program.main, "    {function}(&mut data);").unwrap();
    let main = &mut program.functions;
    writeln!(main, "\nfn {function}(data: &mut Data) {{").unwrap();
    for (k, (_, extent)) in case.axes.iter().enumerate() {
        writeln!(main, "    for i{k} in 0..{extent} {{").unwrap();
    }
    writeln!(main, "    let offset = {module}::{name}_offset({first}{index});").unwrap();
    writeln!(main, "    let expected = data.number();").unwrap();
    writeln!(main, "    data.same(\"{module}::{name}_offset\", offset, expected);").unwrap();
    let physical: Vec<String> = match truth.physical_shape.len() {
        0 => Vec::new(),
        1 => vec!["offset".to_owned()],
        rank => (0..rank).map(|k| format!("{module}::{name}_index_{k}({first}{index})")).collect(),
    };
    let outs: Vec<String> = (0..rank).map(|k| format!("&mut o{k}")).collect();
    let args = physical.into_iter().chain(outs).collect::<Vec<_>>().join(", ");
    for k in 0..rank {
        writeln!(main, "    let mut o{k} = 0;").unwrap();
    }
    writeln!(main, "    let is_element = {module}::{name}_logical({first}{args});").unwrap();
    writeln!(
        main,
        "    data.same::<(bool, &[i64])>(\"{module}::{name}_logical\", (is_element, &[{found}]), (true, &[{index}]));"
    )
    .unwrap();
    main.push_str(&"    }\n".repeat(rank));
    main.push_str("}\n");
    for element in &truth.elements {
        program.number(element.offset);
    }
}

/// Adds the relayouts of a manifest at one size.
fn add_relayouts(
    program: &mut Program,
    module: &str,
    (manifest, models): (&Manifest, &[Model]),
    batch: i64,
    random: &mut Random,
) {
    let symbols = Symbols::from([("batch".to_owned(), i128::from(batch))]);
    let has_symbol = manifest.tensors[0].case.symbol.is_some();
    let first = if has_symbol { format!("{batch}, ") } else { String::new() };
    let elements = |tensor: &Tensor| {
        let case = if has_symbol { tensor.case.at(batch) } else { tensor.case.clone() };
        let truth = truth(&case).unwrap();
        [truth.logical_elements, truth.physical_elements].map(size)
    };
    let mut physical = Vec::new();
    for (tensor, model) in manifest.tensors.iter().zip(models) {
        let [logical_count, slots] = elements(tensor);
        let name = &tensor.name;
        let packs = pack(model, &symbols).unwrap();
        let logical = random.bytes(packs.from_bytes);
        let before = random.bytes(packs.to_bytes);
        let mut packed = before.clone();
        packs.run(&logical, &mut packed).unwrap();
        let call = format!("{module}::{name}_pack({first}");
        program.relayout(&call, [&logical, &before, &packed], last_mask(tensor, slots));
        let before = random.bytes(packs.from_bytes);
        let mut dense = before.clone();
        unpack(model, &symbols).unwrap().run(&packed, &mut dense).unwrap();
        let call = format!("{module}::{name}_unpack({first}");
        program.relayout(&call, [&packed, &before, &dense], last_mask(tensor, logical_count));
        physical.push((packed, dense));
    }
    for (from, to) in &manifest.converts {
        let (source, target) = (&manifest.tensors[*from], &manifest.tensors[*to]);
        let [count, slots] = elements(target);
        let packs = pack(&models[*to], &symbols).unwrap();
        let before = random.bytes(packs.to_bytes);
        let mut after = before.clone();
        let (packed, dense) = &physical[*from];
        packs.run(&repacked(dense, source, target, count), &mut after).unwrap();
        let call = format!("{module}::{}_to_{}({first}", source.name, target.name);
        program.relayout(&call, [packed, &before, &after], last_mask(target, slots));
    }
}

#[test]
fn rust_of_random_manifests_agrees_with_the_oracle() {
    let config = rust();
    let mut program = Program::default();
    for seed in 0..cases(30, 300) {
        let mut random = Random::new(0x2057 + seed);
        let manifest = manifest(&mut random, 4, &config, &dtypes(), |_, tensor| tensor);
        let text = manifest.text();
        let Some((checked, outputs)) = built(&text, &config) else { continue };
        let module = format!("m{seed}");
        program.modules.insert(module.clone(), outputs["rust/m.rs"].clone());
        let models = &checked.manifests[0].tensors;
        for batch in &manifest.sizes {
            for tensor in &manifest.tensors {
                add_indices(&mut program, &module, tensor, *batch);
            }
            let both = (&manifest, models.as_slice());
            add_relayouts(&mut program, &module, both, *batch, &mut random);
        }
    }
    program.run("rust_random");
}

/// Bytes of elements of a type: random bits, and numbers of moderate size with few fraction bits, so that they are often
/// halfway between two results of a conversion.
fn elements(dtype: &str, count: usize, random: &mut Random) -> Vec<u8> {
    let width = size(bits(dtype)) / 8;
    let mut all = random.bytes((count * width).max(count));
    for k in (0..count).step_by(2) {
        #[expect(clippy::cast_precision_loss, reason = "small integers")]
        let number = random.between(-4096, 4096) as f32 / 16.0;
        let number = number / *random.pick(&[1.0, 8.0, 128.0, 4096.0, 65536.0, 1_048_576.0]);
        let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 65504.0, 65520.0];
        let number = special.get(k / 2).copied().unwrap_or(number);
        match dtype {
            "f32" => all[k * 4..][..4].copy_from_slice(&number.to_le_bytes()),
            "f64" => all[k * 8..][..8].copy_from_slice(&f64::from(number).to_le_bytes()),
            _ => {}
        }
    }
    all
}

#[test]
fn rust_conversions_agree_with_relayouts_in_process() {
    let config = rust();
    let scalars: Vec<&str> = dtypes()
        .into_iter()
        .filter(|dtype| !dtype.contains('x') && !dtype.starts_with('c'))
        .collect();
    let (mut program, mut random, mut count) = (Program::default(), Random::new(7), 0);
    for mode in ["round", "saturate"] {
        for from in &scalars {
            let mut text = String::new();
            for to in scalars.iter().filter(|to| *to != from) {
                let tensor = format!(
                    "tensor {to}_of dtype={to} pack-from={from} cast={mode} {{ shape {{ n 2048 }} }}\n"
                );
                if check_text_with(&tensor, &config).is_valid() {
                    text.push_str(&tensor);
                }
            }
            if text.is_empty() {
                continue;
            }
            let module = format!("{from}_{mode}");
            let (_, outputs) = built(&text, &config).unwrap();
            program.modules.insert(module.clone(), outputs["rust/m.rs"].clone());
            for model in tensors(&text) {
                let packs = pack(&model, &Symbols::new()).unwrap();
                let logical = elements(from, 2048, &mut random);
                let logical = &logical[..packs.from_bytes];
                let mut packed = vec![0; packs.to_bytes];
                let before = packed.clone();
                if packs.run(logical, &mut packed).is_err() {
                    continue;
                }
                let call = format!("{module}::{}_pack(", model.name);
                program.relayout(&call, [logical, &before, &packed], 0xFF);
                let mut dense = vec![0; packs.from_bytes];
                let before = dense.clone();
                unpack(&model, &Symbols::new()).unwrap().run(&packed, &mut dense).unwrap();
                let call = format!("{module}::{}_unpack(", model.name);
                program.relayout(&call, [&packed, &before, &dense], 0xFF);
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count} conversions");
    program.run("rust_casts");
}

#[test]
fn rust_refuses_records_and_functions_that_its_library_lacks() {
    let tensor = "tensor a dtype=f32 { shape { i 24 } }\ntensor b like=a\n";
    let kernel = |value: &str| {
        format!(
            "{tensor}kernel k {{ operands A B\n  compute \"B[i] = {value}\" }}\ninstance k1 of=k A=a B=b\n"
        )
    };
    let record = "tensor r { dtype { x f32; y i16 }; shape { i 8 } }\n";
    let refused = [
        (kernel("erf(A[i])"), Code::LimitChoice, "`erf` is not a function of Rust's library"),
        (
            kernel("1 - exp(erf(A[i]) * 2)"),
            Code::LimitChoice,
            "`erf` is not a function of Rust's library",
        ),
        (
            record.to_owned(),
            Code::LimitGenerated,
            "`r` has record elements, which `rust` does not have",
        ),
    ];
    for (text, code, message) in refused {
        let checked = check_text_with(&text, &rust());
        assert!(checked.is_valid(), "{:#?}\n{text}", checked.diagnostics);
        let config = rust();
        let sources = MemorySources::default();
        let faults = Compiler::new(&sources, &config).emit(&checked, &Templates::default());
        let faults = faults.unwrap_err();
        let found: Vec<_> =
            faults.iter().map(|fault| (fault.code, fault.message.as_str())).collect();
        assert_eq!(found, [(code, message)], "{text}");
    }
    for function in ["exp", "log", "sqrt", "rsqrt", "tanh", "floor", "abs"] {
        let text = kernel(&format!("{function}(A[i])"));
        assert!(built(&text, &rust()).is_some());
    }
}
