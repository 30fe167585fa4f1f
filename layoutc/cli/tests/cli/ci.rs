//! Tests of the problem matcher and the hooks against the actual output.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox, path_with_layoutc};
use layoutc_testing::process::needed_program;

/// Prints the matches of a problem matcher in standard input, one JSON object per line. Like GitHub's runner, each
/// line must match the next pattern.
const MATCH: &str = r#"
import json, re, sys
patterns = json.loads(sys.argv[1])
at, found = 0, {}
for line in sys.stdin.read().split("\n"):
    match = re.search(patterns[at]["regexp"], line)
    if not match and at:
        at, found = 0, {}
        match = re.search(patterns[0]["regexp"], line)
    if not match:
        continue
    found |= {key: match.group(group) for key, group in patterns[at].items() if key != "regexp"}
    at += 1
    if at == len(patterns):
        print(json.dumps(found))
        at, found = 0, {}
"#;

fn root(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(path).expect("there")
}

fn matched(text: &str) -> Vec<Value> {
    use std::io::Write;
    let matcher: Value =
        serde_json::from_str(&root("integrations/github/layoutc-problem-matcher.json"))
            .expect("JSON");
    let matchers = matcher["problemMatcher"].as_array().expect("a list");
    assert_eq!((matchers.len(), &matchers[0]["owner"]), (1, &"layoutc".into()));
    let mut child = Command::new("python3")
        .args(["-c", MATCH, &matchers[0]["pattern"].to_string()])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn problem_matcher_finds_errors_and_warnings() {
    let padded =
        "tensor p dtype=f32 {\n    shape { n 5 }\n    layout {\n        split n by=32\n    }\n}\n";
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", ""),
        ("layouts/a.kdl", BROKEN),
        ("layouts/padded.kdl", padded),
    ]);
    let ran = sandbox.run(&["check"]);
    assert_eq!(ran.code, Some(1));
    let found = matched(&ran.err);
    let kinds: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|f| ["severity", "code", "file"].map(|key| f[key].as_str().expect("a text")))
        .map(|[severity, code, file]| (severity, code, file))
        .collect();
    let expected = [
        ("error", "map::not_injective", "layouts/a.kdl"),
        ("warning", "padding::large", "layouts/padded.kdl"),
    ];
    assert_eq!(kinds, expected, "{}", ran.err);
    assert_eq!((&found[0]["line"], &found[0]["column"]), (&"4".into(), &"28".into()));
    assert_eq!(found[0]["message"], "two elements of `t` share a slot");
    // GitHub displays diagnostics without a location as printed.
    assert_eq!(
        matched("error[output::stale]: `a.h` is missing\n  = help: run `layoutc build`\n"),
        [""; 0]
    );
}

/// The entry of a hook.
fn entry(id: &str) -> String {
    let hooks = root(".pre-commit-hooks.yaml");
    let (_, hook) = hooks.split_once(&format!("- id: {id}\n")).expect("the hook");
    let entry = hook.lines().find_map(|line| line.trim().strip_prefix("entry: "));
    entry.expect("an entry").to_owned()
}

#[test]
fn hooks_reject_invalid_layouts_and_outdated_outputs() {
    let Some(_) = needed_program("git") else { return };
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)]);
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=me", "-c", "user.email=me@example.org"])
            .args(args)
            .current_dir(sandbox.path("."))
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE")
            .env_remove("GIT_INDEX_FILE")
            .env("PATH", path_with_layoutc())
            .output()
            .expect("git");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), message)
    };
    assert!(git(&["init", "-q"]).0);
    let hook = format!(
        "#!/bin/sh\nset -e\n{}\n{}\n",
        entry("layoutc-check"),
        entry("layoutc-build-check")
    );
    sandbox.write(".git/hooks/pre-commit", &hook);
    let mut permissions =
        fs::metadata(sandbox.path(".git/hooks/pre-commit")).expect("there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(sandbox.path(".git/hooks/pre-commit"), permissions).expect("set");
    let commit = || {
        assert!(git(&["add", "."]).0);
        git(&["commit", "-q", "--allow-empty", "-m", "layouts"])
    };
    let (done, message) = commit();
    assert!(
        !done && message.contains("error[output::stale]: `generated/c/a.h` is missing"),
        "{message}"
    );
    sandbox.run(&["build"]).success();
    let (done, message) = commit();
    assert!(done, "{message}");
    sandbox.write("layouts/a.kdl", BROKEN);
    let (done, message) = commit();
    assert!(!done && message.contains("error[map::not_injective]"), "{message}");
}

#[test]
fn pre_commit_runs_the_hooks() {
    // Installed by `./test`.
    let Some(_) = needed_program("pre-commit") else { return };
    let sandbox =
        Sandbox::new(&[("hooks/.pre-commit-hooks.yaml", &root(".pre-commit-hooks.yaml"))]);
    sandbox.write("mine/layoutc.toml", "");
    sandbox.write("mine/layouts/a.kdl", BROKEN);
    let script = "set -e
        export HOME=$PWD GIT_CONFIG_GLOBAL=/none
        unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
        git() { command git -c user.name=me -c user.email=me@example.org \"$@\"; }
        (cd hooks && git init -q && git add . && git commit -qm hooks && git tag 1)
        cd mine
        git init -q
        printf 'repos:\n- repo: ../hooks\n  rev: \"1\"\n  hooks:\n  - id: layoutc-check\n' >.pre-commit-config.yaml
        git add .
        pre-commit run --all-files";
    let run = |script: &str| {
        let output = Command::new("sh")
            .args(["-c", script])
            .current_dir(sandbox.path("."))
            .env("PATH", path_with_layoutc())
            .output()
            .expect("a shell");
        let message = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), message + &String::from_utf8_lossy(&output.stderr))
    };
    let (code, message) = run(script);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("error[map::not_injective]"), "{message}");
    sandbox.write("mine/layouts/a.kdl", BLOCKED);
    let again = "export HOME=$PWD; cd mine && git add . && pre-commit run --all-files";
    let (code, message) = run(again);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("prove the tensor layouts") && message.contains("Passed"),
        "{message}"
    );
}
