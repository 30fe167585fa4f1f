//! Complete schedules: the loops of a `schedule` node, and the `schedule` node of planned loops.

use layoutc_algebra::symbol::Symbol;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::loops::domain::{DomainStep, IterationDomain};
use crate::loops::error::PlanError;
use crate::loops::footprint::Block;
use crate::loops::heuristics::operand_packing::keeps_sums;
use crate::loops::order::{Order, PartialSums, refused};
use crate::loops::renumbered;
use crate::loops::scheduled_statement::{ScheduledStatement, fused};
use crate::model::compute::{
    BufferRef, Fuse, LoopStep, Reduction, Split, Statement, StatementSchedule,
};
use crate::model::{Spanned, Tensor};

/// Loops of a statement as the complete schedule `schedule` defines them. `target` is the tensor that the statement
/// writes, `symbols` are those of the kernel.
///
/// # Errors
/// [`PlanError::Choice`] if the schedule names a loop that the statement does not have, omits a loop whose trip count
/// is not the constant 1, or has a directive that cannot be followed. [`PlanError::Expr`] if a value overflows or an
/// expression becomes too large.
pub(crate) fn planned(
    target: &Tensor,
    symbols: &[Symbol],
    statement: &Statement,
    schedule: &StatementSchedule,
) -> Result<ScheduledStatement, PlanError> {
    let reduced = statement.axes.get(statement.written_axes..).unwrap_or_default();
    let named = schedule.loops.iter().map(|name| name.value.clone());
    let kept: Vec<String> = named.chain(fused(&schedule.steps)).collect();
    let mut domain = IterationDomain::new(target, symbols, reduced, &kept)?;
    for step in &schedule.steps {
        apply(&mut domain, step)?;
    }
    let order = ordered(&mut domain, statement, schedule)?;
    let StatementSchedule { caches, unroll, parallel, .. } = schedule.clone();
    Ok(ScheduledStatement { domain, order, caches, unroll, parallel })
}

/// Applies one split or fusion of a complete schedule.
fn apply(domain: &mut IterationDomain, step: &LoopStep) -> Result<(), PlanError> {
    match step {
        LoopStep::Split(Split { axis, by, .. }) => {
            let number = find(domain, axis)?;
            domain.split(number, *by)?;
        }
        LoopStep::Fuse(Fuse { outer, inner, name }) => {
            let loops = [find(domain, outer)?, find(domain, inner)?];
            let [first, second] = loops.map(|number| domain.is_reduced(number));
            let (reason, help) = if outer.value == inner.value {
                ("they are one loop", "name two loops")
            } else if first != second {
                ("only one of them is reduced", "fuse two loops of the output, or two reduced ones")
            } else if domain.loops.iter().any(|found| found.name == *name) {
                ("a loop has this name already", "give the fused loop another name")
            } else if domain.fuse(loops, name)?.is_none() {
                ("a trip count is not constant", "split the loop, and fuse its inner part")
            } else {
                return Ok(());
            };
            let message = format!("cannot fuse `{}` and `{}`: {reason}", outer.value, inner.value);
            return Err(refused(message, help.to_owned(), &inner.place));
        }
    }
    Ok(())
}

/// Number of the live loop called `name`; a [`PlanError::Choice`] that lists the live loops if there is none.
fn find(domain: &IterationDomain, name: &Spanned<String>) -> Result<usize, PlanError> {
    domain.find(&name.value).ok_or_else(|| {
        let message = format!("there is no loop `{}` here", name.value);
        refused(
            message,
            format!("the loops here are {}", listed(domain, &domain.active)),
            &name.place,
        )
    })
}

/// Names of the loops with the numbers `loops`, in backquotes, separated by commas.
fn listed(domain: &IterationDomain, loops: &[usize]) -> String {
    let names = loops.iter().filter_map(|number| domain.loops.get(*number));
    let names: Vec<String> = names.map(|found| format!("`{}`", found.name)).collect();
    names.join(", ")
}

