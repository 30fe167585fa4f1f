use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::waiting::wait_for;
use crate::watching::Watching;
use crate::world::{BLOCKED, BROKEN, World};

fn project() -> World {
    World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BLOCKED)])
}

/// A manifest with a tensor of width `w`.
fn wide(w: u32) -> String {
    BLOCKED.replace("w 8", &format!("w {w}"))
}

/// Checks that nothing was built: the next line is about this change.
fn nothing_was_built(world: &World, watching: &mut Watching) {
    thread::sleep(Duration::from_millis(150));
    world.write("layouts/fence.kdl", BLOCKED);
    watching.expect("layouts/fence.kdl added: rebuilt in ");
}

#[test]
fn the_first_line_is_of_the_first_build_and_the_next_of_a_change() {
    let world = project();
    let mut watching = Watching::start(&world, ".", &[]);
    let line = watching.expect("built in ");
    assert!(line.ends_with(" ms: 1 tensor; 3 outputs: 3 written"), "{line}");
    world.write("layouts/a.kdl", &wide(12));
    let line = watching.expect("layouts/a.kdl changed: rebuilt in ");
    assert!(line.ends_with(" ms: 1 tensor; 3 outputs: 3 written"), "{line}");
    world.run(&["build", "--check"]).good();
    watching.told("watching for changes; press Ctrl-C to stop\n");
}

#[test]
fn a_broken_manifest_is_shown_and_the_next_good_one_said_to_be_good_again() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    world.write("layouts/a.kdl", BROKEN);
    watching.expect("layouts/a.kdl changed: 1 error in ");
    watching.told("\nerror[map::not_injective]: ");
    world.write("layouts/a.kdl", &wide(16));
    let line = watching.expect("layouts/a.kdl changed: fixed in ");
    assert!(line.ends_with("1 tensor; 3 outputs: 3 written"), "{line}");
    world.run(&["build", "--check"]).good();
}

#[test]
fn a_project_that_is_broken_from_the_start_is_watched() {
    let world = World::new(&[("layoutc.toml", ""), ("layouts/a.kdl", BROKEN)]);
    let mut watching = Watching::start(&world, ".", &[]);
    watching.expect("1 error in ");
    world.write("layouts/a.kdl", BLOCKED);
    watching.expect("layouts/a.kdl changed: fixed in ");
}

#[test]
fn what_is_no_input_and_what_is_written_again_the_same_builds_nothing() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    world.write("layouts/a.kdl", BLOCKED);
    world.write("layouts/notes.txt", "no manifest");
    world.write("other/b.kdl", BLOCKED);
    world.write("layouts/.hidden.kdl", BROKEN);
    world.write("generated/c/mine.h", "int mine;\n");
    world.write("generated/c/b.kdl", BROKEN);
    nothing_was_built(&world, &mut watching);
}

#[test]
fn a_used_manifest_outside_the_sources_is_an_input() {
    let world = project();
    let shared = "const W 8\n";
    world.write("shared/sizes.kdl", shared);
    let uses = BLOCKED.replace("w 8", "w W");
    world.write("layouts/a.kdl", &format!("use \"../shared/sizes.kdl\"\n{uses}"));
    let mut watching = Watching::built(&world, &[]);
    world.write("shared/sizes.kdl", "const W 12\n");
    watching.expect("shared/sizes.kdl changed: rebuilt in ");
    // A newly used manifest is watched from now on.
    world.write("more/sizes.kdl", shared);
    world.write("layouts/a.kdl", &format!("use \"../more/sizes.kdl\"\n{uses}"));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    world.write("more/sizes.kdl", "const W 16\n");
    watching.expect("more/sizes.kdl changed: rebuilt in ");
    // The other one is no longer watched.
    world.write("shared/sizes.kdl", shared);
    nothing_was_built(&world, &mut watching);
}

#[test]
fn a_used_manifest_that_is_missing_is_waited_for() {
    let world = project();
    let uses = BLOCKED.replace("w 8", "w W");
    world.write("layouts/a.kdl", &format!("use \"../shared/sizes.kdl\"\n{uses}"));
    let mut watching = Watching::start(&world, ".", &[]);
    watching.next();
    watching.told("error[name::file]");
    world.write("shared/sizes.kdl", "const W 8\n");
    watching.expect("shared/sizes.kdl added: fixed in ");
}

