//! `layoutc templates`: lists the built-in templates, and copies them for editing.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use layoutc_compiler::base::nearest::nearest;
use layoutc_compiler::emit::render::BUILT_IN;
use serde_json::json;

use crate::args::TemplatesCommand;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::paths::{self, relative_to_cwd};
use crate::project::{self, Project};
use crate::report::Report;

use super::CommandOutcome;

/// Lists the built-in templates, or copies one to the templates folder of the project, as `what` says.
///
/// # Errors
/// [`CommandError::Usage`] if the template is unknown, its file exists without `--force`, or the templates folder is
/// outside of the project. [`CommandError::Machine`] if the file cannot be written. Any error of [`project::homes`].
pub(crate) fn run(
    what: &TemplatesCommand,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    match what {
        TemplatesCommand::List => {
            list(console);
            Ok(CommandOutcome::Success)
        }
        TemplatesCommand::Eject { name, force } => eject(name, *force, console),
    }
}

fn list(console: &mut Console) {
    let width = BUILT_IN.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let targets = BUILT_IN.iter().map(|(name, _)| target(name).len()).max().unwrap_or(0);
    for (name, _) in BUILT_IN {
        let (target, purpose) = (target(name), purpose(name));
        let line = match console.format {
            ReportFormat::Json => {
                json!({ "name": name, "target": target, "purpose": purpose }).to_string()
            }
            ReportFormat::Text => format!("{name:width$}  {target:targets$}  {purpose}"),
        };
        console.result(&format!("{line}\n"));
    }
}

/// Name of the target of the template called `name`, the folder in its name: `c` for `c/bench.c.j2`, and `common` for a
/// template that several targets include.
fn target(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// Name and purpose of each built-in template.
const PURPOSES: &[(&str, &str)] = &[
    ("c/access.h.j2", "element access of one view"),
    ("c/bench.c.j2", "a stand-alone benchmark program"),
    ("c/compute_test.c.j2", "tests of kernels"),
    ("c/floats.h.j2", "conversions of float types that C lacks"),
    ("c/header.h.j2", "public header: constants, index functions, prototypes"),
    ("c/mpi.c.j2", "resharding over MPI"),
    ("c/mpi.h.j2", "prototypes of resharding over MPI"),
    ("c/mpi_test.c.j2", "a stand-alone test program for MPI"),
    ("c/schedule.c.j2", "calls of a graph, in execution order"),
    ("c/schedule.h.j2", "buffers, operators and functions of a graph"),
    ("c/ring_test.c.j2", "test of a ring buffer"),
    ("c/sharding_test.c.j2", "test of the shards of one tensor"),
    ("c/source.c.j2", "pack, unpack and conversions"),
    ("c/test.c.j2", "a stand-alone test program"),
    ("c/umbrella.h.j2", "umbrella header"),
    ("c/view_test.c.j2", "test of one view"),
    ("common/arithmetic.j2", "element arithmetic without an operator"),
    ("common/casts.j2", "casts of elements"),
    ("common/counts.j2", "sizes that depend on symbols"),
    ("common/float_bits.j2", "bit casts of floats"),
    ("common/index.j2", "index functions of one tensor"),
    ("common/integers.j2", "integer arithmetic of index functions"),
    ("common/packed.j2", "loads and stores of elements that share a byte"),
    ("common/stream.j2", "loads and stores of elements that may straddle two bytes"),
    ("common/title.j2", "comment of one tensor"),
    ("common/transposes.j2", "register transposes on GPUs"),
    ("common/view.j2", "comment of one view"),
    ("cuda/access.cuh.j2", "element access of one view"),
    ("cuda/header.cuh.j2", "index functions and launchers"),
    ("cuda/image.cuh.j2", "loads and stores of one image"),
    ("cuda/kernels.cu.j2", "kernels and launcher of one conversion"),
    ("cuda/launcher.cuh.j2", "prototype of one launcher"),
    ("cuda/source.cu.j2", "kernels"),
    ("opencl/access.cl.j2", "element access of one view"),
    ("opencl/host.h.j2", "host header: sizes, image formats, NDRanges"),
    ("opencl/image.cl.j2", "loads and stores of one image"),
    ("opencl/kernels.cl.j2", "kernels of one conversion"),
    ("opencl/launch.h.j2", "NDRanges of one conversion"),
    ("opencl/program.cl.j2", "index functions and kernels"),
    ("rust/arithmetic.rs.j2", "element arithmetic without an operator"),
    ("rust/casts.rs.j2", "casts of elements"),
    ("rust/floats.rs.j2", "body of a cast between floats"),
    ("rust/integers.rs.j2", "integer arithmetic of index functions"),
    ("rust/module.rs.j2", "module: constants, functions, relayouts, kernels"),
    ("rust/packed.rs.j2", "loads and stores of elements that share bytes"),
];

fn purpose(name: &str) -> &'static str {
    PURPOSES.iter().find(|(known, _)| *known == name).map_or("", |(_, purpose)| purpose)
}

