use std::io::Read;
use std::process::Stdio;

use crate::sandbox::Sandbox;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let ran = Sandbox::new(&[]).run(&["--help"]);
    for part in [
        "watch",
        "init",
        "new",
        "clean",
        "outputs",
        "deps",
        "templates",
        "library",
        "show",
        "trace",
        "pack",
        "unpack",
        "explain",
        "completions",
        "man",
        "Exit codes: 0 success; 1 ",
        "manifests in; C, OpenCL and CUDA out",
    ] {
        assert!(ran.success().contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn mistyped_command_gets_a_suggestion() {
    let ran = Sandbox::new(&[]).run(&["biuld"]);
    let line = "error: unknown command `biuld`; did you mean `build`?\n";
    assert_eq!(ran.failure(), (Some(2), line));
}

#[test]
fn command_line_errors_exit_with_code_2() {
    let sandbox = Sandbox::new(&[]);
    for args in [
        &["check", "--nonsense"][..],
        &["check", "--format", "yaml"],
        &["build", "--check", "--dry-run"],
        &["check", "-q", "-v"],
        &["index"],
        &[],
    ] {
        assert_eq!(sandbox.run(args).code, Some(2), "{args:?}");
    }
    let ran = sandbox.run(&["check", "gone.kdl"]);
    assert_eq!(ran.failure(), (Some(2), "error: `gone.kdl` does not exist\n"));
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let sandbox = Sandbox::new(&[]);
    let mut child = sandbox
        .command(".", &["explain", "output::foreign"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("UTF-8");
    assert_eq!((child.wait().expect("it ends").code(), err.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_below_standard_output_is_exit_code_3() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("there");
    let output =
        Sandbox::new(&[]).command(".", &["explain"]).stdout(full).output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let line = "error: cannot write to standard output: no space left on device\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
}
