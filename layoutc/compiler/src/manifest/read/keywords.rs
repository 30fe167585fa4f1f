//! Keywords of the language: foreign notations and layout steps.

/// Properties that give a layout in a foreign notation.
pub(crate) const FOREIGN: &[&str] =
    &["xla", "tvm", "glow", "onednn", "cute", "mlir", "einops", "numpy", "mdspan", "triton"];

/// The layout steps, each with an example of use.
pub(super) const STEPS: &[(&str, &str)] = &[
    ("map", "map \"(n, c) -> (n, c // 4, c % 4)\""),
    ("apply", "apply NAME"),
    ("order", "order AXIS…"),
    ("split", "split AXIS by=4"),
    ("fuse", "fuse AXIS AXIS… as=NAME"),
    ("tile", "tile 8 128"),
    ("pad", "pad AXIS multiple=8"),
    ("strides", "strides 1056 1"),
    ("swizzle", "swizzle 3 4 3 unit=bytes"),
    ("align", "align 64"),
    ("fill", "fill 0"),
    ("padding", "padding forbid"),
    ("axis-separators", "axis-separators AXIS…"),
    ("notation", "notation tvm=\"NCHW16c\""),
];

/// The example of a step; empty for an unknown one.
pub(super) fn step_usage(step: &str) -> &'static str {
    STEPS.iter().find(|row| row.0 == step).map_or("", |row| row.1)
}
