//! `--root`: a build as one action of another build tool. It only reads its inputs, only writes its outputs, and
//! gives the same bytes everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{BLOCKED, Sandbox};
use layoutc_testing::process::{Finished, needed_program};

const USER: &str = "\
use \"../../shared/common.kdl\"
tensor b dtype=f32 {
    shape { n 4; c 8 }
    layout blocked
}
";

const COMMON: &str = "transform blocked {\n    split c by=4\n}\n";

const CONFIG: &str = "[target.c]\n[target.notes]\ntemplate = \"note.j2\"\nextension = \"txt\"\n";

const FILES: &[(&str, &str)] = &[
    ("p/layoutc.toml", CONFIG),
    ("p/layouts/x/b.kdl", USER),
    ("p/shared/common.kdl", COMMON),
    ("p/templates/note.j2", "{{ manifest }}\n"),
];

const ACTION: &[&str] =
    &["build", "-q", "layouts/x/b.kdl", "--root", ".", "--out", "../o", "--depfile", "../o.d"];

const OUTPUTS: &[&str] =
    &["o/c/layoutc_runtime.h", "o/c/tests/x/b_test.c", "o/c/x/b.c", "o/c/x/b.h", "o/notes/x/b.txt"];

const INPUTS: &[&str] =
    &["layoutc.toml", "layouts/x/b.kdl", "shared/common.kdl", "templates/note.j2"];

/// Outputs of an action below `o`.
fn texts(sandbox: &Sandbox) -> BTreeMap<String, Option<String>> {
    sandbox.files("o").into_iter().map(|file| (file.clone(), sandbox.read(&file))).collect()
}

#[test]
fn action_writes_only_outputs_and_depfile() {
    let sandbox = Sandbox::new(FILES);
    let before = sandbox.files("p");
    for _ in 0..2 {
        sandbox.run_in("p", ACTION, "").success();
        assert_eq!(sandbox.files("p"), before);
        assert_eq!(sandbox.files("o"), OUTPUTS);
        let rule = sandbox.read("o.d").expect("a rule");
        let outputs: Vec<String> = OUTPUTS.iter().map(|path| format!("../{path}")).collect();
        let expected = [outputs.join(" \\\n  ") + ":", INPUTS.join(" \\\n  ")];
        assert_eq!(rule, expected.join(" \\\n  ") + "\n");
    }
    // Unchanged outputs keep their times, even without stored state.
    let time =
        || fs::metadata(sandbox.path("o/c/x/b.h")).and_then(|m| m.modified()).expect("a time");
    let old = time();
    sandbox.write("p/layouts/x/b.kdl", &format!("// A comment.\n{USER}"));
    sandbox.run_in("p", ACTION, "").success();
    assert_eq!(time(), old);
}

#[test]
fn action_outputs_do_not_depend_on_the_environment() {
    let sandbox = Sandbox::new(FILES);
    sandbox.run_in("p", ACTION, "").success();
    let expected = texts(&sandbox);
    let surroundings: &[&[(&str, &str)]] =
        &[&[("TZ", "Asia/Tokyo"), ("LC_ALL", "tr_TR.UTF-8"), ("HOME", "/nowhere")], &[]];
    for (variables, jobs) in surroundings.iter().zip(["1", "2"]) {
        let other = Sandbox::new(&[]);
        for (path, text) in FILES {
            other.write(path, text);
        }
        // A project in a parent folder is ignored.
        other.write("layoutc.toml", "[project]\nprefix = \"stray_\"\n");
        let mut command = other.command("p", &[ACTION, &["--jobs", jobs]].concat());
        command.env_clear().envs(variables.iter().copied());
        Finished::run(&mut command, "").success();
        assert_eq!(texts(&other), expected);
        // From another working directory.
        let args = ["build", "-q", "p/layouts/x/b.kdl", "--root", "p", "--out", "o2"];
        other.run(&args).success();
        for (path, text) in &expected {
            assert_eq!(&other.read(&path.replacen('o', "o2", 1)), text, "{path}");
        }
    }
}

#[test]
fn configurations_above_the_root_are_ignored() {
    let sandbox =
        Sandbox::new(&[("layoutc.toml", "this = is no configuration"), ("p/a.kdl", BLOCKED)]);
    sandbox.run(&["build", "-q", "p/a.kdl", "--root", "p", "--out", "o"]).success();
    assert_eq!(sandbox.files("o"), ["o/c/a.c", "o/c/a.h", "o/c/tests/a_test.c"]);
    assert_eq!(sandbox.run(&["build", "-q", "p/a.kdl", "--out", "o"]).code, Some(1));
    // Also for a whole project.
    sandbox.write("p/layouts/x/b.kdl", BLOCKED);
    sandbox.write("p/layouts/layoutc.toml", "[project]\n");
    sandbox.run(&["build", "-q", "--root", "p", "--out", "whole"]).success();
    assert_eq!(
        sandbox.files("whole/c"),
        ["whole/c/tests/x/b_test.c", "whole/c/x/b.c", "whole/c/x/b.h"]
    );
}

#[test]
fn root_must_contain_the_manifests_and_needs_an_output_folder() {
    let sandbox = Sandbox::new(&[("p/a.kdl", BLOCKED), ("q/b.kdl", BLOCKED)]);
    let report = |args: &[&str]| {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.err
    };
    let ask = |root| ["build", "p/a.kdl", "--root", root, "--out", "o"];
    assert_eq!(report(&ask("q")), "error: `p` is outside of `--root` (`q`)\n");
    assert_eq!(report(&ask("none")), "error: `--root`: `none` is not a folder\n");
    assert_eq!(report(&ask("p/a.kdl")), "error: `--root`: `p/a.kdl` is not a folder\n");
    assert!(report(&["build", "p/a.kdl", "--root", "p"]).contains("--out <DIR>"));
    assert!(!sandbox.path("o").exists());
}

