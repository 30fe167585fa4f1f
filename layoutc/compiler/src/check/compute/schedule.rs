//! Checks of schedules: each directive (`split`, `loops`, `vectorize`, …) is checked against the loops of the kernel's
//! statements, and becomes part of a [`LoopSchedule`].

use std::collections::BTreeSet;
use std::sync::Arc;

use layoutc_algebra::expr::Expr;

use super::loop_stride::LoopStride;
use super::program::KernelLowering;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::nearest;
use crate::check::scope::{ManifestScope, number};
use crate::manifest::syntax::{Identifier, InstanceItem, IntegerExpr, ScheduleItem, ScheduleKind};
use crate::model::compute::{Fuse, LoopSchedule, LoopStep, Split, Statement};
use crate::model::layout_names;
use crate::model::{Spanned, Tensor};

/// Directive of a schedule, with the file that contains it and the scope that resolves its names.
#[derive(Clone, Copy)]
pub(super) struct ScheduleDirective<'a> {
    pub(super) item: &'a ScheduleItem,
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
}

/// Loop of a statement, before or after splits and fusions.
#[derive(Debug, Clone)]
struct StatementLoop {
    name: String,
    stride: LoopStride,
}

/// Loop nest of one statement.
struct StatementNest<'a> {
    tensor: &'a Tensor,
    /// Names that two loops of the nest have: one over an axis of the output, the other over a reduced axis.
    twice: BTreeSet<String>,
    loops: Vec<StatementLoop>,
}

/// Names and descriptions of the loops of a kernel's statements, scatters excepted.
pub(super) struct KernelLoops {
    /// Names of the loops, statement by statement: those of the target's axes, outermost first, then those of reduced
    /// axes.
    pub(super) names: Vec<String>,
    /// Notes that list the loops of each statement, one note for each statement.
    pub(super) summaries: Vec<String>,
}

impl KernelLoops {
    /// Adds a help line about the unknown loop name `word` to `error`, the first of these that applies:
    /// 1. the loops whose names start with `word` and `_`, such as those into which a loop `word` was split;
    /// 2. the split that creates `word`, if it is the name of a loop followed by `_outer` or `_inner`;
    /// 3. the most similar name of a loop.
    pub(super) fn advise(&self, error: &mut Diagnostic, word: &str) {
        let is_part =
            |name: &&String| name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_'));
        let mut parts: Vec<String> = Vec::new();
        for part in self.names.iter().filter(is_part).map(|name| format!("`{name}`")) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let whole = ["_outer", "_inner"].into_iter().find_map(|end| word.strip_suffix(end));
        if !parts.is_empty() {
            let parts = layoutc_algebra::prove::listed(&parts);
            error.add_help(format!("loops over `{word}` are {parts}"));
        } else if let Some(whole) =
            whole.filter(|whole| self.names.iter().any(|name| name == *whole))
        {
            error.add_help(format!("split `{whole}` first: `split {whole} by=8`"));
        } else if let Some(near) = nearest(word, self.names.iter().map(String::as_str)) {
            error.add_suggestion(near);
        }
    }
}

