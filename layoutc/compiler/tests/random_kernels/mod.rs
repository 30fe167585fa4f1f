//! Random kernels in random layouts with random schedules: the generated C, compiled within a minute, passes its
//! generated test program, which compares with the reference implementation; and no generated file has conditions,
//! branches or arithmetic without effect, or lines beyond 120 columns. `LAYOUTC_FULL=1` runs 72 kernels.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test, which writes the programs that it runs"
)]

mod generate;
mod rust;
mod scan;
mod schedules;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::cc::{build_and_run, folder};
use generate::draft;
use layoutc_compiler::config::{
    self, Config, RuntimeMode, TargetC, TargetCuda, TargetOpenCl, TargetsConfig,
};
use layoutc_compiler::emit::Templates;
use layoutc_compiler::{CheckedProject, Compiler, LoadError, MemorySources, SourceLoader};
use layoutc_testing::{Random, campaign, cases};

/// Number of kernels per manifest.
const TOGETHER: usize = 6;

/// Maximum number of drafts of a kernel until one is accepted.
const TRIES: usize = 50;

/// Time limit of a compiler in seconds.
const SECONDS: &str = "60";

/// Configuration with every target.
fn config() -> Config {
    let (c, opencl) = (Config::default().target.c, Some(TargetOpenCl::default()));
    let target = TargetsConfig {
        c,
        opencl,
        cuda: Some(TargetCuda::default()),
        hip: None,
        rust: None,
        own: BTreeMap::new(),
    };
    Config { target, ..Config::default() }
}

fn checked(text: &str, config: &Config) -> CheckedProject {
    Compiler::new(&MemorySources::of("a.kdl", text), config).check(&["a.kdl".to_owned()])
}

/// A random kernel that every target accepts, with its schedule if the layouts allow it.
fn kernel(random: &mut Random, number: usize) -> String {
    let mut refusals = Vec::new();
    for _ in 0..TRIES {
        let draft = draft(random, number);
        for text in [draft.kernel(&draft.schedule), draft.kernel("")] {
            let checked = checked(&text, &config());
            if !checked.is_valid() {
                refusals.push(format!("{text}{:#?}", checked.diagnostics));
            } else if let Err(faults) = Compiler::new(&MemorySources::default(), &config())
                .emit(&checked, &Templates::default())
            {
                refusals.push(format!("{text}{faults:#?}"));
            } else {
                return text;
            }
        }
    }
    panic!("{TRIES} kernels and none is taken; the last:\n{}", refusals.last().unwrap());
}

/// Redundant code and lines beyond 120 columns in a generated file.
fn oddities(text: &str) -> impl Iterator<Item = String> {
    let long = text.lines().filter(|line| line.chars().count() > 120).map(str::to_owned);
    scan::oddities(text).into_iter().chain(long)
}

#[test]
fn random_kernels_agree_with_the_reference() {
    let manifests = cases(1, 6);
    let mut random = Random::new(campaign::number("LAYOUTC_SEED").unwrap_or(0x5EED));
    let mut odd = Vec::new();
    for manifest in 0..manifests {
        let text: String =
            (0..TOGETHER).map(|k| kernel(&mut random, manifest * TOGETHER + k)).collect();
        let checked = checked(&text, &config());
        assert!(checked.is_valid(), "{text}{:#?}", checked.diagnostics);
        let outputs = Compiler::new(&MemorySources::default(), &config())
            .emit(&checked, &Templates::default())
            .unwrap();
        let folder = folder(&format!("random_kernels_{manifest}"));
        std::fs::write(folder.join("a.kdl"), &text).unwrap();
        for output in &outputs {
            let path = folder.join(&output.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            layoutc_testing::files::write(path, &output.text);
            let path = format!("{}/{}", folder.display(), output.path);
            odd.extend(oddities(&output.text).map(|oddity| format!("{path}: {oddity}")));
        }
        run(&folder);
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}

/// Compiles and runs the test program of the manifest.
fn run(folder: &Path) {
    let address = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"].as_slice();
    for (k, flags) in [["-O2"].as_slice(), address].into_iter().enumerate() {
        let program = format!("program{k}");
        let mut command = Command::new("timeout");
        command.args([SECONDS, "gcc", "-std=c11", "-o", &program]).args(flags);
        command.args(["tests/a_test.c", "a.c", "-lm"]);
        build_and_run(&mut command, &folder.join("c"), &program);
    }
}

struct Folder(PathBuf);

impl SourceLoader for Folder {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::NotFound)
    }
}

#[test]
fn generated_code_of_the_examples_has_no_dead_code_and_no_long_lines() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut odd = Vec::new();
    let mut files = 0;
    for example in std::fs::read_dir(examples).unwrap() {
        let root = example.unwrap().path();
        let Ok(text) = std::fs::read_to_string(root.join("layoutc.toml")) else { continue };
        let mut config = config::parse(&Arc::from("layoutc.toml"), &text).unwrap();
        config.target.c.get_or_insert_with(TargetC::default);
        config.target.c.iter_mut().for_each(|c| c.runtime = RuntimeMode::Inline);
        config.target.own.clear();
        let Ok(layouts) = std::fs::read_dir(root.join("layouts")) else { continue };
        let names = layouts.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
        let paths: Vec<String> = names
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "kdl"))
            .map(|name| format!("layouts/{name}"))
            .collect();
        let sources = Folder(root.clone());
        let compiler = Compiler::new(&sources, &config);
        let checked = compiler.check(&paths);
        let Ok(outputs) = compiler.emit(&checked, &Templates::default()) else { continue };
        for output in outputs {
            files += 1;
            let path = format!("{}/{}", root.display(), output.path);
            odd.extend(oddities(&output.text).map(|oddity| format!("{path}: {oddity}")));
        }
    }
    assert!(files > 40, "{files} files were looked at");
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}
