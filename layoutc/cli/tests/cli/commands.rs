//! `init`, `new`, `clean`, `outputs`, `templates`.

use std::fs;

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

fn project() -> Sandbox {
    Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED), ("layouts/x/b.kdl", BLOCKED)])
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).expect("JSON")
}

#[test]
fn new_project_builds_without_warnings() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.run(&["new", "my-kernels"]);
    assert_eq!(
        ran.success(),
        "created  my-kernels/layoutc.toml\ncreated  my-kernels/layouts/example.kdl\n\
         next: cd my-kernels && layoutc build\n"
    );
    let config = "[project]\nname = \"my-kernels\"\nprefix = \"my_kernels_\"\n";
    assert_eq!(sandbox.read("my-kernels/layoutc.toml").as_deref(), Some(config));
    sandbox.run_in("my-kernels", &["build"], "").success();
    let header = sandbox.read("my-kernels/generated/c/example.h").expect("a header");
    assert!(header.contains("my_kernels_blocked_offset"), "{header}");
}

#[test]
fn init_overwrites_no_existing_file() {
    let sandbox = Sandbox::new(&[("here/mine.txt", "mine")]);
    let ran = sandbox.run_in("here", &["init"], "");
    assert!(ran.success().ends_with("\nnext: layoutc build\n"), "{}", ran.out);
    assert_eq!(
        sandbox.files("here"),
        ["here/layoutc.toml", "here/layouts/example.kdl", "here/mine.txt"]
    );
    sandbox.run_in("here", &["build", "--check", "--out", "../none"], "");
    let ran = sandbox.run(&["init", "here"]);
    let line = "error: `here/layoutc.toml` already exists and is not overwritten\n";
    assert_eq!(ran.failure(), (Some(2), line));
    let sandbox = Sandbox::new(&[("there/layouts/example.kdl", "mine")]);
    assert_eq!(sandbox.run(&["init", "there"]).failure().0, Some(2));
    assert_eq!(sandbox.files("there"), ["there/layouts/example.kdl"]);
    let ran = sandbox.run(&["new", "there"]);
    let line = "error: `there` already exists; try `layoutc init there`\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.run(&["init", "there/layouts/example.kdl"]).failure().0, Some(2));
}

#[test]
fn a_new_project_as_json_is_one_object() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.run(&["init", "deep/er", "--format", "json"]);
    let object = json(ran.success());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"init".into()));
    assert_eq!(object["files"][1], "deep/er/layouts/example.kdl");
}

#[test]
fn clean_removes_outputs_and_their_empty_folders() {
    let sandbox = project();
    let before = sandbox.files(".");
    sandbox.run(&["build"]).success();
    let built = sandbox.files(".");
    let ran = sandbox.run(&["clean", "--dry-run"]);
    assert!(ran.success().ends_with("\n7 outputs (dry run): 7 removed\n"), "{}", ran.out);
    assert_eq!(sandbox.files("."), built);
    let ran = sandbox.run(&["clean"]);
    assert!(ran.success().starts_with("removed    generated/c/a.c\n"), "{}", ran.out);
    assert!(ran.out.ends_with("\n7 outputs: 7 removed\n"), "{}", ran.out);
    assert_eq!(sandbox.files("."), before);
    assert!(!sandbox.path("generated").exists());
    assert_eq!(sandbox.run(&["clean"]).success(), "0 outputs: 0 removed\n");
}

#[test]
fn clean_removes_the_state_of_a_deleted_output_folder() {
    let sandbox = project();
    let before = sandbox.files(".");
    sandbox.run(&["build"]).success();
    fs::remove_dir_all(sandbox.path("generated")).expect("an output folder");
    let kept = sandbox.files(".");
    assert_eq!(sandbox.run(&["clean", "--dry-run"]).success(), "0 outputs (dry run): 0 removed\n");
    assert_eq!(sandbox.files("."), kept);
    assert_eq!(sandbox.run(&["clean"]).success(), "0 outputs: 0 removed\n");
    assert_eq!(sandbox.files("."), before);
    assert!(!sandbox.path(".layoutc").exists());
}

