//! Conversion of functions with parallel loops to the body of an OpenMP parallel region: every thread executes the
//! function, and its parallel loops become worksharing loops.
//!
//! A loop with a parallel region of its own is outlined by the compiler before the function around it is cloned for
//! longer vectors, so that the loop would use the shortest vectors. A region around the call keeps the loop in the
//! cloned function.

use super::blocks;
use super::model::Unit;
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function, Number, Stmt, TeamArray};

/// Converts the relayouts that are compiled for several vector lengths, and the kernels, of a unit. `avoid` is true for
/// identifiers that generated names must not equal.
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
        // Both versions of a kernel are called from the same parallel region.
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

/// True if the function has a parallel loop.
fn is_shared(function: &Function) -> bool {
    function.body.iter().any(Stmt::is_shared)
}

/// True if a function has to be called in a parallel region.
pub(super) fn is_team(function: &Function) -> bool {
    let is_of_team = |stmt: &Stmt| matches!(stmt, Stmt::ShareRounds { .. } | Stmt::Single { .. });
    function.body.iter().any(|stmt| stmt.any(is_of_team))
}

/// Function as the body of a parallel region; `None` if a scalar variable would have to be shared by the threads.
fn team(function: &Function, avoid: &dyn Fn(&str) -> bool) -> Option<Function> {
    let mut parts = Parts { avoid, taken: taken(function), arrays: Vec::new() };
    let mut body = parts.all(&function.body)?;
    if !parts.arrays.is_empty() {
        // Declared before all loops, so that the threads exchange pointers once.
        let is_head = |stmt: &&Stmt| {
            matches!(stmt, Stmt::Assert { .. } | Stmt::Unused { .. } | Stmt::Comment { .. })
        };
        let head = body.iter().take_while(is_head).count();
        body.insert(head, Stmt::TeamArrays { arrays: parts.arrays });
    }
    // The region ends with a barrier, so that the last loop needs none unless a thread owns shared arrays: that thread
    // must not leave the function while other threads use them.
    let is_common = |stmt: &Stmt| matches!(stmt, Stmt::TeamArrays { .. });
    let has_arrays = body.iter().any(|stmt| stmt.any(is_common));
    if let [.., Stmt::ShareRounds { waits }, Stmt::For { .. }] = body.as_mut_slice() {
        *waits = has_arrays;
    }
    Some(Function { body, ..function.clone() })
}

/// Identifiers declared in the function, with repetitions.
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

/// State of the conversion of a function.
struct Parts<'a> {
    avoid: &'a dyn Fn(&str) -> bool,
    taken: Vec<String>,
    /// Shared arrays to declare at the start of the function.
    arrays: Vec<TeamArray>,
}

impl Parts<'_> {
    /// Converts a statement list that contains parallel loops; the statements between these loops are executed by one
    /// thread (`single`). `None` as for `team`.
    fn all(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let (mut all, mut once) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(stmt) = stmts.get(at) {
            let mut next = at.saturating_add(1);
            match stmt {
                // The directive belongs to the loop after it.
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
                // The variable would be private to each thread: one thread executes all statements that depend on it.
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

    /// Converts a statement that contains parallel loops; `None` as for `team`.
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

    /// Shared array of a declaration, and true if no other declaration in the function has the same name. `None` for
    /// any other statement.
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

/// End (exclusive) of the statements from `from` on that use the variable declared there, or variables declared among
/// these statements. `None` if a parallel loop or an element constant is among these statements.
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

/// Moves the pending statements `once` to `all` as one `single` construct.
fn flush(all: &mut Vec<Stmt>, once: &mut Vec<Stmt>) {
    if !once.is_empty() {
        all.push(Stmt::Single { body: std::mem::take(once) });
    }
}

/// Makes the statement's loops serial within the calling thread.
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
