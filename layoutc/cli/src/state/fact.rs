//! What a build found to be true. A later fact takes the place of an earlier one of the same kind and name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::OnceLock;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::stat::FileStat;

/// A hash of a content, or of all that a result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ContentHash(#[serde(with = "serde_bytes")] pub(crate) [u8; 32]);

impl ContentHash {
    /// The hash of a content.
    pub(crate) fn of(content: &[u8]) -> Self {
        Self(*blake3::hash(content).as_bytes())
    }

    /// The hash of what is read from here on.
    pub(crate) fn of_file(file: File) -> io::Result<Self> {
        Ok(Self(*blake3::Hasher::new().update_reader(file)?.finalize().as_bytes()))
    }
}

/// What is looked up by name. The names come from the user's own files: nobody gains by making them collide.
type NameMap<'a, T> = IndexMap<&'a str, T, FxBuildHasher>;

/// Some paths.
pub(crate) type PathSet<'a> = IndexSet<&'a str, FxBuildHasher>;

/// What stood in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// As long as the file has this, its content is the same; `None`: it must be read to know.
    pub(crate) stat: Option<FileStat>,
    /// Of the content.
    pub(crate) hash: ContentHash,
}

/// A manifest that was checked and is good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckRecord<'a> {
    /// Of all that the outcome depends on.
    pub(crate) key: ContentHash,
    /// The other manifests that it uses, directly or not.
    #[serde(borrow)]
    pub(crate) uses: Vec<&'a str>,
    /// How many tensors it has.
    pub(crate) tensors: u64,
    /// Its warnings, encoded; empty without one.
    pub(crate) warnings: &'a [u8],
}

/// What was made of a manifest for one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmitRecord<'a> {
    /// Of all that the files depend on.
    pub(crate) key: ContentHash,
    /// The files: paths below the output folder, and what was written there.
    #[serde(borrow)]
    pub(crate) outputs: Vec<(&'a str, Fingerprint)>,
}

impl<'a> EmitRecord<'a> {
    /// The paths of the files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.outputs.iter().map(|(path, _)| *path)
    }
}

