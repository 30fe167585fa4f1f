use std::fs;
use std::path::PathBuf;

use super::*;
use crate::state::FOLDER;

fn sealed(body: &str) -> String {
    layoutc_compiler::base::content_hash::seal("a.h", body)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("generated")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, text).expect("a file");
        path
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    /// Paths of all files and folders below the root.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(self.root()).expect("below");
                names.push(name.to_string_lossy().into_owned());
                if entry.file_type().expect("a type").is_dir() {
                    folders.push(path);
                }
            }
        }
        names.sort();
        names
    }

    fn build(
        &self,
        outputs: &[(&str, &str)],
        how: OverwritePolicy,
    ) -> Result<Vec<OutputStatus>, Vec<Code>> {
        self.sweep(outputs, how, &SweepScope::Everything)
    }

    fn sweep(
        &self,
        outputs: &[(&str, &str)],
        how: OverwritePolicy,
        sweep: &SweepScope,
    ) -> Result<Vec<OutputStatus>, Vec<Code>> {
        let codes = |fault| match fault {
            CommandError::Input(diagnostics) => diagnostics.iter().map(|d| d.code).collect(),
            CommandError::Machine(diagnostic) => vec![diagnostic.code],
            CommandError::Usage(line) => panic!("{line}"),
            CommandError::NoProject | CommandError::Interrupted => panic!("{fault:?}"),
        };
        let home = OutputDir::new(&self.root(), "");
        let hashes: Vec<ContentHash> =
            outputs.iter().map(|(_, text)| ContentHash::of(text.as_bytes())).collect();
        let wanted = outputs.iter().zip(&hashes);
        let wanted: Vec<ExpectedOutput<'_>> =
            wanted.map(|((path, _), hash)| ExpectedOutput { path, hash, known: None }).collect();
        let found = survey(&home, &wanted, &BuildFacts::default(), how).map_err(codes)?;
        let collided = collisions(outputs.iter().map(|(path, _)| *path));
        let refused = found.values().filter_map(|found| Some(found.as_ref().err()?.as_ref()));
        let refusals: Vec<Code> = collided.iter().chain(refused).map(|d| d.code).collect();
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let is_requested = |path: &str| found.contains_key(path);
        let listed = listing(&home, sweep).map_err(codes)?;
        let left = left_over(&home, listed.files.iter(), &is_requested, &BuildFacts::default())
            .map_err(codes)?;
        let mut new = BTreeMap::new();
        for ((path, text), hash) in outputs.iter().zip(&hashes) {
            let is_first = match &found[*path] {
                Ok(ExistingOutput::Same(_)) => continue,
                standing => matches!(standing, Ok(ExistingOutput::Nothing)),
            };
            new.insert(*path, NewOutput { text, hash, is_first });
        }
        let mut folder = StateFolder::find(self.0.path()).map_err(codes)?;
        let lock = folder.lock(|_| panic!("nobody holds it")).map_err(codes)?;
        let left: Vec<&str> = left.iter().map(String::as_str).collect();
        apply(&home, &folder, &new, &left, &lock).map_err(codes)?;
        let status = |path: &&str| if new.contains_key(path) { Written } else { Unchanged };
        let mut all: BTreeMap<&str, OutputStatus> =
            outputs.iter().map(|(path, _)| (*path, status(path))).collect();
        all.extend(left.iter().map(|path| (*path, Removed)));
        Ok(all.into_values().collect())
    }
}

use OutputStatus::{Removed, Unchanged, Written};
use OverwritePolicy::{KeepForeign, Overwrite};

#[test]
fn only_changed_outputs_are_written() {
    let folder = Folder::new();
    let (one, two) = (sealed("one\n"), sealed("two\n"));
    let both = [("c/a.h", one.as_str()), ("c/x/b.h", two.as_str())];
    assert_eq!(folder.build(&both, KeepForeign), Ok(vec![Written, Written]));
    let time = |path| fs::metadata(folder.root().join(path)).and_then(|m| m.modified()).expect("");
    let before = time("c/a.h");
    let changed = [("c/a.h", one.as_str()), ("c/x/b.h", one.as_str())];
    assert_eq!(folder.build(&changed, KeepForeign), Ok(vec![Unchanged, Written]));
    assert_eq!(time("c/a.h"), before);
    assert_eq!(folder.read("c/x/b.h"), Some(one));
    assert_eq!(folder.names(), ["c", "c/a.h", "c/x", "c/x/b.h"]);
}

