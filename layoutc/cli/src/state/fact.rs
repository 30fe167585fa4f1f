//! Facts that builds record in the log of a project. A later fact replaces an earlier one of the same kind about the
//! same file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::OnceLock;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::stat::FileStat;

/// BLAKE3 hash. It is the hash of the content of a file, or a cache key: the hash of everything that a result depends
/// on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ContentHash(#[serde(with = "serde_bytes")] pub(crate) [u8; 32]);

impl ContentHash {
    pub(crate) fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }

    /// Hash of the content of `file` from the position of its cursor to its end.
    ///
    /// # Errors
    /// An error of the system in reading.
    pub(crate) fn of_file(file: File) -> io::Result<Self> {
        Ok(Self(*blake3::Hasher::new().update_reader(file)?.finalize().as_bytes()))
    }
}

/// Map from names, such as paths, to values. The hash function `FxHash` does not resist attacks, which is acceptable
/// because the names are those of the user's own files.
type NameMap<'a, T> = IndexMap<&'a str, T, FxBuildHasher>;

pub(crate) type PathSet<'a> = IndexSet<&'a str, FxBuildHasher>;

/// Hash of the content of a file, with the metadata that the file had when it was hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// Metadata of the file. While it is unchanged, the content counts as unchanged. `None` if the file must be read to
    /// detect a change.
    pub(crate) stat: Option<FileStat>,
    pub(crate) hash: ContentHash,
}

/// Result of the check of a valid manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckRecord<'a> {
    /// Cache key of the check: hash of everything that its result depends on.
    pub(crate) key: ContentHash,
    /// Paths of the manifests that the manifest uses, directly or indirectly, relative to the root of the project.
    #[serde(borrow)]
    pub(crate) uses: Vec<&'a str>,
    /// Paths of the files that must not exist, relative to the root of the project.
    #[serde(borrow)]
    pub(crate) absent: Vec<&'a str>,
    /// Number of tensors in the manifest.
    pub(crate) tensors: u64,
    /// Warnings of the check, a list of `Diagnostic` encoded by postcard; empty if there are none.
    pub(crate) warnings: &'a [u8],
}

/// Files that a build generated from a manifest for one code-generation target, such as `c`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmitRecord<'a> {
    /// Cache key of the files: hash of everything that they depend on.
    pub(crate) key: ContentHash,
    /// Pairs of the path of a file, relative to the output folder, and the fingerprint of the file as it was written.
    #[serde(borrow)]
    pub(crate) outputs: Vec<(&'a str, Fingerprint)>,
}

impl<'a> EmitRecord<'a> {
    pub(crate) fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.outputs.iter().map(|(path, _)| *path)
    }
}

