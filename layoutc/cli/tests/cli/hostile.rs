//! Hostile templates: the sandbox process bounds what the renderer cannot.

use std::process::Command;
use std::time::Instant;

use crate::hostile_templates::{CONFINED, FINE, HOSTILE, hostile_template};
use crate::world::{BLOCKED, World};

#[test]
fn every_hostile_template_ends_in_a_diagnostic_and_leaves_no_output() {
    let mut wrong = Vec::new();
    // Some take many seconds: a few of each kind, unless all are requested.
    let full = std::env::var("LAYOUTC_FULL").is_ok_and(|value| value == "1");
    let some = |name: &str, at: usize| {
        full || at.is_multiple_of(if CONFINED.contains(&name) { 6 } else { 24 })
    };
    let asked = HOSTILE.iter().enumerate().filter(|(at, (name, _))| some(name, *at));
    for (_, (name, _)) in asked {
        let template = hostile_template(name);
        let world = World::new(&[
            ("layoutc.toml", ""),
            ("layouts/a.kdl", BLOCKED),
            ("templates/c/header.h.j2", &template),
        ]);
        let start = Instant::now();
        // Limits for a binary that renders what it should not.
        let script = "ulimit -v 6000000; exec timeout 100 \"$0\" build --format json";
        let ran = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_layoutc")])
            .current_dir(world.path("."))
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let told = said.contains("\"code\":\"template::");
        let good = match ran.status.code() {
            Some(0) => FINE.contains(name),
            Some(1) => told && world.files("generated").is_empty(),
            _ => false,
        };
        let seconds = start.elapsed().as_secs_f64();
        if !good || seconds > 60.0 {
            let said: String = said.chars().take(300).collect();
            let confined = if CONFINED.contains(name) { " (confined)" } else { "" };
            wrong.push(format!("{name}{confined}: {} in {seconds:.1} s: {said}", ran.status));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), HOSTILE.len(), wrong.join("\n"));
}