#[test]
fn swept_folders_are_rescanned_only_after_a_change() {
    let folder = Folder::new();
    folder.write("c/x/a.h", "a\n");
    std::thread::sleep(std::time::Duration::from_millis(50));
    let home = OutputDir::new(&folder.root(), "");
    let found = listing(&home, &SweepScope::Everything).expect("there");
    assert_eq!(found.files, ["c/x/a.h"]);
    let stats = found.folders.iter().map(|(path, stat)| (path.as_str(), stat.expect("settled")));
    let mut facts = BuildFacts::default();
    facts.learn(BuildFact::Swept(stats.collect()));
    let is_tidy_of = is_tidy;
    let is_tidy = |sweep: &SweepScope| is_tidy_of(&home, sweep, &facts);
    let deep = SweepScope::Folders(vec!["c/x".to_owned()]);
    assert!(is_tidy(&SweepScope::Everything) && is_tidy(&deep));
    // A folder that was not visited is not known to be tidy.
    assert!(!is_tidy(&SweepScope::Folders(vec!["opencl".to_owned()])));
    // Without facts, nothing is known to be tidy.
    assert!(!is_tidy_of(&home, &SweepScope::Nothing, &BuildFacts::default()));
    folder.write("c/x/b.h", "b\n");
    assert!(!is_tidy(&SweepScope::Everything) && !is_tidy(&deep));
}

#[test]
fn foreign_and_edited_outputs_are_refused_together() {
    let folder = Folder::new();
    let new = sealed("new\n");
    folder.write("c/b.h", "int mine;\n");
    folder.write("c/c.h", &format!("{}more\n", sealed("old\n")));
    let outputs = [("c/a.h", new.as_str()), ("c/b.h", &new), ("c/c.h", &new)];
    let refused = folder.build(&outputs, KeepForeign);
    assert_eq!(refused, Err(vec![Code::OutputForeign, Code::OutputEdited]));
    assert_eq!(folder.names(), ["c", "c/b.h", "c/c.h"]);
    assert_eq!(folder.read("c/b.h").as_deref(), Some("int mine;\n"));
    assert_eq!(folder.build(&outputs, Overwrite), Ok(vec![Written, Written, Written]));
    assert_eq!(folder.read("c/b.h"), Some(new));
}

#[test]
fn binary_files_are_foreign() {
    let folder = Folder::new();
    let path = folder.write("c/a.h", "");
    fs::write(path, [0xff, 0xfe]).expect("a file");
    let refused = folder.build(&[("c/a.h", &sealed("x\n"))], KeepForeign);
    assert_eq!(refused, Err(vec![Code::OutputForeign]));
}

