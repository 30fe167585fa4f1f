//! Checks complete schedules, `schedule machine=avx512 { … }`: each becomes a [`StatementSchedule`] of the statement
//! that it names, and the planner verifies that the statement allows the schedule.

use std::sync::Arc;

use super::cache::CacheDirectives;
use super::program::KernelLowering;
use super::schedule::{ScheduleDirective, chosen_name, factor};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::scope::{ManifestScope, number};
use crate::manifest::syntax::{
    CacheItem, CompleteSchedule, Identifier, InstanceItem, ScheduleKind,
};
use crate::model::compute::{Fuse, LoopStep, Split, Statement, StatementSchedule};

/// Checks the complete schedules of an instance, or those of its kernel if the instance has none, and adds them to the
/// statements of `program`. `instance` is the tuple (item, path of its manifest, position of this manifest among the
/// loaded ones, scope of its names); `None` for a kernel without operands. Returns warnings.
///
/// # Errors
/// The faults of each faulty schedule.
pub(super) fn check(
    program: &mut KernelLowering<'_>,
    instance: Option<(&InstanceItem, &Arc<str>, usize, &ManifestScope)>,
) -> CheckResult<Vec<Diagnostic>> {
    let def = program.def;
    let (items, block) = match instance.filter(|(item, ..)| !item.complete.is_empty()) {
        Some((item, file, home, scope)) => (&item.complete, ScheduleBlock { file, home, scope }),
        None => {
            let (file, home, scope) = (&def.file, def.home, program.scope);
            (&def.item.complete, ScheduleBlock { file, home, scope })
        }
    };
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for item in items {
        let checked = block.position(program, item).and_then(|position| {
            let (schedule, found) = block.schedule(program, item, position)?;
            Ok((position, schedule, found))
        });
        match checked {
            Ok((position, schedule, found)) => {
                warnings.extend(found);
                if let Some(statement) = program.statements.get_mut(position) {
                    statement.schedules.push(schedule);
                }
            }
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(warnings) } else { Err(errors) }
}

/// Manifest in which complete schedules are written, with the scope that resolves the names in them.
#[derive(Clone, Copy)]
struct ScheduleBlock<'a> {
    file: &'a Arc<str>,
    /// Position of the manifest among the loaded manifests.
    home: usize,
    scope: &'a ManifestScope,
}