/// Checks the schedule of a kernel. Returns the pair (schedule, loops of the statements after its splits and fusions).
/// `instance` is the tuple (item, path of its manifest, scope of its names). A directive of the instance replaces the
/// directives of the kernel with the same keyword.
pub(super) fn checked(
    program: &KernelLowering<'_>,
    instance: Option<(&InstanceItem, &Arc<str>, &ManifestScope)>,
) -> CheckResult<(LoopSchedule, KernelLoops)> {
    let own = instance.map_or(&[][..], |(item, ..)| item.schedule.as_slice());
    let is_replaced =
        |item: &&ScheduleItem| own.iter().all(|other| other.kind.word() != item.kind.word());
    let def = program.def;
    let kernel = def.item.schedule.iter().filter(is_replaced).map(|item| ScheduleDirective {
        item,
        file: &def.file,
        scope: program.scope,
    });
    let own = instance.into_iter().flat_map(|(item, file, scope)| {
        item.schedule.iter().map(move |item| ScheduleDirective { item, file, scope })
    });
    let directives: Vec<ScheduleDirective<'_>> = kernel.chain(own).collect();
    let mut maker = LoopScheduleBuilder {
        nests: program.statements.iter().filter_map(|s| nest(s, program)).collect(),
        scatters: program.statements.iter().filter_map(|s| scatter(s, program)).collect(),
        schedule: LoopSchedule::default(),
        errors: Vec::new(),
    };
    // Splits and fusions come first: the other directives name the resulting loops.
    for directive in &directives {
        match &directive.item.kind {
            ScheduleKind::Split { axis, by } => maker.split(axis, by, false, *directive),
            ScheduleKind::Tile { axes, by } => {
                axes.iter().zip(by).for_each(|(axis, by)| maker.split(axis, by, true, *directive));
            }
            ScheduleKind::Fuse { outer, inner, name } => {
                maker.fuse([outer, inner], name, *directive);
            }
            _ => {}
        }
    }
    for directive in &directives {
        match &directive.item.kind {
            ScheduleKind::Loops(names) => maker.loops(names, *directive),
            ScheduleKind::Unroll(names) => {
                maker.schedule.unroll = maker.resolve_loops(names, *directive);
            }
            ScheduleKind::Parallel(names) => maker.parallel(names, *directive),
            ScheduleKind::Vectorize(name) => maker.vectorize(name, *directive),
            ScheduleKind::Split { .. }
            | ScheduleKind::Tile { .. }
            | ScheduleKind::Fuse { .. }
            | ScheduleKind::PartialSums(_)
            | ScheduleKind::SplitK(_) => {}
        }
    }
    let loops = maker.loop_summary();
    if maker.errors.is_empty() { Ok((maker.schedule, loops)) } else { Err(maker.errors) }
}

/// Loop nest of a statement before splits. Its loops are the storage axes of the target (its logical axes if the target
/// is a view with gaps between its elements, see [`Tensor::is_window`]), then the reduced axes of the statement. `None`
/// for a scatter.
fn nest<'a>(statement: &Statement, program: &'a KernelLowering<'_>) -> Option<StatementNest<'a>> {
    if statement.scatter.is_some() {
        return None;
    }
    let tensor = program.memory(statement.target)?;
    let layout = &tensor.layout;
    let axes = if tensor.is_window() { layout.logical() } else { layout.storage() };
    let stride = |k: usize| {
        if tensor.is_window() {
            return LoopStride::of_window(layout, k);
        }
        layout.strides().get(k).cloned().map_or(LoopStride::Irregular, LoopStride::constant)
    };
    let written = axes.iter().enumerate();
    let mut loops: Vec<StatementLoop> = written
        .map(|(k, axis)| StatementLoop { name: axis.name.clone(), stride: stride(k) })
        .collect();
    let mut twice = BTreeSet::new();
    for axis in statement.axes.iter().skip(statement.written_axes) {
        if loops.iter().any(|other| other.name == axis.name) {
            twice.insert(axis.name.clone());
        }
        loops.push(StatementLoop { name: axis.name.clone(), stride: LoopStride::Reduced });
    }
    Some(StatementNest { tensor, twice, loops })
}

/// Loops of a scatter (a statement that writes through an index tensor), which cannot be scheduled.
struct ScatterLoops<'a> {
    tensor: &'a Tensor,
    loops: Vec<String>,
}

fn scatter<'a>(statement: &Statement, program: &'a KernelLowering<'_>) -> Option<ScatterLoops<'a>> {
    statement.scatter.as_ref()?;
    let loops = statement.axes.iter().map(|axis| axis.name.clone()).collect();
    Some(ScatterLoops { tensor: program.memory(statement.target)?, loops })
}

struct LoopScheduleBuilder<'a> {
    nests: Vec<StatementNest<'a>>,
    scatters: Vec<ScatterLoops<'a>>,
    schedule: LoopSchedule,
    errors: Vec<Diagnostic>,
}

