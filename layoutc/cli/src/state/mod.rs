//! State between builds, in the folder `.layoutc` of the project or of `--out`.
//!
//! `log` stores facts: hashes of files, and which files were generated from which inputs. If all facts are still true,
//! a build has nothing to do. `memo` caches expensive results. `lock` excludes concurrent builds. All three files may
//! be lost or damaged at any time. A build then does more work than needed, and without the log it may not recognize
//! outputs without a seal as written by layoutc.

pub(crate) mod fact;
pub(crate) mod file;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod memo;
pub(crate) mod record;
pub(crate) mod stat;

pub(crate) const FOLDER: &str = ".layoutc";
