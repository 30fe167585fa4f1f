//! Manifests in one style: what changes, and what does not.

mod hostile;
mod random;
mod same;
mod style;
