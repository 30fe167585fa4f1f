//! How threads share what there is to do.

use super::stmts::Writer;
use crate::emit::element;
use crate::emit::syntax::{Stmt, TeamArray};

impl<'a> Writer<'a> {
    /// What is said to OpenMP of the statement that follows.
    pub(super) fn openmp(&mut self, says: &str) {
        if !self.dialect.openmp.is_empty() {
            self.line(0, &format!("#ifdef {}", self.dialect.openmp));
            self.line(0, &format!("#pragma omp {says}"));
            self.line(0, "#endif");
        }
    }

    /// What one thread does.
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

    /// Arrays of each thread, and pointers to those of one.
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
