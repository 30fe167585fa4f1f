//! `layoutc bench`: pack, unpack and conversions compiled and timed.

use std::ops::ControlFlow;

use layoutc_compiler::config::{Config, Emit, Targets};
use layoutc_compiler::host::Unobserved;
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{Output, Work, emit_each};
use serde_json::Value;

use crate::args::{Bench, Format};
use crate::build::{own_of, tell};
use crate::confine;
use crate::console::Console;
use crate::fault::Fault;
use crate::interrupt::{self, Writing};
use crate::runner::{self, Program};
use crate::session::Session;

use super::Ending;

/// Compiles and times what PATHS hold.
pub(crate) fn run(args: &Bench, console: &mut Console) -> Result<Ending, Fault> {
    let mut session = Session::open(&args.paths, console)?;
    let mut programs = Vec::new();
    for (project, checked) in &session.projects {
        let asked = checked.manifests.iter().filter(|m| project.manifests.contains_key(&m.path));
        let manifests: Vec<&Manifest> = asked.collect();
        let config = bench_config(&project.config);
        let templates = own_of(project, &config)?;
        if !templates.user.is_empty() {
            confine::rehearse()?;
        }
        let work = manifests.iter().map(|manifest| Work { target: "c", manifest });
        match emit_each(&work.collect::<Vec<_>>(), &config, &templates, &Unobserved) {
            Ok(outputs) => {
                let named = manifests.iter().map(|m| project.shown(&m.path)).zip(outputs);
                let openmp = config.target.c.as_ref().is_some_and(|c| c.openmp);
                programs.extend(named.map(|(file, outputs)| (file, outputs, openmp)));
            }
            Err(faults) => tell(&faults, project, &templates, &mut session.report),
        }
    }
    let ending = Ending::of(&session.report);
    session.report.print(console);
    if ending != Ending::Good || confine::is_child() {
        return Ok(ending);
    }
    interrupt::install()?;
    let _writing = Writing::begin();
    let several = programs.len() > 1;
    for (file, outputs, openmp) in &programs {
        if several && console.format == Format::Text {
            console.result(&format!("{file}\n"));
        }
        one(args, file, outputs, *openmp, console)?;
        if console.is_closed() {
            break;
        }
    }
    Ok(ending)
}

/// The same project, of which only C is written: with the program that times it, and nothing that it does not need.
pub(super) fn bench_config(config: &Config) -> Config {
    let mut c = config.target.c.clone().unwrap_or_default();
    c.emit = vec![Emit::Bench];
    c.umbrella_header = None;
    let target = Targets { c: Some(c), ..Targets::default() };
    Config { target, ..config.clone() }
}

/// Compiles and times the C of one manifest.
fn one(
    args: &Bench,
    file: &str,
    outputs: &[Output],
    openmp: bool,
    console: &mut Console,
) -> Result<(), Fault> {
    let openmp = if openmp { " -fopenmp" } else { "" };
    let built = Program::new(outputs, args.cc.as_deref(), &format!("{}{openmp}", args.cflags))?;
    let mut arguments = vec![args.seconds.to_string()];
    arguments.extend((console.format == Format::Json).then(|| "json".to_owned()));
    arguments.extend(args.only.iter().cloned());
    let mut timed = 0_usize;
    runner::run(&built.path(), &arguments, &mut |line| {
        timed = timed.saturating_add(1);
        match console.format {
            Format::Text => console.result(&format!("{line}\n")),
            Format::Json => console.result(&format!("{}\n", with_file(line, file))),
        }
        console.flush();
        if console.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let told = usize::from(console.format == Format::Text);
    if timed <= told {
        let what = if args.only.is_empty() { "nothing to time" } else { "no such routine" };
        let message = format!("{what} in `{file}`");
        console.remark(&format!("note: {message}\n"));
    }
    Ok(())
}

/// The object of a routine, with the manifest that it is of.
fn with_file(line: &str, file: &str) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(line) else {
        return line.to_owned();
    };
    object.insert("file".to_owned(), file.into());
    Value::Object(object).to_string()
}
