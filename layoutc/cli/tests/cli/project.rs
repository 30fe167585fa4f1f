use crate::sandbox::{BLOCKED, BROKEN, Sandbox};

/// The `file:line:column` of every `┌─` line.
fn places(err: &str) -> Vec<&str> {
    err.lines().filter_map(|line| line.trim_start().strip_prefix("┌─ ")).collect()
}

#[test]
fn without_paths_the_project_of_a_folder_above_is_checked() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", ""),
        ("layouts/b.kdl", BROKEN),
        ("layouts/deep/a.kdl", BROKEN),
        ("layouts/.hidden/x.kdl", BROKEN),
        ("other/x.kdl", BROKEN),
    ]);
    let ran = sandbox.run(&["check"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(places(&ran.err), ["layouts/b.kdl:4:28", "layouts/deep/a.kdl:4:28"]);
    let closing = "\n\n2 errors\nfor more information, run `layoutc explain map::not_injective`\n";
    assert!(ran.err.ends_with(closing), "{}", ran.err);
    let ran = sandbox.run_in("layouts/deep", &["check"], "");
    assert_eq!(places(&ran.err), ["../b.kdl:4:28", "a.kdl:4:28"]);
    let ran = sandbox.run_in("other", &["check"], "");
    assert_eq!(places(&ran.err), ["../layouts/b.kdl:4:28", "../layouts/deep/a.kdl:4:28"]);
}

#[test]
fn paths_are_printed_as_they_were_given() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let absolute = sandbox.path("layouts/a.kdl");
    let absolute = absolute.to_str().expect("Unicode");
    let expected = format!("{absolute}:4:28");
    for (given, printed) in [
        ("layouts/a.kdl", "layouts/a.kdl:4:28"),
        ("./layouts/a.kdl", "./layouts/a.kdl:4:28"),
        ("layouts", "layouts/a.kdl:4:28"),
        (".", "layouts/a.kdl:4:28"),
        (absolute, expected.as_str()),
    ] {
        assert_eq!(places(&sandbox.run(&["check", given]).err), [printed], "{given}");
    }
}

#[test]
fn named_manifest_outside_the_sources_is_checked() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("draft.kdl", BROKEN)]);
    assert_eq!(places(&sandbox.run(&["check", "draft.kdl"]).err), ["draft.kdl:4:28"]);
}

#[test]
fn folder_without_a_project_is_searched_recursively() {
    let sandbox = Sandbox::new(&[
        ("all/one.kdl", BROKEN),
        ("all/p/layoutc.toml", ""),
        ("all/p/layouts/a.kdl", BROKEN),
        ("all/p/unrelated.kdl", BROKEN),
    ]);
    let ran = sandbox.run(&["check", "all"]);
    assert_eq!(places(&ran.err), ["all/one.kdl:4:28", "all/p/layouts/a.kdl:4:28"]);
}

#[test]
fn empty_project_and_missing_project_differ() {
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("q/x.txt", "")]);
    let ran = sandbox.run_in("p", &["check"], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with("error[config::no_sources]: no manifest matches"), "{}", ran.err);
    let ran = sandbox.run_in("q", &["check"], "");
    assert_eq!(
        ran.failure(),
        (
            Some(2),
            "error: no layoutc.toml in this folder or a parent; pass a manifest, as in \
             `layoutc check a.kdl`\n"
        )
    );
    for command in ["build", "inspect", "clean", "outputs", "watch"] {
        let help = format!("pass a manifest, as in `layoutc {command} a.kdl`\n");
        let ran = sandbox.run_in("q", &[command], "");
        assert!(ran.code == Some(2) && ran.err.ends_with(&help), "{}", ran.err);
    }
    let ran = sandbox.run_in("q", &["templates", "eject", "c/header.h.j2"], "");
    assert!(ran.err.ends_with("; create a project with `layoutc init`\n"), "{}", ran.err);
    assert_eq!(sandbox.run(&["check", "q"]).code, Some(2));
}

#[test]
fn invalid_configuration_exits_with_code_1() {
    let sandbox =
        Sandbox::new(&[("layoutc.toml", "[project]\nnmae = \"x\"\n"), ("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["check", "a.kdl"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(places(&ran.err), ["layoutc.toml:2:1"]);
}

#[test]
fn sources_select_the_manifests() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\nsources = [\"*.kdl\"]\n"),
        ("a.kdl", BROKEN),
        ("layouts/b.kdl", BROKEN),
    ]);
    assert_eq!(places(&sandbox.run(&["check"]).err), ["a.kdl:4:28"]);
}

#[test]
fn json_diagnostics_follow_the_result_on_stdout() {
    let sandbox = Sandbox::new(&[("a.kdl", BROKEN)]);
    let ran = sandbox.run(&["check", "a.kdl", "--format", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
    let objects: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), 2, "{}", ran.out);
    assert_eq!(objects[0]["kind"], "check");
    assert_eq!(objects[1]["kind"], "diagnostic");
    assert_eq!(objects[1]["labels"][0]["file"], "a.kdl");
    assert_eq!(objects[1]["labels"][0]["line"], 4);
    assert_eq!(objects[1]["labels"][0]["column"], 28);
    assert_eq!(objects[1]["docs"], "layoutc explain map::not_injective");
}

#[cfg(unix)]
#[test]
fn named_pipe_manifest_is_refused_without_blocking() {
    let sandbox = Sandbox::new(&[]);
    let created = std::process::Command::new("mkfifo").arg(sandbox.path("a.kdl")).status();
    assert!(created.is_ok_and(|status| status.success()));
    let ran = sandbox.run(&["check", "a.kdl"]);
    assert!(ran.err.contains("not a regular file"), "{}", ran.err);
    assert_ne!(ran.code, Some(0));
}

#[test]
fn a_successful_check_reports_the_number_of_proofs() {
    let sandbox = Sandbox::new(&[("a.kdl", BLOCKED)]);
    let ran = sandbox.run(&["check", "a.kdl"]);
    assert!(ran.success().starts_with("1 tensor in 1 manifest proven in "), "{}", ran.out);
    assert_eq!(sandbox.run(&["check", "a.kdl", "-q"]).success(), "");
    assert_eq!(sandbox.files("."), ["./a.kdl".trim_start_matches("./")]);
}
