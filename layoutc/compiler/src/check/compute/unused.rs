//! Unused declarations of a kernel: intermediates that nothing reads, locals that nothing writes, ranges without an
//! axis.

use std::collections::BTreeSet;

use super::program::{KernelLowering, StatementSource};
use super::statement_syntax::StatementAst;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::check::expr::place_in;
use crate::check::replay::words;
use crate::model::compute::Reduction;

impl KernelLowering<'_> {
    /// Errors for unused or invalid declarations of the kernel: intermediates that no statement reads; `local` items
    /// that no statement writes, or that name an operand; ranges whose name no statement mentions, or is that of a
    /// const or symbol; invalid ranges of the elements of a tensor; `accumulate` without a reduction.
    pub(super) fn unread(&self) -> Vec<Diagnostic> {
        let lines = &self.def.lines;
        let reads = lines.iter().flat_map(StatementAst::reads);
        let read: BTreeSet<&str> = reads.map(|read| read.tensor.name.as_str()).collect();
        let operands: BTreeSet<&str> =
            self.operands.iter().map(|operand| operand.name.value.as_str()).collect();
        let mut errors = Vec::new();
        for (line, text) in lines.iter().zip(&self.def.item.computes) {
            let name = line.target.name.as_str();
            if operands.contains(name) || read.contains(name) {
                continue;
            }
            errors.push(self.dead(StatementSource { line, text, later: &[] }));
        }
        for local in &self.def.item.locals {
            let name = local.name.value.as_str();
            let place = local.name.at(&self.def.file);
            let (message, help) = if operands.contains(name) {
                (format!("cannot declare `{name}` local: it is an operand"), "remove `local`")
            } else if lines.iter().all(|line| line.target.name != name) {
                let message = format!("no statement writes the local tensor `{name}`");
                (message, "write it in a `compute`, or remove it")
            } else {
                continue;
            };
            let error = Diagnostic::error(Code::KernelIntermediate, message, place, "");
            errors.push(error.help(help));
        }
        if let Some(span) = &self.def.item.accumulate
            && lines.iter().all(|line| line.op == Reduction::Assign)
        {
            let place = FileSpan::new(&self.def.file, span.clone());
            let message = "`accumulate` requires a reduction, and every statement writes with `=`";
            let error = Diagnostic::error(Code::KernelReduction, message, place, "");
            errors.push(error.help("write `+=`, `*=`, `min=` or `max=`, or remove it"));
        }
        let mentioned: BTreeSet<&str> =
            self.def.item.computes.iter().flat_map(|text| words(&text.value)).collect();
        for (name, _) in &self.def.item.ranges {
            let place = name.at(&self.def.file);
            if self.scope.known().any(|known| known == name.value) {
                let message =
                    format!("axis `{}` shadows a const or symbol of the same name", name.value);
                let error = Diagnostic::error(Code::NameHides, message, place, "");
                errors.push(error.help("give the axis another name"));
            } else if self.names.contains_key(&name.value) {
                errors.extend(self.range_of_elements(&name.value, &place));
            } else if !mentioned.contains(name.value.as_str()) {
                let message = format!("no statement has an axis `{}`", name.value);
                let error = Diagnostic::error(Code::KernelAxes, message, place, "");
                let error = error.nearest(&name.value, mentioned.iter().copied());
                errors.push(error.help("remove its range"));
            }
        }
        errors
    }

    /// Returns `error`, about an unknown tensor. It gets a help line that declares operands, and binds them to tensors
    /// in an `instance`, if all of these hold: the kernel has no `operands`; none of the names that it only reads or
    /// only writes is a declared tensor; the manifest has at least as many tensors; and `error` suggests no name.
    pub(super) fn with_operands(&self, mut error: Diagnostic) -> Diagnostic {
        if self.def.item.operands.is_some() || !error.fixes.is_empty() {
            return error;
        }
        let targets = || self.def.lines.iter().map(|line| line.target.name.as_str());
        let reads = self.def.lines.iter().flat_map(StatementAst::reads);
        let reads: Vec<&str> = reads.map(|read| read.tensor.name.as_str()).collect();
        let mut names: Vec<&str> = Vec::new();
        for name in reads.iter().copied().chain(targets()) {
            let is_between = reads.contains(&name) && targets().any(|target| target == name);
            if !names.contains(&name) && !is_between {
                names.push(name);
            }
        }
        let mut tensors: Vec<_> = self.place.named.values().collect();
        tensors.sort_by_key(|tensor| tensor.span.start);
        let is_known = |name: &&str| self.place.named.contains_key(*name);
        if names.iter().any(is_known) || names.len() > tensors.len() {
            return error;
        }
        let kernel = &self.def.item.name.value;
        let bound = names.iter().zip(tensors);
        let bound = bound.map(|(name, tensor)| format!(" {name}={}", tensor.name.value));
        error.add_help(format!(
            "or declare operands, `operands {}`, and bind them after the kernel: `instance {kernel}_1 of={kernel}{}`",
            names.join(" "),
            bound.collect::<String>()
        ));
        error
    }

    fn dead(&self, source: StatementSource<'_>) -> Diagnostic {
        let name = &source.line.target.name;
        let place = place_in(source.text, &source.line.target.span, &self.def.file);
        if self.def.item.operands.is_none() && self.local(name).is_none() {
            let message = format!("there is no tensor `{name}`");
            let error = Diagnostic::error(Code::NameUnknown, message, place, "")
                .note("it is not an intermediate either: no later `compute` reads it")
                .nearest_or_all(name, "tensors", self.place.named.keys().copied());
            return self.with_operands(error);
        }
        let message = format!("`{name}` is not an operand, and nothing reads it");
        let operands = self.operands.iter().map(|operand| operand.name.value.as_str());
        Diagnostic::error(Code::KernelIntermediate, message, place, "")
            .nearest_or_all(name, "operands", operands)
    }
}
