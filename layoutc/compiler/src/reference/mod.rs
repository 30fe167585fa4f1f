//! Reference implementations: the definitions that generated tests and the tests of layoutc compare with.

pub(crate) mod kernel;
pub(crate) mod tensor;
pub(crate) mod view;
