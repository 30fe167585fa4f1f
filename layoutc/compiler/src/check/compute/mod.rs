//! Kernels and their instances: operands bound to tensors, statements read and typed, every read proven inside, the
//! schedule looked up.

mod axes;
mod call;
mod inline;
mod inside;
mod known;
mod local;
mod program;
mod read;
mod schedule;
mod text;
mod types;
mod value;
mod wrong_text;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::known::KnownKind;
use self::program::Program;
use self::text::Line;
use self::types::computed;
use self::value::Checked;
use super::scope::{Scope, nearest_or_all, suggestion};
use super::tensor::Place;
use super::view_of;
use crate::codes::Code;
use crate::diagnostic::{self, Diagnostic};
use crate::dtype::Scalar;
use crate::manifest::syntax::{InstanceItem, KernelItem, Kind, Manifest, Name, ScheduleItem};
use crate::model::compute::{Compute, Operand};
use crate::model::{Memory, Tensor};

/// A kernel with the manifest that it stands in.
#[derive(Debug)]
pub(super) struct KernelDef {
    pub(super) item: KernelItem,
    pub(super) file: Arc<str>,
    /// The position of its file, whose scope its text is read in.
    pub(super) home: usize,
    /// Its statements.
    lines: Vec<Line>,
}

impl KernelDef {
    /// The kernel with its statements read.
    ///
    /// # Errors
    /// What is wrong with their texts.
    pub(super) fn new(item: &KernelItem, file: &Arc<str>, home: usize) -> Checked<Self> {
        let (mut lines, mut errors) = (Vec::new(), Vec::new());
        for text in &item.computes {
            match text::statement(&text.value) {
                Ok(line) => lines.push(line),
                Err(error) => errors.push(wrong_text::text_fault(&error, text, file)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self { item: item.clone(), file: Arc::clone(file), home, lines })
    }

    /// The names of tensors in the statements, each once: what is only read, then what is written.
    fn named(&self) -> Vec<&str> {
        let mut written: Vec<&str> = Vec::new();
        for line in &self.lines {
            if !written.contains(&line.target.name.as_str()) {
                written.push(&line.target.name);
            }
        }
        let mut all: Vec<&str> = Vec::new();
        for node in self.lines.iter().flat_map(|line| line.value.nodes()) {
            let name = node.read().map(|read| read.tensor.name.as_str());
            let is_new = |name: &&str| !written.contains(name) && !all.contains(name);
            all.extend(name.filter(is_new));
        }
        all.into_iter().chain(written).collect()
    }
}

/// An operand and the tensor that it is.
pub(super) struct Bound {
    /// The name in the kernel.
    pub(super) name: Name,
    /// The position among the good tensors.
    pub(super) tensor: usize,
}

/// The kernels of a manifest, each on the tensors of one instance.
pub(super) fn check(
    place: Place<'_>,
    tensors: &[Tensor],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Compute> {
    let files = (place.files.syntax(place.file), place.scopes.get(place.file));
    let (Some(syntax), Some(scope)) = files else { return Vec::new() };
    let mut computes: Vec<Compute> = Vec::new();
    let binder = Binder { place, tensors, syntax, scope };
    let own = scope.kernels.values().filter(|def| def.home == place.file);
    let own = own.filter(|def| def.item.operands.is_none()).map(|def| {
        let bound = binder.own_tensors(def);
        (&def.item.name, def.item.name.span.clone(), def, bound, [].as_slice())
    });
    let mut found: Vec<_> = own.collect();
    for item in &syntax.instances {
        match binder.kernel(item) {
            Ok(def) => {
                let bound = binder.bind(item, def);
                found.push((&item.name, item.span.clone(), def, bound, item.schedule.as_slice()));
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    found.sort_by_key(|row| row.1.start);
    let mut seen: BTreeMap<&str, diagnostic::Place> = BTreeMap::new();
    for (name, span, def, bound, schedule) in found {
        let at = diagnostic::Place::new(&syntax.file, name.span.clone());
        if let Some(first) = seen.insert(&name.value, at.clone()) {
            let message = format!("two kernels would be the function `{}`", name.value);
            let error = Diagnostic::error(Code::NameDuplicate, message, at, "again here");
            diagnostics.push(error.also(first, "first here"));
            continue;
        }
        diagnostics.extend(super::names::function(name, place.config, &syntax.file));
        let span = diagnostic::Place::new(&syntax.file, span);
        let made = bound.and_then(|bound| binder.compute((name, span), def, bound, schedule));
        match made {
            Ok((compute, warnings)) => {
                computes.push(compute);
                diagnostics.extend(warnings);
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    computes
}

/// Binds the names of kernels to the tensors of a manifest.
#[derive(Clone, Copy)]
struct Binder<'a> {
    place: Place<'a>,
    tensors: &'a [Tensor],
    syntax: &'a Manifest,
    scope: &'a Scope,
}

impl<'a> Binder<'a> {
    /// The kernel of an instance.
    fn kernel(&self, item: &InstanceItem) -> Checked<&'a Arc<KernelDef>> {
        let place = diagnostic::Place::new(&self.syntax.file, item.of.span.clone());
        let Some(def) = self.scope.kernels.get(&item.of.value) else {
            if self.scope.is_broken(Kind::Kernel, &item.of.value) {
                return Err(Vec::new());
            }
            let message = format!("there is no kernel `{}`", item.of.value);
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            let known: Vec<&str> = self.scope.kernels.keys().map(String::as_str).collect();
            error.help.extend(nearest_or_all(&item.of.value, "kernels", &known));
            return Err(vec![error]);
        };
        if def.item.operands.is_none() {
            let message = format!("`{}` names tensors itself: it has no instances", item.of.value);
            let error = Diagnostic::error(Code::KernelOperand, message, place, "");
            let help = format!(
                "name what its tensors are called in it: `operands {}`",
                def.named().join(" ")
            );
            return Err(vec![error.help(help)]);
        }
        Ok(def)
    }

    /// The tensors of the file that a kernel names; other names are intermediates.
    fn own_tensors(&self, def: &KernelDef) -> Checked<Vec<Bound>> {
        let mut bound = Vec::new();
        for name in def.named() {
            let is_view = self.syntax.views.iter().any(|view| view.name.value == name);
            if !self.place.named.contains_key(name) && !is_view {
                if self.scope.is_broken(Kind::Tensor, name) {
                    return Err(Vec::new());
                }
                continue;
            }
            let local = def.item.locals.iter().any(|local| local.name.value == name);
            if local {
                continue;
            }
            let name = Name { value: name.to_owned(), span: def.item.name.span.clone() };
            bound.push(Bound { tensor: self.tensor(&name)?, name });
        }
        Ok(bound)
    }

    /// The tensors of an instance, in the order of the function's parameters.
    fn bind(&self, item: &InstanceItem, def: &KernelDef) -> Checked<Vec<Bound>> {
        let operands = def.item.operands.as_deref().unwrap_or_default();
        let mut errors = Vec::new();
        for (name, _) in &item.operands {
            if operands.iter().any(|operand| operand.value == name.value) {
                continue;
            }
            let place = diagnostic::Place::new(&self.syntax.file, name.span.clone());
            let message = format!("`{}` has no operand `{}`", def.item.name.value, name.value);
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            let known: Vec<&str> = operands.iter().map(|operand| operand.value.as_str()).collect();
            error.help.extend(nearest_or_all(&name.value, "operands", &known));
            errors.push(error);
        }
        let mut bound = Vec::new();
        for operand in operands {
            let given = item.operands.iter().find(|(name, _)| name.value == operand.value);
            let Some((_, tensor)) = given else {
                let place = diagnostic::Place::new(&self.syntax.file, item.span.clone());
                let message = format!("the operand `{}` is not given", operand.value);
                let error = Diagnostic::error(Code::KernelOperand, message, place, "");
                errors.push(error.help(format!("write which tensor it is: `{}=…`", operand.value)));
                continue;
            };
            match self.tensor(tensor) {
                Ok(tensor) => bound.push(Bound { name: operand.clone(), tensor }),
                Err(found) if found.is_empty() => return Err(errors),
                Err(found) => errors.extend(found),
            }
        }
        let named = def.named();
        for operand in operands.iter().filter(|operand| !named.contains(&operand.value.as_str())) {
            let place = diagnostic::Place::new(&def.file, operand.span.clone());
            let message = format!("no statement names the operand `{}`", operand.value);
            let error = Diagnostic::error(Code::KernelOperand, message, place, "");
            let near = suggestion(&operand.value, named.iter().copied());
            errors.push(near.into_iter().fold(error, Diagnostic::help));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        bound.sort_by_key(|operand| named.iter().position(|name| *name == operand.name.value));
        Ok(bound)
    }

    /// The position of a tensor that can be computed with.
    fn tensor(&self, name: &Name) -> Checked<usize> {
        let place = diagnostic::Place::new(&self.syntax.file, name.span.clone());
        if let Some(error) = view_of(self.syntax, name, "kernels on views are not built yet") {
            return Err(vec![error]);
        }
        if !self.place.named.contains_key(name.value.as_str()) {
            if self.scope.is_broken(Kind::Tensor, &name.value) {
                return Err(Vec::new());
            }
            let message = format!("there is no tensor `{}`", name.value);
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            let known: Vec<&str> = self.place.named.keys().copied().collect();
            error.help.extend(nearest_or_all(&name.value, "tensors", &known));
            return Err(vec![error]);
        }
        let position = self.tensors.iter().position(|tensor| tensor.name == name.value);
        let Some((position, tensor)) = position.and_then(|k| Some((k, self.tensors.get(k)?)))
        else {
            return Err(Vec::new());
        };
        if tensor.memory == Memory::None {
            let message =
                format!("`{}` has no memory: nothing is read from it or written to it", name.value);
            let error = Diagnostic::error(Code::KernelOperand, message, place, "");
            return Err(vec![error.help("leave `memory none` out of the tensor")]);
        }
        arithmetic_type(tensor, &place)?;
        Ok(position)
    }

    fn compute(
        &self,
        (name, span): (&Name, diagnostic::Place),
        def: &KernelDef,
        bound: Vec<Bound>,
        schedule: &[ScheduleItem],
    ) -> Checked<(Compute, Vec<Diagnostic>)> {
        let Some(scope) = self.place.scopes.get(def.home) else { return Err(Vec::new()) };
        let mut program = Program::new(def, scope, self.place, self.tensors, bound);
        let errors = program.run();
        let is_broken = program.names.values().any(|known| matches!(known.kind, KnownKind::Broken));
        if !errors.is_empty() || is_broken {
            return Err(errors);
        }
        let schedule = schedule::resolved(&program, schedule, &self.syntax.file)?;
        let Program { operands, symbols, locals, statements, warnings, .. } = program;
        let is_written = |k: usize| {
            let own = crate::model::compute::Buffer::Operand(k);
            statements.iter().any(|statement| statement.target == own)
        };
        let operands = operands.into_iter().enumerate().map(|(k, operand)| Operand {
            name: operand.name.value,
            tensor: operand.tensor,
            is_written: is_written(k),
        });
        let compute = Compute {
            name: name.value.clone(),
            kernel: def.item.name.value.clone(),
            operands: operands.collect(),
            locals,
            symbols,
            statements,
            schedule,
            place: span,
        };
        Ok((compute, warnings))
    }
}

/// The type that the elements of a tensor are computed in.
fn arithmetic_type(tensor: &Tensor, place: &diagnostic::Place) -> Checked<Scalar> {
    let found = computed(tensor.dtype.scalar).filter(|_| tensor.dtype.lanes == 1);
    found.ok_or_else(|| {
        let message =
            format!("`{}` has elements of {}, which have no arithmetic", tensor.name, tensor.dtype);
        let error = Diagnostic::error(Code::DtypeKernel, message, place.clone(), "");
        vec![if tensor.dtype.lanes > 1 {
            error.help("give the tensor scalars, and an axis for the lanes")
        } else {
            error.help("kernels compute with floats, integers and `bool`")
        }]
    })
}
