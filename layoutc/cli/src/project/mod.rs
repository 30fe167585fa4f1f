//! Discovery of the manifests of a command, and of the projects that contain them, from PATHS, the paths on its command
//! line.
//!
//! The compiler identifies a manifest by its path relative to the root of the project, so that outputs do not depend on
//! the working directory. Messages show the path as given, or relative to the working directory.

pub(crate) mod file_tree;
pub(crate) mod files;
pub(crate) mod globs;
pub(crate) mod read_set;
mod root;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use layoutc_compiler::LoadError;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::env::library::is_library;

use crate::command_error::CommandError;
use crate::paths::{self, relative, relative_to_cwd, slashed};
use crate::report::Report;

use file_tree::FolderFiles;
use files::FileReadError;
use globs::SourceGlobs;
use read_set::ReadSet;
use root::RootSearch;

pub(crate) use root::root_at;

/// Name of the configuration file, which marks the root of a project.
pub(crate) const CONFIG: &str = "layoutc.toml";

#[derive(Debug)]
pub(crate) struct Project {
    /// Absolute path of the root folder. For a project with a `layoutc.toml`, it is the folder of that file. For
    /// manifests outside of any project, it is the requested folder that contains them, or the folder of the requested
    /// manifest.
    pub(crate) root: PathBuf,
    /// Configuration of the project, or the default one if there is no configuration file.
    pub(crate) config: Config,
    /// Requested manifests: map from the path relative to the root to the path for display.
    pub(crate) manifests: BTreeMap<String, String>,
    /// True if `manifests` has all manifests of the project. Only then can stale outputs be detected.
    pub(crate) is_whole: bool,
    /// True if the root is the folder of `--root`. Nothing above it is read, and no state is stored for it.
    pub(crate) is_given: bool,
}

impl Project {
    /// Path for display of a file that the compiler knows by its path relative to the root, or of a manifest of the
    /// library.
    pub(crate) fn shown(&self, path: &str) -> String {
        if is_library(path) {
            return path.to_owned();
        }
        self.manifests.get(path).cloned().unwrap_or_else(|| relative_to_cwd(&self.root.join(path)))
    }

    /// Copy of a diagnostic in which paths relative to the root are replaced by paths for display.
    pub(crate) fn with_shown_paths(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut diagnostic = diagnostic.clone();
        let labels = diagnostic.labels.iter_mut().map(|label| &mut label.place);
        for place in labels.chain(diagnostic.fixes.iter_mut().map(|fix| &mut fix.place)) {
            place.file = Arc::from(self.shown(&place.file));
        }
        diagnostic
    }
}

/// State of the search for the manifests of PATHS, and for the projects that contain them.
#[derive(Debug, Default)]
struct ProjectSearch {
    roots: RootSearch,
    /// Manifests by the root of their project: map from the path relative to the root to the path for display.
    manifests: BTreeMap<PathBuf, BTreeMap<String, String>>,
    /// Configurations of the projects by root, `None` if invalid. Each was read once.
    configs: BTreeMap<PathBuf, Option<Config>>,
    /// Roots of the projects all of whose manifests were requested.
    whole: Vec<PathBuf>,
    /// First error about a project or folder without manifests; [`discover`] returns it.
    lack: Option<CommandError>,
    /// Files that the search read, and the folders and patterns by which it would find new files.
    reads: ReadSet,
}

/// Projects of `given`, the PATHS on a command line, each with its requested manifests. Without PATHS, it is the
/// project of the working directory or of a parent folder. Adds the files that were read to `reads`. A project with an
/// invalid configuration is reported and omitted. If `--root` is given, `root` is its folder, and that is the only
/// project.
///
/// # Errors
/// [`CommandError::NoProject`] if there are no PATHS and no project. [`CommandError::Usage`] if a path does not exist,
/// is outside of `root` or not Unicode, `root` is not a folder, or a folder outside of projects has no manifest.
/// [`CommandError::Input`] if no manifest matches the patterns of a project, or a pattern is invalid.
/// [`CommandError::Machine`] if a file or folder cannot be read.
pub(crate) fn discover(
    given: &[PathBuf],
    root: Option<&Path>,
    report: &mut Report,
    reads: &mut ReadSet,
) -> Result<Vec<Project>, CommandError> {
    let mut found = ProjectSearch { roots: RootSearch::new(root)?, ..ProjectSearch::default() };
    found.reads.is_brief = reads.is_brief;
    let gathered = found.gather(given, report);
    reads.merge(std::mem::take(&mut found.reads));
    gathered?;
    match found.lack.take() {
        Some(lack) => Err(lack),
        None => Ok(found.projects()),
    }
}

/// Projects of `given`, the PATHS on a command line, including those without a manifest. Without PATHS, it is the
/// project of the working directory or of a parent folder. A project with an invalid configuration is reported and
/// omitted.
///
/// # Errors
/// The errors of [`discover`], except those about a lack of manifests.
pub(crate) fn homes(given: &[PathBuf], report: &mut Report) -> Result<Vec<Project>, CommandError> {
    let mut found = ProjectSearch::default();
    found.gather(given, report)?;
    for (root, config) in &found.configs {
        if config.is_some() {
            found.manifests.entry(root.clone()).or_default();
        }
    }
    Ok(found.projects())
}

