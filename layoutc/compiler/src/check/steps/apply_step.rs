//! Lowering of `apply` steps, which expand a transform.

use layoutc_algebra::expr::Expr;

use super::{FEWER_STEPS, MAX_STEPS, StepLowering};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::check::scope;
use crate::check::step_scope::StepScope;
use crate::check::step_values::at_least;
use crate::manifest::syntax::{Identifier, IntegerExpr, ItemKind};

/// Maximum nesting depth of transforms. A deeper layout is an error.
const MAX_OPEN: usize = 64;

impl StepLowering<'_> {
    pub(super) fn apply(
        &mut self,
        name: &Identifier,
        arguments: &[(Identifier, IntegerExpr)],
        ground: StepScope<'_>,
    ) -> CheckResult<()> {
        let place = ground.place(&name.span);
        let Some(def) = ground.scope.transforms.get(&name.value).cloned() else {
            if ground.scope.is_broken(ItemKind::Transform, &name.value) {
                return Err(Vec::new());
            }
            let axes = Some(self.builder.axes());
            return Err(scope::unknown_transform(&name.value, place, ground.scope, axes).into());
        };
        if self.open.contains(&name.value) {
            let mut chain = self.open.clone();
            chain.push(name.value.clone());
            let message = format!("cyclic `apply`: {}", chain.join(" → "));
            let error = Diagnostic::error(Code::NameCycle, message, place, "");
            return Err(vec![error.help("remove one `apply` of the cycle")]);
        }
        self.applied += 1;
        if self.applied > MAX_STEPS || self.open.len() >= MAX_OPEN {
            let message = format!(
                "the layout applies more than {MAX_STEPS} transforms, or nests more than {MAX_OPEN}"
            );
            let error = Diagnostic::error(Code::LimitSteps, message, place, "");
            return Err(vec![error.help(FEWER_STEPS)]);
        }
        let mut parameters: Vec<(String, Expr)> = Vec::new();
        for (parameter, default) in &def.item.parameters {
            let given = arguments.iter().find(|(argument, _)| argument.value == parameter.value);
            let value = match given {
                Some((_, bound)) => at_least(bound, 0, ground, &self.builder)?,
                None => Expr::constant(default.value),
            };
            parameters.push((parameter.value.clone(), value));
        }
        for (argument, _) in arguments {
            if !parameters.iter().any(|(parameter, _)| *parameter == argument.value) {
                let message =
                    format!("transform `{}` has no parameter `{}`", name.value, argument.value);
                let known = parameters.iter().map(|(parameter, _)| parameter.as_str());
                let place = ground.place(&argument.span);
                let error = Diagnostic::error(Code::NameUnknown, message, place, "");
                return Err(error.nearest_or_all(&argument.value, "parameters", known).into());
            }
        }
        let Some(home) = ground.scopes.get(def.home) else { return Err(Vec::new()) };
        let inner = StepScope { file: &def.file, scope: home, parameters: &parameters, ..ground };
        self.open.push(name.value.clone());
        let applied = self.steps(&def.item.steps, inner);
        self.open.pop();
        // Label a fault inside the transform with its application.
        applied.map_err(|mut errors| {
            let through = match self.open.last() {
                Some(transform) => format!("applied by transform `{transform}` here"),
                None => format!("applied by `{}` here", self.tensor),
            };
            for error in &mut errors {
                error.add_label(place.clone(), &through);
            }
            errors
        })
    }
}
