//! Functions that a team of threads runs: each of them the whole function, of whose loops they share the rounds.
//!
//! A loop that opens a parallel region of its own becomes a function that the compiler makes before it compiles its caller again
//! for longer vectors: the rounds would be of the shortest. A region around the call leaves the loop where it is.

use super::blocks;
use super::model::Unit;
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function, Number, Stmt, TeamArray};

/// Lets teams run what is compiled again for longer vectors.
pub(super) fn run(unit: &mut Unit, avoid: &dyn Fn(&str) -> bool) {
    let moves = unit.tensors.iter_mut().flat_map(|tensor| [&mut tensor.pack, &mut tensor.unpack]);
    let views = unit.views.iter_mut().flat_map(|view| [&mut view.pack, &mut view.unpack]);
    let converts = unit.converts.iter_mut().map(|convert| &mut convert.function);
    let copies = unit.computes.iter_mut().filter(|compute| compute.is_relayout);
    let copies = copies.filter_map(|compute| compute.function.as_mut());
    for function in moves.chain(views).flatten().chain(converts).chain(copies) {
        if blocks::has_vectors(function)
            && is_shared(function)
            && let Some(team) = team(function, avoid)
        {
            *function = Whole::from(team);
        }
    }
    for compute in unit.computes.iter_mut().filter(|compute| !compute.is_relayout) {
        // The two are called from one region.
        let all = || compute.function.iter().chain(&compute.short);
        if !all().any(|function| is_shared(function)) {
            continue;
        }
        let teams: Option<Vec<Function>> = all().map(|function| team(function, avoid)).collect();
        let mut teams = teams.into_iter().flatten().map(Whole::from);
        compute.function = teams.next().or(compute.function.take());
        compute.short = teams.next().or(compute.short.take());
    }
}

/// Whether rounds of its loops may run at once.
fn is_shared(function: &Function) -> bool {
    function.body.iter().any(Stmt::is_shared)
}

/// Whether a team runs it.
pub(super) fn is_team(function: &Function) -> bool {
    let is_of_team = |stmt: &Stmt| matches!(stmt, Stmt::ShareRounds { .. } | Stmt::Single { .. });
    function.body.iter().any(|stmt| stmt.any(is_of_team))
}

/// The function for a team; `None` where a number would have to be shared.
fn team(function: &Function, avoid: &dyn Fn(&str) -> bool) -> Option<Function> {
    let mut parts = Parts { avoid, taken: taken(function), arrays: Vec::new() };
    let mut body = parts.all(&function.body)?;
    if !parts.arrays.is_empty() {
        // Before all loops, so that the threads find each other's once.
        let is_head = |stmt: &&Stmt| {
            matches!(stmt, Stmt::Assert { .. } | Stmt::Unused { .. } | Stmt::Comment { .. })
        };
        let head = body.iter().take_while(is_head).count();
        body.insert(head, Stmt::TeamArrays { arrays: parts.arrays });
    }
    // The team waits at the end of its region; a thread whose array the others use must not come there before them.
    let is_common = |stmt: &Stmt| matches!(stmt, Stmt::TeamArrays { .. });
    let has_arrays = body.iter().any(|stmt| stmt.any(is_common));
    if let [.., Stmt::ShareRounds { waits }, Stmt::For { .. }] = body.as_mut_slice() {
        *waits = has_arrays;
    }
    Some(Function { body, ..function.clone() })
}

/// Everything that the function calls something.
fn taken(function: &Function) -> Vec<String> {
    let mut taken: Vec<String> = function.params.iter().map(|param| param.name.clone()).collect();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| match stmt {
            Stmt::Let { name, .. }
            | Stmt::LetElement { name, .. }
            | Stmt::For { name, .. }
            | Stmt::Accumulator { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::DeclareArray { name, .. } => taken.push(name.clone()),
            Stmt::DeclareBlock { name, memory, .. } => taken.extend([name.clone(), memory.clone()]),
            _ => {}
        });
    }
    taken
}

/// The parts of a function.
struct Parts<'a> {
    avoid: &'a dyn Fn(&str) -> bool,
    taken: Vec<String>,
    /// The arrays that the team has in common from the beginning.
    arrays: Vec<TeamArray>,
}