/// Order of the loops that a complete schedule gives. Loops of one iteration that it does not name are removed from the
/// live loops of `domain`.
fn ordered(
    domain: &mut IterationDomain,
    statement: &Statement,
    schedule: &StatementSchedule,
) -> Result<Order, PlanError> {
    let mut loops = Vec::new();
    for name in &schedule.loops {
        loops.push(find(domain, name)?);
    }
    let is_long = |number: &usize| domain.trip_count(*number) != Some(1);
    let others = domain.active.iter().copied().filter(|number| !loops.contains(number));
    let missing: Vec<usize> = others.filter(is_long).collect();
    if !missing.is_empty() {
        let message = format!("`loops` does not name {}", listed(domain, &missing));
        let help = "a `schedule` names all loops, outermost first".to_owned();
        return Err(refused(message, help, &schedule.place));
    }
    domain.active.retain(|number| loops.contains(number));
    let split_k = match &schedule.split_k {
        Some(name) => Some(split_k(domain, statement, &loops, (name, &schedule.parallel))?),
        None => None,
    };
    let partial_sums = match &schedule.partial_sums {
        Some(name) => Some(partial_sums(domain, statement, &loops, name)?),
        None => None,
    };
    let first = loops.iter().position(|number| domain.is_reduced(*number));
    let first_reduced = first.unwrap_or(loops.len());
    let order = Order { loops, first_reduced, partial_sums, split_k };
    for name in schedule.parallel.iter().chain(&schedule.unroll) {
        find(domain, name)?;
    }
    order.check(domain, [&schedule.loops, &schedule.parallel], &schedule.place)?;
    Ok(order)
}

/// Number of the loop `name` over chunks of the reduction (split-K), for which `is_reduced` is cleared. Each chunk
/// stores partial results; with an epilogue, the last one stores the values of the epilogue.
fn split_k(
    domain: &mut IterationDomain,
    statement: &Statement,
    loops: &[usize],
    (name, parallel): (&Spanned<String>, &[Spanned<String>]),
) -> Result<usize, PlanError> {
    let number = find(domain, name)?;
    let (reason, help) = if !domain.is_reduced(number) || loops.first() != Some(&number) {
        ("it is not the outermost loop, over a reduced axis", "order a reduced loop first")
    } else if statement.op == Reduction::Assign {
        ("the statement is no reduction", "remove `split-k`")
    } else if statement.epilogue.is_some()
        && !loops.iter().any(|other| *other != number && domain.is_reduced(*other))
    {
        ("its statement has an epilogue, and a chunk is one value", "split the loop")
    } else if domain.is_split_from(number, parallel) {
        ("its chunks continue from each other, and it is parallel", "remove it from `parallel`")
    } else {
        domain.privatize(number);
        return Ok(number);
    };
    let message = format!("cannot split the reduction at `{}`: {reason}", name.value);
    Err(refused(message, help.to_owned(), &name.place))
}

/// Loops of the partial sums along the loop `name`, for which `is_reduced` is cleared: each of its iterations has an
/// accumulator of its own.
fn partial_sums(
    domain: &mut IterationDomain,
    statement: &Statement,
    loops: &[usize],
    name: &Spanned<String>,
) -> Result<PartialSums, PlanError> {
    let number = find(domain, name)?;
    let outer = domain.loops.get(number).and_then(|found| found.outer);
    let around = outer.and_then(|around| {
        let (outer, inner) = loops.split_at(loops.iter().position(|own| *own == around)? + 1);
        let (last, rows) = inner.split_last()?;
        let mut rows_and_outer = rows.iter().filter(|own| domain.is_reduced(**own));
        let is_innermost = *last == number && rows_and_outer.next().is_none();
        (is_innermost && !outer.is_empty() && domain.is_reduced(around)).then_some(around)
    });
    let rounds = domain.trip_count(number).and_then(|rounds| u64::try_from(rounds).ok());
    let reason = match around {
        _ if !domain.is_reduced(number) => "it is not a reduced loop",
        _ if statement.op == Reduction::Assign => "the statement is no reduction",
        _ if !rounds.is_some_and(|rounds| rounds > 1 && rounds.is_power_of_two()) => {
            "its trip count is no power of 2"
        }
        None => "it must be the inner part of a split and innermost, inside the outer part",
        Some(around) => {
            domain.privatize(number);
            return Ok(PartialSums { number, around });
        }
    };
    let message = format!("cannot compute partial sums along `{}`: {reason}", name.value);
    let help = "split a reduced loop by a power of 2, and order its inner part last".to_owned();
    Err(refused(message, help, &name.place))
}

