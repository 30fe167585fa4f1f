//! Steps of a layout with their context ([`LayoutSource`]). Searches for advice apply the steps again, to other axes or
//! under other facts of the symbols.

use std::collections::BTreeSet;
use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::layout_attributes::LayoutAttributes;
use super::scope::{ManifestScope, ManifestScopes};
use super::step_scope::StepScope;
use super::steps::StepLowering;
use super::{domain, faults, step_text};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::env::ResultCache;
use crate::env::executor::CostTrackingExecutor;
use crate::manifest::syntax::{SpannedText, StepItem, StepKind, TensorItem};
use crate::model::WarpAccess;

/// Steps of a tensor's layout, with the scopes and settings that are needed to apply them.
#[derive(Clone, Copy)]
pub(super) struct LayoutSource<'a> {
    pub(super) item: &'a TensorItem,
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
    pub(super) scopes: &'a ManifestScopes,
    pub(super) memo: &'a dyn ResultCache,
    pub(super) element_bits: u32,
    /// Accesses of warps that the tensor declares, for the step `swizzle auto`.
    pub(super) accesses: &'a [WarpAccess],
    /// Conditions (`where`) of the tensor's shape, over the names of its axes.
    pub(super) conditions: &'a [SpannedText],
    /// Base alignment in bytes if no step sets one.
    pub(super) default_alignment: u64,
    /// Least base alignment in bytes: the greater of those of the memory space and of a record as element type; 1 if
    /// there is neither, or if they are not resolved yet.
    pub(super) least_alignment: u64,
}

/// Outcome of applying the steps of a layout again and proving the result.
pub(super) enum ReplayOutcome {
    /// The layout is proven injective.
    Proven(Box<Layout>),
    Refused,
    /// The layout is refused, and its proof enumerates enough points to make further replays too slow. A layout that is
    /// refused without an enumeration is `Refused`.
    Costly,
}

impl<'a> LayoutSource<'a> {
    /// Alignment of the base address in bytes: the alignment that steps set or the default one, but at least
    /// `least_alignment` and the alignment that a `swizzle mode=` requires.
    pub(super) fn alignment(&self, attributes: &LayoutAttributes) -> u64 {
        let own = attributes.alignment.unwrap_or(self.default_alignment);
        own.max(self.least_alignment).max(attributes.swizzle_alignment)
    }

