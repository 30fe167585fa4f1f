//! Unusual or missing files where a build looks.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::scene::{BLOCKED, Files, Scene, binary, finished, project, same, wide};
use layoutc_testing::is_full;
use layoutc_testing::process::Finished;

fn built() -> (Scene, Files) {
    let scene = project();
    scene.run(&["build"]).success();
    let outputs = scene.files("generated");
    (scene, outputs)
}

/// Runs a shell command in which `$1` is the program.
fn shell(scene: &Scene, line: &str) -> Finished {
    let mut command = Command::new("sh");
    command.current_dir(scene.path("")).args(["-c", line, "sh"]).arg(binary());
    finished(&command.stdin(Stdio::null()).output().expect("it starts"))
}

#[test]
fn foreign_file_at_the_state_path_is_preserved() {
    let outside = Scene::new(&[("log", "mine\n"), ("memo", "mine\n"), ("tmp/0", "mine\n")]);
    let theirs = outside.files("");
    for what in ["a file", "a link", "a dangling link"] {
        let (scene, outputs) = built();
        scene.remove(".layoutc");
        match what {
            "a file" => scene.write(".layoutc", "mine\n"),
            "a link" => symlink(outside.path(""), scene.path(".layoutc")).expect("a link"),
            _ => symlink("nowhere", scene.path(".layoutc")).expect("a link"),
        }
        for width in [12, 8] {
            scene.write("layouts/a.kdl", wide(width));
            let ran = scene.run(&["build", "-q"]);
            assert!(matches!(ran.code, Some(0 | 1 | 3)), "{what}: {ran:?}");
        }
        if scene.run(&["build", "-q"]).code == Some(0) {
            same(&scene.files("generated"), &outputs, what);
            scene.run(&["build", "--check"]).success();
        }
        assert!(!scene.path(".layoutc").is_dir() || what == "a link", "{what} is gone");
        assert_eq!(outside.files(""), theirs, "{what}");
    }
}

#[test]
fn state_entries_that_are_not_files_are_ignored() {
    let outside = Scene::new(&[("log", "mine\n")]);
    for name in ["log", "memo", "lock", "log.new", "memo.new", "tmp"] {
        for what in ["a pipe", "a folder", "a link", "a device"] {
            let (scene, outputs) = built();
            let path = format!(".layoutc/{name}");
            scene.remove(&path);
            match what {
                "a pipe" => drop(shell(&scene, &format!("mkfifo {path}"))),
                "a folder" => scene.write(&format!("{path}/mine"), "mine\n"),
                "a link" => symlink(outside.path("log"), scene.path(&path)).expect("a link"),
                _ => symlink("/dev/zero", scene.path(&path)).expect("a link"),
            }
            scene.write("layouts/a.kdl", wide(12));
            let mut ran = scene.run(&["build", "-q"]);
            assert!(matches!(ran.code, Some(0 | 3)), "{path} is {what}: {ran:?}");
            if ran.code == Some(3) {
                assert!(ran.err.contains(&format!("`{path}`")), "{path} is {what}: {}", ran.err);
                scene.remove(&path);
            }
            scene.write("layouts/a.kdl", BLOCKED);
            ran = scene.run(&["build", "-q"]);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{path} is {what}");
            same(&scene.files("generated"), &outputs, &format!("{path} is {what}"));
            assert_eq!(outside.files("")["log"], b"mine\n", "{path} is {what}");
        }
    }
}

#[test]
fn huge_log_does_not_fail_a_build() {
    let (scene, outputs) = built();
    for name in [".layoutc/log", ".layoutc/memo"] {
        let file = File::options().write(true).open(scene.path(name)).expect("there");
        // All but the first bytes are a hole.
        file.set_len(1 << 28).expect("longer");
        scene.write("layouts/a.kdl", wide(12));
        scene.run(&["build", "-q"]).success();
        scene.write("layouts/a.kdl", BLOCKED);
        scene.heals(&outputs, name);
    }
}

