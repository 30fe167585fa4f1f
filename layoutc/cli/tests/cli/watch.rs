use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::{BLOCKED, BROKEN, Sandbox};
use crate::watching::Watching;
use layoutc_testing::process::wait_for;

fn project() -> Sandbox {
    Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)])
}

/// A manifest with a tensor of width `w`.
fn wide(w: u32) -> String {
    BLOCKED.replace("w 8", &format!("w {w}"))
}

/// Checks that nothing was built: the next line is about this change.
fn nothing_was_built(sandbox: &Sandbox, watching: &mut Watching) {
    thread::sleep(Duration::from_millis(150));
    sandbox.write("layouts/fence.kdl", BLOCKED);
    watching.expect("layouts/fence.kdl added: rebuilt in ");
}

#[test]
fn first_build_and_each_change_print_one_line() {
    let sandbox = project();
    let mut watching = Watching::start(&sandbox, ".", &[]);
    let line = watching.expect("built in ");
    assert!(line.ends_with(" ms: 1 tensor; 4 outputs: 4 written"), "{line}");
    sandbox.write("layouts/a.kdl", &wide(12));
    let line = watching.expect("layouts/a.kdl changed: rebuilt in ");
    assert!(line.ends_with(" ms: 1 tensor; 4 outputs: 3 written, 1 unchanged"), "{line}");
    sandbox.run(&["build", "--check"]).success();
    watching.wait_for_message("watching for changes; press Ctrl-C to stop\n");
}

#[test]
fn an_error_is_shown_until_the_manifest_is_fixed() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("layouts/a.kdl", BROKEN);
    watching.expect("layouts/a.kdl changed: 1 error in ");
    watching.wait_for_message("\nerror[map::not_injective]: ");
    sandbox.write("layouts/a.kdl", &wide(16));
    let line = watching.expect("layouts/a.kdl changed: fixed in ");
    assert!(line.ends_with("1 tensor; 4 outputs: 3 written, 1 unchanged"), "{line}");
    sandbox.run(&["build", "--check"]).success();
}

#[test]
fn invalid_project_is_watched_until_fixed() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let mut watching = Watching::start(&sandbox, ".", &[]);
    watching.expect("1 error in ");
    sandbox.write("layouts/a.kdl", BLOCKED);
    watching.expect("layouts/a.kdl changed: fixed in ");
}

#[test]
fn unrelated_and_unchanged_files_rebuild_nothing() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("layouts/a.kdl", BLOCKED);
    sandbox.write("layouts/notes.txt", "no manifest");
    sandbox.write("other/b.kdl", BLOCKED);
    sandbox.write("layouts/.hidden.kdl", BROKEN);
    sandbox.write("generated/c/mine.h", "int mine;\n");
    sandbox.write("generated/c/b.kdl", BROKEN);
    nothing_was_built(&sandbox, &mut watching);
}

#[test]
fn a_used_manifest_outside_the_sources_is_an_input() {
    let sandbox = project();
    let shared = "const W 8\n";
    sandbox.write("shared/sizes.kdl", shared);
    let uses = BLOCKED.replace("w 8", "w W");
    sandbox.write("layouts/a.kdl", &format!("use \"../shared/sizes.kdl\"\n{uses}"));
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("shared/sizes.kdl", "const W 12\n");
    watching.expect("shared/sizes.kdl changed: rebuilt in ");
    // A newly used manifest is watched from now on.
    sandbox.write("more/sizes.kdl", shared);
    sandbox.write("layouts/a.kdl", &format!("use \"../more/sizes.kdl\"\n{uses}"));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    sandbox.write("more/sizes.kdl", "const W 16\n");
    watching.expect("more/sizes.kdl changed: rebuilt in ");
    // The other one is no longer watched.
    sandbox.write("shared/sizes.kdl", shared);
    nothing_was_built(&sandbox, &mut watching);
}

