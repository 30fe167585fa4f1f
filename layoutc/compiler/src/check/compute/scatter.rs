//! Checks of scatters, statements that write through an index tensor (`cache[slot[t], h] = key[t, h]`), and of the
//! declared ranges of index elements.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::symbol::Axis;

use super::indexed::ElementBounds;
use super::program::{KernelLowering, StatementSource};
use super::statement_syntax::{IndexText, ReadAst, StatementAst, ValueAst};
use super::tensor_table::{KernelTensor, KernelTensorKind};
use super::types::{is_integer, literal, word};
use crate::base::cast::{CastMode, range};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::dtype::Scalar;
use crate::check::expr::place_in;
use crate::model::compute::{BufferRef, Reduction, Statement, TypedExpr, TypedExprKind};

impl KernelLowering<'_> {
    /// Checks that the target of the scatter `source` is defined before it: it must be an operand, or be written by an
    /// earlier statement, because elements that the scatter does not write keep their values. `shape` is the target in
    /// the tensor table, `None` if it is not there. `Ok` for a statement that is no scatter.
    pub(super) fn may_be_scattered(
        &self,
        source: StatementSource<'_>,
        shape: Option<&KernelTensor>,
    ) -> CheckResult<()> {
        let name = &source.line.target.name;
        if source.line.scatter.is_none() || shape.is_some() {
            return Ok(());
        }
        let lines = &self.def.lines;
        if !lines.iter().flat_map(StatementAst::reads).any(|read| read.tensor.name == *name) {
            // `unread` reports a name that nothing reads.
            return Err(Vec::new());
        }
        let message =
            format!("`{name}` is written through an index tensor before its elements are defined");
        let error = self.fault(source, Code::KernelIntermediate, message, &source.line.left);
        let help = format!(
            "initialize it in an earlier statement: `{name}[…] = 0`, with `local {name} dtype=f32`"
        );
        Err(error.help(help).into())
    }

    /// Exclusive upper bound that the kernel declares for the elements of the operand `name` by `range`; `None` if it
    /// declares none, or `name` is not an operand.
    pub(super) fn stated(&self, name: &str) -> Option<Expr> {
        let (_, below, _) = self.ranges.iter().find(|(own, ..)| own == name)?;
        let is_operand = self.operands.iter().any(|operand| operand.name.value == name);
        is_operand.then(|| below.clone())
    }

    /// Known bounds of the elements of the tensor `buffer` in a statement over `axes`. The `range` of an operand's name
    /// is used as the bound of its elements, unless an axis of the statement has the name too.
    pub(super) fn elements(&self, buffer: BufferRef, axes: &[Axis]) -> ElementBounds {
        let scalar = self.memory(buffer).map_or(Scalar::I64, |tensor| tensor.dtype.scalar);
        let (low, high) = range(scalar);
        let name = match buffer {
            BufferRef::Operand(k) => {
                self.operands.get(k).map(|operand| operand.name.value.as_str())
            }
            BufferRef::Local(_) => None,
        };
        let name = name.filter(|name| axes.iter().all(|axis| axis.name != *name));
        ElementBounds { below: name.and_then(|name| self.stated(name)), limits: [low, high] }
    }

    /// Error, located at `place`, for an item `range NAME BOUND` that bounds the elements of the tensor `name`. The
    /// range is allowed if no target has an axis and no read an index of this name alone, if the tensor is an operand
    /// of integers that the kernel does not write, if the bound is not 0, and if an index reads the tensor (in a kernel
    /// of several statements, any value may). `None` if the range is allowed, or if `name` is no tensor.
    pub(super) fn range_of_elements(&self, name: &str, place: &FileSpan) -> Option<Diagnostic> {
        let lines = &self.def.lines;
        let known = self.names.get(name)?;
        let is_axis = lines.iter().any(|line| {
            let mut indices = line.reads().flat_map(|read| &read.index);
            line.axes.iter().any(|axis| axis.name == name)
                || indices.any(|index| index.lone_name() == Some(name))
        });
        let is_written = lines.iter().any(|line| line.target.name == name);
        let is_operand = self.operands.iter().any(|operand| operand.name.value == name);
        let is_used = || {
            lines.iter().any(|line| {
                let scatter = line.scatter.iter().flatten().filter_map(IndexText::data);
                line.reads().flat_map(ReadAst::data).chain(scatter).any(|ast| reads(ast, name))
                    || lines.len() > 1 && reads(&line.value, name)
            })
        };
        let (code, message, help) = if is_axis {
            let message = format!("the range of `{name}` is ambiguous: it is a tensor and an axis");
            (Code::KernelAxes, message, "give the axis another name")
        } else if is_written || !is_operand {
            let message =
                format!("cannot declare a range for `{name}`: the kernel computes its elements");
            let help = "remove the range: indices are checked at run time; or declare one for a tensor that is only read";
            (Code::KernelOperand, message, help)
        } else if matches!(known.kind, KernelTensorKind::Stored { ty, .. } if !is_integer(ty)) {
            let label = &known.label;
            let message =
                format!("cannot declare a range for `{label}`: its elements are not integers");
            (Code::DtypeKernel, message, "remove the range")
        } else if self.stated(name).is_some_and(|below| below.as_const() == Some(0)) {
            let help = "write 1 or more, or remove the range: indices are checked at run time";
            (Code::ShapeExtent, format!("the range of `{name}` is empty"), help)
        } else if !is_used() {
            let message = format!("no index reads the elements of `{name}`");
            (Code::KernelAxes, message, "remove the range")
        } else {
            return None;
        };
        Some(Diagnostic::error(code, message, place.clone(), "").help(help))
    }

    /// Checks the scatter `source` into `target`: the statement must not read `target`, and a reduction must accumulate
    /// in `ty`, the type in which kernels compute on `target`. `reads` returns true for buffers that the statement
    /// reads.
    pub(super) fn scatters_well(
        &self,
        source: StatementSource<'_>,
        target: BufferRef,
        ty: Scalar,
        reads: &dyn Fn(BufferRef) -> bool,
    ) -> CheckResult<()> {
        let line = source.line;
        let name = &line.target.name;
        if reads(target) {
            let message =
                format!("`{name}` is read by the statement that writes it through an index tensor");
            let error = self.fault(source, Code::KernelOperand, message, &line.left);
            let help = "to continue from its current values, write `+=` with `accumulate #true`; otherwise write to another tensor";
            return Err(error.help(help).into());
        }
        let Some(other) = self.accumulator.filter(|own| line.op != Reduction::Assign && *own != ty)
        else {
            return Ok(());
        };
        let text = self.def.item.acc.as_ref().map_or(&line.op_span, |text| &text.span);
        let place = FileSpan::new(&self.def.file, text.clone());
        let (ty, other) = (word(ty), word(other));
        let message = format!(
            "`{name}` is written through an index tensor, so it accumulates in its element type {ty}, not in {other}"
        );
        let error = Diagnostic::error(Code::DtypeKernel, message, place, "");
        let help = format!(
            "remove `acc`, or write to an intermediate of type {other}: `local t dtype={other}`"
        );
        Err(error.help(help).into())
    }

    /// Statement that initializes every element of a scatter's target with the identity of the reduction: 0 for `+=`.
    /// `None` for an assignment.
    pub(super) fn beginning(
        &self,
        source: StatementSource<'_>,
        target: BufferRef,
        ty: Scalar,
    ) -> Option<Statement> {
        let line = source.line;
        let known = self.names.get(&line.target.name)?;
        let (value, identity_text) = identity(line.op, ty)?;
        let names: Vec<&str> = known.shape.iter().map(|axis| axis.name.as_str()).collect();
        let span = 0..source.text.value.len();
        Some(Statement {
            target,
            axes: known.shape.clone(),
            written_axes: known.shape.len(),
            scatter: None,
            op: Reduction::Assign,
            accumulate: false,
            accumulator: ty,
            store: CastMode::Round,
            value,
            epilogue: None,
            caches: Vec::new(),
            schedules: Vec::new(),
            text: format!("{}[{}] = {identity_text}", line.target.name, names.join(", ")),
            numbers: None,
            place: place_in(source.text, &span, &self.def.file),
        })
    }
}

/// True if the value `ast` reads the tensor `name`.
fn reads(ast: &ValueAst, name: &str) -> bool {
    ast.nodes().iter().any(|node| node.read().is_some_and(|read| read.tensor.name == name))
}

/// Pair `(value, text)` of the identity of the reduction `op` in type `ty`: a literal, and its text in a manifest. It
/// is 0 for `+=`, and `-inf` for `max=` on floats. `None` for an assignment.
fn identity(op: Reduction, ty: Scalar) -> Option<(TypedExpr, String)> {
    let float = |value: f64| TypedExpr { ty, kind: TypedExprKind::Float(value) };
    let number = |value: i128| Some((literal(value, ty)?, value.to_string()));
    match op {
        Reduction::Assign => None,
        Reduction::Sum => number(0),
        Reduction::Product => number(1),
        Reduction::Min if is_integer(ty) => number(range(ty).1),
        Reduction::Max if is_integer(ty) => number(range(ty).0),
        Reduction::Min => Some((float(f64::INFINITY), "inf".to_owned())),
        Reduction::Max => Some((float(f64::NEG_INFINITY), "-inf".to_owned())),
    }
}
