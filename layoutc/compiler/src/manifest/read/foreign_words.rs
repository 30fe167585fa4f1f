//! Keywords of other languages and tools, with their equivalents here.

/// Node names of other languages, with ours.
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

/// Property names of other languages: the node, their name, ours.
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

/// Properties of other languages without an equivalent property: the node, their name, help.
const PROPERTY_HELP: &[(&str, &str, &str)] =
    &[("require", "bijective", "write `require bijective`")];

/// Help for a tile that names its axes.
const TILE: &str = "write the tile extents of the last axes, without names: `tile 8 128`";

/// Our name for a node of another language; case is ignored.
pub(super) fn node(word: &str) -> Option<&'static str> {
    NODES.iter().find(|row| row.0.eq_ignore_ascii_case(word)).map(|row| row.1)
}

/// Our name for a property of another language; case is ignored.
pub(super) fn property(node: &str, word: &str) -> Option<&'static str> {
    let is_it = |row: &&(&str, &str, &str)| row.0 == node && row.1.eq_ignore_ascii_case(word);
    PROPERTIES.iter().find(is_it).map(|row| row.2)
}

/// Help for a property of another language that has no equivalent property.
pub(super) fn foreign_usage(node: &str, word: &str) -> Option<&'static str> {
    let help = PROPERTY_HELP.iter().find(|row| row.0 == node && row.1 == word).map(|row| row.2);
    help.or((node == "tile").then_some(TILE))
}