impl LoopScheduleBuilder<'_> {
    fn fault(
        &mut self,
        code: Code,
        message: String,
        name: &Identifier,
        directive: ScheduleDirective<'_>,
    ) -> &mut Diagnostic {
        let place = name.at(directive.file);
        self.errors.push_mut(Diagnostic::error(code, message, place, ""))
    }

    /// True if `name` is a loop of a statement other than a scatter, and no statement has both a storage axis and a
    /// reduced axis of this name. Otherwise adds an error at `name` in `directive` and returns false.
    fn is_loop(&mut self, name: &Identifier, directive: ScheduleDirective<'_>) -> bool {
        let word = name.value.as_str();
        if let Some(nest) = self.nests.iter().find(|nest| nest.twice.contains(word)) {
            let message = format!(
                "`{word}` is both a storage axis of `{}` and a reduced axis",
                nest.tensor.name
            );
            let error = self.fault(Code::KernelSchedule, message, name, directive);
            error.add_help("give the reduced axis another name");
            return false;
        }
        if self.nests.iter().any(|nest| nest.loops.iter().any(|l| l.name == word)) {
            return true;
        }
        let is_its = |scatter: &&ScatterLoops<'_>| scatter.loops.iter().any(|own| own == word);
        if let Some(scatter) = self.scatters.iter().find(is_its) {
            let message = format!(
                "cannot schedule `{word}`: it is a loop of the statement that writes `{}` through an index tensor",
                scatter.tensor.name
            );
            let code = match directive.item.kind {
                ScheduleKind::Parallel(_) => Code::KernelParallel,
                _ => Code::KernelSchedule,
            };
            self.fault(code, message, name, directive)
                .add_note("several iterations may write one element, and the last one determines its value")
                .add_help("remove it: the loop is serial");
            return false;
        }
        let loops = self.loop_summary();
        let error =
            self.fault(Code::KernelSchedule, format!("there is no loop `{word}`"), name, directive);
        loops.advise(error, word);
        if error.help.is_empty() {
            error.add_help("use one of its loops, or remove it");
        }
        error.notes = loops.summaries;
        false
    }

    /// Names of the loops of all statements but scatters, and a note for each of these statements that lists its loops.
    fn loop_summary(&self) -> KernelLoops {
        let summary = |nest: &StatementNest<'_>| {
            format!("the loops of `{}` are {}", nest.tensor.name, listed(nest))
        };
        let names = self.nests.iter().flat_map(|nest| &nest.loops).map(|l| l.name.clone());
        KernelLoops { names: names.collect(), summaries: self.nests.iter().map(summary).collect() }
    }

    fn resolve_loops(
        &mut self,
        names: &[Identifier],
        directive: ScheduleDirective<'_>,
    ) -> Vec<Spanned<String>> {
        let known = names.iter().filter(|name| self.is_loop(name, directive));
        known.map(|name| chosen_name(name, directive.file)).collect()
    }

    fn split(
        &mut self,
        axis: &Identifier,
        by: &IntegerExpr,
        is_tile: bool,
        directive: ScheduleDirective<'_>,
    ) {
        if !self.is_loop(axis, directive) {
            return;
        }
        let count = match factor(axis, by, directive) {
            Ok(count) => count,
            Err(found) => {
                self.errors.extend(found);
                return;
            }
        };
        let (outer, inner) = (format!("{}_outer", axis.value), format!("{}_inner", axis.value));
        for nest in &mut self.nests {
            let Some(k) = nest.loops.iter().position(|l| l.name == axis.value) else { continue };
            if let Some(taken) = [&outer, &inner]
                .into_iter()
                .find(|name| nest.loops.iter().any(|l| l.name == **name))
            {
                let message = format!("a loop `{taken}` exists already");
                let place = axis.at(directive.file);
                let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
                let all = listed(nest);
                let error = error.note(format!("the loops of `{}` are {all}", nest.tensor.name));
                self.errors.push(error.help(format!("give the axis `{taken}` another name")));
                return;
            }
            let [first, second] = nest.loops.remove(k).stride.split(count);
            let outer = StatementLoop { name: outer.clone(), stride: first };
            let inner = StatementLoop { name: inner.clone(), stride: second };
            nest.loops.splice(k..k, [outer, inner]);
        }
        let axis = chosen_name(axis, directive.file);
        self.schedule.steps.push(LoopStep::Split(Split { axis, by: count, is_tile }));
    }

    /// Checks the directive `fuse outer inner as=name`, and adds it to the schedule. At least one statement must have
    /// both loops. In each that has, the loops must differ, both must be reduced or neither, and no loop may be called
    /// `name`; anything else is an error.
    fn fuse(
        &mut self,
        [outer, inner]: [&Identifier; 2],
        name: &Identifier,
        directive: ScheduleDirective<'_>,
    ) {
        if ![outer, inner].into_iter().all(|name| self.is_loop(name, directive)) {
            return;
        }
        let mut is_fused = false;
        for nest in &mut self.nests {
            let of = |name: &Identifier| nest.loops.iter().position(|l| l.name == name.value);
            let Some((first, second)) = of(outer).zip(of(inner)) else { continue };
            let all = listed(nest);
            let (Some(one), Some(other)) = (nest.loops.get(first), nest.loops.get(second)) else {
                continue;
            };
            let message = if first == second {
                format!("`fuse` names `{}` twice", outer.value)
            } else if one.stride.is_reduced() != other.stride.is_reduced() {
                let [written, reduced] =
                    if one.stride.is_reduced() { [inner, outer] } else { [outer, inner] };
                let [written, reduced] = [&written.value, &reduced.value];
                format!("cannot fuse `{written}` and `{reduced}`: only `{reduced}` is reduced")
            } else if nest.loops.iter().any(|l| l.name == name.value) {
                format!("a loop `{}` exists already", name.value)
            } else {
                let stride = other.stride.clone();
                let fused = StatementLoop { name: name.value.clone(), stride };
                nest.loops.insert(first, fused);
                nest.loops.retain(|l| l.name != outer.value && l.name != inner.value);
                is_fused = true;
                continue;
            };
            let place = name.at(directive.file);
            let error = Diagnostic::error(Code::KernelSchedule, message, place, "");
            let error = error.note(format!("the loops of `{}` are {all}", nest.tensor.name));
            let help =
                "fuse two loops of the written tensor, or two reduced ones, under a new name";
            self.errors.push(error.help(help));
            return;
        }
        if !is_fused {
            let message =
                format!("no statement has both loops `{}` and `{}`", outer.value, inner.value);
            let mut error =
                Diagnostic::error(Code::KernelSchedule, message, inner.at(directive.file), "");
            error.notes = self.loop_summary().summaries;
            self.errors.push(error.help("fuse two loops of one statement"));
            return;
        }
        self.schedule.steps.push(LoopStep::Fuse(Fuse {
            outer: chosen_name(outer, directive.file),
            inner: chosen_name(inner, directive.file),
            name: name.value.clone(),
        }));
    }

    /// Checks a `loops` directive, and stores its loops in the schedule. `names` lists loops of one statement in the
    /// required order, outermost first. The planner places the loops that are not in the list.
    fn loops(&mut self, names: &[Identifier], directive: ScheduleDirective<'_>) {
        let before = self.errors.len();
        let chosen = self.resolve_loops(names, directive);
        if self.errors.len() > before {
            return;
        }
        let given: BTreeSet<&str> = names.iter().map(|name| name.value.as_str()).collect();
        let own = |nest: &StatementNest<'_>| -> BTreeSet<String> {
            nest.loops.iter().map(|l| l.name.clone()).collect()
        };
        if self.nests.iter().any(|nest| given.iter().all(|name| own(nest).contains(*name))) {
            self.schedule.loops = chosen;
            return;
        }
        // The statement that shares the most names.
        let shared = |nest: &&StatementNest<'_>| {
            own(nest).iter().filter(|l| given.contains(l.as_str())).count()
        };
        let nearest = self.nests.iter().rev().max_by_key(shared);
        let place = FileSpan::new(directive.file, directive.item.span.clone());
        let message = "`loops` must name loops of one statement".to_owned();
        let mut error = Diagnostic::error(Code::KernelSchedule, message, place, "");
        error.notes = self.loop_summary().summaries;
        if let Some(nest) = nearest {
            let all = own(nest);
            let surplus: Vec<&str> =
                given.iter().copied().filter(|name| !all.contains(*name)).collect();
            if !surplus.is_empty() {
                error.add_help(format!("remove `{}`", surplus.join("`, `")));
            }
        }
        self.errors.push(error);
    }

    fn parallel(&mut self, names: &[Identifier], directive: ScheduleDirective<'_>) {
        for name in names {
            if !self.is_reduced(&name.value) {
                continue;
            }
            let message = format!(
                "cannot parallelize `{}`: it is a reduced axis, and its iterations write the same elements",
                name.value
            );
            let others = self.written();
            let error = self.fault(Code::KernelParallel, message, name, directive);
            error.add_help(if others.is_empty() {
                "remove it: every loop is reduced".to_owned()
            } else {
                let others = others.join("`, `");
                format!("loops whose iterations write different elements are `{others}`")
            });
        }
        self.schedule.parallel = self.resolve_loops(names, directive);
    }

    /// True if at least one statement has a loop `name`, and it is over a reduced axis in all that have it.
    fn is_reduced(&self, name: &str) -> bool {
        let loops = self.nests.iter().flat_map(|nest| &nest.loops);
        let mut own = loops.filter(|l| l.name == name).peekable();
        own.peek().is_some() && own.all(|l| l.stride.is_reduced())
    }

    /// Names of the loops over axes that are not reduced, without duplicates, statement by statement.
    fn written(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for l in self.nests.iter().flat_map(|nest| &nest.loops).filter(|l| !l.stride.is_reduced()) {
            if !names.contains(&l.name) {
                names.push(l.name.clone());
            }
        }
        names
    }

    fn vectorize(&mut self, name: &Identifier, directive: ScheduleDirective<'_>) {
        if !self.is_loop(name, directive) {
            return;
        }
        // One statement that can be vectorized is enough.
        let mut wrong: Option<(String, String)> = None;
        let mut is_valid = false;
        for nest in &self.nests {
            let symbols = nest.tensor.layout.symbols();
            for l in nest.loops.iter().filter(|l| l.name == name.value) {
                let of = &nest.tensor.name;
                let message = match l.stride.value() {
                    None if l.stride.is_reduced() => format!(
                        "cannot vectorize `{}`: it is a reduced axis, and a vector holds elements of `{of}`",
                        l.name
                    ),
                    None => format!(
                        "cannot vectorize `{}`: its stride in `{of}` is not constant",
                        l.name
                    ),
                    Some(stride) => {
                        let facts = layoutc_algebra::normal_form::simplify::Facts::new(symbols);
                        let stride = facts.simplify(stride).unwrap_or_else(|_| stride.clone());
                        if stride.as_const() == Some(1) {
                            is_valid = true;
                            continue;
                        }
                        let stride = layout_names::symbol_expr(&stride, symbols);
                        format!(
                            "cannot vectorize `{}`: its stride in `{of}` is {stride} elements",
                            l.name
                        )
                    }
                };
                wrong.get_or_insert((message, nest.vectorizable(l)));
            }
        }
        match wrong.filter(|_| !is_valid) {
            Some((message, help)) => {
                self.fault(Code::KernelVectorize, message, name, directive).add_help(help);
            }
            None => self.schedule.vectorize = Some(chosen_name(name, directive.file)),
        }
    }
}

