//! The project built by ninja and Bazel with one hermetic action per manifest.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;
use std::time::SystemTime;

use crate::integrations::{command, copy_to, edit, run, said};
use crate::tools::find;
use crate::world::{BLOCKED, World};

const ENCODER: &str = "layouts/encoder/scores.kdl";

/// Output of a successful run of ninja.
fn ninja(world: &World) -> String {
    run(world, "ninja", &["farm", "layoutc_outputs"])
}

/// Number of runs of layoutc.
fn runs(said: &str) -> usize {
    said.lines().filter(|line| line.contains("Laying out ")).count()
}

fn is_idle(world: &World) {
    let said = ninja(world);
    assert!(said.contains("no work to do"), "{said}");
}

fn modified(world: &World, path: &str) -> SystemTime {
    fs::metadata(world.path(path)).and_then(|m| m.modified()).expect("a time")
}

fn configured() -> World {
    let world = World::new(&[]);
    copy_to(&world, "farm", "");
    run(&world, "sh", &["configure.sh"]);
    world
}

#[test]
fn ninja_runs_layoutc_for_the_manifests_that_changed() {
    let Some(_) = find("ninja") else { return };
    let world = configured();
    let says = |line: &str| {
        let program = world.path("farm");
        assert_eq!(run(&world, program.to_str().expect("UTF-8"), &[]), format!("{line}\n"));
    };
    assert_eq!(runs(&ninja(&world)), 2);
    says("60 and 48 scores, 0 wrong");
    is_idle(&world);
    // One manifest, one run; the outputs of the other are not touched.
    let other = modified(&world, "generated/c/decoder/scores.h");
    edit(&world, ENCODER, "column 10", "column 9");
    assert_eq!(runs(&ninja(&world)), 1);
    says("54 and 48 scores, 0 wrong");
    assert_eq!(modified(&world, "generated/c/decoder/scores.h"), other);
    is_idle(&world);
    // A shared manifest, with unchanged outputs: nothing is compiled.
    let program = modified(&world, "farm");
    edit(&world, "shared/blocks.kdl", "by=4", "by=4 // columns");
    let said = ninja(&world);
    assert!(runs(&said) == 2 && !said.contains("cc "), "{said}");
    assert_eq!(modified(&world, "generated/c/decoder/scores.h"), other);
    assert_eq!(modified(&world, "farm"), program);
    is_idle(&world);
    assert!(!world.files("").iter().any(|file| file.contains(".layoutc")), "nothing is remembered");
}

#[test]
fn ninja_passes_on_what_is_wrong_and_goes_on_from_there() {
    let Some(_) = find("ninja") else { return };
    let world = configured();
    edit(&world, ENCODER, "layout blocks", "layout blox");
    let output = command(&world, "ninja", &["-k", "0", "layoutc_outputs"]).output();
    let output = output.expect("it starts");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("error[name::unknown]: there is no transform `blox`\n"), "{text}");
    assert!(text.contains("  ┌─ layouts/encoder/scores.kdl:7:12\n"), "{text}");
    assert!(world.read("generated/c/decoder/scores.h").is_some());
    edit(&world, ENCODER, "layout blox", "layout blocks");
    assert_eq!(runs(&ninja(&world)), 1);
    is_idle(&world);
}

#[test]
fn ninja_learns_of_manifests_that_come_and_go() {
    let Some(_) = find("ninja") else { return };
    let world = configured();
    edit(&world, "layoutc.toml", "[target.c]", "[target.c]\numbrella-header = \"farm.h\"");
    ninja(&world);
    let includes = |world: &World| {
        let text = world.read("generated/c/farm.h").expect("a header");
        text.lines().filter(|line| line.starts_with("#include")).collect::<Vec<_>>().join("\n")
    };
    let both = "#include \"decoder/scores.h\"\n#include \"encoder/scores.h\"";
    assert_eq!(includes(&world), both);
    is_idle(&world);
    // A manifest with the stem of another one.
    world.write("layouts/head/scores.kdl", BLOCKED);
    let said = ninja(&world);
    // The manifest itself, and the umbrella header.
    assert_eq!(runs(&said), 2, "{said}");
    assert_eq!(includes(&world), format!("{both}\n#include \"head/scores.h\""));
    is_idle(&world);
    fs::remove_dir_all(world.path("layouts/head")).expect("gone");
    assert_eq!(runs(&ninja(&world)), 1);
    assert_eq!(includes(&world), both);
    assert_eq!(world.files("generated/c/head"), Vec::<String>::new());
    is_idle(&world);
}