impl ProjectSearch {
    fn gather(&mut self, given: &[PathBuf], report: &mut Report) -> Result<(), CommandError> {
        if given.is_empty() {
            self.here(report)?;
        }
        for path in given {
            let metadata = match fs::metadata(path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(CommandError::Usage(format!(
                        "`{}` does not exist",
                        path.display()
                    )));
                }
                metadata => metadata.map_err(|error| CommandError::io("read", path, &error))?,
            };
            if metadata.is_dir() {
                self.folder(path, report)?;
            } else {
                self.manifest(path, report)?;
            }
        }
        Ok(())
    }

    /// Adds the project of the working directory, or, if it has none, of the nearest parent folder that has one. With
    /// `--root`, adds that project instead.
    fn here(&mut self, report: &mut Report) -> Result<(), CommandError> {
        let here = env::current_dir().map_err(|e| CommandError::io("find", Path::new("."), &e))?;
        let Some(root) = self.roots.around(&here)? else {
            return Err(CommandError::NoProject);
        };
        if self.config(&root, report)? {
            self.sources(&root, &root, Path::new(""))?;
            self.expect_some(&root);
            // Below the working directory, paths are shown relative to it already.
            let shown_elsewhere = |path: &str| relative(&root.join(path), &here);
            for (path, shown) in self.manifests.entry(root.clone()).or_default() {
                if root != here {
                    *shown = shown_elsewhere(path).to_string_lossy().into_owned();
                }
            }
        }
        Ok(())
    }

    /// Adds the manifests below the folder at the path `given`. If the folder is in a project, they are those of that
    /// project. Otherwise they are those of the projects in the folder, and every `*.kdl` outside of these.
    fn folder(&mut self, given: &Path, report: &mut Report) -> Result<(), CommandError> {
        let folder = self.roots.folder(given)?;
        let shown = paths::start(given);
        if let Some(root) = self.roots.of(&folder)? {
            if self.config(&root, report)? {
                self.sources(&root, &folder, shown)?;
                self.expect_some(&root);
            }
            return Ok(());
        }
        self.reads.loose.insert(folder.clone());
        let found = file_tree::below(&folder)?;
        let files = found.files();
        self.reads.links.extend(found.links);
        let roots = files.iter().filter(|file| file.ends_with(CONFIG)).filter_map(|f| f.parent());
        let roots: Vec<&Path> = roots.collect();
        for root in &roots {
            if self.config(root, report)? {
                self.sources(root, root, &shown.join(below(root, &folder)))?;
            }
        }
        let free = files.iter().filter(|file| !roots.iter().any(|root| file.starts_with(root)));
        for file in free.filter(|file| file.extension().is_some_and(|e| e == "kdl")) {
            let path = below(file, &folder);
            self.add(&folder, file, &path, &shown.join(&path))?;
        }
        if self.manifests.is_empty() && !report.has_errors() {
            let message = format!("no manifest (*.kdl) in `{}`", given.display());
            self.lack.get_or_insert(CommandError::Usage(message));
        }
        Ok(())
    }

    /// Adds the manifest at `given` to its project. If it is outside of any project, its folder becomes the root of a
    /// project. A manifest of a project with an invalid configuration is not added; the error is reported.
    fn manifest(&mut self, given: &Path, report: &mut Report) -> Result<(), CommandError> {
        let name = given.file_name().unwrap_or_default();
        let parent = given.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = self.roots.folder(parent.unwrap_or(Path::new(".")))?;
        let root = match self.roots.of(&folder)? {
            Some(root) if !self.config(&root, report)? => return Ok(()),
            Some(root) => root,
            None => folder.clone(),
        };
        let file = folder.join(name);
        self.add(&root, &file, &below(&file, &root), given)
    }

    /// Adds the manifests of the project at `root` that are below `folder`, whose path for display is `given`.
    fn sources(&mut self, root: &Path, folder: &Path, given: &Path) -> Result<(), CommandError> {
        let patterns = match self.configs.get(root) {
            Some(Some(config)) => config.project.sources.clone(),
            Some(None) | None => return Ok(()),
        };
        let globs = SourceGlobs::new(&patterns)?;
        self.reads.sources.insert(root.to_owned(), globs.clone());
        for start in &globs.folders {
            let found = file_tree::below(&root.join(start))?;
            self.reads.links.extend(found.links);
            for FolderFiles { path: parent, mut names } in found.folders {
                let (Ok(path), Ok(part)) = (parent.strip_prefix(root), parent.strip_prefix(folder))
                else {
                    continue;
                };
                names.retain(|name| globs.matches(&path.join(name)));
                if !names.is_empty() && self.roots.of(&parent)?.as_deref() == Some(root) {
                    self.add_all(root, &parent, path, &given.join(part), &names)?;
                }
            }
        }
        if root.starts_with(folder) {
            self.whole.push(root.to_owned());
        }
        Ok(())
    }

    /// Adds the manifest `file` to the manifests of the project at `root`. The path of the manifest is `path` relative
    /// to `root`, and `shown` for display.
    fn add(
        &mut self,
        root: &Path,
        file: &Path,
        path: &Path,
        shown: &Path,
    ) -> Result<(), CommandError> {
        let up = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_owned();
        self.add_all(root, &up(file), &up(path), &up(shown), &[name])
    }

    /// Adds the manifests with the file names `names` in the folder `parent` to the manifests of the project at `root`.
    /// The path of the folder is `path` relative to `root`, and `shown` for display.
    fn add_all(
        &mut self,
        root: &Path,
        parent: &Path,
        path: &Path,
        shown: &Path,
        names: &[OsString],
    ) -> Result<(), CommandError> {
        if !self.reads.is_brief {
            self.reads.manifests.extend(names.iter().map(|name| parent.join(name)));
        }
        let manifests = match self.manifests.get_mut(root) {
            Some(manifests) => manifests,
            None => self.manifests.entry(root.to_owned()).or_default(),
        };
        let folder = slashed(path);
        for name in names {
            let (Some(folder), Some(text)) = (&folder, name.to_str()) else {
                let file = parent.join(name);
                return Err(CommandError::Usage(format!(
                    "the path `{}` is not Unicode",
                    file.display()
                )));
            };
            let gap = if folder.is_empty() { "" } else { "/" };
            let shown = shown.join(name).to_string_lossy().into_owned();
            manifests.entry([folder, gap, text].concat()).or_insert(shown);
        }
        Ok(())
    }

    /// Reads the configuration of the project at `root` on the first call for that root. Errors in it are added to
    /// `report`. Returns false if the configuration is invalid.
    fn config(&mut self, root: &Path, report: &mut Report) -> Result<bool, CommandError> {
        if let Some(config) = self.configs.get(root) {
            return Ok(config.is_some());
        }
        let config = self.read_config(root, report)?;
        let is_valid = config.is_some();
        if let Some(config) = &config {
            let folder = |name: &str| root.join(name.trim_end_matches('/'));
            let templates = folder(&config.project.templates_dir);
            let fence = (!self.roots.is_given()).then(|| root.to_owned());
            self.reads.templates.insert(templates, fence);
            self.reads.written.insert(folder(&config.project.out_dir));
        }
        self.configs.insert(root.to_owned(), config);
        Ok(is_valid)
    }

    /// Configuration of the project at `root`; `None` if it is invalid, which is reported. It is the default
    /// configuration if the root is given by `--root` and has no configuration file.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if the file cannot be read.
    fn read_config(
        &mut self,
        root: &Path,
        report: &mut Report,
    ) -> Result<Option<Config>, CommandError> {
        let path = root.join(CONFIG);
        let shown = relative_to_cwd(&path);
        let text = files::read(&path);
        let seen = text.as_ref().map(|text| text.known).map_err(FileReadError::reason);
        self.reads.files.insert(path, seen);
        let text = match text {
            Err(FileReadError::Refused(LoadError::NotFound)) if self.roots.is_given() => {
                return Ok(Some(Config::default()));
            }
            text => text.map_err(|error| {
                let message = format!("cannot read `{shown}`: {}", error.reason());
                CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message)))
            })?,
        };
        let file: Arc<str> = Arc::from(shown.as_str());
        report.text(shown, Arc::clone(&text.text));
        match config::parse(&file, &text.text) {
            Ok(config) => Ok(Some(config)),
            Err(diagnostics) => {
                report.add(diagnostics);
                Ok(None)
            }
        }
    }

    /// If the search has found no manifest of the project at `root`, stores an error in `lack`, unless it has one
    /// already.
    fn expect_some(&mut self, root: &Path) {
        if !self.manifests.contains_key(root) {
            let nothing = self.nothing(root);
            self.lack.get_or_insert(nothing);
        }
    }

    fn nothing(&self, root: &Path) -> CommandError {
        let config = self.configs.get(root).and_then(Option::as_ref);
        let sources = config.map(|config| config.project.sources.join("`, `")).unwrap_or_default();
        let message = format!("no manifest matches `{sources}` in `{}`", relative_to_cwd(root));
        let help = "add a manifest, or set `sources` in layoutc.toml";
        CommandError::Input(vec![
            Diagnostic::without_span(Code::ConfigNoSources, message).help(help),
        ])
    }

    fn projects(self) -> Vec<Project> {
        let Self { roots, manifests, mut configs, whole, lack: _, reads: _ } = self;
        let project = |(root, manifests): (PathBuf, _)| Project {
            config: configs.remove(&root).flatten().unwrap_or_default(),
            is_whole: whole.contains(&root),
            is_given: roots.is_given(),
            root,
            manifests,
        };
        manifests.into_iter().map(project).collect()
    }
}

fn below(path: &Path, folder: &Path) -> PathBuf {
    path.strip_prefix(folder).unwrap_or(path).to_owned()
}
