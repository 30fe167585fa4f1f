//! Layers of the sources: the imports that top-level modules of the algebra and the compiler may have, the modules that
//! may build a model, the files that may build a layout, and the file of the constants that decide speed.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "reads the sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Layer of a crate: its task, and the modules in it.
type Layer = (&'static str, &'static [&'static str]);

/// Importing modules, modules of lower layers that they may not import, and the reason.
type Forbidden = (&'static [&'static str], &'static [&'static str], &'static str);

/// Layers of the compiler, the lowest first. A module imports from lower layers only. `lib.rs` may import every
/// module, and none imports it.
const COMPILER: &[Layer] = &[
    ("words, data and services that every stage uses", &["base", "machine", "target", "env"]),
    ("memory accesses of a warp", &["warp"]),
    ("texts: layoutc.toml, manifests, ONNX models", &["config", "manifest", "import"]),
    ("the checked model, as data", &["model"]),
    ("relayout in memory, from the model alone", &["pack"]),
    ("the loop IR, as data", &["ir"]),
    ("the loop IR rewritten", &["passes"]),
    ("layouts for graphs, from the model alone", &["solve"]),
    ("text to model: the only maker of models", &["check"]),
    ("decisions about loops: domains, schedules, heuristics", &["loops"]),
    ("schedules to IR", &["lower"]),
    ("definitions that generated tests compare with", &["reference"]),
    ("the way from the model to functions", &["plan"]),
    ("functions to files", &["emit"]),
    ("questions about a model", &["query"]),
    ("questions about a text", &["editor"]),
];

const FORBIDDEN: &[Forbidden] = &[
    (
        &["solve", "loops", "lower", "reference", "plan", "emit", "pack"],
        &["manifest", "import", "check"],
        "after the check, the model is all that is known of a text",
    ),
    (
        &["model", "solve", "loops", "lower", "reference", "plan", "pack"],
        &["config"],
        "settings are for check and emit",
    ),
];

/// Layers of the algebra, the lowest first.
const ALGEBRA: &[Layer] = &[
    ("expressions", &["expr"]),
    ("symbols, and places in texts", &["symbol", "text"]),
    ("normal forms", &["normal_form"]),
    ("digits and index maps", &["digits", "map"]),
    ("layouts as data, and single steps", &["layout", "step"]),
    ("proofs", &["prove", "cute"]),
    ("questions about layouts", &["query"]),
    ("steps to layouts, each with a proof", &["builder"]),
    ("foreign notations", &["notation"]),
    ("shardings", &["sharding"]),
    ("the error of the crate", &["error"]),
];

/// Source of a crate: each file's path below `src`, and its code without comments and unit tests. Without `lib.rs`.
fn sources(krate: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let list = if path.is_dir() { &mut folders } else { &mut files };
            list.push(path);
        }
    }
    files.sort();
    let inner = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    let is_rust = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    let files = files.iter().filter(is_rust).map(|path| (inner(path), path));
    files
        .filter(|(inner, _)| inner != "lib.rs" && !inner.contains("tests"))
        .map(|(inner, path)| {
            let text = std::fs::read_to_string(path).unwrap();
            let code = text.split("\nmod tests {").next().unwrap();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            (inner, code.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect())
        })
        .collect()
}

/// Top-level module of a file.
fn module(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Modules that code names by `crate::`, also in `crate::{a, b::c}`.
fn named(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let heads: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap().split(',').collect(),
            None => vec![rest],
        };
        for head in heads {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = head.trim_start().split(|c| !word(c)).next().unwrap();
            if name.starts_with(|c: char| c.is_ascii_lowercase()) {
                named.insert(name.to_owned());
            }
        }
    }
    named
}

