//! Checks of cache directives, `cache A at=k_outer`: finds the statements that use the tensor A inside the loop
//! `k_outer`, and makes a tensor in the shape of the cached tile.

use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::symbol::Axis;

use super::local;
use super::program::KernelLowering;
use super::schedule::KernelLoops;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::tensor::CheckedTensor;
use crate::manifest::syntax::{CacheItem, CacheMemory, InstanceItem, LocalItem, SpannedText};
use crate::model::compute::{BufferRef, LoopSchedule, SharedLoop, Statement, TileCache};
use crate::model::{Spanned, Tensor};

/// Cache directives of an instance, a kernel or a complete schedule, with the manifest that contains them.
pub(super) struct CacheDirectives<'a> {
    items: &'a [CacheItem],
    /// Position, among the loaded manifests, of the manifest in whose scope names in the directives are resolved.
    home: usize,
    file: Arc<str>,
}

impl<'a> CacheDirectives<'a> {
    /// Cache directives in the manifest with the path `file` and the position `home` among the loaded manifests.
    pub(super) fn new(items: &'a [CacheItem], home: usize, file: &Arc<str>) -> Self {
        Self { items, home, file: Arc::clone(file) }
    }

    /// Cache directives of `instance` if it has any, otherwise those of the kernel of `program`. `own` is the position
    /// of the instance's manifest among the loaded manifests, `file` the path of that manifest.
    pub(super) fn of(
        program: &'a KernelLowering<'_>,
        instance: Option<&'a InstanceItem>,
        (own, file): (usize, &Arc<str>),
    ) -> Self {
        match instance.filter(|item| !item.caches.is_empty()) {
            Some(item) => Self::new(&item.caches, own, file),
            None => Self::new(&program.def.item.caches, program.def.home, &program.def.file),
        }
    }

