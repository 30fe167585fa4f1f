//! Memory spaces of a project, and the memory of a tensor.

use super::scope::{ManifestScope, nearest_or_all, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::nearest::near_powers_of_two;
use crate::manifest::MEMORIES;
use crate::manifest::syntax::{
    IntegerExpr, ItemKind, ManifestSyntax, MemoryItem, MemoryKind, MemorySpaceItem,
};
use crate::model::{Memory, MemorySpace};

/// Adds the memory spaces of a manifest to its scope.
pub(super) fn declare(
    scope: &mut ManifestScope,
    syntax: &ManifestSyntax,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for item in &syntax.memory_spaces {
        match space(item, scope, syntax) {
            Ok(space) => {
                let place = FileSpan::new(&syntax.file, item.name.span.clone());
                scope.spaces.insert(item.name.value.clone(), (space, place));
            }
            Err(found) => {
                diagnostics.extend(found);
                scope.broken.insert((ItemKind::MemorySpace, item.name.value.clone()));
            }
        }
    }
}

fn space(
    item: &MemorySpaceItem,
    scope: &ManifestScope,
    syntax: &ManifestSyntax,
) -> Result<MemorySpace, Vec<Diagnostic>> {
    let name = &item.name.value;
    let at = |span: &std::ops::Range<usize>| FileSpan::new(&syntax.file, span.clone());
    let twice = |message: String, span, first: &FileSpan, what: &str| {
        let error = Diagnostic::error(Code::NameDuplicate, message, at(span), "again here");
        let help = format!("give one of the two another {what}");
        vec![error.with_label(first.clone(), "first here").help(help)]
    };
    if let Some((_, first)) = scope.spaces.get(name) {
        let message = format!("the memory space `{name}` is declared twice");
        return Err(twice(message, &item.name.span, first, "name"));
    }
    let xla = item.xla.as_ref().map(|number| number.value);
    let same = |space: &&(MemorySpace, FileSpan)| xla.is_some() && space.0.xla == xla;
    if let (Some(n), Some((other, first))) = (&item.xla, scope.spaces.values().find(same)) {
        let message =
            format!("`S({})` of XLA is already the memory space `{}`", n.value, other.name);
        return Err(twice(message, &n.span, first, "number"));
    }
    let value = |bound: &IntegerExpr| number(bound, scope, &syntax.file);
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
        let message = "expected an alignment: a power of two from 1 to 2^30 bytes";
        let span = item.align.as_ref().map_or(item.span.clone(), IntegerExpr::span);
        let error = Diagnostic::error(Code::StepValue, message, at(&span), "");
        return Err(vec![error.help(near_powers_of_two(align, 1 << 30))]);
    };
    Ok(MemorySpace { name: name.clone(), bytes, alignment_bytes, xla })
}

/// The memory of a tensor, with the memory space if it names one.
///
/// # Errors
/// `name::unknown`; empty where an earlier diagnostic covers it.
pub(super) fn memory(
    item: Option<&MemoryItem>,
    scope: &ManifestScope,
    syntax: &ManifestSyntax,
) -> Result<(Memory, Option<MemorySpace>), Vec<Diagnostic>> {
    let memory = match item.map(|item| &item.kind) {
        None | Some(MemoryKind::Global) => Memory::Global,
        Some(MemoryKind::Constant) => Memory::Constant,
        Some(MemoryKind::Image2d) => Memory::Image2d,
        Some(MemoryKind::Image2dArray) => Memory::Image2dArray,
        Some(MemoryKind::Shared) => Memory::Shared,
        Some(MemoryKind::Local) => Memory::Local,
        Some(MemoryKind::None) => Memory::None,
        Some(MemoryKind::Space(name)) => {
            if let Some((space, _)) = scope.spaces.get(&name.value) {
                return Ok((Memory::Global, Some(space.clone())));
            }
            if scope.is_broken(ItemKind::MemorySpace, &name.value) {
                return Err(Vec::new());
            }
            let message = format!("there is no memory `{}`", name.value);
            let place = FileSpan::new(&syntax.file, name.span.clone());
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            let known = MEMORIES.iter().map(|row| row.0);
            let known: Vec<&str> = known.chain(scope.spaces.keys().map(String::as_str)).collect();
            let word = name.value.trim_matches('_').to_ascii_lowercase();
            match ELSEWHERE.iter().find(|row| row.0 == word) {
                Some((_, ours)) => error.add_suggestion(ours),
                None => nearest_or_all(&mut error, &name.value, "memories", &known),
            }
            return Err(vec![error]);
        }
    };
    Ok((memory, None))
}

/// Names of memories in other languages, without surrounding `_`.
const ELSEWHERE: &[(&str, &str)] = &[
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

/// The memory space of XLA's `S(n)`.
pub(super) fn of_xla(n: i128, scope: &ManifestScope) -> Option<&MemorySpace> {
    scope.spaces.values().map(|(space, _)| space).find(|space| space.xla == Some(n))
}