/// Import that a rule forbids, as a sentence that names both modules and the rule; `None` if it is allowed.
fn forbidden(layers: &[Layer], rules: &[Forbidden], from: &str, to: &str) -> Option<String> {
    let layer = |module: &str| layers.iter().position(|(_, modules)| modules.contains(&module));
    let Some((own, other)) = layer(from).zip(layer(to)) else {
        return Some(format!("`{from}` imports `{to}`, and one of them has no layer in layers.rs"));
    };
    if other >= own {
        let [own, other] = [own, other].map(|at| format!("layer {at} ({})", layers[at].0));
        return Some(format!(
            "`{from}` in {own} imports `{to}` in {other}: a module imports from lower layers only"
        ));
    }
    let rule = rules.iter().find(|(own, others, _)| own.contains(&from) && others.contains(&to));
    rule.map(|(_, _, reason)| format!("`{from}` imports `{to}`: {reason}"))
}

#[test]
fn modules_import_only_from_lower_layers() {
    for (krate, layers, rules) in [("algebra", ALGEBRA, &[][..]), ("compiler", COMPILER, FORBIDDEN)]
    {
        let (mut seen, mut faults) = (BTreeSet::new(), BTreeSet::new());
        for (file, code) in sources(krate) {
            let from = module(&file);
            seen.insert(from.to_owned());
            for to in named(&code).iter().filter(|to| *to != from) {
                let fault = forbidden(layers, rules, from, to);
                faults.extend(fault.map(|fault| format!("{krate}/src/{file}: {fault}")));
            }
        }
        assert_eq!(faults, BTreeSet::new());
        let all = layers.iter().flat_map(|(_, modules)| *modules).map(|name| (*name).to_owned());
        assert_eq!(seen, all.collect(), "the modules of {krate}");
    }
}

#[test]
fn upward_imports_are_refused() {
    let of = |from, to| forbidden(COMPILER, FORBIDDEN, from, to);
    assert_eq!(of("emit", "plan"), None);
    assert_eq!(
        of("check", "plan").unwrap(),
        "`check` in layer 8 (text to model: the only maker of models) imports `plan` in layer 12 (the way from the model to functions): \
         a module imports from lower layers only"
    );
    assert_eq!(
        of("plan", "manifest").unwrap(),
        "`plan` imports `manifest`: after the check, the model is all that is known of a text"
    );
    let code = "use crate::{emit, plan::tensor};\nfn f(_: crate::model::Tensor) {}\n";
    assert_eq!(named(code), ["emit", "plan", "model"].map(str::to_owned).into());
}

/// Structures that only the check builds, and the modules in which it may.
const MODELS: &[&str] = &["Tensor", "View", "Convert", "Manifest", "KernelInstance", "Graph"];
const BUILDERS: &[&str] = &["check", "model"];

