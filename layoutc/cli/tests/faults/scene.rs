//! A project between two builds, and the allowed states of its outputs.

use layoutc_testing::files::TempFolder;
use layoutc_testing::process::Finished;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Four rows of eight, in blocks of four.
pub(crate) const BLOCKED: &str = "\
tensor t dtype=f32 {
    shape { h 4; w 8 }
    layout {
        map \"(h, w) -> (w // 4, h, w % 4)\"
    }
}
";

/// [`BLOCKED`] with width `w`.
pub(crate) fn wide(w: u32) -> String {
    BLOCKED.replace("w 8", &format!("w {w}"))
}

/// The binary without debugging information, as it hashes itself before a first build.
pub(crate) fn binary() -> OsString {
    static BINARY: OnceLock<OsString> = OnceLock::new();
    let own = || OsString::from(env!("CARGO_BIN_EXE_layoutc"));
    let full = std::env::var_os("NEXTEST_BIN_EXE_layoutc").unwrap_or_else(own);
    BINARY.get_or_init(|| small(Path::new(&full)).map_or(full, PathBuf::into_os_string)).clone()
}

/// Stripped copy of the binary, if `strip` is available; concurrent tests wait for it.
fn small(full: &Path) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (small, new) = (folder.join("layoutc"), folder.join("layoutc.new"));
    let lock = fs::File::create(folder.join("lock")).ok()?;
    lock.lock().ok()?;
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    if time(&small) < time(full) {
        let stripped = Command::new("strip").arg("-o").arg(&new).arg(full).status();
        stripped.is_ok_and(|status| status.success()).then_some(())?;
        fs::rename(new, &small).ok()?;
    }
    Some(small)
}

/// Files by path; folders end in `/`, links contain `-> ` and their target.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A temporary folder.
#[derive(Debug)]
pub(crate) struct Scene(TempFolder);

impl Deref for Scene {
    type Target = TempFolder;

    fn deref(&self) -> &TempFolder {
        &self.0
    }
}

impl Scene {
    /// In memory: a kill leaves the same state there, and hundreds of synced builds are fast.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self(TempFolder::in_memory(files))
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.0.write(path, content.as_ref());
    }

    /// Removes a file or folder, if it exists.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.path(path);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
            fs::remove_dir_all(path).expect("gone");
        } else {
            drop(fs::remove_file(path));
        }
    }

    pub(crate) fn files(&self, folder: &str) -> Files {
        files(&self.path(folder))
    }

    /// All files except outputs and state.
    pub(crate) fn inputs(&self) -> Files {
        let mut files = self.files("");
        files.retain(|path, _| !path.starts_with("generated") && !path.starts_with(".layoutc"));
        files
    }

    pub(crate) fn copy(&self) -> Self {
        self.copy_but(&[])
    }

    /// A copy without some paths.
    pub(crate) fn copy_but(&self, left_out: &[&str]) -> Self {
        let copy = Self::new(&[]);
        for (path, bytes) in self.files("") {
            if left_out.iter().any(|left_out| path.starts_with(left_out)) {
            } else if let Some(folder) = path.strip_suffix('/') {
                fs::create_dir_all(copy.path(folder)).expect("a folder");
            } else if let Some(to) = bytes.strip_prefix(b"-> ") {
                let to = String::from_utf8_lossy(to).into_owned();
                symlink(to, copy.path(&path)).expect("a link");
            } else {
                copy.write(&path, bytes);
            }
        }
        copy
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.current_dir(self.path("")).args(args).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        finished(&self.command(args).output().expect("it starts"))
    }

    /// Checks that a plain build gives the expected files, and then has nothing to do.
    pub(crate) fn heals(&self, expected: &Files, what: &str) {
        let ran = self.run(&["build", "-q"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{what}: the next build");
        same(&self.files("generated"), expected, &format!("{what}: the next build"));
        let state: BTreeSet<String> = self.files(".layoutc").into_keys().collect();
        let known: BTreeSet<String> =
            [".gitignore", "lock", "log", "memo"].into_iter().map(str::to_owned).collect();
        assert!(state.is_subset(&known), "{what}: left behind: {state:?}");
        let again = self.run(&["build", "--format", "json"]);
        assert_eq!((again.code, again.err.as_str()), (Some(0), ""), "{what}: a further build");
        let object: Value = serde_json::from_str(&again.out).expect("JSON");
        let outputs = object["outputs"].as_array().expect("a list");
        let changed: Vec<_> = outputs.iter().filter(|o| o["status"] != "unchanged").collect();
        assert!(changed.is_empty() && !outputs.is_empty(), "{what}: {}", again.out);
    }
}

/// Result of a run, without its progress, which depends on the machine.
pub(crate) fn finished(output: &Output) -> Finished {
    let mut finished = Finished::of(output);
    let lines = finished.err.split_inclusive('\n');
    finished.err = lines.filter(|line| !line.starts_with("building: ")).collect();
    finished
}

/// All files below a folder.
pub(crate) fn files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            // A concurrent build may have removed it.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(path);
                found.insert(format!("{name}/"), Vec::new());
            } else if kind.is_symlink() {
                let to = fs::read_link(path).expect("a link").to_string_lossy().into_owned();
                found.insert(name, format!("-> {to}").into_bytes());
            } else if kind.is_file() {
                let Ok(bytes) = fs::read(path) else { continue };
                found.insert(name, bytes);
            }
        }
    }
    found
}