fn eject(name: &str, force: bool, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
        return Err(CommandError::Usage(unknown(name)));
    };
    let mut report = Report::default();
    let projects = project::homes(&[], &mut report)?;
    let Some(project) = projects.first() else {
        // The configuration is invalid.
        report.print(console);
        return Ok(CommandOutcome::InputError);
    };
    let file = place(project, name)?;
    let folder = file.parent().unwrap_or(&project.root);
    fs::create_dir_all(folder).map_err(|error| CommandError::io("create", folder, &error))?;
    write(&file, text, force)?;
    match console.format {
        ReportFormat::Json => {
            let object = json!({ "version": 1, "kind": "eject", "file": relative_to_cwd(&file) });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            console.result(&format!(
                "wrote {}, which overrides the built-in template\n",
                relative_to_cwd(&file)
            ));
        }
        ReportFormat::Text => {}
    }
    Ok(CommandOutcome::Success)
}

/// Path of the file for the template called `name` in the templates folder of `project`.
///
/// # Errors
/// [`CommandError::Usage`] if this folder is outside of the project after links are resolved. [`CommandError::Machine`]
/// if its path cannot be resolved.
fn place(project: &Project, name: &str) -> Result<std::path::PathBuf, CommandError> {
    let templates = project.config.project.templates_dir.trim_end_matches('/');
    let file = project.root.join(templates).join(name);
    let home =
        fs::canonicalize(&project.root).map_err(|e| CommandError::io("find", &project.root, &e))?;
    let there = file.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
    let there = there.unwrap_or(&project.root);
    let real = fs::canonicalize(there).map_err(|e| CommandError::io("find", there, &e))?;
    if real.starts_with(&home) && (templates == "." || paths::is_below(templates)) {
        Ok(file)
    } else {
        let message = format!("templates folder `{templates}` is outside of the project");
        Err(CommandError::Usage(message))
    }
}

fn write(file: &Path, text: &str, force: bool) -> Result<(), CommandError> {
    if force && file.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
        fs::remove_file(file).map_err(|error| CommandError::io("replace", file, &error))?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    match opened.and_then(|mut file| file.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let shown = relative_to_cwd(file);
            Err(CommandError::Usage(format!(
                "`{shown}` already exists; use `--force` to overwrite it"
            )))
        }
        written => written.map_err(|error| CommandError::io("write", file, &error)),
    }
}

fn unknown(name: &str) -> String {
    let names = || BUILT_IN.iter().map(|(name, _)| *name);
    let file = |name: &'static str| name.rsplit('/').next().unwrap_or(name);
    // The target, the folder in front of the name, may be left out.
    let near = nearest(name, names())
        .or_else(|| nearest(name, names().map(file)).and_then(|n| names().find(|k| file(k) == n)));
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("unknown template `{name}`{hint} (`layoutc templates list` lists all)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_template_has_a_purpose() {
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        assert!(names.eq(PURPOSES.iter().map(|(name, _)| *name)));
    }
}
