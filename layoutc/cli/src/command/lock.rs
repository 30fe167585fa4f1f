//! `layoutc lock`: writes the layout ABI of each project to its `layoutc.lock`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::args::Format;
use crate::build::{Locking, lock_files};
use crate::console::Console;
use crate::fault::Fault;
use crate::output::Strictness;
use crate::report::counted;

use super::Ending;

/// Locks what PATHS name.
pub(crate) fn run(
    paths: &[PathBuf],
    is_forced: bool,
    console: &mut Console,
) -> Result<Ending, Fault> {
    let strictness = if is_forced { Strictness::Force } else { Strictness::Careful };
    let (report, files) = lock_files(paths, strictness, console)?;
    let ending = Ending::of(&report);
    if ending == Ending::Good {
        show(&files, console);
    }
    report.print(console);
    Ok(ending)
}

fn show(files: &[Locking], console: &mut Console) {
    match console.format {
        Format::Json => {
            let file = |file: &Locking| json!({ "path": file.path, "tensors": file.tensors, "status": file.status.word() });
            let files: Vec<Value> = files.iter().map(file).collect();
            console
                .result(&format!("{}\n", json!({ "version": 1, "kind": "lock", "files": files })));
        }
        Format::Text if !console.quiet => {
            for file in files {
                let tensors = counted(file.tensors, "tensor");
                console.result(&format!("{:9}  {}: {tensors}\n", file.status.word(), file.path));
            }
        }
        Format::Text => {}
    }
}
