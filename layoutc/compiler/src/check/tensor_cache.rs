//! Cache of checked tensors for incremental checks, for editors that check a manifest after every keystroke. A tensor
//! is reused if its own text and the texts of everything that it may name, including used manifests, are unchanged; its
//! locations are remapped to the new text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::load::ManifestSet;
use super::scope::{ManifestScope, ManifestScopes};
use super::step_recorder::{Recorder, StepRecord};
use super::tensor::CheckedTensor;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::lenient::slice;
use crate::manifest::syntax::{ManifestSyntax, TensorItem};
use crate::model::{Tensor, TensorSpans};

/// Cache of the valid tensors of each manifest's last check, by the manifest's path. It must serve one configuration
/// only.
#[derive(Debug, Default)]
pub struct TensorCache(Mutex<BTreeMap<Arc<str>, Arc<CachedManifest>>>);

/// Blake3 hash, 32 bytes.
type TextHash = [u8; 32];

/// Key of a cached tensor: (hash of the tensor's text, true if the tensor has views, true if its layout steps are
/// recorded).
type TensorCacheKey = (TextHash, bool, bool);

/// Valid tensors of the last check of one manifest, without those that have `like=`.
#[derive(Debug)]
struct CachedManifest {
    /// Hash of the texts that the check of a tensor reads in addition to its own text: the items that tensors may refer
    /// to, and all used manifests. If it changes, no tensor of the manifest is reused.
    around: TextHash,
    tensors: BTreeMap<TensorCacheKey, Arc<CachedTensor>>,
}

#[derive(Debug)]
struct CachedTensor {
    checked: CheckedTensor,
    /// Byte range of the tensor's node in the text that was checked.
    node: Range<usize>,
    /// Byte ranges, in the text that was checked, of the items that the tensor may name, in the order of the function
    /// [`named`].
    named: Arc<[Range<usize>]>,
}

/// Access to the cache during the check of one manifest. `before` are the tensors of its last check; `None` if there
/// was none, or if they must not be reused because `around` differs. `around` is as in [`CachedManifest`] and `named`
/// as in [`CachedTensor`], for the current text.
pub(super) struct CacheLookup<'a> {
    cache: &'a TensorCache,
    syntax: &'a ManifestSyntax,
    text: &'a str,
    around: TextHash,
    named: Arc<[Range<usize>]>,
    before: Option<Arc<CachedManifest>>,
}

impl TensorCache {
    /// Opens the cache for the check of the manifest at position `file` in `files`; `None` for an invalid position.
    pub(super) fn open<'a>(
        &'a self,
        file: usize,
        files: &'a ManifestSet,
        scopes: &ManifestScopes,
    ) -> Option<CacheLookup<'a>> {
        let syntax = files.syntax(file)?;
        let ManifestScope { broken, torn, .. } = scopes.get(file)?;
        let text = files.text(file);
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&text.len().to_le_bytes()).update(text.as_bytes());
        };
        let named = named(syntax);
        named.iter().for_each(|span| add(slice(text, span)));
        add(&format!("{broken:?} {torn}"));
        files.closure(file).into_iter().filter(|used| *used != file).for_each(|used| {
            add(files.syntax(used).map_or("", |syntax| &syntax.file));
            add(files.text(used));
        });
        let around = *hasher.finalize().as_bytes();
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.get(&syntax.file).filter(|before| before.around == around).cloned();
        Some(CacheLookup { cache: self, syntax, text, around, named: named.into(), before })
    }
}

/// Byte ranges of the items other than tensors that a tensor may name in its own manifest: `use` items, then
/// consts, symbols, memory spaces, meshes and transforms.
fn named(syntax: &ManifestSyntax) -> Vec<Range<usize>> {
    let ManifestSyntax { uses, consts, symbols, memory_spaces, meshes, transforms, .. } = syntax;
    let uses = uses.iter().map(|item| item.span.clone());
    let consts = consts.iter().map(|item| item.name.span.start..item.value.span().end);
    let symbols = symbols.iter().map(|item| item.span.clone());
    let spaces = memory_spaces.iter().map(|item| item.span.clone());
    let meshes = meshes.iter().map(|item| item.span.clone());
    let transforms = transforms.iter().map(|item| item.span.clone());
    uses.chain(consts).chain(symbols).chain(spaces).chain(meshes).chain(transforms).collect()
}

