//! What a kernel and its instance say of loops: names looked up among those that the statements have.

use std::sync::Arc;

use layoutc_algebra::layout::Layout;

use super::program::Program;
use super::value::Checked;
use crate::check::scope::{number, suggestion};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{Bound, Name, ScheduleItem, ScheduleKind};
use crate::model::Chosen;
use crate::model::compute::{Buffer, Schedule, Split};

/// A loop of a statement.
#[derive(Debug, Clone)]
struct Loop {
    name: String,
    is_reduced: bool,
    /// Whether it has one round.
    is_one: bool,
    /// Elements between its rounds in what is written; `None` where that is not known before, or it is reduced.
    stride: Option<i128>,
}

/// The schedule of an instance: its own words replace the kernel's.
///
/// # Errors
/// `kernel::schedule`, `kernel::vectorize`, `kernel::parallel`.
pub(super) fn resolved(
    program: &Program<'_>,
    own: &[ScheduleItem],
    file: &Arc<str>,
) -> Checked<Schedule> {
    let is_replaced =
        |item: &&ScheduleItem| own.iter().all(|other| other.kind.word() != item.kind.word());
    let kernel = program.def.item.schedule.iter().filter(is_replaced);
    let items: Vec<(&ScheduleItem, &Arc<str>)> = kernel
        .map(|item| (item, &program.def.file))
        .chain(own.iter().map(|item| (item, file)))
        .collect();
    let mut resolver =
        Resolver { loops: loops(program), schedule: Schedule::default(), errors: Vec::new() };
    // Loops are cut before they are named.
    for (item, file) in &items {
        resolver.cut(item, file, program);
    }
    for (item, file) in &items {
        resolver.named(item, file);
    }
    let Resolver { schedule, errors, .. } = resolver;
    if errors.is_empty() { Ok(schedule) } else { Err(errors) }
}

/// The loops of each statement.
fn loops(program: &Program<'_>) -> Vec<Vec<Loop>> {
    let layout = |buffer: Buffer| -> Option<&Layout> {
        match buffer {
            Buffer::Operand(k) => {
                let tensor = program.operands.get(k)?.tensor;
                program.tensors.get(tensor).map(|tensor| &tensor.layout)
            }
            Buffer::Local(k) => program.locals.get(k).map(|tensor| &tensor.layout),
        }
    };
    let of = |statement: &crate::model::compute::Statement| {
        let mut all = Vec::new();
        if let Some(layout) = layout(statement.target) {
            // Where no inverse is known in closed form, the loops go over the logical axes.
            if layout.inverse.is_some() && layout.swizzle.is_none() {
                let strides = layout.storage.iter().zip(&layout.strides);
                all.extend(strides.map(|(axis, stride)| Loop {
                    name: axis.name.clone(),
                    is_reduced: false,
                    is_one: axis.extent.as_const() == Some(1),
                    stride: stride.as_const(),
                }));
            } else {
                all.extend(layout.logical.iter().map(|axis| Loop {
                    name: axis.name.clone(),
                    is_reduced: false,
                    is_one: axis.extent.as_const() == Some(1),
                    stride: None,
                }));
            }
        }
        let reduced = statement.axes.get(statement.written_axes..).unwrap_or_default();
        all.extend(reduced.iter().map(|axis| Loop {
            name: axis.name.clone(),
            is_reduced: true,
            is_one: axis.extent.as_const() == Some(1),
            stride: None,
        }));
        all
    };
    program.statements.iter().map(of).collect()
}

struct Resolver {
    /// The loops of each statement, after the cuts so far.
    loops: Vec<Vec<Loop>>,
    schedule: Schedule,
    errors: Vec<Diagnostic>,
}

impl Resolver {
    fn cut(&mut self, item: &ScheduleItem, file: &Arc<str>, program: &Program<'_>) {
        match &item.kind {
            ScheduleKind::Split { axis, by } => self.split(axis, by, false, file, program),
            ScheduleKind::Tile { axes, by } => {
                for (axis, by) in axes.iter().zip(by) {
                    self.split(axis, by, true, file, program);
                }
            }
            ScheduleKind::Loops(_)
            | ScheduleKind::Unroll(_)
            | ScheduleKind::Vectorize(_)
            | ScheduleKind::Parallel(_) => {}
        }
    }

    fn split(
        &mut self,
        axis: &Name,
        by: &Bound,
        is_tile: bool,
        file: &Arc<str>,
        program: &Program<'_>,
    ) {
        let by = match number(by, program.scope, file) {
            Ok(value) if value >= 1 => i64::try_from(value).unwrap_or(i64::MAX),
            Ok(value) => {
                let message = format!("`{}` is cut into pieces of {value}", axis.value);
                let place = Place::new(file, by.span());
                let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
                self.errors.push(error.help("a piece has at least one round"));
                return;
            }
            Err(found) => {
                self.errors.extend(found);
                return;
            }
        };
        let Some(axis) = self.chosen(axis, file) else { return };
        let parts = |found: &Loop| {
            let part = |suffix: &str, stride: Option<i128>| Loop {
                name: format!("{}_{suffix}", found.name),
                stride,
                is_one: false,
                is_reduced: found.is_reduced,
            };
            let outer = found.stride.and_then(|stride| stride.checked_mul(i128::from(by)));
            [part("outer", outer), part("inner", found.stride)]
        };
        for loops in &mut self.loops {
            if let Some(at) = loops.iter().position(|found| found.name == axis.value) {
                let two = loops.get(at).map(parts);
                loops.splice(at..=at, two.into_iter().flatten());
            }
        }
        self.schedule.splits.push(Split { axis, by, is_tile });
    }

