//! Small, foreign and read-only file systems. Mounting requires root, which CI must provide.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::scene::{Scene, edit, project, same, wide};

/// A mount, removed on drop.
struct Mount(PathBuf);

impl Mount {
    /// Runs `mount` with these arguments; `None` without permission.
    fn new(args: &[&str], at: PathBuf) -> Option<Self> {
        fs::create_dir_all(&at).expect("a folder");
        let output = Command::new("mount").args(args).arg(&at).output();
        let reason = match output {
            Ok(output) if output.status.success() => return Some(Self(at)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("not tried, nothing can be mounted here: {reason}");
        None
    }

    fn again(&self, options: &str) {
        let output = Command::new("mount").args(["-o", options]).arg(&self.0).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

const OTHER: [&str; 3] = ["-t", "tmpfs", "none"];
const SMALL: [&str; 5] = ["-t", "tmpfs", "-o", "size=512k", "none"];

/// Outputs of a clean build of the project.
fn expected(scene: &Scene) -> crate::scene::Files {
    let fresh = scene.copy_but(&[".layoutc", "generated/c/a", "generated/c/b", "generated/c/x"]);
    fresh.run(&["build"]).success();
    fresh.files("generated")
}

#[test]
fn disk_full_during_a_build_keeps_the_old_outputs() {
    let scene = project();
    let Some(_mount) = Mount::new(&SMALL, scene.path("generated")) else { return };
    scene.write("generated/README", "mine\n");
    scene.write("generated/c/mine.h", "int mine;\n");
    scene.run(&["build", "-q"]).success();
    let before = scene.files("generated");
    for k in 0..40 {
        scene.write(&format!("layouts/m{k}.kdl"), wide(4 + 4 * k));
    }
    for _ in 0..2 {
        let ran = scene.run(&["build", "-q"]);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(
            ran.err.starts_with("error[output::io]: cannot write `generated/c/"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("no space left on device"), "{}", ran.err);
        same(&scene.files("generated"), &before, "the disk is full");
    }
    for k in 0..40 {
        scene.remove(&format!("layouts/m{k}.kdl"));
    }
    scene.heals(&before, "the disk is no longer full");
}

#[test]
fn state_folder_on_a_full_disk_is_reported() {
    let scene = project();
    let Some(_mount) = Mount::new(&SMALL, scene.path(".layoutc")) else { return };
    scene.write(".layoutc/filler", vec![1; 400 << 10]);
    drop(fs::write(scene.path(".layoutc/more"), vec![1; 200 << 10]));
    let ran = scene.run(&["build", "-q"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    scene.remove(".layoutc/filler");
    scene.remove(".layoutc/more");
    scene.run(&["build", "-q"]).success();
    same(&scene.files("generated"), &expected(&scene), "there is space again");
    scene.run(&["build", "--check"]).success();
}

#[test]
fn outputs_on_another_mount_are_written_and_swept() {
    let elsewhere = Scene::new(&[]);
    let bind = elsewhere.path("");
    let bind = ["--bind", bind.to_str().expect("UTF-8")];
    for (args, below) in
        [(&OTHER[..], "generated"), (&OTHER, "generated/c"), (&bind, "generated/c")]
    {
        let scene = project();
        let mine = scene.files("generated");
        let Some(_mount) = Mount::new(args, scene.path(below)) else { return };
        for (path, text) in mine.iter().filter(|(path, _)| !path.ends_with('/')) {
            scene.write(&format!("generated/{path}"), text);
        }
        scene.run(&["build", "-q"]).success();
        edit(&scene);
        scene.write("generated/c/.layoutc-1-0.tmp", "left behind\n");
        scene.run(&["build", "-q"]).success();
        same(&scene.files("generated"), &expected(&scene), below);
        scene.run(&["build", "--check"]).success();
        scene.run(&["clean", "-q"]).success();
        assert!(
            scene.path("generated/c/mine.h").exists() && !scene.path("generated/c/a.h").exists()
        );
    }
}

#[test]
fn read_only_project_can_be_checked() {
    let own = project();
    let bind = own.path("");
    let scene = Scene::new(&[]);
    let Some(mount) = Mount::new(&OTHER, scene.path("")) else { return };
    drop(bind);
    for (path, text) in own.files("").iter().filter(|(path, _)| !path.ends_with('/')) {
        scene.write(path, text);
    }
    mount.again("remount,ro");
    scene.run(&["check", "-q"]).success();
    scene.run(&["build", "--dry-run", "-q"]).success();
    let ran = scene.run(&["build", "-q"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("read-only file system") && ran.err.contains('`'), "{}", ran.err);
    assert_eq!(scene.run(&["build", "--check", "-q"]).code, Some(1));
    mount.again("remount,rw");
    scene.run(&["build", "-q"]).success();
    mount.again("remount,ro");
    for args in
        [&["check", "-q"][..], &["build", "-q"], &["build", "--check"], &["clean", "--dry-run"]]
    {
        scene.run(args).success();
    }
    assert_eq!(scene.run(&["clean", "-q"]).code, Some(3));
    let elsewhere = Scene::new(&[]);
    let out = elsewhere.path("out");
    scene.run(&["build", "-q", "--out", out.to_str().expect("UTF-8")]).success();
    assert!(elsewhere.path("out/c/a.h").exists());
    // The stored state is of the current project, not of the earlier one.
    mount.again("remount,rw");
    scene.write("layouts/a.kdl", wide(12));
    mount.again("remount,ro");
    let ran = scene.run(&["build", "-q"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
}
