//! The project built by ninja and Bazel with one hermetic action per manifest.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;
use std::time::SystemTime;

use crate::integrations::{command, copy_to, edit, merged_output, run};
use crate::sandbox::{BLOCKED, Sandbox};
use layoutc_testing::process::needed_program;

const ENCODER: &str = "layouts/encoder/scores.kdl";

/// Output of a successful run of ninja.
fn ninja(sandbox: &Sandbox) -> String {
    run(sandbox, "ninja", &["farm", "layoutc_outputs"])
}

/// Number of runs of layoutc.
fn runs(message: &str) -> usize {
    message.lines().filter(|line| line.contains("Laying out ")).count()
}

fn is_idle(sandbox: &Sandbox) {
    let message = ninja(sandbox);
    assert!(message.contains("no work to do"), "{message}");
}

fn modified(sandbox: &Sandbox, path: &str) -> SystemTime {
    fs::metadata(sandbox.path(path)).and_then(|m| m.modified()).expect("a time")
}

fn configured() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    copy_to(&sandbox, "farm", "");
    run(&sandbox, "sh", &["configure.sh"]);
    sandbox
}

#[test]
fn ninja_runs_layoutc_for_the_manifests_that_changed() {
    let Some(_) = needed_program("ninja") else { return };
    let sandbox = configured();
    let says = |line: &str| {
        let program = sandbox.path("farm");
        assert_eq!(run(&sandbox, program.to_str().expect("UTF-8"), &[]), format!("{line}\n"));
    };
    assert_eq!(runs(&ninja(&sandbox)), 2);
    says("60 and 48 scores, 0 wrong");
    is_idle(&sandbox);
    // One manifest, one run; the outputs of the other are not touched.
    let other = modified(&sandbox, "generated/c/decoder/scores.h");
    edit(&sandbox, ENCODER, "column 10", "column 9");
    assert_eq!(runs(&ninja(&sandbox)), 1);
    says("54 and 48 scores, 0 wrong");
    assert_eq!(modified(&sandbox, "generated/c/decoder/scores.h"), other);
    is_idle(&sandbox);
    // A shared manifest, with unchanged outputs: nothing is compiled.
    let program = modified(&sandbox, "farm");
    edit(&sandbox, "shared/blocks.kdl", "by=4", "by=4 // columns");
    let message = ninja(&sandbox);
    assert!(runs(&message) == 2 && !message.contains("cc "), "{message}");
    assert_eq!(modified(&sandbox, "generated/c/decoder/scores.h"), other);
    assert_eq!(modified(&sandbox, "farm"), program);
    is_idle(&sandbox);
    assert!(
        !sandbox.files("").iter().any(|file| file.contains(".layoutc")),
        "nothing is remembered"
    );
}

#[test]
fn ninja_reports_an_error_and_continues_after_its_fix() {
    let Some(_) = needed_program("ninja") else { return };
    let sandbox = configured();
    edit(&sandbox, ENCODER, "layout blocks", "layout blox");
    let output = command(&sandbox, "ninja", &["-k", "0", "layoutc_outputs"]).output();
    let output = output.expect("it starts");
    let text = merged_output(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("error[name::unknown]: there is no transform `blox`\n"), "{text}");
    assert!(text.contains("  ┌─ layouts/encoder/scores.kdl:7:12\n"), "{text}");
    assert!(sandbox.read("generated/c/decoder/scores.h").is_some());
    edit(&sandbox, ENCODER, "layout blox", "layout blocks");
    assert_eq!(runs(&ninja(&sandbox)), 1);
    is_idle(&sandbox);
}

