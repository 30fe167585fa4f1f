//! Lowering of statements that write memory. Checks the types of accumulator and value, and the reads of the target.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::symbol::Axis;

use super::indexed::BoundsPolicy;
use super::program::{KernelLowering, StatementSource};
use super::statement_syntax::StatementAst;
use super::tensor_table::KernelTensorKind;
use super::types::{converted, is_float, is_integer, word};
use super::value::{InferredValue, ValueBuilder, cast};
use crate::base::cast::CastMode;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::dtype::Scalar;
use crate::check::expr::place_in;
use crate::model::compute::{BufferRef, Reduction, Statement, TypedExpr};

impl KernelLowering<'_> {
    /// Lowers the statement `source`, which writes `target`, and adds it to `self.statements`; for some scatters, after
    /// a statement that initializes the target. The pair is (all axes of the statement, number of them that are on the
    /// left), with these first. `ty` is the type in which kernels compute on `target`. `Err` if, for example, the type
    /// of the value or of the accumulator does not fit `ty`, or a read is invalid.
    pub(super) fn stored(
        &mut self,
        source: StatementSource<'_>,
        (axes, written_axes): (Vec<Axis>, usize),
        target: BufferRef,
        ty: Scalar,
    ) -> CheckResult<()> {
        let line = source.line;
        let reduces = line.op != Reduction::Assign;
        if ty == Scalar::Bool && reduces {
            let message = "cannot reduce booleans".to_owned();
            let error = self.fault(source, Code::DtypeKernel, message, &line.op_span);
            let shown = source.text.value.get(line.value.span.clone()).unwrap_or_default();
            let help = format!("count them in an integer tensor: `select({shown}, 1, 0)`");
            return Err(vec![error.help(help)]);
        }
        let accumulator = self.accumulator.filter(|_| reduces).unwrap_or(ty);
        if is_float(accumulator) != is_float(ty) {
            let text = self.def.item.acc.as_ref().map_or(&line.op_span, |text| &text.span);
            let place = FileSpan::new(&self.def.file, text.clone());
            let message = format!(
                "`{}` is computed in {}, and cannot be accumulated in {}",
                self.label(&line.target.name),
                word(ty),
                word(accumulator)
            );
            let error = Diagnostic::error(Code::DtypeKernel, message, place, "");
            let help =
                if is_float(ty) { "`acc f32` or `acc f64`" } else { "`acc i32` or `acc i64`" };
            return Err(vec![error.help(format!("write {help}"))]);
        }
        let label = self.label(&line.target.name);
        let known = self.names.get(&line.target.name);
        let (value, scatter) = self.value(source, &axes, |builder, built| {
            let ty = if reduces { accumulator } else { ty };
            let access = |(index, known): (&[_], _)| {
                builder.access(index, (known, &line.left), BoundsPolicy::Refused)
            };
            let scatter = line.scatter.as_deref().zip(known).map(access).transpose()?;
            Ok((store_value(builder, built, (line, &label), ty)?, scatter))
        })?;
        let value = if reduces { converted(value, accumulator) } else { value };
        let mut accumulate = self.def.item.accumulate.is_some()
            && reduces
            && matches!(target, BufferRef::Operand(_));
        let accumulator = if reduces { accumulator } else { value.ty };
        let span = 0..source.text.value.len();
        if scatter.is_some() && reduces && !accumulate {
            self.statements.extend(self.beginning(source, target, ty));
            accumulate = true;
        }
        let statement = Statement {
            target,
            axes,
            written_axes,
            scatter,
            op: line.op,
            accumulate,
            accumulator,
            store: CastMode::Round,
            value,
            epilogue: None,
            caches: Vec::new(),
            schedules: Vec::new(),
            text: source.text.value.trim().to_owned(),
            numbers: Some([source.number(self.def); 2]),
            place: place_in(source.text, &span, &self.def.file),
        };
        if statement.scatter.is_some() {
            self.scatters_well(source, target, ty, &|buffer| statement.reads(buffer))?;
        } else {
            self.reads_its_element(source, &statement)?;
        }
        self.statements.push(statement);
        self.outdate(&line.target.name, target);
        Ok(())
    }

    /// Marks each inlined intermediate whose value reads `target` as stale: `target` was just written under `name`, so
    /// that the value must not be inlined after this statement.
    fn outdate(&mut self, name: &str, target: BufferRef) {
        for known in self.names.values_mut() {
            if let KernelTensorKind::Inlined { value, stale } = &mut known.kind
                && let InferredValue::FloatLiteral(value) | InferredValue::Typed(value) = value
                && value.uses(target)
            {
                stale.get_or_insert_with(|| name.to_owned());
            }
        }
    }

    /// Checks the reads of its target by a statement. An assignment may read only the element that it writes; a
    /// reduction must not read its target.
    fn reads_its_element(
        &self,
        source: StatementSource<'_>,
        statement: &Statement,
    ) -> CheckResult<()> {
        let line = source.line;
        let Statement { target, value, .. } = statement;
        let own = (0_u32..).map(|k| Expr::var(Var::Axis(k))).take(line.axes.len());
        let own: Vec<Expr> = own.collect();
        let reduces = line.op != Reduction::Assign;
        let mut others = value.reads().into_iter().filter(|read| read.buffer == *target);
        // An axis of extent 1 may have become the constant 0.
        let is_own = |index: &[Expr]| {
            index.iter().zip(&own).zip(self.extents(line)).all(|((index, own), extent)| {
                index == own || index.as_const() == Some(0) && extent == Some(1)
            })
        };
        if others.all(|read| is_own(&read.index) && !reduces) && !value.gathers_of(*target) {
            return Ok(());
        }
        let name = &line.target.name;
        let read = line.reads().find(|read| read.tensor.name == *name);
        let span = read.map_or(&line.left, |read| &read.span);
        let message = if reduces {
            format!("`{name}` is read by the statement that reduces into it")
        } else {
            format!("`{name}` is read at an element other than the one that is written")
        };
        let error = self.fault(source, Code::KernelOperand, message, span);
        let goes_on = self.def.item.accumulate.is_some() || matches!(target, BufferRef::Local(_));
        let local = |role: &str| {
            let ty = match self.names.get(name).map(|known| &known.kind) {
                Some(KernelTensorKind::Stored { ty, .. }) => word(*ty),
                _ => "f32".to_owned(),
            };
            format!("`local {name}_{role} dtype={ty}`")
        };
        Err(vec![error.help(match (reduces, goes_on) {
            (true, false) => {
                "to continue from its current values, add `accumulate #true`".to_owned()
            }
            (true, true) => {
                format!(
                    "reduce into an intermediate, and read it in a later statement: {}",
                    local("sum")
                )
            }
            (false, _) => {
                format!("write to another tensor, or to an intermediate: {}", local("new"))
            }
        })])
    }

    /// Constant extents of the target of the statement `line`, in the order of its axes; `None` for a symbolic extent,
    /// an empty list for a target that is not in the tensor table.
    fn extents(&self, line: &StatementAst) -> Vec<Option<i128>> {
        let known = self.names.get(&line.target.name);
        let shape = known.map(|known| known.shape.as_slice()).unwrap_or_default();
        shape.iter().map(|axis| axis.extent.as_const()).collect()
    }
}

