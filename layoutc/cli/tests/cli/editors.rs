//! Save strategies of editors: each must cause exactly one correct rebuild, without an intermediate error.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{BLOCKED, Sandbox};
use crate::watching::Watching;

/// A save that took longer was interrupted by the scheduler and proves nothing.
const TORN: Duration = Duration::from_millis(30);

/// Saves `layouts/a.kdl` with `save`, which gets the path and the new text.
fn rebuilds_once(save: impl Fn(&Path, &str)) {
    let new = BLOCKED.replace("w 8", "w 12");
    let done = (0..20).any(|_| {
        let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)]);
        let mut watching = Watching::built(&sandbox, &[]);
        let start = Instant::now();
        save(&sandbox.path("layouts/a.kdl"), &new);
        if start.elapsed() > TORN {
            return false;
        }
        watching.expect("layouts/a.kdl changed: rebuilt in ");
        assert_eq!(sandbox.read("layouts/a.kdl"), Some(new.clone()));
        sandbox.run(&["build", "--check"]).success();
        // A second rebuild would be reported before this one.
        thread::sleep(Duration::from_millis(150));
        sandbox.write("layouts/b.kdl", BLOCKED);
        watching.expect("layouts/b.kdl added: rebuilt in ");
        assert!(!watching.err().contains("error"), "{}", watching.err());
        true
    });
    assert!(done, "this machine is too busy to save a file");
}

fn beside(file: &Path, name: &str) -> std::path::PathBuf {
    file.with_file_name(name)
}

#[test]
fn a_file_truncated_and_written_again() {
    rebuilds_once(|file, text| fs::write(file, text).expect("written"));
}

#[test]
fn a_new_file_renamed_over_the_old_one() {
    // VS Code, vim with backupcopy=no, and most tools that write atomically.
    rebuilds_once(|file, text| {
        let new = beside(file, ".a.kdl.tmp-1");
        fs::write(&new, text).expect("written");
        fs::rename(new, file).expect("renamed");
    });
}

#[test]
fn the_old_file_renamed_to_a_backup_and_a_new_one_written() {
    // Default vim, with its probe `4913`; Emacs.
    rebuilds_once(|file, text| {
        fs::write(beside(file, "4913"), "").expect("written");
        fs::remove_file(beside(file, "4913")).expect("removed");
        fs::write(beside(file, ".a.kdl.swp"), "b0VIM").expect("written");
        fs::rename(file, beside(file, "a.kdl~")).expect("renamed");
        fs::write(file, text).expect("written");
        fs::remove_file(beside(file, "a.kdl~")).expect("removed");
        fs::remove_file(beside(file, ".a.kdl.swp")).expect("removed");
    });
}

#[test]
fn a_file_written_in_two_halves() {
    rebuilds_once(|file, text| {
        let (first, second) = text.split_at(text.len() / 2);
        let mut file = File::create(file).expect("truncated");
        file.write_all(first.as_bytes()).expect("written");
        file.flush().expect("written");
        thread::sleep(Duration::from_millis(10));
        file.write_all(second.as_bytes()).expect("written");
    });
}

#[cfg(unix)]
#[test]
fn a_file_between_the_lock_and_the_autosave_of_emacs() {
    rebuilds_once(|file, text| {
        std::os::unix::fs::symlink("me@here.1234:1", beside(file, ".#a.kdl")).expect("a link");
        fs::write(beside(file, "#a.kdl#"), "tensor t dtype=f32 {").expect("written");
        fs::rename(file, beside(file, "a.kdl~")).expect("renamed");
        fs::write(file, text).expect("written");
        fs::remove_file(beside(file, "#a.kdl#")).expect("removed");
        fs::remove_file(beside(file, ".#a.kdl")).expect("removed");
    });
}

#[test]
fn the_safe_write_of_the_jetbrains_editors() {
    rebuilds_once(|file, text| {
        let (new, old) = (beside(file, "a.kdl___jb_tmp___"), beside(file, "a.kdl___jb_old___"));
        fs::write(&new, text).expect("written");
        fs::rename(file, &old).expect("renamed");
        fs::rename(new, file).expect("renamed");
        fs::remove_file(old).expect("removed");
    });
}

#[cfg(unix)]
#[test]
fn sed_in_place() {
    rebuilds_once(|file, _| {
        let status = Command::new("sed").args(["-i", "s/w 8/w 12/"]).arg(file).status();
        assert!(status.expect("sed runs").success());
    });
}
