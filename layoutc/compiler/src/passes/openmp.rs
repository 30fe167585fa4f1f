//! Conversion of functions with parallel loops to the body of an OpenMP parallel region: every thread executes the
//! function, and its parallel loops become worksharing loops.
//!
//! A loop with a parallel region of its own is outlined by the compiler before the function around it is cloned for
//! longer vectors, so that the loop would use the shortest vectors. A region around the call keeps the loop in the
//! cloned function.

use crate::ir::{Expr, Function, LoopKind, Part, Primitive, Stmt, Storage, Strided, Value};
use crate::machine::CPU;

/// True if a relayout is compiled once per vector length, with its primitives inlined: it has from 1 to
/// `CPU.inlined_calls` calls of `Transpose` or `CopyRuns`, and the strides of all these calls are constants. A copy of one
/// run does not count, because its primitive has a loop for each vector length.
pub fn has_vector_versions(function: &Function) -> bool {
    let mut calls = Some(0_usize);
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            let Stmt::Primitive(
                primitive @ (Primitive::Transpose { to, from, .. }
                | Primitive::CopyRuns { to, from, .. }),
            ) = stmt
            else {
                return;
            };
            if matches!(primitive, Primitive::CopyRuns { count: Expr::Int { value: 1 }, .. }) {
                return;
            }
            let is_known = |side: &Strided| matches!(side.stride, Expr::Int { .. });
            let known = is_known(to) && is_known(from);
            calls = calls.filter(|_| known).and_then(|calls| calls.checked_add(1));
        });
    }
    calls.is_some_and(|calls| (1..=CPU.inlined_calls).contains(&calls))
}

/// Converts `versions`, the versions of a function that are called from the same parallel region, to bodies of that
/// region. Changes none of them if none has a parallel loop, or if one of them cannot be converted, for example because
/// - a parallel loop lies between the declaration of a variable, or of an index constant from an element value, and its
///   last use: the threads cannot share a scalar
/// - an element constant lies between that declaration and the last use
/// - the body of the function declares an alias, or index variables without a value, other than between those
///
/// Generated names are different from the identifiers for which `avoid` is true.
pub fn openmp(versions: &mut [&mut Function], avoid: &dyn Fn(&str) -> bool) {
    if !versions.iter().any(|function| function.body.iter().any(Stmt::is_parallel)) {
        return;
    }
    let converted = versions.iter().map(|function| region(function, avoid));
    let Some(bodies) = converted.collect::<Option<Vec<_>>>() else { return };
    for (function, body) in versions.iter_mut().zip(bodies) {
        function.body = body;
    }
}

/// Body of a function as the body of a parallel region; `None` if it cannot be converted (see [`openmp`]).
fn region(function: &Function, avoid: &dyn Fn(&str) -> bool) -> Option<Vec<Stmt>> {
    let mut region = Region { avoid, taken: declared(function), arrays: Vec::new() };
    let mut body = region.body(&function.body)?;
    // Declared before all loops, so that the threads exchange pointers once.
    let is_head = |stmt: &&Stmt| matches!(stmt, Stmt::Assert { .. } | Stmt::Comment { .. });
    let head = body.iter().take_while(is_head).count();
    body.splice(head..head, region.arrays);
    // The region ends with a barrier, so that the last loop needs none unless a thread owns shared arrays: that thread
    // must not leave the function while other threads use them.
    let is_team =
        |stmt: &Stmt| matches!(stmt, Stmt::Allocate { storage: Storage::Team { .. }, .. });
    let has_arrays = body.iter().any(|stmt| stmt.any(is_team));
    if let Some(Stmt::For { kind: LoopKind::Worksharing { waits }, .. }) = body.last_mut() {
        *waits = has_arrays;
    }
    Some(body)
}

/// Identifiers of the parameters, constants, variables, loop variables and arrays of the function, with repetitions.
fn declared(function: &Function) -> Vec<String> {
    let mut declared: Vec<String> =
        function.params.iter().map(|param| param.name.clone()).collect();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| match stmt {
            Stmt::Allocate { name, storage: Storage::Restrict { memory }, .. } => {
                declared.extend([name.clone(), memory.clone()]);
            }
            Stmt::Let { name, .. }
            | Stmt::LetElement { name, .. }
            | Stmt::For { name, .. }
            | Stmt::Variable { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::Allocate { name, .. } => declared.push(name.clone()),
            _ => {}
        });
    }
    declared
}

/// State of the conversion of a function.
struct Region<'a> {
    avoid: &'a dyn Fn(&str) -> bool,
    /// Identifiers of the parameters, constants, variables, loop variables and arrays of the function, with
    /// repetitions, and the generated names.
    taken: Vec<String>,
    /// Declarations of the shared arrays at the start of the function.
    arrays: Vec<Stmt>,
}

