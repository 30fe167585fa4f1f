//! The outputs of a project and where they go.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use layoutc_compiler::codes::Code;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::emit::language::Language;
use layoutc_compiler::nearest::nearest;
use layoutc_compiler::{Output, emit};

use crate::args::Select;
use crate::confine;
use crate::fault::{Fault, placeless};
use crate::output::{Plan, Strictness, Sweep};
use crate::project::files::Unread;
use crate::project::paths::{is_below, slashed};
use crate::project::reads::Reads;
use crate::project::{CONFIG, Project, files, seen, walk};
use crate::session::{Session, localized};

/// One project's outputs and where they go.
#[derive(Debug)]
pub(crate) struct Job {
    /// The output folder, absolute.
    pub(crate) root: PathBuf,
    /// What goes there.
    pub(crate) outputs: Vec<Output>,
    sweep: Sweep,
}

impl Job {
    pub(super) fn plan(&self, strictness: Strictness) -> Result<Plan, Fault> {
        Plan::new(&self.root, self.outputs.clone(), strictness, &self.sweep)
    }
}

/// The outputs of every project without errors; what emission has to say goes to the report.
pub(crate) fn emit_all(
    select: &Select,
    session: &mut Session,
    reads: &mut Reads,
) -> Result<Vec<Job>, Fault> {
    let mut jobs = Vec::new();
    let mut rehearsed = false;
    for (project, checked) in &session.projects {
        if session.report.has_errors() {
            break;
        }
        let templates = templates(project, reads)?;
        if !templates.is_empty() && !rehearsed {
            confine::rehearse()?;
            rehearsed = true;
        }
        let mut config = project.config.clone();
        if let (Some(c), false) = (&mut config.target.c, project.is_whole) {
            // It would lack the headers of manifests that were not asked for.
            c.umbrella_header = None;
        }
        let templates = Templates { user: templates, folder: config.project.templates_dir.clone() };
        match emit(checked, &config, &templates.user) {
            Ok(outputs) => {
                let job = job(select, project, outputs)?;
                reads.written.insert(job.root.clone());
                jobs.push(job);
            }
            Err(diagnostics) => {
                for label in diagnostics.iter().flat_map(|d| &d.labels) {
                    if let Some(text) = templates.text_at(&label.place.file) {
                        session.report.text(project.shown(&label.place.file), Arc::from(text));
                    }
                }
                session.report.add(diagnostics.iter().map(|d| localized(d, project)));
            }
        }
    }
    Ok(jobs)
}

fn job(select: &Select, project: &Project, mut outputs: Vec<Output>) -> Result<Job, Fault> {
    known_targets(&select.target, project)?;
    if !select.target.is_empty() {
        outputs.retain(|output| select.target.iter().any(|asked| asked == target_of(output)));
    }
    let own = select.out.is_none();
    let root = match &select.out {
        Some(out) => std::path::absolute(out).map_err(|e| Fault::io("find", out, &e))?,
        None => own_folder(project)?,
    };
    // Files of a folder that others may use are never taken for left over.
    let sweep = match () {
        () if !own || !project.is_whole || root == project.root => Sweep::Nothing,
        () if select.target.is_empty() => Sweep::Everything,
        () => Sweep::Folders(select.target.clone()),
    };
    Ok(Job { root, outputs, sweep })
}

/// The folder of an output below the output folder: its target's name.
fn target_of(output: &Output) -> &str {
    output.path.split('/').next().unwrap_or_default()
}

fn known_targets(asked: &[String], project: &Project) -> Result<(), Fault> {
    let known = project.config.target.names();
    let Some(target) = asked.iter().find(|target| !known.contains(&target.as_str())) else {
        return Ok(());
    };
    let hint = if Language::find(target).is_some() {
        format!("add `[target.{target}]` to {CONFIG}")
    } else if let Some(near) = nearest(target, known.iter().copied()) {
        format!("did you mean `{near}`?")
    } else {
        format!("there is `{}`", known.join("`, `"))
    };
    Err(Fault::Usage(format!("there is no target `{target}` in this project; {hint}")))
}

/// The project's output folder: below its root, also when links are followed.
pub(crate) fn own_folder(project: &Project) -> Result<PathBuf, Fault> {
    let out_dir = project.config.project.out_dir.trim_end_matches('/');
    if out_dir == "." {
        return Ok(project.root.clone());
    }
    if !is_below(out_dir) {
        return Err(outside(out_dir));
    }
    let folder = project.root.join(out_dir);
    let home = fs::canonicalize(&project.root).map_err(|e| Fault::io("find", &project.root, &e))?;
    let existing = folder.ancestors().find(|part| part.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(&project.root);
    match fs::canonicalize(existing) {
        Ok(real) if real.starts_with(home) => Ok(folder),
        Ok(_) => Err(Fault::Input(vec![crate::output::link(existing)])),
        Err(_) if existing.is_symlink() => Err(Fault::Input(vec![crate::output::link(existing)])),
        Err(error) => Err(Fault::io("find", existing, &error)),
    }
}

/// The user's own templates: by name below the templates folder. What is not UTF-8 is none (a picture, an editor's
/// backup), and links are followed inside the project alone.
fn templates(project: &Project, reads: &mut Reads) -> Result<BTreeMap<String, String>, Fault> {
    let folder = project.root.join(&project.config.project.templates_dir);
    let mut templates = BTreeMap::new();
    for file in walk::files_within(&folder, &project.root)? {
        let Some(name) = file.strip_prefix(&folder).ok().and_then(slashed) else { continue };
        let text = files::read(&file);
        let content = text.as_deref().map(Arc::from).map_err(Unread::reason);
        reads.files.insert(file.clone(), content);
        match text {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
                templates.insert(name, text);
            }
            Err(Unread::Refused(_)) => {}
            Err(error) => {
                let (shown, reason) = (seen(&file), error.reason());
                let message = format!("cannot read the template `{shown}`: {reason}");
                return Err(Fault::Machine(Box::new(placeless(Code::OutputIo, message))));
            }
        }
    }
    Ok(templates)
}

/// Refuses an output folder that leaves its project.
fn outside(out_dir: &str) -> Fault {
    let message = format!("the output folder `{out_dir}` is not inside the project");
    let help = "name a folder of the project as `out-dir`, or write elsewhere with `--out`";
    Fault::Input(vec![placeless(Code::OutputOutside, message).help(help)])
}
