//! What a build says of tensors, also of those that it did not check again.

use layoutc_compiler::abi::{Abi, abi};
use layoutc_compiler::check_with;
use layoutc_compiler::host::{Host, Key, Memo};
use layoutc_compiler::model::{Manifest, Tensor};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::project::files::Files;
use crate::report::summary::Row;
use crate::state::fact::Hash;
use crate::state::memo::Disk;

use super::job::Job;
use super::make::Made;
use super::scan::Scan;

/// The kinds of lines that are remembered.
const ROWS: &str = "rows";
const ABI: &str = "abi";

/// What the lines of a manifest are remembered by; `checked` is the key of its check.
pub(super) fn keys(checked: &Hash) -> [Key; 2] {
    [ROWS, ABI].map(|kind| Key::new(kind, &checked.0))
}

/// How many good tensors the manifests of a job have.
pub(super) fn tensors(job: &Job<'_>, scan: &Scan<'_>, made: &Made) -> usize {
    let count = |manifest: &String| match made.manifests.get(manifest) {
        Some(manifest) => manifest.tensors.len(),
        None => scan.tensors(job, manifest),
    };
    job.project.manifests.keys().map(count).sum()
}

/// The summary's lines for the first `room` tensors that were checked, how many more there are, and those for graphs.
pub(super) fn checked(job: &Job<'_>, made: &Made, room: usize) -> (Vec<Row>, usize) {
    let tensors = || made.manifests.values().flat_map(|manifest| &manifest.tensors);
    let first: Vec<Row> = tensors().take(room).map(|tensor| row(job, tensor)).collect();
    let more = tensors().count() - first.len();
    let graphs = made.manifests.values().flat_map(|manifest| &manifest.graphs);
    let graphs = graphs.filter_map(Row::graph).map(|row| shown(job, row));
    (first.into_iter().chain(graphs).collect(), more)
}

fn shown(job: &Job<'_>, row: Row) -> Row {
    let file = job.project.shown(row.file());
    row.of(file)
}

fn row(job: &Job<'_>, tensor: &Tensor) -> Row {
    Row::new(tensor).of(job.project.shown(&tensor.file))
}

/// The summary's lines for all tensors and their views.
pub(super) fn all(job: &Job<'_>, scan: &Scan<'_>, made: &Made, memo: &Disk) -> Vec<Row> {
    let rows = |manifest: &Manifest| {
        let tensors = manifest.tensors.iter().map(Row::new);
        let views = manifest.views.iter().map(Row::view);
        tensors.chain(views).chain(manifest.graphs.iter().filter_map(Row::graph)).collect()
    };
    each(job, scan, made, memo, ROWS, &rows).into_iter().map(|(_, row)| shown(job, row)).collect()
}

/// The layout ABI of all tensors, by manifest.
pub(super) fn all_abi(
    job: &Job<'_>,
    scan: &Scan<'_>,
    made: &Made,
    memo: &Disk,
) -> Vec<(String, Abi)> {
    // A view has the memory of its tensor.
    let all = |manifest: &Manifest| manifest.tensors.iter().map(abi).collect();
    each(job, scan, made, memo, ABI, &all)
}

/// What `of` says of the tensors of each manifest. It is remembered; where that was lost, the manifest is checked
/// again.
fn each<T: Serialize + DeserializeOwned>(
    job: &Job<'_>,
    scan: &Scan<'_>,
    made: &Made,
    memo: &Disk,
    kind: &str,
    of: &dyn Fn(&Manifest) -> Vec<T>,
) -> Vec<(String, T)> {
    let mut lines = Vec::new();
    for path in job.project.manifests.keys() {
        let key = made.checked.get(path).map(|checked| checked.key);
        let key = key.or_else(|| scan.fresh.get(path.as_str()).map(|fresh| fresh.key));
        let key = key.map(|key| Key::new(kind, &key.0));
        let known = key.and_then(|key| memo.recall(&key));
        let known: Option<Vec<T>> = known.and_then(|text| serde_json::from_slice(&text).ok());
        let found = known.unwrap_or_else(|| {
            let found: Vec<T> = match made.manifests.get(path) {
                Some(manifest) => of(manifest),
                None => again(job, memo, path).iter().flat_map(of).collect(),
            };
            if let (Some(key), Ok(text)) = (key, serde_json::to_vec(&found)) {
                memo.keep(&key, text);
            }
            found
        });
        lines.extend(found.into_iter().map(|line| (path.clone(), line)));
    }
    lines
}

fn again(job: &Job<'_>, memo: &Disk, path: &str) -> Vec<Manifest> {
    let sources = Files::new(&job.project.root);
    let host = Host { memo, ..Host::new(&sources) };
    check_with(&host, &[path.to_owned()], &job.project.config).manifests
}