#[test]
fn ninja_tracks_added_and_removed_manifests() {
    let Some(_) = needed_program("ninja") else { return };
    let sandbox = configured();
    edit(&sandbox, "layoutc.toml", "[target.c]", "[target.c]\numbrella-header = \"farm.h\"");
    ninja(&sandbox);
    let includes = |sandbox: &Sandbox| {
        let text = sandbox.read("generated/c/farm.h").expect("a header");
        text.lines().filter(|line| line.starts_with("#include")).collect::<Vec<_>>().join("\n")
    };
    let both = "#include \"decoder/scores.h\"\n#include \"encoder/scores.h\"";
    assert_eq!(includes(&sandbox), both);
    is_idle(&sandbox);
    // A manifest with the stem of another one.
    sandbox.write("layouts/head/scores.kdl", BLOCKED);
    let message = ninja(&sandbox);
    // The manifest itself, and the umbrella header.
    assert_eq!(runs(&message), 2, "{message}");
    assert_eq!(includes(&sandbox), format!("{both}\n#include \"head/scores.h\""));
    is_idle(&sandbox);
    fs::remove_dir_all(sandbox.path("layouts/head")).expect("gone");
    assert_eq!(runs(&ninja(&sandbox)), 1);
    assert_eq!(includes(&sandbox), both);
    assert_eq!(sandbox.files("generated/c/head"), Vec::<String>::new());
    is_idle(&sandbox);
}

/// The outputs follow from names alone; `outputs` without a format builds to find them.
#[test]
fn ninja_learns_the_outputs_of_a_build() {
    let config = "\
[project]
sources = [\"in/**/*.kdl\", \"in $x/*.kdl\"]
[target.c]
emit = [\"index\", \"bench\"]
umbrella-header = \"all.h\"
[target.opencl]
[target.cuda]
[target.notes]
template = \"note.j2\"
extension = \"txt\"
";
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", config),
        ("in/x/a.b.kdl", BLOCKED),
        ("in $x/(1).kdl", &BLOCKED.replace("tensor t", "tensor u")),
        ("templates/note.j2", "{{ manifest }}\n"),
    ]);
    let text = sandbox.run(&["outputs", "--format", "ninja"]).success().to_owned();
    let outputs = text.lines().find_map(|line| line.strip_prefix("build layoutc_outputs: phony "));
    let outputs: BTreeSet<String> = outputs
        .expect("all of them")
        .replace("$ ", "\n")
        .split(' ')
        .map(|path| path.replace('\n', " ").replace("$$", "$"))
        .collect();
    let listed = sandbox.run(&["outputs"]).success().to_owned();
    assert_eq!(outputs, listed.lines().map(str::to_owned).collect());
    // The outputs do not depend on stored state or on errors in a manifest.
    sandbox.run(&["build", "-q"]).success();
    sandbox.write("in/x/a.b.kdl", "tensor {");
    assert_eq!(sandbox.run(&["outputs", "--format", "ninja"]).success(), text);
    sandbox.write("in/x/a.b.kdl", BLOCKED);
    // Ninja and the shell read all paths correctly.
    let Some(_) = needed_program("ninja") else { return };
    let built: Vec<_> = listed.lines().map(|path| (path, sandbox.read(path))).collect();
    fs::remove_dir_all(sandbox.path("generated")).expect("gone");
    sandbox.write("build.ninja", &text);
    assert_eq!(runs(&run(&sandbox, "ninja", &[])), 3);
    for (path, text) in built {
        assert_eq!(sandbox.read(path), text, "{path}");
    }
    assert!(run(&sandbox, "ninja", &[]).contains("no work to do"));
    // Outputs without a seal are overwritten too: ninja tracks them.
    sandbox.write("templates/note.j2", "Of {{ manifest }}\n");
    run(&sandbox, "ninja", &[]);
    assert_eq!(sandbox.read("generated/notes/in/x/a.b.txt").as_deref(), Some("Of in/x/a.b.kdl\n"));
    let ran = sandbox.run(&["deps", "--format", "ninja"]);
    let line = "error: `--format ninja` is only for `layoutc outputs`; expected `text` or `json`\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn paths_that_ninja_cannot_express_are_refused() {
    let sandbox = Sandbox::new(&[("a|b.kdl", BLOCKED)]);
    let ran = sandbox.run(&["outputs", "a|b.kdl", "--format", "ninja"]);
    assert_eq!(ran.failure().0, Some(2));
    assert!(ran.err.contains("`--format ninja` cannot express `generated/c/a|b.c`"), "{}", ran.err);
}