#[test]
fn manifests_that_come_and_go_are_built_and_their_outputs_removed() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    world.write("layouts/new/deep/b.kdl", BLOCKED);
    watching.expect("layouts/new/deep/b.kdl added: rebuilt in ");
    assert!(world.read("generated/c/new/deep/b.h").is_some());
    fs::remove_dir_all(world.path("layouts/new")).expect("gone");
    let line = watching.expect("layouts/new/deep/b.kdl removed: rebuilt in ");
    assert!(line.ends_with("6 outputs: 3 unchanged, 3 removed"), "{line}");
    assert!(!world.path("generated/c/new").exists());
}

#[test]
fn a_template_of_the_projects_own_is_an_input() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    world.write("templates/c/header.h.j2", "// one\n");
    watching.expect("templates/c/header.h.j2 added: rebuilt in ");
    world.write("templates/c/header.h.j2", "// two\n");
    watching.expect("templates/c/header.h.j2 changed: rebuilt in ");
    assert!(world.read("generated/c/a.h").is_some_and(|text| text.ends_with("// two\n")));
    world.write("templates/c/header.h.j2", "{{ nothing_of_this_name }}\n");
    watching.expect("templates/c/header.h.j2 changed: 1 error in ");
    fs::remove_dir_all(world.path("templates")).expect("gone");
    watching.expect("templates/c/header.h.j2 removed: fixed in ");
}

#[test]
fn a_broken_configuration_leaves_the_watch_as_it_was() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    world.write("layoutc.toml", "[project\n");
    watching.expect("layoutc.toml changed: ");
    watching.told("error[config::syntax]");
    world.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: ");
    world.write("layoutc.toml", "[project]\nprefix = \"p_\"\n");
    watching.expect("layoutc.toml changed: fixed in ");
    assert!(world.read("generated/c/a.h").is_some_and(|text| text.contains("p_t_offset")));
}

#[test]
fn sources_of_another_folder_are_watched_from_then_on() {
    let world = project();
    world.write("kernels/k.kdl", BLOCKED);
    let mut watching = Watching::built(&world, &[]);
    world.write("layoutc.toml", "[project]\nsources = [\"kernels/*.kdl\"]\n");
    let causes = "kernels/k.kdl added, layoutc.toml changed, layouts/a.kdl removed";
    watching.expect(&format!("{causes}: rebuilt in "));
    world.write("kernels/k.kdl", &wide(12));
    watching.expect("kernels/k.kdl changed: rebuilt in ");
    world.write("layouts/a.kdl", BROKEN);
    thread::sleep(Duration::from_millis(150));
    world.write("kernels/l.kdl", BLOCKED);
    watching.expect("kernels/l.kdl added: rebuilt in ");
}

#[test]
fn a_sources_folder_that_goes_and_comes_back_is_built_again() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    for w in [12, 16] {
        fs::remove_dir_all(world.path("layouts")).expect("gone");
        watching.expect("layouts/a.kdl removed: 1 error in ");
        watching.told("error[config::no_sources]");
        world.write("layouts/a.kdl", &wide(w));
        watching.expect("layouts/a.kdl added: fixed in ");
        world.run(&["build", "--check"]).good();
    }
    // Another folder takes its place immediately.
    world.write("next/a.kdl", &wide(20));
    fs::rename(world.path("layouts"), world.path("before")).expect("renamed");
    fs::rename(world.path("next"), world.path("layouts")).expect("renamed");
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    world.write("layouts/a.kdl", &wide(24));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
}

#[test]
fn a_project_folder_that_goes_is_waited_for() {
    let world = World::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    let mut watching = Watching::start(&world, "p", &[]);
    watching.expect("built in ");
    fs::rename(world.path("p"), world.path("q")).expect("renamed");
    assert!(watching.next().contains(" removed: 1 error in "));
    watching.told("error[output::io]: cannot find `");
    fs::rename(world.path("q"), world.path("p")).expect("renamed");
    assert!(watching.next().contains(" added: fixed in "));
    fs::remove_dir_all(world.path("p")).expect("gone");
    assert!(watching.next().contains(" removed: 1 error in "));
    let before = cpu_ticks(watching.id());
    thread::sleep(Duration::from_millis(300));
    assert!(cpu_ticks(watching.id()) - before <= 3, "it is busy while it waits");
    world.write("p/layoutc.toml", "");
    world.write("p/layouts/a.kdl", &wide(12));
    wait_for("the rebuild", || watching.next().contains("fixed in").then_some(()));
    world.run_in("p", &["build", "--check"], "").good();
}

