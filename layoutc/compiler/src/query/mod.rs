//! Read-only queries on checked manifests: locations of elements, reports, pictures, texts in other notations, equality
//! of layouts, layout ABI.

pub mod abi;
pub mod access;
pub mod cute_algebra;
pub mod inspect;
pub mod layout_equality;
pub mod locate;
pub mod notations;
pub mod picture;
pub mod trace;
