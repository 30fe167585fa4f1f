//! Output of the commands in `commands.txt`, and of a watch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::root;
use crate::sandbox::{BLOCKED, BROKEN, Sandbox, path_with_layoutc};
use crate::watching::Watching;

/// Objects by schema, each with the command that printed it.
type Printed = BTreeMap<String, Vec<(String, Value)>>;

/// A copy of a project, and the commands to run in it.
type Scene<'t> = (&'t str, Vec<&'t str>);

/// Runs the commands; those that need a compiler only if `has_compiler`.
pub(super) fn printed(has_compiler: bool) -> Printed {
    let text = text();
    let scenes = scenes(&text);
    let mut printed = rebuilds();
    thread::scope(|scope| {
        let play = |scene| scope.spawn(move || play(scene, has_compiler));
        let players: Vec<_> = scenes.iter().map(play).collect();
        for player in players {
            for (schema, objects) in player.join().expect("a player") {
                printed.entry(schema).or_default().extend(objects);
            }
        }
    });
    printed
}

/// Commands of the file: the schema of their output, and their arguments.
pub(super) fn commands() -> Vec<(String, String)> {
    let text = text();
    let lines = scenes(&text).into_iter().flat_map(|scene| scene.1);
    let parts = lines.filter(|line| !line.starts_with("$ ")).map(parts);
    parts.map(|(schema, arguments)| (schema.to_owned(), arguments.to_owned())).collect()
}

fn text() -> String {
    fs::read_to_string(here().join("commands.txt")).expect("the commands")
}

fn here() -> PathBuf {
    root().join("layoutc/cli/tests/cli/schemas")
}

fn scenes(text: &str) -> Vec<Scene<'_>> {
    let mut scenes: Vec<Scene<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("in ") {
            Some(project) => scenes.push((project, Vec::new())),
            None => scenes.last_mut().expect("a project").1.push(line),
        }
    }
    scenes
}

/// Schema and arguments of a line.
fn parts(line: &str) -> (&str, &str) {
    line.split_once(": ").expect("a schema and arguments")
}

fn play((project, lines): &Scene<'_>, has_compiler: bool) -> Printed {
    let folder = if project.starts_with("examples/") { root() } else { here() }.join(project);
    let sandbox = Sandbox::new(&[]);
    copy(&folder, &sandbox.path("."));
    let mut printed = Printed::new();
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            assert_eq!(shell(&sandbox, command), (Some(0), String::new()), "{line}");
            continue;
        }
        let (schema, arguments) = parts(line);
        if schema == "bench" && !has_compiler {
            continue;
        }
        let (code, out) = shell(&sandbox, &format!("layoutc --format json {arguments}"));
        assert!(matches!(code, Some(0 | 1)) && !out.is_empty(), "{project}: {line}: {code:?}");
        for text in out.lines() {
            let object: Value = serde_json::from_str(text).expect("an object a line");
            let schema = if object["kind"] == "diagnostic" { "diagnostic" } else { schema };
            let objects = printed.entry(schema.to_owned()).or_default();
            objects.push((format!("{project}: {arguments}"), object));
        }
    }
    printed
}

/// Exit code and standard output of a shell command.
fn shell(sandbox: &Sandbox, line: &str) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(sandbox.path("."))
        .env("PATH", path_with_layoutc())
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Output of two watches, with successful and failing builds.
fn rebuilds() -> Printed {
    let mut printed = Printed::new();
    for more in [&[][..], &["--timings"]] {
        let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)]);
        let arguments = [&["--format", "json"], more].concat();
        let mut watching = Watching::start(&sandbox, ".", &arguments);
        let mut next = |schema: &str| {
            let object: Value = serde_json::from_str(&watching.next()).expect("JSON");
            let what = format!("watch {}", arguments.join(" "));
            printed.entry(schema.to_owned()).or_default().push((what, object));
        };
        next("rebuild");
        sandbox.write("layouts/b.kdl", BLOCKED);
        next("rebuild");
        sandbox.write("layouts/b.kdl", BROKEN);
        next("rebuild");
        next("diagnostic");
        fs::remove_file(sandbox.path("layouts/b.kdl")).expect("it was there");
        next("rebuild");
    }
    printed
}

/// Copies a folder, without build products.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (name, path) = (entry.file_name(), entry.path());
        if name == "generated" || name == ".layoutc" {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("a copy");
        }
    }
}