#[test]
fn clean_keeps_foreign_and_reports_edited_outputs() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let edited = sandbox.read("generated/c/a.h").expect("there") + "int mine;\n";
    sandbox.write("generated/c/a.h", &edited);
    sandbox.write("generated/c/x/mine.h", "int mine;\n");
    sandbox.write("generated/c/x/.layoutc-1-0.tmp", "left by a build that was killed");
    let ran = sandbox.run(&["clean"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let warning = "warning[output::edited]: `generated/c/a.h` was edited since layoutc wrote it";
    assert!(ran.err.starts_with(warning), "{}", ran.err);
    let closing = "\n1 warning\nfor more information, run `layoutc explain output::edited`\n";
    assert!(ran.err.ends_with(closing), "{}", ran.err);
    assert!(ran.out.ends_with("\n6 outputs: 6 removed\n"), "{}", ran.out);
    assert_eq!(sandbox.files("generated"), ["generated/c/a.h", "generated/c/x/mine.h"]);
    assert_eq!(sandbox.read("generated/c/a.h"), Some(edited));
}

#[test]
fn clean_works_with_broken_manifests_and_in_other_folders() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    sandbox.write("layouts/a.kdl", BROKEN);
    fs::remove_dir_all(sandbox.path("layouts/x")).expect("gone");
    sandbox.run(&["clean"]).success();
    assert!(!sandbox.path("generated").exists());
    fs::remove_dir_all(sandbox.path("layouts")).expect("gone");
    assert_eq!(sandbox.run(&["clean"]).success(), "0 outputs: 0 removed\n");
    let sandbox = Sandbox::new(&[("here/one.kdl", BLOCKED)]);
    sandbox.run(&["build", "here/one.kdl", "--out", "out"]).success();
    sandbox.run(&["build", "here/one.kdl"]).success();
    let ran = sandbox.run(&["clean", "here/one.kdl", "--format", "json"]);
    let object = json(ran.success());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"clean".into()));
    let first = serde_json::json!({ "path": "here/generated/c/one.c", "status": "removed" });
    assert_eq!(object["outputs"][0], first);
    assert!(!sandbox.path("here/generated").exists());
    assert_eq!(sandbox.files("out/c"), ["out/c/one.c", "out/c/one.h", "out/c/tests/one_test.c"]);
    sandbox.run(&["clean", "here/one.kdl", "--out", "out"]).success();
    assert_eq!(sandbox.files("."), ["here/one.kdl"]);
}

#[test]
fn in_place_clean_touches_only_target_folders() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\nout-dir = \".\"\n"),
        ("layouts/a.kdl", BLOCKED),
    ]);
    sandbox.run(&["build"]).success();
    let header = sandbox.read("c/a.h").expect("a header");
    sandbox.write("copies/a.h", &header);
    sandbox.run(&["clean"]).success();
    assert!(!sandbox.path("c").exists());
    assert_eq!(sandbox.files("."), ["copies/a.h", "layoutc.toml", "layouts/a.kdl"]);
}

/// A running command, and its first line on standard error.
#[cfg(unix)]
fn begun(sandbox: &Sandbox, command: &str) -> (std::process::Child, String) {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let mut child = sandbox
        .command(".", &[command])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    (child, line)
}

#[cfg(unix)]
#[test]
fn clean_waits_for_a_running_build() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let folder = fs::File::open(sandbox.path(".layoutc/lock")).expect("there");
    folder.lock().expect("locked");
    let (mut child, line) = begun(&sandbox, "clean");
    let start = "waiting for process ";
    assert!(line.starts_with(start), "{line}");
    assert!(line.ends_with(" (`layoutc build`), which is writing to `generated`\n"), "{line}");
    assert!(sandbox.read("generated/c/a.h").is_some());
    folder.unlock().expect("unlocked");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert!(!sandbox.path("generated").exists());
}

#[cfg(unix)]
#[test]
fn edits_during_a_lock_wait_are_built() {
    let sandbox = project();
    let text = sandbox.read("layouts/a.kdl").expect("a manifest");
    sandbox.write("layouts/b.kdl", &text);
    sandbox.run(&["build"]).success();
    let folder = fs::File::open(sandbox.path(".layoutc/lock")).expect("there");
    folder.lock().expect("locked");
    sandbox.write("layouts/a.kdl", &format!("{text}tensor more dtype=f32 {{ shape {{ n 3 }} }}\n"));
    let (mut child, line) = begun(&sandbox, "build");
    assert!(line.starts_with("waiting for process "), "{line}");
    sandbox
        .write("layouts/b.kdl", &format!("{text}tensor later dtype=f32 {{ shape {{ n 5 }} }}\n"));
    folder.unlock().expect("unlocked");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    sandbox.run(&["build", "--check"]).success();
    assert!(sandbox.read("generated/c/b.h").is_some_and(|header| header.contains("later")));
}

#[test]
fn outputs_lists_build_files_and_writes_nothing() {
    let sandbox = project();
    let before = sandbox.files(".");
    let ran = sandbox.run(&["outputs"]);
    assert_eq!(sandbox.files("."), before);
    let listed: Vec<&str> = ran.success().lines().collect();
    sandbox.run(&["build"]).success();
    assert_eq!(sandbox.files("generated"), listed);
    let object = json(sandbox.run(&["outputs", "--format", "json"]).success());
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"outputs".into()));
    assert_eq!(object["outputs"], serde_json::json!(listed));
    let ran = sandbox.run(&["outputs", "layouts/a.kdl", "--out", "o"]);
    assert_eq!(ran.success(), "o/c/a.c\no/c/a.h\no/c/layoutc_runtime.h\no/c/tests/a_test.c\n");
}

