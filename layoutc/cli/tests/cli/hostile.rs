//! Hostile templates: the sandbox process bounds what the renderer cannot.

use std::process::Command;
use std::time::Instant;

use crate::sandbox::{BLOCKED, Sandbox};
use layoutc_testing::hostile::{CONFINED, FINE, HOSTILE, hostile_template};
use layoutc_testing::is_full;

#[test]
fn hostile_templates_end_in_a_diagnostic_without_output() {
    let mut wrong = Vec::new();
    // Some take many seconds: a few of each kind, unless all are requested.
    let some = |name: &str, at: usize| {
        is_full() || at.is_multiple_of(if CONFINED.contains(&name) { 6 } else { 24 })
    };
    let selected = HOSTILE.iter().enumerate().filter(|(at, (name, _))| some(name, *at));
    for (_, (name, _)) in selected {
        let template = hostile_template(name);
        let sandbox = Sandbox::new(&[
            ("layoutc.toml", ""),
            ("layouts/a.kdl", BLOCKED),
            ("templates/c/header.h.j2", &template),
        ]);
        let start = Instant::now();
        // Limits for a binary that renders what it should not.
        let script = "ulimit -v 6000000; exec timeout 100 \"$0\" build --format json";
        let ran = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_layoutc")])
            .current_dir(sandbox.path("."))
            .output()
            .expect("it runs");
        let message = String::from_utf8_lossy(&ran.stdout).into_owned();
        let is_reported = message.contains("\"code\":\"template::");
        let is_expected = match ran.status.code() {
            Some(0) => FINE.contains(name),
            Some(1) => is_reported && sandbox.files("generated").is_empty(),
            _ => false,
        };
        let seconds = start.elapsed().as_secs_f64();
        if !is_expected || seconds > 60.0 {
            let message: String = message.chars().take(300).collect();
            let confined = if CONFINED.contains(name) { " (confined)" } else { "" };
            wrong.push(format!("{name}{confined}: {} in {seconds:.1} s: {message}", ran.status));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), HOSTILE.len(), wrong.join("\n"));
}
