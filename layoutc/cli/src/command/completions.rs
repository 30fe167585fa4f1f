//! `layoutc completions`: completion scripts for shells.

use clap_complete::{Shell, generate};
use serde_json::json;

use crate::args;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;

pub(crate) fn run(shell: Shell, console: &mut Console) -> CommandOutcome {
    let mut script = Vec::new();
    generate(shell, &mut args::command(), "layoutc", &mut script);
    match console.format {
        ReportFormat::Json => {
            let name = shell.to_string();
            let text = String::from_utf8_lossy(&script);
            let object =
                json!({ "version": 1, "kind": "completions", "shell": name, "text": text });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text => console.bytes(&script),
    }
    CommandOutcome::Success
}
