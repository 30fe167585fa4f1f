use std::io::Read;
use std::process::Stdio;

use crate::world::World;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let ran = World::new(&[]).run(&["--help"]);
    for part in [
        "watch",
        "init",
        "new",
        "clean",
        "outputs",
        "deps",
        "templates",
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
        assert!(ran.good().contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn a_mistyped_command_finds_the_one_that_was_meant() {
    let ran = World::new(&[]).run(&["biuld"]);
    let line = "error: unknown command `biuld`; did you mean `build`?\n";
    assert_eq!(ran.refused(), (Some(2), line));
}

#[test]
fn what_is_wrong_with_the_command_line_is_exit_code_2() {
    let world = World::new(&[]);
    for args in [
        &["check", "--nonsense"][..],
        &["check", "--format", "yaml"],
        &["build", "--check", "--dry-run"],
        &["check", "-q", "-v"],
        &["index"],
        &[],
    ] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
    let ran = world.run(&["check", "gone.kdl"]);
    assert_eq!(ran.refused(), (Some(2), "error: `gone.kdl` does not exist\n"));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let world = World::new(&[]);
    let mut child = world
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
    let output = World::new(&[]).command(".", &["explain"]).stdout(full).output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let line = "error: cannot write to standard output: no space left on device\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
}
