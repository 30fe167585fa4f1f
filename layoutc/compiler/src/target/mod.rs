//! Data on target languages that check, import and emit share: reserved names and limits.

pub mod keywords;
pub mod limits;
pub(crate) mod word_set;
mod words;