/// True if code builds a structure by a literal: `Tensor {`, but not `struct Tensor {`, `-> Tensor {` or
/// `Stmt::Tensor {`.
fn has_literal(code: &str, name: &str) -> bool {
    let others = ["::", "struct", "impl", "for", ">", "-> &"];
    code.match_indices(&format!("{name} {{")).any(|(at, _)| {
        let before = code[..at].trim_end_matches(' ');
        !code[..at].ends_with(is_word) && !others.iter().any(|end| before.ends_with(end))
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Structures of the model that code imports and builds by a literal.
fn built(code: &str) -> BTreeSet<&'static str> {
    let imports =
        code.split("use crate::model").skip(1).map(|rest| rest.split(';').next().unwrap());
    let imported: BTreeSet<&str> = imports.flat_map(|list| list.split(|c| !is_word(c))).collect();
    let is_built = |name: &&str| imported.contains(name) && has_literal(code, name);
    MODELS.iter().copied().filter(is_built).collect()
}

#[test]
fn only_the_check_builds_models() {
    let files = sources("compiler");
    let others = files.iter().filter(|(file, _)| !BUILDERS.contains(&module(file)));
    let faults = others.flat_map(|(file, code)| {
        built(code)
            .into_iter()
            .map(move |name| format!("{file} builds `{name} {{ … }}`: only {BUILDERS:?} may"))
    });
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
    let code = "use crate::model::{Convert, Tensor, View};\nlet a = Tensor { layout, ..b };\nimpl View {\n\
                fn f() -> Tensor {\nfn g() -> &Tensor {\nNumber::Convert { to }\nGraph { name }";
    assert_eq!(built(code), BTreeSet::from(["Tensor"]));
}

/// Files of the algebra that build a layout by a literal: those of `builder` with a proof or for a read-only view, the
/// others from a proven layout.
const LAYOUT_BUILDERS: &[&str] =
    &["builder/domain.rs", "builder/finish.rs", "layout/mod.rs", "sharding/one_memory.rs"];

/// True if code builds a layout by a literal, `Layout {`, or `Self {` in an `impl Layout`.
fn builds_layout(code: &str) -> bool {
    let mut impls =
        code.split("impl Layout {").skip(1).map(|rest| rest.split("\n}").next().unwrap());
    has_literal(code, "Layout") || impls.any(|own| has_literal(own, "Self"))
}

#[test]
fn only_some_files_of_the_algebra_build_layouts() {
    let files = sources("algebra");
    let found = files.iter().filter(|(_, code)| builds_layout(code));
    let found: Vec<&str> = found.map(|(file, _)| file.as_str()).collect();
    assert_eq!(found, LAYOUT_BUILDERS);
    assert!(builds_layout("let a = Layout { verdict, ..b };"));
    assert!(builds_layout("impl Layout {\n    fn f() -> Self {\n        Self { verdict }"));
    assert!(!builds_layout("impl Layout {\n}\nimpl Mode {\n    fn f() -> Self {\n        Self {}"));
}

/// Constants of the planners and passes that are limits of inputs or facts of a format, and decide no speed.
const LIMITS: &[(&str, &str)] = &[
    ("loops/bounds.rs", "LOOKED_AT"),
    ("loops/error.rs", "MAX_DEPTH"),
    ("loops/gpu_relayout/reach.rs", "MOST"),
    ("loops/image.rs", "LANES"),
    ("loops/order.rs", "MAX_REGISTER_TILE"),
    ("lower/gpu_relayout/steps.rs", "MOST"),
    ("lower/names.rs", "MOST_SUFFIX"),
    ("lower/reshard.rs", "MOST_PAIRS"),
];

#[test]
fn constants_that_decide_speed_are_in_the_machine_model() {
    let mut found = Vec::new();
    for (file, code) in sources("compiler") {
        if ["loops", "lower", "plan", "passes", "ir"].contains(&module(&file)) {
            for line in code.lines() {
                let constant =
                    line.split_once("const ").and_then(|(_, rest)| rest.split_once(": "));
                let Some((name, ty)) = constant else { continue };
                if ty.starts_with(['i', 'u', 'f']) && name.chars().all(|c| !c.is_ascii_lowercase())
                {
                    found.push((file.clone(), name.to_owned()));
                }
            }
        }
    }
    let limits = LIMITS.iter().map(|(file, name)| ((*file).to_owned(), (*name).to_owned()));
    assert_eq!(found, limits.collect::<Vec<_>>(), "move the others to machine.rs");
}

#[test]
fn command_line_modules_have_no_import_cycles() {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, code) in sources("cli") {
        let from = module(&file).to_owned();
        let others = named(&code).into_iter().filter(|to| *to != from);
        imports.entry(from.clone()).or_default().extend(others);
    }
    assert!(imports["command"].contains("build"), "{imports:?}");
    // Modules that import none of the others go, the lowest first.
    loop {
        let left: BTreeSet<String> = imports.keys().cloned().collect();
        imports.retain(|_, others| others.iter().any(|other| left.contains(other)));
        if imports.len() == left.len() {
            break;
        }
    }
    assert_eq!(imports, BTreeMap::new(), "modules in circles, and their imports");
}
