//! Keywords of other languages and tools, such as `permute`, with their equivalents in manifests, for suggestions.

/// Node names of other languages, each with the manifest's node of the same meaning.
const NODES: &[(&str, &str)] = &[
    ("array", "tensor"),
    ("assert", "require"),
    ("axes", "shape"),
    ("buffer", "tensor"),
    ("collapse", "fuse"),
    ("constexpr", "const"),
    ("copy", "convert"),
    ("define", "const"),
    ("dim", "shape"),
    ("dimensions", "shape"),
    ("dims", "shape"),
    ("extents", "shape"),
    ("factor", "split"),
    ("flatten", "fuse"),
    ("fn", "kernel"),
    ("func", "kernel"),
    ("function", "kernel"),
    ("import", "use"),
    ("include", "use"),
    ("index_map", "map"),
    ("let", "const"),
    ("memref", "tensor"),
    ("merge", "fuse"),
    ("param", "const"),
    ("perm", "order"),
    ("permute", "order"),
    ("relayout", "convert"),
    ("remap", "map"),
    ("size", "shape"),
    ("sizes", "shape"),
    ("storage", "memory"),
    ("stride", "strides"),
    ("transform_layout", "map"),
    ("transpose", "order"),
    ("type", "dtype"),
    ("unflatten", "split"),
    ("var", "symbol"),
];

/// Property names of other languages: node, foreign name, and the manifest's name of the same meaning.
const PROPERTIES: &[(&str, &str, &str)] = &[
    ("convert", "into", "to"),
    ("fuse", "into", "as"),
    ("fuse", "name", "as"),
    ("pad", "high", "after"),
    ("pad", "left", "before"),
    ("pad", "low", "before"),
    ("pad", "right", "after"),
    ("pad", "to", "multiple"),
    ("require", "bytes", "bytes-below"),
    ("require", "max_bytes", "bytes-below"),
    ("require", "padding", "padding-below"),
    ("require", "vectorize", "vector"),
    ("require", "vectorized", "vector"),
    ("split", "as", "into"),
    ("split", "factor", "by"),
    ("split", "factors", "by"),
    ("split", "names", "into"),
    ("split", "size", "by"),
    ("tensor", "element_type", "dtype"),
    ("tensor", "type", "dtype"),
    ("tile", "names", "as"),
];

/// Properties of other languages without an equivalent property: node, foreign name, and help text.
const PROPERTY_HELP: &[(&str, &str, &str)] =
    &[("require", "bijective", "write `require bijective`")];

/// Help text for a `tile` step with properties, such as `tile h=8`.
const TILE: &str = "write the tile extents of the last axes, without names: `tile 8 128`";

/// Manifest's node for a node name of another language: `tensor` for `buffer`; case is ignored. `None` for an unknown
/// word.
pub(super) fn node(word: &str) -> Option<&'static str> {
    NODES.iter().find(|row| row.0.eq_ignore_ascii_case(word)).map(|row| row.1)
}

/// Manifest's property for a property `word` of another language on the node `node`: `by` for `factor` on `split`; case
/// is ignored. `None` for an unknown word.
pub(super) fn property(node: &str, word: &str) -> Option<&'static str> {
    let is_it = |row: &&(&str, &str, &str)| row.0 == node && row.1.eq_ignore_ascii_case(word);
    PROPERTIES.iter().find(is_it).map(|row| row.2)
}

/// Help text for a property `word` of another language that has no equivalent property on the node `node`. On `tile`
/// every property gets one; `None` for an unknown word on another node.
pub(super) fn foreign_usage(node: &str, word: &str) -> Option<&'static str> {
    let help = PROPERTY_HELP.iter().find(|row| row.0 == node && row.1 == word).map(|row| row.2);
    help.or((node == "tile").then_some(TILE))
}