impl StatementNest<'_> {
    /// Help for a `vectorize` of the loop `wrong`, the first of these that is possible: a split of it that gives an
    /// inner loop of stride 1, the last loop of stride 1, a split of another loop, or to remove `vectorize`.
    fn vectorizable(&self, wrong: &StatementLoop) -> String {
        let name = &wrong.name;
        if let Some(by) = wrong.stride.unit_factor() {
            return format!("split it: `split {name} by={by}; vectorize {name}_inner`");
        }
        let is_one = |l: &&StatementLoop| l.stride.value().and_then(Expr::as_const) == Some(1);
        if let Some(near) = self.loops.iter().rev().find(is_one) {
            return format!("the unit-stride loop is `{}`", near.name);
        }
        let split = self.loops.iter().find_map(|l| Some((&l.name, l.stride.unit_factor()?)));
        match split {
            Some((name, by)) => {
                format!("split `{name}`: `split {name} by={by}; vectorize {name}_inner`")
            }
            None => "remove `vectorize`: no loop has unit stride".to_owned(),
        }
    }
}

fn listed(nest: &StatementNest<'_>) -> String {
    nest.loops.iter().map(|l| l.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Factor of a `split` or `tile` directive for the axis `axis`. `Err` if it is not constant, is less than 1 or does not
/// fit 64 bits.
pub(super) fn factor(
    axis: &Identifier,
    by: &IntegerExpr,
    directive: ScheduleDirective<'_>,
) -> Result<i64, Vec<Diagnostic>> {
    let value = number(by, directive.scope, directive.file)?;
    i64::try_from(value).ok().filter(|count| *count >= 1).ok_or_else(|| {
        let message = format!("expected a split factor of at least 1, found {value}");
        let error = Diagnostic::error(Code::KernelSchedule, message, by.at(directive.file), "");
        vec![error.help(format!("use a positive factor: `split {} by=4`", axis.value))]
    })
}

pub(super) fn chosen_name(name: &Identifier, file: &Arc<str>) -> Spanned<String> {
    Spanned { value: name.value.clone(), place: name.at(file) }
}