#[test]
fn missing_used_manifest_is_watched() {
    let sandbox = project();
    let uses = BLOCKED.replace("w 8", "w W");
    sandbox.write("layouts/a.kdl", &format!("use \"../shared/sizes.kdl\"\n{uses}"));
    let mut watching = Watching::start(&sandbox, ".", &[]);
    watching.next();
    watching.wait_for_message("error[name::file]");
    sandbox.write("shared/sizes.kdl", "const W 8\n");
    watching.expect("shared/sizes.kdl added: fixed in ");
}

#[test]
fn added_manifests_are_built_and_removed_ones_cleaned_up() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("layouts/new/deep/b.kdl", BLOCKED);
    watching.expect("layouts/new/deep/b.kdl added: rebuilt in ");
    assert!(sandbox.read("generated/c/new/deep/b.h").is_some());
    fs::remove_dir_all(sandbox.path("layouts/new")).expect("gone");
    let line = watching.expect("layouts/new/deep/b.kdl removed: rebuilt in ");
    assert!(line.ends_with("7 outputs: 4 unchanged, 3 removed"), "{line}");
    assert!(!sandbox.path("generated/c/new").exists());
}

#[test]
fn project_template_is_an_input() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("templates/c/header.h.j2", "// one\n");
    watching.expect("templates/c/header.h.j2 added: rebuilt in ");
    sandbox.write("templates/c/header.h.j2", "// two\n");
    watching.expect("templates/c/header.h.j2 changed: rebuilt in ");
    assert!(sandbox.read("generated/c/a.h").is_some_and(|text| text.ends_with("// two\n")));
    sandbox.write("templates/c/header.h.j2", "{{ nothing_of_this_name }}\n");
    watching.expect("templates/c/header.h.j2 changed: 1 error in ");
    fs::remove_dir_all(sandbox.path("templates")).expect("gone");
    watching.expect("templates/c/header.h.j2 removed: fixed in ");
}

#[test]
fn invalid_configuration_keeps_the_watch_running() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("layoutc.toml", "[project\n");
    watching.expect("layoutc.toml changed: ");
    watching.wait_for_message("error[config::syntax]");
    sandbox.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: ");
    sandbox.write("layoutc.toml", "[project]\nprefix = \"p_\"\n");
    watching.expect("layoutc.toml changed: fixed in ");
    assert!(sandbox.read("generated/c/a.h").is_some_and(|text| text.contains("p_t_offset")));
}

#[test]
fn changed_sources_folder_is_watched() {
    let sandbox = project();
    sandbox.write("kernels/k.kdl", BLOCKED);
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("layoutc.toml", "[project]\nsources = [\"kernels/*.kdl\"]\n");
    let causes = "kernels/k.kdl added, layoutc.toml changed, layouts/a.kdl removed";
    watching.expect(&format!("{causes}: rebuilt in "));
    sandbox.write("kernels/k.kdl", &wide(12));
    watching.expect("kernels/k.kdl changed: rebuilt in ");
    sandbox.write("layouts/a.kdl", BROKEN);
    thread::sleep(Duration::from_millis(150));
    sandbox.write("kernels/l.kdl", BLOCKED);
    watching.expect("kernels/l.kdl added: rebuilt in ");
}

#[test]
fn removed_and_recreated_sources_folder_is_rebuilt() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    for w in [12, 16] {
        fs::remove_dir_all(sandbox.path("layouts")).expect("gone");
        watching.expect("layouts/a.kdl removed: 1 error in ");
        watching.wait_for_message("error[config::no_sources]");
        sandbox.write("layouts/a.kdl", &wide(w));
        watching.expect("layouts/a.kdl added: fixed in ");
        sandbox.run(&["build", "--check"]).success();
    }
    // Another folder takes its place immediately.
    sandbox.write("next/a.kdl", &wide(20));
    fs::rename(sandbox.path("layouts"), sandbox.path("before")).expect("renamed");
    fs::rename(sandbox.path("next"), sandbox.path("layouts")).expect("renamed");
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    sandbox.write("layouts/a.kdl", &wide(24));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
}