    fn named(&mut self, item: &ScheduleItem, file: &Arc<str>) {
        match &item.kind {
            ScheduleKind::Loops(names) => {
                let chosen = self.all(names, file);
                self.are_whole(names, item, file);
                self.schedule.loops = chosen;
            }
            ScheduleKind::Unroll(names) => self.schedule.unroll = self.all(names, file),
            ScheduleKind::Vectorize(name) => self.vectorize(name, file),
            ScheduleKind::Parallel(names) => {
                for name in names {
                    if !self.is_reduced(&name.value) {
                        continue;
                    }
                    let message =
                        format!("the rounds of `{}` are put together in one element", name.value);
                    let place = Place::new(file, name.span.clone());
                    let error =
                        Diagnostic::error(Code::KernelParallel, message, place, "a reduced axis");
                    let help =
                        self.listed("share one of the other loops", |found| !found.is_reduced);
                    self.errors.push(error.help(help));
                }
                self.schedule.parallel = self.all(names, file);
            }
            ScheduleKind::Split { .. } | ScheduleKind::Tile { .. } => {}
        }
    }

    fn find(&self, name: &str) -> impl Iterator<Item = &Loop> {
        self.loops.iter().flatten().filter(move |found| found.name == name)
    }

    fn is_reduced(&self, name: &str) -> bool {
        let mut found = self.find(name).peekable();
        found.peek().is_some() && found.all(|found| found.is_reduced)
    }

    fn all(&mut self, names: &[Name], file: &Arc<str>) -> Vec<Chosen<String>> {
        names.iter().filter_map(|name| self.chosen(name, file)).collect()
    }

    /// A loop that some statement has; says so otherwise.
    fn chosen(&mut self, name: &Name, file: &Arc<str>) -> Option<Chosen<String>> {
        let place = Place::new(file, name.span.clone());
        if self.find(&name.value).next().is_some() {
            return Some(Chosen { value: name.value.clone(), place });
        }
        let message = format!("there is no loop `{}`", name.value);
        let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
        let known: Vec<&str> =
            self.loops.iter().flatten().map(|found| found.name.as_str()).collect();
        let near = suggestion(&name.value, known);
        let help = near.unwrap_or_else(|| self.listed("the loops are", |_| true));
        self.errors.push(error.help(help));
        None
    }

    /// `the loops are `a`, `b``
    fn listed(&self, before: &str, wanted: impl Fn(&Loop) -> bool) -> String {
        let mut names: Vec<&str> = Vec::new();
        for found in self.loops.iter().flatten().filter(|found| wanted(found)) {
            if !names.contains(&found.name.as_str()) {
                names.push(&found.name);
            }
        }
        format!("{before} `{}`", names.join("`, `"))
    }

    /// Whether `loops` names all loops over what one statement writes; reduced ones may be left out.
    fn are_whole(&mut self, names: &[Name], item: &ScheduleItem, file: &Arc<str>) {
        let left = |loops: &Vec<Loop>| {
            let is_left = |found: &&Loop| {
                !found.is_reduced
                    && !found.is_one
                    && names.iter().all(|name| name.value != found.name)
            };
            loops.iter().filter(is_left).map(|found| found.name.clone()).collect::<Vec<_>>()
        };
        let fewest = self.loops.iter().map(left).min_by_key(Vec::len).unwrap_or_default();
        if fewest.is_empty() {
            return;
        }
        let message = format!("`loops` leaves out `{}`", fewest.join("`, `"));
        let place = Place::new(file, item.span.clone());
        let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
        let help = "name every loop over what is written; reduced ones go innermost where they are left out";
        self.errors.push(error.help(help));
    }

    fn vectorize(&mut self, name: &Name, file: &Arc<str>) {
        let Some(chosen) = self.chosen(name, file) else { return };
        let is_next = |found: &Loop| found.stride == Some(1);
        if self.find(&name.value).any(is_next) {
            self.schedule.vectorize = Some(chosen);
            return;
        }
        let stride = self.find(&name.value).next().and_then(|found| found.stride);
        let message = match stride {
            _ if self.is_reduced(&name.value) => {
                format!("`{}` is reduced: its rounds do not lie side by side", name.value)
            }
            Some(stride) => format!("the rounds of `{}` lie {stride} elements apart", name.value),
            None => format!("how far the rounds of `{}` lie apart is not known before", name.value),
        };
        let error = Diagnostic::error(Code::KernelVectorize, message, chosen.place, "");
        let has_next = self.loops.iter().flatten().any(is_next);
        self.errors.push(if has_next {
            error.help(self.listed("vectors go along", is_next))
        } else {
            error.help("give what is written an axis whose elements follow one another")
        });
    }
}
