//! Tests of the formatter for manifests.

mod hostile;
mod random;
mod same;
mod style;
