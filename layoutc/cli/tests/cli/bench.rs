use serde_json::Value;

use crate::sandbox::{BROKEN, Sandbox};

const TWO: &str = "tensor a dtype=f32 { shape { n 8; c 32; w 64 } }\n\
                   tensor b like=a { layout { order n w c } }\nconvert a to=b\n";

/// A sandbox whose temporary files are in its own folder `tmp`.
fn bench(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, String, String) {
    sandbox.write("tmp/keep", "");
    let mut command = sandbox.command(".", &[&["bench"], args].concat());
    let ran = command.env("TMPDIR", sandbox.path("tmp")).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(sandbox.files("tmp"), ["tmp/keep"], "what was made is removed");
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn every_relayout_is_timed() {
    let sandbox = Sandbox::new(&[("a.kdl", TWO)]);
    let (code, out, err) = bench(&sandbox, &["a.kdl", "--seconds", "0.002"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let first: Vec<&str> = out.lines().map(|l| l.split_whitespace().next().unwrap_or("")).collect();
    assert_eq!(first, ["routine", "a_pack", "a_unpack", "b_pack", "b_unpack", "a_to_b"]);
    assert!(!sandbox.path("generated").exists());
}

#[test]
fn only_selects_routines_by_substring_with_json_results() {
    let sandbox = Sandbox::new(&[("a.kdl", TWO), ("b.kdl", TWO)]);
    let args = ["a.kdl", "b.kdl", "--only", "to_b", "--seconds", "0.002", "--format", "json"];
    let (code, out, _) = bench(&sandbox, &args);
    assert_eq!(code, Some(0));
    let objects: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let files: Vec<&Value> = objects.iter().map(|object| &object["file"]).collect();
    assert_eq!(files, ["a.kdl", "b.kdl"]);
    for object in &objects {
        assert_eq!((&object["kind"], &object["routine"]), (&"bench".into(), &"a_to_b".into()));
        assert_eq!(object["bytes"], 65536);
        for figure in ["seconds", "gb_per_second", "of_memcpy"] {
            assert!(object[figure].as_f64() > Some(0.0), "{figure}: {object}");
        }
    }
    let (code, _, err) = bench(&sandbox, &["a.kdl", "--only", "nothing"]);
    assert_eq!((code, err.as_str()), (Some(0), "note: no matching routine in `a.kdl`\n"));
}

#[test]
fn kernels_are_timed_after_relayouts_with_operation_counts() {
    let kernel = "kernel add { compute \"b[n, c, w] = 2 * a[n, c, w] + b[n, c, w]\" }\n";
    let sandbox = Sandbox::new(&[("a.kdl", &format!("{TWO}{kernel}"))]);
    let (code, out, err) = bench(&sandbox, &["a.kdl", "--seconds", "0.002"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let last: Vec<&str> = out.lines().rev().take(3).collect();
    assert!(last[0].starts_with("add  "), "{out}");
    let head = ["kernel", "MiB", "GB/s", "spread", "Gop/s", "Melements/s"];
    assert_eq!(last[1].split_whitespace().collect::<Vec<_>>(), head);
    assert!(last[2].starts_with("a_to_b  "), "{out}");
    let args = ["a.kdl", "--only", "add", "--seconds", "0.002", "--format", "json"];
    let (_, out, _) = bench(&sandbox, &args);
    let object: Value = serde_json::from_str(out.trim_end()).expect("one object");
    assert_eq!((&object["kind"], &object["kernel"]), (&"bench".into(), &"add".into()));
    assert_eq!(
        [&object["bytes"], &object["elements"], &object["operations"]],
        [131_072, 16384, 32768]
    );
    for figure in ["seconds", "gb_per_second", "elements_per_second", "gop_per_second"] {
        assert!(object[figure].as_f64() > Some(0.0), "{figure}: {object}");
    }
}

#[test]
fn scheduled_instances_are_timed_with_the_planners_schedule_too() {
    let kernel = "kernel add {\n    operands a b\n    compute \"b[n, c, w] = 2 * a[n, c, w]\"\n}\n\
                  instance plain of=add a=a b=b\n\
                  instance reversed of=add a=a b=b { loops w n }\n\
                  instance rows of=add a=a b=b { vectorize c }\n\
                  instance rows_auto of=add a=a b=b\n";
    let sandbox = Sandbox::new(&[("a.kdl", &format!("{TWO}{kernel}"))]);
    let (code, out, err) = bench(&sandbox, &["a.kdl", "--seconds", "0.002"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let kernels = out.lines().skip_while(|line| !line.starts_with("kernel ")).skip(1);
    let names: Vec<&str> = kernels.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["plain", "reversed", "reversed_auto", "rows", "rows_auto"], "{out}");
}

#[test]
fn configuration_and_project_templates_apply() {
    let config = "[project]\nsources = [\"*.kdl\"]\nprefix = \"net_\"\n[target.c]\nopenmp = true\n";
    let sandbox = Sandbox::new(&[("a.kdl", TWO), ("layoutc.toml", config)]);
    let (code, out, err) = bench(&sandbox, &["--seconds", "0.002", "--only", "to"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("net_a_to_b "), "{out}");
    sandbox.write("templates/c/source.c.j2", "{{ nothing.there }}\n");
    let (code, _, err) = bench(&sandbox, &["--seconds", "0.002"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("templates/c/source.c.j2:1:"), "{err}");
    sandbox.write("templates/c/source.c.j2", "#error mine\n");
    let (code, _, err) = bench(&sandbox, &["--seconds", "0.002"]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("failed to compile c/a.c and c/bench/a_bench.c") && err.contains("mine"),
        "{err}"
    );
}

#[test]
fn benchmark_failures_are_reported() {
    let sandbox = Sandbox::new(&[("a.kdl", TWO), ("b.kdl", BROKEN)]);
    let (code, _, err) = bench(&sandbox, &["a.kdl", "--cc", "no_such_compiler"]);
    assert_eq!(code, Some(3));
    assert!(
        err.starts_with("error[output::io]: cannot run the C compiler `no_such_compiler`"),
        "{err}"
    );
    let (code, _, err) = bench(&sandbox, &["a.kdl", "--cflags", "-fno-such-flag"]);
    assert_eq!(code, Some(3));
    assert!(err.contains("no-such-flag"), "{err}");
    let (code, out, err) = bench(&sandbox, &["b.kdl"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("map::not_injective"), "{err}");
    let (code, ..) = bench(&sandbox, &["a.kdl", "--seconds", "0"]);
    assert_eq!(code, Some(2));
}

#[cfg(unix)]
#[test]
fn compiler_path_may_contain_blanks_or_flags() {
    use std::os::unix::fs::PermissionsExt;

    let sandbox = Sandbox::new(&[("a.kdl", TWO)]);
    sandbox.write("my tools/cc", "#!/bin/sh\nexec cc \"$@\"\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("my tools/cc"), executable).expect("set");
    sandbox.write("own/own.h", "#define OWN 1\n");
    let flags = "-O1 -I own -include own.h";
    for cc in ["./my tools/cc", "cc -DMINE=1"] {
        let args =
            ["a.kdl", "--seconds", "0.002", "--only", "a_to_b", "--cc", cc, "--cflags", flags];
        let (code, out, err) = bench(&sandbox, &args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{cc}");
        assert!(out.contains("a_to_b"), "{out}");
    }
}
