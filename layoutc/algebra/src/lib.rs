//! Tensor layouts: index maps from logical axes to memory, with proofs.
//!
//! A [`Layout`] maps the index of every element to a slot of a flat buffer, which is the memory of one element. The
//! module [`builder`] creates layouts, after a proof that no two elements share a slot and that no element is outside
//! the physical shape; a refuted proof returns two elements and the slot that they share. Other crates cannot construct
//! layouts, because the fields are private to this crate. In this crate, the values are constructed in these places
//! only:
//!
//! * `assemble` in `builder/finish.rs`: layouts with a proof, which the checker verifies.
//! * `finish_overlapping` in `builder/finish.rs` ([`LayoutBuilder::finish_overlapping`]): read-only views, which are
//!   not proven, because their elements may share slots.
//! * `restricted` in `builder/domain.rs` and `with_swizzle` in `builder/swizzle.rs`: a proven layout restricted to a
//!   domain, or swizzled. The checker verifies the swizzle of a proven layout, but not that of a read-only view.
//! * [`Layout::permuted`], [`Layout::at_base`] and [`Layout::over_symbols`] in `layout/mod.rs`, and
//!   [`Layout::of_shards`] in `sharding/one_memory.rs`: layouts derived from proven ones such that the proof remains
//!   valid.
//!
//! ```
//! use layoutc_algebra::{Error, Layout, Verdict};
//!
//! fn main() -> Result<(), Error> {
//!     // Channels in blocks of 4, outside of the rows: the element (3, 5) is in block 1.
//!     let shape = [("n", 16), ("c", 128)];
//!     let blocked = Layout::builder(shape).map("(n, c) -> (c // 4, n, c % 4)")?.prove()?;
//!     println!("{blocked}: {}", blocked.offset_of(&[3, 5])?); // (n, c) -> (c // 4, n, c % 4): 77
//!     assert_eq!(blocked.verdict(), Verdict::Bijective);
//!     assert_eq!(blocked.offset_of(&[3, 5])?, (1 * 16 + 3) * 4 + 1);
//!     assert_eq!(blocked.element_at_offset(77)?, Some(vec![3, 5]));
//!
//!     let rows = Layout::builder(shape).prove()?;
//!     assert_eq!(rows.offset_of(&[3, 5])?, 3 * 128 + 5);
//!     assert_eq!(rows.same_as(&blocked)?, Some(false));
//!
//!     // A map that loses the channel within the block is refused with two elements.
//!     let refused = Layout::builder(shape).map("(n, c) -> (n, c // 4)")?.prove();
//!     assert_eq!(refused.unwrap_err().to_string(), "elements [0, 0] and [0, 1] share the slot [0, 0]");
//!     Ok(())
//! }
//! ```
//!
//! A map is `(axes) -> (indices)` with Python's `+ - * // % & ^`: one index per storage axis, outermost first.
//! Storage axes are row-major in the flat buffer. A `|` between two indices ends a group of storage axes; each group
//! is one physical axis, such as the rows or the columns of a texture. [`Layout::compose`] and [`Layout::inverted`]
//! return layouts, [`Layout::offset`] and [`Layout::inverse`] return expressions. Every error converts into
//! [`Error`].
//!
//! | module | holds |
//! |---|---|
//! | [`builder`] | layouts of static shapes from text, as above; [`LayoutBuilder`] with symbols, steps, strides, separators, swizzles and alignments |
//! | [`symbol`], [`expr`], [`map`], [`step`] | axes, index expressions and maps, as trees and as text |
//! | [`layout`], [`query`] | a proven layout; its elements and slots, the comparison of two |
//! | [`prove`] | the provers, and the checker that accepts each layout once more |
//! | [`notation`], [`cute`], [`sharding`] | the notations of TVM, XLA, oneDNN, CuTe, Triton and others; CuTe's operations; meshes |
//!
//! Integers in maps and other texts must fit 64 bits. Derived values are 128-bit, and every product and sum that can
//! grow is checked for overflow. The crate is `no_std` and needs `alloc`.
#![no_std]
#![warn(clippy::indexing_slicing)]

extern crate alloc;

pub mod builder;
pub mod cute;
pub mod digits;
mod error;
pub mod expr;
pub mod layout;
pub mod map;
pub mod normal_form;
pub mod notation;
pub mod prove;
pub mod query;
pub mod sharding;
pub mod step;
pub mod symbol;
pub mod text;

pub use builder::LayoutBuilder;
pub use builder::definition::LayoutDefinition;
pub use cute::CuteLayout;
pub use digits::Digits;
pub use error::Error;
pub use expr::{BinOp, CompareOp, Expr, ExprComparison, Predicate, Var};
pub use layout::swizzle::Swizzle;
pub use layout::{Layout, ProofMethod, Verdict};
pub use map::{IndexMap, MapItem};
pub use notation::Notation;
pub use prove::{Executor, SequentialExecutor};
pub use sharding::{Mesh, MeshAxis, Sharding};
pub use symbol::{Axis, Symbol};