/// Value that a statement stores or reduces into its target, from its inferred value `built`. `ty` is the type of the
/// accumulator for a reduction, otherwise the type in which kernels compute on the target. A literal takes the type
/// `ty`. A float value needs a float type, an integer value an integer type, a boolean `bool`; any other pair is an
/// error. `line` is the statement, `label` the name of the target in messages.
fn store_value(
    builder: &ValueBuilder<'_>,
    built: InferredValue,
    (line, label): (&StatementAst, &str),
    ty: Scalar,
) -> CheckResult<TypedExpr> {
    let ast = &line.value;
    let value = match built {
        InferredValue::Typed(value) => value,
        InferredValue::Index(_) if is_integer(ty) => builder.convert_to(built, Scalar::I64, ast)?,
        other => return builder.convert_to(other, ty, ast),
    };
    let fits = is_float(value.ty) && is_float(ty)
        || is_integer(value.ty) && is_integer(ty)
        || value.ty == ty;
    if fits {
        return Ok(value);
    }
    let shown = builder.shown(ast);
    let message =
        format!("the value is {}, and `{label}` is computed in {}", word(value.ty), word(ty));
    let help = match (value.ty, ty) {
        (_, Scalar::Bool) => format!("compare it: `{shown} != 0`"),
        _ => cast(shown, ty),
    };
    builder.mistyped(message, &ast.span, help)
}
