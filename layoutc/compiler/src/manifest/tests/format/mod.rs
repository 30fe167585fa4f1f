//! Formatting of manifests.

mod hostile;
mod random;
mod same;
mod style;