    /// Checks the directives on the statements of `program`, whose loops are those of `schedule`. Returns the pair
    /// `(caches, warnings)`: `caches` has the tile caches of each statement, by its position in `program.statements`.
    /// `loops` are the loops of the kernel, for the help of errors.
    ///
    /// # Errors
    /// The faults of each faulty directive.
    pub(super) fn checked(
        &self,
        program: &KernelLowering<'_>,
        schedule: &LoopSchedule,
        loops: &KernelLoops,
    ) -> CheckResult<(Vec<Vec<TileCache>>, Vec<Diagnostic>)> {
        let mut all: Vec<Vec<TileCache>> = vec![Vec::new(); program.statements.len()];
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let cached_loops: Vec<String> =
            self.items.iter().map(|item| item.at.value.clone()).collect();
        for item in self.items {
            let buffer = match self.buffer(program, item) {
                Ok(buffer) => buffer,
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            let mut is_used = false;
            for (statement, caches) in program.statements.iter().zip(&mut all) {
                match self.cache(program, (statement, schedule), (item, buffer), &cached_loops) {
                    Ok(None) => {}
                    Ok(Some((cache, more))) => {
                        is_used = true;
                        caches.push(cache);
                        warnings.extend(more);
                    }
                    Err(found) => {
                        is_used = true;
                        errors.extend(found);
                    }
                }
            }
            if !is_used {
                errors.push(self.unused(item, loops));
            }
        }
        // All caches of a statement use the same kind of memory.
        for caches in &all {
            let Some(first) = caches.first() else { continue };
            if let Some(other) = caches.iter().find(|other| other.is_shared != first.is_shared) {
                let place = other.at.place.clone();
                let message = "one statement has tiles in shared and in local memory".to_owned();
                let error = Diagnostic::error(Code::KernelCache, message, place, "");
                errors.push(error.help("use the same `memory` in all its caches"));
            }
        }
        if errors.is_empty() { Ok((all, warnings)) } else { Err(errors) }
    }

    fn fault(&self, span: &Range<usize>, message: String) -> Diagnostic {
        Diagnostic::error(Code::KernelCache, message, FileSpan::new(&self.file, span.clone()), "")
    }

    /// Buffer that the cache directive `item` names. `Err` unless it is an operand or a stored intermediate, with
    /// elements of at least one byte.
    pub(super) fn buffer(
        &self,
        program: &KernelLowering<'_>,
        item: &CacheItem,
    ) -> Result<BufferRef, Diagnostic> {
        let name = item.tensor.value.as_str();
        let Some(buffer) = program.buffer(name) else {
            let message = format!("`{name}` is not a stored tensor of the kernel");
            let operands = program.operands.iter().map(|operand| operand.name.value.as_str());
            let locals = program.locals.iter().map(|local| local.name.as_str());
            let known: Vec<&str> = operands.chain(locals).collect();
            let note = format!("the kernel's tensors are `{}`", known.join("`, `"));
            let error = self.fault(&item.tensor.span, message).note(note).nearest(name, known);
            return Err(if error.help.is_empty() { error.help("use one of these") } else { error });
        };
        let tensor = program.memory(buffer);
        if let Some(tensor) = tensor.filter(|tensor| tensor.dtype.element_bits() < 8) {
            let message = format!(
                "cannot cache `{name}`: its elements of type {} are smaller than a byte",
                tensor.dtype
            );
            let error = self.fault(&item.tensor.span, message);
            return Err(error.help("remove the cache, or use elements of at least one byte"));
        }
        Ok(buffer)
    }

    /// Tile cache of the directive `item` on `buffer` in `statement`, with the warnings about the layout of the tile.
    /// `None` for a scatter, or if the statement does not have the loop that the directive names, or does not access
    /// `buffer` at affine indices. `cached_loops` are the loops of all these directives. `Err` if the tile cannot be
    /// cached, for example because it has no constant size, or the statement reads and writes `buffer`.
    fn cache(
        &self,
        program: &KernelLowering<'_>,
        (statement, schedule): (&Statement, &LoopSchedule),
        (item, buffer): (&CacheItem, BufferRef),
        cached_loops: &[String],
    ) -> CheckResult<Option<(TileCache, Vec<Diagnostic>)>> {
        if statement.scatter.is_some() {
            return Ok(None);
        }
        let Some(target) = program.memory(statement.target) else { return Ok(None) };
        let at = Spanned { value: item.at.value.clone(), place: item.at.at(&self.file) };
        let own = (program.symbols.as_slice(), schedule);
        let tile_extents = program.place.planner.tile_extents;
        let shared = SharedLoop::of(&program.locals, &program.compute_at, statement);
        let extents = tile_extents(target, statement, own, (buffer, &at), (cached_loops, shared));
        let Some(extents) = extents.map_err(|fault| vec![*fault])? else { return Ok(None) };
        self.refuse_read_and_written(statement, (item, buffer))?;
        self.tile(program, (item, buffer), &extents).map(Some)
    }

    /// Error if `statement` both reads and writes `buffer`, which the directive `item` caches.
    pub(super) fn refuse_read_and_written(
        &self,
        statement: &Statement,
        (item, buffer): (&CacheItem, BufferRef),
    ) -> CheckResult<()> {
        if statement.target != buffer || !statement.reads(buffer) {
            return Ok(());
        }
        let message =
            format!("cannot cache `{}`: one statement reads and writes it", item.tensor.value);
        Err(vec![self.fault(&item.tensor.span, message).help("remove its cache")])
    }

    /// Tile cache of the directive `item` on `buffer`, with the warnings about the layout of the tile. `extents` are
    /// the extents of the tile, in elements, one for each axis of the buffer's tensor.
    pub(super) fn tile(
        &self,
        program: &KernelLowering<'_>,
        (item, buffer): (&CacheItem, BufferRef),
        extents: &[i128],
    ) -> CheckResult<(TileCache, Vec<Diagnostic>)> {
        let tensor = program.memory(buffer).ok_or_else(Vec::new)?;
        let at = Spanned { value: item.at.value.clone(), place: item.at.at(&self.file) };
        let made = self.block(program, item, (tensor, extents))?;
        let is_shared = item.memory == CacheMemory::Shared;
        let cache = TileCache { buffer, at, block: made.tensor, is_double: item.double, is_shared };
        Ok((cache, made.warnings))
    }

    /// Tensor of the cached tile in the layout that `item` gives: its axes have the names of the axes of the cached
    /// `tensor`, and the extents `extents`, in elements, one for each axis. `Err` if the layout is invalid.
    fn block(
        &self,
        program: &KernelLowering<'_>,
        item: &CacheItem,
        (tensor, extents): (&Tensor, &[i128]),
    ) -> CheckResult<CheckedTensor> {
        let axes = tensor.layout.logical().iter().zip(extents);
        let shape: Vec<Axis> = axes
            .map(|(axis, extent)| Axis { name: axis.name.clone(), extent: Expr::constant(*extent) })
            .collect();
        let span = item.tensor.span.clone();
        let dtype = SpannedText { value: tensor.dtype.to_string(), span, quoted: false };
        let local_item = LocalItem {
            name: item.tensor.clone(),
            dtype,
            layout: item.layout.clone(),
            at: None,
            span: item.span.clone(),
        };
        local::tensor(&local_item, &shape, &[], (program.place, self.home))
    }

    fn unused(&self, item: &CacheItem, loops: &KernelLoops) -> Diagnostic {
        let (tensor, at) = (&item.tensor.value, &item.at.value);
        let message = format!("no statement uses `{tensor}` inside a loop `{at}`");
        let mut error = self.fault(&item.at.span, message);
        error.notes.clone_from(&loops.summaries);
        if !loops.names.contains(at) {
            loops.advise(&mut error, at);
        }
        if error.help.is_empty() {
            error.add_help(format!("use a loop of a statement that uses `{tensor}`"));
        }
        error
    }
}
