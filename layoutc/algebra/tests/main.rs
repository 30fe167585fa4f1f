//! Tests of the algebra, linked into one program.

mod curve;
mod cute_cases;
mod cute_random;
mod definition;
mod domains;
mod exports;
mod glow;
mod notations;
mod origin;
mod peer_cases;
mod provers;
mod random_layouts;
mod random_symbols;
mod same;
mod sharding;
mod sizes;
mod views;