impl Parts<'_> {
    /// Statements among which loops are shared: what lies between those is done once.
    fn all(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let (mut all, mut once) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(stmt) = stmts.get(at) {
            let mut next = at.saturating_add(1);
            match stmt {
                // It belongs to the loop behind it.
                Stmt::Unroll { .. } if !stmts.get(next).is_some_and(Stmt::is_shared) => {
                    once.push(stmt.clone());
                }
                Stmt::Let { .. }
                | Stmt::LetElement { .. }
                | Stmt::Unroll { .. }
                | Stmt::Assert { .. }
                | Stmt::Unused { .. }
                | Stmt::Comment { .. } => {
                    flush(&mut all, &mut once);
                    all.push(stmt.clone());
                }
                Stmt::DeclareArray { .. } | Stmt::DeclareBlock { .. } => {
                    let (array, is_only) = self.array(stmt)?;
                    if is_only {
                        self.arrays.push(array);
                    } else {
                        flush(&mut all, &mut once);
                        all.push(Stmt::TeamArrays { arrays: vec![array] });
                    }
                }
                // Each of the threads would have its own: one does all that goes on with it.
                Stmt::Accumulator { .. } | Stmt::LetIndex { .. } => {
                    next = end_of_use(stmts, at)?;
                    once.extend(stmts.get(at..next)?.iter().cloned());
                }
                Stmt::Declare { .. } | Stmt::Alias { .. } => return None,
                _ if !stmt.is_shared() => once.push(stmt.clone()),
                _ => {
                    flush(&mut all, &mut once);
                    all.extend(self.shared(stmt)?);
                }
            }
            at = next;
        }
        flush(&mut all, &mut once);
        Some(all)
    }

    /// A statement with loops that are shared.
    fn shared(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        match &mut stmt {
            Stmt::For { parallel: true, .. } => {
                run_in_order(&mut stmt);
                return Some(vec![Stmt::ShareRounds { waits: true }, stmt]);
            }
            Stmt::For { body, .. } => *body = self.all(body)?,
            Stmt::If { body, otherwise, .. } => {
                *body = self.all(body)?;
                *otherwise = self.all(otherwise)?;
            }
            _ => return None,
        }
        Some(vec![stmt])
    }

    /// An array that the team has in common, and whether its name means nothing else.
    fn array(&mut self, stmt: &Stmt) -> Option<(TeamArray, bool)> {
        let (name, memory, element, elements) = match stmt {
            Stmt::DeclareArray { name, element, elements } => {
                (name, self.name(&format!("{name}_memory")), element, *elements)
            }
            Stmt::DeclareBlock { name, memory, element, elements } => {
                (name, memory.clone(), element, *elements)
            }
            _ => return None,
        };
        let same = self.taken.iter().filter(|taken| *taken == name || **taken == memory);
        let is_only = same.count() <= 2;
        let common = self.name(&format!("{name}_of_team"));
        let (name, element) = (name.clone(), element.clone());
        Some((TeamArray { name, memory, common, element, elements }, is_only))
    }

    fn name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while (self.avoid)(&name) || self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.push(name.clone());
        name
    }
}

/// Where the statements end that use what the one at a place declares, and what those declare; `None` where a loop among them
/// may be shared.
fn end_of_use(stmts: &[Stmt], from: usize) -> Option<usize> {
    let mut end = from.checked_add(1)?;
    let mut at = from;
    while at < end {
        match stmts.get(at)? {
            stmt if stmt.is_shared() => return None,
            Stmt::Let { name, .. }
            | Stmt::Accumulator { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::DeclareArray { name, .. }
            | Stmt::DeclareBlock { name, .. } => {
                let last = stmts.iter().rposition(|stmt| mentions(stmt, name));
                end = end.max(last.map_or(0, |last| last.saturating_add(1)));
            }
            Stmt::LetElement { .. } => return None,
            _ => {}
        }
        at = at.checked_add(1)?;
    }
    Some(end)
}

fn mentions(stmt: &Stmt, wanted: &str) -> bool {
    let (mut by_expr, mut by_buffer, mut by_number) = (false, false, false);
    stmt.visit(
        &mut |expr| by_expr |= matches!(expr, Expr::Name { name } if name == wanted),
        &mut |name| by_buffer |= name == wanted,
    );
    stmt.numbers(&mut |number| {
        by_number |= matches!(
            number,
            Number::Name { name } | Number::Item { array: name, .. } if name == wanted
        );
    });
    by_expr || by_buffer || by_number
}

/// What is done between shared loops.
fn flush(all: &mut Vec<Stmt>, once: &mut Vec<Stmt>) {
    if !once.is_empty() {
        all.push(Stmt::Single { body: std::mem::take(once) });
    }
}

/// No loop of it asks for cores of its own.
fn run_in_order(stmt: &mut Stmt) {
    match stmt {
        Stmt::For { parallel, body, .. } => {
            *parallel = false;
            body.iter_mut().for_each(run_in_order);
        }
        Stmt::If { body, otherwise, .. } => {
            body.iter_mut().chain(otherwise).for_each(run_in_order);
        }
        _ => {}
    }
}