/// Fact that a build records. Paths of inputs are relative to the root of the project, paths of outputs to the output
/// folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BuildFact<'a> {
    /// Boot id of the machine, by which a restart is detected. After an unclean restart, data that was written shortly
    /// before may be lost.
    Boot(&'a str),
    /// Path and fingerprint of an input that was read.
    Input(&'a str, Fingerprint),
    /// Path and fingerprint of an output that was written, or found up to date.
    Output(&'a str, Fingerprint),
    /// Path of a file that is no longer an output.
    Removed(&'a str),
    /// Path of a manifest that was checked, and the result of the check.
    Checked(&'a str, #[serde(borrow)] CheckRecord<'a>),
    /// Name of a code-generation target, path of a manifest, and the files that were generated for the two.
    Emitted(&'a str, &'a str, #[serde(borrow)] EmitRecord<'a>),
    /// Path of an output that is about to be written, and the hash of its new text. If the build is killed, the file
    /// may have that text although the log has no fact `Output` about it.
    Coming(&'a str, ContentHash),
    /// Folders in the output folder that contained only outputs of layoutc, as pairs of path and metadata.
    Swept(#[serde(borrow)] Vec<(&'a str, FileStat)>),
}

/// Number of bytes in the log per manifest, estimated low. It gives the initial capacity of the maps.
const BYTES_EACH: usize = 384;

/// State of a project that follows from the facts in its log. A later fact replaces an earlier one of the same kind
/// about the same file.
#[derive(Debug, Default)]
pub(crate) struct BuildFacts<'a> {
    /// Boot id of the machine at the last build.
    pub(crate) boot: &'a str,
    /// Fingerprints of the files that the last builds read, by path.
    pub(crate) inputs: NameMap<'a, Fingerprint>,
    /// Fingerprints by path that take precedence over those in `emitted`. They are of outputs that were examined after
    /// their generation, and of files that are no longer generated. `None` for a file that is no longer an output of
    /// layoutc.
    found: NameMap<'a, Option<Fingerprint>>,
    /// Hashes of texts that a killed build may have written to outputs, by path.
    pub(crate) coming: BTreeMap<&'a str, ContentHash>,
    /// Pairs of path and metadata: folders that contain no other files than known outputs, as long as they have this
    /// metadata. Empty after new files were generated.
    pub(crate) swept: Vec<(&'a str, FileStat)>,
    /// Results of the last checks, by path of the manifest.
    pub(crate) checked: NameMap<'a, CheckRecord<'a>>,
    /// Generated files by code-generation target, and by path of the manifest, which is empty for the umbrella header.
    emitted: BTreeMap<&'a str, NameMap<'a, EmitEntry<'a>>>,
    /// Number of facts [`BuildFact::Emitted`] so far. Each is one generation of the files of a unit, a pair of
    /// code-generation target and manifest.
    times: usize,
    /// Generated files by path, as pairs of a number and a fingerprint: the [`EmitEntry::nth`] of the generation that
    /// wrote the file last, and the fingerprint of the file. Computed on demand from `emitted`.
    made: OnceLock<NameMap<'a, (usize, Fingerprint)>>,
}

/// Generated files of a unit (target and manifest), and the number of their generation, from 1. Two units may list one
/// file, for example after a manifest was renamed; the later generation then wrote the file last.
#[derive(Debug)]
struct EmitEntry<'a> {
    nth: usize,
    emitted: EmitRecord<'a>,
}

impl<'a> BuildFacts<'a> {
    /// Empty state, with capacity for the facts of a log of `bytes` bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let manifests = bytes / BYTES_EACH;
        let hasher = FxBuildHasher;
        Self {
            inputs: NameMap::with_capacity_and_hasher(manifests, hasher),
            checked: NameMap::with_capacity_and_hasher(manifests, hasher),
            ..Self::default()
        }
    }

    /// Updates the state by `fact`, the next fact of the log.
    pub(crate) fn learn(&mut self, fact: BuildFact<'a>) {
        match fact {
            BuildFact::Boot(boot) => self.boot = boot,
            BuildFact::Input(path, known) => drop(self.inputs.insert(path, known)),
            BuildFact::Output(path, known) => {
                self.coming.remove(path);
                self.found.insert(path, Some(known));
            }
            BuildFact::Removed(path) => {
                self.coming.remove(path);
                self.found.insert(path, None);
            }
            BuildFact::Coming(path, hash) => drop(self.coming.insert(path, hash)),
            BuildFact::Swept(folders) => self.swept = folders,
            BuildFact::Checked(manifest, checked) => drop(self.checked.insert(manifest, checked)),
            BuildFact::Emitted(target, manifest, emitted) => self.emit(target, manifest, emitted),
        }
    }

    fn emit(&mut self, target: &'a str, manifest: &'a str, emitted: EmitRecord<'a>) {
        self.swept.clear();
        self.made = OnceLock::new();
        let is_bare = self.found.is_empty();
        for path in emitted.paths().filter(|_| !is_bare) {
            self.found.swap_remove(path);
        }
        let room = || NameMap::with_capacity_and_hasher(self.checked.len(), FxBuildHasher);
        let of_target = self.emitted.entry(target).or_insert_with(room);
        let old = of_target.swap_remove(manifest);
        // Files that are no longer emitted were still written by layoutc.
        for (path, known) in old.into_iter().flat_map(|old| old.emitted.outputs) {
            if emitted.paths().all(|kept| kept != path) {
                self.found.entry(path).or_insert(Some(known));
            }
        }
        self.times += 1;
        of_target.insert(manifest, EmitEntry { nth: self.times, emitted });
    }

    /// Fingerprint of the output at `path`; `None` if the log has no such output, or has it as removed.
    pub(crate) fn output(&self, path: &str) -> Option<&Fingerprint> {
        match self.found.get(path) {
            Some(found) => found.as_ref(),
            None => self.made().get(path).map(|(_, known)| known),
        }
    }

    fn made(&self) -> &NameMap<'a, (usize, Fingerprint)> {
        self.made.get_or_init(|| {
            let mut made = NameMap::default();
            for (.., EmitEntry { nth, emitted }) in self.in_order() {
                made.extend(emitted.outputs.iter().map(|(path, known)| (*path, (*nth, *known))));
            }
            made
        })
    }

    /// Triples `(target, manifest, entry)`, one for each unit, in the order of generation. `manifest` is the path of
    /// the manifest, `entry` has the generated files.
    fn in_order(&self) -> Vec<(&'a str, &'a str, &EmitEntry<'a>)> {
        let of = self.emitted.iter();
        let mut all: Vec<_> =
            of.flat_map(|(target, of)| of.iter().map(move |(m, l)| (*target, *m, l))).collect();
        all.sort_by_key(|(.., learned)| learned.nth);
        all
    }

    /// Triples `(path, hash, fingerprint)`, one for each file of `unit`, a pair of target and path of the manifest.
    /// `hash` is that of the generated text. `fingerprint` is the current one, `None` if the file is no longer an
    /// output.
    pub(crate) fn files(
        &self,
        unit: (&str, &str),
    ) -> impl Iterator<Item = (&'a str, &ContentHash, Option<&Fingerprint>)> {
        let files = self.emitted(unit).map_or(&[][..], |emitted| &emitted.outputs);
        files.iter().map(|(path, known)| {
            let found = self.found.get(path).map(Option::as_ref);
            (*path, &known.hash, found.unwrap_or(Some(known)))
        })
    }

    /// Drops the metadata of all files, so that every file must be read again.
    pub(crate) fn forget_stats(&mut self) {
        let emitted = self.emitted.values_mut().flat_map(IndexMap::values_mut);
        let emitted = emitted.flat_map(|l| l.emitted.outputs.iter_mut().map(|(_, known)| known));
        let all = self.inputs.values_mut().chain(self.found.values_mut().flatten()).chain(emitted);
        all.for_each(|known| known.stat = None);
        self.swept = Vec::new();
        self.made = OnceLock::new();
    }

    /// Generated files of the unit (target, manifest), `None` if nothing was generated for it.
    pub(crate) fn emitted(&self, (target, manifest): (&str, &str)) -> Option<&EmitRecord<'a>> {
        self.emitted.get(target)?.get(manifest).map(|learned| &learned.emitted)
    }

    /// True if exactly `units` units (pairs of target and manifest) have generated files, no output was examined after
    /// its generation, and no file of an earlier build is no longer generated.
    pub(crate) fn are_all(&self, units: usize) -> bool {
        self.found.is_empty() && self.emitted.values().map(IndexMap::len).sum::<usize>() == units
    }

    /// Paths of all known outputs, sorted. They are the generated files of all units, and files that layoutc wrote but
    /// that no unit lists any more.
    pub(crate) fn outputs(&self) -> Vec<&'a str> {
        let found = self.found.iter().filter(|(_, found)| found.is_some());
        let mut paths: Vec<&str> =
            found.map(|(path, _)| *path).chain(self.made().keys().copied()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// True if layoutc wrote a text with the hash `hash` to the output at `path`, or was about to write it.
    pub(crate) fn wrote(&self, path: &str, hash: &ContentHash) -> bool {
        self.output(path).is_some_and(|known| known.hash == *hash)
            || self.coming.get(path) == Some(hash)
    }

    /// Lower bound of the number of facts in [`Self::all`], which is fast to compute. Facts about outputs that were
    /// examined after their generation, or are no longer generated, are not counted.
    pub(crate) fn len(&self) -> usize {
        let emitted: usize = self.emitted.values().map(IndexMap::len).sum();
        1 + usize::from(!self.swept.is_empty())
            + self.inputs.len()
            + self.coming.len()
            + self.checked.len()
            + emitted
    }

    /// Facts that restore this state from an empty one, in an order in which [`Self::learn`] accepts them.
    pub(crate) fn all(&self) -> Vec<BuildFact<'a>> {
        let mut all = vec![BuildFact::Boot(self.boot)];
        all.extend(self.inputs.iter().map(|(path, known)| BuildFact::Input(path, *known)));
        all.extend(self.coming.iter().map(|(path, hash)| BuildFact::Coming(path, *hash)));
        all.extend(self.checked.iter().map(|(m, checked)| BuildFact::Checked(m, checked.clone())));
        let (mut rest, made) = (self.found.clone(), self.made());
        for (target, manifest, EmitEntry { nth, emitted }) in self.in_order() {
            let mut emitted = emitted.clone();
            for (path, known) in &mut emitted.outputs {
                let is_last = made.get(path).is_some_and(|(last, _)| last == nth);
                if let Some(Some(found)) = rest.get(path)
                    && found.hash == known.hash
                    && is_last
                {
                    *known = *found;
                    rest.swap_remove(path);
                }
            }
            all.push(BuildFact::Emitted(target, manifest, emitted));
        }
        all.extend(rest.into_iter().map(|(path, found)| match found {
            Some(known) => BuildFact::Output(path, known),
            None => BuildFact::Removed(path),
        }));
        // Last: if the end of the log is lost, the folders are not assumed to be tidy.
        all.extend((!self.swept.is_empty()).then(|| BuildFact::Swept(self.swept.clone())));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Fingerprint {
        Fingerprint { stat: None, hash: ContentHash::of(text.as_bytes()) }
    }

    fn emitted<'a>(manifest: &'a str, files: &[(&'a str, &str)]) -> BuildFact<'a> {
        let outputs = files.iter().map(|(path, text)| (*path, known(text))).collect();
        BuildFact::Emitted("c", manifest, EmitRecord { key: ContentHash::default(), outputs })
    }

    fn learn<'a>(facts: impl IntoIterator<Item = BuildFact<'a>>) -> BuildFacts<'a> {
        let mut all = BuildFacts::default();
        facts.into_iter().for_each(|fact| all.learn(fact));
        all
    }

    #[test]
    fn written_outputs_are_known_until_removed() {
        let before = emitted("m", &[("a.h", "1"), ("a.json", "1")]);
        let renamed = emitted("m", &[("a.h", "2"), ("b.json", "1")]);
        let found = Fingerprint { stat: None, hash: ContentHash::of(b"3") };
        let mut facts = vec![before, BuildFact::Output("a.h", found)];
        assert_eq!(learn(facts.clone()).output("a.h"), Some(&found));
        // A later emission overrides an earlier finding.
        facts.push(renamed);
        let now = learn(facts.clone());
        assert_eq!(now.output("a.h"), Some(&known("2")));
        assert_eq!(now.output("a.json"), Some(&known("1")));
        assert!(
            now.wrote("b.json", &ContentHash::of(b"1"))
                && !now.wrote("c.json", &ContentHash::of(b"1"))
        );
        facts.extend([BuildFact::Removed("a.json"), BuildFact::Removed("b.json")]);
        let now = learn(facts);
        assert_eq!((now.output("a.json"), now.output("b.json")), (None, None));
        assert_eq!(now.files(("c", "m")).filter_map(|(_, _, known)| known).count(), 1);
        // Rewritten, the facts are equivalent.
        let again = learn(now.all());
        let all = ["a.h", "a.json", "b.json"];
        assert_eq!(all.map(|path| again.output(path)), all.map(|path| now.output(path)));
    }

    #[test]
    fn last_manifest_of_a_shared_output_wins() {
        let old = || emitted("old", &[("m.json", "old")]);
        let new = |text| emitted("new", &[("m.json", text)]);
        let found = Fingerprint { stat: None, hash: ContentHash::of(b"two") };
        let facts = [new("one"), old(), new("two"), BuildFact::Output("m.json", found)];
        let now = learn(facts);
        assert_eq!(now.output("m.json"), Some(&found));
        let again = learn(now.all());
        assert_eq!(again.output("m.json"), Some(&found));
        let later = learn(again.all().into_iter().chain([new("two")]));
        assert_eq!(later.output("m.json"), Some(&known("two")));
    }
}
