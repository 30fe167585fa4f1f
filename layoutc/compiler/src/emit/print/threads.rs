//! Printer of OpenMP constructs.

use super::stmts::Writer;
use crate::emit::element;
use crate::emit::syntax::{Stmt, TeamArray};

impl<'a> Writer<'a> {
    /// Emits an OpenMP directive for the next statement: `#pragma omp` and the text `says`, in an `#ifdef`. Emits
    /// nothing if the language has no OpenMP.
    pub(super) fn openmp(&mut self, says: &str) {
        if !self.dialect.openmp.is_empty() {
            self.line(0, &format!("#ifdef {}", self.dialect.openmp));
            self.line(0, &format!("#pragma omp {says}"));
            self.line(0, "#endif");
        }
    }

    /// Emits an OpenMP `single` construct: one thread executes the body. Without OpenMP, the body is executed as it is.
    pub(super) fn single(&mut self, body: &'a [Stmt], depth: usize) {
        self.openmp("single");
        if let [Stmt::For { .. }] = body {
            self.stmts(body, depth);
            return;
        }
        self.line(depth, "{");
        self.stmts(body, depth.saturating_add(1));
        self.line(depth, "}");
    }

    /// Emits shared arrays: each thread declares arrays, and all threads get pointers to the arrays of one thread by
    /// `single copyprivate`.
    pub(super) fn team_arrays(&mut self, arrays: &[TeamArray], depth: usize) {
        let typed = |array: &TeamArray| element::type_name(self.dialect, &array.element, false);
        let types: Vec<String> = arrays.iter().map(typed).collect();
        for (TeamArray { memory, common, elements, .. }, ty) in arrays.iter().zip(&types) {
            self.line(depth, &format!("{ty} {memory}[{elements}], *{common} = {memory};"));
        }
        let common: Vec<&str> = arrays.iter().map(|array| array.common.as_str()).collect();
        self.line(0, &format!("#ifdef {}", self.dialect.openmp));
        self.line(0, &format!("#pragma omp single copyprivate({})", common.join(", ")));
        self.line(depth, "{ } // All have the arrays of one.");
        self.line(0, "#endif");
        for (TeamArray { name, common, .. }, ty) in arrays.iter().zip(&types) {
            self.line(depth, &format!("{ty} *const {name} = {common};"));
        }
    }
}