#[test]
fn removed_project_folder_is_watched_until_restored() {
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    let mut watching = Watching::start(&sandbox, "p", &[]);
    watching.expect("built in ");
    fs::rename(sandbox.path("p"), sandbox.path("q")).expect("renamed");
    assert!(watching.next().contains(" removed: 1 error in "));
    watching.wait_for_message("error[output::io]: cannot find `");
    fs::rename(sandbox.path("q"), sandbox.path("p")).expect("renamed");
    assert!(watching.next().contains(" added: fixed in "));
    fs::remove_dir_all(sandbox.path("p")).expect("gone");
    assert!(watching.next().contains(" removed: 1 error in "));
    let before = cpu_ticks(watching.id());
    thread::sleep(Duration::from_millis(300));
    assert!(cpu_ticks(watching.id()) - before <= 3, "it is busy while it waits");
    sandbox.write("p/layoutc.toml", "");
    sandbox.write("p/layouts/a.kdl", &wide(12));
    wait_for("the rebuild", || watching.next().contains("fixed in").then_some(()));
    sandbox.run_in("p", &["build", "--check"], "").success();
}

/// CPU time of a process, in hundredths of a second; 0 if unknown.
fn cpu_ticks(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields.iter().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum()
}

#[test]
fn rapid_changes_converge_to_the_last_state() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    let noise = sandbox.path("layouts/noise.txt");
    for k in 0..3_000 {
        fs::write(&noise, k.to_string()).expect("written");
    }
    for _ in 0..200 {
        sandbox.write("layouts/a.kdl", &wide(12));
        sandbox.write("layouts/a.kdl", &wide(16));
    }
    let mut builds = 0;
    wait_for("the last state", || {
        watching.expect("layouts/a.kdl changed: rebuilt in ");
        builds += 1;
        (sandbox.run(&["build", "--check"]).code == Some(0)).then_some(())
    });
    assert!(builds <= 5, "{builds}");
    nothing_was_built(&sandbox, &mut watching);
}

#[test]
fn edited_output_is_refused_until_removed() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    let edited = sandbox.read("generated/c/a.h").expect("there") + "int mine;\n";
    sandbox.write("generated/c/a.h", &edited);
    sandbox.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: 1 error in ");
    watching.wait_for_message("error[output::edited]: `generated/c/a.h` was edited");
    fs::remove_file(sandbox.path("generated/c/a.h")).expect("gone");
    watching.expect("fixed in ");
    sandbox.run(&["build", "--check"]).success();
    nothing_was_built(&sandbox, &mut watching);
}

#[test]
fn outputs_may_be_written_among_the_inputs() {
    let sandbox = Sandbox::new(&[
        ("layoutc.toml", "[project]\nout-dir = \".\"\nsources = [\"**/*.kdl\"]\n"),
        ("a.kdl", BLOCKED),
    ]);
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("deep/b.kdl", BLOCKED);
    watching.expect("deep/b.kdl added: rebuilt in ");
    sandbox.write("c/deep/b.kdl", BROKEN);
    watching.expect("c/deep/b.kdl added: 1 error in ");
}

#[cfg(target_os = "linux")]
#[test]
fn watch_falls_back_to_polling_with_a_message() {
    let sandbox = project();
    // In its own user namespace, the limit only affects this test.
    let inside = |script: &str, exe: &str| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", script, "sh", exe]).current_dir(sandbox.path("."));
        command
    };
    for (w, limit, reason) in [
        (12, "max_inotify_instances", "too many open files"),
        (
            16,
            "max_inotify_watches",
            "limit of watched folders reached: fs.inotify.max_user_watches",
        ),
    ] {
        let script = format!("echo 0 > /proc/sys/user/{limit}");
        let output = inside(&script, "").output();
        if !output.is_ok_and(|output| output.status.success()) {
            eprintln!("no user namespaces here: not tried");
            return;
        }
        let script = format!("{script} && exec \"$1\" watch");
        let mut watching = Watching::spawn(inside(&script, env!("CARGO_BIN_EXE_layoutc")));
        watching.expect("built in ");
        watching.wait_for_message("warning: cannot watch for changes (");
        watching.wait_for_message(reason);
        watching.wait_for_message("polling every 500 ms\n");
        sandbox.write("layouts/a.kdl", &wide(w));
        watching.expect("layouts/a.kdl changed: rebuilt in ");
    }
}

