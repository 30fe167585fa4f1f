//! Keywords of layouts: the notations of other tools, and the layout steps with their signatures.

use std::ops::RangeInclusive;

use layoutc_algebra::notation::Notation;

use super::node_signature::{BlockRule, NodeSignature};

/// Properties that give a layout in the notation of another tool, `layout tvm="NCHW16c"`, in the order of
/// [`Notation::ALL`].
pub(crate) const NOTATION_WORDS: [&str; Notation::ALL.len()] = {
    let mut words = [""; Notation::ALL.len()];
    let mut k = 0;
    while k < words.len() {
        words[k] = Notation::ALL[k].word();
        k += 1;
    }
    words
};

/// Names of the layout steps with their signatures. `apply` and `notation` take properties of any name.
pub(super) const STEPS: &[(&str, NodeSignature)] = &[
    ("map", NodeSignature::leaf("map \"(n, c) -> (n, c // 4, c % 4)\"", 1..=1)),
    ("apply", any("apply NAME", 1..=1)),
    ("order", NodeSignature::leaf("order AXIS…", SOME)),
    ("split", NodeSignature::with("split AXIS by=4", 1..=1, &["by", "into"])),
    ("fuse", NodeSignature::with("fuse AXIS AXIS… as=NAME", 2..=usize::MAX, &["as"])),
    ("tile", NodeSignature::with("tile 8 128", SOME, &["as"])),
    ("pad", NodeSignature::with("pad AXIS multiple=8", 1..=1, &["multiple", "before", "after"])),
    ("strides", NodeSignature::leaf("strides 1056 1", SOME)),
    (
        "swizzle",
        NodeSignature::with("swizzle 3 4 3 unit=bytes", 0..=3, &["unit", "mode", "access"]),
    ),
    ("align", NodeSignature::with("align 64", 1..=2, &["at"])),
    ("fill", NodeSignature::leaf("fill 0", 1..=1)),
    ("padding", NodeSignature::leaf("padding forbid", 1..=1)),
    ("axis-separators", NodeSignature::leaf("axis-separators AXIS…", SOME)),
    ("notation", any("notation tvm=\"NCHW16c\"", 0..=0)),
];

/// Range of argument counts with at least one argument.
const SOME: RangeInclusive<usize> = 1..=usize::MAX;

/// Signature of a node with properties of any name and without a block; `args` is the range of argument counts.
const fn any(usage: &'static str, args: RangeInclusive<usize>) -> NodeSignature {
    NodeSignature { usage, args, props: None, block: BlockRule::Never }
}

/// Names of the layout steps, in the order of [`STEPS`].
pub(super) const STEP_NAMES: [&str; STEPS.len()] = {
    let mut names = [""; STEPS.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = STEPS[k].0;
        k += 1;
    }
    names
};

/// Signature of the layout step `name`; `None` if there is no such step.
pub(super) fn step(name: &str) -> Option<&'static NodeSignature> {
    STEPS.iter().find(|row| row.0 == name).map(|row| &row.1)
}

/// Example of the layout step `name`, such as `split AXIS by=4`; empty if there is no such step.
pub(super) fn step_usage(name: &str) -> &'static str {
    step(name).map_or("", |step| step.usage)
}
