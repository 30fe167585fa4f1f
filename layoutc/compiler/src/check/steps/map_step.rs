//! Lowering of `map` steps, which give an index map of the current axes.

use std::sync::Arc;

use layoutc_algebra::builder::BuildError;

use super::StepLowering;
use crate::base::diagnostic::CheckResult;
use crate::check::expr::{place_in, raised};
use crate::check::faults::{build_fault, item_of};
use crate::check::layout_attributes::AppliedMap;
use crate::check::step_map::{resolved, stated};
use crate::check::step_scope::StepScope;
use crate::manifest::syntax::SpannedText;

impl StepLowering<'_> {
    pub(super) fn map(&mut self, text: &SpannedText, ground: StepScope<'_>) -> CheckResult<()> {
        let file = ground.file;
        let axes = self.builder.axes().to_vec();
        let (parsed, map) = resolved(text, &axes, self.builder.facts(), ground)?;
        let only = self.attributes.map.is_none();
        let direct = only && axes == self.builder.logical();
        let is_own = self.open.is_empty();
        let applied = self.builder.apply(&map);
        applied.map_err(|e| {
            let span = item_of(&e).and_then(|k| map.items.get(k)).map(|item| item.span.clone());
            let written = match &e {
                BuildError::ExtentTooSmall { .. } => span.as_ref().and_then(|s| stated(&parsed, s)),
                _ => None,
            };
            let blamed = written.or(span.clone()).unwrap_or(0..text.value.len());
            let place = place_in(text, &blamed, file);
            let mut fault = build_fault(&e, self.tensor, &self.builder, &place);
            // With symbols the value is that of one size only.
            if let BuildError::Negative { value, .. } = &e
                && self.builder.facts().symbols().is_empty()
                && let Some(index) = span.and_then(|span| text.value.get(span))
            {
                let raised = raised(index, value.unsigned_abs());
                fault.help = vec![format!("start the index at 0: write `{raised}`")];
                if is_own {
                    fault.add_fix(raised);
                }
            }
            vec![fault]
        })?;
        if let Some((_, bar)) = parsed.separators.last() {
            self.attributes.separators = Some(place_in(text, bar, file));
        }
        self.attributes.map = Some(AppliedMap {
            file: Arc::clone(file),
            text: text.clone(),
            parsed,
            map,
            direct,
            only,
            is_own,
        });
        Ok(())
    }
}
