//! `cache A at=k_outer`: which statements use a block of the tensor inside the loop, and the block as a tensor of its own.

use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::Axis;

use super::local;
use super::program::KernelLowering;
use super::schedule::KernelLoops;
use super::value::CheckResult;
use crate::check::scope::suggest;
use crate::check::tensor::CheckedTensor;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{CacheItem, CacheMemory, InstanceItem, LocalItem, SpannedText};
use crate::model::compute::{BufferRef, LoopSchedule, Statement, TileCache};
use crate::model::{Spanned, Tensor};
use crate::plan::block_extents;
use crate::plan::lower::PlanError;

/// What is copied near the compute: the instance's caches, or else the kernel's.
pub(super) struct CacheDirectives<'a> {
    items: &'a [CacheItem],
    /// The position of the file that they stand in.
    home: usize,
    file: Arc<str>,
}

impl<'a> CacheDirectives<'a> {
    /// Those of a kernel on the tensors of an instance, which stands in the file `own`.
    pub(super) fn of(
        program: &'a KernelLowering<'_>,
        instance: Option<&'a InstanceItem>,
        (own, file): (usize, &Arc<str>),
    ) -> Self {
        match instance.filter(|item| !item.caches.is_empty()) {
            Some(item) => Self { items: &item.caches, home: own, file: Arc::clone(file) },
            None => {
                let def = program.def;
                let file = Arc::clone(&def.file);
                Self { items: &def.item.caches, home: def.home, file }
            }
        }
    }

    /// The caches of each statement, in order.
    ///
    /// # Errors
    /// What is wrong with any of them.
    pub(super) fn checked(
        &self,
        program: &KernelLowering<'_>,
        schedule: &LoopSchedule,
        loops: &KernelLoops,
    ) -> CheckResult<(Vec<Vec<TileCache>>, Vec<Diagnostic>)> {
        let mut all: Vec<Vec<TileCache>> = vec![Vec::new(); program.statements.len()];
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let kept: Vec<String> = self.items.iter().map(|item| item.at.value.clone()).collect();
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
                match self.cache(program, (statement, schedule), (item, buffer), &kept) {
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
        // One way for all items of a statement.
        for caches in &all {
            let Some(first) = caches.first() else { continue };
            if let Some(other) = caches.iter().find(|other| other.is_shared != first.is_shared) {
                let place = other.at.place.clone();
                let message = "one statement has blocks in shared and in local memory".to_owned();
                let error = Diagnostic::error(Code::KernelCache, message, place, "");
                errors.push(error.help("say the same `memory` in all its caches"));
            }
        }
        if errors.is_empty() { Ok((all, warnings)) } else { Err(errors) }
    }

    fn fault(&self, span: &Range<usize>, message: String) -> Diagnostic {
        Diagnostic::error(Code::KernelCache, message, FileSpan::new(&self.file, span.clone()), "")
    }

    /// The tensor that a cache is of: one with memory.
    fn buffer(
        &self,
        program: &KernelLowering<'_>,
        item: &CacheItem,
    ) -> Result<BufferRef, Diagnostic> {
        let name = item.tensor.value.as_str();
        let operand = program.operands.iter().position(|operand| operand.name.value == name);
        let local = program.locals.iter().position(|local| local.name == name);
        let found = operand.map(BufferRef::Operand).or(local.map(BufferRef::Local));
        let Some(buffer) = found else {
            let error =
                self.fault(&item.tensor.span, format!("`{name}` is no tensor with memory here"));
            let operands = program.operands.iter().map(|operand| operand.name.value.as_str());
            let known: Vec<&str> =
                operands.chain(program.locals.iter().map(|local| local.name.as_str())).collect();
            let mut error =
                error.note(format!("the kernel's tensors are `{}`", known.join("`, `")));
            suggest(&mut error, name, known);
            if error.help.is_empty() {
                error.add_help("name one of these");
            }
            return Err(error);
        };
        let tensor = program.memory(buffer);
        if let Some(tensor) = tensor.filter(|tensor| tensor.dtype.element_bits() < 8) {
            let message = format!("elements of `{name}` are {}, and share bytes", tensor.dtype);
            let error = self.fault(&item.tensor.span, message);
            return Err(error.help("leave the cache out, or use elements of a byte or more"));
        }
        Ok(buffer)
    }

    /// The cache in one statement; `None` where that has none.
    fn cache(
        &self,
        program: &KernelLowering<'_>,
        (statement, schedule): (&Statement, &LoopSchedule),
        (item, buffer): (&CacheItem, BufferRef),
        kept: &[String],
    ) -> CheckResult<Option<(TileCache, Vec<Diagnostic>)>> {
        if statement.scatter.is_some() {
            return Ok(None);
        }
        let tensors = program.memory(statement.target).zip(program.memory(buffer));
        let Some((target, tensor)) = tensors else { return Ok(None) };
        let at = Spanned {
            value: item.at.value.clone(),
            place: FileSpan::new(&self.file, item.at.span.clone()),
        };
        let own = (program.symbols.as_slice(), schedule);
        let extents = match block_extents(target, statement, own, (buffer, &at), kept) {
            Ok(None) => return Ok(None),
            Ok(Some(extents)) => extents,
            Err(PlanError::Choice { message, help, place }) => {
                return Err(vec![
                    Diagnostic::error(Code::KernelCache, message, place, "").help(help),
                ]);
            }
            Err(error) => {
                let error = self.fault(&item.span, error.to_string());
                return Err(vec![error.help("leave the cache out")]);
            }
        };
        if statement.target == buffer && reads_too(statement, buffer) {
            let message = format!("`{}` is read and written by one statement", item.tensor.value);
            return Err(vec![self.fault(&item.tensor.span, message).help("leave its cache out")]);
        }
        let made = self.block(program, item, (tensor, &extents))?;
        let is_shared = item.memory == CacheMemory::Shared;
        let cache = TileCache { buffer, at, block: made.tensor, is_double: item.double, is_shared };
        Ok(Some((cache, made.warnings)))
    }

    /// The block as a tensor of these extents.
    fn block(
        &self,
        program: &KernelLowering<'_>,
        item: &CacheItem,
        (tensor, extents): (&Tensor, &[i128]),
    ) -> CheckResult<CheckedTensor> {
        let axes = tensor.layout.logical.iter().zip(extents);
        let shape: Vec<Axis> = axes
            .map(|(axis, extent)| Axis { name: axis.name.clone(), extent: Expr::constant(*extent) })
            .collect();
        let span = item.tensor.span.clone();
        let dtype = SpannedText { value: tensor.dtype.to_string(), span, quoted: false };
        let told = LocalItem {
            name: item.tensor.clone(),
            dtype,
            layout: item.layout.clone(),
            span: item.span.clone(),
        };
        local::tensor(&told, &shape, &[], (program.place, self.home))
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
            error.add_help(format!("name a loop of a statement that uses `{tensor}`"));
        }
        error
    }
}

/// Whether a statement reads a tensor besides writing it.
fn reads_too(statement: &Statement, buffer: BufferRef) -> bool {
    statement.reads(buffer)
}
