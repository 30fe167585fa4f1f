use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};
use layoutc_testing::process::Finished;

fn project() -> Sandbox {
    Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED), ("layouts/x/a.kdl", BLOCKED)])
}

/// `(status, path)` of every output of a build's JSON.
fn statuses(out: &str) -> Vec<(String, String)> {
    let object: Value = serde_json::from_str(out.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&object["version"], &object["kind"]), (&1.into(), &"build".into()));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let outputs = object["outputs"].as_array().expect("a list").iter();
    outputs.map(|output| (text(&output["status"]), text(&output["path"]))).collect()
}

fn all_are(status: &str, out: &str) -> bool {
    let statuses = statuses(out);
    !statuses.is_empty() && statuses.iter().all(|(found, _)| found == status)
}

#[test]
fn build_writes_target_folders_and_a_rebuild_nothing() {
    let sandbox = project();
    let ran = sandbox.run(&["build", "--format", "json"]);
    assert!(all_are("written", ran.success()), "{}", ran.out);
    let files = sandbox.files("generated");
    for file in ["generated/c/a.h", "generated/c/x/a.h"] {
        assert!(files.iter().any(|found| found == file), "{file}: {files:?}");
    }
    let time = || fs::metadata(sandbox.path("generated/c/a.h")).and_then(|m| m.modified()).ok();
    let before = time();
    assert!(all_are("unchanged", sandbox.run(&["build", "--format", "json"]).success()));
    assert_eq!(time(), before);
}

#[test]
fn partial_build_writes_identical_bytes_from_any_folder() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let all = sandbox.files("generated");
    let text = sandbox.read("generated/c/x/a.h");
    assert!(text.is_some());
    fs::remove_dir_all(sandbox.path("generated")).expect("gone");
    sandbox.run_in("layouts/x", &["build", "a.kdl"], "").success();
    assert_eq!(sandbox.read("generated/c/x/a.h"), text);
    sandbox.run(&["build", "./layouts/a.kdl"]).success();
    assert_eq!(sandbox.files("generated"), all);
}

#[test]
fn single_manifest_outputs_are_next_to_it() {
    let sandbox = Sandbox::new(&[("here/one.kdl", BLOCKED)]);
    sandbox.run(&["build", "here/one.kdl"]).success();
    assert!(sandbox.read("here/generated/c/one.h").is_some(), "{:?}", sandbox.files("."));
}

