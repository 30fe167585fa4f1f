//! Scope of names in layout steps: [`StepScope`].

use std::sync::Arc;

use layoutc_algebra::expr::Expr;

use super::scope::{ManifestScope, ManifestScopes};
use crate::base::diagnostic::FileSpan;

/// Names other than axes that may occur in layout steps: parameters of the transform, consts and symbols, looked up in
/// this order.
#[derive(Clone, Copy)]
pub(super) struct StepScope<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
    pub(super) scopes: &'a ManifestScopes,
    /// Function that returns the value of a symbol of the tensor by its name; `None` for any other name.
    pub(super) symbol: &'a dyn Fn(&str) -> Option<Expr>,
    /// Parameters of the transform that is being expanded, with their values; empty outside of transforms.
    pub(super) parameters: &'a [(String, Expr)],
}

impl StepScope<'_> {
    pub(super) fn value(&self, name: &str) -> Option<Expr> {
        if let Some((_, value)) = self.parameters.iter().find(|(parameter, _)| parameter == name) {
            return Some(value.clone());
        }
        if let Some((value, _)) = self.scope.consts.get(name) {
            return Some(Expr::constant(*value));
        }
        (self.symbol)(name)
    }

    pub(super) fn place(&self, span: &std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(self.file, span.clone())
    }
}