/// Sandboxes link each input to its real location.
#[test]
fn links_in_a_root_are_followed_outside_it() {
    let (sandbox, linked) = (Sandbox::new(FILES), Sandbox::new(&[]));
    sandbox.run_in("p", ACTION, "").success();
    for (path, _) in FILES {
        let link = linked.path(path);
        fs::create_dir_all(link.parent().expect("a folder")).expect("folders");
        symlink(sandbox.path(path), link).expect("a link");
    }
    linked.run_in("p", ACTION, "").success();
    assert_eq!(texts(&linked), texts(&sandbox));
    assert_eq!(linked.read("o.d"), sandbox.read("o.d"));
    // Linked folders: paths are not resolved.
    let other = Sandbox::new(&[("layoutc.toml", "not = read")]);
    fs::create_dir_all(other.path("p/layouts")).expect("folders");
    for path in ["layoutc.toml", "layouts/x", "shared", "templates"] {
        symlink(sandbox.path(&format!("p/{path}")), other.path(&format!("p/{path}"))).expect("");
    }
    other.run_in("p", ACTION, "").success();
    assert_eq!(texts(&other), texts(&sandbox));
}

#[test]
fn concurrent_actions_keep_each_others_files() {
    let sandbox = Sandbox::new(FILES);
    sandbox.write("o/c/x/.layoutc-1-0.tmp", "of another action");
    sandbox.write("o/.layoutc/lock", "process 1 (`layoutc build`)\n");
    sandbox.run_in("p", ACTION, "").success();
    assert_eq!(sandbox.read("o/c/x/.layoutc-1-0.tmp").as_deref(), Some("of another action"));
    assert_eq!(sandbox.files("o/.layoutc"), ["o/.layoutc/lock"]);
}

#[test]
fn build_state_is_in_the_output_folder() {
    let sandbox = Sandbox::new(FILES);
    let before = sandbox.files("p");
    sandbox.run_in("p", &["build", "-q", "--out", "../o"], "").success();
    assert_eq!(sandbox.files("p"), before);
    let memory = ["o/.layoutc/.gitignore", "o/.layoutc/lock", "o/.layoutc/log", "o/.layoutc/memo"];
    assert_eq!(sandbox.files("o"), [&memory[..], OUTPUTS].concat());
    sandbox.run_in("p", &["clean", "--out", "../o"], "").success();
    assert_eq!(sandbox.files("."), before);
}

#[test]
fn lock_file_is_in_the_depfile_of_locked_builds() {
    let sandbox = Sandbox::new(FILES);
    sandbox.run_in("p", &["lock", "-q"], "").success();
    sandbox.run_in("p", &[ACTION, &["--locked"]].concat(), "").success();
    let rule = sandbox.read("o.d").expect("a rule");
    assert!(rule.contains(": \\\n  layoutc.lock \\\n  layoutc.toml \\\n"), "{rule}");
}

/// Returns true for files of the system.
fn is_systems(path: &str) -> bool {
    ["/proc/", "/sys/", "/etc/", "/lib", "/usr/", "/dev/"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Files opened by a run, each with a flag for writing; paths as given.
fn opened(trace: &str) -> BTreeSet<(String, bool)> {
    let line = |line: &str| {
        let call = line.split_once(" open").filter(|_| !line.contains(" = -1 "))?.1;
        let path = call.split('"').nth(1)?.to_owned();
        let is_written = call.contains("O_WRONLY") || call.contains("O_RDWR");
        (!call.contains("O_DIRECTORY")).then_some((path, is_written))
    };
    trace.lines().filter_map(line).collect()
}

#[test]
fn action_opens_only_files_of_its_depfile() {
    let Some(strace) = needed_program("strace") else { return };
    let sandbox = Sandbox::new(FILES);
    sandbox.write("layoutc.toml", "not = read");
    sandbox.write("p/layouts/x/other.kdl", BLOCKED);
    let run = |args: &[&str]| {
        let mut command = Command::new(&strace);
        command.args(["-f", "-q", "-e", "trace=open,openat,openat2,creat", "-o", "../trace"]);
        command.arg(env!("CARGO_BIN_EXE_layoutc")).args(args).current_dir(sandbox.path("p"));
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        opened(&sandbox.read("trace").expect("a trace"))
    };
    // A sandbox may forbid tracing.
    if run(&["--version"]).is_empty() {
        return;
    }
    let root = sandbox.path("p");
    let root = root.canonicalize().expect("there");
    let below = |path: &str| Path::new(path).strip_prefix(&root).ok().map(Path::to_owned);
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (path, is_written) in run(ACTION) {
        match below(&path) {
            _ if is_systems(&path) => {}
            _ if is_written => drop(written.insert(path)),
            Some(path) => drop(read.insert(path.to_string_lossy().into_owned())),
            None => assert_eq!(path, "", "it is no input"),
        }
    }
    assert_eq!(read, INPUTS.iter().map(|path| (*path).to_owned()).collect());
    let is_temporary = |path: &String| path.contains(".layoutc-") && path.contains(".tmp");
    assert!(written.iter().all(is_temporary), "{written:?}");
    assert_eq!(written.len(), OUTPUTS.len() + 1);
}
