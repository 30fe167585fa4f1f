//! XLA's sharding texts, in its three forms.
//!
//! `{devices=[2,2]0,1,2,3}` lists the device of each tile, `{devices=[2,2]<=[4]}` gives a range of devices, reshaped
//! and transposed, and `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}` names the axes of a mesh.
//!
//! Source: XLA, `hlo_parser.cc`, `hlo_sharding.cc`, `named_sharding.cc`; what its texts mean and how it prints them was
//! measured with `jaxlib` 0.10.2. Its parser neither counts devices nor compares them, and ends the process on some
//! texts: here one pass parses and validates, and a text that is taken is one that XLA's own validation takes.

mod axis_refs;
mod named;
mod parse;
mod parser;
mod print;
mod tiles;

pub use parse::{parse, parse_one};
