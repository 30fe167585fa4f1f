//! Lowering of layouts in the notations of other tools.

use layoutc_algebra::notation::{self, Notation, NotationError};

use super::StepLowering;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::check::expr::place_in;
use crate::check::faults::build_fault;
use crate::check::foreign_syntax;
use crate::check::layout_attributes::ForeignText;
use crate::check::step_scope::StepScope;
use crate::check::strides::{StrideSource, injective_strides};
use crate::manifest::syntax::{Identifier, IntegerLiteral, SpannedText};

impl StepLowering<'_> {
    pub(super) fn foreign(
        &mut self,
        notation: Notation,
        text: &SpannedText,
        sizes: &[(Identifier, IntegerLiteral)],
        ground: StepScope<'_>,
    ) -> CheckResult<()> {
        let sizes: Vec<(String, i128)> =
            sizes.iter().map(|(name, size)| (name.value.clone(), size.value)).collect();
        let applied = notation::apply(notation, &text.value, &sizes, &mut self.builder);
        let extras = applied.map_err(|error| {
            let place = ground.place(&text.span);
            vec![match error {
                NotationError::Fault(fault) => {
                    let axes = self.builder.axes();
                    let inside = place_in(text, &fault.span, ground.file);
                    foreign_syntax::index_map(text, notation, axes, place)
                        .unwrap_or_else(|| Diagnostic::in_notation(fault, inside))
                }
                NotationError::Build(error) => {
                    build_fault(&error, self.tensor, &self.builder, &place)
                }
            }]
        })?;
        // A transform may be applied elsewhere, to other axes.
        if self.open.is_empty() {
            let place = ground.place(&text.span);
            if let Some(strides) = self.builder.element_strides() {
                let bits = self.builder.element_bits();
                let apart = injective_strides(self.builder.axes(), strides);
                self.attributes.strides =
                    Some(StrideSource::foreign(notation, place.clone(), apart, bits));
            }
            let stated = notation::notation_axes(notation, &text.value, &sizes);
            let names = stated.map(|stated| stated.names).unwrap_or_default();
            self.attributes.foreign = Some(ForeignText { notation, place, names });
        }
        for remark in extras.remarks {
            self.attributes.remarks.push((place_in(text, &remark.span, ground.file), remark));
        }
        if let Some((span, n)) = extras.memory_space {
            self.attributes.memory_space = Some((place_in(text, &span, ground.file), n));
        }
        Ok(())
    }
}