/// The outputs follow from names alone; `outputs` without a format builds to find them.
#[test]
fn ninja_is_told_of_the_outputs_that_a_build_writes() {
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
    let world = World::new(&[
        ("layoutc.toml", config),
        ("in/x/a.b.kdl", BLOCKED),
        ("in $x/(1).kdl", &BLOCKED.replace("tensor t", "tensor u")),
        ("templates/note.j2", "{{ manifest }}\n"),
    ]);
    let text = world.run(&["outputs", "--format", "ninja"]).good().to_owned();
    let outputs = text.lines().find_map(|line| line.strip_prefix("build layoutc_outputs: phony "));
    let outputs: BTreeSet<String> = outputs
        .expect("all of them")
        .replace("$ ", "\n")
        .split(' ')
        .map(|path| path.replace('\n', " ").replace("$$", "$"))
        .collect();
    let listed = world.run(&["outputs"]).good().to_owned();
    assert_eq!(outputs, listed.lines().map(str::to_owned).collect());
    // The outputs do not depend on stored state or on errors in a manifest.
    world.run(&["build", "-q"]).good();
    world.write("in/x/a.b.kdl", "tensor {");
    assert_eq!(world.run(&["outputs", "--format", "ninja"]).good(), text);
    world.write("in/x/a.b.kdl", BLOCKED);
    // Ninja and the shell read all paths correctly.
    let Some(_) = find("ninja") else { return };
    let built: Vec<_> = listed.lines().map(|path| (path, world.read(path))).collect();
    fs::remove_dir_all(world.path("generated")).expect("gone");
    world.write("build.ninja", &text);
    assert_eq!(runs(&run(&world, "ninja", &[])), 3);
    for (path, text) in built {
        assert_eq!(world.read(path), text, "{path}");
    }
    assert!(run(&world, "ninja", &[]).contains("no work to do"));
    // Outputs without a seal are overwritten too: ninja tracks them.
    world.write("templates/note.j2", "Of {{ manifest }}\n");
    run(&world, "ninja", &[]);
    assert_eq!(world.read("generated/notes/in/x/a.b.txt").as_deref(), Some("Of in/x/a.b.kdl\n"));
    let ran = world.run(&["deps", "--format", "ninja"]);
    let line = "error: `--format ninja` is only for `layoutc outputs`; expected `text` or `json`\n";
    assert_eq!(ran.refused(), (Some(2), line));
}

#[test]
fn ninja_is_not_told_what_it_cannot_be_told() {
    let world = World::new(&[("a|b.kdl", BLOCKED)]);
    let ran = world.run(&["outputs", "a|b.kdl", "--format", "ninja"]);
    assert_eq!(ran.refused().0, Some(2));
    assert!(ran.err.contains("`--format ninja` cannot express `generated/c/a|b.c`"), "{}", ran.err);
}

/// A Bazel that compiles without a network, as packaged by Debian and Ubuntu.
const BAZEL: &str = "bazel-4";

/// A workspace in a folder of a world, with its own Bazel server.
struct Workspace<'a> {
    world: &'a World,
    folder: &'a str,
}

impl<'a> Workspace<'a> {
    fn new(world: &'a World, folder: &'a str) -> Self {
        copy_to(world, "bazel", &format!("{folder}/bazel"));
        copy_to(world, "farm", &format!("{folder}/farm"));
        Self { world, folder }
    }

    fn path(&self, path: &str) -> String {
        format!("{}/farm/{path}", self.folder)
    }

    fn bazel(&self, args: &[&str]) -> Output {
        let root = self.world.path("").join("root").join(self.folder.replace('/', "-"));
        let cache = self.world.path("cache");
        let mut command = command(self.world, BAZEL, &["--nohome_rc", "--max_idle_secs=120"]);
        command.arg(format!("--output_user_root={}", root.display())).args(args);
        if args != ["shutdown"] {
            command.args(["--color=no", "--curses=no", "--noshow_progress"]);
            command.arg("--experimental_repository_disable_download");
            command.arg(format!("--disk_cache={}", cache.display()));
        }
        command.current_dir(self.world.path(&self.path(""))).output().expect("it starts")
    }

    fn good(&self, args: &[&str]) -> String {
        let output = self.bazel(args);
        let text = said(&output);
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
fn actions(world: &World) -> BTreeSet<String> {
    world.files("cache/ac").into_iter().collect()
}

#[test]
fn bazel_runs_one_hermetic_action_for_each_manifest_and_knows_it_again_elsewhere() {
    let Some(_) = find(BAZEL) else { return };
    let world = World::new(&[]);
    let one = Workspace::new(&world, "one");
    let told = one.good(&["test", "//:farm", "--test_output=all", "--subcommands"]);
    assert!(told.contains("60 and 48 scores, 0 wrong\n"), "{told}");
    assert_eq!(runs(&told), 2, "{told}");
    let first = actions(&world);
    // In a workspace in another folder, every action is a cache hit.
    let other = Workspace::new(&world, "another/place");
    let told = other.good(&["build", "//:farm"]);
    let ways = told.lines().find(|line| line.contains(" processes: ")).unwrap_or_default();
    assert!(ways.contains(" remote cache hit") && !ways.contains("sandbox"), "{told}");
    assert_eq!(actions(&world), first);
    drop(other);
    // An edit of one manifest runs one action.
    edit(&world, &one.path(ENCODER), "column 10", "column 9");
    let told = one.good(&["test", "//:farm", "--test_output=all", "--subcommands"]);
    assert!(told.contains("54 and 48 scores, 0 wrong\n"), "{told}");
    assert_eq!(runs(&told), 1, "{told}");
    // Bazel passes layoutc's diagnostics on.
    edit(&world, &one.path(ENCODER), "layout blocks", "layout blox");
    let output = one.bazel(&["build", "//:layouts"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Laying out layouts/encoder/scores.kdl failed: (Exit 1)"), "{text}");
    assert!(text.contains("error[name::unknown]: there is no transform `blox`\n"), "{text}");
    // A used manifest must be an input.
    edit(&world, &one.path(ENCODER), "layout blox", "layout blocks");
    edit(&world, &one.path("BUILD.bazel"), "deps = [\"//shared:blocks.kdl\"]", "deps = []");
    let output = one.bazel(&["build", "//:layouts"]);
    let text = said(&output);
    assert!(text.contains("error[name::file]: cannot read the manifest"), "{text}");
    assert_eq!(world.files(&one.path("")).iter().filter(|f| f.contains(".layoutc")).count(), 0);
}