#[test]
fn outputs_for_cmake_are_absolute_and_quoted() {
    let sandbox = Sandbox::new(&[("a b;$c/one.kdl", BLOCKED)]);
    let ran = sandbox.run(&["outputs", "a b;$c/one.kdl", "--format", "cmake"]);
    let root = sandbox.path("").canonicalize().expect("there");
    let line = |name: &str| format!("  \"{}/a b\\;\\$c/generated/c/{name}\"\n", root.display());
    let lines = ["one.c", "one.h", "tests/one_test.c"].map(line).concat();
    assert_eq!(ran.success(), format!("set(LAYOUTC_OUTPUTS\n{lines})\n"));
    let ran = sandbox.run(&["build", "--format", "cmake"]);
    let line = "error: `--format cmake` is only for `layoutc outputs`; expected `text` or `json`\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn outputs_follow_the_configured_folder() {
    let config = "[project]\nsources = [\"k/*.kdl\"]\nout-dir = \"gen/deep/\"\nprefix = \"p_\"\n";
    let sandbox =
        Sandbox::new(&[("layoutc.toml", config), ("k/a.kdl", BLOCKED), ("a.kdl", BROKEN)]);
    let ran = sandbox.run_in("k", &["outputs"], "");
    let names = ["a.c", "a.h", "layoutc_runtime.h", "tests/a_test.c"];
    assert_eq!(ran.success(), names.map(|name| format!("../gen/deep/c/{name}\n")).concat());
    sandbox.run(&["build"]).success();
    assert!(sandbox.read("gen/deep/c/a.h").is_some_and(|text| text.contains("p_t_offset")));
    sandbox.run(&["clean"]).success();
    assert_eq!(sandbox.files("gen"), [""; 0]);
    assert!(!sandbox.path("gen/deep").exists());
}

#[test]
fn outputs_of_an_invalid_project_are_refused() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let ran = sandbox.run(&["outputs"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.starts_with("error[map::not_injective]"), "{}", ran.err);
}

#[test]
fn templates_are_listed_with_their_purpose() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.run(&["templates", "list"]);
    let row =
        "c/header.h.j2          c       public header: constants, index functions, prototypes";
    assert!(ran.success().lines().any(|line| line == row), "{}", ran.out);
    let ran = sandbox.run(&["templates", "list", "--format", "json"]);
    let names: Vec<Value> = ran.success().lines().map(|line| json(line)["name"].clone()).collect();
    assert!(names.contains(&"c/source.c.j2".into()), "{names:?}");
}

#[test]
fn an_ejected_template_changes_nothing_until_it_is_edited() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\ntemplates-dir = \"own\"\n"),
        ("layouts/a.kdl", BLOCKED),
    ]);
    sandbox.run(&["build"]).success();
    // The stamp shared by the outputs of a build depends on the project's own templates.
    let header = || {
        let text = sandbox.read("generated/c/a.h").expect("a header");
        let is_plain = |line: &&str| !line.contains("_STAMP ") && !line.contains("layoutc-hash");
        text.lines().filter(is_plain).map(str::to_owned).collect::<Vec<_>>()
    };
    let built_in = header();
    let ran = sandbox.run_in("layouts", &["templates", "eject", "c/header.h.j2"], "");
    assert_eq!(
        ran.success(),
        "wrote ../own/c/header.h.j2, which overrides the built-in template\n"
    );
    sandbox.run(&["build"]).success();
    assert_eq!(header(), built_in);
    sandbox.write("own/c/header.h.j2", "// mine\n");
    let ran = sandbox.run(&["templates", "eject", "c/header.h.j2"]);
    let line = "error: `own/c/header.h.j2` already exists; use `--force` to overwrite it\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.read("own/c/header.h.j2").as_deref(), Some("// mine\n"));
    sandbox.run(&["templates", "eject", "c/header.h.j2", "--force"]).success();
    sandbox.run(&["build", "--check"]).success();
}

#[test]
fn unknown_template_gets_a_suggestion() {
    let sandbox = project();
    for requested in ["c/headr.h.j2", "header.h.j2"] {
        let ran = sandbox.run(&["templates", "eject", requested]);
        let line = format!(
            "error: unknown template `{requested}`; did you mean `c/header.h.j2`? \
             (`layoutc templates list` lists all)\n"
        );
        assert_eq!(ran.failure(), (Some(2), line.as_str()));
    }
}

#[cfg(unix)]
#[test]
fn templates_are_not_ejected_through_a_link_out_of_the_project() {
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("out/x", "")]);
    std::os::unix::fs::symlink("../out", sandbox.path("p/templates")).expect("a link");
    let ran = sandbox.run_in("p", &["templates", "eject", "c/header.h.j2"], "");
    assert_eq!(ran.failure().0, Some(2));
    assert_eq!(sandbox.files("out"), ["out/x"]);
}

#[test]
fn check_refuses_unusable_conversion_schedules() {
    let text = "tensor a dtype=f32 { shape { n 8; c 32; w 64 } }\n\
                tensor b like=a { layout { order n w c } }\nconvert a to=b { inside runs }\n";
    let sandbox = Sandbox::new(&[("a.kdl", text)]);
    let ran = sandbox.run(&["check", "a.kdl"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.contains("error[limit::choice]: there are no runs"), "{}", ran.err);
    assert_eq!(sandbox.run(&["build", "a.kdl"]).failure().1, ran.err);
}
