//! Printer of loops that are distributed over thread blocks (work groups) and threads (work items).

use super::stmts::{Writer, cast};
use crate::emit::dialect::Groups;
use crate::emit::syntax::{Compare, Expr, Stmt, WorkAxis};
use crate::machine::GPU;

impl<'a> Writer<'a> {
    /// Emits a grid-stride loop over `0..to`: `for (int i = (int)blockIdx.x; i < to; i += (int)gridDim.x) { … }`.
    pub(super) fn share_among_groups(
        &mut self,
        name: &str,
        to: &Expr,
        body: &'a [Stmt],
        depth: usize,
    ) {
        let Groups { group, count, .. } = self.dialect.groups;
        let index = self.dialect.index;
        self.begin(depth, &["for (", index, " ", name, " = (", index, ")", group, "; "]);
        self.put_expr(&Expr::compare(Compare::Lt, Expr::name(name), to.clone()));
        self.put(&["; ", name, " += (", index, ")", count, ") {\n"]);
        self.stmts(body, depth.saturating_add(1));
        self.line(depth, "}");
    }

    /// Emits a body that each thread block executes once, with `name` as the index of the block. No index is declared
    /// if `to` is a constant of at most 1.
    pub(super) fn one_for_each_group(
        &mut self,
        name: &str,
        to: &Expr,
        body: &'a [Stmt],
        depth: usize,
    ) {
        let index = self.dialect.index;
        let group = self.dialect.groups.group;
        if !matches!(to, Expr::Int { value: ..=1 }) {
            self.line(depth, &format!("const {index} {name} = ({index}){group};"));
        }
        self.stmts(body, depth);
    }

    /// Emits a loop with one iteration for each thread of a block: the body, with `name` as the index of the thread.
    /// The body is in braces unless it is the rest of its scope.
    pub(super) fn once_by_each_item(
        &mut self,
        name: &str,
        body: &'a [Stmt],
        is_rest: bool,
        depth: usize,
    ) {
        let outside = std::mem::replace(&mut self.number, "int");
        let within = if is_rest { depth } else { depth.saturating_add(1) };
        if !is_rest {
            self.line(depth, "{");
        }
        self.line(within, &format!("const int {name} = (int){};", self.dialect.groups.item));
        self.stmts(body, within);
        self.number = outside;
        if !is_rest {
            self.line(depth, "}");
        }
    }

    /// Emits a loop over `0..to` distributed over the threads of a block. With `round`, the loop is unrolled over a
    /// variable of that name, which counts the iterations of a thread, and `to` must be a multiple of the block size.
    pub(super) fn share_among_items(
        &mut self,
        name: &str,
        to: &Expr,
        round: Option<&str>,
        body: &'a [Stmt],
        depth: usize,
    ) {
        let Groups { item, unroll, .. } = self.dialect.groups;
        let outside = std::mem::replace(&mut self.number, "int");
        let group = GPU.threads.to_string();
        match round {
            None => {
                self.begin(depth, &["for (int ", name, " = (int)", item, "; "]);
                self.put_expr(&Expr::compare(Compare::Lt, Expr::name(name), to.clone()));
                self.put(&["; ", name, " += ", &group, ") {\n"]);
            }
            Some(round) => {
                self.line(depth, unroll);
                self.begin(depth, &["for (int ", round, " = 0; ", round, " < "]);
                self.put_expr(&rounds(to));
                self.put(&["; ++", round, ") {\n"]);
                let within = depth.saturating_add(1);
                self.begin(within, &["const int ", name, " = (int)", item, " + "]);
                self.put(&[round, " * ", &group, ";\n"]);
            }
        }
        self.stmts(body, depth.saturating_add(1));
        self.number = outside;
        self.line(depth, "}");
    }

    /// Emits the global indices of the thread after a guard that returns for indices beyond the extents: launch ranges
    /// may be rounded up.
    pub(super) fn work_item(&mut self, axes: &[WorkAxis], depth: usize) {
        let items = axes.iter().zip(self.dialect.work_item);
        let beyond: Vec<String> = items
            .clone()
            .map(|(axis, item)| match &axis.extent {
                Expr::Int { .. } => format!("{item} >= {}", self.expr(&axis.extent)),
                extent => format!("{item} >= {}", cast(&self.expr(extent), self.dialect.work_size)),
            })
            .collect();
        self.line(depth, &format!("if ({}) {{", beyond.join(" || ")));
        self.line(depth.saturating_add(1), "return;");
        self.line(depth, "}");
        for (axis, item) in items {
            let index = self.dialect.index;
            let number = if item.contains(' ') { format!("({item})") } else { item.to_owned() };
            self.line(depth, &format!("const {index} {} = ({index}){number};", axis.name));
        }
    }
}

/// True if a loop over `0..to` that is distributed over a thread block has one iteration for each thread.
pub(super) fn is_once(to: &Expr) -> bool {
    *to == Expr::int(GPU.threads)
}

/// Trip count per thread of a loop with `all` iterations that is distributed over a thread block.
fn rounds(all: &Expr) -> Expr {
    match all {
        Expr::Int { value } => Expr::int(value.div_euclid(GPU.threads)),
        all => Expr::Div { a: Box::new(all.clone()), b: Box::new(Expr::int(GPU.threads)) },
    }
}
