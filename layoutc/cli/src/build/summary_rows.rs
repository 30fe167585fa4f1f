//! Summary rows of tensors, including tensors of manifests that were not checked again.

use layoutc_compiler::Compiler;
use layoutc_compiler::env::{CacheKey, CompileEnv, ResultCache};
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::query::abi::{Abi, abi};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::project::files::ProjectFiles;
use crate::state::fact::ContentHash;
use crate::state::memo::DiskMemo;

use super::job::BuildJob;
use super::make::BuildProducts;
use super::scan::BuildScan;
use super::summary::TensorRow;

/// Name of the cached summary rows of a manifest in cache keys; [`ABI`] is that of the cached layout ABI.
const ROWS: &str = "rows";
const ABI: &str = "abi";

/// Cache keys of a manifest: that of its summary rows, then that of its layout ABI. `checked` is the cache key of the
/// check of the manifest.
pub(super) fn keys(checked: &ContentHash) -> [CacheKey; 2] {
    [ROWS, ABI].map(|kind| CacheKey::new(kind, &checked.0))
}

/// Number of valid tensors in the manifests of `job`: as this build checked them (`made`), else as their valid cached
/// checks say (`scan`).
pub(super) fn tensors(job: &BuildJob<'_>, scan: &BuildScan<'_>, made: &BuildProducts) -> usize {
    let count = |manifest: &String| match made.manifests.get(manifest) {
        Some(manifest) => manifest.tensors.len(),
        None => scan.tensors(job, manifest),
    };
    job.project.manifests.keys().map(count).sum()
}

/// Pair `(rows, more)`. `rows` are the rows of the first `room` tensors that this build checked, and of all graphs in
/// the checked manifests. `more` is the number of checked tensors without a row.
pub(super) fn checked(
    job: &BuildJob<'_>,
    made: &BuildProducts,
    room: usize,
) -> (Vec<TensorRow>, usize) {
    let tensors = || made.manifests.values().flat_map(|manifest| &manifest.tensors);
    let first: Vec<TensorRow> = tensors().take(room).map(|tensor| row(job, tensor)).collect();
    let more = tensors().count() - first.len();
    let graphs = made.manifests.values().flat_map(|manifest| &manifest.graphs);
    let graphs = graphs.filter_map(TensorRow::graph).map(|row| shown(job, row));
    (first.into_iter().chain(graphs).collect(), more)
}

fn shown(job: &BuildJob<'_>, row: TensorRow) -> TensorRow {
    let file = job.project.shown(row.file());
    row.of(file)
}

fn row(job: &BuildJob<'_>, tensor: &Tensor) -> TensorRow {
    TensorRow::new(tensor).of(job.project.shown(&tensor.file))
}

/// Rows of all tensors, views and graphs in the manifests of `job`: from the cache `memo`, else from the manifests that
/// this build checked (`made`), else from a new check.
pub(super) fn all(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &BuildProducts,
    memo: &DiskMemo,
) -> Vec<TensorRow> {
    let rows = |manifest: &Manifest| {
        let tensors = manifest.tensors.iter().map(TensorRow::new);
        let views = manifest.views.iter().map(TensorRow::view);
        tensors.chain(views).chain(manifest.graphs.iter().filter_map(TensorRow::graph)).collect()
    };
    each(job, scan, made, memo, ROWS, &rows).into_iter().map(|(_, row)| shown(job, row)).collect()
}

/// Pairs of the path of the manifest and the layout ABI, one for each tensor of `job` (views have none), in the order
/// of manifests and declarations.
pub(super) fn all_abi(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &BuildProducts,
    memo: &DiskMemo,
) -> Vec<(String, Abi)> {
    // A view shares the memory of its tensor.
    let all = |manifest: &Manifest| manifest.tensors.iter().map(abi).collect();
    each(job, scan, made, memo, ABI, &all)
}

/// Results of `of` for the manifests of `job`, as pairs of the path of the manifest and one result. The results are
/// looked up and stored in the cache `memo` under the name `kind`. A manifest without cached results is checked again,
/// unless this build checked it.
fn each<T: Serialize + DeserializeOwned>(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &BuildProducts,
    memo: &DiskMemo,
    kind: &str,
    of: &dyn Fn(&Manifest) -> Vec<T>,
) -> Vec<(String, T)> {
    let mut lines = Vec::new();
    for path in job.project.manifests.keys() {
        let key = made.checked.get(path).map(|checked| checked.key);
        let key = key.or_else(|| scan.fresh.get(path.as_str()).map(|fresh| fresh.key));
        let key = key.map(|key| CacheKey::new(kind, &key.0));
        let known = key.and_then(|key| memo.recall(&key));
        let known: Option<Vec<T>> = known.and_then(|text| serde_json::from_slice(&text).ok());
        let found = known.unwrap_or_else(|| {
            let found: Vec<T> = match made.manifests.get(path) {
                Some(manifest) => of(manifest),
                None => recheck_manifest(job, memo, path).iter().flat_map(of).collect(),
            };
            if let (Some(key), Ok(text)) = (key, serde_json::to_vec(&found)) {
                memo.store(&key, text);
            }
            found
        });
        lines.extend(found.into_iter().map(|line| (path.clone(), line)));
    }
    lines
}

fn recheck_manifest(job: &BuildJob<'_>, memo: &DiskMemo, path: &str) -> Vec<Manifest> {
    let sources = ProjectFiles::new(&job.project.root);
    let host = CompileEnv { memo, ..CompileEnv::new(&sources) };
    Compiler::new(host, &job.project.config).check(&[path.to_owned()]).manifests
}
