//! Random layouts for tests, and an oracle ([`truth()`]) for the locations of their elements.
//!
//! The oracle follows the specification of the language and shares no code with the compiler's algebra. It evaluates
//! expressions recursively over `i64`, takes the extent of an index as the end of its interval plus 1, and finds
//! collisions by enumeration of all elements.
#![allow(missing_docs, reason = "the fields of layouts and steps are named as in manifests")]

pub mod generate;
pub mod symbolic;

mod axes_after;
mod case;
mod hilbert;
mod tree;
mod truth;

pub use axes_after::{extents_after, index_after};
pub use case::{Case, Facts, MapItem, Step, position};
pub use tree::{Op, Open, Tree, bin, floor_div};
pub use truth::{Element, Fault, Truth, points, truth};