#[test]
fn any_error_prevents_all_writes() {
    let sandbox = project();
    sandbox.write("layouts/b.kdl", BROKEN);
    let ran = sandbox.run(&["build"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.contains("\n1 error\n"), "{}", ran.err);
    assert_eq!(sandbox.files("generated"), [""; 0]);
}

#[test]
fn a_dry_run_and_a_check_write_nothing() {
    let sandbox = project();
    let ran = sandbox.run(&["build", "--dry-run", "--format", "json"]);
    assert!(all_are("written", ran.success()), "{}", ran.out);
    let ran = sandbox.run(&["build", "--check"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error[output::stale]: `generated/c/a.h` is missing"), "{}", ran.err);
    assert_eq!(sandbox.files("generated"), [""; 0]);
    sandbox.run(&["build"]).success();
    sandbox.run(&["build", "--check"]).success();
    sandbox.write("layouts/a.kdl", &BLOCKED.replace("w 8", "w 12"));
    let ran = sandbox.run(&["build", "--check"]);
    assert!(ran.err.contains("`generated/c/a.h` is out of date"), "{}", ran.err);
}

#[test]
fn foreign_and_edited_files_are_refused_until_forced() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let edited = format!("{}\n#define MINE 1\n", sandbox.read("generated/c/a.h").expect("there"));
    sandbox.write("generated/c/a.h", &edited);
    sandbox.write("generated/c/x/a.h", "int mine;\n");
    let ran = sandbox.run(&["build"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.contains("error[output::edited]: `generated/c/a.h` was"), "{}", ran.err);
    assert!(ran.err.contains("error[output::foreign]: `generated/c/x/a.h` was"), "{}", ran.err);
    assert!(ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(sandbox.read("generated/c/a.h"), Some(edited));
    sandbox.run(&["build", "--force"]).success();
    assert!(sandbox.read("generated/c/x/a.h").is_some_and(|text| text != "int mine;\n"));
}

#[test]
fn stale_outputs_are_removed_only_by_a_full_build() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    fs::remove_file(sandbox.path("layouts/x/a.kdl")).expect("gone");
    sandbox.write("generated/c/mine.h", "int mine;\n");
    sandbox.run(&["build", "layouts/a.kdl"]).success();
    assert!(sandbox.read("generated/c/x/a.h").is_some());
    let ran = sandbox.run(&["build", "--format", "json"]);
    let removed = ("removed".to_owned(), "generated/c/x/a.h".to_owned());
    assert!(statuses(ran.success()).contains(&removed), "{}", ran.out);
    assert!(!sandbox.path("generated/c/x").exists());
    assert!(sandbox.read("generated/c/mine.h").is_some());
}

#[test]
fn out_and_target_options_select_folder_and_target() {
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    sandbox.run_in("p", &["build", "--out", "../out", "--target", "c"], "").success();
    assert!(sandbox.read("out/c/a.h").is_some());
    assert!(!sandbox.path("p/generated").exists());
    let ran = sandbox.run_in("p", &["build", "--target", "fortran"], "");
    assert_eq!(ran.failure().0, Some(2));
}

#[test]
fn an_output_folder_outside_the_project_is_refused() {
    let sandbox = Sandbox::new(&[
        ("p/layoutc.toml", "[project]\nout-dir = \"../elsewhere\"\n"),
        ("p/layouts/a.kdl", BLOCKED),
    ]);
    assert_eq!(sandbox.run(&["build", "p"]).failure().0, Some(1));
    assert!(!sandbox.path("elsewhere").exists());
}

#[cfg(unix)]
#[test]
fn output_folder_linked_out_of_the_project_is_refused() {
    let sandbox = project();
    let outside = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(outside.path(), sandbox.path("generated")).expect("a link");
    let ran = sandbox.run(&["build"]);
    assert_eq!(ran.failure().0, Some(1));
    assert!(ran.err.starts_with("error[output::link]: `generated` is a link to"), "{}", ran.err);
    assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_output_folder_exits_with_code_3() {
    // `/proc` does not allow new folders, not even for root.
    let sandbox = project();
    let ran = sandbox.run(&["build", "--out", "/proc/layoutc"]);
    assert_eq!(ran.failure().0, Some(3));
    assert!(ran.err.starts_with("error[output::io]: cannot create `"), "{}", ran.err);
}

#[test]
fn concurrent_builds_write_identical_bytes() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let texts = |sandbox: &Sandbox| -> Vec<_> {
        sandbox.files("generated").iter().map(|file| (file.clone(), sandbox.read(file))).collect()
    };
    let expected = texts(&sandbox);
    fs::remove_dir_all(sandbox.path("generated")).expect("gone");
    let start = || {
        let mut command = sandbox.command(".", &["build", "-q"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let children: Vec<_> = (0..8).map(|_| start()).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
    }
    assert_eq!(texts(&sandbox), expected);
}

#[test]
fn summary_has_one_line_per_tensor_unless_quiet() {
    let sandbox = Sandbox::new(&[("a.kdl", &BLOCKED.replace("w 8", "w 6"))]);
    let ran = sandbox.run(&["build", "a.kdl"]);
    let first = ran.success().lines().next().expect("a line");
    assert_eq!(first, "t  f32  [4, 6] -> [32]  padded  128 bytes  32 padding (25.0 %)");
    assert!(ran.out.contains("\nwritten    generated/c/a.h\n"), "{}", ran.out);
    assert_eq!(sandbox.run(&["build", "a.kdl", "-q"]).success(), "");
}

#[test]
fn memory_exhausting_templates_write_nothing() {
    let bomb = "{% set ns = namespace(x='layout') %}\
        {% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
    let sandbox = project();
    sandbox.write("templates/c/header.h.j2", bomb);
    let ran = sandbox.run(&["build"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.starts_with("error[template::memory]: "), "{}", ran.err);
    assert!(sandbox.files("generated").is_empty());
}

#[test]
fn project_template_overrides_the_built_in_one() {
    let sandbox = project();
    sandbox.write("templates/c/header.h.j2", "// {{ manifest }}\n");
    let ran = sandbox.run(&["build"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let header = sandbox.read("generated/c/a.h").expect("a header");
    assert!(header.ends_with("layouts/a.kdl\n"), "{header}");
}

#[test]
fn dry_runs_sandbox_project_templates() {
    let bomb = "{% set ns = namespace(x='layout') %}\
        {% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}";
    let sandbox = project();
    sandbox.write("templates/c/header.h.j2", bomb);
    for args in [&["build", "--check"][..], &["build", "--dry-run"], &["outputs"]] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.err);
        assert!(ran.err.starts_with("error[template::memory]: "), "{args:?}: {}", ran.err);
    }
}

#[test]
fn check_fails_on_edited_or_stale_outputs() {
    let sandbox = project();
    sandbox.run(&["build"]).success();
    let edited = sandbox.read("generated/c/a.h").expect("there") + "int mine;\n";
    sandbox.write("generated/c/a.h", &edited);
    fs::remove_file(sandbox.path("layouts/x/a.kdl")).expect("gone");
    let before = sandbox.files(".");
    let ran = sandbox.run(&["build", "--check"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("`generated/c/a.h` is out of date"), "{}", ran.err);
    assert!(ran.err.contains("`generated/c/x/a.h` is no longer generated"), "{}", ran.err);
    assert_eq!(sandbox.files("."), before);
    assert_eq!(sandbox.read("generated/c/a.h"), Some(edited));
}

#[test]
fn thread_count_does_not_change_outputs() {
    let sandbox = project();
    sandbox.run(&["build", "--jobs", "1"]).success();
    sandbox.run(&["build", "--check", "--jobs", "7"]).success();
    assert_eq!(sandbox.run(&["build", "--jobs", "0"]).failure().0, Some(2));
}

#[test]
fn stages_are_timed_on_request() {
    let sandbox = project();
    let ran = sandbox.run(&["build", "--timings"]);
    let lines: Vec<&str> = ran.success().lines().rev().collect();
    assert_eq!(lines[0], "trace: .layoutc/trace.json");
    let trace = sandbox.read(".layoutc/trace.json").expect("written");
    let events: Vec<Value> = serde_json::from_str(&trace).expect("JSON");
    assert_eq!(events[0]["name"], "build");
    let check = events.iter().find(|event| event["name"] == "check layouts/x/a.kdl");
    let check = check.expect("the check of a manifest");
    assert_eq!((&check["ph"], &check["cat"]), (&Value::from("X"), &Value::from("check")));
    let end = |event: &Value| {
        event["ts"].as_f64().expect("a number") + event["dur"].as_f64().expect("a number")
    };
    assert!(events.iter().all(|event| end(event) <= end(&events[0])), "{trace}");
    let stages: Vec<&str> = lines[1..]
        .iter()
        .rev()
        .skip_while(|l| !l.starts_with("look"))
        .filter_map(|l| l.split_whitespace().next())
        // Two manifests with the same text: the second may reuse the syntax of the first.
        .filter(|stage| *stage != "recall")
        .collect();
    let expected = ["look", "check", "emit", "compare", "write", "parse", "check", "emit"];
    assert_eq!(stages, expected);
    let ran = sandbox.run(&["build", "--timings", "--format", "json"]);
    let object: Value = serde_json::from_str(ran.success()).expect("JSON");
    assert!(object["timings_ms"]["check"].is_f64(), "{object}");
}

#[test]
fn unknown_target_gets_a_suggestion() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[target.c]\n[target.cuda]\n"),
        ("layouts/a.kdl", BLOCKED),
    ]);
    for (requested, hint) in [
        ("opencl", "add `[target.opencl]` to layoutc.toml"),
        ("cuad", "did you mean `cuda`?"),
        ("zig", "expected one of `c`, `cuda`"),
    ] {
        let line = format!("error: unknown target `{requested}`; {hint}\n");
        let ran = sandbox.run(&["build", "--target", requested]);
        assert_eq!(ran.failure(), (Some(2), line.as_str()));
    }
}

#[test]
fn a_template_error_is_shown_at_its_location() {
    let sandbox = Sandbox::new(&[
        ("p/layoutc.toml", "[project]\ntemplates-dir = \"own\"\n"),
        ("p/layouts/a.kdl", BLOCKED),
        ("p/own/c/header.h.j2", "one\ntwo {{ tensors[0].nothing }}\n"),
    ]);
    let ran = sandbox.run(&["build", "p"]);
    assert_eq!(
        ran.failure(),
        (
            Some(1),
            "\
error[template::undefined]: template `c/header.h.j2`: `tensors[0].nothing` is undefined
  ┌─ p/own/c/header.h.j2:2:15
2 │ two {{ tensors[0].nothing }}
  │               ^^^^^^^^^^^
  = help: the values are listed in `schemas/template-model.json`

1 error
for more information, run `layoutc explain template::undefined`
"
        )
    );
}

const FAULTS: &str = "\
tensor big dtype=f32 { shape { n 65536; m 65536 } }
tensor img dtype=bf16 { shape { h 4; w 8 }; layout { axis-separators h }; memory texture }
tensor three dtype=f32 { shape { a 4; h 4; w 8 }; layout { map \"(a, h, w) -> (a | h | w)\" } }
tensor wide dtype=f32 { shape { h 8; w 400000 }; layout { axis-separators h }; memory texture }
";

/// Lines that begin with an error code.
fn error_lines(ran: &Finished) -> Vec<&str> {
    ran.err.lines().filter(|line| line.starts_with("error[")).collect()
}

#[test]
fn check_reports_target_limits() {
    let config = "[project]\nsources = [\"m.kdl\"]\n[target.c]\nindex-type = \"int32_t\"\n[target.opencl]\n[target.cuda]\n";
    let sandbox = Sandbox::new(&[("layoutc.toml", config), ("m.kdl", FAULTS)]);
    let check = sandbox.run(&["check"]);
    assert_eq!(sandbox.files(""), ["layoutc.toml", "m.kdl"]);
    let build = sandbox.run(&["build"]);
    assert_eq!((check.code, build.code), (Some(1), Some(1)));
    assert_eq!(error_lines(&check), error_lines(&build));
    assert_eq!(check.err, build.err);
    assert!(error_lines(&check).len() > 5, "{}", check.err);
    for target in ["c", "opencl", "cuda"] {
        let config = format!("[project]\nsources = [\"m.kdl\"]\n[target.{target}]\n");
        let sandbox = Sandbox::new(&[("layoutc.toml", &config), ("m.kdl", FAULTS)]);
        let (check, build) = (sandbox.run(&["check"]), sandbox.run(&["build"]));
        assert_eq!((check.code, &check.err), (build.code, &build.err), "{target}");
        assert_eq!(check.code, Some(i32::from(target != "c")), "{target}");
    }
    // Other errors are reported first, and alone, as by a build.
    let broken =
        format!("{FAULTS}tensor b dtype=f32 {{ shape {{ n 4 }}; layout {{ map \"n // 2\" }} }}\n");
    let sandbox = Sandbox::new(&[("layoutc.toml", config), ("m.kdl", &broken)]);
    assert_eq!(error_lines(&sandbox.run(&["check"])), error_lines(&sandbox.run(&["build"])));
}

#[test]
fn non_utf8_template_is_reported() {
    let config = "[target.c]\n[target.custom]\ntemplate = \"custom/x.j2\"\nextension = \"txt\"\n";
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", config),
        ("layouts/a.kdl", BLOCKED),
        ("templates/custom/good.j2", "x\n"),
    ]);
    let refuses = |path: &str, commands: &[&str]| {
        for command in commands {
            let ran = sandbox.run(&[command]);
            assert_eq!(ran.code, Some(1), "{path}: {}", ran.err);
            let reason = "it is not UTF-8 at byte 2";
            assert!(ran.err.contains(path) && ran.err.contains(reason), "{}", ran.err);
        }
    };
    sandbox.write("templates/custom/x.j2", b"ab\xff\n");
    refuses("custom/x.j2", &["check", "build"]);
    sandbox.write("templates/custom/x.j2", "{% include \"custom/y.j2\" %}\n");
    sandbox.write("templates/custom/y.j2", b"ab\xff\n");
    refuses("custom/x.j2", &["build"]);
    sandbox.write("templates/custom/y.j2", "y\n");
    // An image that no template includes is ignored.
    sandbox.write("templates/custom/z.png", b"\xff\xff");
    sandbox.run(&["build"]).success();
    sandbox.write("templates/c/header.h.j2", b"ab\xff\n");
    refuses("c/header.h.j2", &["check", "build"]);
}

#[test]
fn manifest_names_that_end_an_include_are_refused() {
    for name in ["a\"b.kdl", "a\nb.kdl", "a\\b.kdl"] {
        let sandbox = Sandbox::new(&[(name, BLOCKED)]);
        for command in ["check", "build"] {
            let ran = sandbox.run(&[command, name]);
            assert_eq!(ran.code, Some(1), "{name:?}: {}", ran.err);
            assert!(ran.err.contains("error[name::file]: the path of the manifest"), "{}", ran.err);
        }
        assert_eq!(sandbox.files("generated"), [""; 0]);
    }
}