#[test]
fn umask_and_non_utf8_names_do_not_change_outputs() {
    let (scene, outputs) = built();
    for name in [&b"generated/\xff.h"[..], b"generated/c/\xfe/x", b"\xfd", b".layoutc/\xfc"] {
        let path = scene.path("").join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, "mine\n").expect("written");
    }
    for umask in ["000", "077", "027"] {
        scene.write("layouts/a.kdl", wide(12));
        let ran = shell(&scene, &format!("umask {umask}; \"$1\" build -q"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{umask}");
        scene.write("layouts/a.kdl", BLOCKED);
        let ran = shell(&scene, &format!("umask {umask}; \"$1\" build -q"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{umask}");
        for (path, text) in outputs.iter().filter(|(path, _)| !path.ends_with('/')) {
            assert_eq!(&scene.files("generated")[path], text, "{umask}: {path}");
        }
    }
    scene.run(&["clean", "-q"]).success();
    let left = scene.files("");
    assert_eq!(left.values().filter(|text| **text == b"mine\n").count(), 6, "{:?}", left.keys());
}

#[test]
fn file_at_an_output_folder_path_is_reported() {
    for path in ["generated", "generated/c", "generated/c/x"] {
        let (scene, outputs) = built();
        scene.remove(path);
        scene.write(path, "mine\n");
        for _ in 0..2 {
            let ran = scene.run(&["build", "-q"]);
            assert_eq!(ran.code, Some(1), "{path}: {ran:?}");
            assert!(ran.err.contains(&format!("`{path}` is not a folder")), "{}", ran.err);
            assert_eq!(fs::read(scene.path(path)).expect("there"), b"mine\n");
        }
        scene.remove(path);
        for (foreign, text) in [("README", "mine\n"), ("c/mine.h", "int mine;\n")] {
            scene.write(&format!("generated/{foreign}"), text);
        }
        scene.heals(&outputs, path);
    }
}

#[test]
fn closed_standard_streams_do_not_fail_a_build() {
    let (scene, outputs) = built();
    let lines = [
        "\"$1\" build >&-",
        "\"$1\" build 2>&-",
        "\"$1\" build >&- 2>&- <&-",
        "\"$1\" build <&-",
        "\"$1\" build -v | head -n 1",
        "\"$1\" build -v --format json | true",
        "\"$1\" build --force > /dev/full; true",
    ];
    for (number, line) in lines.into_iter().enumerate() {
        scene.write("layouts/a.kdl", wide(12 + 4 * u32::try_from(number).expect("few")));
        let ran = shell(&scene, line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{line}: {}", ran.err);
        scene.run(&["build", "--check", "-q"]).success();
    }
    scene.write("layouts/a.kdl", BLOCKED);
    scene.heals(&outputs, "nobody reads");
}

#[test]
fn two_projects_may_share_an_output_folder() {
    let (one, other) = (project(), project());
    other.write("layouts/other.kdl", wide(16));
    for name in ["a.kdl", "b.kdl", "x", "lib"] {
        other.remove(&format!("layouts/{name}"));
    }
    other.write("layoutc.toml", "");
    let shared = Scene::new(&[]);
    let out = shared.path("out");
    let args = ["build", "-q", "--out", out.to_str().expect("UTF-8")];
    for round in 0..3 {
        for scene in [&one, &other] {
            scene.run(&args).success();
        }
        let names = shared.files("out");
        assert!(names.contains_key("c/a.h") && names.contains_key("c/other.h"), "{round}");
        one.write("layouts/a.kdl", wide(12 + 4 * round));
    }
    for scene in [&one, &other] {
        scene.run(&args).success();
        scene.run(&[&args[..], &["--check"]].concat()).success();
    }
}

#[test]
fn missing_used_file_is_reported_on_rebuild() {
    let folder = Scene::new(&[
        ("p/layoutc.toml", ""),
        (
            "p/layouts/a.kdl",
            "use \"../../shared.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n",
        ),
        (
            "p/layouts/b.kdl",
            "use \"lib/b.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n",
        ),
        ("p/layouts/lib/b.kdl", "transform blocked {\n    split c by=4\n}\n"),
        ("shared.kdl", "transform blocked {\n    split c by=2\n}\n"),
    ]);
    let check = |what: &str| {
        let ran = folder.run(&["build", "-q", "p"]);
        let fresh = folder.copy_but(&["p/.layoutc", "p/generated"]);
        assert_eq!(ran, fresh.run(&["build", "-q", "p"]), "{what}");
        if ran.code == Some(0) {
            same(&folder.files("p/generated"), &fresh.files("p/generated"), what);
        }
    };
    check("at first");
    folder.write("shared.kdl", "transform blocked {\n    split c by=4\n}\n");
    check("the shared file changed");
    folder.remove("shared.kdl");
    check("the shared file vanished");
    folder.write("shared.kdl", "transform blocked {\n    split c by=2\n}\n");
    folder.remove("p/layouts/lib/b.kdl");
    check("the used file vanished");
    fs::create_dir(folder.path("p/layouts/lib/b.kdl")).expect("a folder");
    check("the used file is a folder");
    folder.remove("p/layouts/lib/b.kdl");
    folder.write("p/layouts/lib/b.kdl", b"\xff\xfe");
    check("the used file is no text");
    folder.write("p/layouts/lib/b.kdl", "transform blocked {\n    split c by=8\n}\n");
    check("the used file is there again");
}

#[test]
fn manifests_changed_during_a_read_are_rebuilt() {
    let scene = project();
    scene.run(&["build"]).success();
    let is_over = AtomicBool::new(false);
    let texts = [BLOCKED.to_owned(), wide(4), wide(4).replace("h 4", "h 2"), wide(12)];
    for round in 0..if is_full() { 24 } else { 6 } {
        is_over.store(false, Ordering::SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                for text in texts.iter().cycle().skip(round) {
                    fs::write(scene.path("layouts/a.kdl"), text).expect("written");
                    fs::write(scene.path("layouts/x/c.kdl"), text).expect("written");
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    thread::sleep(Duration::from_micros(200));
                }
            });
            for _ in 0..5 {
                // It may read a partial text.
                let ran = scene.run(&["build", "-q"]);
                assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
            }
            is_over.store(true, Ordering::SeqCst);
        });
        let fresh =
            scene.copy_but(&[".layoutc", "generated/c/a", "generated/c/b", "generated/c/x"]);
        fresh.run(&["build", "-q"]).success();
        scene.heals(&fresh.files("generated"), &format!("round {round}"));
    }
}
