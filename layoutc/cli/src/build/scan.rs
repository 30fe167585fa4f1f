//! What of a project is as the last build left it, and what is to be done. It reads what may have changed, and no more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use layoutc_compiler::diagnostic::Diagnostic;
use rayon::prelude::*;

use crate::fault::Fault;
use crate::output::{Standing, Strictness, Survey, left_over, listing, survey};
use crate::project::files::{glance, glance_up_to};
use crate::project::paths::{normal, slashed};
use crate::project::reads::{Reads, Seen, merge};
use crate::project::{CONFIG, Project, walk};
use crate::state::fact::{Checked, Emitted, Fact, Hash};

use super::job::{Job, below};
use super::key::{self, Base};

/// How the program itself is called among the inputs; no file is called so.
const PROGRAM: &str = "\0program";
/// The target that has an umbrella header, and the manifest that it is made of.
pub(super) const UMBRELLA: (&str, &str) = ("c", "");

/// What is to be done, and what is not.
#[derive(Debug)]
pub(crate) struct Scan {
    /// What all results depend on.
    pub(super) base: Base,
    /// The key of the templates.
    pub(super) templates: Hash,
    /// The manifests whose check still holds.
    pub(super) fresh: BTreeMap<String, Fresh>,
    /// Those that must be checked.
    pub(super) stale: Vec<String>,
    /// The files that must be made: target and manifest.
    pub(super) work: Vec<(String, String)>,
    /// The outputs that need not be made, and what stands there.
    pub(super) standing: Survey,
    /// What is new of the inputs.
    pub(super) hints: Vec<Fact>,
    /// Outputs that nothing asks for any more; only known if nothing is to be made.
    pub(super) left_over: Vec<String>,
    is_littered: bool,
}

/// A check that still holds.
#[derive(Debug)]
pub(super) struct Fresh {
    /// Its key.
    pub(super) key: Hash,
    /// What there was to say.
    pub(super) warnings: Vec<Diagnostic>,
}

impl Scan {
    /// Looks at the inputs and outputs of a job; every input is added to `reads`.
    pub(super) fn take(
        job: &Job<'_>,
        strictness: Strictness,
        reads: &mut Reads,
    ) -> Result<Self, Fault> {
        let mut inputs = Inputs::new(job);
        let base = inputs.base(reads)?;
        let templates = inputs.templates(reads)?;
        let texts = inputs.manifests();
        let (fresh, stale) = freshness(job, base, &texts);
        inputs.learn(texts, reads);
        let hints = inputs.hints;
        let is_littered = job.state.is_littered();
        let mut scan = Self {
            base,
            templates,
            fresh,
            stale,
            work: Vec::new(),
            standing: Survey::new(),
            hints,
            left_over: Vec::new(),
            is_littered,
        };
        scan.outputs(job, strictness)?;
        Ok(scan)
    }

    /// Whether all is as it should be.
    pub(super) fn is_done(&self) -> bool {
        self.stale.is_empty()
            && self.work.is_empty()
            && self.left_over.is_empty()
            && !self.is_littered
    }

    /// The program's hash.
    pub(super) fn program(&self) -> Hash {
        self.base.program
    }

    /// How many tensors a manifest has whose check still holds.
    pub(super) fn tensors(&self, job: &Job<'_>, manifest: &str) -> usize {
        let checked = self.fresh.get(manifest).and_then(|_| job.log.facts.checked.get(manifest));
        checked.map_or(0, |checked| usize::try_from(checked.tensors).unwrap_or(usize::MAX))
    }

    /// Why some outputs must not be written.
    pub(super) fn refusals(&self) -> impl Iterator<Item = &Diagnostic> {
        self.standing.values().filter_map(|standing| standing.as_ref().err().map(AsRef::as_ref))
    }

