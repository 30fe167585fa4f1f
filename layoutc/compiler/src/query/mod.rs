//! Read-only questions about checked manifests: elements and slots, reports, pictures, other notations.

pub mod abi;
pub mod cute_algebra;
pub mod inspect;
pub mod layout_equality;
pub mod locate;
pub mod notations;
pub mod picture;
pub mod trace;
