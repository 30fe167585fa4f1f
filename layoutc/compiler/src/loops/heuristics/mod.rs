//! Heuristics for the choices that the manifest leaves open, one kind of choice in each file.

pub(crate) mod gpu_relayout_tile;
pub(crate) mod gpu_staging;
pub(crate) mod gpu_tile;
pub(crate) mod gpu_transpose;
pub(crate) mod gpu_words;
pub(crate) mod operand_packing;
pub(crate) mod parallelize;
pub(crate) mod partial_sums;
pub(crate) mod register_tile;
pub(crate) mod relayout_primitive;
pub(crate) mod small_tiles;
