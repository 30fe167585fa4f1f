//! Inference of the axes of a statement and their extents: first the axes on the left (of the target), then the reduced
//! ones.

use layoutc_algebra::expr::parse::{IndexAst, IndexAstKind as IndexKind};
use layoutc_algebra::expr::{BinOp, Expr};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::step::MAX_AXES;
use layoutc_algebra::symbol::Axis;

use super::extent_readers::{ExtentInference, ReaderExtent};
use super::program::{KernelLowering, StatementSource};
use super::statement_syntax::{
    IndexKind as Indexed, IndexText, StatementSpan, ValueAst, ValueAstKind,
};
use super::tensor_table::{KernelTensor, KernelTensorKind};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, collect_all};
use crate::check::expr::place_in;
use crate::manifest::syntax::ItemKind;
use crate::model::compute::Reduction;
use crate::model::layout_names;

/// Inference of the axes of the statement `source`, with the tensors, ranges and symbols of the kernel `program`.
#[derive(Clone, Copy)]
pub(super) struct AxisInference<'a> {
    pub(super) program: &'a KernelLowering<'a>,
    pub(super) source: StatementSource<'a>,
}

/// Exclusive limit on the extents that are suggested for an axis.
const MAX_DERIVED_EXTENT: i128 = 1 << 20;

/// Read that determines the extent of an axis, as `A[i, j + 1]` that of `i`: the tensor that is read, the extent of its
/// axis, and the byte range of the index in the statement.
struct ExtentSource<'a> {
    known: &'a KernelTensor,
    extent: Expr,
    span: StatementSpan,
}

