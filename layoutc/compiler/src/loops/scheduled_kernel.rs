//! Schedules of the statements of a kernel.

use crate::base::dtype::Scalar;
use crate::loops::buffers::{KernelBuffer, bound};
use crate::loops::error::PlanError;
use crate::loops::scheduled_statement::{ScheduledStatement, at_once_in_a_byte};
use crate::loops::thread_mapping::ThreadMapping;
use crate::loops::{ExecutionModel, writes_nothing};
use crate::model::Spanned;
use crate::model::compute::{
    KernelInstance, LoopSchedule, Reduction, Statement, TypedExpr, TypedExprKind,
};

/// Execution of a statement of a kernel.
#[derive(Debug)]
pub(crate) enum StatementPlan {
    /// No element is written: an axis that the statement writes has a constant extent of at most 0.
    Empty,
    /// Loops over the axes of the statement, in their order, for a statement that writes through an index tensor.
    Scatter,
    /// Loop nest.
    Loops {
        /// Schedule of the statement.
        schedule: Box<ScheduledStatement>,
        /// Statement that writes the initial values before the chunks of a split-K reduction, and its schedule; `None`
        /// if there are no chunks, or the target holds the initial values.
        initial: Option<Box<(Statement, ScheduledStatement)>>,
        /// Distribution of the loops over GPU threads; `None` on a CPU.
        mapping: Option<ThreadMapping>,
    },
}

impl StatementPlan {
    /// Plan of one statement. `buffers` are those of [`KernelBuffer::all`].
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the schedule cannot be followed, or the processor cannot write the target in this way.
    /// Any other error of [`ScheduledStatement::new`].
    pub(crate) fn new(
        compute: &KernelInstance,
        statement: &Statement,
        buffers: &[KernelBuffer],
        processor: ExecutionModel,
    ) -> Result<Self, PlanError> {
        if writes_nothing(statement) {
            return Ok(Self::Empty);
        }
        if statement.scatter.is_some() {
            let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
            let is_gpu = processor == ExecutionModel::Gpu;
            let threads = (&*compute.schedule.parallel, processor);
            let fault = is_gpu.then(|| at_once_in_a_byte(compute, target, threads)).flatten();
            return match fault.or_else(|| scatter_to_image(statement, target)) {
                Some(fault) => Err(fault),
                None => Ok(Self::Scatter),
            };
        }
        let schedule = Box::new(ScheduledStatement::new(compute, statement, buffers, processor)?);
        let mut initial = None;
        if schedule.order.split_k.is_some() && !statement.accumulate {
            let first = initial_statement(statement);
            let parallel = schedule.parallel.iter().flat_map(with_wholes).collect();
            let compute = compute.with_schedule(LoopSchedule { parallel, ..Default::default() });
            let own = ScheduledStatement::new(&compute, &first, buffers, processor)?;
            initial = Some(Box::new((first, own)));
        }
        let mapping = match processor {
            ExecutionModel::Cpu(_) => None,
            ExecutionModel::Gpu => {
                Some(ThreadMapping::new(compute, statement, &schedule, buffers)?)
            }
        };
        Ok(Self::Loops { schedule, initial, mapping })
    }

    /// Plans of all statements of a kernel, in order.
    ///
    /// # Errors
    /// As [`StatementPlan::new`].
    pub(crate) fn all(
        compute: &KernelInstance,
        buffers: &[KernelBuffer],
        processor: ExecutionModel,
    ) -> Result<Vec<Self>, PlanError> {
        let plan = |statement| Self::new(compute, statement, buffers, processor);
        compute.statements.iter().map(plan).collect()
    }

    /// Schedule of the statement's loops; `None` for a statement without a loop nest.
    pub(crate) fn schedule(&self) -> Option<&ScheduledStatement> {
        match self {
            Self::Loops { schedule, .. } => Some(schedule),
            Self::Empty | Self::Scatter => None,
        }
    }
}

/// Error for a statement that writes an image through an index tensor; `None` if the target is in a buffer.
fn scatter_to_image(statement: &Statement, target: &KernelBuffer) -> Option<PlanError> {
    target.image.as_ref()?;
    Some(PlanError::Choice {
        message: format!(
            "`{}` is an image, written by texels: no single element is written through an index tensor",
            target.tensor.name
        ),
        help: "write a tensor in global memory".to_owned(),
        place: statement.place.clone(),
    })
}

/// Statement that writes the identity of the reduction operator of `statement` to the elements that `statement` writes.
fn initial_statement(statement: &Statement) -> Statement {
    let ty = statement.accumulator;
    let (integer, float) = statement.op.identity(ty);
    let kind = match ty {
        Scalar::F32 | Scalar::F64 => TypedExprKind::Float(float),
        _ => TypedExprKind::Integer(integer),
    };
    Statement {
        axes: statement.axes.iter().take(statement.written_axes).cloned().collect(),
        op: Reduction::Assign,
        value: TypedExpr { ty, kind },
        epilogue: None,
        caches: Vec::new(),
        schedules: Vec::new(),
        ..statement.clone()
    }
}

/// Name of a loop, and the names of the loops of which it may be the outer part: `i_outer_outer`, `i_outer`, `i`.
fn with_wholes(name: &Spanned<String>) -> Vec<Spanned<String>> {
    let names =
        std::iter::successors(Some(name.value.as_str()), |value| value.strip_suffix("_outer"));
    names.map(|value| Spanned { value: value.to_owned(), place: name.place.clone() }).collect()
}
