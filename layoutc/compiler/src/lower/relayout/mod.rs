//! Relayouts: statements `B[x] = cast(A[f(x)])` over the digits that both layouts have in common, and their lowering.

pub(crate) mod builder;
pub(crate) mod elements;
pub(crate) mod nest;
pub(crate) mod padding;
pub(crate) mod statement;
