//! `layoutc completions` and `layoutc man`, as read by shells and `man`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;

const SHELLS: &[&str] = &["bash", "zsh", "fish", "powershell", "elvish"];

/// Commands listed by the help.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.run(&["--help"]);
    let lines = help.success().lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // Continuation lines of a description are indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|l| !l.starts_with(' '));
    let names: Vec<String> = names.filter_map(|l| l.split(' ').next()).map(str::to_owned).collect();
    assert!(names.len() > 20 && names.iter().any(|name| name == "check"), "{names:?}");
    names
}

/// Returns true if a shell can parse a script; `None` without the shell.
fn parses(shell: &str, script: &str) -> Option<bool> {
    let started = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = started.ok()?;
    let written = child.stdin.take().expect("a pipe").write_all(script.as_bytes());
    // A shell may exit before reading everything.
    drop(written);
    Some(child.wait().expect("it ends").success())
}

/// Returns true if a text contains a word.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word)
}

#[test]
fn completion_scripts_are_deterministic_and_complete() {
    let sandbox = Sandbox::new(&[]);
    for shell in SHELLS {
        let ran = sandbox.run(&["completions", shell]);
        for command in commands(&sandbox) {
            assert!(has_word(ran.success(), &command), "{shell}: {command}");
        }
        assert_eq!(sandbox.run(&["completions", shell]), ran);
    }
}

#[test]
fn shells_parse_their_scripts() {
    let sandbox = Sandbox::new(&[]);
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.run(&["completions", shell]);
        let parsed = parses(shell, script.success());
        // bash is required.
        assert!(parsed.unwrap_or(shell != "bash"), "{shell}");
    }
    // A parser that accepts everything proves nothing.
    assert_eq!(parses("bash", "f() {"), Some(false));
}

#[test]
fn bash_completes_commands_options_and_values() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("completions", sandbox.run(&["completions", "bash"]).success());
    let script = r#"
source ./completions
typed() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _layoutc layoutc "${@: -1}" "${@: -2:1}"
    echo "${COMPREPLY[@]}"
}
complete -p layoutc | grep -o -e '-F _layoutc'
typed layoutc ch
typed layoutc comp
typed layoutc fmt --ch
typed layoutc build --format ""
typed layoutc templates ej
typed layoutc completions fi
"#;
    let ran = Command::new("bash").args(["-c", script]).current_dir(sandbox.path(".")).output();
    let ran = ran.expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    let message = "-F _layoutc\ncheck\ncompletions\n--check\ntext json\neject\nfish\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), message);
}

#[test]
fn command_specific_format_values_are_hidden() {
    let sandbox = Sandbox::new(&[]);
    let args = SHELLS.iter().map(|shell| vec!["completions", shell]).chain([vec!["man"]]);
    for args in args {
        let ran = sandbox.run(&args);
        assert!(has_word(ran.success(), "format"), "{args:?}");
        for hidden in ["cmake", "dot"] {
            assert!(!has_word(&ran.out, hidden), "{args:?}: {hidden}");
        }
    }
}

#[test]
fn mistyped_shell_gets_a_suggestion() {
    let sandbox = Sandbox::new(&[]);
    for (typed, meant) in [("bsh", "bash"), ("fihs", "fish"), ("power-shell", "powershell")] {
        let ran = sandbox.run(&["completions", typed]);
        let (code, message) = ran.failure();
        assert_eq!(code, Some(2));
        assert!(message.contains(&format!("a similar value exists: '{meant}'")), "{message}");
    }
    assert_eq!(sandbox.run(&["completions"]).code, Some(2));
}

#[test]
fn the_manual_names_every_command() {
    let sandbox = Sandbox::new(&[]);
    let ran = sandbox.run(&["man"]);
    assert!(ran.success().contains(".TH layoutc 1"), "{}", ran.out);
    for command in commands(&sandbox) {
        assert!(ran.out.contains(&format!("\nlayoutc\\-{command}(1)\n")), "{command}: {}", ran.out);
    }
    assert_eq!(sandbox.run(&["man"]), ran);
}

