//! What is remembered between builds, in the folder `.layoutc` of the project, or of what `--out` names.
//!
//! `log` holds facts: what stood in which file, what was made of what. A build that finds all facts still true has
//! nothing to do. `memo` holds results that are dear to compute. `lock` keeps two builds from writing at once. All
//! three can be lost or damaged at any moment: then more is built, never less.

pub(crate) mod fact;
pub(crate) mod file;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod memo;
pub(crate) mod record;
pub(crate) mod stat;

/// The folder's name.
pub(crate) const FOLDER: &str = ".layoutc";
