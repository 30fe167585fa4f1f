//! `layoutc bench`: compiles the generated C, and times its functions: pack, unpack, conversions and kernels.

use std::ops::ControlFlow;

use layoutc_compiler::config::{Config, EmitKind, RuntimeMode, TargetsConfig};
use layoutc_compiler::emit::{EmitJob, Emitter, GeneratedFile};
use layoutc_compiler::model::Manifest;
use serde_json::Value;

use crate::args::BenchArgs;
use crate::build::{own_of, report_emit_error};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::compiled_program::{self, CompiledProgram};
use crate::console::{Console, ReportFormat};
use crate::interrupt::{self, WriteGuard};
use crate::template_sandbox;

use super::CommandOutcome;

/// Compiles the generated C of the manifests of PATHS, the paths on the command line, and prints the times of its
/// functions: pack, unpack, conversions and kernels. Nothing is compiled if a manifest has errors.
///
/// # Errors
/// Any error of [`CheckSession::open`], [`CompiledProgram::new`] or [`compiled_program::run`]. [`CommandError::Input`]
/// if templates of a project exceed the limits of the sandbox. [`CommandError::Machine`] for a system error, for
/// example if a template cannot be read.
pub(crate) fn run(args: &BenchArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let mut session = CheckSession::open(&args.paths, console)?;
    let mut programs = Vec::new();
    for (project, checked) in &session.projects {
        let requested =
            checked.manifests.iter().filter(|m| project.manifests.contains_key(&m.path));
        let manifests: Vec<Manifest> =
            requested.map(Manifest::with_unscheduled_instances).collect();
        let config = bench_config(&project.config);
        let templates = own_of(project, &config)?;
        if !templates.user.is_empty() {
            template_sandbox::dry_run_in_child()?;
        }
        let jobs = manifests.iter().map(|manifest| EmitJob { target: "c", manifest });
        match Emitter::new(&config, &templates).files(&jobs.collect::<Vec<_>>()) {
            Ok(outputs) => {
                let named = manifests.iter().map(|m| project.shown(&m.path)).zip(outputs);
                let openmp = config.target.c.as_ref().is_some_and(|c| c.openmp);
                programs.extend(named.map(|(file, outputs)| (file, outputs, openmp)));
            }
            Err(faults) => report_emit_error(&faults, project, &templates, &mut session.report),
        }
    }
    let ending = CommandOutcome::of(&session.report);
    session.report.print(console);
    if ending != CommandOutcome::Success || template_sandbox::is_child() {
        return Ok(ending);
    }
    interrupt::install()?;
    let _writing = WriteGuard::begin();
    let several = programs.len() > 1;
    for (file, outputs, openmp) in &programs {
        if several && console.format == ReportFormat::Text {
            console.result(&format!("{file}\n"));
        }
        one(args, file, outputs, *openmp, console)?;
        if console.is_closed() {
            break;
        }
    }
    Ok(ending)
}

/// Copy of the configuration `config` whose only outputs are the C benchmark program and the files that it includes.
pub(super) fn bench_config(config: &Config) -> Config {
    let mut c = config.target.c.clone().unwrap_or_default();
    c.emit = vec![EmitKind::Bench];
    c.umbrella_header = None;
    c.runtime = RuntimeMode::Inline;
    let target = TargetsConfig { c: Some(c), ..TargetsConfig::default() };
    Config { target, ..config.clone() }
}

/// Compiles the generated C `outputs` of the manifest at `file`, a path for display, and prints the times of those of
/// its functions that `args` selects. `openmp` adds the compiler flag `-fopenmp`. Prints a note if nothing was timed.
///
/// # Errors
/// Any error of [`CompiledProgram::new`] or [`compiled_program::run`].
fn one(
    args: &BenchArgs,
    file: &str,
    outputs: &[GeneratedFile],
    openmp: bool,
    console: &mut Console,
) -> Result<(), CommandError> {
    let openmp = if openmp { " -fopenmp" } else { "" };
    let built =
        CompiledProgram::new(outputs, args.cc.as_deref(), &format!("{}{openmp}", args.cflags))?;
    let mut arguments = vec![args.seconds.to_string()];
    arguments.extend((console.format == ReportFormat::Json).then(|| "json".to_owned()));
    arguments.extend(args.only.iter().cloned());
    let mut timed = 0_usize;
    compiled_program::run(&built.path(), &arguments, &mut |line| {
        timed = timed.saturating_add(1);
        match console.format {
            ReportFormat::Text => console.result(&format!("{line}\n")),
            ReportFormat::Json => console.result(&format!("{}\n", with_file(line, file))),
        }
        console.flush();
        if console.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let header_lines = usize::from(console.format == ReportFormat::Text);
    if timed <= header_lines {
        let what = if args.only.is_empty() { "nothing to time" } else { "no matching routine" };
        let message = format!("{what} in `{file}`");
        console.remark(&format!("note: {message}\n"));
    }
    Ok(())
}

/// JSON object `line` about a function, with the path of its manifest added as `file`; `line` itself if it is no JSON
/// object.
fn with_file(line: &str, file: &str) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(line) else {
        return line.to_owned();
    };
    object.insert("file".to_owned(), file.into());
    Value::Object(object).to_string()
}