/// CPU time of a process, in hundredths of a second; 0 if unknown.
fn cpu_ticks(id: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields.iter().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum()
}

#[test]
fn a_storm_of_changes_ends_in_the_last_of_them() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    let noise = world.path("layouts/noise.txt");
    for k in 0..3_000 {
        fs::write(&noise, k.to_string()).expect("written");
    }
    for _ in 0..200 {
        world.write("layouts/a.kdl", &wide(12));
        world.write("layouts/a.kdl", &wide(16));
    }
    let mut builds = 0;
    wait_for("the last state", || {
        watching.expect("layouts/a.kdl changed: rebuilt in ");
        builds += 1;
        (world.run(&["build", "--check"]).code == Some(0)).then_some(())
    });
    assert!(builds <= 5, "{builds}");
    nothing_was_built(&world, &mut watching);
}

#[test]
fn an_edited_output_is_refused_until_it_is_taken_away() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    let edited = world.read("generated/c/a.h").expect("there") + "int mine;\n";
    world.write("generated/c/a.h", &edited);
    world.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: 1 error in ");
    watching.told("error[output::edited]: `generated/c/a.h` was edited");
    fs::remove_file(world.path("generated/c/a.h")).expect("gone");
    watching.expect("fixed in ");
    world.run(&["build", "--check"]).good();
    nothing_was_built(&world, &mut watching);
}

#[test]
fn outputs_may_be_written_among_the_inputs() {
    let world = World::new(&[
        ("layoutc.toml", "[project]\nout-dir = \".\"\nsources = [\"**/*.kdl\"]\n"),
        ("a.kdl", BLOCKED),
    ]);
    let mut watching = Watching::built(&world, &[]);
    world.write("deep/b.kdl", BLOCKED);
    watching.expect("deep/b.kdl added: rebuilt in ");
    world.write("c/deep/b.kdl", BROKEN);
    watching.expect("c/deep/b.kdl added: 1 error in ");
}

#[cfg(target_os = "linux")]
#[test]
fn where_the_system_reports_nothing_the_watch_says_so_and_looks() {
    let world = project();
    // In its own user namespace, the limit only affects this test.
    let inside = |script: &str, exe: &str| {
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", script, "sh", exe]).current_dir(world.path("."));
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
        watching.told("warning: cannot watch for changes (");
        watching.told(reason);
        watching.told("polling every 500 ms\n");
        world.write("layouts/a.kdl", &wide(w));
        watching.expect("layouts/a.kdl changed: rebuilt in ");
    }
}

#[test]
fn as_json_a_rebuild_is_one_object_and_its_diagnostics_follow() {
    let world = project();
    let mut watching = Watching::start(&world, ".", &["--format", "json"]);
    let mut object = || -> Value { serde_json::from_str(&watching.next()).expect("JSON") };
    let first = object();
    assert_eq!((&first["version"], &first["kind"]), (&1.into(), &"rebuild".into()));
    assert_eq!((&first["tensors"], &first["errors"]), (&1.into(), &0.into()));
    assert_eq!(first["changed"], Value::Array(Vec::new()));
    assert_eq!(first["outputs"][1]["path"], "generated/c/a.h");
    assert_eq!(first["outputs"][1]["status"], "written");
    assert!(first["ms"].is_u64());
    world.write("layouts/a.kdl", BROKEN);
    let second = object();
    assert_eq!((&second["kind"], &second["errors"]), (&"rebuild".into(), &1.into()));
    let changed = serde_json::json!([{ "path": "layouts/a.kdl", "how": "changed" }]);
    assert_eq!(second["changed"], changed);
    assert_eq!(object()["code"], "map::not_injective");
    assert_eq!(watching.err(), "");
}

#[test]
fn a_lone_manifest_and_a_folder_without_a_project_are_watched() {
    let world = World::new(&[("here/one.kdl", BLOCKED)]);
    let mut watching = Watching::built(&world, &["here/one.kdl"]);
    world.write("here/other.kdl", BROKEN);
    world.write("here/one.kdl", &wide(12));
    watching.expect("here/one.kdl changed: rebuilt in ");
    drop(watching);
    fs::remove_file(world.path("here/other.kdl")).expect("gone");
    let mut watching = Watching::built(&world, &["here"]);
    world.write("here/deep/two.kdl", BLOCKED);
    watching.expect("here/deep/two.kdl added: rebuilt in ");
}

