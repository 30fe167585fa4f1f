//! The compiler: layout manifests in, generated source out. It reads no file, no clock and no environment.

pub mod codes;
pub mod config;
pub mod diagnostic;
pub mod dtype;
pub mod emit;
pub mod fill;
pub mod manifest;
pub mod model;
pub mod nearest;
pub mod plan;