#[test]
fn each_command_has_its_page_in_a_folder() {
    let sandbox = Sandbox::new(&[]);
    let report = sandbox.run(&["man", "--out", "share/man1"]);
    assert!(report.success().starts_with("written    share/man1/layoutc.1\n"), "{}", report.out);
    let pages = sandbox.files("share");
    assert_eq!(pages.len(), report.out.lines().count(), "{pages:?}");
    for command in commands(&sandbox) {
        let page = sandbox.read(&format!("share/man1/layoutc-{command}.1")).expect("a page");
        assert!(page.contains(&format!(".TH layoutc-{command} 1")), "{page}");
        assert!(page.contains(concat!("layoutc ", env!("CARGO_PKG_VERSION"))), "{page}");
    }
    assert!(pages.contains(&"share/man1/layoutc-templates-eject.1".to_owned()), "{pages:?}");
    let page = sandbox.read("share/man1/layoutc-fmt.1").expect("a page");
    assert!(page.contains("\\-\\-check"), "{page}");
    let page = sandbox.read("share/man1/layoutc-man.1").expect("a page");
    assert!(page.contains("\n\nExample: layoutc man"), "{page}");
    assert_eq!(sandbox.read("share/man1/layoutc.1"), Some(sandbox.run(&["man"]).out));
    let again = sandbox.run(&["man", "--out", "share/man1"]);
    assert_eq!(again.success(), report.out.replace("written  ", "unchanged"));
    assert_eq!(sandbox.run(&["man", "-q", "--out", "other"]).success(), "");
    assert_eq!(sandbox.files("other").len(), pages.len());
}

#[test]
fn man_pages_replace_files_only_by_force_and_atomically() {
    let sandbox = Sandbox::new(&[("m/layoutc-man.1", "mine\n"), ("m/layoutc.1", "")]);
    fs::hard_link(sandbox.path("m/layoutc-man.1"), sandbox.path("kept")).expect("a link");
    let ran = sandbox.run(&["man", "--out", "m"]);
    let line = "error: `m/layoutc-man.1` exists with different content; \
                use `--force` to overwrite it\n";
    assert_eq!(ran.failure(), (Some(2), line));
    assert_eq!(sandbox.files("m"), ["m/layoutc-man.1", "m/layoutc.1"]);
    assert_eq!(sandbox.read("m/layoutc.1").as_deref(), Some(""));

    sandbox.run(&["man", "--out", "m", "--force"]).success();
    assert!(sandbox.read("m/layoutc-man.1").is_some_and(|page| page.contains(".TH layoutc-man 1")));
    // Files were replaced by a rename, never partially written.
    assert_eq!(sandbox.read("kept").as_deref(), Some("mine\n"));
    assert!(sandbox.files("m").iter().all(|file| file.ends_with(".1")));
    assert_eq!(sandbox.run(&["man", "--force"]).code, Some(2));
}

#[test]
fn pages_are_not_written_through_links_nor_over_folders() {
    let sandbox = Sandbox::new(&[("file", "x"), ("m/layoutc-fmt.1/inside", "x")]);
    let ran = sandbox.run(&["man", "--out", "file"]);
    assert_eq!(ran.failure(), (Some(2), "error: `file` is not a folder\n"));
    let ran = sandbox.run(&["man", "--out", "m", "--force"]);
    assert_eq!(ran.failure(), (Some(2), "error: `m/layoutc-fmt.1` is a folder, expected a file\n"));
    assert_eq!(sandbox.files("m"), ["m/layoutc-fmt.1/inside"]);

    fs::create_dir(sandbox.path("n")).expect("a folder");
    symlink("../file", sandbox.path("n/layoutc-man.1")).expect("a link");
    let ran = sandbox.run(&["man", "--out", "n", "--force"]);
    let (code, message) = ran.failure();
    assert_eq!(code, Some(1));
    assert!(message.starts_with("error[output::link]: `n/layoutc-man.1` is a link"), "{message}");
    assert_eq!(sandbox.files("n"), ["n/layoutc-man.1"]);
    assert_eq!(sandbox.read("file").as_deref(), Some("x"));
}

#[test]
fn completions_and_man_pages_have_json_output() {
    let sandbox = Sandbox::new(&[]);
    let json = |args: &[&str]| -> serde_json::Value {
        let ran = sandbox.run(args);
        serde_json::from_str(ran.success()).expect("JSON")
    };
    let script = json(&["completions", "bash", "--format", "json"]);
    assert_eq!((&script["kind"], &script["shell"]), (&"completions".into(), &"bash".into()));
    assert_eq!(script["text"], sandbox.run(&["completions", "bash"]).out);
    assert_eq!(json(&["man", "--format", "json"])["text"], sandbox.run(&["man"]).out);
    let files = json(&["man", "--out", "m", "--format", "json"]);
    assert_eq!(files["files"][0]["path"], "m/layoutc.1");
    assert_eq!(files["files"][0]["status"], "written");
}
