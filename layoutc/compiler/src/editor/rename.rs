//! Another name for what is declared, everywhere.

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use super::file::{Declaration, EditorFiles, declaration, mentions_of, visible};
use super::names::NameOccurrence;

/// Why a name cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenameError {
    /// Nothing there has a name that a manifest gave.
    #[error("no layout, tensor, symbol or constant is named here")]
    Nothing,
    /// The new one is no name.
    #[error(
        "`{0}` is not a name: names are ASCII letters, digits and `_`, and begin with no digit"
    )]
    Invalid(String),
    /// Something else is called so.
    #[error("`{name}` is declared in `{path}` already")]
    Taken {
        /// The name.
        name: String,
        /// Where.
        path: String,
    },
}

/// The name at a byte that can be changed: what it refers to is declared somewhere.
pub fn at<'f>(
    files: &'f EditorFiles,
    path: &str,
    offset: usize,
) -> Result<(&'f NameOccurrence, Declaration<'f>), RenameError> {
    let file = files.get(path).ok_or(RenameError::Nothing)?;
    let mut here = file.mentions.iter().filter(|m| m.span.start <= offset && offset <= m.span.end);
    here.find_map(|mention| Some((mention, declaration(files, path, mention)?)))
        .ok_or(RenameError::Nothing)
}

/// The bytes to be replaced by `new`, by manifest.
///
/// # Errors
/// [`RenameError`].
pub fn rename(
    files: &EditorFiles,
    path: &str,
    offset: usize,
    new: &str,
) -> Result<BTreeMap<String, Vec<Range<usize>>>, RenameError> {
    let (_, declared) = at(files, path, offset)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !new.chars().all(is_name) || new.len() > 128 {
        return Err(RenameError::Invalid(new.to_owned()));
    }
    let places = mentions_of(files, declared);
    if new != declared.mention.name {
        for user in places.keys() {
            let all = visible(files, user, declared.mention.kind);
            let same = |d: &&Declaration<'_>| {
                d.mention.name == new && d.mention.owner == declared.mention.owner
            };
            if let Some(taken) = all.iter().find(same) {
                let (name, path) = (new.to_owned(), taken.path.to_owned());
                return Err(RenameError::Taken { name, path });
            }
        }
    }
    let spans = |mentions: Vec<&NameOccurrence>| mentions.iter().map(|m| m.span.clone()).collect();
    Ok(places.into_iter().map(|(path, found)| (path.to_owned(), spans(found))).collect())
}