#[test]
fn json_rebuild_is_one_object_followed_by_diagnostics() {
    let sandbox = project();
    let mut watching = Watching::start(&sandbox, ".", &["--format", "json"]);
    let mut object = || -> Value { serde_json::from_str(&watching.next()).expect("JSON") };
    let first = object();
    assert_eq!((&first["version"], &first["kind"]), (&1.into(), &"rebuild".into()));
    assert_eq!((&first["tensors"], &first["errors"]), (&1.into(), &0.into()));
    assert_eq!(first["changed"], Value::Array(Vec::new()));
    assert_eq!(first["outputs"][1]["path"], "generated/c/a.h");
    assert_eq!(first["outputs"][1]["status"], "written");
    assert!(first["ms"].is_u64());
    sandbox.write("layouts/a.kdl", BROKEN);
    let second = object();
    assert_eq!((&second["kind"], &second["errors"]), (&"rebuild".into(), &1.into()));
    let changed = serde_json::json!([{ "path": "layouts/a.kdl", "how": "changed" }]);
    assert_eq!(second["changed"], changed);
    assert_eq!(object()["code"], "map::not_injective");
    assert_eq!(watching.err(), "");
}

#[test]
fn a_lone_manifest_and_a_folder_without_a_project_are_watched() {
    let sandbox = Sandbox::new(&[("here/one.kdl", BLOCKED)]);
    let mut watching = Watching::built(&sandbox, &["here/one.kdl"]);
    sandbox.write("here/other.kdl", BROKEN);
    sandbox.write("here/one.kdl", &wide(12));
    watching.expect("here/one.kdl changed: rebuilt in ");
    drop(watching);
    fs::remove_file(sandbox.path("here/other.kdl")).expect("gone");
    let mut watching = Watching::built(&sandbox, &["here"]);
    sandbox.write("here/deep/two.kdl", BLOCKED);
    watching.expect("here/deep/two.kdl added: rebuilt in ");
}

#[cfg(unix)]
#[test]
fn linked_manifest_is_watched_at_its_target() {
    let sandbox = project();
    sandbox.write("far/b.kdl", BLOCKED);
    std::os::unix::fs::symlink("../far/b.kdl", sandbox.path("layouts/b.kdl")).expect("a link");
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("far/b.kdl", &wide(12));
    watching.expect("layouts/b.kdl changed: rebuilt in ");
}

#[cfg(unix)]
#[test]
fn linked_folder_is_watched_at_its_target() {
    use std::os::unix::fs::symlink;
    let sandbox = project();
    sandbox.write("far/b.kdl", BLOCKED);
    sandbox.write("far/README", "empty otherwise");
    let mut watching = Watching::built(&sandbox, &[]);
    // Twice: a new link, and one that is restored.
    for _ in 0..2 {
        symlink("../far", sandbox.path("layouts/more")).expect("a link");
        watching.expect("layouts/more/b.kdl added: rebuilt in ");
        sandbox.write("far/c.kdl", BLOCKED);
        watching.expect("layouts/more/c.kdl added: rebuilt in ");
        sandbox.write("far/deep/d.kdl", BLOCKED);
        watching.expect("layouts/more/deep/d.kdl added: rebuilt in ");
        fs::remove_dir_all(sandbox.path("far/deep")).expect("gone");
        watching.expect("layouts/more/deep/d.kdl removed: rebuilt in ");
        fs::remove_file(sandbox.path("far/c.kdl")).expect("gone");
        watching.expect("layouts/more/c.kdl removed: rebuilt in ");
        fs::remove_file(sandbox.path("layouts/more")).expect("gone");
        watching.expect("layouts/more/b.kdl removed: rebuilt in ");
    }
    nothing_was_built(&sandbox, &mut watching);
}

