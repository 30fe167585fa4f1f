//! Keywords of other languages and tools, such as `permute`, with their equivalents in manifests, for suggestions.

/// Pairs (foreign, own): a node name of another language, and the name of the manifest's node with this meaning.
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

/// Triples (node, foreign, own): the name of a node, a property name of another language, and the name of the node's
/// property with this meaning.
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

/// Triples (node, foreign, help): the name of a node, a property name of another language for which the node has no
/// property, and the help text.
const PROPERTY_HELP: &[(&str, &str, &str)] =
    &[("require", "bijective", "write `require bijective`")];

/// Help text for a `tile` step with properties, such as `tile h=8`.
const TILE: &str = "write the tile extents of the last axes, without names: `tile 8 128`";

/// Name of the manifest's node for `word`, a node name of another language: `tensor` for `buffer`. Case is ignored.
/// `None` for an unknown word.
pub(super) fn node(word: &str) -> Option<&'static str> {
    NODES.iter().find(|row| row.0.eq_ignore_ascii_case(word)).map(|row| row.1)
}

/// Name of the property of the node `node` for `word`, a property name of another language: `by` for `factor` on
/// `split`. Case is ignored. `None` for an unknown word.
pub(super) fn property(node: &str, word: &str) -> Option<&'static str> {
    let is_it = |row: &&(&str, &str, &str)| row.0 == node && row.1.eq_ignore_ascii_case(word);
    PROPERTIES.iter().find(is_it).map(|row| row.2)
}

/// Help text for the property `word` on the node `node`, if it is a property of another language that `node` does not
/// have. On `tile` every property gets a help text. `None` for an unknown word on another node.
pub(super) fn foreign_usage(node: &str, word: &str) -> Option<&'static str> {
    let help = PROPERTY_HELP.iter().find(|row| row.0 == node && row.1 == word).map(|row| row.2);
    help.or((node == "tile").then_some(TILE))
}