    /// Steps of the layout in the manifest, transforms not expanded; empty for a tensor without a `layout`.
    fn steps(&self) -> &'a [StepItem] {
        self.item.layout.as_ref().map_or(&[], |layout| &layout.steps)
    }

    /// Applies the steps to the logical axes `axes`, whose extents are over `symbols`, after the index map `first` if
    /// there is one.
    ///
    /// # Errors
    /// The faults of the axes, of the conditions, of `first`, or of the first step that fails.
    pub(super) fn apply_steps(
        &self,
        axes: &[Axis],
        symbols: &[Symbol],
        first: Option<&IndexMap>,
    ) -> CheckResult<StepLowering<'a>> {
        let mut builder = self.builder(axes, symbols)?;
        if let Some(first) = first {
            builder.apply(first).map_err(|error| self.fault(error, axes, symbols))?;
        }
        self.applied_to(StepLowering::new(builder, &self.item.name.value, self.accesses), symbols)
    }

    /// Applies the steps to the logical axes `axes`, whose extents are over `symbols`, and records each step.
    ///
    /// # Errors
    /// The errors of [`LayoutSource::apply_steps`].
    pub(super) fn apply_recorded(
        &self,
        axes: &[Axis],
        symbols: &[Symbol],
    ) -> CheckResult<StepLowering<'a>> {
        let builder = self.builder(axes, symbols)?;
        let applier = StepLowering::recording(builder, &self.item.name.value, self.accesses);
        self.applied_to(applier, symbols)
    }

    fn applied_to(
        &self,
        mut applier: StepLowering<'a>,
        symbols: &[Symbol],
    ) -> CheckResult<StepLowering<'a>> {
        let find = |name: &str| symbol_value(name, symbols);
        let ground = StepScope {
            file: self.file,
            scope: self.scope,
            scopes: self.scopes,
            symbol: &find,
            parameters: &[],
        };
        applier.steps(self.steps(), ground)?;
        Ok(applier)
    }

    fn builder(&self, axes: &[Axis], symbols: &[Symbol]) -> CheckResult<LayoutBuilder> {
        let builder = LayoutBuilder::new(symbols, axes, self.element_bits);
        let mut builder = builder.map_err(|error| self.fault(error, axes, symbols))?;
        let named = domain::ConditionNames { scope: self.scope, file: self.file, symbols };
        named.restrict(&mut builder, self.conditions)?;
        Ok(builder)
    }

    fn fault(&self, error: BuildError, axes: &[Axis], symbols: &[Symbol]) -> Vec<Diagnostic> {
        let name = &self.item.name;
        let place = name.at(self.file);
        vec![match error {
            BuildError::Size => faults::size(&name.value, axes, symbols, place),
            BuildError::Step(error) => faults::step_fault(&error, &[], place),
            other => Diagnostic::error(Code::LimitAxes, other.to_string(), place, ""),
        }]
    }

    /// Applies the steps to the logical axes `axes`, after the index map `first` if there is one, and proves the layout
    /// for all values of `symbols`. A step that fails gives [`ReplayOutcome::Refused`].
    pub(super) fn replay(
        &self,
        axes: &[Axis],
        symbols: &[Symbol],
        first: Option<&IndexMap>,
    ) -> ReplayOutcome {
        let Ok(StepLowering { builder, attributes, .. }) = self.apply_steps(axes, symbols, first)
        else {
            return ReplayOutcome::Refused;
        };
        let machine = CostTrackingExecutor::new(self.memo);
        match builder.finish(self.alignment(&attributes), &machine) {
            Ok(layout) => ReplayOutcome::Proven(Box::new(layout)),
            Err(_) if machine.has_visited_many() => ReplayOutcome::Costly,
            Err(_) => ReplayOutcome::Refused,
        }
    }

    /// All steps, including those of applied transforms (each transform once), each with the scope in which its names
    /// are resolved.
    pub(super) fn all_steps(&self) -> Vec<(&'a StepItem, &'a ManifestScope)> {
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(self.steps(), self.scope)];
        while let Some((steps, scope)) = open.pop() {
            for step in steps {
                all.push((step, scope));
                if let StepKind::Apply { name, .. } = &step.kind
                    && let Some(def) = scope.transforms.get(&name.value)
                    && let Some(home) = self.scopes.get(def.home)
                    && seen.insert((def.home, def.item.name.value.as_str()))
                {
                    open.push((&def.item.steps, home));
                }
            }
        }
        all
    }

    /// Integers of at least 2 that occur in the steps, including values of consts and parameters of transforms.
    pub(super) fn numbers(&self) -> BTreeSet<i128> {
        let mut found = BTreeSet::new();
        for (step, scope) in self.all_steps() {
            let mut text = step_text::line(step);
            if let StepKind::Apply { name, arguments } = &step.kind {
                for (_, argument) in arguments {
                    text.push_str(&format!(" {}", step_text::integer(argument)));
                }
                let def = scope.transforms.get(&name.value);
                let defaults = def.iter().flat_map(|def| &def.item.parameters);
                found.extend(defaults.map(|(_, number)| number.value));
            }
            for word in words(&text) {
                let value = scope.consts.get(word).map(|(value, _)| *value);
                found.extend(value.or_else(|| word.parse().ok()));
            }
        }
        found.retain(|number| *number >= 2);
        found
    }
}

/// Names and numbers in a text, in order, with duplicates.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    parts.filter(|part| !part.is_empty())
}

/// Expression of the symbol `name`, by its position in `symbols`; `None` if there is none.
pub(super) fn symbol_value(name: &str, symbols: &[Symbol]) -> Option<Expr> {
    let k = symbols.iter().position(|symbol| symbol.name == name)?;
    Some(Expr::var(Var::Symbol(u32::try_from(k).ok()?)))
}
