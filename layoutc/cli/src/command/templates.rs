//! `layoutc templates`: the built-in templates, and copies of them to change.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use layoutc_compiler::emit::render::BUILT_IN;
use layoutc_compiler::nearest::nearest;
use serde_json::json;

use crate::args::{ReportFormat, TemplatesCommand};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::project::{self, Project, paths, relative_to_cwd};
use crate::report::Report;

use super::CommandOutcome;

/// Lists the templates, or puts a copy of one into the project.
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

/// The target of a template; `common` are those that several targets include.
fn target(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// What each template is for.
const PURPOSES: &[(&str, &str)] = &[
    ("c/access.h.j2", "how an element of one view is read and written"),
    ("c/aligned.c.j2", "how frames of functions with longer vectors are aligned"),
    ("c/alternate.c.j2", "how few rows or columns alternate on the other side"),
    ("c/bench.c.j2", "a stand-alone program that times the others"),
    ("c/blocks.c.j2", "the functions that move blocks"),
    ("c/cast_runs.c.j2", "how runs and blocks get another element type"),
    ("c/cast_vectors.c.j2", "how vectors get another element type"),
    ("c/compute_test.c.j2", "the tests of kernels"),
    ("c/computes.c.j2", "how kernels are compiled for longer vectors"),
    ("c/diagonals.c.j2", "how blocks whose columns share sets of a cache are transposed"),
    ("c/floats.h.j2", "conversions of float types that C lacks, for the header"),
    ("c/header.h.j2", "what other code includes: constants, index functions, prototypes"),
    ("c/mpi.c.j2", "conversions between devices"),
    ("c/mpi.h.j2", "their prototypes"),
    ("c/mpi_lattice.c.j2", "what they have in common: places, types, messages"),
    ("c/mpi_test.c.j2", "a stand-alone program that tests them on MPI"),
    ("c/pieces.c.j2", "how vectors are read and written"),
    ("c/runs.c.j2", "how runs are copied"),
    ("c/schedule.c.j2", "the calls of a graph, in their order"),
    ("c/schedule.h.j2", "the buffers, the operators and the functions of a graph"),
    ("c/ring_test.c.j2", "the test of a tensor of which memory holds a ring"),
    ("c/sharding_test.c.j2", "the test of the parts of one tensor"),
    ("c/source.c.j2", "pack, unpack and the conversions"),
    ("c/squares.c.j2", "how squares of whole lines are transposed"),
    ("c/strips.c.j2", "how blocks are transposed past the caches by vectors of 32 bytes"),
    ("c/test.c.j2", "a stand-alone program that tests the others"),
    ("c/transpose.c.j2", "how blocks of one element size are transposed"),
    ("c/transposes.c.j2", "how many small blocks are transposed by one call"),
    ("c/turns.c.j2", "how vectors of rows become vectors of columns"),
    ("c/umbrella.h.j2", "one header that includes all others"),
    ("c/view_test.c.j2", "the test of one view"),
    ("common/arithmetic.j2", "arithmetic on elements that has no operator"),
    ("common/casts.j2", "how an element gets another type"),
    ("common/counts.j2", "sizes that depend on symbols"),
    ("common/float_bits.j2", "how the bits of a float are reached"),
    ("common/index.j2", "the index functions of one tensor"),
    ("common/integers.j2", "integer arithmetic that index functions call"),
    ("common/packed.j2", "how elements that share a byte are read and written"),
    ("common/stream.j2", "how an element that may lie in two bytes is read and written"),
    ("common/title.j2", "the comment above one tensor"),
    ("common/turns.j2", "how work items turn words of several elements"),
    ("common/view.j2", "the comment above one view"),
    ("cuda/access.cuh.j2", "how an element of one view is read and written"),
    ("cuda/header.cuh.j2", "index functions and launchers"),
    ("cuda/image.cuh.j2", "how one image is read and written"),
    ("cuda/kernels.cu.j2", "the kernels of one conversion, and its launcher"),
    ("cuda/launcher.cuh.j2", "the prototype of one launcher"),
    ("cuda/source.cu.j2", "the kernels"),
    ("opencl/access.cl.j2", "how an element of one view is read and written"),
    ("opencl/host.h.j2", "what the host needs: sizes, image formats, launch ranges"),
    ("opencl/image.cl.j2", "how one image is read and written"),
    ("opencl/kernels.cl.j2", "the kernels of one conversion"),
    ("opencl/launch.h.j2", "the launch ranges of one conversion"),
    ("opencl/program.cl.j2", "index functions and kernels"),
];

/// What a template is for.
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
        // The configuration is not good.
        report.print(console);
        return Ok(CommandOutcome::InputError);
    };
    let file = place(project, name)?;
    let folder = file.parent().unwrap_or(&project.root);
    fs::create_dir_all(folder).map_err(|error| CommandError::io("make", folder, &error))?;
    write(&file, text, force)?;
    match console.format {
        ReportFormat::Json => {
            let object = json!({ "version": 1, "kind": "eject", "file": relative_to_cwd(&file) });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            console
                .result(&format!("wrote {}; builds use it from now on\n", relative_to_cwd(&file)));
        }
        ReportFormat::Text => {}
    }
    Ok(CommandOutcome::Success)
}

/// Where the project's own template of this name stands: inside the project, also when links are followed.
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
        let message = format!("the templates folder `{templates}` leads out of the project");
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
                "there is already a `{shown}`; overwrite it with `--force`"
            )))
        }
        written => written.map_err(|error| CommandError::io("write", file, &error)),
    }
}

fn unknown(name: &str) -> String {
    let names = || BUILT_IN.iter().map(|(name, _)| *name);
    let file = |name: &'static str| name.rsplit('/').next().unwrap_or(name);
    // The target may be left out.
    let near = nearest(name, names())
        .or_else(|| nearest(name, names().map(file)).and_then(|n| names().find(|k| file(k) == n)));
    let hint = near.map_or(String::new(), |near| format!("; the nearest is `{near}`"));
    format!("there is no template `{name}`{hint} (`layoutc templates list` lists all)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_for_something_and_nothing_else_is() {
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        assert!(names.eq(PURPOSES.iter().map(|(name, _)| *name)));
    }
}