    fn outputs(&mut self, job: &Job<'_>, strictness: Strictness) -> Result<(), Fault> {
        let mut holding: Vec<(&str, &str, &Emitted)> = Vec::new();
        for target in &job.targets {
            let of_target = job.log.facts.emitted.get(target);
            for manifest in job.project.manifests.keys() {
                let emitted = self.fresh.get(manifest).and_then(|fresh| {
                    let key = key::emitted(&fresh.key, &self.templates, target, manifest);
                    of_target?.get(manifest).filter(|emitted| emitted.key == key)
                });
                match emitted {
                    Some(emitted) => holding.push((target, manifest, emitted)),
                    None => self.work.push((target.clone(), manifest.clone())),
                }
            }
        }
        let wanted = holding.iter().flat_map(|(_, _, emitted)| &emitted.outputs);
        let wanted = wanted.map(|(path, hash)| (path.as_str(), hash));
        let (standing, listed) = rayon::join(
            || survey(&job.home, wanted, &job.log.facts, strictness),
            || listing(&job.home, &job.sweep),
        );
        self.standing = standing?;
        // What is not there, or is another's text, must be made again to be written.
        let must_be_made = |path: &String| {
            matches!(self.standing.get(path), Some(Ok(Standing::Nothing | Standing::Other)))
        };
        let (mut lacking, mut whole) = (BTreeSet::new(), Vec::new());
        for (target, manifest, emitted) in &holding {
            if emitted.outputs.iter().any(|(path, _)| must_be_made(path)) {
                lacking.extend(emitted.outputs.iter().map(|(path, _)| path.clone()));
                self.work.push(((*target).to_owned(), (*manifest).to_owned()));
            } else {
                whole.push((*target, *emitted));
            }
        }
        self.standing.retain(|path, _| !lacking.contains(path));
        if self.work.is_empty() && self.stale.is_empty() {
            self.umbrella(job, &whole, strictness)?;
        }
        if self.work.is_empty() && self.stale.is_empty() {
            let asked = |path: &str| self.standing.contains_key(path);
            self.left_over = left_over(&job.home, listed?, &asked, &job.log.facts)?;
        }
        Ok(())
    }

    /// The umbrella header, when all else is as it should be.
    fn umbrella(
        &mut self,
        job: &Job<'_>,
        whole: &[(&str, &Emitted)],
        strictness: Strictness,
    ) -> Result<(), Fault> {
        let (target, manifest) = UMBRELLA;
        if !has_umbrella(job) {
            return Ok(());
        }
        let of_target = whole.iter().filter(|(of, _)| *of == target);
        let paths = of_target
            .flat_map(|(_, emitted)| emitted.outputs.iter().map(|(path, _)| path.as_str()));
        let key = key::umbrella(self.base, &self.templates, paths);
        let emitted = job.log.facts.emitted.get(target).and_then(|all| all.get(manifest));
        let Some(emitted) = emitted.filter(|emitted| emitted.key == key) else {
            self.work.push((target.to_owned(), manifest.to_owned()));
            return Ok(());
        };
        let wanted = emitted.outputs.iter().map(|(path, hash)| (path.as_str(), hash));
        let standing = survey(&job.home, wanted, &job.log.facts, strictness)?;
        if standing.values().any(|s| matches!(s, Ok(Standing::Nothing | Standing::Other))) {
            self.work.push((target.to_owned(), manifest.to_owned()));
        } else {
            self.standing.extend(standing);
        }
        Ok(())
    }
}

/// Whether this build keeps an umbrella header. Of a part of a project it would lack headers.
pub(super) fn has_umbrella(job: &Job<'_>) -> bool {
    let c = job.project.config.target.c.as_ref();
    let is_wanted = c.is_some_and(|c| c.umbrella_header.is_some());
    is_wanted && job.project.is_whole && job.targets.iter().any(|target| target == UMBRELLA.0)
}

/// Which checks still hold, each with its key, and which manifests must be checked.
fn freshness(
    job: &Job<'_>,
    base: Base,
    texts: &BTreeMap<String, Seen>,
) -> (BTreeMap<String, Fresh>, Vec<String>) {
    let manifests: Vec<&String> = job.project.manifests.keys().collect();
    let holds = |manifest: &&String| {
        let checked = job.log.facts.checked.get(*manifest)?;
        still_holds(manifest, checked, base, texts)
    };
    let holding: Vec<Option<Fresh>> = manifests.par_iter().map(holds).collect();
    let (mut fresh, mut stale) = (Vec::new(), Vec::new());
    for (manifest, holding) in manifests.into_iter().zip(holding) {
        match holding {
            Some(holding) => fresh.push((manifest.clone(), holding)),
            None => stale.push(manifest.clone()),
        }
    }
    (fresh.into_iter().collect(), stale)
}

