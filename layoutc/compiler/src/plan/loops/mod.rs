//! Loops that statements and relayouts of single elements share: the iteration domain, the affine form of an access over
//! its loops, and the order of a window's loops.

pub(super) mod access;
pub(super) mod digit_order;
pub(super) mod domain;