/// A Bazel that compiles without a network, as packaged by Debian and Ubuntu.
const BAZEL: &str = "bazel-4";

/// A workspace in a folder of a sandbox, with its own Bazel server.
struct Workspace<'a> {
    sandbox: &'a Sandbox,
    folder: &'a str,
}

impl<'a> Workspace<'a> {
    fn new(sandbox: &'a Sandbox, folder: &'a str) -> Self {
        copy_to(sandbox, "bazel", &format!("{folder}/bazel"));
        copy_to(sandbox, "farm", &format!("{folder}/farm"));
        Self { sandbox, folder }
    }

    fn path(&self, path: &str) -> String {
        format!("{}/farm/{path}", self.folder)
    }

    fn bazel(&self, args: &[&str]) -> Output {
        let root = self.sandbox.path("").join("root").join(self.folder.replace('/', "-"));
        let cache = self.sandbox.path("cache");
        let mut command = command(self.sandbox, BAZEL, &["--nohome_rc", "--max_idle_secs=120"]);
        command.arg(format!("--output_user_root={}", root.display())).args(args);
        if args != ["shutdown"] {
            command.args(["--color=no", "--curses=no", "--noshow_progress"]);
            command.arg("--experimental_repository_disable_download");
            command.arg(format!("--disk_cache={}", cache.display()));
        }
        command.current_dir(self.sandbox.path(&self.path(""))).output().expect("it starts")
    }

    fn succeed(&self, args: &[&str]) -> String {
        let output = self.bazel(args);
        let text = merged_output(&output);
        assert!(output.status.success(), "{args:?}: {text}");
        text
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        self.bazel(&["shutdown"]);
    }
}

/// Digests of the actions in the cache.
fn actions(sandbox: &Sandbox) -> BTreeSet<String> {
    sandbox.files("cache/ac").into_iter().collect()
}

#[test]
fn bazel_runs_one_cacheable_hermetic_action_per_manifest() {
    let Some(_) = needed_program(BAZEL) else { return };
    let sandbox = Sandbox::new(&[]);
    let one = Workspace::new(&sandbox, "one");
    let report = one.succeed(&["test", "//:farm", "--test_output=all", "--subcommands"]);
    assert!(report.contains("60 and 48 scores, 0 wrong\n"), "{report}");
    assert_eq!(runs(&report), 2, "{report}");
    let first = actions(&sandbox);
    // In a workspace in another folder, every action is a cache hit.
    let other = Workspace::new(&sandbox, "another/place");
    let report = other.succeed(&["build", "//:farm"]);
    let processes = report.lines().find(|line| line.contains(" processes: ")).unwrap_or_default();
    assert!(processes.contains(" remote cache hit") && !processes.contains("sandbox"), "{report}");
    assert_eq!(actions(&sandbox), first);
    drop(other);
    // An edit of one manifest runs one action.
    edit(&sandbox, &one.path(ENCODER), "column 10", "column 9");
    let report = one.succeed(&["test", "//:farm", "--test_output=all", "--subcommands"]);
    assert!(report.contains("54 and 48 scores, 0 wrong\n"), "{report}");
    assert_eq!(runs(&report), 1, "{report}");
    // Bazel passes layoutc's diagnostics on.
    edit(&sandbox, &one.path(ENCODER), "layout blocks", "layout blox");
    let output = one.bazel(&["build", "//:layouts"]);
    let text = merged_output(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Laying out layouts/encoder/scores.kdl failed: (Exit 1)"), "{text}");
    assert!(text.contains("error[name::unknown]: there is no transform `blox`\n"), "{text}");
    // A used manifest must be an input.
    edit(&sandbox, &one.path(ENCODER), "layout blox", "layout blocks");
    edit(&sandbox, &one.path("BUILD.bazel"), "deps = [\"//shared:blocks.kdl\"]", "deps = []");
    let output = one.bazel(&["build", "//:layouts"]);
    let text = merged_output(&output);
    assert!(text.contains("error[name::file]: cannot read the manifest"), "{text}");
    assert_eq!(sandbox.files(&one.path("")).iter().filter(|f| f.contains(".layoutc")).count(), 0);
}