/// One fact. Paths of inputs are relative to the project's folder, those of outputs to the output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BuildFact<'a> {
    /// The machine was started, and this names that start: what was written before it may have been lost.
    Boot(&'a str),
    /// An input was read.
    Input(&'a str, Fingerprint),
    /// An output was written, or found to be as it should be.
    Output(&'a str, Fingerprint),
    /// An output is no longer one.
    Removed(&'a str),
    /// A manifest was checked.
    Checked(&'a str, #[serde(borrow)] CheckRecord<'a>),
    /// Files were made: target and manifest.
    Emitted(&'a str, &'a str, #[serde(borrow)] EmitRecord<'a>),
    /// An output is about to be written: its text may stand there, should the build not come to say so.
    Coming(&'a str, ContentHash),
    /// In these folders below the output folder there was no file but outputs of layoutc's.
    Swept(#[serde(borrow)] Vec<(&'a str, FileStat)>),
}

/// A log holds at least so many bytes for each manifest that was made into outputs.
const BYTES_EACH: usize = 384;

/// All facts that still hold.
#[derive(Debug, Default)]
pub(crate) struct BuildFacts<'a> {
    /// The start of the machine in which the last build ran.
    pub(crate) boot: &'a str,
    /// By path.
    pub(crate) inputs: NameMap<'a, Fingerprint>,
    /// What was found of outputs since they were made, by path, and what is known of those that nothing makes any more;
    /// `None`: it is no output of ours.
    found: NameMap<'a, Option<Fingerprint>>,
    /// What may stand there instead, by path.
    pub(crate) coming: BTreeMap<&'a str, ContentHash>,
    /// The folders in which there is no file but outputs that are known here, as long as they have this; forgotten when
    /// something is emitted.
    pub(crate) swept: Vec<(&'a str, FileStat)>,
    /// By manifest.
    pub(crate) checked: NameMap<'a, CheckRecord<'a>>,
    /// By target, then by manifest; the umbrella header has the manifest "".
    emitted: BTreeMap<&'a str, NameMap<'a, EmitEntry<'a>>>,
    /// How often something was emitted.
    times: usize,
    /// The outputs of what was emitted last, by path, with when that was; made when it is asked for.
    made: OnceLock<NameMap<'a, (usize, Fingerprint)>>,
}

/// What was emitted, and when: a manifest that is gone may have been made into the same file before.
#[derive(Debug)]
struct EmitEntry<'a> {
    nth: usize,
    emitted: EmitRecord<'a>,
}

impl<'a> BuildFacts<'a> {
    /// None, with room for about as many as a log of so many bytes holds.
    pub(crate) fn with_room(bytes: usize) -> Self {
        let manifests = bytes / BYTES_EACH;
        let hasher = FxBuildHasher;
        Self {
            inputs: NameMap::with_capacity_and_hasher(manifests, hasher),
            checked: NameMap::with_capacity_and_hasher(manifests, hasher),
            ..Self::default()
        }
    }

    /// Takes a fact in.
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
        // What it is not made into any more was still written by us.
        for (path, known) in old.into_iter().flat_map(|old| old.emitted.outputs) {
            if emitted.paths().all(|kept| kept != path) {
                self.found.entry(path).or_insert(Some(known));
            }
        }
        self.times += 1;
        of_target.insert(manifest, EmitEntry { nth: self.times, emitted });
    }

    /// What is known of an output.
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

    /// What was emitted, with its target and manifest, in the order in which it was.
    fn in_order(&self) -> Vec<(&'a str, &'a str, &EmitEntry<'a>)> {
        let of = self.emitted.iter();
        let mut all: Vec<_> =
            of.flat_map(|(target, of)| of.iter().map(move |(m, l)| (*target, *m, l))).collect();
        all.sort_by_key(|(.., learned)| learned.nth);
        all
    }

    /// The files that were made for a target of a manifest, with what is known of each.
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

    /// Forgets what files had when they were looked at: each must be read to know it.
    pub(crate) fn forget_stats(&mut self) {
        let emitted = self.emitted.values_mut().flat_map(IndexMap::values_mut);
        let emitted = emitted.flat_map(|l| l.emitted.outputs.iter_mut().map(|(_, known)| known));
        let all = self.inputs.values_mut().chain(self.found.values_mut().flatten()).chain(emitted);
        all.for_each(|known| known.stat = None);
        self.swept = Vec::new();
        self.made = OnceLock::new();
    }

    /// What was made for a target of a manifest.
    pub(crate) fn emitted(&self, (target, manifest): (&str, &str)) -> Option<&EmitRecord<'a>> {
        self.emitted.get(target)?.get(manifest).map(|learned| &learned.emitted)
    }

    /// Whether nothing is known of any output but of what `units` of what was emitted became.
    pub(crate) fn are_all(&self, units: usize) -> bool {
        self.found.is_empty() && self.emitted.values().map(IndexMap::len).sum::<usize>() == units
    }

    /// The paths of all outputs of which anything is known.
    pub(crate) fn outputs(&self) -> Vec<&'a str> {
        let found = self.found.iter().filter(|(_, found)| found.is_some());
        let mut paths: Vec<&str> =
            found.map(|(path, _)| *path).chain(self.made().keys().copied()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Whether layoutc wrote a file with this hash to the output `path`.
    pub(crate) fn wrote(&self, path: &str, hash: &ContentHash) -> bool {
        self.output(path).is_some_and(|known| known.hash == *hash)
            || self.coming.get(path) == Some(hash)
    }

    /// How many there are, but for what was found of outputs.
    pub(crate) fn len(&self) -> usize {
        let emitted: usize = self.emitted.values().map(IndexMap::len).sum();
        1 + usize::from(!self.swept.is_empty())
            + self.inputs.len()
            + self.coming.len()
            + self.checked.len()
            + emitted
    }

    /// The facts one by one.
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
        // Last: where the end of the log is lost, nothing is said of outputs that are not known.
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
    fn what_was_written_is_known_until_it_is_removed() {
        let before = emitted("m", &[("a.h", "1"), ("a.json", "1")]);
        let renamed = emitted("m", &[("a.h", "2"), ("b.json", "1")]);
        let found = Fingerprint { stat: None, hash: ContentHash::of(b"3") };
        let mut facts = vec![before, BuildFact::Output("a.h", found)];
        assert_eq!(learn(facts.clone()).output("a.h"), Some(&found));
        // What is made later counts for more than what was found before.
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
        // Written anew, the facts say the same.
        let again = learn(now.all());
        let all = ["a.h", "a.json", "b.json"];
        assert_eq!(all.map(|path| again.output(path)), all.map(|path| now.output(path)));
    }

    #[test]
    fn of_two_manifests_that_were_made_into_one_file_the_later_one_counts() {
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