/// Checks that both are equal, ignoring empty folders left by an interrupted removal.
pub(crate) fn same(found: &Files, expected: &Files, what: &str) {
    let is_file = |path: &&String| !path.ends_with('/');
    let names = |files: &Files| files.keys().filter(is_file).cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{what}");
    let differing: Vec<_> =
        found.iter().filter(|(p, text)| is_file(p) && expected[*p] != **text).collect();
    let differing: Vec<_> = differing.into_iter().map(|(path, _)| path).collect();
    assert!(differing.is_empty(), "{what}: {differing:?}");
}

/// A command that changes outputs, with the outputs before and after it.
pub(crate) struct Step {
    /// Name in messages.
    pub(crate) name: &'static str,
    /// Scene before the command.
    pub(crate) before: Scene,
    pub(crate) args: &'static [&'static str],
    pub(crate) old: Files,
    pub(crate) new: Files,
    /// Outputs of the next plain build.
    pub(crate) built: Files,
}

impl Step {
    fn new(name: &'static str, before: Scene, args: &'static [&'static str]) -> Self {
        let old = before.files("generated");
        let after = before.copy();
        after.run(args).success();
        let new = after.files("generated");
        after.run(&["build"]).success();
        Self { name, before, args, old, new, built: after.files("generated") }
    }

    pub(crate) fn first(before: Scene) -> Self {
        Self::new("first build", before, &["build"])
    }

    /// A build with a manifest edited, one removed and one added.
    pub(crate) fn next(before: Scene) -> Self {
        before.run(&["build"]).success();
        edit(&before);
        Self::new("next build", before, &["build"])
    }

    /// A build with one manifest edited, as by a watch.
    pub(crate) fn rebuild(before: Scene) -> Self {
        before.run(&["build"]).success();
        before.write("layouts/a.kdl", wide(12));
        Self::new("rebuild", before, &["build"])
    }

    /// A removal of all outputs.
    pub(crate) fn clean(before: Scene) -> Self {
        before.run(&["build"]).success();
        Self::new("clean", before, &["clean"])
    }

    /// Checks that each output is as before or as after.
    pub(crate) fn is_whole(&self, scene: &Scene, what: &str) {
        let found = scene.files("generated");
        for (path, text) in found.iter().filter(|(path, _)| !is_temporary(path)) {
            let known = [self.old.get(path), self.new.get(path)];
            assert!(known.contains(&Some(text)), "{what}: `{path}` is torn");
        }
        for path in self.old.keys().filter(|path| self.new.contains_key(*path)) {
            assert!(found.contains_key(path), "{what}: `{path}` is lost");
        }
        same(&scene.inputs(), &self.before.inputs(), what);
    }
}

fn is_temporary(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(".layoutc-"))
}

/// Number of additional manifests.
fn more() -> usize {
    let is_large = std::env::var("LAYOUTC_FAULTS_PROJECT").is_ok_and(|size| size == "large");
    if is_large { 1000 } else { 0 }
}

/// True if the project is too large to test every point.
pub(crate) fn is_large() -> bool {
    more() > 0
}

/// A project that was never built, with foreign files in the output folders.
pub(crate) fn project() -> Scene {
    let scene = Scene::new(&[
        ("layoutc.toml", "[project]\nname = \"p\"\n[target.c]\numbrella-header = \"all.h\"\n"),
        ("layouts/a.kdl", BLOCKED),
        (
            "layouts/b.kdl",
            "use \"lib/common.kdl\"\ntensor b dtype=f32 {\n    shape { n 4; c 8 }\n    layout blocked\n}\n",
        ),
        ("layouts/lib/common.kdl", "transform blocked {\n    split c by=4\n}\n"),
        ("layouts/x/c.kdl", BLOCKED),
        ("notes.txt", "mine\n"),
        ("generated/README", "mine\n"),
        ("generated/c/mine.h", "int mine;\n"),
    ]);
    for k in 0..more() {
        scene.write(&format!("layouts/more/m{k}.kdl"), wide(8 + 4 * u32::try_from(k).unwrap_or(0)));
    }
    scene
}

/// Like [`project`], with outputs without comments, which only the log identifies.
pub(crate) fn project_of_data() -> Scene {
    let scene = project();
    scene.write("layoutc.toml", "[target.json]\ntemplate = \"shapes.json.j2\"\n");
    scene.write(
        "templates/shapes.json.j2",
        "[{% for t in tensors %}\"{{ t.name }}\", {{ t.physical[0].value }}{% endfor %}]\n",
    );
    scene
}

/// Edits a manifest, removes one and adds one.
pub(crate) fn edit(scene: &Scene) {
    scene.write("layouts/a.kdl", wide(12));
    scene.remove("layouts/b.kdl");
    scene.write("layouts/x/d.kdl", wide(16));
}