/// Checks the loops of a complete schedule, and the loops at which its caches are. `target` is the tensor that the
/// statement writes, `symbols` are those of the kernel. For each pair (tensor, loop) of `caches`, returns the extents
/// along each axis of the box of the tensor that one iteration of the loop accesses; `None` if the statement neither
/// writes the tensor nor reads it in its value at affine indices.
///
/// # Errors
/// A diagnostic with the code `kernel::schedule` if the loops or directives of the schedule cannot be followed, with
/// the code `kernel::cache` if a cache names a loop that does not exist or cannot be at its loop.
pub(crate) fn complete_schedule(
    target: &Tensor,
    statement: &Statement,
    symbols: &[Symbol],
    schedule: &StatementSchedule,
    caches: &[(BufferRef, Spanned<String>)],
) -> Result<Vec<Option<Vec<i128>>>, Box<Diagnostic>> {
    let fault = |code: Code, error: PlanError| {
        let PlanError::Choice { message, help, place } = error else {
            let error = Diagnostic::error(code, error.to_string(), schedule.place.clone(), "");
            return Box::new(error.help("remove the schedule"));
        };
        Box::new(Diagnostic::error(code, message, place, "").help(help))
    };
    if let Some(name) = schedule.split_k.as_ref().filter(|_| !keeps_sums(statement, target)) {
        let place = &name.place;
        let message = format!("`{}` cannot hold partial results", target.name);
        let element = statement.accumulator.element();
        let help = format!("give it the accumulator's type, {element}, and do not read it");
        return Err(fault(Code::KernelSchedule, refused(message, help, place)));
    }
    let of_schedule = |error| fault(Code::KernelSchedule, error);
    let target = renumbered(target, symbols).map_err(of_schedule)?;
    let ScheduledStatement { domain, order, .. } =
        planned(&target, symbols, statement, schedule).map_err(of_schedule)?;
    let mut all = Vec::new();
    for (buffer, at) in caches {
        let of_cache = |error| fault(Code::KernelCache, error);
        find(&domain, at).map_err(of_cache)?;
        let block = Block::new(&domain, &order, statement, (*buffer, at)).map_err(of_cache)?;
        all.push(block.map(|block| block.extents));
    }
    Ok(all)
}

impl ScheduledStatement {
    /// Complete schedule for all instruction sets with the same loops: a statement that follows it gets this schedule
    /// again. `place` becomes the location of the schedule and of all names in it but those of caches.
    pub(crate) fn schedule(&self, place: &FileSpan) -> StatementSchedule {
        let spanned = |name: &str| Spanned { value: name.to_owned(), place: place.clone() };
        let step = |step: &DomainStep| match step {
            DomainStep::Split { name, by } => {
                LoopStep::Split(Split { axis: spanned(name), by: *by, is_tile: false })
            }
            DomainStep::Fuse { outer, inner, name } => LoopStep::Fuse(Fuse {
                outer: spanned(outer),
                inner: spanned(inner),
                name: name.clone(),
            }),
        };
        let domain = &self.domain;
        let name = |number: usize| domain.loops.get(number).map(|found| spanned(&found.name));
        let loops: Vec<usize> = self.order.loops.clone();
        let is_unrolled =
            |own: &Spanned<String>| self.unroll.iter().any(|chosen| chosen.value == own.value);
        let parallel = loops.iter().filter(|number| domain.is_split_from(**number, &self.parallel));
        StatementSchedule {
            isa: None,
            steps: domain.steps.iter().map(step).collect(),
            partial_sums: self.order.partial_sums.and_then(|lanes| name(lanes.number)),
            split_k: self.order.split_k.and_then(name),
            unroll: loops.iter().filter_map(|number| name(*number)).filter(is_unrolled).collect(),
            parallel: parallel.filter_map(|number| name(*number)).collect(),
            loops: loops.iter().filter_map(|number| name(*number)).collect(),
            caches: self.caches.clone(),
            place: place.clone(),
        }
    }
}
