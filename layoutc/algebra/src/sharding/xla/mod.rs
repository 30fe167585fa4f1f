//! Sharding texts of XLA, in three forms: [`parse()`] returns a [`ShardingText`](super::ShardingText), which
//! prints as XLA prints it.
//!
//! `{devices=[2,2]0,1,2,3}` lists the device of each tile, `{devices=[2,2]<=[4]}` gives the devices as a
//! reshaped and transposed iota, and `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}` names mesh axes.
//!
//! Source: XLA, `hlo_parser.cc`, `hlo_sharding.cc`, `named_sharding.cc`; meaning and printed form were measured with
//! `jaxlib` 0.10.2. XLA's parser neither counts nor compares devices, and aborts on some texts. Here one pass parses
//! and validates; an accepted text passes XLA's own validation.

mod axis_refs;
mod named;
mod parse;
mod parser;
mod print;
mod tiles;

pub use parse::{parse, parse_one};