#[cfg(unix)]
#[test]
fn a_manifest_behind_a_link_is_watched_where_it_is() {
    let world = project();
    world.write("far/b.kdl", BLOCKED);
    std::os::unix::fs::symlink("../far/b.kdl", world.path("layouts/b.kdl")).expect("a link");
    let mut watching = Watching::built(&world, &[]);
    world.write("far/b.kdl", &wide(12));
    watching.expect("layouts/b.kdl changed: rebuilt in ");
}

#[cfg(unix)]
#[test]
fn a_folder_behind_a_link_is_watched_where_it_is() {
    use std::os::unix::fs::symlink;
    let world = project();
    world.write("far/b.kdl", BLOCKED);
    world.write("far/README", "empty otherwise");
    let mut watching = Watching::built(&world, &[]);
    // Twice: a new link, and one that is restored.
    for _ in 0..2 {
        symlink("../far", world.path("layouts/more")).expect("a link");
        watching.expect("layouts/more/b.kdl added: rebuilt in ");
        world.write("far/c.kdl", BLOCKED);
        watching.expect("layouts/more/c.kdl added: rebuilt in ");
        world.write("far/deep/d.kdl", BLOCKED);
        watching.expect("layouts/more/deep/d.kdl added: rebuilt in ");
        fs::remove_dir_all(world.path("far/deep")).expect("gone");
        watching.expect("layouts/more/deep/d.kdl removed: rebuilt in ");
        fs::remove_file(world.path("far/c.kdl")).expect("gone");
        watching.expect("layouts/more/c.kdl removed: rebuilt in ");
        fs::remove_file(world.path("layouts/more")).expect("gone");
        watching.expect("layouts/more/b.kdl removed: rebuilt in ");
    }
    nothing_was_built(&world, &mut watching);
}

#[cfg(unix)]
#[test]
fn what_links_lead_to_may_go_and_come_back() {
    use std::os::unix::fs::symlink;
    let world = World::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    world.write("far/f/f.kdl", BLOCKED);
    fs::create_dir(world.path("p/links")).expect("a folder");
    // A chain of links, and dangling links.
    symlink("../../far/f", world.path("p/links/chain")).expect("a link");
    symlink("../links/chain", world.path("p/layouts/c")).expect("a link");
    symlink("../../far/n.kdl", world.path("p/layouts/n.kdl")).expect("a link");
    symlink("../../far/n", world.path("p/layouts/n")).expect("a link");
    let mut watching = Watching::start(&world, "p", &[]);
    watching.expect("built in ");
    for w in [12, 16] {
        fs::remove_file(world.path("p/links/chain")).expect("gone");
        watching.expect("layouts/c/f.kdl removed: rebuilt in ");
        symlink("../../far/f", world.path("p/links/chain")).expect("a link");
        watching.expect("layouts/c/f.kdl added: rebuilt in ");
        fs::rename(world.path("far/f"), world.path("far/ff")).expect("renamed");
        watching.expect("layouts/c/f.kdl removed: rebuilt in ");
        fs::rename(world.path("far/ff"), world.path("far/f")).expect("renamed");
        watching.expect("layouts/c/f.kdl added: rebuilt in ");
        world.write("far/f/f.kdl", &wide(w));
        watching.expect("layouts/c/f.kdl changed: rebuilt in ");
        world.write("far/n.kdl", &wide(w));
        watching.expect("layouts/n.kdl added: rebuilt in ");
        world.write("far/n.kdl", BLOCKED);
        watching.expect("layouts/n.kdl changed: rebuilt in ");
        fs::remove_file(world.path("far/n.kdl")).expect("gone");
        watching.expect("layouts/n.kdl removed: rebuilt in ");
        world.write("far/n/deep/m.kdl", BLOCKED);
        watching.expect("layouts/n/deep/m.kdl added: rebuilt in ");
        fs::remove_dir_all(world.path("far/n")).expect("gone");
        watching.expect("layouts/n/deep/m.kdl removed: rebuilt in ");
    }
}

