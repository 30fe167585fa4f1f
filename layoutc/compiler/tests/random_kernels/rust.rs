//! Random kernels in Rust: on the same contents of all buffers, they write the same bytes as those in C.

use std::fmt::Write as _;
use std::process::Command;

use super::{TOGETHER, checked, kernel};
use crate::common::cc::{build_and_run, folder};
use crate::common::rustc;
use layoutc_compiler::Compiler;
use layoutc_compiler::MemorySources;
use layoutc_compiler::config::{Config, TargetRust};
use layoutc_compiler::emit::Templates;
use layoutc_testing::{Random, cases};

/// Elements of every buffer: more than any tensor has.
const ELEMENTS: usize = 1 << 16;

/// Parameter of a kernel.
struct Parameter {
    ty: String,
    is_written: bool,
    /// Contents at the start: small integers, with which all sums and products are exact, or zeros for indices.
    elements: Vec<u8>,
}

/// Parameters of the function `name` of a Rust module.
fn parameters(module: &str, name: &str, random: &mut Random) -> Vec<Parameter> {
    let (_, rest) = module.split_once(&format!("pub fn {name}(")).unwrap();
    let parameter = |text: &str| {
        let (name, ty) = text.trim().split_once(": ").unwrap();
        let item = ty.trim_start_matches('&').trim_start_matches("mut ");
        let most = if name.starts_with('S') { 1 } else { 3 };
        Parameter {
            ty: item.trim_matches(['[', ']']).to_owned(),
            is_written: ty.contains("mut"),
            elements: (0..ELEMENTS).map(|_| u8::try_from(random.below(most)).unwrap()).collect(),
        }
    };
    let list = rest.split(')').next().unwrap().split(',').filter(|text| !text.trim().is_empty());
    list.map(parameter).collect()
}

fn c_type(ty: &str) -> String {
    match ty {
        "f32" => "float".to_owned(),
        "f64" => "double".to_owned(),
        unsigned if unsigned.starts_with('u') => unsigned.replace('u', "uint") + "_t",
        signed => signed.replace('i', "int") + "_t",
    }
}

/// Statements of a program in C and in Rust that call a kernel.
fn calls(name: &str, parameters: &[Parameter]) -> [String; 2] {
    let [mut c, mut rust] = ["    {\n", "    {\n"].map(str::to_owned);
    let (mut c_args, mut rust_args, mut after) =
        (Vec::new(), Vec::new(), [String::new(), String::new()]);
    for (k, Parameter { ty, is_written, .. }) in parameters.iter().enumerate() {
        let c_ty = c_type(ty);
        writeln!(c, "        static {c_ty} p{k}[{ELEMENTS}];").unwrap();
        writeln!(c, "        for (int k = 0; k < {ELEMENTS}; ++k) p{k}[k] = ({c_ty})next();")
            .unwrap();
        let mutable = if *is_written { "mut " } else { "" };
        writeln!(rust, "        let {mutable}p{k}: Vec<{ty}> = (0..{ELEMENTS}).map(|_| next() as {ty}).collect();").unwrap();
        c_args.push(format!("p{k}"));
        rust_args.push(format!("&{mutable}p{k}"));
        if *is_written {
            writeln!(after[0], "        fwrite(p{k}, sizeof *p{k}, {ELEMENTS}, out);").unwrap();
            writeln!(
                after[1],
                "        p{k}.iter().for_each(|item| out.extend(item.to_le_bytes()));"
            )
            .unwrap();
        }
    }
    writeln!(c, "        {name}({});\n{}    }}", c_args.join(", "), after[0]).unwrap();
    writeln!(rust, "        a::{name}({});\n{}    }}", rust_args.join(", "), after[1]).unwrap();
    [c, rust]
}

#[test]
fn random_kernels_in_rust_agree_with_c() {
    let mut random = Random::new(0x4157);
    for manifest in 0..cases(2, 12) {
        let text: String =
            (0..TOGETHER).map(|k| kernel(&mut random, manifest * TOGETHER + k)).collect();
        let mut config = Config::default();
        config.target.rust = Some(TargetRust {});
        let checked = checked(&text, &config);
        assert!(checked.is_valid(), "{text}{:#?}", checked.diagnostics);
        let outputs = Compiler::new(&MemorySources::default(), &config)
            .emit(&checked, &Templates::default())
            .unwrap();
        let folder = folder(&format!("random_kernels_rust_{manifest}"));
        let mut module = String::new();
        for output in outputs {
            std::fs::write(folder.join(output.path.rsplit('/').next().unwrap()), &output.text)
                .unwrap();
            if output.path == "rust/a.rs" {
                module = output.text;
            }
        }
        let (mut bytes, mut c, mut rust) = (Vec::new(), String::new(), String::new());
        for k in 0..TOGETHER {
            let name = format!("k{}", manifest * TOGETHER + k);
            let parameters = parameters(&module, &name, &mut random);
            bytes.extend(parameters.iter().flat_map(|parameter| parameter.elements.clone()));
            let [in_c, in_rust] = calls(&name, &parameters);
            c.push_str(&in_c);
            rust.push_str(&in_rust);
        }
        std::fs::write(folder.join("in.bin"), bytes).unwrap();
        std::fs::write(
            folder.join("main.c"),
            format!(
                "#include \"a.h\"\n#include <stdio.h>\nstatic FILE *in, *out;\n\
                 static int next(void) {{ return fgetc(in); }}\n\
                 int main(void) {{\n    in = fopen(\"in.bin\", \"rb\");\n    out = fopen(\"c.bin\", \"wb\");\n{c}    return fclose(out);\n}}\n"
            ),
        )
        .unwrap();
        std::fs::write(
            folder.join("main.rs"),
            format!(
                "mod a;\nfn main() {{\n    let all = std::fs::read(\"in.bin\").unwrap();\n    \
                 let mut all = all.into_iter();\n    let mut next = || all.next().unwrap();\n    \
                 let mut out: Vec<u8> = Vec::new();\n{rust}    std::fs::write(\"rust.bin\", out).unwrap();\n}}\n"
            ),
        )
        .unwrap();
        if !rustc::run(&folder, "main.rs") {
            return;
        }
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-O1", "-ffp-contract=off", "-o", "program", "main.c", "a.c", "-lm"]);
        build_and_run(&mut gcc, &folder, "program");
        let [c, rust] = ["c.bin", "rust.bin"].map(|name| std::fs::read(folder.join(name)).unwrap());
        let different = c.iter().zip(&rust).position(|(c, rust)| c != rust);
        assert_eq!((different, c.len()), (None, rust.len()), "{}", folder.display());
    }
}