#[cfg(unix)]
#[test]
fn targets_of_links_may_vanish_and_reappear() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    sandbox.write("far/f/f.kdl", BLOCKED);
    fs::create_dir(sandbox.path("p/links")).expect("a folder");
    // A chain of links, and dangling links.
    symlink("../../far/f", sandbox.path("p/links/chain")).expect("a link");
    symlink("../links/chain", sandbox.path("p/layouts/c")).expect("a link");
    symlink("../../far/n.kdl", sandbox.path("p/layouts/n.kdl")).expect("a link");
    symlink("../../far/n", sandbox.path("p/layouts/n")).expect("a link");
    let mut watching = Watching::start(&sandbox, "p", &[]);
    watching.expect("built in ");
    for w in [12, 16] {
        fs::remove_file(sandbox.path("p/links/chain")).expect("gone");
        watching.expect("layouts/c/f.kdl removed: rebuilt in ");
        symlink("../../far/f", sandbox.path("p/links/chain")).expect("a link");
        watching.expect("layouts/c/f.kdl added: rebuilt in ");
        fs::rename(sandbox.path("far/f"), sandbox.path("far/ff")).expect("renamed");
        watching.expect("layouts/c/f.kdl removed: rebuilt in ");
        fs::rename(sandbox.path("far/ff"), sandbox.path("far/f")).expect("renamed");
        watching.expect("layouts/c/f.kdl added: rebuilt in ");
        sandbox.write("far/f/f.kdl", &wide(w));
        watching.expect("layouts/c/f.kdl changed: rebuilt in ");
        sandbox.write("far/n.kdl", &wide(w));
        watching.expect("layouts/n.kdl added: rebuilt in ");
        sandbox.write("far/n.kdl", BLOCKED);
        watching.expect("layouts/n.kdl changed: rebuilt in ");
        fs::remove_file(sandbox.path("far/n.kdl")).expect("gone");
        watching.expect("layouts/n.kdl removed: rebuilt in ");
        sandbox.write("far/n/deep/m.kdl", BLOCKED);
        watching.expect("layouts/n/deep/m.kdl added: rebuilt in ");
        fs::remove_dir_all(sandbox.path("far/n")).expect("gone");
        watching.expect("layouts/n/deep/m.kdl removed: rebuilt in ");
    }
}

#[cfg(unix)]
#[test]
fn missing_used_manifest_behind_links_is_watched() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new(&[("p/layoutc.toml", "")]);
    sandbox.write("p/layouts/a.kdl", &format!("use \"../shared/deep/c.kdl\"\n{BLOCKED}"));
    sandbox.write("far/d/c.kdl", "const LANES 4\n");
    fs::create_dir(sandbox.path("far/s")).expect("a folder");
    symlink("../d", sandbox.path("far/s/deep")).expect("a link");
    symlink("../far/s", sandbox.path("p/shared")).expect("a link");
    let mut watching = Watching::start(&sandbox, "p", &[]);
    watching.expect("built in ");
    for (from, to) in [("far/d", "far/dd"), ("far/s", "far/ss"), ("p/shared", "p/other")] {
        fs::rename(sandbox.path(from), sandbox.path(to)).expect("renamed");
        watching.expect("shared/deep/c.kdl removed: 1 error in ");
        watching.wait_for_message("error[name::file]");
        fs::rename(sandbox.path(to), sandbox.path(from)).expect("renamed");
        watching.expect("shared/deep/c.kdl added: fixed in ");
    }
}

