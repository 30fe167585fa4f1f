//! Checks of declared memory spaces, and of the memory that a tensor names.

use std::sync::Arc;

use super::scope::{ManifestScope, declared_twice, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::near_powers_of_two;
use crate::manifest::MEMORIES;
use crate::manifest::syntax::{
    IntegerExpr, ItemKind, ManifestSyntax, MemoryItem, MemoryKind, MemorySpaceItem,
};
use crate::model::{Memory, MemorySpace};

/// Checks the declaration of a memory space in the manifest `file`, and returns the space. `scope` resolves the names
/// in its numbers, and has the spaces declared before.
///
/// # Errors
/// `name::duplicate` for a second declaration of the name or of the XLA number, `step::value` for a size below 1 byte
/// or an alignment that is no power of two from 1 to 2^30 bytes, and errors of numbers.
pub(super) fn space(
    item: &MemorySpaceItem,
    scope: &ManifestScope,
    file: &Arc<str>,
) -> CheckResult<MemorySpace> {
    let name = &item.name.value;
    let at = |span: &std::ops::Range<usize>| FileSpan::new(file, span.clone());
    if let Some((_, first)) = scope.spaces.get(name) {
        let subject = format!("the memory space `{name}`");
        return Err(declared_twice(&subject, item.name.at(file), first.clone()).into());
    }
    let xla = item.xla.as_ref().map(|number| number.value);
    let same = |space: &&(MemorySpace, FileSpan)| xla.is_some() && space.0.xla == xla;
    if let (Some(n), Some((other, first))) = (&item.xla, scope.spaces.values().find(same)) {
        let message =
            format!("`S({})` of XLA is already the memory space `{}`", n.value, other.name);
        let error = Diagnostic::error(Code::NameDuplicate, message, at(&n.span), "again here");
        let error = error.with_label(first.clone(), "first here");
        return Err(error.help("give one of the two another number").into());
    }
    let value = |bound: &IntegerExpr| number(bound, scope, file);
    let bytes = item.bytes.as_ref().map(value).transpose()?;
    if let (Some(bytes), Some(bound)) = (bytes, &item.bytes)
        && bytes < 1
    {
        let message = format!("`{name}` cannot have {bytes} bytes");
        let error = Diagnostic::error(Code::StepValue, message, at(&bound.span()), "");
        return Err(vec![error.help("write a positive size, or remove `bytes=`")]);
    }
    let align = item.align.as_ref().map(value).transpose()?.unwrap_or(1);
    let alignment_bytes =
        u64::try_from(align).ok().filter(|n| n.is_power_of_two() && *n <= 1 << 30);
    let Some(alignment_bytes) = alignment_bytes else {
        let message =
            format!("expected an alignment, a power of two from 1 to 2^30 bytes, found {align}");
        let span = item.align.as_ref().map_or(item.span.clone(), IntegerExpr::span);
        let error = Diagnostic::error(Code::StepValue, message, at(&span), "");
        return Err(vec![error.help(near_powers_of_two(align, 1 << 30))]);
    };
    Ok(MemorySpace { name: name.clone(), bytes, alignment_bytes, xla })
}

/// Pair `(memory, space)` for the `memory` item of a tensor: `memory` is the kind of memory, `space` the declared
/// memory space that the item names, `None` if it names a built-in memory. `(Memory::Global, None)` without an item.
///
/// # Errors
/// `name::unknown`; empty if the space is invalid and has been reported.
pub(super) fn memory(
    item: Option<&MemoryItem>,
    scope: &ManifestScope,
    syntax: &ManifestSyntax,
) -> CheckResult<(Memory, Option<MemorySpace>)> {
    let name = match item.map(|item| &item.kind) {
        None => return Ok((Memory::Global, None)),
        Some(MemoryKind::Kind(memory)) => return Ok((*memory, None)),
        Some(MemoryKind::Space(name)) => name,
    };
    if let Some((space, _)) = scope.spaces.get(&name.value) {
        return Ok((Memory::Global, Some(space.clone())));
    }
    if scope.is_broken(ItemKind::MemorySpace, &name.value) {
        return Err(Vec::new());
    }
    let message = format!("there is no memory `{}`", name.value);
    let error = Diagnostic::error(Code::NameUnknown, message, name.at(&syntax.file), "");
    let word = name.value.trim_matches('_').to_ascii_lowercase();
    let known = MEMORIES.iter().map(|row| row.0).chain(scope.spaces.keys().map(String::as_str));
    let error = match FOREIGN_MEMORIES.iter().find(|row| row.0 == word) {
        Some((_, ours)) => error.with_suggestion(ours),
        None => error.nearest_or_all(&name.value, "memories", known),
    };
    Err(error.into())
}

/// Names of memories in other languages, as pairs (name, name in manifests). A name is in lower case, without the `_`
/// at its start and end.
const FOREIGN_MEMORIES: &[(&str, &str)] = &[
    ("constant", "constant"),
    ("cpu", "global"),
    ("device", "global"),
    ("dram", "global"),
    ("global", "global"),
    ("gpu", "global"),
    ("hbm", "global"),
    ("host", "global"),
    ("lds", "local"),
    ("local", "local"),
    ("ram", "global"),
    ("registers", "none"),
    ("shared", "shared"),
    ("smem", "shared"),
    ("vram", "global"),
];

/// Memory space with the XLA number `n`, as in `S(n)`; `None` if there is none.
pub(super) fn of_xla(n: i128, scope: &ManifestScope) -> Option<&MemorySpace> {
    scope.spaces.values().map(|(space, _)| space).find(|space| space.xla == Some(n))
}