#[cfg(unix)]
#[test]
fn a_used_manifest_behind_links_is_waited_for() {
    use std::os::unix::fs::symlink;
    let world = World::new(&[("p/layoutc.toml", "")]);
    world.write("p/layouts/a.kdl", &format!("use \"../shared/deep/c.kdl\"\n{BLOCKED}"));
    world.write("far/d/c.kdl", "const LANES 4\n");
    fs::create_dir(world.path("far/s")).expect("a folder");
    symlink("../d", world.path("far/s/deep")).expect("a link");
    symlink("../far/s", world.path("p/shared")).expect("a link");
    let mut watching = Watching::start(&world, "p", &[]);
    watching.expect("built in ");
    for (from, to) in [("far/d", "far/dd"), ("far/s", "far/ss"), ("p/shared", "p/other")] {
        fs::rename(world.path(from), world.path(to)).expect("renamed");
        watching.expect("shared/deep/c.kdl removed: 1 error in ");
        watching.told("error[name::file]");
        fs::rename(world.path(to), world.path(from)).expect("renamed");
        watching.expect("shared/deep/c.kdl added: fixed in ");
    }
}

#[cfg(unix)]
#[test]
fn manifests_come_to_a_sources_folder_that_is_a_link() {
    let world = World::new(&[("layoutc.toml", ""), ("far/a.kdl", BLOCKED)]);
    std::os::unix::fs::symlink("far", world.path("layouts")).expect("a link");
    let mut watching = Watching::built(&world, &[]);
    world.write("far/b.kdl", BLOCKED);
    watching.expect("layouts/b.kdl added: rebuilt in ");
    world.write("near/a.kdl", BLOCKED);
    std::os::unix::fs::symlink("near", world.path("next")).expect("a link");
    fs::rename(world.path("next"), world.path("layouts")).expect("replaced");
    watching.expect("layouts/b.kdl removed: rebuilt in ");
    world.write("near/c.kdl", BLOCKED);
    watching.expect("layouts/c.kdl added: rebuilt in ");
}

#[test]
fn without_reports_the_inputs_are_looked_at_again_and_again() {
    let world = project();
    let mut watching = Watching::built(&world, &["--poll"]);
    watching.told("polling for changes every 500 ms\n");
    world.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
    world.write("layouts/new/b.kdl", BLOCKED);
    watching.expect("layouts/new/b.kdl added: rebuilt in ");
}

#[test]
fn ctrl_c_ends_it_quickly() {
    let world = project();
    let mut watching = Watching::built(&world, &[]);
    let (code, took) = watching.interrupt();
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn what_no_edit_mends_ends_it_at_once() {
    let world = project();
    for args in [&["watch", "gone.kdl"][..], &["watch", "--target", "fortran"]] {
        assert_eq!(world.run(args).refused().0, Some(2), "{args:?}");
    }
    let world = World::new(&[]);
    assert_eq!(world.run(&["watch"]).refused().0, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_runs_after_good_builds_only_and_one_at_a_time() {
    let world = World::new(&[("p/layoutc.toml", ""), ("p/layouts/a.kdl", BLOCKED)]);
    // Each command records its process group, then runs forever, in the shell and in a child of it.
    let command = "echo $$ >> ../ran; trap '' INT; sleep 1000 & sleep 1000";
    let mut watching = Watching::start(&world, "p", &["--exec", command]);
    watching.expect("built in ");
    let ran = |count: usize| {
        wait_for("the command", || {
            let ids = world.read("ran").unwrap_or_default();
            let ids: Vec<String> = ids.lines().map(str::to_owned).collect();
            (ids.len() == count).then_some(ids)
        })
    };
    ran(1);
    world.write("p/layouts/a.kdl", BROKEN);
    watching.expect("layouts/a.kdl changed: 1 error in ");
    world.write("p/layouts/a.kdl", &wide(12));
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
fn a_command_that_fails_is_told_and_the_watch_goes_on() {
    let world = project();
    let mut watching = Watching::built(&world, &["--exec", "exit 3"]);
    watching.told("`exit 3` ended with exit code 3\n");
    world.write("layouts/a.kdl", &wide(12));
    watching.expect("layouts/a.kdl changed: rebuilt in ");
}

#[test]
fn what_the_command_prints_stays_out_of_the_json() {
    let world = project();
    let mut watching = Watching::start(&world, ".", &["--format", "json", "--exec", "echo hello"]);
    assert!(watching.next().starts_with('{'));
    watching.told("hello\n");
    world.write("layouts/a.kdl", &wide(12));
    assert!(watching.next().starts_with('{'));
}
