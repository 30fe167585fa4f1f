//! Fences of streaming stores: a thread's streaming stores are ordered before the stores that follow the relayout.

use crate::ir::{Expr, Function, LoopKind, Primitive, Stmt};
use crate::machine::CPU;

/// Appends a fence to the body of each parallel loop that calls a primitive that may use streaming stores, because a
/// fence orders only the stores of its own thread. The function gets a fence at its end if it calls such a primitive
/// outside of parallel loops.
pub fn fences(function: &mut Function) {
    let mut outside = None;
    fence_loops(&mut function.body, &mut outside);
    function.body.extend(outside.map(fence));
}

/// Appends fences to the parallel loops of a body. Sets `outside` to the bytes of the whole relayout if the body calls
/// a primitive that may use streaming stores outside of parallel loops; otherwise `outside` keeps its value.
fn fence_loops(body: &mut [Stmt], outside: &mut Option<Expr>) {
    for stmt in body {
        if let Stmt::Primitive(primitive) = stmt {
            *outside = streamed_bytes(primitive).cloned().or(outside.take());
        }
        let is_parallel = matches!(stmt, Stmt::For { kind: LoopKind::Parallel, .. });
        for body in stmt.nested_mut() {
            if !is_parallel {
                fence_loops(body, outside);
                continue;
            }
            let mut inside = None;
            fence_loops(body, &mut inside);
            body.extend(inside.map(fence));
        }
    }
}

fn fence(whole_bytes: Expr) -> Stmt {
    Primitive::Fence { whole_bytes }.into()
}

/// True if a body calls a primitive that uses streaming stores for large relayouts or on request.
pub fn streams(body: &[Stmt]) -> bool {
    let streams = |stmt: &Stmt| match stmt {
        Stmt::Primitive(primitive) => streamed_bytes(primitive).is_some(),
        _ => false,
    };
    body.iter().any(|stmt| stmt.any(streams))
}

/// True if `whole_bytes` is a constant of at most the size of an L2 cache; false for -1, which forces streaming stores.
pub fn fits_l2(whole_bytes: &Expr) -> bool {
    matches!(whole_bytes, Expr::Int { value } if (0..=CPU.l2_bytes).contains(value))
}

/// Bytes of the whole relayout, if the primitive may use streaming stores, depending on their number. `None` if it
/// never does, as a transposition of one block in a relayout whose constant size fits an L2 cache.
fn streamed_bytes(primitive: &Primitive) -> Option<&Expr> {
    match primitive {
        Primitive::Transpose { whole_bytes, blocks: None, .. } => {
            Some(whole_bytes).filter(|bytes| !fits_l2(bytes))
        }
        // A widening conversion transposes into a buffer, with cached stores only.
        Primitive::CastTranspose { cast, whole_bytes, .. } => {
            Some(whole_bytes).filter(|_| !cast.widens())
        }
        Primitive::Transpose { whole_bytes, .. } | Primitive::CopyRuns { whole_bytes, .. } => {
            Some(whole_bytes)
        }
        _ => None,
    }
}
