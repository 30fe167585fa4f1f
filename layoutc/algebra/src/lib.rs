//! Tensor layouts: index maps from logical axes to memory, with proofs.
//!
//! A [`Layout`](layout::Layout) maps the index of every element to a slot of a flat buffer. It exists only as the result of a proof that
//! no two elements share a slot and that none leaves the physical shape; otherwise the two elements are named.
//!
//! ```
//! use layoutc_algebra::builder::definition::LayoutError;
//! use layoutc_algebra::layout::{Layout, Verdict};
//!
//! let layout = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (n, c // 4, c % 4)")?.prove()?;
//! assert_eq!(layout.to_string(), "(n, c) -> (n, c // 4, c % 4)");
//! assert_eq!(layout.verdict(), Verdict::Bijective);
//! assert_eq!(layout.offset_of(&[3, 5]).unwrap(), 3 * 128 + 5);
//!
//! // Channels in blocks of 4, outside of the rows: the element (3, 5) is in block 1.
//! let blocked = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (c // 4, n, c % 4)")?.prove()?;
//! assert_eq!(blocked.offset_of(&[3, 5]).unwrap(), (1 * 16 + 3) * 4 + 1);
//! assert_eq!(blocked.element_at(&[77], &[]).unwrap(), Some(vec![3, 5]));
//! assert_eq!(layout.same_as(&blocked), Ok(Some(false)));
//!
//! // A map that loses the channel within the block is refused with two elements that collide.
//! let refused = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (n, c // 4)")?.prove();
//! assert_eq!(refused.unwrap_err().to_string(), "elements [0, 0] and [0, 1] share the slot [0, 0]");
//! # Ok::<(), LayoutError>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`builder`] | layouts of static shapes from text, as above; the builder with symbols, steps, strides, separators, swizzles and alignments |
//! | [`symbol`], [`expr`], [`map`], [`step`] | axes, index expressions and maps, as trees and as text |
//! | [`layout`], [`query`] | a proven layout; its elements and slots, the comparison of two |
//! | [`prove`] | the provers, and the checker that accepts each layout once more |
//! | [`notation`], [`cute`], [`sharding`] | the notations of TVM, XLA, oneDNN, CuTe, Triton and others; CuTe's operations; meshes |
//!
//! User numbers are 64-bit, checked where they are written (see [`builder`]); derived ones are 128-bit, checked in every
//! product and sum that can grow. The crate is `no_std` and needs `alloc`.
#![no_std]
#![warn(clippy::indexing_slicing)]

extern crate alloc;

pub mod builder;
pub mod cute;
pub mod digits;
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
