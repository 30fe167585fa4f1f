//! Binding of the operand names of a kernel to tensors of the manifest ([`OperandBinder`]).

use std::collections::BTreeSet;

use super::statement_syntax::StatementAst;
use super::types::arithmetic_scalar;
use super::{KernelDef, OperandBinding};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::dtype::Scalar;
use crate::check::cast::supported_storage;
use crate::check::declarations::Declarations;
use crate::check::mesh;
use crate::manifest::syntax::{Identifier, InstanceItem, SpannedText};
use crate::model::{Memory, Tensor, TensorRef};

/// Binder of the operand names of the kernel `def` to the valid tensors and views of the manifest.
pub(super) struct OperandBinder<'a> {
    pub(super) declared: Declarations<'a>,
    pub(super) def: &'a KernelDef,
}

/// Name of a tensor in a kernel, with its byte range in the statement `text`.
#[derive(Clone, Copy)]
struct TensorMention<'a> {
    name: &'a str,
    span: &'a super::statement_syntax::StatementSpan,
    text: &'a SpannedText,
}

impl OperandBinder<'_> {
    /// Operands of the kernel in the order of the generated function's parameters: first those that are only read, then
    /// those that are written, each group by first appearance in the text. `instance` is `None` for a kernel that names
    /// tensors itself.
    pub(super) fn bound(
        &self,
        instance: Option<&InstanceItem>,
    ) -> CheckResult<Vec<OperandBinding>> {
        let mut bound = match instance {
            Some(item) => self.of_instance(item)?,
            None => self.of_file()?,
        };
        let order = self.order();
        let place = |operand: &OperandBinding| {
            order.iter().position(|name| *name == operand.name.value).unwrap_or(usize::MAX)
        };
        bound.sort_by_key(place);
        let errors = self.unfit(&bound);
        if errors.is_empty() { Ok(bound) } else { Err(errors) }
    }

    fn written(&self) -> BTreeSet<&str> {
        self.def.lines.iter().map(|line| line.target.name.as_str()).collect()
    }

    /// Names of all tensors in the kernel, intermediates included, in the order of the generated function's parameters.
    fn order(&self) -> Vec<&str> {
        let written = self.written();
        let mut names: Vec<&str> = Vec::new();
        let read = self.def.lines.iter().flat_map(StatementAst::reads);
        let read = read.map(|read| read.tensor.name.as_str());
        for name in read.filter(|name| !written.contains(name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        // The first appearance of a written tensor may be a read.
        for line in &self.def.lines {
            let target = line.target.name.as_str();
            let reads = line.reads().map(|read| read.tensor.name.as_str());
            for name in std::iter::once(target).chain(reads) {
                if written.contains(name) && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Names of all tensors in the kernel, without duplicates, in the order of their first appearance: statement by
    /// statement, in each the target first, then the reads. Each name has the byte range of that appearance, relative
    /// to the text of its statement.
    fn mentions(&self) -> Vec<TensorMention<'_>> {
        let mut found: Vec<TensorMention<'_>> = Vec::new();
        for (line, text) in self.def.lines.iter().zip(&self.def.item.computes) {
            let words = line.reads().map(|read| &read.tensor);
            for word in std::iter::once(&line.target).chain(words) {
                if found.iter().all(|mention| mention.name != word.name) {
                    found.push(TensorMention { name: &word.name, span: &word.span, text });
                }
            }
        }
        found
    }

    /// Binds each name in the kernel that is a tensor or view of the manifest to it. Any other name may be that of an
    /// intermediate, and is left out. `Err` for a tensor that kernels do not support, and for operands in the memory of
    /// one tensor of which one is written; empty if a tensor is invalid and has been reported.
    fn of_file(&self) -> CheckResult<Vec<OperandBinding>> {
        let (mut bound, mut errors) = (Vec::new(), Vec::new());
        let mut is_silent = false;
        for mention in self.mentions() {
            let span = mention.text.span.start + mention.span.start
                ..mention.text.span.start + mention.span.end;
            let name = Identifier { value: mention.name.to_owned(), span };
            let is_local = self.def.item.locals.iter().any(|local| local.name.value == name.value);
            if is_local && !self.is_declared(&name.value) {
                continue;
            }
            match self.tensor(&name) {
                Ok(Some(tensor)) => bound.push(OperandBinding { name, tensor }),
                Ok(None) => is_silent = true,
                // A name that is not declared may be an intermediate.
                Err(error) if error.code == Code::NameUnknown => {}
                Err(error) => errors.push(error),
            }
        }
        errors.extend(self.overlapping(&bound, &|operand| operand.name.span.clone()));
        if errors.is_empty() && !is_silent { Ok(bound) } else { Err(errors) }
    }

    fn is_declared(&self, name: &str) -> bool {
        let Declarations { syntax, .. } = self.declared;
        let tensors = syntax.tensors.iter().map(|tensor| &tensor.name);
        tensors.chain(syntax.views.iter().map(|view| &view.name)).any(|own| own.value == name)
    }

    /// Binds each declared operand of the kernel to the tensor that the instance `item` gives for it. `Err` if the
    /// kernel has no operands, for an unknown or a missing operand, for an unknown or unsupported tensor, and for
    /// operands in the memory of one tensor of which one is written; empty if a tensor is invalid and has been
    /// reported.
    fn of_instance(&self, item: &InstanceItem) -> CheckResult<Vec<OperandBinding>> {
        let file = &self.declared.syntax.file;
        let kernel = &self.def.item.name.value;
        let at = |name: &Identifier| name.at(file);
        let Some(operands) = &self.def.item.operands else {
            let message = format!("kernel `{kernel}` has no operands: it names tensors itself");
            let error = Diagnostic::error(Code::KernelOperand, message, at(&item.of), "");
            let declared = self.def.item.name.at(&self.def.file);
            let error = error.with_label(declared, "the kernel");
            let names: Vec<&str> = self.mentions().iter().map(|mention| mention.name).collect();
            return Err(vec![
                error.help(format!("declare operands: `operands {}`", names.join(" "))),
            ]);
        };
        let (mut bound, mut errors) = (Vec::new(), Vec::new());
        let mut is_silent = false;
        for (name, tensor) in &item.operands {
            let Some(operand) = operands.iter().find(|operand| operand.value == name.value) else {
                let message = format!("kernel `{kernel}` has no operand `{}`", name.value);
                let error = Diagnostic::error(Code::KernelOperand, message, at(name), "");
                let known = operands.iter().map(|name| name.value.as_str());
                errors.push(error.nearest_or_all(&name.value, "operands", known));
                continue;
            };
            match self.tensor(tensor) {
                Ok(Some(tensor)) => bound.push(OperandBinding { name: operand.clone(), tensor }),
                Ok(None) => is_silent = true,
                Err(error) => errors.push(error),
            }
        }
        let missing: Vec<&str> = operands
            .iter()
            .map(|operand| operand.value.as_str())
            .filter(|operand| item.operands.iter().all(|(name, _)| name.value != *operand))
            .collect();
        if !missing.is_empty() && errors.is_empty() {
            let message =
                format!("`{}` has no tensor for `{}`", item.name.value, missing.join("`, `"));
            let place = FileSpan::new(file, item.span.clone());
            let error = Diagnostic::error(Code::KernelOperand, message, place, "");
            let given: Vec<String> = missing.iter().map(|name| format!("{name}=…")).collect();
            errors.push(error.help(format!("add `{}`", given.join(" "))));
        }
        let span = |operand: &OperandBinding| {
            let given = item.operands.iter().find(|(name, _)| name.value == operand.name.value);
            given.map_or_else(|| item.span.clone(), |(_, tensor)| tensor.span.clone())
        };
        errors.extend(self.overlapping(&bound, &span));
        if errors.is_empty() && !is_silent { Ok(bound) } else { Err(errors) }
    }

    /// Errors for operands that lie in the memory of one tensor, and of which the kernel writes one: two names that are
    /// bound to one tensor, to views of one tensor, or to a tensor and its view. `span` gives the byte range of an
    /// operand's error.
    fn overlapping(
        &self,
        bound: &[OperandBinding],
        span: &dyn Fn(&OperandBinding) -> std::ops::Range<usize>,
    ) -> Vec<Diagnostic> {
        let written = self.written();
        let is_written = |operand: &OperandBinding| written.contains(operand.name.value.as_str());
        let mut errors = Vec::new();
        for (k, operand) in bound.iter().enumerate() {
            let owner = self.declared.owner(operand.tensor);
            let other = bound.iter().take(k).find(|other| {
                self.declared.owner(other.tensor) == owner
                    && (is_written(operand) || is_written(other))
            });
            if let Some((other, owner)) = other.zip(owner) {
                errors.push(self.overlap([other, operand], owner, span(operand)));
            }
        }
        errors
    }

    /// Error at `span` for two operands that lie in the memory of the tensor at position `owner`, and of which the
    /// kernel writes at least one.
    fn overlap(
        &self,
        operands: [&OperandBinding; 2],
        owner: usize,
        span: std::ops::Range<usize>,
    ) -> Diagnostic {
        let written = self.written();
        let [a, b] = operands.map(|operand| operand.name.value.as_str());
        let writes = if written.contains(b) { b } else { a };
        let owner = self.declared.tensors.get(owner).map_or("", |tensor| &tensor.name);
        let [first, second] = operands.map(|operand| operand.tensor);
        let both = if first == second {
            format!("`{owner}` is bound to `{a}` and `{b}`")
        } else {
            format!("`{a}` and `{b}` share the memory of `{owner}`")
        };
        let message = format!("{both}, and `{writes}` is written");
        let place = FileSpan::new(&self.declared.syntax.file, span);
        let error = Diagnostic::error(Code::KernelOperand, message, place, "");
        error.help("bind each to a different tensor")
    }

    /// Tensor or view `name`; `None` if it has errors, or may be declared in a part of the manifest that could not be
    /// parsed; both are reported already. `Err` for an unknown name, and for a tensor that kernels do not support: a
    /// sharded one, a ring buffer, one with conditions (`where`), or a view of a texture.
    fn tensor(&self, name: &Identifier) -> Result<Option<TensorRef>, Diagnostic> {
        let Some(of) = self.declared.find(name)? else { return Ok(None) };
        let place = name.at(&self.declared.syntax.file);
        let tensor = self.declared.tensor(of);
        match tensor.and_then(|tensor| mesh::part_fault(tensor, "a kernel requires", place)) {
            Some(fault) => Err(fault),
            None => Ok(Some(of)),
        }
    }

    /// Returns `error`, about the memory of the tensor or view `of`, with a label at the declaration of the memory and
    /// with help to declare global memory.
    fn with_memory(&self, error: Diagnostic, of: TensorRef) -> Diagnostic {
        let owner = self.declared.owner(of).and_then(|k| self.declared.tensors.get(k));
        let Some(owner) = owner else { return error };
        let error = error.with_label(owner.places.memory.clone(), "declared here");
        error.help(format!("declare `memory global` in `{}`", owner.name))
    }

    /// Errors for the operands in `bound`: an element type without arithmetic, a tensor without memory, a write to
    /// constant memory or to a read-only view, or an operand that no statement names.
    fn unfit(&self, bound: &[OperandBinding]) -> Vec<Diagnostic> {
        let mentions = self.mentions();
        let written = self.written();
        let mut errors = Vec::new();
        for operand in bound {
            let Some(tensor) = self.declared.tensor(operand.tensor) else { continue };
            let name = operand.name.value.as_str();
            let Some(mention) = mentions.iter().find(|mention| mention.name == name) else {
                let place = operand.name.at(&self.def.file);
                let message = format!("no statement uses operand `{name}`");
                let error = Diagnostic::error(Code::KernelOperand, message, place, "");
                errors.push(error.help("leave it out"));
                continue;
            };
            let start = mention.text.span.start;
            let span = start + mention.span.start..start + mention.span.end;
            let place = FileSpan::new(&self.def.file, span);
            errors.extend(arithmetic_type(tensor, &place).err().into_iter().flatten());
            if written.contains(name) {
                errors.extend(self.declared.read_only_fault(operand.tensor, place.clone()));
            }
            if tensor.memory == Memory::None {
                let message =
                    format!("`{}` has no memory, so a kernel cannot read or write it", tensor.name);
                let error = Diagnostic::error(Code::KernelOperand, message, place, "");
                errors.push(self.with_memory(error, operand.tensor));
            } else if tensor.memory == Memory::Constant && written.contains(name) {
                let message = format!("cannot write `{}`: it is in constant memory", tensor.name);
                let error = Diagnostic::error(Code::KernelOperand, message, place, "");
                errors.push(self.with_memory(error, operand.tensor));
            }
        }
        errors
    }
}

/// Type in which kernels compute on the elements of a tensor, such as `f32` for `f16`.
///
/// # Errors
/// An error at `place` if the element type has no arithmetic, for example that of vectors or of complex numbers.
pub(super) fn arithmetic_type(tensor: &Tensor, place: &FileSpan) -> CheckResult<Scalar> {
    let dtype = tensor.dtype;
    if let Some(ty) = arithmetic_scalar(dtype.scalar).filter(|_| dtype.lanes == 1) {
        return Ok(ty);
    }
    let message =
        format!("`{}` has elements of type {dtype}, which has no arithmetic", tensor.name);
    let error = Diagnostic::error(Code::DtypeKernel, message, place.clone(), "");
    let error = error.with_label(tensor.places.dtype.clone(), "the element type");
    Err(vec![error.help(supported_storage(dtype))])
}