#[test]
fn file_folder_conflicts_are_refused_even_with_force() {
    let folder = Folder::new();
    let new = sealed("new\n");
    fs::create_dir_all(folder.root().join("c/a.h")).expect("a folder");
    folder.write("d", "a file\n");
    let outputs = [("c/a.h", new.as_str()), ("d/b.h", new.as_str())];
    let refused = Err(vec![Code::OutputForeign, Code::OutputForeign]);
    assert_eq!(folder.build(&outputs, Overwrite), refused);
    fs::remove_dir_all(folder.root()).expect("gone");
    fs::write(folder.root(), "a file").expect("a file");
    assert_eq!(folder.build(&outputs[..1], Overwrite), Err(vec![Code::OutputForeign]));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let new = sealed("new\n");
    let outside = folder.0.path().join("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::write(outside.join("a.h"), sealed("old\n")).expect("a file");
    fs::create_dir_all(folder.root().join("c")).expect("a folder");
    symlink(outside.join("a.h"), folder.root().join("c/a.h")).expect("a link");
    symlink(&outside, folder.root().join("d")).expect("a link");
    symlink("nowhere", folder.root().join("e")).expect("a link");
    symlink("c", folder.root().join("inside")).expect("a link");
    for path in ["c/a.h", "d/a.h", "d/x/a.h", "e/a.h"] {
        let refused = folder.build(&[(path, &new)], Overwrite);
        assert_eq!(refused, Err(vec![Code::OutputLink]), "{path}");
    }
    assert_eq!(fs::read_to_string(outside.join("a.h")).ok(), Some(sealed("old\n")));
    assert_eq!(folder.build(&[("inside/b.h", &new)], KeepForeign), Ok(vec![Written]));
    assert_eq!(folder.read("c/b.h"), Some(new));
}

#[test]
fn outside_and_colliding_outputs_are_refused() {
    let folder = Folder::new();
    let outputs = [("../a.h", "x"), ("c/A.h", "x"), ("c/a.h", "x"), ("/etc/a.h", "x")];
    let refused = vec![Code::OutputCollision, Code::OutputOutside, Code::OutputOutside];
    assert_eq!(folder.build(&outputs, Overwrite), Err(refused));
    assert!(!folder.root().exists());
}

#[test]
fn stale_outputs_are_removed_unless_foreign() {
    let folder = Folder::new();
    let text = sealed("x\n");
    folder.write("c/old/a.h", &text);
    folder.write("opencl/a.cl", &text);
    folder.write("c/edited.h", &format!("{text}more\n"));
    folder.write("c/mine.h", "int mine;\n");
    let outputs = [("c/a.h", text.as_str())];
    let only_c = SweepScope::Folders(vec!["c".to_owned()]);
    assert_eq!(folder.sweep(&outputs, KeepForeign, &SweepScope::Nothing), Ok(vec![Written]));
    assert_eq!(folder.sweep(&outputs, KeepForeign, &only_c), Ok(vec![Unchanged, Removed]));
    let left = ["c", "c/a.h", "c/edited.h", "c/mine.h", "opencl", "opencl/a.cl"];
    assert_eq!(folder.names(), left);
    assert_eq!(folder.build(&outputs, KeepForeign), Ok(vec![Unchanged, Removed]));
    assert_eq!(folder.names(), left[..4]);
}

#[test]
fn write_failure_keeps_old_outputs_and_no_temporary_file() {
    let folder = Folder::new();
    let (old, new) = (sealed("old\n"), sealed("new\n"));
    folder.write("c/a.h", &old);
    // One byte longer than the limit of file systems.
    let long = format!("z/{}", "n".repeat(256));
    let texts = [("c/a.h", new.as_str()), (&long, "x")];
    assert_eq!(folder.build(&texts, KeepForeign), Err(vec![Code::OutputIo]));
    assert_eq!(folder.names(), ["c", "c/a.h"]);
    assert_eq!(
        fs::read_dir(folder.root().join(FOLDER).join("tmp")).ok().map(Iterator::count),
        None
    );
}

#[test]
fn concurrently_changed_output_is_replaced_only_if_a_file() {
    let folder = Folder::new();
    folder.write("c/a.h/mine", "mine");
    let mut state = StateFolder::find(folder.0.path()).expect("a place");
    let lock = state.lock(|_| panic!("nobody holds it")).expect("a lock");
    let put = |path| {
        let hash = ContentHash::of(b"new");
        let new = BTreeMap::from([(path, NewOutput { text: "new", hash: &hash, is_first: false })]);
        apply(&OutputDir::new(&folder.root(), ""), &state, &new, &[], &lock)
            .map(|facts| facts.len())
    };
    assert!(matches!(put("c/a.h"), Err(CommandError::Machine(_))));
    assert_eq!(folder.read("c/a.h/mine").as_deref(), Some("mine"));
    assert_eq!(put("c/b.h").ok(), Some(1));
    assert_eq!(folder.read("c/b.h").as_deref(), Some("new"));
    assert_eq!(folder.names(), ["c", "c/a.h", "c/a.h/mine", "c/b.h"]);
    assert!(!folder.root().join("../.layoutc/tmp").exists());
}

#[test]
fn temporary_files_of_a_killed_build_are_swept() {
    let folder = Folder::new();
    folder.write("../.layoutc/tmp/17", "half");
    folder.write("c/.mine", "mine");
    let text = sealed("x\n");
    assert_eq!(folder.build(&[("c/a.h", &text)], KeepForeign), Ok(vec![Written]));
    assert_eq!(folder.names(), ["c", "c/.mine", "c/a.h"]);
    assert!(!folder.root().join("../.layoutc/tmp").exists());
}

#[cfg(unix)]
#[test]
fn new_files_have_umask_permissions() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let text = sealed("x\n");
    folder.build(&[("c/a.h", &text)], KeepForeign).expect("written");
    let mode = |path: PathBuf| fs::metadata(path).expect("there").permissions().mode();
    let plain = folder.write("c/plain", "");
    assert_eq!(mode(folder.root().join("c/a.h")), mode(plain));
}
