//! `layoutc lock`: writes the layout ABI of each project to its `layoutc.lock`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::build::{LockFileUpdate, lock_files};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::output::OverwritePolicy;
use crate::report::counted;

use super::CommandOutcome;

/// Writes the lock file of each project of `paths`, and prints the path, the status and the number of tensors of each.
/// `is_forced` allows to overwrite files that were edited or that layoutc did not write.
pub(crate) fn run(
    paths: &[PathBuf],
    is_forced: bool,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let strictness =
        if is_forced { OverwritePolicy::Overwrite } else { OverwritePolicy::KeepForeign };
    let (report, files) = lock_files(paths, strictness, console)?;
    let ending = CommandOutcome::of(&report);
    if ending == CommandOutcome::Success {
        show(&files, console);
    }
    report.print(console);
    Ok(ending)
}

fn show(files: &[LockFileUpdate], console: &mut Console) {
    match console.format {
        ReportFormat::Json => {
            let file = |file: &LockFileUpdate| json!({ "path": file.path, "tensors": file.tensors, "status": file.status.word() });
            let files: Vec<Value> = files.iter().map(file).collect();
            console
                .result(&format!("{}\n", json!({ "version": 1, "kind": "lock", "files": files })));
        }
        ReportFormat::Text if !console.quiet => {
            for file in files {
                let tensors = counted(file.tensors, "tensor");
                console.result(&format!("{:9}  {}: {tensors}\n", file.status.word(), file.path));
            }
        }
        ReportFormat::Text => {}
    }
}