impl AxisInference<'_> {
    /// Pair `(axes, written)`: `axes` are all axes of the statement with their extents, `written` is the number of
    /// those on the left. The axes on the left come first, then the reduced ones. `shape` is the target of the
    /// statement; `None` for an intermediate that no statement has written yet.
    pub(super) fn infer(&self, shape: Option<&KernelTensor>) -> CheckResult<(Vec<Axis>, usize)> {
        self.written(shape)?;
        let left = self.left();
        let reduced = self.reduced(&left);
        if self.source.line.op == Reduction::Assign
            && let Some((name, span)) = reduced.first()
        {
            return Err(vec![self.unreduced(name, span)]);
        }
        let count = left.len() + reduced.len();
        if count > MAX_AXES {
            let message = format!("the statement has {count} axes; the limit is {MAX_AXES}");
            let error = self.fault(Code::LimitAxes, message, &self.source.line.left);
            return Err(vec![error.help("split it into several statements, each over fewer axes")]);
        }
        let facts = Facts::new(&self.program.symbols);
        let axis = |(name, span): &(String, StatementSpan), own, place| {
            let extent = self.extent(name, span, (own, place), &facts)?;
            Ok(Axis { name: name.clone(), extent })
        };
        let written = left.iter().enumerate().map(|(k, word)| {
            let place = match &self.source.line.scatter {
                None => Some(k),
                Some(index) => index.iter().position(|text| text.lone_name() == Some(&word.0)),
            };
            let own = place.and_then(|k| shape?.shape.get(k)).map(|axis| &axis.extent);
            axis(word, own, place.filter(|_| own.is_none()))
        });
        let reduced = reduced.iter().map(|word| axis(word, None, None));
        Ok((collect_all(written.chain(reduced))?, left.len()))
    }

    fn fault(&self, code: Code, message: impl Into<String>, span: &StatementSpan) -> Diagnostic {
        self.program.fault(self.source, code, message, span)
    }

    /// Checks the left side of the statement. Its axes must be distinct, and have no name of a const or symbol. It must
    /// have as many axes or indices as the target `shape`; with `None`, the number is not checked.
    fn written(&self, shape: Option<&KernelTensor>) -> CheckResult<()> {
        let line = self.source.line;
        let mut errors = Vec::new();
        for (k, word) in line.axes.iter().enumerate() {
            if let Some(first) = line.axes.iter().take(k).find(|first| first.name == word.name) {
                let message = format!("axis `{}` appears twice", word.name);
                let first = place_in(self.source.text, &first.span, &self.program.def.file);
                let error = self.fault(Code::KernelAxes, message, &word.span);
                errors.push(
                    error.with_label(first, "first here").help("give each axis a distinct name"),
                );
            } else if self.program.scope.known().any(|name| name == word.name) {
                let message =
                    format!("axis `{}` shadows a const or symbol of the same name", word.name);
                let error = self.fault(Code::NameHides, message, &word.span);
                errors.push(error.help("give the axis another name"));
            }
        }
        let count = line.scatter.as_ref().map_or(line.axes.len(), Vec::len);
        if let Some(known) = shape.filter(|known| known.shape.len() != count) {
            let (has, written) = (known.shape.len(), count);
            let message = format!(
                "`{}` has {has} ax{}, and {written} {} used here",
                known.label,
                if has == 1 { "is" } else { "es" },
                if written == 1 { "is" } else { "are" },
            );
            let names: Vec<&str> = known.shape.iter().map(|axis| axis.name.as_str()).collect();
            let error = self.fault(Code::KernelAxes, message, &line.left);
            errors.push(error.note(known.signature_text(&self.program.symbols)).help(
                match line.scatter {
                    Some(_) => "write one index per axis, in the order of the axes".to_owned(),
                    None => {
                        format!("name every axis: `{}[{}]`", line.target.name, names.join(", "))
                    }
                },
            ));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Pairs (axis, byte range of one occurrence), one for each axis on the left of the statement, in the order of the
    /// target's indices.
    fn left(&self) -> Vec<(String, StatementSpan)> {
        let Some(index) = &self.source.line.scatter else {
            let axes = self.source.line.axes.iter();
            return axes.map(|word| (word.name.clone(), word.span.clone())).collect();
        };
        let mut found = Vec::new();
        for text in index {
            self.add_index(text, &[], &mut found);
            for node in text.data().iter().flat_map(|ast| ast.nodes()) {
                self.add_node(node, &[], &mut found);
            }
        }
        found
    }

    /// Pairs (axis, byte range of one occurrence), one for each axis that occurs only on the right of the statement, in
    /// the order of the nodes of the value. `left` has the axes on the left.
    fn reduced(&self, left: &[(String, StatementSpan)]) -> Vec<(String, StatementSpan)> {
        let mut found: Vec<(String, StatementSpan)> = Vec::new();
        for node in self.source.line.value.nodes() {
            self.add_node(node, left, &mut found);
        }
        found
    }

    /// Adds the axes that occur in one node of a value, not in the values below it, to `found`. They occur as a name,
    /// or in an index of a read that is arithmetic on axes. Each axis is added once, with the byte range of its first
    /// occurrence in the node, and only if neither `left` nor `found` has it.
    fn add_node(
        &self,
        node: &ValueAst,
        left: &[(String, StatementSpan)],
        found: &mut Vec<(String, StatementSpan)>,
    ) {
        if let ValueAstKind::Name(name) = &node.kind {
            // The name of a tensor without brackets is not an axis.
            let is_tensor = self.program.names.contains_key(name);
            if !is_tensor && self.is_new(name, left, found) {
                found.push((name.clone(), node.span.clone()));
            }
        }
        for text in node.read().iter().flat_map(|read| &read.index) {
            self.add_index(text, left, found);
        }
    }

    /// Adds the axes in an index to `found` if the index is arithmetic on axes; an index that reads an element adds
    /// nothing. Each axis is added once, with the byte range of its first occurrence in the index, and only if neither
    /// `left` nor `found` has it.
    fn add_index(
        &self,
        text: &IndexText,
        left: &[(String, StatementSpan)],
        found: &mut Vec<(String, StatementSpan)>,
    ) {
        let Indexed::Axes(ast) = &text.kind else { return };
        for (name, span) in names(ast) {
            if self.is_new(name, left, found) {
                let span = text.start + span.start..text.start + span.end;
                found.push((name.to_owned(), span));
            }
        }
    }

    /// True if `name` is an axis (neither a const nor a symbol, valid or not) that is in neither list.
    fn is_new(
        &self,
        name: &str,
        left: &[(String, StatementSpan)],
        found: &[(String, StatementSpan)],
    ) -> bool {
        let is_known = self.program.scope.known().any(|known| known == name);
        let is_broken = [ItemKind::Const, ItemKind::Symbol]
            .iter()
            .any(|kind| self.program.scope.broken.contains(&(*kind, name.to_owned())));
        let mut axes = left.iter().chain(found);
        !is_known && !is_broken && axes.all(|(known, _)| known != name)
    }

    /// Extent of the axis `name`, from the first of these sources that exists:
    /// 1. `own`, the extent that the axis has in the target;
    /// 2. the `range` of the axis;
    /// 3. the reads in which the axis alone is an index;
    /// 4. if `place` is `Some`, the later statements that read the target: `name` is its axis at this position.
    ///
    /// `span` is the byte range of the name in the statement, for errors; `facts` are the ranges of the symbols. `Err`
    /// if there is no source, if the range is not proven equal to `own`, or if two reads or two later statements give
    /// extents that are not proven equal.
    fn extent(
        &self,
        name: &str,
        span: &StatementSpan,
        (own, place): (Option<&Expr>, Option<usize>),
        facts: &Facts,
    ) -> CheckResult<Expr> {
        let stated = self.program.ranges.iter().find(|(axis, ..)| axis == name);
        if let (Some((_, stated, place)), Some(own)) = (stated, own)
            && facts.proves_eq(stated, own) != Ok(true)
        {
            let message = format!(
                "the range of `{name}` is {}, and its axis in `{}` has extent {}",
                self.extent_text(stated),
                self.source.line.target.name,
                self.extent_text(own),
            );
            let error = Diagnostic::error(Code::KernelExtent, message, place.clone(), "");
            return Err(vec![
                error.help(format!("remove the range of `{name}`: the target determines it")),
            ]);
        }
        if let Some(extent) = own.or(stated.map(|(_, extent, _)| extent)) {
            return Ok(extent.clone());
        }
        let sources = self.sources(name);
        let Some(first) = sources.first() else {
            return match place {
                Some(place) => self.as_read(name, span, place, facts),
                None => Err(self.not_bound(name, span)),
            };
        };
        for other in sources.iter().skip(1) {
            if facts.proves_eq(&first.extent, &other.extent) != Ok(true) {
                return Err(vec![self.conflict(name, first, other)]);
            }
        }
        Ok(first.extent.clone())
    }

    /// Extent of the axis `name`, at position `place` of an intermediate, inferred from later statements that read the
    /// intermediate.
    fn as_read(
        &self,
        name: &str,
        span: &StatementSpan,
        place: usize,
        facts: &Facts,
    ) -> CheckResult<Expr> {
        let (lines, program) = (self.source.later, self.program);
        let readers = ExtentInference { lines, names: &program.names, ranges: &program.ranges };
        let found = readers.extents(&self.source.line.target.name, place);
        let Some((first, others)) = found.split_first() else {
            return Err(self.not_bound(name, span));
        };
        let differs =
            |other: &&ReaderExtent| facts.proves_eq(&first.extent, &other.extent) != Ok(true);
        let Some(other) = others.iter().find(differs) else { return Ok(first.extent.clone()) };
        let [a, b] = [first, other].map(|found| self.extent_text(&found.extent));
        let message = format!(
            "axis `{name}` of `{}` has extent {a} in `{}` and {b} in `{}`",
            self.source.line.target.name, first.label, other.label
        );
        let error = self.fault(Code::KernelExtent, message, span);
        Err(vec![error.help(format!("declare its extent: `range {name} {a}`"))])
    }

    /// Error for an axis whose extent is unknown; empty if the statement reads an invalid tensor, which has been
    /// reported.
    fn not_bound(&self, name: &str, span: &StatementSpan) -> Vec<Diagnostic> {
        if self.is_silent() { Vec::new() } else { vec![self.unbound(name, span)] }
    }

    /// True if the statement reads an invalid tensor, which has been reported. An axis without a known extent then gets
    /// no error of its own.
    fn is_silent(&self) -> bool {
        let mut known =
            self.source.line.reads().filter_map(|read| self.program.names.get(&read.tensor.name));
        known.any(|known| matches!(known.kind, KernelTensorKind::Broken))
    }

    /// Reads in which the axis `name` alone is an index, as `i` in `A[i, j + 1]`, each with the extent of the indexed
    /// axis of the tensor.
    fn sources(&self, name: &str) -> Vec<ExtentSource<'_>> {
        let mut sources = Vec::new();
        for read in self.source.line.reads() {
            let Some(known) = self.program.names.get(&read.tensor.name) else { continue };
            if known.shape.len() != read.index.len() {
                continue;
            }
            for (text, axis) in read.index.iter().zip(&known.shape) {
                if text.lone_name() == Some(name) {
                    sources.push(ExtentSource {
                        known,
                        extent: axis.extent.clone(),
                        span: text.span(),
                    });
                }
            }
        }
        sources
    }

    fn extent_text(&self, extent: &Expr) -> String {
        layout_names::symbol_expr(extent, &self.program.symbols)
    }

    fn unreduced(&self, name: &str, span: &StatementSpan) -> Diagnostic {
        let message = format!("axis `{name}` does not index the target, and `=` does not reduce");
        let error = self.with_suggestion(name, self.fault(Code::KernelReduction, message, span));
        error.help(format!("write `+=` to sum over `{name}`, or one of `*=`, `min=`, `max=`"))
    }

    fn unbound(&self, name: &str, span: &StatementSpan) -> Diagnostic {
        let message = format!("axis `{name}` has unknown extent");
        let error = self.fault(Code::KernelUnbound, message, span).note(format!(
            "the extent of an axis is that of a tensor axis that it indexes alone, and `{name}` indexes none alone"
        ));
        let help = match self.greatest_extent(name) {
            Some(extent) => {
                format!("declare it: `range {name} {extent}` is the greatest that stays in bounds")
            }
            None => format!("declare it: `range {name} …`, a number, a const or a symbol"),
        };
        self.with_suggestion(name, error).help(help)
    }

    /// Greatest extent of the axis `name` with which every index of a read that contains it stays in bounds. `None` if
    /// no index contains it, if the bounds of such an index are not known constants, or if the result would be less
    /// than 1 or at least [`MAX_DERIVED_EXTENT`].
    fn greatest_extent(&self, name: &str) -> Option<i128> {
        let mut greatest: Option<i128> = None;
        for read in self.source.line.reads() {
            let Some(known) = self.program.names.get(&read.tensor.name) else { continue };
            for (text, axis) in read.index.iter().zip(&known.shape) {
                let Indexed::Axes(ast) = &text.kind else { continue };
                if !names(ast).iter().any(|(other, _)| *other == name) {
                    continue;
                }
                let size = axis.extent.as_const()?;
                let fits = |extent: i128| {
                    let bounds = self.index_bounds(ast, (name, extent));
                    bounds.is_some_and(|(low, high)| low >= 0 && high < size)
                };
                // The bounds grow with the extent.
                let (mut low, mut high) = (0, MAX_DERIVED_EXTENT);
                while low < high {
                    let middle = low + (high - low + 1) / 2;
                    if fits(middle) { low = middle } else { high = middle - 1 }
                }
                greatest = Some(greatest.map_or(low, |least| least.min(low)));
            }
        }
        greatest.filter(|extent| (1..MAX_DERIVED_EXTENT).contains(extent))
    }

    /// Bounds of an index expression by interval arithmetic, both inclusive. `own` is a pair (name of an axis, extent
    /// to assume for this axis). `None` if no bounds are known, for example because another axis has a symbolic or
    /// unknown extent, or the expression multiplies two axes.
    fn index_bounds(&self, ast: &IndexAst, own: (&str, i128)) -> Option<(i128, i128)> {
        let (a, b) = match &ast.kind {
            IndexKind::Int(value) => return Some((*value, *value)),
            IndexKind::Name(name) => {
                if let Some((value, _)) = self.program.scope.consts.get(name) {
                    return Some((*value, *value));
                }
                let extent = if name == own.0 { own.1 } else { self.constant_extent(name)? };
                return Some((0, extent.checked_sub(1)?));
            }
            IndexKind::Neg(a) => {
                let (low, high) = self.index_bounds(a, own)?;
                return Some((high.checked_neg()?, low.checked_neg()?));
            }
            IndexKind::Bin(_, _, a, b) => (self.index_bounds(a, own)?, self.index_bounds(b, own)?),
            IndexKind::Call(..) => return None,
        };
        let IndexKind::Bin(op, ..) = &ast.kind else { return None };
        Some(match op {
            BinOp::Add => (a.0.checked_add(b.0)?, a.1.checked_add(b.1)?),
            BinOp::Sub => (a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?),
            BinOp::Mul if b.0 == b.1 && b.0 >= 0 => (a.0.checked_mul(b.0)?, a.1.checked_mul(b.0)?),
            BinOp::Mul if a.0 == a.1 && a.0 >= 0 => (b.0.checked_mul(a.0)?, b.1.checked_mul(a.0)?),
            BinOp::FloorDiv if b.0 == b.1 && b.0 > 0 => (a.0.div_euclid(b.0), a.1.div_euclid(b.0)),
            _ => return None,
        })
    }

    /// Constant extent of an axis of the statement, from its range, the target, or a read that it indexes alone; `None`
    /// if the extent is symbolic or unknown.
    fn constant_extent(&self, name: &str) -> Option<i128> {
        if let Some((_, extent, _)) = self.program.ranges.iter().find(|(axis, ..)| axis == name) {
            return extent.as_const();
        }
        let line = self.source.line;
        let own = line.axes.iter().position(|axis| axis.name == name).and_then(|place| {
            let target = self.program.names.get(&line.target.name)?;
            target.shape.get(place)?.extent.as_const()
        });
        own.or_else(|| self.sources(name).first()?.extent.as_const())
    }

    /// Returns `error`, about the axis `name`, with a suggestion. If the kernel may read a tensor of this name, it
    /// suggests to index the tensor. Otherwise it suggests the most similar name of an axis on the left, const or
    /// symbol, if one is similar.
    fn with_suggestion(&self, name: &str, error: Diagnostic) -> Diagnostic {
        if self.program.could_read(name) {
            return error.help(format!("write `{name}[…]` to read an element of the tensor"));
        }
        let left = self.source.line.axes.iter().map(|word| word.name.as_str());
        error.nearest(name, left.filter(|known| *known != name).chain(self.program.scope.known()))
    }

    fn conflict(
        &self,
        name: &str,
        first: &ExtentSource<'_>,
        other: &ExtentSource<'_>,
    ) -> Diagnostic {
        let (a, b) = (self.extent_text(&first.extent), self.extent_text(&other.extent));
        let (x, y) = (&first.known.label, &other.known.label);
        let message = format!("axis `{name}` has extent {a} in `{x}` and {b} in `{y}`");
        let place = place_in(self.source.text, &first.span, &self.program.def.file);
        let error = self.fault(Code::KernelExtent, message, &other.span);
        let error = error.with_label(place, format!("extent {a}"));
        let error = error
            .note(first.known.signature_text(&self.program.symbols))
            .note(other.known.signature_text(&self.program.symbols));
        error.help(format!("make the extents equal, or declare one: `range {name} {a}`"))
    }
}

/// Names in an index expression with their byte ranges, in the order of the text.
fn names(ast: &IndexAst) -> Vec<(&str, StatementSpan)> {
    let (mut found, mut open) = (Vec::new(), vec![ast]);
    while let Some(ast) = open.pop() {
        match &ast.kind {
            IndexKind::Int(_) => {}
            IndexKind::Name(name) => found.push((name.as_str(), ast.span.clone())),
            IndexKind::Neg(a) => open.push(a),
            IndexKind::Bin(_, _, a, b) => open.extend([&**b, a]),
            IndexKind::Call(_, arguments) => open.extend(arguments.iter().rev()),
        }
    }
    found
}