#[cfg(unix)]
#[test]
fn linked_sources_folder_is_watched() {
    let sandbox = Sandbox::new(&[("layoutc.toml", ""), ("far/a.kdl", BLOCKED)]);
    std::os::unix::fs::symlink("far", sandbox.path("layouts")).expect("a link");
    let mut watching = Watching::built(&sandbox, &[]);
    sandbox.write("far/b.kdl", BLOCKED);
    watching.expect("layouts/b.kdl added: rebuilt in ");
    sandbox.write("near/a.kdl", BLOCKED);
    std::os::unix::fs::symlink("near", sandbox.path("next")).expect("a link");
    fs::rename(sandbox.path("next"), sandbox.path("layouts")).expect("replaced");
    watching.expect("layouts/b.kdl removed: rebuilt in ");
    sandbox.write("near/c.kdl", BLOCKED);
    watching.expect("layouts/c.kdl added: rebuilt in ");
}

#[test]
fn poll_option_polls_the_inputs() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &["--poll"]);
    watching.wait_for_message("polling for changes every 500 ms\n");
    sandbox.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    sandbox.write("layouts/new/b.kdl", BLOCKED);
    watching.expect("layouts/new/b.kdl added: rebuilt in ");
}

#[test]
fn ctrl_c_ends_it_quickly() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &[]);
    let (code, took) = watching.interrupt();
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn unfixable_errors_end_the_watch() {
    let sandbox = project();
    for args in [&["watch", "gone.kdl"][..], &["watch", "--target", "fortran"]] {
        assert_eq!(sandbox.run(args).failure().0, Some(2), "{args:?}");
    }
    let sandbox = Sandbox::new(&[]);
    assert_eq!(sandbox.run(&["watch"]).failure().0, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn exec_commands_run_serially_after_valid_builds() {
    let sandbox = Sandbox::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    // Each command records its process group, then runs forever, in the shell and in a child of it.
    let command = "echo $$ >> ../ran; trap '' INT; sleep 1000 & sleep 1000";
    let mut watching = Watching::start(&sandbox, "p", &["--exec", command]);
    watching.expect("built in ");
    let ran = |count: usize| {
        wait_for("the command", || {
            let ids = sandbox.read("ran").unwrap_or_default();
            let ids: Vec<String> = ids.lines().map(str::to_owned).collect();
            (ids.len() == count).then_some(ids)
        })
    };
    ran(1);
    sandbox.write("p/layouts/a.kdl", BROKEN);
    watching.expect("layouts/a.kdl changed: 1 error in ");
    sandbox.write("p/layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: fixed in ");
    let ids = ran(2);
    assert!(!is_alive(&ids[0]), "the first one goes on");
    assert!(is_alive(&ids[1]));
    assert_eq!(watching.interrupt().0, Some(130));
    assert!(!is_alive(&ids[1]), "the second one goes on");
}

/// Returns true if a process of the group is still running.
#[cfg(target_os = "linux")]
fn is_alive(group: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("there").flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    // After the name in parentheses: state, parent, group.
    let mut rests = stats.filter_map(|stat| stat.rsplit_once(')').map(|(_, rest)| rest.to_owned()));
    rests.any(|rest| {
        let fields: Vec<&str> = rest.split_whitespace().take(3).collect();
        fields.get(2) == Some(&group) && fields.first() != Some(&"Z")
    })
}

#[test]
fn a_failing_command_is_reported_and_the_watch_continues() {
    let sandbox = project();
    let mut watching = Watching::built(&sandbox, &["--exec", "exit 3"]);
    watching.wait_for_message("`exit 3` ended with exit code 3\n");
    sandbox.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
}

#[test]
fn exec_command_output_is_not_mixed_into_json() {
    let sandbox = project();
    let mut watching =
        Watching::start(&sandbox, ".", &["--format", "json", "--exec", "echo hello"]);
    assert!(watching.next().starts_with('{'));
    watching.wait_for_message("hello\n");
    sandbox.write("layouts/a.kdl", &wide(12));
    assert!(watching.next().starts_with('{'));
}