impl ScheduleBlock<'_> {
    fn fault(&self, item: &CompleteSchedule, message: String, help: &str) -> Vec<Diagnostic> {
        let place = FileSpan::new(self.file, item.span.clone());
        vec![Diagnostic::error(Code::KernelSchedule, message, place, "").help(help)]
    }

    /// Position, in the list of the program's statements, of the statement that the schedule `item` names; an item that
    /// names none is for the only statement of the kernel. `Err` if there is no such statement, if it is a scatter, or
    /// if it has a schedule for this machine already. A schedule without a machine is for all machines.
    fn position(
        &self,
        program: &KernelLowering<'_>,
        item: &CompleteSchedule,
    ) -> CheckResult<usize> {
        let numbers = program.statements.iter().map(|statement| statement.numbers);
        let count = numbers.clone().flatten().count();
        let position = match &item.statement {
            None if count == 1 => {
                numbers.clone().position(|numbers| numbers.is_some()).unwrap_or(0)
            }
            None => {
                let message = format!("the kernel has {count} statements");
                let first = numbers.flatten().next().map_or(1, |[_, last]| last);
                let help = format!("name one: `schedule statement={first}`");
                return Err(self.fault(item, message, &help));
            }
            Some(wanted) => {
                let value = number(wanted, self.scope, self.file)?;
                let is_it = |statement: &Statement| {
                    let wanted = usize::try_from(value).ok();
                    wanted
                        .zip(statement.numbers)
                        .is_some_and(|(wanted, [first, last])| (first..=last).contains(&wanted))
                };
                program.statements.iter().rposition(is_it).ok_or_else(|| {
                    let place = wanted.at(self.file);
                    let message = format!("no loops compute statement {value}");
                    let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
                    let help = "number a `compute` from 1, in the order of the text; an intermediate without storage has no loops";
                    vec![error.help(help)]
                })?
            }
        };
        let statement = program.statements.get(position);
        if let Some(statement) = statement.filter(|statement| statement.scatter.is_some()) {
            let message = format!(
                "cannot schedule `{}`: it writes through an index tensor, and its loops are serial",
                statement.text
            );
            return Err(self.fault(item, message, "remove the schedule"));
        }
        let schedules = statement.map_or(&[][..], |statement| &statement.schedules);
        let overlaps = |own: &StatementSchedule| {
            own.isa.is_none() || item.machine.is_none() || own.isa == item.machine
        };
        if let Some(first) = schedules.iter().find(|own| overlaps(own)) {
            let place = FileSpan::new(self.file, item.span.clone());
            let message = "the statement has a schedule for this machine already".to_owned();
            let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
            let mut error = error.help("remove one of them, or give each its own `machine`");
            error.add_label(first.place.clone(), "first here");
            return Err(vec![error]);
        }
        Ok(position)
    }

    /// Checks one schedule of the statement at `position`. Returns the schedule, and warnings about its tiles.
    fn schedule(
        &self,
        program: &KernelLowering<'_>,
        item: &CompleteSchedule,
        position: usize,
    ) -> CheckResult<(StatementSchedule, Vec<Diagnostic>)> {
        let statement = program.statements.get(position).ok_or_else(Vec::new)?;
        let target = program.memory(statement.target).ok_or_else(Vec::new)?;
        let mut schedule = self.directives(item)?;
        let caches = CacheDirectives::new(&item.caches, self.home, self.file);
        let mut tiles = Vec::new();
        for cache in &item.caches {
            let buffer = caches.buffer(program, cache).map_err(|error| vec![error])?;
            caches.refuse_read_and_written(statement, (cache, buffer))?;
            tiles.push((buffer, chosen_name(&cache.at, self.file)));
        }
        let check = program.place.planner.complete_schedule;
        let extents = check(target, statement, &program.symbols, &schedule, &tiles);
        let extents = extents.map_err(|error| vec![*error])?;
        let mut warnings = Vec::new();
        for ((cache, (buffer, _)), extents) in item.caches.iter().zip(tiles).zip(extents) {
            let Some(extents) = extents else { return Err(self.unused(cache, statement)) };
            let (tile, found) = caches.tile(program, (cache, buffer), &extents)?;
            schedule.caches.push(tile);
            warnings.extend(found);
        }
        Ok((schedule, warnings))
    }

    fn unused(&self, cache: &CacheItem, statement: &Statement) -> Vec<Diagnostic> {
        let name = &cache.tensor.value;
        let message = format!("no value that `{}` reduces or maps uses `{name}`", statement.text);
        let place = cache.tensor.at(self.file);
        vec![Diagnostic::error(Code::KernelCache, message, place, "").help("remove the cache")]
    }

    /// Schedule that the directives of the `schedule` node `item` give, without caches. `Err` for a split factor that
    /// is invalid.
    fn directives(&self, item: &CompleteSchedule) -> CheckResult<StatementSchedule> {
        let place = FileSpan::new(self.file, item.span.clone());
        let mut schedule = StatementSchedule::new(item.machine, place);
        let named = |name: &Identifier| chosen_name(name, self.file);
        let all = |names: &[Identifier]| names.iter().map(named).collect();
        for item in &item.directives {
            match &item.kind {
                ScheduleKind::Split { axis, by } => {
                    let (file, scope) = (self.file, self.scope);
                    let by = factor(axis, by, ScheduleDirective { item, file, scope })?;
                    let axis = named(axis);
                    schedule.steps.push(LoopStep::Split(Split { axis, by, is_tile: false }));
                }
                ScheduleKind::Fuse { outer, inner, name } => {
                    let (outer, inner, name) = (named(outer), named(inner), name.value.clone());
                    schedule.steps.push(LoopStep::Fuse(Fuse { outer, inner, name }));
                }
                ScheduleKind::Loops(names) => schedule.loops = all(names),
                ScheduleKind::Unroll(names) => schedule.unroll = all(names),
                ScheduleKind::Parallel(names) => schedule.parallel = all(names),
                ScheduleKind::PartialSums(name) => schedule.partial_sums = Some(named(name)),
                ScheduleKind::SplitK(name) => schedule.split_k = Some(named(name)),
                // The reader admits neither in a `schedule`.
                ScheduleKind::Tile { .. } | ScheduleKind::Vectorize(_) => {}
            }
        }
        Ok(schedule)
    }
}
