//! Loops of relayouts: the digits that source and destination have in common are the loops, and each digit has a stride
//! in both.

pub(crate) mod address_map;
pub(crate) mod digits;
pub(crate) mod directives;
pub(crate) mod full_runs;
pub(crate) mod fuse;
pub(crate) mod operand_copy;
pub(crate) mod overrides;
pub(crate) mod padding_regions;
pub(crate) mod plan;
pub(crate) mod schedule;