impl Region<'_> {
    /// Converts the statement list `stmts`, which may contain parallel loops. Private arrays become shared. Index
    /// constants, element constants, assertions and comments stay, for all threads. One thread executes the other
    /// statements without parallel loops, and all statements between a variable and its last use. `None` if the list
    /// cannot be converted (see [`openmp`]).
    fn body(&mut self, stmts: &[Stmt]) -> Option<Vec<Stmt>> {
        let (mut all, mut once) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(stmt) = stmts.get(at) {
            let mut next = at.saturating_add(1);
            match stmt {
                Stmt::Let { .. }
                | Stmt::LetElement { .. }
                | Stmt::Assert { .. }
                | Stmt::Comment { .. } => {
                    flush(&mut all, &mut once);
                    all.push(stmt.clone());
                }
                Stmt::Allocate { storage: Storage::Private | Storage::Restrict { .. }, .. } => {
                    let (array, is_only) = self.array(stmt)?;
                    if is_only {
                        self.arrays.push(array);
                    } else {
                        flush(&mut all, &mut once);
                        all.push(array);
                    }
                }
                // The variable would be private to each thread: one thread executes all statements that depend on it.
                Stmt::Variable { .. } | Stmt::LetIndex { .. } => {
                    next = end_of_use(stmts, at)?;
                    once.extend(stmts.get(at..next)?.iter().cloned());
                }
                Stmt::Declare { .. } | Stmt::Alias { .. } => return None,
                _ if !stmt.is_parallel() => once.push(stmt.clone()),
                _ => {
                    flush(&mut all, &mut once);
                    all.push(self.parallel(stmt)?);
                }
            }
            at = next;
        }
        flush(&mut all, &mut once);
        Some(all)
    }

    /// Converts a statement that is or contains a parallel loop; `None` if it cannot be converted (see [`openmp`]).
    fn parallel(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let mut stmt = stmt.clone();
        match &mut stmt {
            Stmt::For { kind: kind @ LoopKind::Parallel, body, .. } => {
                *kind = LoopKind::Worksharing { waits: true };
                body.iter_mut().for_each(run_in_order);
            }
            Stmt::For { .. } | Stmt::If { .. } => {
                for body in stmt.nested_mut() {
                    *body = self.body(body)?;
                }
            }
            _ => return None,
        }
        Some(stmt)
    }

    /// Pair of the declaration of a shared array in place of the private one that `stmt` declares, and of true if no
    /// other declaration in the function has the name of the array or of its memory. `None` if `stmt` declares no
    /// array.
    fn array(&mut self, stmt: &Stmt) -> Option<(Stmt, bool)> {
        let Stmt::Allocate { name, dtype, elements, storage } = stmt else { return None };
        let memory = match storage {
            Storage::Restrict { memory } => memory.clone(),
            _ => self.name(&format!("{name}_memory")),
        };
        let same = self.taken.iter().filter(|taken| *taken == name || **taken == memory);
        let is_only = same.count() <= 2;
        let common = self.name(&format!("{name}_of_team"));
        let (name, dtype, elements) = (name.clone(), *dtype, *elements);
        let storage = Storage::Team { memory, common };
        Some((Stmt::Allocate { name, dtype, elements, storage }, is_only))
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

/// Position after the last statement of `stmts` that uses the variable declared at the position `from`, or a name
/// declared between these positions. `None` if a parallel loop or an element constant lies between them.
fn end_of_use(stmts: &[Stmt], from: usize) -> Option<usize> {
    let mut end = from.checked_add(1)?;
    let mut at = from;
    while at < end {
        match stmts.get(at)? {
            stmt if stmt.is_parallel() => return None,
            Stmt::Let { name, .. }
            | Stmt::Variable { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::Allocate { name, .. } => {
                let last = stmts.iter().rposition(|stmt| uses(stmt, name));
                end = end.max(last.map_or(0, |last| last.saturating_add(1)));
            }
            Stmt::LetElement { .. } => return None,
            _ => {}
        }
        at = at.checked_add(1)?;
    }
    Some(end)
}

/// True if an operand of the statement, or of a statement nested in it, uses the name `wanted`: an index, a variable,
/// an array or a buffer.
fn uses(stmt: &Stmt, wanted: &str) -> bool {
    let (mut by_expr, mut by_buffer, mut by_value) = (false, false, false);
    stmt.visit(
        &mut |expr| by_expr |= matches!(expr, Expr::Name { name } if name == wanted),
        &mut |name| by_buffer |= name == wanted,
    );
    stmt.walk(&mut |stmt| {
        stmt.parts(&mut |part| {
            if let Part::Value(value) = part {
                value.walk(&mut |value| {
                    by_value |= matches!(
                        value,
                        Value::Name { name } | Value::Item { array: name, .. } if name == wanted
                    );
                });
            }
        });
    });
    by_expr || by_buffer || by_value
}

/// Moves the statements `once` to the end of `all`, as one `Single` statement; nothing if there are none.
fn flush(all: &mut Vec<Stmt>, once: &mut Vec<Stmt>) {
    if !once.is_empty() {
        all.push(Stmt::Single { body: std::mem::take(once) });
    }
}

/// Makes the statement's parallel loops serial within the calling thread.
fn run_in_order(stmt: &mut Stmt) {
    if let Stmt::For { kind: kind @ LoopKind::Parallel, .. } = stmt {
        *kind = LoopKind::Serial;
    }
    stmt.nested_mut().flatten().for_each(run_in_order);
}