fn still_holds(
    manifest: &String,
    checked: &Checked,
    base: Base,
    texts: &BTreeMap<String, Seen>,
) -> Option<Fresh> {
    let closure: BTreeSet<&String> = checked.uses.iter().chain([manifest]).collect();
    let mut parts = Vec::with_capacity(closure.len());
    for path in closure {
        parts.push((path.as_str(), &texts.get(path)?.as_ref().ok()?.hash));
    }
    let key = key::checked(base, parts.into_iter());
    if key != checked.key {
        return None;
    }
    let warnings = match checked.warnings.as_slice() {
        [] => Vec::new(),
        encoded => postcard::from_bytes(encoded).ok()?,
    };
    Some(Fresh { key, warnings })
}

/// The inputs as they stand now.
struct Inputs<'a, 'j> {
    job: &'a Job<'j>,
    hints: Vec<Fact>,
}

impl<'a, 'j> Inputs<'a, 'j> {
    fn new(job: &'a Job<'j>) -> Self {
        Self { job, hints: Vec::new() }
    }

    /// What stands in the input `name` at `path`.
    fn look(&mut self, name: &str, path: &Path) -> Seen {
        let seen = glance(path, self.job.log.facts.inputs.get(name));
        self.note(name, &seen);
        seen
    }

    fn note(&mut self, name: &str, seen: &Seen) {
        if let Ok(known) = seen
            && self.job.log.facts.inputs.get(name) != Some(known)
        {
            self.hints.push(Fact::Input(name.to_owned(), *known));
        }
    }

    fn base(&mut self, reads: &Reads) -> Result<Base, Fault> {
        let find = |e| Fault::io("find", "layoutc".as_ref(), &e);
        let program = std::env::current_exe().map_err(find)?;
        let hash = |seen: &Seen| match seen {
            Ok(known) => known.hash,
            Err(reason) => *blake3::hash(reason.as_bytes()).as_bytes(),
        };
        let known = self.job.log.facts.inputs.get(PROGRAM);
        let seen = glance_up_to(u64::MAX, &program, known);
        self.note(PROGRAM, &seen);
        let program = hash(&seen);
        // It was read a moment ago; without one, the program's own holds.
        let config = reads.files.get(&below(self.job.project, CONFIG));
        Ok(Base { program, config: config.map_or([0; 32], hash) })
    }

    fn templates(&mut self, reads: &mut Reads) -> Result<Hash, Fault> {
        let mut texts = BTreeMap::new();
        for (name, path) in template_files(self.job.project)? {
            let input = format!("{}/{name}", self.job.project.config.project.templates_dir);
            let seen = self.look(&input, &path);
            if let Ok(known) = &seen {
                texts.insert(name, known.hash);
            }
            reads.files.insert(path, seen);
        }
        Ok(key::templates(texts.iter().map(|(name, hash)| (name.as_str(), hash))))
    }

    /// Every manifest asked for, and those that they used when they were checked last.
    fn manifests(&self) -> BTreeMap<String, Seen> {
        let facts = &self.job.log.facts;
        let asked = self.job.project.manifests.keys();
        let uses = asked.clone().filter_map(|manifest| facts.checked.get(manifest));
        let names: BTreeSet<&String> =
            asked.chain(uses.flat_map(|checked| &checked.uses)).collect();
        let names: Vec<&String> = names.into_iter().collect();
        let seen = |name: &&String| {
            ((*name).clone(), glance(&below(self.job.project, name), facts.inputs.get(*name)))
        };
        names.par_iter().map(seen).collect()
    }

    fn learn(&mut self, texts: BTreeMap<String, Seen>, reads: &mut Reads) {
        let mut files = BTreeMap::new();
        for (name, seen) in texts {
            self.note(&name, &seen);
            if reads.is_brief {
                continue;
            }
            let path = below(self.job.project, &name);
            let is_normal = !name.split('/').any(|part| part == "..");
            files.insert(if is_normal { path } else { normal(&path) }, seen);
        }
        merge(&mut reads.files, files);
    }
}

/// The files that may be templates of the project's own, by name.
pub(super) fn template_files(project: &Project) -> Result<Vec<(String, PathBuf)>, Fault> {
    let folder = below(project, &project.config.project.templates_dir);
    let files = walk::files_within(&folder, &project.root)?;
    let named = |file: PathBuf| Some((file.strip_prefix(&folder).ok().and_then(slashed)?, file));
    Ok(files.into_iter().filter_map(named).collect())
}