impl CacheLookup<'_> {
    fn key(&self, item: &TensorItem, is_viewed: bool, is_recorded: bool) -> TensorCacheKey {
        let hash = blake3::hash(slice(self.text, &item.span).as_bytes());
        (*hash.as_bytes(), is_viewed, is_recorded)
    }

    /// Cached result for the tensor `item`, with its locations remapped to the current text. `None` if the tensor is
    /// not cached or a location cannot be remapped, so that it must be checked. `is_viewed` is true if the tensor has
    /// views; if `recorder` selects the tensor, the result has its steps.
    pub(super) fn lookup(
        &self,
        item: &TensorItem,
        is_viewed: bool,
        recorder: Option<&Recorder>,
    ) -> Option<CheckedTensor> {
        let is_recorded = recorder.is_some_and(|recorder| recorder.wants(&item.name.value));
        let one = self.before.as_ref()?.tensors.get(&self.key(item, is_viewed, is_recorded))?;
        let remap =
            SpanRemap { file: &self.syntax.file, one, node: &item.span, named: &self.named };
        remap.remap_tensor()
    }

    /// Replaces the cached tensors of the manifest by the valid ones of `checked`, which is in manifest order. Tensors
    /// with `like=` are not cached, as the tensor that they refer to may change.
    pub(super) fn store(&self, checked: &[CheckResult<CheckedTensor>]) {
        let mut tensors = BTreeMap::new();
        for (item, result) in self.syntax.tensors.iter().zip(checked) {
            // The check of a tensor with `like=` depends on the text of another tensor, which the key does not include.
            let (None, Ok(tensor)) = (&item.like, result) else { continue };
            let key = self.key(item, tensor.builder.is_some(), tensor.recorded.is_some());
            let known = self.before.as_ref().and_then(|before| before.tensors.get(&key));
            let one = known.cloned().unwrap_or_else(|| {
                let (node, named) = (item.span.clone(), Arc::clone(&self.named));
                Arc::new(CachedTensor { checked: tensor.clone(), node, named })
            });
            tensors.insert(key, one);
        }
        let before = Arc::new(CachedManifest { around: self.around, tensors });
        let mut all = self.cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(Arc::clone(&self.syntax.file), before);
    }
}

/// Map of locations from the text in which the tensor `one` was checked to the current text of the manifest `file`.
/// `node` and `named` are the ranges of [`CachedTensor`] in the current text.
struct SpanRemap<'a> {
    file: &'a Arc<str>,
    one: &'a CachedTensor,
    node: &'a Range<usize>,
    named: &'a [Range<usize>],
}

impl SpanRemap<'_> {
    /// Cached tensor with its locations remapped; `None` if a location is outside of the tensor and the items that it
    /// may name.
    fn remap_tensor(&self) -> Option<CheckedTensor> {
        let CheckedTensor { tensor, builder, warnings, recorded } = &self.one.checked;
        let recorded = match recorded {
            Some(steps) => Some(steps.iter().map(|step| self.step(step)).collect::<Option<_>>()?),
            None => None,
        };
        Some(CheckedTensor {
            tensor: Tensor { places: self.places(&tensor.places)?, ..tensor.clone() },
            builder: builder.clone(),
            warnings: warnings
                .iter()
                .map(|diagnostic| self.remap_diagnostic(diagnostic))
                .collect::<Option<_>>()?,
            recorded,
        })
    }

    fn place(&self, place: &FileSpan) -> Option<FileSpan> {
        if place.file != *self.file {
            return Some(place.clone());
        }
        let CachedTensor { node, named, .. } = self.one;
        let own = std::iter::once((node, self.node));
        let mut all = own.chain(named.iter().zip(self.named));
        let (before, now) =
            all.find(|(before, _)| before.start <= place.start && place.end <= before.end)?;
        let moved = |offset: usize| Some(offset.checked_sub(before.start)? + now.start);
        Some(FileSpan::new(self.file, moved(place.start)?..moved(place.end)?))
    }

    fn places(&self, places: &TensorSpans) -> Option<TensorSpans> {
        let TensorSpans { layout, fill, separators, dtype, memory, shard } = places;
        Some(TensorSpans {
            layout: self.place(layout)?,
            fill: self.place(fill)?,
            separators: self.place(separators)?,
            dtype: self.place(dtype)?,
            memory: self.place(memory)?,
            shard: self.place(shard)?,
        })
    }

    fn remap_diagnostic(&self, diagnostic: &Diagnostic) -> Option<Diagnostic> {
        let mut diagnostic = diagnostic.clone();
        let labels = diagnostic.labels.iter_mut().map(|label| &mut label.place);
        for place in labels.chain(diagnostic.fixes.iter_mut().map(|fix| &mut fix.place)) {
            *place = self.place(place)?;
        }
        Some(diagnostic)
    }

    fn step(&self, step: &StepRecord) -> Option<StepRecord> {
        let mut step = step.clone();
        step.place = self.place(&step.place)?;
        if let Some(within) = &mut step.within {
            *within = self.place(within)?;
        }
        Some(step)
    }
}
