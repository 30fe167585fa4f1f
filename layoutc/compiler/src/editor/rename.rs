//! Renames a declared name and all references to the name, in all manifests that see it.

use std::collections::BTreeMap;
use std::ops::Range;

use thiserror::Error;

use super::file::{Declaration, EditorFiles, declaration, mentions_of, visible};
use super::names::NameOccurrence;
use crate::env::library::is_library;

/// Reason why the name at a position cannot be renamed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenameError {
    /// No name at the position refers to a declaration.
    #[error("no name that a manifest declares is here")]
    Nothing,
    /// A manifest of the library declares the name.
    #[error("`{0}` declares this name, a manifest of the library")]
    Library(String),
    /// The new name is not a valid identifier, or has more than 128 bytes. Contains the new name.
    #[error(
        "`{0}` is not a name: names consist of ASCII letters, digits and `_`, and do not begin with a digit"
    )]
    Invalid(String),
    /// A manifest that contains the old name already sees another declaration of the same kind with the new name.
    #[error("`{name}` is already declared in `{path}`")]
    Taken {
        /// New name, which is taken.
        name: String,
        /// Path of the manifest that declares the new name.
        path: String,
    },
}

/// Name occurrence at byte `offset` of the manifest at `path`, and the declaration that the name refers to.
///
/// # Errors
/// [`RenameError::Nothing`] if there is no declared name at the offset.
pub fn at<'f>(
    files: &'f EditorFiles,
    path: &str,
    offset: usize,
) -> Result<(&'f NameOccurrence, Declaration<'f>), RenameError> {
    let file = files.get(path).ok_or(RenameError::Nothing)?;
    let mut here = file.mentions_at(offset);
    here.find_map(|mention| Some((mention, declaration(files, path, mention)?)))
        .ok_or(RenameError::Nothing)
}

/// Byte ranges that the text `new` replaces to rename the name at byte `offset` of the manifest at `path`: the ranges
/// of all its occurrences, by the path of the manifest, in the order of the text.
///
/// # Errors
/// [`RenameError::Nothing`] if there is no declared name at the offset, [`RenameError::Library`] if the library declares
/// it, [`RenameError::Invalid`] if `new` is not a name, [`RenameError::Taken`] if `new` is declared already.
pub fn rename(
    files: &EditorFiles,
    path: &str,
    offset: usize,
    new: &str,
) -> Result<BTreeMap<String, Vec<Range<usize>>>, RenameError> {
    let (_, declared) = at(files, path, offset)?;
    if is_library(declared.path) {
        return Err(RenameError::Library(declared.path.to_owned()));
    }
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
